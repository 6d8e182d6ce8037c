"""The process that composes: the same messages, whatever happens to it."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest

from postern.mail import composing
from postern.mail.composing import (
    ComposingAway,
    ComposingProcess,
    ComposingProcesses,
    Draft,
    Frame,
    Made,
    Order,
    Unsendable,
    Words,
    make_all,
    write,
)
from postern.mail.content import Tracking
from postern.mail.dkim import Signer, generate_ed25519, generate_rsa

NOW = 1_770_000_000
RSA = Signer.load("acme.example", "one", generate_rsa())
EDWARDS = Signer.load("acme.example", "two", generate_ed25519())
TRACKING = Tracking(base="https://mail.acme.example", key=b"k" * 32)


def draft(number=0, **changes) -> Draft:
    given = {
        "send_id": f"{number:032}",
        "values": {"name": f"Zoë {number}", "big": 2**53, "half": 0.5, "none": None, "list": [{"a": True}]},
        "sender": "Acme ✉ <hello@acme.example>",
        "to": [f"user{number}@example.org"],
        "cc": ["Bob <bob@example.org>"],
        "reply_to": ["answers@acme.example"],
        "headers": [("X-Order", "17")],
        "date": NOW,
        "message_id": f"<{number}@acme.example>",
        "tracking": TRACKING,
        "leave": TRACKING,
        "list_id": "<news.acme.example>",
        "feedback_id": "a:b:c",
    }
    return Draft(**{**given, **changes})


def orders(count, *, words=None, signers=(RSA, EDWARDS), **changes) -> list[Order]:
    words = words or Words("Hello {{name}}", '<a href="https://acme.example/{{name}}">{{name}}</a>', None)
    return [Order(words, draft(number, **changes), signers) for number in range(count)]


@asynccontextmanager
async def open_composing():
    process = ComposingProcess()
    try:
        yield process
    finally:
        await process.aclose()


async def test_it_makes_what_this_process_makes_and_learns_words_and_signers_as_they_come():
    first, second = orders(20), orders(3, words=Words("Another", None, "{{name}} & co."), signers=(EDWARDS,))
    expected = [make_all(each, now=NOW) for each in (first, second)]
    assert all(made.reason is None and b"DKIM-Signature" in made.message for each in expected for made in each)
    async with open_composing() as apart:
        found = await asyncio.gather(apart.make_all(first, now=NOW), apart.make_all(second, now=NOW))
        assert found == expected
        assert await apart.make_all([*second, *first], now=NOW) == [*expected[1], *expected[0]]
        assert await apart.make_all(orders(1, signers=()), now=NOW) == [
            Made(message=write(*orders(1)[0][:2])[0], subject="Hello Zoë 0")
        ]


async def test_what_is_wrong_with_one_message_is_its_reason_alone():
    bad = [
        Order(Words("{{ 1 / n }}"), draft(values={"n": 0}), (RSA,)),
        Order(Words("{% if %}"), draft(), (RSA,)),
        Order(Words("x"), draft(sender="nobody"), (RSA,)),
        Order(Words("x"), draft(message_id="a\r\nb"), (RSA,)),
    ]
    good = orders(2)
    async with open_composing() as apart:
        made = await apart.make_all([good[0], *bad, good[1]], now=NOW)
    assert made == make_all([good[0], *bad, good[1]], now=NOW)
    assert [each.reason is None for each in made] == [True, False, False, False, False, True]
    assert all(each.trace is None and not each.message for each in made[1:-1])


def test_our_own_mistake_names_its_place_and_fails_one_message_alone(monkeypatch):
    def broken(message):
        raise ZeroDivisionError

    monkeypatch.setattr(composing.mime, "compose", broken)
    (made,) = make_all(orders(1), now=NOW)
    assert made.reason == "It could not be composed: ZeroDivisionError."
    assert made.trace
    assert "in broken" in made.trace


def nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [2**70, nested(5_000), "\ud800"], ids=["large", "deep", "half a pair"])
async def test_what_cannot_be_written_into_a_frame_is_said_so_and_leaves_nothing_behind(value):
    async with open_composing() as apart:
        with pytest.raises(Unsendable):
            await apart.make_all(orders(1, values={"name": value}), now=NOW)
        assert await apart.make_all(orders(2), now=NOW) == make_all(orders(2), now=NOW)


@pytest.mark.parametrize(("limit", "most"), [("KNOWN_SIGNERS", 3), ("KNOWN_CHARACTERS", 40)])
async def test_beyond_its_limits_it_begins_anew(monkeypatch, limit, most):
    monkeypatch.setattr(composing, limit, most)
    signers = [Signer.load("acme.example", f"s{number}", generate_ed25519()) for number in range(5)]
    wanted = [orders(2, words=Words(f"Number {n} of {{{{name}}}}"), signers=(by,)) for n, by in enumerate(signers)]
    async with open_composing() as apart:
        for group in [*wanted, *wanted]:
            assert await apart.make_all(group, now=NOW) == make_all(group, now=NOW)
        assert len(apart._signers) <= 4


async def test_many_short_words_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(composing, "KNOWN_CHARACTERS", 10_000)
    async with open_composing() as apart:
        for group in range(10):
            wanted = [Order(Words(f"{group}{number}"), draft(number)) for number in range(10)]
            assert await apart.make_all(wanted, now=NOW) == make_all(wanted, now=NOW)
        assert len(apart._words) < 50


async def test_a_killed_process_is_said_so_and_the_next_one_composes():
    group = orders(50)
    async with open_composing() as apart:
        await apart.make_all(group[:1], now=NOW)
        os.kill(apart._process.pid, signal.SIGKILL)
        with pytest.raises(ComposingAway):
            await apart.make_all(group, now=NOW)
        assert await apart.make_all(group, now=NOW) == make_all(group, now=NOW)


async def test_who_gives_up_in_the_middle_takes_nothing_from_the_next():
    async with open_composing() as apart:
        await apart.make_all(orders(1), now=NOW)
        given_up = asyncio.create_task(apart.make_all(orders(20), now=NOW))
        await asyncio.sleep(0)
        next_one = asyncio.create_task(apart.make_all(orders(3), now=NOW))
        await asyncio.sleep(0)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        assert await next_one == make_all(orders(3), now=NOW)


async def test_who_waits_when_it_is_ended_is_told():
    apart = ComposingProcess()
    await apart.make_all(orders(1), now=NOW)
    waiting = asyncio.create_task(apart.make_all(orders(500), now=NOW))
    await asyncio.sleep(0)
    await apart.aclose()
    with pytest.raises(ComposingAway):
        await waiting


def test_it_ends_without_a_word_when_who_asked_died_in_the_middle():
    frame = composing._framed(Frame(NOW, False, [], [], []))
    for left in (frame[:2], frame[:-1], frame + frame[:-1]):
        done = subprocess.run([sys.executable, "-m", composing.__name__], input=left, capture_output=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, b"")


async def test_one_that_has_just_died_is_waited_for_when_all_ends():
    apart = ComposingProcess()
    await apart.make_all(orders(1), now=NOW)
    process = apart._process
    process.kill()
    async with asyncio.timeout(60):
        while apart._process is not None:
            await asyncio.sleep(0)
    await apart.aclose()
    assert process.returncode is not None
    assert not apart._listeners


async def test_it_ends_when_who_started_it_has_gone():
    apart = ComposingProcess()
    await apart.make_all(orders(1), now=NOW)
    process = apart._process
    process.stdin.close()  # As the kernel does for a process that is killed.
    assert await asyncio.wait_for(process.wait(), 60) is not None
    await apart.aclose()


async def test_once_ended_it_is_not_started_again():
    apart = ComposingProcess()
    await apart.make_all(orders(1), now=NOW)
    await apart.aclose()
    with pytest.raises(ComposingAway):
        await apart.make_all(orders(1), now=NOW)
    assert apart._process is None


async def test_it_ends_although_an_answer_is_not_read_any_more():
    apart = ComposingProcess()
    await apart.make_all(orders(1), now=NOW)
    process = apart._process
    process.stdout.feed_data(bytes(3 * composing.BUFFER))  # As of a large answer: nothing more is read before that is.
    async with asyncio.timeout(60):
        await apart.aclose()
    assert process.returncode is not None


NOISY = """
from postern.mail import composing

