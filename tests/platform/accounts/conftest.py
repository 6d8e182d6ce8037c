"""Fixtures about accounts."""

import pytest

from tests.platform.accounts.members import AccountHelper


@pytest.fixture
def account(project, stranger, work_off, world) -> AccountHelper:
    """An account with an owner."""
    return AccountHelper(project, stranger, work_off, world)
