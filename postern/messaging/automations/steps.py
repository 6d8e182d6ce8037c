"""Execution of runs: a batch of runs is advanced in one transaction until each has to wait or has finished.

The effects of a step are committed together with the run's position, history and counters. So after a crash, every
step is either done and recorded, or not done. Only WEBHOOK steps make network calls; see `work.py`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec
import structlog

from postern.kernel.database.statements import Transaction
from postern.kernel.values import Moment, as_id, in_milliseconds
from postern.messaging.audiences import contacts as audience_contacts
from postern.messaging.audiences import membership
from postern.messaging.audiences import operations as audiences
from postern.messaging.audiences.model import AudienceDynamic, AudienceMissing, Contact
from postern.messaging.automations import rules, store
from postern.messaging.automations.model import (
    CONTACT_DELETED,
    AddToAudience,
    CallWebhook,
    Condition,
    Delay,
    DueRun,
    Exit,
    Outcome,
    RemoveFromAudience,
    RunStatus,
    RunUpdate,
    SendEmail,
    StepRecord,
    UpdateContact,
    WaitForEvent,
)
from postern.messaging.automations.rules import StepPosition
from postern.messaging.emails.enqueue import MailRequest, enqueue_all, require_sending_domain_id
from postern.messaging.emails.model import SendBody
from postern.messaging.emails.rules import from_name_template
from postern.messaging.templates import operations as templates
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.platform.projects.model import frequency_cap_of
from postern.platform.projects.quotas import QuotaRequest, quota_left
from postern.protocols.mail.address import AddressInvalid, parse_address
from postern.protocols.mail.templates.content import is_blank

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

ERROR_CHARACTERS = 1_000
"""Maximum characters of the error of a run; longer ones are truncated."""


@dataclass
class RunState:
    """A run being executed, and its position."""

    row: DueRun
    positions: list[StepPosition]
    step_index: int
    """Index of the current step in `positions`."""
    entered_at: Moment | None
    """When the current step began to wait or to call a webhook; None before that, and for other steps."""
    status: RunStatus = "RUNNING"
    due_at: Moment | None = None
    waiting_for: str | None = None
    is_call_due: bool = False
    """Whether the run has to call the URL of its WEBHOOK step next."""
    tried: int = 0
    """Number of failed calls of the current WEBHOOK step."""
    error: str | None = None
    continues: bool = True
    """Whether the run continues with its next step in this transaction."""
    began_after: events.EventPosition = field(init=False)
    """The position in the event log at which the current step began; a worker may execute the step much later."""

    def __post_init__(self) -> None:
        self.began_after = _began_after(self.row, self.positions)

    @property
    def position(self) -> StepPosition:
        """The current step. Raises IndexError after the last step."""
        return self.positions[self.step_index]


@dataclass
class RunBatch:
    """Runs of one project that are executed in one transaction."""

    world: "World"
    tx: Transaction
    project_id: UUID
    now: Moment
    runs: list[RunState]
    contacts: dict[UUID, Contact] = field(default_factory=dict[UUID, Contact])
    step_records: list[StepRecord] = field(default_factory=list[StepRecord])
    capped: Counter[UUID] = field(default_factory=Counter[UUID])
    """Number of messages that the frequency cap suppressed, by automation id."""

    async def advance(self) -> None:
        """Execute steps until every run waits or has finished; runs of deleted contacts are CANCELLED.

        The effects of the steps are written at once. The runs themselves are stored by `settle`.
        """
        await self._load_contacts([run.row.contact_id for run in self.runs])
        for run in self.runs:
            if run.continues and run.row.contact_id not in self.contacts:
                self._end(run, "CANCELLED", CONTACT_DELETED)
            elif run.continues and run.step_index >= len(run.positions):
                self._end(run, "COMPLETED")
        while continuing := [run for run in self.runs if run.continues]:
            for group in _by_step(continuing):
                await self._execute(group)

    async def _execute(self, group: list[RunState]) -> None:
        """Execute the current step of a group of runs; all are at the same step of the same version, and
        `row.test` is the same for all."""
        step = group[0].position.step
        if isinstance(step, SendEmail):
            await self._send(group, step)
        elif isinstance(step, Delay):
            for run in group:
                self._delay(run, step)
        elif isinstance(step, WaitForEvent):
            await self._wait(group, step)
        elif isinstance(step, Condition):
            await self._branch(group, step)
        elif isinstance(step, UpdateContact):
            await self._update(group, step)
        elif isinstance(step, AddToAudience | RemoveFromAudience):
            await self._change_membership(group, step)
        elif isinstance(step, CallWebhook):
            for run in group:
                run.is_call_due, run.continues, run.due_at = True, False, self.now
                run.entered_at = run.entered_at or self.now
        else:
            assert isinstance(step, Exit)
            for run in group:
                self._record_step(run, "DONE")
                self._end(run, "EXITED")

    async def _send(self, group: list[RunState], step: SendEmail) -> None:
        requests = await self._compose(group, step)
        if requests and not group[0].row.test:
            await self._enforce_quota(group, requests)
        if not requests:
            return
        settings = (await projects.require_project(self.tx, self.project_id)).settings
        cap = None if group[0].row.test else frequency_cap_of(settings)
        sends = await enqueue_all(
            self.world, self.tx, self.project_id, list(requests.values()), cap, self.now, test=group[0].row.test
        )
        for run in group:
            if run.row.id not in requests:
                continue
            send = sends.get(requests[run.row.id].once_key)
            if send is None or send.reason is None:  # A new send has a reason only if the frequency cap suppressed it.
                self._next_step(run, "DONE", {"sendId": send.id} if send else {})
            else:
                self.capped[run.row.automation_id] += 1
                self._next_step(run, "SKIPPED", {"sendId": send.id, "reason": send.reason})

    async def _compose(self, group: list[RunState], step: SendEmail) -> dict[UUID, MailRequest]:
        """The message of a SEND_EMAIL step for each run, keyed by run id, without storing it.

        Runs whose contact has unsubscribed continue with their next step; runs that cannot send become FAILED.
        """
        template = await templates.get_content(self.tx, self.project_id, as_id(step.template_id))
        if template is None:
            self.fail(group, "The template has been deleted.")
            return {}
        if is_blank(template.html, template.text):
            self.fail(group, "The template is blank: it has neither html nor text.")
            return {}
        subject = step.subject if step.subject is not None else template.subject
        if subject is None:
            self.fail(group, "Neither the step nor its template has a subject.")
            return {}
        try:
            sender = sender_of(step)
            domain_id = await require_sending_domain_id(
                self.world, self.tx, self.project_id, sender, test=group[0].row.test
            )
        except (LookupError, AddressInvalid) as error:
            self.fail(group, str(error))
            return {}
        settings = (await projects.require_project(self.tx, self.project_id)).settings
        requests: dict[UUID, MailRequest] = {}
        trigger_events: dict[UUID, events.EventRow] = {}
        if any("event" in (part or "") for part in (subject, template.html, template.text, step.from_name)):
            trigger_events = await self._trigger_events(group)
        for run in group:
            event = trigger_events.get(run.row.trigger_event_id)
            contact = self.contacts[run.row.contact_id]
            if contact.unsubscribed:
                self._next_step(run, "SKIPPED", {"reason": "The contact has unsubscribed."})
                continue
            body = SendBody(
                subject=subject,
                html=template.html,
                text=template.text,
                engine=template.engine,
                variables={
                    **contact.attributes,
                    "email": contact.email,
                    **({"event": rules.event_variables(event)} if event else {}),
                },
                reply_to=[step.reply_to] if step.reply_to else [],
                track_opens=settings.track_opens,
                track_clicks=settings.track_clicks,
                unsubscribable=True,
                require_tls=settings.require_tls,
                from_name=from_name_template(step.from_name),
            )
            requests[run.row.id] = MailRequest(
                once_key=f"automation:{run.row.id}:{run.step_index}",
                contact_id=contact.id,
                to=contact.email,
                sender=sender,
                domain_id=domain_id,
                body=body,
            )
        return requests

    async def _trigger_events(self, group: list[RunState]) -> dict[UUID, events.EventRow]:
        """The events that started the runs, keyed by event id."""
        ids = sorted({run.row.trigger_event_id for run in group})
        return {event.id: event for event in await events.with_ids(self.tx, self.project_id, ids)}

    async def _enforce_quota(self, group: list[RunState], requests: dict[UUID, MailRequest]) -> None:
        """Fail the runs whose e-mail exceeds the account's quota, and remove their requests from `requests`."""
        quota_request = QuotaRequest("emails", len(requests), self.now, project_id=self.project_id)
        remaining = await quota_left(self.tx, self.world, quota_request)
        if remaining is not None and len(requests) > remaining.number:
            allowed = set(list(requests)[: max(remaining.number, 0)])
            refused = [run for run in group if run.row.id in requests and run.row.id not in allowed]
            self.fail(refused, remaining.refusal.detail)
            for run in refused:
                del requests[run.row.id]

    def _delay(self, run: RunState, step: Delay) -> None:
        if run.entered_at is not None:
            self._next_step(run, "DONE")
            return
        run.entered_at, run.status, run.continues = self.now, "WAITING", False
        run.due_at = rules.wait_until(step, self.now)

    async def _wait(self, group: list[RunState], step: WaitForEvent) -> None:
        """Wait for an event, unless it has already occurred since the step began.

        The event log is searched again at the timeout, because a concurrent transaction that records the event does not
        see a run that is about to wait.
        """
        name = rules.current_event_name(step.event)
        woken = [run.row.event_id for run in group if run.row.event_id is not None]
        events_by_id = (
            {event.id: event for event in await events.with_ids(self.tx, self.project_id, woken)} if woken else {}
        )
        unmatched = [run for run in group if run.entered_at is None or run.row.event_id is None]
        subjects = await self._subjects(name, [run.row.contact_id for run in unmatched])
        occurred = await events.first_since(
            self.tx,
            self.project_id,
            name,
            [
                (run.row.id, subject_id, run.began_after)
                for run in unmatched
                if (subject_id := subjects.get(run.row.contact_id))
            ],
            with_test=group[0].row.test,
        )
        for run in group:
            event_id = run.row.event_id if run.entered_at is not None else None
            event = occurred.get(run.row.id) if event_id is None else events_by_id.get(event_id)
            if event_id or event:
                run.began_after = events.EventPosition(event.occurred_at, event.id) if event else run.began_after
                self._next_step(run, "HAPPENED", {"eventId": event.id if event else event_id})
            elif run.entered_at is None:
                run.entered_at, run.status, run.continues = run.began_after.at, "WAITING", False
                run.due_at, run.waiting_for = rules.wait_until(step, self.now), name
            else:
                run.began_after = events.EventPosition(self.now)
                self._next_step(run, "TIMED_OUT", to=run.position.otherwise)

    async def _subjects(self, event_name: str, contact_ids: list[UUID]) -> dict[UUID, UUID]:
        """The ids that events with this name about contacts have as their subject, keyed by contact id."""
        if not event_name.startswith("customer."):
            return {contact_id: contact_id for contact_id in contact_ids}
        rows = await store.customers_with_address_of_contacts(
            self.tx, project_id=self.project_id, contact_ids=contact_ids
        )
        return {row.contact_id: row.customer_id for row in rows}

    async def _branch(self, group: list[RunState], step: Condition) -> None:
        ids = [run.row.contact_id for run in group]
        matching_ids = await membership.matching(self.tx, self.project_id, ids, step.rules, self.now)
        for run in group:
            if run.row.contact_id in matching_ids:
                self._next_step(run, "TRUE")
            else:
                self._next_step(run, "FALSE", to=run.position.otherwise)

    async def _update(self, group: list[RunState], step: UpdateContact) -> None:
        ids = [run.row.contact_id for run in group]
        changed = await audience_contacts.merge_attributes(
            self.tx, self.project_id, ids, step.attributes, self.now, _actor_of(group)
        )
        await self._load_contacts(changed)
        for run in group:
            if run.row.contact_id in changed or _has_attributes(self.contacts[run.row.contact_id], step.attributes):
                self._next_step(run, "DONE")
            else:
                self._next_step(run, "SKIPPED", {"reason": "The contact's attributes would exceed a limit."})

    async def _change_membership(self, group: list[RunState], step: AddToAudience | RemoveFromAudience) -> None:
        audience_id, ids = as_id(step.audience_id), [run.row.contact_id for run in group]
        try:
            await audiences.require_static(self.tx, self.project_id, audience_id)
        except (AudienceMissing, AudienceDynamic) as error:
            self.fail(group, error.detail)
            return
        if isinstance(step, AddToAudience):
            await audiences.add_to_audience(self.tx, self.project_id, audience_id, ids, self.now, _actor_of(group))
        else:
            await audiences.remove_many_from_audience(
                self.tx, self.project_id, audience_id, ids, self.now, _actor_of(group)
            )
        for run in group:
            self._next_step(run, "DONE")

    async def _load_contacts(self, ids: Iterable[UUID]) -> None:
        contacts = await audience_contacts.contacts_with_ids(self.tx, self.project_id, list(set(ids)))
        self.contacts |= {contact.id: contact for contact in contacts}

    def _record_step(self, run: RunState, outcome: Outcome, detail: dict[str, Any] | None = None) -> None:
        tag = type(run.position.step).__struct_config__.tag
        record = StepRecord(
            run_id=run.row.id,
            step=run.step_index,
            type=str(tag),
            outcome=outcome,
            detail=detail or {},
            started_at=run.entered_at or self.now,
        )
        self.step_records.append(record)

    def _next_step(
        self, run: RunState, outcome: Outcome, detail: dict[str, Any] | None = None, *, to: int | None = None
    ) -> None:
        """Record the outcome of the current step, and go to the step with the index `to`, by default the next one.

        After the last step, the run is COMPLETED.
        """
        self._record_step(run, outcome, detail)
        run.step_index = run.position.next if to is None else to
        run.entered_at, run.tried = None, 0
        if run.step_index >= len(run.positions):
            self._end(run, "COMPLETED")

    def fail(self, group: list[RunState], error: str) -> None:
        """Set runs to FAILED at their current step, with an error."""
        for run in group:
            self._record_step(run, "FAILED", {"reason": error[:ERROR_CHARACTERS]})
            self._end(run, "FAILED", error)

    def _end(self, run: RunState, status: RunStatus, error: str | None = None) -> None:
        run.status, run.error, run.continues, run.due_at = status, error and error[:ERROR_CHARACTERS], False, None
        run.is_call_due, run.entered_at = False, None

    def finish_call(self, run: RunState, outcome: Outcome, detail: dict[str, Any]) -> None:
        """Record the outcome of a WEBHOOK step, and let the run continue with the following step."""
        self._next_step(run, outcome, detail)
        run.is_call_due = False

    def retry_call(self, run: RunState, at: Moment) -> None:
        """Schedule another attempt of a WEBHOOK step at the given time, and count the failed one."""
        run.is_call_due, run.continues, run.due_at, run.tried = True, False, at, run.row.tried + 1

    async def settle(self) -> None:
        """Store the positions, history and counters of all runs, and record an event for each run that finished."""
        ended = [run for run in self.runs if run.due_at is None]
        updates = [
            RunUpdate(
                id=run.row.id,
                attempt=run.row.attempt,
                status=run.status,
                current_step=run.step_index,
                entered_at=run.entered_at,
                waiting_for=run.waiting_for,
                calls=run.is_call_due,
                tried=run.tried,
                due_at=run.due_at,
                error=run.error,
                finished_at=self.now if run.due_at is None else None,
            )
            for run in self.runs
        ]
        await store.update_runs(self.tx, updates, project_id=self.project_id)
        await self._write_history()
        await self._count(ended)
        await events.record_all(self.tx, [_finished_event(self.project_id, run, self.now) for run in ended])
        if any(run.is_call_due for run in self.runs):
            self.tx.mark_due("automation_runs", self.project_id)

    async def _write_history(self) -> None:
        if self.step_records:
            await store.insert_steps(self.tx, self.step_records, project_id=self.project_id, now=self.now)

    async def _count(self, ended: list[RunState]) -> None:
        counted = Counter[tuple[UUID, str]]((run.row.automation_id, run.status) for run in ended)
        for automation_id, number in self.capped.items():
            counted[automation_id, "CAPPED"] = number
            log.info("mail_capped", project=str(self.project_id), automation=str(automation_id), messages=number)
        if counted:
            await store.add_to_counters(
                self.tx,
                project_id=[self.project_id for _ in counted],
                automation_id=[automation_id for automation_id, _ in counted],
                measure=[status for _, status in counted],
                count=list(counted.values()),
            )


