"""Dry runs: what an automation would do with a contact, without any effect.

The steps are executed by the code of the workers (`RunBatch`) in a transaction that is rolled back. So steps see what
earlier steps changed, such as an attribute, and nothing is stored. Three kinds of steps differ: SEND_EMAIL composes its
mail and does not enqueue it, WEBHOOK makes no call, and waiting moves the clock of the dry run.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Jsonb, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import post
from postern.kernel.http.problems import Invalid, Unprocessable, require_found
from postern.kernel.values import Moment, as_id, new_id, timestamp
from postern.messaging.audiences import contacts, membership
from postern.messaging.audiences.model import Contact
from postern.messaging.audiences.rules import RuleCondition, Rules, attribute_of, compile_rules
from postern.messaging.automations import rules, store
from postern.messaging.automations.custom_events import DATA_BYTES
from postern.messaging.automations.model import (
    AutomationMissing,
    CallWebhook,
    Condition,
    Delay,
    DryRun,
    DryRunCondition,
    DryRunMail,
    DryRunReason,
    DryRunRequest,
    DryRunStep,
    DueRun,
    SendEmail,
    Step,
    Trigger,
    WaitForEvent,
)
from postern.messaging.automations.steps import RunBatch, RunState
from postern.messaging.emails.enqueue import MailRequest
from postern.messaging.emails.suppressions import suppressed_addresses
from postern.messaging.templates import operations as templates
from postern.messaging.templates.model import CompiledContent
from postern.messaging.templates.operations import RENDER_PROBLEMS
from postern.messaging.templates.rules import CONTENT_PROBLEMS, check_content, preview
from postern.platform.events import operations as events
from postern.protocols.mail.templates.composing import TemplateCrashed, TemplateTooExpensive

MAX_CONDITIONS_EXPLAINED = 200
"""Maximum number of conditions that one dry run evaluates one by one, each with a statement of its own."""
MAX_DURATION = timedelta(seconds=5)
"""Maximum duration of the transaction that executes the steps, because it locks the contact and prevents changes of the
rules of the project's audiences."""
RENDERED_CHARACTERS = 8_000_000
"""Once the rendered mails of a dry run have this many characters, its other mails are not rendered."""
TOO_LARGE_TO_SHOW = "The mails of this dry run are too large to show all."
LAST_MOMENT = Moment.of(datetime.max.replace(microsecond=999_000, tzinfo=UTC))
"""The latest time that can be represented."""
FIELDS = {
    "email": "email",
    "unsubscribed": "unsubscribed",
    "createdAt": "created_at",
    "lastOpenedAt": "last_opened_at",
    "lastClickedAt": "last_clicked_at",
}
"""Fields of `Contact`, keyed by their names in rules."""


class DryRunTooSlow(Unprocessable):
    """The steps take longer than 5 seconds. Use fewer steps, fewer conditions, or conditions that fewer contacts
    match."""


