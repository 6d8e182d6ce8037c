"""Fixtures of tests that run over both kinds of people."""

import pytest

from tests.platform.accounts.members import House
from tests.security.kinds import KINDS, Person


@pytest.fixture
def house(project, stranger, work_off, world) -> House:
    """An account with an owner, and its project."""
    return House(project, stranger, work_off, world)


@pytest.fixture(params=KINDS)
async def person(request, house) -> Person:
    """Somebody of each kind."""
    return await KINDS[request.param](house)
