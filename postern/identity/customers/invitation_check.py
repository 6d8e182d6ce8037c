"""People who were invited: they may sign up where strangers may not.

Invitations stand above customers, so `app.py` says who knows them.
"""

from collections.abc import Awaitable, Callable
from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries
from postern.kernel.http.call import Call
from postern.platform.projects.model import Project

Asker = Callable[[Queries, UUID, str, Moment], Awaitable[bool]]
"""Whether an address (by its key) has an invitation of the project that can be accepted now."""

_known: list[Asker] = []


def set_invitation_check(ask: Asker) -> None:
    """Who knows invitations: called once by `app.py`."""
    _known[:] = [ask]


async def may_sign_up(db: Queries, call: Call, project: Project, email_key: str) -> bool:
    """Whether a new address may begin an account: where the project lets strangers sign up, or if it is invited."""
    if project.settings.sign_in.sign_up:
        return True
    for ask in _known:
        return await ask(db, call.project_id, email_key, call.now)
    return False