@post(
    "/projects/{project_id}/automations/{id}/dry-run",
    needs="automations:read",
    problems=[AutomationMissing, DryRunTooSlow, *RENDER_PROBLEMS],
    example={
        "contactId": "01990000-0000-7000-8000-000000000000",
        "eventData": {"total": 42},
        "happened": [1],
    },
)
async def dry_run_automation(call: Call, id: UUID, data: DryRunRequest) -> DryRun:
    """Get what an automation would do with a contact: each step with its time, outcome and mail. Nothing is sent.

    The steps are evaluated as in a run that starts now, even if the automation is inactive or would not start a run;
    `reasons` says why it would not. Nothing is stored, and WEBHOOK steps make no calls. A delay passes at once;
    conditions after it are evaluated for the later time, with the data of now. `trigger` and `steps` replace those of
    the automation. This also needs the permissions `contacts:read` and `templates:read`.
    """
    call.require("contacts:read")
    call.require("templates:read")
    automation = require_found(await store.automation(call.db, project_id=call.project_id, id=id), AutomationMissing)
    trigger = msgspec.convert(automation.trigger, Trigger) if data.trigger is None else data.trigger
    steps = rules.read_steps(automation.steps) if data.steps is None else data.steps
    rules.check_trigger(trigger)
    rules.check_steps(steps, call.world.settings.outbound_allow)
    if data.steps is not None:
        # Steps can replace a template's subject. It must be valid, unless the template's engine is `none`.
        unrendered_ids = await templates.ids_without_engine(call.db, call.project_id, rules.templates_of(steps))
        await check_content(call.world.rendering, call.project_id, rules.subjects_of(steps, unrendered_ids))
    if len(msgspec.json.encode(data.event_data)) > DATA_BYTES:
        raise Invalid.at("/eventData", "At most 16 KiB of data.", "too_large")
    positions = rules.flatten_steps(steps)
    for number, index in enumerate(data.happened):
        if not (0 <= index < len(positions) and isinstance(positions[index].step, WaitForEvent)):
            raise Invalid.at(f"/happened/{number}", "There is no WAIT_FOR_EVENT step with this index.")
    contact_id = as_id(data.contact_id)
    if not await contacts.contacts_with_ids(call.db, call.project_id, [contact_id]):
        raise Invalid.at("/contactId", "There is no such contact in this project.", "contact_missing")
    async with call.db.transaction() as tx:
        where_conditions = await _evaluate_where(tx, call, trigger, data.event_data)
        reasons = await _reasons_against_start(
            tx, call, id, contact_id, trigger, data.event_data, max_runs_per_hour=automation.max_runs_per_hour
        )
    try:
        async with asyncio.timeout(MAX_DURATION.total_seconds()):
            batch = await _execute_and_roll_back(
                call, automation.id, automation.version, contact_id, trigger, steps, data
            )
    except TimeoutError:
        raise DryRunTooSlow from None
    (run,) = batch.runs
    mails: dict[int, DryRunMail] = {}
    remaining = RENDERED_CHARACTERS
    for index, request in batch.mails.items():
        mail = await _render(call, request) if remaining > 0 else _without_content(request, TOO_LARGE_TO_SHOW)
        remaining -= len(mail.html or "") + len(mail.text or "")
        mails[index] = mail
    return DryRun(
        reasons=reasons,
        conditions=where_conditions,
        status=run.status,
        error=run.error,
        steps=[msgspec.structs.replace(record, mail=mails.get(record.step)) for record in batch.steps],
    )


class DryRunFinished(Exception):
    """Raised to roll back the transaction of a dry run."""


