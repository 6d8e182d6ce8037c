"""Fixtures about accounts."""

import pytest

from tests.platform.accounts.members import House


@pytest.fixture
def house(project, stranger, work_off, world) -> House:
    """An account with an owner."""
    return House(project, stranger, work_off, world)
