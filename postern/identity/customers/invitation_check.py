"""People who were invited: they may sign up where strangers may not.

Invitations stand above customers, so `world.hooks` says who knows them.
"""

from collections.abc import Awaitable, Callable
from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries
from postern.kernel.http.call import Call
from postern.platform.projects.model import Project

IsInvited = Callable[[Queries, UUID, str, Moment], Awaitable[bool]]
"""Whether an address (by its key) has an invitation of the project that can be accepted now."""


async def may_sign_up(db: Queries, call: Call, project: Project, email_key: str) -> bool:
    """Whether a new address may begin an account: where the project lets strangers sign up, or if it is invited."""
    return project.settings.sign_in.sign_up or await db.hooks.is_invited(db, call.project_id, email_key, call.now)