@dataclass
class DryRunBatch(RunBatch):
    """A run whose steps are executed without effects outside its transaction, which the caller rolls back."""

    event: events.EventRow | None = None
    """The event that starts the run."""
    happened: frozenset[int] = frozenset()
    """The indexes of the WAIT_FOR_EVENT steps whose event is assumed to happen."""
    steps: list[DryRunStep] = field(default_factory=list[DryRunStep])
    mails: dict[int, MailRequest] = field(default_factory=dict[int, MailRequest])
    """The composed mails, by the index of their step."""
    explained: int = 0
    """Number of conditions that were evaluated one by one."""

    async def _execute(self, group: list[RunState]) -> None:
        (run,) = group
        index, record_count = run.step_index, len(self.step_records)
        position, starts_at = run.position, self.now
        conditions: list[DryRunCondition] = []
        if isinstance(position.step, Condition):
            conditions = await self._explain(position.step.rules, run.row.contact_id)
        if isinstance(position.step, CallWebhook):
            self._next_step(run, "DONE")
        else:
            await super()._execute(group)
        for record in self.step_records[record_count:]:
            self.steps.append(
                DryRunStep(
                    step=index,
                    path=position.path,
                    type=record.type,
                    outcome=record.outcome,
                    detail=record.detail,
                    starts_at=starts_at,
                    ends_at=self.now,
                    conditions=conditions,
                    mail=None,
                )
            )

    async def _send(self, group: list[RunState], step: SendEmail) -> None:
        (run,) = group
        index, contact = run.step_index, self.contacts[run.row.contact_id]
        requests = await self._compose(group, step)
        if run.row.id not in requests:
            return  # `_compose` has skipped the step or failed the run.
        suppressed = await suppressed_addresses(self.tx, self.project_id, [contact.email])
        if reason := suppressed.get(contact.email.lower()):
            self._next_step(run, "SKIPPED", {"reason": f"The address is on the suppression list: {reason}."})
        else:
            self.mails[index] = requests[run.row.id]
            self._next_step(run, "DONE")

    def _delay(self, run: RunState, step: Delay) -> None:
        self.now = Moment.of(max(self.now, self._end_of(step)))
        self._next_step(run, "DONE")

    async def _wait(self, group: list[RunState], step: WaitForEvent) -> None:
        (run,) = group
        if run.step_index in self.happened:
            self._next_step(run, "HAPPENED")
            return
        self.now = self._end_of(step)
        self._next_step(run, "TIMED_OUT", to=run.position.otherwise)

    def _end_of(self, step: Delay | WaitForEvent) -> Moment:
        """When a step that waits continues, or the last time that can be represented if that would be later."""
        try:
            return rules.wait_until(step, self.now)
        except OverflowError:
            return LAST_MOMENT

    async def _trigger_events(self, group: list[RunState]) -> dict[UUID, events.EventRow]:
        return {} if self.event is None else {self.event.id: self.event}

    async def _explain(self, step_rules: Rules, contact_id: UUID) -> list[DryRunCondition]:
        """Evaluate each condition of rules alone, at the time and with the attributes of the current step.

        Returns an empty list if the dry run would thereby evaluate more than MAX_CONDITIONS_EXPLAINED.
        """
        leaves = list(_leaves(step_rules.conditions, ""))
        if self.explained + len(leaves) > MAX_CONDITIONS_EXPLAINED:
            return []
        self.explained += len(leaves)
        (contact,) = await contacts.contacts_with_ids(self.tx, self.project_id, [contact_id])
        return [
            DryRunCondition(
                path=path,
                holds=contact_id
                in await membership.matching(
                    self.tx, self.project_id, [contact_id], Rules(conditions=[clause]), self.now
                ),
                value=_value_of(contact, clause.field),
            )
            for path, clause in leaves
        ]


async def _execute_and_roll_back(
    call: Call,
    automation_id: UUID,
    version: int,
    contact_id: UUID,
    trigger: Trigger,
    steps: Sequence[Step],
    data: DryRunRequest,
) -> DryRunBatch:
    """Execute the steps in a transaction that is rolled back. Returns the batch after the last step."""
    event_type, audience_id = rules.starting_event(trigger)
    event_data = {
        **data.event_data,
        **({"audienceId": str(audience_id), "contactId": str(contact_id)} if audience_id else {}),
    }
    event = events.make_event_by(call.caller, call.project_id, event_type, contact_id, call.now)
    event = msgspec.structs.replace(event, data=event_data)
    row = DueRun(
        project_id=call.project_id,
        id=new_id(),
        automation_id=automation_id,
        version=version,
        contact_id=contact_id,
        trigger_event_id=event.id,
        test=call.caller.environment == "TEST",
        status="RUNNING",
        current_step=0,
        entered_at=None,
        event_id=None,
        tried=0,
        attempt=0,
        started_at=call.now,
    )
    run = RunState(row, rules.flatten_steps(steps), 0, None)
    batch: DryRunBatch | None = None
    try:
        async with call.db.transaction() as tx:
            await membership.lock_audiences(tx, call.project_id)
            await contacts.lock_contacts(tx, call.project_id, [contact_id])
            batch = DryRunBatch(
                call.world, tx, call.project_id, call.now, [run], event=event, happened=frozenset(data.happened)
            )
            await batch.advance()
            raise DryRunFinished
    except DryRunFinished:
        assert batch is not None
        return batch


