"""HTTP operations on automations, and the reaction to events, which start and wake runs."""

import base64
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import msgspec
import structlog

from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.call import Call, LiveKeyRequired
from postern.kernel.http.listing import CountedListQuery, Search, sorted_list
from postern.kernel.http.operation import delete, get, patch, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, newest_first
from postern.kernel.http.problems import Invalid, ProblemError, require_found
from postern.kernel.values import NO_ID, Body, Deleted, Moment, as_id, new_id, to_plain
from postern.messaging.audiences import contacts
from postern.messaging.audiences import operations as audiences
from postern.messaging.audiences.membership import actor_because_of
from postern.messaging.audiences.model import AudienceMissing
from postern.messaging.audiences.rules import audiences_named, compile_rules, plain_rules, read_rules
from postern.messaging.automations import rules, store
from postern.messaging.automations.loops import LoopCandidate, find_loop
from postern.messaging.automations.model import (
    AUTOMATIONS_PER_PROJECT,
    CONTACT_DELETED,
    DEFAULT_RUNS_PER_HOUR,
    RETRY_LIMIT,
    STEPS_LIMIT,
    AddToAudience,
    Automation,
    AutomationIncomplete,
    AutomationLoop,
    AutomationMissing,
    AutomationRun,
    AutomationRunDetail,
    AutomationRunPosition,
    AutomationRunTotals,
    AutomationSettings,
    AutomationWebhookSecret,
    Condition,
    ListedAutomation,
    MaxRunsPerHour,
    Name,
    NewRun,
    RemoveFromAudience,
    RunFinished,
    RunMissing,
    RunNotFailed,
    RunsRetried,
    RunStatus,
    SendEmail,
    Step,
    TooManyAutomations,
    Trigger,
    TriggerRow,
)
from postern.messaging.automations.steps import sender_of
from postern.messaging.emails.enqueue import require_sending_domain_id
from postern.messaging.templates import operations as templates
from postern.messaging.templates.rules import check_content
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.platform.events.model import EVENT_NAMES, EventRange, EventRow
from postern.platform.projects import usage
from postern.protocols.mail.address import AddressInvalid, address_key
from postern.protocols.mail.templates.content import is_blank

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

UNSET = msgspec.UNSET
Unset = msgspec.UnsetType
Steps = Annotated[list[Step], msgspec.Meta(max_length=STEPS_LIMIT)]


class NewAutomation(Body):
    """An automation to create."""

    name: Name
    trigger: Trigger
    steps: Steps
    active: bool = False
    max_runs_per_hour: MaxRunsPerHour = DEFAULT_RUNS_PER_HOUR
    """With `once: false`: maximum runs that one contact can start within an hour."""
    allow_loops: bool = False
    """Whether the automation may be active even if it is part of a loop."""


class AutomationChange(Body):
    """Fields to change; omitted fields keep their values."""

    name: Name | Unset = UNSET
    trigger: Trigger | Unset = UNSET
    steps: Steps | Unset = UNSET
    active: bool | Unset = UNSET
    max_runs_per_hour: MaxRunsPerHour | Unset = UNSET
    allow_loops: bool | Unset = UNSET


class AutomationActivation(Body):
    """Whether the automation is to be active."""

    active: bool


EXAMPLE = {
    "name": "Welcome",
    "trigger": {"type": "AUDIENCE_JOINED", "audienceId": "01990000-0000-7000-8000-000000000000"},
    "steps": [
        {"type": "DELAY", "hours": 1},
        {
            "type": "SEND_EMAIL",
            "templateId": "01990000-0000-7000-8000-000000000001",
            "domainId": "01990000-0000-7000-8000-000000000002",
            "fromEmail": "hello@example.com",
            "subject": "Welcome, {{ firstName }}",
        },
    ],
}


@get("/projects/{project_id}/automations", needs="automations:read")
async def list_automations(
    call: Call,
    q: Search | None = None,
    active: bool | None = None,
    *,
    query: CountedListQuery,
) -> LinkedList[ListedAutomation]:
    """List the project's automations, newest first. All given filters must match.

    With `include=counts` each automation has the `totals` of its runs, the number of `unfinished` ones, and
    `lastRunAt`.
    """
    with_counts = query.with_counts
    filters = query.filters(q, active=[] if active is None else [active])
    page = await sorted_list(
        call, "automations", query, filters, store.SEARCH_TEXT, store.automations, store.count_listed
    )
    if not with_counts:
        return page
    counts: dict[UUID, dict[str, int]] = {automation.id: {} for automation in page.items}
    for row in await store.totals_of_each(call.db, project_id=call.project_id, automation_ids=[*counts]):
        counts[row.automation_id][row.measure] = row.count
    rows = await store.activity_of_each(call.db, project_id=call.project_id, automation_ids=[*counts])
    activity = {row.automation_id: row for row in rows}
    return page.convert_items(
        lambda automation: msgspec.structs.replace(
            automation,
            totals=_run_totals(counts[automation.id]),
            unfinished=activity[automation.id].unfinished,
            last_run_at=activity[automation.id].last_run_at,
        )
    )


