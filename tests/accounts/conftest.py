"""Fixtures about accounts."""

import pytest

from tests.accounts.people import House


@pytest.fixture
def house(project, stranger, work_off, world) -> House:
    """An account with an owner."""
    return House(project, stranger, work_off, world)
