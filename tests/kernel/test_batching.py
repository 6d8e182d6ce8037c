"""Concurrent calls are processed in groups, and none is lost."""

import asyncio

import pytest

from postern.kernel.batching import Batcher


async def test_concurrent_items_are_processed_in_one_group():
    groups = []

    async def double(items):
        groups.append(len(items))
        await asyncio.sleep(0)
        return [item * 2 for item in items]

    grouped = Batcher(double, max_batch_size=10)
    assert await asyncio.gather(*(grouped(number) for number in range(25))) == [n * 2 for n in range(25)]
    assert groups == [10, 10, 5]


@pytest.mark.parametrize("side_by_side", [1, 3])
async def test_an_item_added_when_a_group_ends_is_processed(side_by_side):
    async def same(items):
        return items

    grouped = Batcher(same, max_concurrent=side_by_side)
    for number in range(200):
        assert await asyncio.wait_for(grouped(number), 60) == number


async def test_an_error_fails_its_item_or_the_whole_group():
    async def do(items):
        if "all" in items:
            raise OSError("everybody")
        return [ValueError(item) if item == "one" else item for item in items]

    grouped = Batcher(do)
    answers = await asyncio.gather(grouped("one"), grouped("two"), return_exceptions=True)
    assert isinstance(answers[0], ValueError)
    assert answers[1] == "two"
    answers = await asyncio.gather(grouped("all"), grouped("two"), return_exceptions=True)
    assert all(isinstance(each, OSError) for each in answers)
    assert await grouped("later") == "later"


async def test_groups_without_waiting_callers_are_delayed(monkeypatch):
    groups, pauses, is_over, really = [], [], asyncio.Event(), asyncio.sleep

    async def sleep(seconds):
        await really(0)
        if seconds:
            pauses.append(seconds)
            await is_over.wait()

    async def same(items):
        groups.append(list(items))
        return items

    monkeypatch.setattr(asyncio, "sleep", sleep)
    grouped = Batcher(same, pause_seconds=0.02)
    assert await grouped("first") == "first"
    later = [asyncio.create_task(grouped(number)) for number in range(3)]
    await asyncio.sleep(0)
    later.append(asyncio.create_task(grouped("last")))
    await asyncio.sleep(0)
    is_over.set()
    assert await asyncio.gather(*later) == [0, 1, 2, "last"]
    assert groups == [["first"], [0, 1, 2, "last"]], "what comes during the pause is one group"
    assert set(pauses) == {0.02}