@post(
    "/projects/{project_id}/automations",
    needs="automations:write",
    status=201,
    problems=[TooManyAutomations, AutomationIncomplete, AutomationLoop, LiveKeyRequired],
    example=EXAMPLE,
)
async def create_automation(call: Call, data: NewAutomation) -> Automation:
    """Create an automation. It is inactive unless `active` is true.

    `trigger`: `AUDIENCE_JOINED` or `AUDIENCE_LEFT` with `audienceId`, `CONTACT_CREATED`, or `EVENT` with `event`, the
    name of an event or custom event, and `where`, rules that its data must match. With `once` (default) a contact can
    start it only once. Subjects and templates can use the event as `{{ event }}`.

    `steps`, at most 150 including those in branches: `SEND_EMAIL {templateId, domainId, fromEmail, subject}`,
    `DELAY {minutes, hours, days | until}`, `CONDITION {rules, then, else}` (rules as for audiences),
    `WAIT_FOR_EVENT {event, timeout, then, else}`, `UPDATE_CONTACT {attributes}`, `ADD_TO_AUDIENCE {audienceId}`,
    `REMOVE_FROM_AUDIENCE {audienceId}`, `WEBHOOK {url}`, `EXIT`. Each step is executed once per run.

    With `once: false` a contact can start at most `maxRunsPerHour` runs (1 to 1,000, default 1) within an hour; further
    runs do not start and are counted as `limited`. If active automations would start each other in an endless loop,
    the response is 409 with the steps of the loop, unless `allowLoops` is true.
    """
    rules.check_trigger(data.trigger)
    rules.check_steps(data.steps, call.world.settings.outbound_allow)
    await _check_templates(call, data.steps)
    steps, automation_id = rules.encode_steps(data.steps), new_id()
    async with call.db.transaction() as tx:
        await tx.lock_quota("automations", call.project_id)
        if await store.count_automations(tx, project_id=call.project_id) >= AUTOMATIONS_PER_PROJECT:
            raise TooManyAutomations
        if data.active:
            call.require_live(ACTIVATE)
            await _require_can_be_active(
                tx, call, LoopCandidate(automation_id, data.name, data.trigger, data.steps), data.allow_loops
            )
        settings = AutomationSettings(
            project_id=call.project_id,
            id=automation_id,
            name=data.name,
            steps=steps,
            active=data.active,
            max_runs_per_hour=data.max_runs_per_hour,
            allow_loops=data.allow_loops,
            waits_for=rules.awaited_events(data.steps),
            **_trigger_columns(data.trigger),
        )
        automation = await store.insert_automation(tx, settings, created_at=call.now, updated_at=call.now)
        await store.insert_version(
            tx,
            project_id=call.project_id,
            automation_id=automation_id,
            version=1,
            steps=Jsonb(steps),
            created_at=call.now,
        )
        await audit.record(tx, call, "automation.created", "Automation", automation.id, name=data.name)
    return automation


@get("/projects/{project_id}/automations/{id}", needs="automations:read", problems=[AutomationMissing])
async def get_automation(call: Call, id: UUID) -> Automation:
    """Get an automation."""
    return await _require(call.db, call.project_id, id)


