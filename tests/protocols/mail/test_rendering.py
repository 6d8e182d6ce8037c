"""Render processes: results, crashes, and limits for hostile templates."""

import asyncio
import os
import re
import signal
import socket
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
    LENGTH_OCTETS,
    MustUseSlowLane,
    ProcessDied,
    ProcessSpawner,
    RenderingBusy,
    RenderProcesses,
    RenderRequest,
    RestartingProcess,
    RunningProcess,
    encode_frame,
)
from tests.protocols.mail.test_composing import ED25519_SIGNER, NOW, RSA_SIGNER, compose_requests, composed, draft

SLOW = "{% for x in xs %}{{ big|replace('a', 'bb')|replace('b', 'aa')|length }}{% endfor %}"
SLOW_VALUES = {"xs": [1] * 200, "big": "a" * 250_000}
"""A template and values that need few steps of the engine and much processor time."""


@asynccontextmanager
async def one_process():
    process = RestartingProcess()
    try:
        yield process
    finally:
        await process.aclose()


@asynccontextmanager
async def render_processes(count=2):
    processes = RenderProcesses(count)
    try:
        yield processes
    finally:
        await processes.aclose()


async def compose_in(process, requests):
    return (await process.request(requests, now=NOW)).composed


async def test_render_processes_give_the_same_messages_as_this_process():
    first, second = (
        compose_requests(20),
        compose_requests(3, templates=MessageTemplates("Another", None, "{{name}} & co."), signers=(ED25519_SIGNER,)),
    )
    expected = [composed(requests) for requests in (first, second)]
    assert all(
        result.reason is None and b"DKIM-Signature" in result.message for results in expected for result in results
    )
    async with one_process() as process:
        assert await asyncio.gather(compose_in(process, first), compose_in(process, second)) == expected
        assert await compose_in(process, [*second, *first]) == [*expected[1], *expected[0]]
        assert await compose_in(process, compose_requests(1, signers=())) == [
            ComposeResult(message=compose_unsigned(*compose_requests(1)[0][:2])[0], subject="Hello Zoë 0")
        ]


async def test_an_error_of_one_message_affects_no_other():
    bad = [
        ComposeRequest(MessageTemplates("{{ 1 / n }}"), draft(values={"n": 0}), (RSA_SIGNER,)),
        ComposeRequest(MessageTemplates("{% if %}"), draft(), (RSA_SIGNER,)),
        ComposeRequest(MessageTemplates("x"), draft(sender="nobody"), (RSA_SIGNER,)),
        ComposeRequest(MessageTemplates("x"), draft(message_id="a\r\nb"), (RSA_SIGNER,)),
    ]
    good = compose_requests(2)
    async with render_processes() as processes:
        results = await processes.compose_all([good[0], *bad, good[1]], now=NOW)
    assert results == composed([good[0], *bad, good[1]])
    assert [result.reason is None for result in results] == [True, False, False, False, False, True]
    assert all(result.trace is None and not result.message for result in results[1:-1])


def nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [2**70, nested(5_000), "\ud800"], ids=["large", "deep", "surrogate"])
async def test_a_message_that_cannot_be_serialised_fails_with_a_reason(value):
    """Regression test of S1 (tests/defects.md)."""
    bad = compose_requests(1, values={"name": value})
    async with render_processes() as processes:
        results = await processes.compose_all([*compose_requests(2), *bad], now=NOW)
        assert results[:2] == composed(compose_requests(2))
        # Which of the two limits is exceeded first depends on the version of Python.
        assert re.search("not plain JSON|nested more than", results[2].reason)
        with pytest.raises(Invalid):
            await processes.call("p", "check_message", "{{name}}", None, "", {"name": value}, "1")


@pytest.mark.parametrize(("limit", "value"), [("CACHED_SIGNERS", 3), ("CACHED_CHARACTERS", 40)])
async def test_caches_are_cleared_at_their_limits(monkeypatch, limit, value):
    monkeypatch.setattr(rendering, limit, value)
    groups = [
        compose_requests(
            2, templates=MessageTemplates(f"Number {n} of {{{{name}}}}"), signers=(RSA_SIGNER, ED25519_SIGNER)[n % 2 :]
        )
        for n in range(5)
    ]
    async with one_process() as process:
        for group in [*groups, *groups]:
            assert await compose_in(process, group) == composed(group)
        assert len(process._signers) <= 4


