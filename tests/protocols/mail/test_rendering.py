"""Render processes: results, crashes, and limits for hostile templates."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from postern.kernel.http.problems import Invalid, Problem
from postern.protocols.mail.templates import render_process, rendering
from postern.protocols.mail.templates.composing import (
    ComposeRequest,
    ComposeResult,
    MessageTemplates,
    compose_unsigned,
)
from postern.protocols.mail.templates.rendering import (
    NeedsOwnProcess,
    ProcessDied,
    RenderChild,
    RenderingBusy,
    RenderProcess,
    RenderProcesses,
    RenderRequest,
    encode_frame,
)
from tests.protocols.mail.test_composing import EDWARDS, NOW, RSA, composed, draft, orders

SLOW = "{% for x in xs %}{{ big|replace('a', 'bb')|replace('b', 'aa')|length }}{% endfor %}"
SLOW_VALUES = {"xs": [1] * 200, "big": "a" * 250_000}
"""Little fuel, much time."""


@asynccontextmanager
async def one_process():
    process = RenderProcess()
    try:
        yield process
    finally:
        await process.aclose()


@asynccontextmanager
async def several(most=2):
    processes = RenderProcesses(most)
    try:
        yield processes
    finally:
        await processes.aclose()


async def made(process, wanted):
    return (await process.request(wanted, now=NOW)).composed


async def test_render_processes_give_the_same_messages_as_this_process():
    first, second = orders(20), orders(3, words=MessageTemplates("Another", None, "{{name}} & co."), signers=(EDWARDS,))
    expected = [composed(each) for each in (first, second)]
    assert all(each.reason is None and b"DKIM-Signature" in each.message for group in expected for each in group)
    async with one_process() as apart:
        assert await asyncio.gather(made(apart, first), made(apart, second)) == expected
        assert await made(apart, [*second, *first]) == [*expected[1], *expected[0]]
        assert await made(apart, orders(1, signers=())) == [
            ComposeResult(message=compose_unsigned(*orders(1)[0][:2])[0], subject="Hello Zoë 0")
        ]


async def test_an_error_of_one_message_affects_no_other():
    bad = [
        ComposeRequest(MessageTemplates("{{ 1 / n }}"), draft(values={"n": 0}), (RSA,)),
        ComposeRequest(MessageTemplates("{% if %}"), draft(), (RSA,)),
        ComposeRequest(MessageTemplates("x"), draft(sender="nobody"), (RSA,)),
        ComposeRequest(MessageTemplates("x"), draft(message_id="a\r\nb"), (RSA,)),
    ]
    good = orders(2)
    async with several() as apart:
        answers = await apart.compose_all([good[0], *bad, good[1]], now=NOW)
    assert answers == composed([good[0], *bad, good[1]])
    assert [each.reason is None for each in answers] == [True, False, False, False, False, True]
    assert all(each.trace is None and not each.message for each in answers[1:-1])


def nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [2**70, nested(5_000), "\ud800"], ids=["large", "deep", "half a pair"])
async def test_a_message_that_cannot_be_serialised_fails_with_a_reason(value):
    """Defects: S1"""
    bad = orders(1, values={"name": value})
    async with several() as apart:
        answers = await apart.compose_all([*orders(2), *bad], now=NOW)
        assert answers[:2] == composed(orders(2))
        # Which of the two is met first depends on the version of Python.
        assert re.search("not plain JSON|nested more than", answers[2].reason)
        with pytest.raises(Invalid):
            await apart.call("p", "check_message", "{{name}}", None, "", {"name": value}, "1")


@pytest.mark.parametrize(("limit", "most"), [("KNOWN_SIGNERS", 3), ("KNOWN_CHARACTERS", 40)])
async def test_caches_are_cleared_at_their_limits(monkeypatch, limit, most):
    monkeypatch.setattr(rendering, limit, most)
    wanted = [
        orders(2, words=MessageTemplates(f"Number {n} of {{{{name}}}}"), signers=(RSA, EDWARDS)[n % 2 :])
        for n in range(5)
    ]
    async with one_process() as apart:
        for group in [*wanted, *wanted]:
            assert await made(apart, group) == composed(group)
        assert len(apart._signers) <= 4


async def test_many_short_templates_take_bounded_memory(monkeypatch):
    monkeypatch.setattr(rendering, "KNOWN_CHARACTERS", 10_000)
    async with one_process() as apart:
        for group in range(10):
            wanted = [ComposeRequest(MessageTemplates(f"{group}{number}"), draft(number)) for number in range(10)]
            assert await made(apart, wanted) == composed(wanted)
        assert len(apart._templates) < 50


async def test_a_killed_process_is_replaced_and_its_work_repeated():
    """Defects: S1"""
    group = orders(50)
    async with several() as apart:
        await apart.compose_all(group[:1], now=NOW)
        for each in apart.process_ids:
            os.kill(each, signal.SIGKILL)
        assert await apart.compose_all(group, now=NOW) == composed(group)
        waiting = asyncio.create_task(apart.compose_all(group, now=NOW))
        await asyncio.sleep(0)
        for each in apart.process_ids:
            os.kill(each, signal.SIGKILL)
        assert await waiting == composed(group)


CRASHING = """
import signal
from postern.protocols.mail.templates import composing, render_process

