"""Finds the single sign-on connection for an e-mail address or an organization.

The sso package, which keeps connections, depends on this one, so it is called by `world.hooks`.
"""

from collections.abc import Awaitable, Callable
from uuid import UUID

from postern.kernel.database.statements import Queries
from postern.kernel.http.call import Call
from postern.kernel.values import Record


class SsoEntry(Record):
    """A single sign-on connection: its name, and the URL at which a browser begins to sign in by it."""

    name: str
    login_url: str


SsoEntryOfAddress = Callable[[Call, str], Awaitable[SsoEntry | None]]
"""The connection for the domain of an e-mail address, or None."""
HasActiveSso = Callable[[Call], Awaitable[bool]]
"""Whether the project has an active connection."""
SsoEntryOfOrganization = Callable[[Queries, Call, UUID, str | None], Awaitable[SsoEntry | None]]
"""The active connection of an organization, preferably the one for the domain, or None."""


async def sso_entry_of_address(call: Call, email: str) -> SsoEntry | None:
    """The connection that the address has to sign in by, or None."""
    return await call.world.hooks.sso_entry_of_address(call, email)


async def is_sso_offered(call: Call) -> bool:
    """Whether the project has an active connection, so that the hosted pages offer single sign-on."""
    return await call.world.hooks.has_active_sso(call)


async def sso_entry_of_organization(
    db: Queries, call: Call, organization_id: UUID | None, domain: str | None
) -> SsoEntry | None:
    """The active connection of an organization, preferably the one for `domain`. None without an organization."""
    if organization_id is None:
        return None
    return await db.hooks.sso_entry_of_organization(db, call, organization_id, domain)
