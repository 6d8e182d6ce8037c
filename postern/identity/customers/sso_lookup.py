"""People whose organization signs them in at a place of its own: the hosted pages send them there by their address.

Connections stand above customers, so `world.hooks` says who knows them.
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


SsoEntryOfAddress = Callable[[Call, str], Awaitable[SsoEntry | None]]
"""The sign-on of an e-mail address, if its domain has one."""
HasActiveSso = Callable[[Call], Awaitable[bool]]
"""Whether a project has any such sign-on, so that the pages offer it."""
SsoEntryOfOrganization = Callable[[Queries, Call, UUID, str | None], Awaitable[SsoEntry | None]]
"""The sign-on of an organization, preferably the one for a domain, if one works now."""


async def sso_entry_of_address(call: Call, email: str) -> SsoEntry | None:
    """Where somebody with this address signs on; none if here."""
    return await call.world.hooks.sso_entry_of_address(call, email)


async def is_sso_offered(call: Call) -> bool:
    """Whether anybody of this project signs on elsewhere."""
    return await call.world.hooks.has_active_sso(call)


async def sso_entry_of_organization(
    db: Queries, call: Call, organization_id: UUID | None, domain: str | None
) -> SsoEntry | None:
    """Where the people of an organization sign on, by the connection for `domain` if it has one for that."""
    if organization_id is None:
        return None
    return await db.hooks.sso_entry_of_organization(db, call, organization_id, domain)