@patch(
    "/projects/{project_id}/automations/{id}",
    needs="automations:write",
    problems=[AutomationMissing, AutomationIncomplete, AutomationLoop, LiveKeyRequired],
    example={"name": "Welcome series"},
)
async def change_automation(call: Call, id: UUID, data: AutomationChange) -> Automation:
    """Change an automation. Changed steps apply to new runs; unfinished runs keep their version. Honours `If-Match`."""
    if data.steps is not UNSET:
        rules.check_steps(data.steps, call.world.settings.outbound_allow)
        await _check_templates(call, data.steps)
    async with call.db.transaction() as tx:
        current = await _lock(tx, call, id)
        trigger = msgspec.convert(current.trigger, Trigger) if data.trigger is UNSET else data.trigger
        steps = rules.read_steps(current.steps) if data.steps is UNSET else data.steps
        active = current.active if data.active is UNSET else data.active
        rules.check_trigger(trigger)
        rules.check_steps(steps, call.world.settings.outbound_allow)
        allow_loops = current.allow_loops if data.allow_loops is UNSET else data.allow_loops
        name = current.name if data.name is UNSET else data.name
        if active:
            call.require_live(ACTIVATE)
            await _require_can_be_active(tx, call, LoopCandidate(id, name, trigger, steps), allow_loops)
        encoded_steps = rules.encode_steps(steps)
        version = current.version + (encoded_steps != current.steps)
        if version != current.version:
            await store.insert_version(
                tx,
                project_id=call.project_id,
                automation_id=id,
                version=version,
                steps=Jsonb(encoded_steps),
                created_at=call.now,
            )
        settings = AutomationSettings(
            project_id=call.project_id,
            id=id,
            name=name,
            steps=encoded_steps,
            version=version,
            active=active,
            max_runs_per_hour=current.max_runs_per_hour if data.max_runs_per_hour is UNSET else data.max_runs_per_hour,
            allow_loops=allow_loops,
            waits_for=rules.awaited_events(steps),
            **_trigger_columns(trigger),
        )
        changed = await store.change_automation(tx, settings, now=call.now)
        await audit.record(tx, call, "automation.updated", "Automation", id, name=changed.name, version=version)
    return changed


@delete("/projects/{project_id}/automations/{id}", needs="automations:write", problems=[AutomationMissing])
async def delete_automation(call: Call, id: UUID) -> Deleted:
    """Delete an automation with all its runs, including unfinished ones. E-mails that were sent are kept.

    Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        automation = await _lock(tx, call, id)
        await store.delete_automation(tx, project_id=call.project_id, id=id)
        await audit.record(tx, call, "automation.deleted", "Automation", id, name=automation.name)
    return Deleted()


@patch(
    "/projects/{project_id}/automations/{id}/active",
    needs="automations:write",
    problems=[AutomationMissing, AutomationIncomplete, AutomationLoop, LiveKeyRequired],
    example={"active": True},
)
async def set_automation_active(call: Call, id: UUID, data: AutomationActivation | None = None) -> Automation:
    """Activate or deactivate an automation with `{active}`; without a body, toggle it.

    A deactivated automation starts no new runs; unfinished runs continue. Activation requires that its audiences,
    templates, sending domains and senders exist; otherwise the response is 409 and lists what is missing. If active
    automations would start each other in an endless loop, the response is 409 with the steps of the loop, unless
    `allowLoops` is true. Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        automation = await _lock(tx, call, id)
        active = not automation.active if data is None else data.active
        if active:
            call.require_live(ACTIVATE)
            trigger, steps = msgspec.convert(automation.trigger, Trigger), rules.read_steps(automation.steps)
            await _require_can_be_active(
                tx, call, LoopCandidate(id, automation.name, trigger, steps), automation.allow_loops
            )
        changed = await store.set_active(tx, project_id=call.project_id, id=id, active=active, now=call.now)
        action = "automation.activated" if active else "automation.deactivated"
        await audit.record(tx, call, action, "Automation", id, name=automation.name)
    return changed


@get("/projects/{project_id}/automations/{id}/runs", needs="automations:read", problems=[AutomationMissing])
async def list_automation_runs(
    call: Call,
    id: UUID,
    status: list[RunStatus] | None = None,
    contact_id: str | None = None,
    limit: ListLimit = 100,
    cursor: Cursor | None = None,
) -> LinkedList[AutomationRun]:
    """List the runs of an automation, newest first. Filter by `status` (comma-separated) and `contactId`."""
    if contact_id is not None and as_id(contact_id) == NO_ID:
        raise Invalid.at("query/contactId", "This is not the id of a contact.")
    await _require(call.db, call.project_id, id)
    scope = f"runs|{id}|{','.join(status or [])}|{contact_id or ''}"
    return await newest_first(
        call,
        scope,
        cursor,
        limit,
        store.runs,
        automation_id=id,
        statuses=None if status is None else [*status],
        contact_id=None if contact_id is None else as_id(contact_id),
    )


@get(
    "/projects/{project_id}/automations/{id}/runs/{run_id}",
    needs="automations:read",
    problems=[RunMissing],
)
async def get_automation_run(call: Call, id: UUID, run_id: UUID) -> AutomationRunDetail:
    """Get a run with its history: each executed step with its times and outcome."""
    run = require_found(await store.run(call.db, project_id=call.project_id, automation_id=id, id=run_id), RunMissing)
    steps = await store.steps_of(call.db, project_id=call.project_id, run_id=run_id)
    return AutomationRunDetail(**msgspec.structs.asdict(run), steps=steps)