async def test_many_short_templates_take_bounded_memory(monkeypatch):
    monkeypatch.setattr(rendering, "CACHED_CHARACTERS", 10_000)
    async with one_process() as process:
        for batch in range(10):
            requests = [ComposeRequest(MessageTemplates(f"{batch}{number}"), draft(number)) for number in range(10)]
            assert await compose_in(process, requests) == composed(requests)
        assert len(process._templates) < 50


async def test_a_killed_process_is_replaced_and_its_work_repeated():
    """Regression test of S1 (tests/defects.md)."""
    group = compose_requests(50)
    async with render_processes() as processes:
        await processes.compose_all(group[:1], now=NOW)
        for process_id in processes.process_ids:
            os.kill(process_id, signal.SIGKILL)
        assert await processes.compose_all(group, now=NOW) == composed(group)
        waiting = asyncio.create_task(processes.compose_all(group, now=NOW))
        await asyncio.sleep(0)
        for process_id in processes.process_ids:
            os.kill(process_id, signal.SIGKILL)
        assert await waiting == composed(group)


CRASHING = """
import signal
import socket
from postern.protocols.mail.templates import composing, render_process

original = composing.content_of

def content_of(templates, *, report_part=composing.no_report):
    content = original(templates, report_part=report_part)
    if "crash" in templates.subject:
        report_part("html")
        signal.raise_signal(signal.SIGSEGV)
    return content

composing.content_of = content_of
render_process.main()
"""
"""A program that simulates a fault in a native library, because no input is known that causes one."""


class CrashingChildren:
    """Starts render processes that run the program CRASHING."""

    def start(self, *, low_priority):
        popen = subprocess.Popen

        def start(arguments, **named):
            assert arguments[1:3] == ["-m", "postern.protocols.mail.templates.render_process"]
            return popen([arguments[0], "-c", CRASHING, *arguments[3:]], **named)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(subprocess, "Popen", start)
            return RunningProcess(low_priority=low_priority)

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
    """Regression test of S1 (tests/defects.md)."""
    good = compose_requests(5)
    bad = ComposeRequest(MessageTemplates("crash {{name}}", "<p>x</p>"), draft(9), (), "bad")
    async with crashing() as processes:
        results = await processes.compose_all([*good[:2], bad, *good[2:]], now=NOW)
        assert [*results[:2], *results[3:]] == composed(good)
        assert "template_crashed" in results[2].reason
        with pytest.raises(Problem) as crashed:
            await processes.call("bad", "check_message", "crash", "<p>x</p>", None, {}, "1")
        assert crashed.value.code() == "template_crashed"
        assert crashed.value.errors[0].path == "/html"


async def test_a_project_that_keeps_crashing_processes_is_isolated():
    """Regression test of S1 (tests/defects.md)."""
    bad = [ComposeRequest(MessageTemplates(f"crash {n}", "<p>x</p>"), draft(n), (), "bad") for n in range(3)]
    good = compose_requests(3)
    async with crashing() as processes:
        results = await processes.compose_all([*bad, *good], now=NOW)
        assert [type(result) for result in results[:3]] == [ComposeResult, ComposeResult, MustUseSlowLane]
        assert results[3:] == composed(good)
        assert processes.is_in_slow_lane("bad")
        assert not processes.is_in_slow_lane("")
        shared = sorted(processes.process_ids)
        assert "template_crashed" in (await processes.compose(bad[2], now=NOW)).reason
        with pytest.raises(Problem):
            await processes.call("bad", "check_message", "crash", "<p>x</p>", None, {}, "1")
        assert {*shared} <= {*processes.process_ids}, "the shared processes still run"
        assert (
            await processes.compose(ComposeRequest(MessageTemplates("fine"), draft(9), (), "bad"), now=NOW)
        ).reason is None
        waiting = [asyncio.create_task(processes.compose(request, now=NOW)) for request in bad * 20]
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert any(isinstance(result, RenderingBusy) for result in results)