original = composing.content_of

def content_of(templates, *, reached=composing.no_report):
    content = original(templates, reached=reached)
    if "crash" in templates.subject:
        reached("html")
        signal.raise_signal(signal.SIGSEGV)
    return content

composing.content_of = content_of
render_process.main()
"""
"""Stands for a fault in a native library: no input that causes one is known to get this far."""


class CrashingChildren:
    """Render processes that can be made to crash."""

    def start(self, *, low):
        popen = subprocess.Popen

        def start(arguments, **named):
            assert arguments[1:3] == ["-m", "postern.protocols.mail.templates.render_process"]
            return popen([arguments[0], "-c", CRASHING, *arguments[3:]], **named)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(subprocess, "Popen", start)
            return RenderChild(low=low)

    def give_back(self, child):
        child.process.kill()
        child.end()


@asynccontextmanager
async def crashing():
    processes = RenderProcesses(2, CrashingChildren())
    try:
        yield processes
    finally:
        await processes.aclose()


async def test_a_message_that_crashes_a_process_fails_alone():
    """Defects: S1"""
    good = orders(5)
    bad = ComposeRequest(MessageTemplates("crash {{name}}", "<p>x</p>"), draft(9), (), "bad")
    async with crashing() as apart:
        answers = await apart.compose_all([*good[:2], bad, *good[2:]], now=NOW)
        assert [*answers[:2], *answers[3:]] == composed(good)
        assert "template_crashed" in answers[2].reason
        with pytest.raises(Problem) as crashed:
            await apart.call("bad", "check_message", "crash", "<p>x</p>", None, {}, "1")
        assert crashed.value.code() == "template_crashed"
        assert crashed.value.errors[0].path == "/html"


async def test_a_project_that_keeps_crashing_processes_is_isolated():
    """Defects: S1"""
    bad = [ComposeRequest(MessageTemplates(f"crash {n}", "<p>x</p>"), draft(n), (), "bad") for n in range(3)]
    good = orders(3)
    async with crashing() as apart:
        answers = await apart.compose_all([*bad, *good], now=NOW)
        assert [type(each) for each in answers[:3]] == [ComposeResult, ComposeResult, NeedsOwnProcess]
        assert answers[3:] == composed(good)
        assert apart.has_own_process("bad")
        assert not apart.has_own_process("")
        shared = sorted(apart.process_ids)
        assert "template_crashed" in (await apart.compose(bad[2], now=NOW)).reason
        with pytest.raises(Problem):
            await apart.call("bad", "check_message", "crash", "<p>x</p>", None, {}, "1")
        assert {*shared} <= {*apart.process_ids}, "the shared processes live on"
        assert (
            await apart.compose(ComposeRequest(MessageTemplates("fine"), draft(9), (), "bad"), now=NOW)
        ).reason is None
        waiting = [asyncio.create_task(apart.compose(each, now=NOW)) for each in bad * 20]
        answers = await asyncio.gather(*waiting, return_exceptions=True)
        assert any(isinstance(each, RenderingBusy) for each in answers)


async def test_too_much_processor_time_is_refused_with_the_location(monkeypatch):
    """Defects: S1, S3"""
    words = MessageTemplates("s", SLOW)
    good = orders(3)
    async with several() as apart:
        bad = ComposeRequest(words, draft(values=SLOW_VALUES), (), "bad")
        answers = await apart.compose_all([good[0], bad, *good[1:]], now=NOW)
        assert [answers[0], *answers[2:]] == composed(good)
        assert "template_too_expensive" in answers[1].reason
        with pytest.raises(Problem) as refused:
            await apart.call("bad", "check_message", "s", SLOW, None, SLOW_VALUES, "1")
        assert refused.value.code() == "template_too_expensive"
        assert refused.value.errors[0].path == "/html"
        assert apart.has_own_process("bad")


async def test_too_much_memory_is_refused(monkeypatch):
    """Defects: S1, S2"""
    monkeypatch.setattr(
        sys.modules[__name__], "CRASHING", CRASHING.replace("signal.raise_signal(signal.SIGSEGV)", "bytearray(2**32)")
    )
    async with crashing() as apart:
        with pytest.raises(Problem) as refused:
            await apart.call("p", "check_message", "crash", "<p>x</p>", None, {}, "1")
        assert refused.value.code() == "template_too_expensive"
        assert refused.value.errors[0].path == "/html"
        answers = await apart.compose_all(
            [ComposeRequest(MessageTemplates("crash"), draft(), (), "p"), *orders(1)], now=NOW
        )
        assert "template_too_expensive" in answers[0].reason
        assert await apart.compose_all(orders(1), now=NOW) == composed(orders(1))


def test_a_process_has_limits_and_no_secrets(monkeypatch):
    """Defects: S1"""
    monkeypatch.setenv("POSTERN_SECRET", "the master key")
    child = RenderChild()
    try:
        child.socket.sendall(encode_frame(RenderRequest(1, 0, True, [], [], [], [])))
        assert child.socket.recv(1)
        limits = Path(f"/proc/{child.process.pid}/limits").read_text()
        assert "unlimited" not in next(line for line in limits.splitlines() if line.startswith("Max address space"))
        assert b"the master key" not in Path(f"/proc/{child.process.pid}/environ").read_bytes()
    finally:
        child.process.kill()
        child.end()


async def test_a_cancelled_call_does_not_affect_the_next():
    async with one_process() as apart:
        await made(apart, orders(1))
        given_up = asyncio.create_task(made(apart, orders(20)))
        await asyncio.sleep(0)
        next_one = asyncio.create_task(made(apart, orders(3)))
        await asyncio.sleep(0)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        assert await next_one == composed(orders(3))


async def test_waiting_calls_fail_when_the_processes_are_closed():
    apart = RenderProcess()
    await made(apart, orders(1))
    waiting = asyncio.create_task(made(apart, orders(500)))
    await asyncio.sleep(0)
    await apart.aclose()
    with pytest.raises(ProcessDied):
        await waiting
    with pytest.raises(ProcessDied):
        await made(apart, orders(1))
    assert apart.process_id is None


def test_a_process_exits_if_its_parent_dies_during_a_request():
    frame = encode_frame(RenderRequest(1, NOW, False, [], [], [], []))
    for left in (frame[:2], frame[:-1], frame + frame[:-1]):
        child = RenderChild()
        child.socket.sendall(left)
        child.socket.shutdown(1)
        assert child.process.wait(120) == 0
        child.end()


async def test_a_process_exits_if_its_parent_has_exited():
    child = RenderChild()
    child.socket.close()  # As the kernel does for a process that is killed.
    assert await asyncio.to_thread(child.process.wait, 120) == 0
    child.end()


GREEDY = """
from postern.protocols.mail.templates import render_process