@post(
    "/projects/{project_id}/automations/{id}/runs/{run_id}/cancel",
    needs="automations:write",
    problems=[RunMissing, RunFinished],
    response_example={"status": "CANCELLED", "nextAt": None, "finishedAt": "2026-01-31T12:00:00.000Z"},
)
async def cancel_automation_run(call: Call, id: UUID, run_id: UUID) -> AutomationRun:
    """Cancel a run at its current step. Steps that were executed are not undone."""
    async with call.db.transaction() as tx:
        run = await store.cancel_run(tx, project_id=call.project_id, automation_id=id, id=run_id, now=call.now)
        if run is None:
            existing = await store.run(tx, project_id=call.project_id, automation_id=id, id=run_id)
            raise RunMissing if existing is None else RunFinished
        await store.add_to_counters(
            tx, project_id=[call.project_id], automation_id=[id], measure=["CANCELLED"], count=[1]
        )
        await audit.record(tx, call, "automation.run_cancelled", "Automation", id, run_id=str(run_id))
    return run


@post(
    "/projects/{project_id}/automations/{id}/runs/{run_id}/retry",
    needs="automations:write",
    problems=[RunMissing, RunNotFailed, LiveKeyRequired],
    response_example={"status": "RUNNING", "error": None, "finishedAt": None},
)
async def retry_automation_run(call: Call, id: UUID, run_id: UUID) -> AutomationRun:
    """Resume a FAILED run from the step that failed, with the steps that the automation had when the run started.

    Earlier steps are not repeated. Returns 409 if the run has not failed, or if its contact has another unfinished run
    of the automation. Runs that a TEST key started and other runs are independent of each other.
    """
    async with call.db.transaction() as tx:
        if call.caller.environment == "TEST" and await store.is_live_run(
            tx, project_id=call.project_id, automation_id=id, id=run_id
        ):
            call.require_live("resume a run that no TEST key started")
        retried = await _retry(tx, call, id, run_id, limit=1)
        if not retried:
            existing = await store.run(tx, project_id=call.project_id, automation_id=id, id=run_id)
            raise RunMissing if existing is None else RunNotFailed
        await audit.record(tx, call, "automation.run_retried", "Automation", id, run_id=str(run_id))
    return retried[0]


@post(
    "/projects/{project_id}/automations/{id}/runs/retry",
    needs="automations:write",
    problems=[AutomationMissing, LiveKeyRequired],
    response_example={"retried": 12, "more": False},
)
async def retry_automation_runs(call: Call, id: UUID) -> RunsRetried:
    """Resume the failed runs of an automation from the steps that failed, up to 1,000 per request.

    `more` is true if 1,000 runs were resumed, so that others may remain: repeat the request. Of several failed runs of
    one contact only the latest is resumed.
    """
    call.require_live("resume all failed runs of an automation")
    async with call.db.transaction() as tx:
        await _require(tx, call.project_id, id)
        retried = await _retry(tx, call, id, None, limit=RETRY_LIMIT)
        await audit.record(tx, call, "automation.runs_retried", "Automation", id, runs=len(retried))
    return RunsRetried(retried=len(retried), more=len(retried) == RETRY_LIMIT)


async def _retry(tx: Transaction, call: Call, id: UUID, run_id: UUID | None, *, limit: int) -> list[AutomationRun]:
    """Resume one failed run or, if `run_id` is None, up to `limit` of them, and correct the counter of failed runs."""
    runs = await store.retry_runs(
        tx, project_id=call.project_id, automation_id=id, id=run_id, limit=limit, now=call.now
    )
    if runs:
        await store.add_to_counters(
            tx, project_id=[call.project_id], automation_id=[id], measure=["FAILED"], count=[-len(runs)]
        )
        tx.mark_due("automation_runs", call.project_id)
    return runs


@get("/projects/{project_id}/automations/{id}/totals", needs="automations:read", problems=[AutomationMissing])
async def get_automation_totals(call: Call, id: UUID) -> AutomationRunTotals:
    """Get how many runs an automation has started, and how many completed or failed."""
    await _require(call.db, call.project_id, id)
    return await totals(call.db, call.project_id, id)