@pytest.mark.parametrize("leaves", [True, False], ids=["leaves the slow lane", "changes places with another project"])
async def test_each_request_gets_its_own_message_while_projects_change_lanes(monkeypatch, leaves):
    """A project may leave the slow lane, and another one enter it, while a batch is composed."""
    slow = ComposeRequest(MessageTemplates("Slow", "<p>slow</p>"), draft(9), (), "slow")
    first, second = compose_requests(2)
    async with render_processes() as processes:
        processes._charge("slow", 2 * rendering.SLOW_LANE_SECONDS)
        assert processes.is_in_slow_lane("slow")
        choose = processes._least_busy

        def choose_and_change():
            processes._spent.pop("slow", None)
            if not leaves:
                processes._charge(first.tenant, 2 * rendering.SLOW_LANE_SECONDS)
            return choose()

        monkeypatch.setattr(processes, "_least_busy", choose_and_change)
        results = await processes.compose_all([slow, first, second], now=NOW)
    assert isinstance(results[0], MustUseSlowLane)
    assert results[1:] == composed([first, second])


async def test_too_much_processor_time_is_refused_with_the_location(monkeypatch):
    """Regression test of S1, S3 (tests/defects.md)."""
    templates = MessageTemplates("s", SLOW)
    good = compose_requests(3)
    async with render_processes() as processes:
        bad = ComposeRequest(templates, draft(values=SLOW_VALUES), (), "bad")
        results = await processes.compose_all([good[0], bad, *good[1:]], now=NOW)
        assert [results[0], *results[2:]] == composed(good)
        assert "template_too_expensive" in results[1].reason
        with pytest.raises(Problem) as raised:
            await processes.call("bad", "check_message", "s", SLOW, None, SLOW_VALUES, "1")
        assert raised.value.code() == "template_too_expensive"
        assert raised.value.errors[0].path == "/html"
        assert processes.is_in_slow_lane("bad")


async def test_too_much_memory_is_refused(monkeypatch):
    """Regression test of S1, S2 (tests/defects.md)."""
    monkeypatch.setattr(
        sys.modules[__name__], "CRASHING", CRASHING.replace("signal.raise_signal(signal.SIGSEGV)", "bytearray(2**32)")
    )
    async with crashing() as processes:
        with pytest.raises(Problem) as raised:
            await processes.call("p", "check_message", "crash", "<p>x</p>", None, {}, "1")
        assert raised.value.code() == "template_too_expensive"
        assert raised.value.errors[0].path == "/html"
        results = await processes.compose_all(
            [ComposeRequest(MessageTemplates("crash"), draft(), (), "p"), *compose_requests(1)], now=NOW
        )
        assert "template_too_expensive" in results[0].reason
        assert await processes.compose_all(compose_requests(1), now=NOW) == composed(compose_requests(1))


def test_a_process_has_limits_and_no_secrets(monkeypatch):
    """Regression test of S1 (tests/defects.md)."""
    monkeypatch.setenv("POSTERN_SECRET", "the master key")
    child = RunningProcess()
    try:
        child.socket.sendall(encode_frame(RenderRequest(1, 0, True, [], [], [], [])))
        assert child.socket.recv(1)
        limits = Path(f"/proc/{child.process.pid}/limits").read_text()
        assert "unlimited" not in next(line for line in limits.splitlines() if line.startswith("Max address space"))
        assert b"the master key" not in Path(f"/proc/{child.process.pid}/environ").read_bytes()
    finally:
        child.process.kill()
        child.end()


class AnnouncingProcess(ProcessSpawner):
    """Starts processes that announce a response of 4 GB."""

    def start(self, *, low_priority):
        child = super().start(low_priority=low_priority)
        child.socket.close()
        child.socket, self.process_end = socket.socketpair()
        self.process_end.sendall(b"\xff" * LENGTH_OCTETS)
        return child


async def test_a_process_cannot_make_its_parent_allocate_gigabytes():
    process = RestartingProcess(AnnouncingProcess())
    with pytest.raises(ProcessDied, match="announced a response of 4294967295 octets"):
        await compose_in(process, compose_requests(1))
    await process.aclose()