async def _reasons_against_start(
    tx: Transaction,
    call: Call,
    id: UUID,
    contact_id: UUID,
    trigger: Trigger,
    event_data: dict[str, Any],
    *,
    max_runs_per_hour: int,
) -> list[DryRunReason]:
    """Why this event would not start a run for the contact, apart from the automation being inactive."""
    reasons: list[DryRunReason] = []
    if trigger.where is not None and not await _matches(tx, call, trigger.where, event_data):
        message = "The data of the event does not match the conditions of the trigger."
        reasons.append(DryRunReason(code="where_not_matched", message=message))
    earlier = await store.earlier_runs(
        tx,
        project_id=call.project_id,
        automation_id=id,
        contact_id=contact_id,
        test=call.caller.environment == "TEST",
        now=call.now,
    )
    if trigger.once and earlier.any_with_once:
        message = "The contact has been in this automation already, and it runs once for each contact."
        reasons.append(DryRunReason(code="already_run", message=message))
    elif earlier.any_unfinished:
        reasons.append(DryRunReason(code="unfinished_run", message="The contact has an unfinished run."))
    elif not trigger.once and earlier.last_hour >= max_runs_per_hour:
        message = f"The automation runs at most {max_runs_per_hour} times an hour for a contact."
        reasons.append(DryRunReason(code="run_limited", message=message))
    return reasons


async def _evaluate_where(
    tx: Transaction, call: Call, trigger: Trigger, event_data: dict[str, Any]
) -> list[DryRunCondition]:
    if trigger.where is None:
        return []
    flattened = rules.flatten_data(event_data)
    return [
        DryRunCondition(
            path=path,
            holds=await _matches(tx, call, Rules(conditions=[clause]), event_data),
            value=flattened.get((clause.field or "").removeprefix("data.")),
        )
        for path, clause in _leaves(trigger.where.conditions, "")
    ]


async def _matches(tx: Transaction, call: Call, where: Rules, event_data: dict[str, Any]) -> bool:
    """Whether an event with this data matches `where`, by the statement that also decides for real events."""
    compiled = compile_rules(rules.rules_on_data(where), slot=0)
    matching = await store.matching_events(
        tx,
        project_id=call.project_id,
        rows=Jsonb([{"id": new_id(), "attributes": rules.flatten_data(event_data)}]),
        condition=compiled.sql,
        values=Jsonb([compiled.values]),
        now=call.now,
    )
    return bool(matching)


def _leaves(clauses: Sequence[RuleCondition], path: str) -> Iterator[tuple[str, RuleCondition]]:
    """Yield the conditions in `clauses` and in groups among them, but not the groups, each with its JSON pointer."""
    for index, clause in enumerate(clauses):
        pointer = f"{path}/conditions/{index}"
        if clause.conditions is None:
            yield pointer, clause
        else:
            yield from _leaves(clause.conditions, pointer)


def _value_of(contact: Contact, field_name: str | None) -> Any:
    """The value of a contact that a condition compares; None for audiences and events."""
    if field_name in FIELDS:
        value = getattr(contact, FIELDS[field_name])
        return timestamp(value) if isinstance(value, Moment) else value
    name = attribute_of(field_name or "")
    return None if name is None else contact.attributes.get(name)


async def _render(call: Call, request: MailRequest) -> DryRunMail:
    """Render a composed mail as its recipient would get it."""
    body, mail = request.body, _without_content(request, None)
    try:
        content = await _preview(call, request, body.subject, body.html, body.text)
        sender = request.sender
        if body.from_name is not None:
            # The name is rendered as a subject, which is one line of plain text, too.
            name = await _preview(call, request, body.from_name, None, None)
            sender = f"{name.subject} <{request.sender}>"
    except (*CONTENT_PROBLEMS, TemplateTooExpensive, TemplateCrashed) as problem:
        return msgspec.structs.replace(mail, problem=problem.detail)
    return msgspec.structs.replace(mail, sender=sender, subject=content.subject, html=content.html, text=content.text)


def _without_content(request: MailRequest, problem: str | None) -> DryRunMail:
    """A mail without subject and content. `problem` says why it has none; None if the caller adds them."""
    return DryRunMail(
        sender=request.sender,
        to=request.to,
        reply_to=request.body.reply_to[0] if request.body.reply_to else None,
        subject=None,
        html=None,
        text=None,
        problem=problem,
    )


async def _preview(call: Call, request: MailRequest, subject: str, html: str | None, text: str | None) -> Any:
    content = CompiledContent(
        subject=subject,
        builder_json=None,
        html=html,
        is_rendered=False,
        text=text,
        engine=request.body.engine,
        variables=[],
    )
    link = templates.preview_unsubscribe_url(call)
    return await preview(call.world.rendering, call.project_id, content, request.body.variables, link)