@get("/projects/{project_id}/automations/{id}/positions", needs="automations:read", problems=[AutomationMissing])
async def list_automation_positions(call: Call, id: UUID) -> list[AutomationRunPosition]:
    """Count the unfinished runs of an automation by version of its steps and by current step.

    A run keeps the version with which it started, so `version` can be lower than that of the automation.
    """
    await _require(call.db, call.project_id, id)
    return await store.run_positions(call.db, project_id=call.project_id, automation_id=id)


@get(
    "/projects/{project_id}/automations/{id}/webhook-secret",
    needs="automations:write",
    problems=[AutomationMissing],
)
async def get_automation_webhook_secret(call: Call, id: UUID) -> AutomationWebhookSecret:
    """Get the secret that signs the requests of the automation's WEBHOOK steps. They are signed as webhooks are."""
    await _require(call.db, call.project_id, id)
    return AutomationWebhookSecret(secret=webhook_step_secret(call.world, call.project_id, id))


async def totals(db: Queries, project_id: UUID, id: UUID | None = None) -> AutomationRunTotals:
    """The numbers of runs by outcome, of one automation or, without `id`, of all automations of the project.

    Two counts are not outcomes: `limited` is the number of runs that did not start because of `maxRunsPerHour`;
    `capped` is the number of messages, not runs, that were not sent because of the project's frequency cap.
    """
    return _run_totals({row.measure: row.count for row in await store.totals(db, project_id=project_id, id=id)})


def _run_totals(counts: dict[str, int]) -> AutomationRunTotals:
    return AutomationRunTotals(
        total_runs=counts.get("STARTED", 0),
        completed=counts.get("COMPLETED", 0) + counts.get("EXITED", 0),
        failed=counts.get("FAILED", 0),
        limited=counts.get("LIMITED", 0),
        capped=counts.get("CAPPED", 0),
    )


def webhook_step_secret(world: "World", project_id: UUID, id: UUID) -> str:
    """The secret that signs the requests of an automation's WEBHOOK steps.

    It is derived from the server's secret key and not stored.
    """
    digest = world.secrets.digest("automation-calls", f"{project_id}:{id}")
    return f"whsec_{base64.b64encode(digest).decode()}"


ACTIVATE = "activate an automation or change an active one"
"""What a TEST key cannot do, because the automation also reacts to events of LIVE keys."""

STARTING_EVENTS = frozenset(name for name in EVENT_NAMES if not name.startswith(rules.AUTOMATION_PREFIX))
"""Events that can start or continue runs, besides custom events. Events of automations (`automation.…`) cannot, because
automations could then start each other without end."""


async def start_runs(tx: Transaction, recorded: list[EventRow]) -> None:
    """React to recorded events, in the transaction that records them.

    Starts runs of active automations, wakes runs that wait for one of the events, and cancels runs of deleted contacts.
    A `customer.…` event that starts a run creates a contact if the customer has none.
    """
    deleted = [event for event in recorded if event.type == "contact.deleted" and event.subject_id]
    if deleted:
        contact_keys = [(event.project_id, event.subject_id) for event in deleted if event.subject_id]
        await cancel_runs_of_contacts(tx, contact_keys, deleted[0].occurred_at)
    triggers = await store.triggers_to_match(tx, project_id=list({event.project_id for event in recorded}))
    if triggers:
        await _start_and_wake(tx, triggers, recorded)


async def cancel_runs_of_contacts(tx: Transaction, contact_keys: list[tuple[UUID, UUID]], now: Moment) -> None:
    """Cancel the unfinished runs of deleted contacts, given as (project id, contact id).

    Records `automation.completed` with the status CANCELLED for each run.
    """
    ended = await store.cancel_runs_of_contacts(
        tx,
        project_id=[project_id for project_id, _ in contact_keys],
        contact_id=[contact_id for _, contact_id in contact_keys],
        error=CONTACT_DELETED,
        now=now,
    )
    if not ended:
        return
    counts = Counter((run.project_id, run.automation_id) for run in ended)
    await store.add_to_counters(
        tx,
        project_id=[project_id for project_id, _ in counts],
        automation_id=[automation_id for _, automation_id in counts],
        measure=["CANCELLED" for _ in counts],
        count=list(counts.values()),
    )
    finished_events = [
        events.make_event(
            run.project_id,
            "automation.completed",
            run.id,
            now,
            automationId=run.automation_id,
            contactId=run.contact_id,
            status="CANCELLED",
            error=CONTACT_DELETED,
        )
        for run in ended
    ]
    await events.record_all(tx, finished_events)


