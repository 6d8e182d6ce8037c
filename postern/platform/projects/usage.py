"""Who uses a template, an audience or a sending domain, so that it cannot be deleted under them."""

from uuid import UUID

from postern.kernel.database.statements import Transaction
from postern.kernel.http.problems import ProblemError
from postern.platform.projects import usage_store as store

USERS_SHOWN = 20
"""Users that an answer names at most."""


async def lock_activations(tx: Transaction, project_id: UUID) -> None:
    """Hold off other activations of automations in the project, and deletions of what automations use."""
    await store.lock_activations(tx, project_id=project_id)


async def users_of(tx: Transaction, project_id: UUID, id: UUID, *, domain: str | None = None) -> list[ProblemError]:
    """The automations and campaigns that need a record, as faults that name them.

    Automations: active ones, and those with runs under way. Campaigns: scheduled ones, those under way that need their
    audience, and drafts of which a variant has the template. `domain` is the name of a sending domain, lower case.
    """
    await lock_activations(tx, project_id)
    found = await store.users(tx, project_id=project_id, id=id, text=str(id), domain=domain, limit=USERS_SHOWN)
    return [
        ProblemError(path=f"/{user.kind}s/{user.id}", code="in_use", message=f"The {user.kind} “{user.name}” uses it.")
        for user in found
    ]


def in_use(what: str, faults: list[ProblemError]) -> str:
    """What to say where a record cannot be deleted."""
    return f"This {what} is in use: {' '.join(fault.message for fault in faults)} Change or stop those first."
