"""Check that single sign-on works before it is required. `app.py` sets the check as a hook, because `projects` may not
import `sso`."""

from collections.abc import Awaitable, Callable
from uuid import UUID

from postern.kernel.database.statements import Queries
from postern.kernel.http.problems import Conflict

HasWorkingSso = Callable[[Queries, UUID, UUID | None], Awaitable[bool]]
"""Whether an organization, or if it is None any organization of the project, has a connection by which members can sign
in now."""


class SsoNotReady(Conflict):
    """Single sign-on cannot be required: there is no active connection with which members can sign in."""

    next = (
        "Activate a connection of an organization whose domain is VERIFIED: POST …/sso-connections/{connId}/activate. "
        "Then require single sign-on."
    )


class SsoStillRequired(Conflict):
    """Single sign-on is required, and this change would leave no connection with which members can sign in."""

    next = (
        "Set `requireSso` of the organization (or `settings.signIn.requireSso` of the project) to false, allow another "
        "method in `allowedMethods`, or activate another connection, and repeat this."
    )


async def sso_works(db: Queries, project_id: UUID, organization_id: UUID | None) -> bool:
    """Whether an organization, or if it is None any organization of the project, has a connection by which members can
    sign in now."""
    return await db.hooks.has_working_sso(db, project_id, organization_id)