async def start_runs_in_bulk(tx: Transaction, event_range: EventRange) -> None:
    """Like `start_runs`, for the range of events that one statement inserted. Reads the events in batches.

    Does not cancel the runs of deleted contacts.
    """
    triggers = await store.triggers_to_match(tx, project_id=[event_range.project_id])
    relevant_types = {trigger_row.starts_on for trigger_row in triggers if trigger_row.active} | {
        name for trigger_row in triggers for name in trigger_row.waits_for
    }
    if relevant_types.isdisjoint(event_range.types):
        return
    after = event_range.first_id
    while batch := await events.in_range(tx, event_range, after):
        await _start_and_wake(tx, triggers, batch)
        after = batch[-1].id


async def _start_and_wake(tx: Transaction, triggers: list[TriggerRow], recorded: list[EventRow]) -> None:
    """Wake the runs that wait for the events, and start runs of the active automations that they trigger."""
    awaited_types = {(trigger_row.project_id, name) for trigger_row in triggers for name in trigger_row.waits_for}
    starting_types = {(trigger_row.project_id, trigger_row.starts_on) for trigger_row in triggers if trigger_row.active}
    relevant = [event for event in recorded if (event.project_id, event.type) in awaited_types | starting_types]
    addresses = await _addresses_of_customers(tx, relevant)
    pairs = [(event.project_id, addresses[event.id]) for event in relevant if event.id in addresses]
    ids_by_address = await contacts.contact_ids(tx, pairs) if pairs else {}
    contact_id_by_event: dict[UUID, UUID] = {}
    for event in relevant:
        address = addresses.get(event.id)
        contact_id = ids_by_address.get((event.project_id, address)) if address else rules.contact_id_in(event)
        if contact_id is not None:
            contact_id_by_event[event.id] = contact_id
    awaited = [
        (event, contact_id_by_event[event.id])
        for event in relevant
        if (event.project_id, event.type) in awaited_types and event.id in contact_id_by_event
    ]
    if awaited and await store.wake_runs(
        tx,
        project_id=[event.project_id for event, _ in awaited],
        contact_id=[contact_id for _, contact_id in awaited],
        event=[event.type for event, _ in awaited],
        event_id=[event.id for event, _ in awaited],
        test=[event.test for event, _ in awaited],
        at=[event.occurred_at for event, _ in awaited],
    ):
        for project_id in {event.project_id for event, _ in awaited}:
            tx.mark_due("automation_runs", project_id)
    matches = [
        (trigger_row, event)
        for event in relevant
        for trigger_row in triggers
        if trigger_row.active
        and (trigger_row.project_id, trigger_row.starts_on) == (event.project_id, event.type)
        and rules.concerns_audience(event, trigger_row.starts_on_audience)
        and (event.id in contact_id_by_event or event.id in addresses)
    ]
    if matches and (matches := await _filter_by_data(tx, matches)):
        missing = {event.id: event for _, event in matches if event.id not in contact_id_by_event}
        contact_id_by_event |= await _create_contacts(tx, list(missing.values()), addresses)
        await _start(tx, [(trigger_row, event, contact_id_by_event[event.id]) for trigger_row, event in matches])


async def _start(tx: Transaction, matches: list[tuple[TriggerRow, EventRow, UUID]]) -> None:
    """Start runs for events that match the trigger of an active automation, each with the id of its contact."""
    new_runs = [
        NewRun(
            project_id=trigger_row.project_id,
            id=new_id(),
            automation_id=trigger_row.id,
            version=trigger_row.version,
            contact_id=contact_id,
            once=trigger_row.once,
            max_runs_per_hour=trigger_row.max_runs_per_hour,
            event_id=event.id,
            test=event.test,
            at=event.occurred_at,
        )
        for trigger_row, event, contact_id in matches
    ]
    runs = await store.start_runs(tx, new_runs)
    if not runs:
        return
    counts = Counter((run.project_id, run.automation_id, "LIMITED" if run.limited else "STARTED") for run in runs)
    await store.add_to_counters(
        tx,
        project_id=[project_id for project_id, _, _ in counts],
        automation_id=[automation_id for _, automation_id, _ in counts],
        measure=[measure for _, _, measure in counts],
        count=list(counts.values()),
    )
    for (project_id, automation_id, measure), number in counts.items():
        if measure == "LIMITED":
            reason = "The contact has reached `maxRunsPerHour`."
            log.info("runs_limited", project=str(project_id), automation=str(automation_id), runs=number, reason=reason)
    runs = [run for run in runs if not run.limited]
    if not runs:
        return
    now = matches[0][1].occurred_at
    test_ids = {run.id for run in new_runs if run.test}
    started_events = [
        events.make_event(
            run.project_id,
            "automation.started",
            run.id,
            now,
            actor_type="TEST_KEY" if run.id in test_ids else "SYSTEM",
            automationId=run.automation_id,
            contactId=run.contact_id,
        )
        for run in runs
    ]
    await events.record_all(tx, started_events)
    for project_id in {run.project_id for run in runs}:
        tx.mark_due("automation_runs", project_id)