async def test_a_cancelled_call_does_not_affect_the_next():
    async with one_process() as process:
        await compose_in(process, compose_requests(1))
        cancelled_call = asyncio.create_task(compose_in(process, compose_requests(20)))
        await asyncio.sleep(0)
        next_call = asyncio.create_task(compose_in(process, compose_requests(3)))
        await asyncio.sleep(0)
        cancelled_call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled_call
        assert await next_call == composed(compose_requests(3))


async def test_waiting_calls_fail_when_the_processes_are_closed():
    processes = RestartingProcess()
    await compose_in(processes, compose_requests(1))
    waiting = asyncio.create_task(compose_in(processes, compose_requests(500)))
    await asyncio.sleep(0)
    await processes.aclose()
    with pytest.raises(ProcessDied):
        await waiting
    with pytest.raises(ProcessDied):
        await compose_in(processes, compose_requests(1))
    assert processes.process_id is None


def test_a_process_exits_if_its_parent_dies_during_a_request():
    frame = encode_frame(RenderRequest(1, NOW, False, [], [], [], []))
    for received in (frame[:2], frame[:-1], frame + frame[:-1]):
        child = RunningProcess()
        child.socket.sendall(received)
        child.socket.shutdown(1)
        assert child.process.wait(120) == 0
        child.end()


async def test_a_process_exits_if_its_parent_has_exited():
    child = RunningProcess()
    child.socket.close()  # As the kernel does for a process that is killed.
    assert await asyncio.to_thread(child.process.wait, 120) == 0
    child.end()


EXITS_AFTER_ONE_REQUEST = """
from postern.protocols.mail.templates import render_process

render_process.RESIDENT_BYTES = 1
render_process.main()
"""


async def test_a_process_that_has_grown_is_replaced(monkeypatch):
    """Regression test of S1 (tests/defects.md)."""
    monkeypatch.setattr(sys.modules[__name__], "CRASHING", EXITS_AFTER_ONE_REQUEST)
    async with crashing() as processes:
        await processes.compose_all(compose_requests(1), now=NOW)
        before = processes.process_ids
        assert await processes.compose_all(compose_requests(2), now=NOW) == composed(compose_requests(2))
        assert processes.process_ids != before


async def test_processes_are_started_early_and_idle_ones_are_preferred():
    async with render_processes(3) as processes:
        await processes.start()
        assert len(processes.process_ids) == 3
        os.kill(processes.process_ids[0], signal.SIGSTOP)
        first = asyncio.create_task(processes.compose_all(compose_requests(3), now=NOW))
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            assert await processes.compose_all(compose_requests(2), now=NOW) == composed(compose_requests(2))
        assert not first.done()
        os.kill(processes.process_ids[0], signal.SIGCONT)
        assert await first == composed(compose_requests(3))


PRINTING = """
from postern.protocols.mail.templates import composing, render_process

prepare = render_process.prepare

def printing_prepare(*arguments, **named):
    print("Something to say.", flush=True)
    return prepare(*arguments, **named)

render_process.prepare = printing_prepare
render_process.main()
"""


async def test_printed_output_does_not_corrupt_responses(monkeypatch, capfd):
    monkeypatch.setattr(sys.modules[__name__], "CRASHING", PRINTING)
    async with crashing() as processes:
        for _ in range(2):
            assert await processes.compose_all(compose_requests(2), now=NOW) == composed(compose_requests(2))
    assert capfd.readouterr().err.count("Something to say.") == 4


def test_the_limits_of_one_item_are_far_below_those_of_a_request():
    """Regression test of S1 (tests/defects.md)."""
    assert render_process.CPU_SECONDS <= 2
    assert rendering.CRASH_SECONDS >= render_process.CPU_SECONDS


async def test_the_memory_of_the_parent_does_not_count():
    """A process inherits the largest resident size of its parent (`ru_maxrss`), so that value is not used.

    Regression test of S1 (tests/defects.md).
    """
    large_object = bytearray(b"x" * 4096) * (render_process.RESIDENT_BYTES // 4096 + 20_000)
    async with one_process() as process:
        await compose_in(process, compose_requests(1))
        del large_object
        first = process.process_id
        for _ in range(5):
            assert await compose_in(process, compose_requests(1)) == composed(compose_requests(1))
        assert process.process_id == first
