"""Background work: execution of due runs in batches, and calls of WEBHOOK steps outside transactions."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

import structlog
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.kernel.due import Work
from postern.kernel.outbound.client import OutboundResponse, Outcome
from postern.kernel.values import Moment, to_json
from postern.messaging.audiences import contacts, membership
from postern.messaging.audiences.model import Contact
from postern.messaging.automations.model import CALL_RETRY_DELAYS, CallWebhook, DueRun
from postern.messaging.automations.operations import webhook_step_secret
from postern.messaging.automations.steps import RunBatch, RunState, load_runs, lock_claimed
from postern.security.signatures import webhook_headers

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

LEASE = timedelta(seconds=120)
"""How long claimed runs belong to a worker, before another worker may claim them."""
MAX_CONCURRENT_CALLS = 25
RUNS_PER_CLAIM, CALLS_PER_CLAIM = 500, 100
"""Maximum runs of one claim. A call takes at most 15 s (`outbound.client`), so a batch of calls takes at most
100 / 25 × 15 s = 60 s, which is less than the lease."""


async def advance(world: "World", due_runs: list[DueRun]) -> None:
    """Advance runs of one project in one transaction.

    If an internal error occurs, advances each run in a separate transaction, so that only the runs with an error become
    FAILED. Raises OperationalError or PoolTimeout if the database is not available.
    """
    try:
        await _advance_together(world, due_runs)
    except (OperationalError, PoolTimeout):
        raise
    except Exception as error:
        if len(due_runs) == 1:
            log.exception("run_failed", run=str(due_runs[0].id))
            await _fail_run(world, due_runs[0], error)
            return
        for due_run in due_runs:
            await advance(world, [due_run])


async def _advance_together(world: "World", due_runs: list[DueRun], outcomes: dict[Any, Outcome] | None = None) -> None:
    """Advance runs in one transaction. `outcomes` are the outcomes of calls that were made, by run id."""
    project_id = due_runs[0].project_id
    async with world.db.transaction() as tx:
        # Before locking runs: a change of audience rules takes this lock exclusively, then locks the runs it wakes.
        await membership.lock_audiences(tx, project_id)
        # A change of a contact locks it before the runs that it wakes; the same order here avoids deadlocks.
        await contacts.lock_contacts(tx, project_id, [due_run.contact_id for due_run in due_runs])
        rows = await lock_claimed(tx, project_id, due_runs)
        if not rows:
            return
        runs = await load_runs(tx, project_id, rows)
        batch = RunBatch(world, tx, project_id, world.clock(), runs)
        for run in runs:
            if outcomes and run.row.id in outcomes:
                _apply_response(world, batch, run, outcomes[run.row.id])
        await batch.advance()
        await batch.settle()


async def _fail_run(world: "World", due_run: DueRun, error: Exception) -> None:
    """Set a run to FAILED after an internal error."""
    async with world.db.transaction() as tx:
        rows = await lock_claimed(tx, due_run.project_id, [due_run])
        runs = await load_runs(tx, due_run.project_id, rows)
        batch = RunBatch(world, tx, due_run.project_id, world.clock(), runs)
        batch.fail(runs, f"The step failed with an internal error: {type(error).__name__}.")
        await batch.settle()


async def call_webhooks(world: "World", due_runs: list[DueRun]) -> None:
    """Make the calls of runs of one project that are at a WEBHOOK step, then advance the runs.

    A failed call is retried later. A run that causes an internal error becomes FAILED.
    """
    project_id, semaphore = due_runs[0].project_id, asyncio.Semaphore(MAX_CONCURRENT_CALLS)
    contact_rows = await contacts.contacts_with_ids(world.db, project_id, [due_run.contact_id for due_run in due_runs])
    contacts_by_id = {contact.id: contact for contact in contact_rows}
    async with world.db.transaction() as tx:
        runs = await load_runs(tx, project_id, due_runs)

    async def call(run: RunState) -> None:
        async with semaphore:
            try:
                outcomes[run.row.id] = await _call(world, run, contacts_by_id[run.row.contact_id])
            except Exception as error:
                # An internal error fails only this run; the calls of the others are not repeated.
                log.exception("run_failed", run=str(run.row.id))
                failed[run.row.id] = error

    outcomes: dict[UUID, Outcome] = {}
    failed: dict[UUID, Exception] = {}
    await asyncio.gather(*(call(run) for run in runs if run.row.contact_id in contacts_by_id))
    for due_run in [due_run for due_run in due_runs if due_run.id in failed]:
        await _fail_run(world, due_run, failed[due_run.id])
    due_runs = [due_run for due_run in due_runs if due_run.id not in failed]
    if not due_runs:
        return
    try:
        await _advance_together(world, due_runs, outcomes)
    except (OperationalError, PoolTimeout):
        raise
    except Exception:
        for due_run in due_runs:
            try:
                await _advance_together(world, [due_run], outcomes)
            except Exception as error:
                log.exception("run_failed", run=str(due_run.id))
                await _fail_run(world, due_run, error)


async def _call(world: "World", run: RunState, contact: Contact) -> Outcome:
    step, now = run.position.step, world.clock()
    assert isinstance(step, CallWebhook)
    body = to_json(call_payload(run, contact, now))
    # The id is the same on every attempt, so that the receiver can recognise repetitions.
    call_id = uuid5(run.row.id, str(run.step_index))
    secret = webhook_step_secret(world, run.row.project_id, run.row.automation_id)
    headers = {"Content-Type": "application/json", **webhook_headers(str(call_id), now, body, [secret])}
    return await world.outbound.post(step.url, body, headers=headers)


def call_payload(run: RunState, contact: Contact, now: Moment) -> dict[str, Any]:
    """The request body of a WEBHOOK step."""
    data = {
        "automationId": run.row.automation_id,
        "runId": run.row.id,
        "step": run.step_index,
        "contact": {"id": contact.id, "email": contact.email, "attributes": contact.attributes},
    }
    return {"type": "automation.webhook", "timestamp": now, "data": data}


def _apply_response(world: "World", batch: RunBatch, run: RunState, outcome: Outcome) -> None:
    """Continue a run, or schedule a retry, depending on the outcome of its call."""
    status = outcome.status if isinstance(outcome, OutboundResponse) else None
    if isinstance(outcome, OutboundResponse) and outcome.ok:
        batch.finish_call(run, "DONE", {"status": status})
        return
    if run.row.tried < len(CALL_RETRY_DELAYS):
        delay = CALL_RETRY_DELAYS[run.row.tried] * (0.8 + 0.4 * world.random.random())
        batch.retry_call(run, Moment.of(batch.now + delay))
        return
    reason = f"The server responded with status {status}." if isinstance(outcome, OutboundResponse) else outcome.reason
    batch.finish_call(run, "FAILED", {"status": status, "reason": reason})


WORK = [
    Work(
        name="automations",
        table="automation_runs",
        row_type=DueRun,
        lease=LEASE,
        do=advance,
        claim_size=RUNS_PER_CLAIM,
        where="not calls",
    ),
    Work(
        name="automations.calls",
        table="automation_runs",
        row_type=DueRun,
        lease=LEASE,
        do=call_webhooks,
        claim_size=CALLS_PER_CLAIM,
        where="calls",
    ),
]