async def _filter_by_data(
    tx: Transaction, matches: list[tuple[TriggerRow, EventRow]]
) -> list[tuple[TriggerRow, EventRow]]:
    """Omit events whose data does not match the `where` rules of the trigger. One statement for each such trigger."""
    rejected: set[tuple[UUID, UUID]] = set()
    with_rules = {trigger_row.id: trigger_row for trigger_row, _ in matches if trigger_row.where is not None}
    for trigger_row in with_rules.values():
        candidates = {event.id: event for row, event in matches if row.id == trigger_row.id}
        compiled = compile_rules(rules.rules_on_data(read_rules(trigger_row.where)), slot=0)
        matching = await store.matching_events(
            tx,
            project_id=trigger_row.project_id,
            rows=Jsonb(
                [{"id": event.id, "attributes": rules.flatten_data(event.data)} for event in candidates.values()]
            ),
            condition=compiled.sql,
            values=Jsonb([compiled.values]),
            now=matches[0][1].occurred_at,
        )
        rejected |= {(trigger_row.id, event_id) for event_id in candidates.keys() - set(matching)}
    return [(trigger_row, event) for trigger_row, event in matches if (trigger_row.id, event.id) not in rejected]


async def _addresses_of_customers(tx: Transaction, recorded: list[EventRow]) -> dict[UUID, str]:
    """The addresses of the customers that `customer.…` events are about, keyed by event id.

    Only for events that concern the contact with that address; see `rules.concerns_address_of_customer`.
    """
    of_customers = [
        (event, event.subject_id) for event in recorded if event.type.startswith("customer.") and event.subject_id
    ]
    if not of_customers:
        return {}
    rows = await store.customer_addresses(
        tx,
        project_id=[event.project_id for event, _ in of_customers],
        id=[id_ for _, id_ in of_customers],
    )
    customers = {(row.project_id, row.id): row for row in rows}
    return {
        event.id: customer.email
        for event, customer_id in of_customers
        if (customer := customers.get((event.project_id, customer_id)))
        and rules.concerns_address_of_customer(event, is_verified=customer.is_verified)
    }


async def _create_contacts(tx: Transaction, recorded: list[EventRow], addresses: dict[UUID, str]) -> dict[UUID, UUID]:
    """Create the contacts of customers who have none. Returns their ids, keyed by event id.

    Creates them in the order of their normalised addresses, as imports do, so that concurrent transactions do not
    deadlock.
    """
    created: dict[UUID, UUID] = {}
    for event in sorted(recorded, key=lambda event: (event.project_id, address_key(addresses[event.id]))):
        contact = await contacts.find_or_create(
            tx, event.project_id, addresses[event.id], event.occurred_at, actor=actor_because_of(event)
        )
        created[event.id] = contact.id
    return created


async def _require_can_be_active(tx: Transaction, call: Call, candidate: LoopCandidate, allow_loops: bool) -> None:
    """Raises AutomationIncomplete, or AutomationLoop unless `allow_loops`, if an automation cannot be active.

    Takes a lock, until the transaction ends, that prevents other transactions from deleting what the automation refers
    to, and from activating other automations.
    """
    await usage.lock_activations(tx, call.project_id)
    await _require_complete(tx, call, candidate.trigger, candidate.steps)
    if not allow_loops:
        await _require_no_loop(tx, call, candidate)


async def _require_complete(tx: Transaction, call: Call, trigger: Trigger, steps: Sequence[Step]) -> None:
    """Raises AutomationIncomplete with everything that is referred to and does not exist."""
    errors: list[ProblemError] = []
    _, audience_id = rules.starting_event(trigger)
    if audience_id is not None:
        errors += await _audience_errors(tx, call, audience_id, "/trigger/audienceId", must_be_static=False)
    if not steps:
        errors.append(ProblemError(path="/steps", code="required", message="The automation has no steps."))
    for position in rules.flatten_steps(steps):
        if isinstance(position.step, SendEmail):
            errors += await _email_errors(tx, call, position.step, position.path)
        elif isinstance(position.step, Condition):
            for rule_audience_id in sorted(audiences_named(position.step.rules)):
                errors += await _audience_errors(
                    tx, call, rule_audience_id, f"{position.path}/rules", must_be_static=False
                )
        elif isinstance(position.step, AddToAudience | RemoveFromAudience):
            errors += await _audience_errors(
                tx, call, as_id(position.step.audience_id), f"{position.path}/audienceId", must_be_static=True
            )
    if errors:
        raise AutomationIncomplete.of(errors)