def _has_attributes(contact: Contact, attributes: dict[str, Any]) -> bool:
    """Whether merging these attributes would not change the contact."""
    return all(contact.attributes.get(name) == value for name, value in attributes.items())


def sender_of(step: SendEmail) -> str:
    """The sender of a step as `a@b` or `Name <a@b>`. Raises AddressInvalid.

    A name with template tags is left out: it is rendered with each message.
    """
    address = parse_address(step.from_email)
    if step.from_name is None or from_name_template(step.from_name) is not None:
        return str(address)
    address_with_name = msgspec.structs.replace(address, name=step.from_name)
    return str(parse_address(str(address_with_name)))


def _by_step(runs: list[RunState]) -> Iterable[list[RunState]]:
    """Group runs that are at the same step of the same version, those of TEST keys separately."""
    groups: defaultdict[tuple[UUID, int, int, bool], list[RunState]] = defaultdict(list)
    for run in runs:
        groups[run.row.automation_id, run.row.version, run.step_index, run.row.test].append(run)
    return groups.values()


def _actor_of(group: list[RunState]) -> membership.ChangeActor:
    return membership.TEST_KEY if group[0].row.test else membership.SYSTEM


def _finished_event(project_id: UUID, run: RunState, now: Moment) -> events.EventRow:
    name = "automation.failed" if run.status == "FAILED" else "automation.completed"
    data: dict[str, Any] = {
        "automationId": run.row.automation_id,
        "contactId": run.row.contact_id,
        "status": run.status,
        "error": run.error,
    }
    actor_type = "TEST_KEY" if run.row.test else "SYSTEM"
    return events.make_event(project_id, name, run.row.id, now, actor_type=actor_type, **data)