make = composing.make_all

def noisy(orders, *, now):
    print("Something to say.", flush=True)
    return make(orders, now=now)

composing.make_all = noisy
composing.main()
"""


def test_what_is_printed_there_does_not_come_between_the_answers():
    (order,) = orders(1, signers=())
    first, again = (
        composing._framed(Frame(NOW, False, words, [], [(0, [], order.draft)])) for words in ([order.words], [])
    )
    done = subprocess.run(
        [sys.executable, "-c", NOISY], input=first + again, capture_output=True, timeout=120, check=True
    )
    answer = composing._framed(make_all([order], now=NOW))
    assert done.stdout == answer * 2
    assert done.stderr.count(b"Something to say.") == 2


async def test_who_asked_is_told_when_an_answer_cannot_be_read():
    async with open_composing() as apart:
        await apart.make_all(orders(1), now=NOW)
        waiting = asyncio.create_task(apart.make_all(orders(500), now=NOW))
        await asyncio.sleep(0)
        apart._process.stdout.feed_data(composing._framed("no messages"))
        with pytest.raises(ComposingAway, match="Expected"):
            await waiting
        assert await apart.make_all(orders(1), now=NOW) == make_all(orders(1), now=NOW)


async def test_a_second_process_is_started_when_the_first_is_busy_and_not_before():
    several = ComposingProcesses(3)
    try:
        for _ in range(3):
            assert await several.make_all(orders(2), now=NOW) == make_all(orders(2), now=NOW)
        assert [each._process is not None for each in several._processes] == [True, False, False]
        first = asyncio.create_task(several.make_all(orders(300), now=NOW))
        await asyncio.sleep(0)
        assert await several.make_all(orders(2), now=NOW) == make_all(orders(2), now=NOW)
        assert await first == make_all(orders(300), now=NOW)
        assert [each._process is not None for each in several._processes] == [True, True, False]
        assert [each.asked for each in several._processes] == [0, 0, 0]
    finally:
        await several.aclose()