async def _require_no_loop(tx: Transaction, call: Call, candidate: LoopCandidate) -> None:
    """Raises AutomationLoop if an automation, once active, forms a loop with other active ones."""
    if candidate.trigger.once:
        return
    others = [
        LoopCandidate(other.id, other.name, msgspec.convert(other.trigger, Trigger), rules.read_steps(other.steps))
        for other in await store.repeatable_automations(tx, project_id=call.project_id, id=candidate.id)
    ]
    audience_rules = await audiences.rules_of_all(tx, call.project_id)
    if errors := find_loop(candidate, others, audience_rules, call.world.settings.public_url):
        raise AutomationLoop.of(errors)


async def _audience_errors(
    tx: Transaction, call: Call, id: UUID, path: str, *, must_be_static: bool
) -> list[ProblemError]:
    try:
        audience = await audiences.require_audience(tx, call.project_id, id)
    except AudienceMissing as missing:
        return [ProblemError(path=path, code="audience_missing", message=missing.detail)]
    if must_be_static and audience.type != "STATIC":
        return [
            ProblemError(
                path=path, code="audience_dynamic", message=f"{audience.name} is DYNAMIC: its rules choose the members."
            )
        ]
    return []


async def _check_templates(call: Call, steps: list[Step]) -> None:
    """Raises Invalid if a subject or sender name of a step is not a valid template."""
    unrendered_template_ids = await templates.ids_without_engine(call.db, call.project_id, rules.templates_of(steps))
    await check_content(call.world.rendering, call.project_id, rules.subjects_of(steps, unrendered_template_ids))


async def _email_errors(tx: Transaction, call: Call, step: SendEmail, path: str) -> list[ProblemError]:
    errors: list[ProblemError] = []
    template = await templates.get_content(tx, call.project_id, as_id(step.template_id))
    if template is None:
        errors.append(
            ProblemError(path=f"{path}/templateId", code="template_missing", message="There is no such template.")
        )
    elif is_blank(template.html, template.text):
        message = "This template is blank: it has neither html nor text."
        errors.append(ProblemError(path=f"{path}/templateId", code="template_blank", message=message))
    elif step.subject is None and template.subject is None:
        errors.append(
            ProblemError(path=f"{path}/subject", code="required", message="Neither step nor template has a subject.")
        )
    try:
        domain_id = await require_sending_domain_id(call.world, tx, call.project_id, sender_of(step))
    except (LookupError, AddressInvalid) as error:
        errors.append(ProblemError(path=f"{path}/fromEmail", code="domain_not_verified", message=str(error)))
    else:
        if step.domain_id is not None and domain_id is not None and as_id(step.domain_id) != domain_id:
            message = "`fromEmail` does not belong to this sending domain."
            errors.append(ProblemError(path=f"{path}/domainId", code="domain_mismatch", message=message))
    return errors


def _plain_trigger(trigger: Trigger) -> dict[str, Any]:
    """A trigger as JSON for storage and responses, without unset fields."""
    plain = {name: value for name, value in to_plain(trigger).items() if value is not None}
    if trigger.where is not None:
        plain["where"] = plain_rules(trigger.where)
    return {"type": trigger.type, **plain}


def _trigger_columns(trigger: Trigger) -> dict[str, Any]:
    """The columns of a trigger: the trigger as JSON, and those by which it is looked up when an event occurs."""
    starts_on, audience_id = rules.starting_event(trigger)
    return {
        "trigger": _plain_trigger(trigger),
        "starts_on": starts_on,
        "starts_on_audience": audience_id,
        "once": trigger.once,
    }


async def _require(db: Queries, project_id: UUID, id: UUID) -> Automation:
    return require_found(await store.automation(db, project_id=project_id, id=id), AutomationMissing)


async def _lock(tx: Transaction, call: Call, id: UUID) -> Automation:
    """Lock and return an automation (`for no key update`: other transactions can still insert its runs).

    Raises AutomationMissing, or RecordChanged because of `If-Match`.
    """
    automation = require_found(await store.lock_automation(tx, project_id=call.project_id, id=id), AutomationMissing)
    call.require_match(automation.updated_at)
    return automation