async def lock_claimed(tx: Transaction, project_id: UUID, jobs: list[DueRun]) -> list[DueRun]:
    """Lock the claimed runs (for no key update), except those that finished or that another worker claimed since.

    Returns the locked runs, with the events that woke them since they were claimed.
    """
    locked_runs = await store.lock_runs(
        tx,
        project_id=project_id,
        id=[job.id for job in jobs],
        attempt=[job.attempt for job in jobs],
        current_step=[job.current_step for job in jobs],
    )
    event_ids = {run.id: run.event_id for run in locked_runs}
    return [msgspec.structs.replace(job, event_id=event_ids[job.id]) for job in jobs if job.id in event_ids]


def _began_after(row: DueRun, positions: list[StepPosition]) -> events.EventPosition:
    """The position in the event log after which events count for a run's current step, or for the step after a delay.

    It is where the step began; for a delay, where the delay ends.
    """
    if row.entered_at is None or row.current_step >= len(positions):
        # Events are stored with millisecond precision; within the millisecond of the trigger, ids decide the order.
        started_at = in_milliseconds(row.started_at)
        return events.EventPosition(started_at, row.trigger_event_id)
    step = positions[row.current_step].step
    end = rules.wait_until(step, row.entered_at) if isinstance(step, Delay) else row.entered_at
    return events.EventPosition(max(row.entered_at, end))


