"""Find the automations and campaigns that use a template, audience or sending domain, and so prevent its deletion."""

from uuid import UUID

from postern.kernel.database.statements import Transaction
from postern.kernel.http.problems import ProblemError
from postern.platform.projects import usage_store as store

MAX_DEPENDENTS = 20
"""Maximum number of automations and campaigns that a problem lists."""


async def lock_activations(tx: Transaction, project_id: UUID) -> None:
    """Lock activations of automations in the project, and deletions of records that automations use, until the
    transaction ends, so that a record is not deleted while an automation that uses it is activated."""
    await store.lock_activations(tx, project_id=project_id)


async def find_dependents(
    tx: Transaction, project_id: UUID, id: UUID, *, domain: str | None = None
) -> list[ProblemError]:
    """Return the automations and campaigns that use a record, each as an error for a problem; empty if none does.

    Locks activations until the transaction ends (see `lock_activations`).

    Automations: active ones, and those with unfinished runs. Campaigns: scheduled ones, running ones that read the
    audience, and drafts with a variant that uses the template. `domain` is the name of the sending domain, in lower
    case; None if the record is not a domain. Returns at most MAX_DEPENDENTS.
    """
    await lock_activations(tx, project_id)
    rows = await store.dependents(tx, project_id=project_id, id=id, text=str(id), domain=domain, limit=MAX_DEPENDENTS)
    return [
        ProblemError(path=f"/{row.kind}s/{row.id}", code="in_use", message=f"The {row.kind} “{row.name}” uses it.")
        for row in rows
    ]


def in_use(what: str, dependents: list[ProblemError]) -> str:
    """The detail of the problem that a record cannot be deleted. `what` is the kind of record, such as "template";
    `dependents` is the result of `find_dependents`."""
    return f"This {what} is in use: {' '.join(error.message for error in dependents)} Change or stop those first."
