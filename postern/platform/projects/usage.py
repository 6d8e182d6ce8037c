"""Find the automations and campaigns that use a template, audience or sending domain, and so block its deletion."""

from uuid import UUID

from postern.kernel.database.statements import Transaction
from postern.kernel.http.problems import ProblemError
from postern.platform.projects import usage_store as store

MAX_USERS_SHOWN = 20
"""Maximum number of automations and campaigns that a problem lists."""


async def lock_activations(tx: Transaction, project_id: UUID) -> None:
    """Lock activations of automations in the project, and deletions of records that automations use, until the
    transaction ends, so that a record is not deleted while an automation that uses it is activated."""
    await store.lock_activations(tx, project_id=project_id)


async def find_users(tx: Transaction, project_id: UUID, id: UUID, *, domain: str | None = None) -> list[ProblemError]:
    """Return the automations and campaigns that use a record, each as an error for a problem; empty if none does.

    Locks activations until the transaction ends (see `lock_activations`).

    Automations: active ones, and those with unfinished runs. Campaigns: scheduled ones, running ones that read the
    audience, and drafts with a variant of the template. `domain` is the name of the sending domain, in lower case.
    """
    await lock_activations(tx, project_id)
    rows = await store.users(tx, project_id=project_id, id=id, text=str(id), domain=domain, limit=MAX_USERS_SHOWN)
    return [
        ProblemError(path=f"/{user.kind}s/{user.id}", code="in_use", message=f"The {user.kind} “{user.name}” uses it.")
        for user in rows
    ]


def in_use(what: str, users: list[ProblemError]) -> str:
    """The detail of the problem that a record cannot be deleted. `what` is the kind of record, such as "template";
    `users` is the result of `find_users`."""
    return f"This {what} is in use: {' '.join(user.message for user in users)} Change or stop those first."
