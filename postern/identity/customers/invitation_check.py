"""Whether an address may sign up: the project has sign-up open, or the address is invited.

The organizations package, which keeps invitations, depends on this one, so it is called by `world.hooks`.
"""

from collections.abc import Awaitable, Callable
from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries
from postern.kernel.http.call import Call
from postern.platform.projects.model import Project

IsInvited = Callable[[Queries, UUID, str, Moment], Awaitable[bool]]
"""Whether the address with this key has an invitation to the project that can be accepted now."""


async def may_sign_up(db: Queries, call: Call, project: Project, email_key: str) -> bool:
    """Whether an address without an account may sign up: the project has sign-up open, or the address is invited."""
    return project.settings.sign_in.sign_up or await db.hooks.is_invited(db, call.project_id, email_key, call.now)
