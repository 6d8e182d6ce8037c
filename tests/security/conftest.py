"""Fixtures of tests that run for a developer and for a customer."""

import pytest

from tests.platform.accounts.members import AccountHelper
from tests.security.kinds import KINDS, Person


@pytest.fixture
def house(project, stranger, run_due_work, world) -> AccountHelper:
    """An account with an owner, and its project."""
    return AccountHelper(project, stranger, run_due_work, world)


@pytest.fixture(params=KINDS)
async def person(request, house) -> Person:
    """A developer or a customer: a test with this fixture runs once for each."""
    return await KINDS[request.param](house)
