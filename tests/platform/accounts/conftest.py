"""Fixtures about accounts."""

import pytest

from tests.platform.accounts.members import AccountHelper


@pytest.fixture
def account(project, stranger, run_due_work, world) -> AccountHelper:
    """An account with an owner."""
    return AccountHelper(project, stranger, run_due_work, world)
