"""The order of the tests: see `in_order` of conftest.py."""

import pytest

from tests.conftest import in_order

CONTAINERS = [f"tests/packages/test_image.py::{n}" for n in range(2)]
PAGES = [f"tests/web/test_dashboard_pages.py::{n}" for n in range(7)]
SHORT = [f"tests/kernel/test_x.py::{n}" for n in range(100)]


def parts(ordered: list[str], processes: int) -> list[list[str]]:
    """What each process gets at first from xdist's WorkStealingScheduling."""
    rest, result = list(ordered), []
    for number in range(processes):
        size = len(rest) // (processes - number)
        result.append(rest[:size])
        del rest[:size]
    return result


def test_containers_are_in_one_process_and_pages_are_shared_by_the_others():
    collected = [*SHORT[:50], *CONTAINERS, *SHORT[50:], *PAGES]
    ordered = in_order(collected, 3, key=str)
    assert sorted(ordered) == sorted(collected)
    first, second, third = parts(ordered, 3)
    assert [test for test in first if test not in SHORT] == first[:2] == CONTAINERS
    assert second[:4] + third[:3] == PAGES[::2] + PAGES[1::2]
    assert set(second[4:]) | set(third[3:]) <= set(SHORT)


@pytest.mark.parametrize("processes", [1, 2, 3, 8])
@pytest.mark.parametrize("collected", [[], SHORT, PAGES, [*PAGES, *SHORT[:1]], [*SHORT, *CONTAINERS]])
def test_every_test_is_run_once(processes, collected):
    ordered = in_order(collected, processes, key=str)
    assert sorted(ordered) == sorted(collected)
    assert [test for test in ordered if test in SHORT] == [test for test in collected if test in SHORT]
