"""Find the automations and campaigns that use a template, audience or sending domain, and so block its deletion."""

from uuid import UUID

from postern.kernel.database.statements import Transaction
from postern.kernel.http.problems import ProblemError
from postern.platform.projects import usage_store as store

MAX_USERS_SHOWN = 20
"""Maximum number of users that a problem lists."""


async def lock_activations(tx: Transaction, project_id: UUID) -> None:
    """Wait for, and block, other activations of automations in the project and deletions of what automations use.

    The lock is held until the transaction ends, so that nothing an automation uses is deleted while it is activated.
    """
    await store.lock_activations(tx, project_id=project_id)


async def users_of(tx: Transaction, project_id: UUID, id: UUID, *, domain: str | None = None) -> list[ProblemError]:
    """Return the automations and campaigns that use a record, as problem errors that name them.

    Automations: active ones, and those with unfinished runs. Campaigns: scheduled ones, running ones that read the
    audience, and drafts with a variant of the template. `domain` is the name of the sending domain, in lower case.
    """
    await lock_activations(tx, project_id)
    rows = await store.users(tx, project_id=project_id, id=id, text=str(id), domain=domain, limit=MAX_USERS_SHOWN)
    return [
        ProblemError(path=f"/{user.kind}s/{user.id}", code="in_use", message=f"The {user.kind} “{user.name}” uses it.")
        for user in rows
    ]


def in_use(what: str, faults: list[ProblemError]) -> str:
    """The detail of the problem that a record cannot be deleted because of the users in `faults`."""
    return f"This {what} is in use: {' '.join(fault.message for fault in faults)} Change or stop those first."
