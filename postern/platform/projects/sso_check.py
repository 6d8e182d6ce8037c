"""Whether people can sign in by single sign-on: asked before it is required of them.

Connections stand above projects, so `world.hooks` says who knows them.
"""

from collections.abc import Awaitable, Callable
from uuid import UUID

from postern.kernel.database.statements import Queries
from postern.kernel.http.problems import Conflict

HasWorkingSso = Callable[[Queries, UUID, UUID | None], Awaitable[bool]]
"""Whether a connection of the project (and of one organization, if one is named) signs people on now."""


class SsoNotReady(Conflict):
    """Single sign-on cannot be required: no connection signs people on now."""

    next = (
        "Activate a connection of an organization whose domain is VERIFIED: POST …/sso-connections/{connId}/activate. "
        "Then require single sign-on."
    )


class SsoStillRequired(Conflict):
    """Single sign-on is required, and without this nobody could sign in."""

    next = (
        "Set `requireSso` of the organization (or `settings.signIn.requireSso` of the project) to false, or activate "
        "another connection, and repeat this."
    )


async def sso_works(db: Queries, project_id: UUID, organization_id: UUID | None) -> bool:
    """Whether people of the project (or of one organization) can sign in by single sign-on now."""
    return await db.hooks.has_working_sso(db, project_id, organization_id)
