"""People whose organization signs them in at a place of its own: the hosted pages send them there by their address.

Connections stand above customers, so `app.py` says who knows them.
"""

from collections.abc import Awaitable, Callable
from uuid import UUID

from postern.kernel.database.statements import Queries
from postern.kernel.http.call import Call
from postern.kernel.values import Record


class SsoEntry(Record):
    """Where people at a domain sign on: the connection's name, and the address that sends a browser on its way."""

    name: str
    login_url: str


Finder = Callable[[Call, str], Awaitable[SsoEntry | None]]
"""The sign-on of an e-mail address, if its domain has one."""
Asker = Callable[[Call], Awaitable[bool]]
"""Whether a project has any such sign-on, so that the pages offer it."""
OrganizationFinder = Callable[[Queries, Call, UUID, str | None], Awaitable[SsoEntry | None]]
"""The sign-on of an organization, preferably the one for a domain, if one works now."""

_known: list[tuple[Finder, Asker, OrganizationFinder]] = []


def set_sso_lookup(find: Finder, offered: Asker, of_organization: OrganizationFinder) -> None:
    """Who knows where people sign on: called once by `app.py`."""
    _known[:] = [(find, offered, of_organization)]


async def sso_entry_of_address(call: Call, email: str) -> SsoEntry | None:
    """Where somebody with this address signs on; none if here."""
    for find, _, _ in _known:
        return await find(call, email)
    return None


async def is_sso_offered(call: Call) -> bool:
    """Whether anybody of this project signs on elsewhere."""
    for _, offered, _ in _known:
        return await offered(call)
    return False


async def sso_entry_of_organization(
    db: Queries, call: Call, organization_id: UUID | None, domain: str | None
) -> SsoEntry | None:
    """Where the people of an organization sign on, by the connection for `domain` if it has one for that."""
    if organization_id is None:
        return None
    for _, _, of_organization in _known:
        return await of_organization(db, call, organization_id, domain)
    return None