render_process.RESIDENT_BYTES = 1
render_process.main()
"""


async def test_a_process_that_has_grown_is_replaced(monkeypatch):
    """Defects: S1"""
    monkeypatch.setattr(sys.modules[__name__], "CRASHING", GREEDY)
    async with crashing() as apart:
        await apart.compose_all(orders(1), now=NOW)
        before = apart.process_ids
        assert await apart.compose_all(orders(2), now=NOW) == composed(orders(2))
        assert apart.process_ids != before


async def test_processes_are_started_early_and_idle_ones_are_preferred():
    async with several(3) as apart:
        await apart.start()
        assert len(apart.process_ids) == 3
        first = asyncio.create_task(apart.compose_all(orders(300), now=NOW))
        await asyncio.sleep(0)
        assert await apart.compose_all(orders(2), now=NOW) == composed(orders(2))
        assert not first.done()
        assert await first == composed(orders(300))


NOISY = """
from postern.protocols.mail.templates import composing, render_process

compose = render_process.compose

def noisy(*given, **named):
    print("Something to say.", flush=True)
    return compose(*given, **named)

render_process.compose = noisy
render_process.main()
"""


async def test_printed_output_does_not_corrupt_responses(monkeypatch, capfd):
    monkeypatch.setattr(sys.modules[__name__], "CRASHING", NOISY)
    async with crashing() as apart:
        for _ in range(2):
            assert await apart.compose_all(orders(2), now=NOW) == composed(orders(2))
    assert capfd.readouterr().err.count("Something to say.") == 4


def test_the_limits_of_one_item_are_far_below_those_of_a_request():
    """Defects: S1"""
    assert render_process.CPU_SECONDS <= 2
    assert rendering.CRASH_SECONDS >= render_process.CPU_SECONDS


async def test_the_memory_of_the_parent_does_not_count():
    """A program inherits the largest resident size of the process that started it (`ru_maxrss`).

    Defects: S1
    """
    ballast = bytearray(b"x" * 4096) * (render_process.RESIDENT_BYTES // 4096 + 20_000)
    async with one_process() as apart:
        await made(apart, orders(1))
        del ballast
        first = apart.process_id
        for _ in range(5):
            assert await made(apart, orders(1)) == composed(orders(1))
        assert apart.process_id == first
