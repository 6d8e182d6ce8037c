"""Concurrent calls are processed in batches, and no call is lost."""

import asyncio

import pytest

from postern.kernel.batching import Batcher, isolate_errors


async def test_concurrent_items_are_processed_in_batches_of_limited_size():
    batch_sizes = []

    async def double(items):
        batch_sizes.append(len(items))
        await asyncio.sleep(0)
        return [item * 2 for item in items]

    batcher = Batcher(double, max_batch_size=10)
    assert await asyncio.gather(*(batcher(number) for number in range(25))) == [n * 2 for n in range(25)]
    assert batch_sizes == [10, 10, 5]


@pytest.mark.parametrize("max_concurrent", [1, 3])
async def test_an_item_added_when_a_batch_ends_is_processed(max_concurrent):
    async def return_items(items):
        return items

    batcher = Batcher(return_items, max_concurrent=max_concurrent)
    for number in range(200):
        assert await asyncio.wait_for(batcher(number), 60) == number


async def test_an_error_fails_its_item_or_the_whole_batch():
    async def fail_some(items):
        if "fail the batch" in items:
            raise OSError
        return [ValueError(item) if item == "fail this item" else item for item in items]

    batcher = Batcher(fail_some)
    results = await asyncio.gather(batcher("fail this item"), batcher("other"), return_exceptions=True)
    assert isinstance(results[0], ValueError)
    assert results[1] == "other"
    results = await asyncio.gather(batcher("fail the batch"), batcher("other"), return_exceptions=True)
    assert all(isinstance(result, OSError) for result in results)
    assert await batcher("later") == "later"


async def test_calls_during_the_pause_after_a_batch_form_the_next_batch(monkeypatch):
    batches, pauses, end_pause, original_sleep = [], [], asyncio.Event(), asyncio.sleep

    async def sleep(seconds):
        await original_sleep(0)
        if seconds:
            pauses.append(seconds)
            await end_pause.wait()

    async def return_items(items):
        batches.append(list(items))
        return items

    monkeypatch.setattr(asyncio, "sleep", sleep)
    batcher = Batcher(return_items, pause_seconds=0.02)
    assert await batcher("first") == "first"
    calls = [asyncio.create_task(batcher(number)) for number in range(3)]
    await asyncio.sleep(0)
    calls.append(asyncio.create_task(batcher("last")))
    await asyncio.sleep(0)
    end_pause.set()
    assert await asyncio.gather(*calls) == [0, 1, 2, "last"]
    assert batches == [["first"], [0, 1, 2, "last"]]
    assert set(pauses) == {0.02}


async def test_an_error_is_the_result_of_the_item_that_causes_it():
    batches = []

    async def invert(items):
        batches.append(items)
        return [1 / item for item in items]

    results = await isolate_errors(invert, [1, 0, 2], (ZeroDivisionError,))
    assert results[::2] == [1, 0.5]
    assert isinstance(results[1], ZeroDivisionError)
    assert batches == [[1, 0, 2], [1], [0], [2]]
    with pytest.raises(ZeroDivisionError):
        await isolate_errors(invert, [0], (ValueError,))


async def test_an_error_of_one_item_does_not_reach_the_callers_of_those_before_it():
    """They are done: a caller that got the error would do its item again."""

    async def store(items):
        if len(items) > 1:
            raise ValueError("One of them cannot be stored.")
        if items == ["second"]:
            raise OSError("The connection was lost.")
        return [f"stored {item}" for item in items]

    first, second, third = await isolate_errors(store, ["first", "second", "third"], (ValueError,))
    assert (first, third) == ("stored first", "stored third")
    assert isinstance(second, OSError)