class VersionSteps(dict[tuple[UUID, int], list[StepPosition]]):
    """A cache of flattened steps by automation id and version number."""


MAX_CACHED_VERSIONS = 1_000
"""Maximum number of versions whose flattened steps a process caches. Entries stay valid: a version never changes."""


async def load_runs(tx: Transaction, project_id: UUID, rows: list[DueRun]) -> list[RunState]:
    """The state of each run, with the steps of its version.

    Omits runs whose version does not exist, because their automation is being deleted.
    """
    cache = tx.cache(VersionSteps)
    versions = {(row.automation_id, row.version) for row in rows}
    # A copy, because another task may clear the cache while this one reads the missing versions from the database.
    positions_of = {version: cache[version] for version in versions if version in cache}
    if missing := sorted(versions - set(positions_of)):
        loaded = await store.list_versions(
            tx,
            project_id=project_id,
            automation_id=[automation_id for automation_id, _ in missing],
            version=[version for _, version in missing],
        )
        if len(cache) > MAX_CACHED_VERSIONS:
            cache.clear()
        for version in loaded:
            positions = rules.flatten_steps(rules.read_steps(version.steps))
            positions_of[version.automation_id, version.version] = cache[version.automation_id, version.version] = (
                positions
            )
    return [
        RunState(
            row,
            positions,
            row.current_step,
            row.entered_at,
            tried=row.tried,
        )
        for row in rows
        if (positions := positions_of.get((row.automation_id, row.version))) is not None
    ]
