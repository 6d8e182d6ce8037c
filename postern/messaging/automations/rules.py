"""Validation of triggers and steps, flattening of steps, and the contact and data of events."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Invalid, ProblemError
from postern.kernel.outbound.ssrf import AddressRefused, Network, check_target
from postern.kernel.values import NO_ID, Moment, as_id, timestamp, to_plain
from postern.messaging.audiences.model import check_attributes
from postern.messaging.audiences.rules import RuleCondition, Rules, check_rules, plain_rules, read_rules
from postern.messaging.automations.model import (
    DEFAULT_EVENT_TIMEOUT,
    DEPTH_LIMIT,
    STEPS_LIMIT,
    WAIT_LIMIT,
    Branching,
    CallWebhook,
    Condition,
    Delay,
    Duration,
    SendEmail,
    Step,
    Trigger,
    UpdateContact,
    WaitForEvent,
)
from postern.messaging.emails.rules import from_name_template
from postern.platform.events.model import ALIASES, EVENT_NAMES, EventRow, is_custom_name
from postern.protocols.mail.address import AddressInvalid, parse_address
from postern.protocols.mail.templates.content import Part

STARTS_ON = {
    "AUDIENCE_JOINED": "audience.joined",
    "AUDIENCE_LEFT": "audience.left",
    "CONTACT_CREATED": "contact.created",
}
"""The event that starts a run, by type of trigger; for the type EVENT the trigger names it."""
AUTOMATION_PREFIX = "automation."
"""Prefix of the names of events that automations cause, such as `automation.started`."""
EVENT_VARIABLE_PREFIX = "event."
"""Prefix under which the templates of mails refer to the event that started the run, as in `{{ event.total }}`."""
DATA_DEPTH = 5
"""Maximum nesting of event data that field names with dots, such as `customer.plan`, can address."""


@dataclass(frozen=True, slots=True)
class StepPosition:
    """One of the flattened steps, and the steps that follow it."""

    step: Step
    path: str
    """JSON pointer to the step in the request."""
    next: int
    """Index of the next step. For a branching step: the first step of `then`, or the one after all branches."""
    otherwise: int
    """For a branching step: index of the first step of `else`, or of the one after all branches."""


def flatten_steps(steps: Sequence[Step]) -> list[StepPosition]:
    """Flatten steps to a list in which a branching step precedes its `then`, its `else`, and the steps after it.

    The index len() of the list stands for the end of the run.
    """
    positions: list[StepPosition] = []
    _append_steps(steps, "/steps", positions, None)
    return positions


def _append_steps(steps: Sequence[Step], path: str, positions: list[StepPosition], after: int | None) -> None:
    """Append `steps`. The last of them leads to index `after` or, if `after` is None, to the index that follows."""
    for index, step in enumerate(steps):
        current = len(positions)
        pointer = f"{path}/{index}"
        end = current + count_steps([step])
        follows = after if index == len(steps) - 1 and after is not None else end
        if not isinstance(step, Branching):
            positions.append(StepPosition(step, pointer, follows, follows))
            continue
        then, otherwise = current + 1, current + 1 + count_steps(step.then)
        positions.append(
            StepPosition(step, pointer, then if step.then else follows, otherwise if step.else_ else follows)
        )
        _append_steps(step.then, f"{pointer}/then", positions, follows)
        _append_steps(step.else_, f"{pointer}/else", positions, follows)


def count_steps(steps: Sequence[Step]) -> int:
    """The number of steps, including those in branches."""
    return sum(
        1 + (count_steps(step.then) + count_steps(step.else_) if isinstance(step, Branching) else 0) for step in steps
    )


def read_steps(stored: Any) -> list[Step]:
    """Decode the steps of an automation or of one of its versions as stored in the database."""
    return msgspec.convert(stored, list[Step])


def encode_steps(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Convert steps to JSON for storage and responses, without unset fields."""
    return [_without_unset(step) for step in to_plain(steps)]


def _without_unset(step: dict[str, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in step.items() if value is not None}
    for branch in ("then", "else"):
        if branch in plain:
            plain[branch] = [_without_unset(inner) for inner in plain[branch]]
    if "rules" in plain:
        plain["rules"] = plain_rules(read_rules(plain["rules"]))
    return plain


def awaited_events(steps: Sequence[Step]) -> list[str]:
    """Names of the events that WAIT_FOR_EVENT steps wait for, without repetitions."""
    return sorted(
        {
            current_event_name(position.step.event)
            for position in flatten_steps(steps)
            if isinstance(position.step, WaitForEvent)
        }
    )


def current_event_name(name: str) -> str:
    """The current name of an event, given its current or a former name."""
    return ALIASES.get(name, name)


def check_trigger(trigger: Trigger) -> None:
    """Check a trigger: required and allowed fields of its type, its event name and its `where` rules.

    Raises Invalid, with JSON pointers below `/trigger`. Does not check that the audience exists.
    """
    if trigger.type in ("AUDIENCE_JOINED", "AUDIENCE_LEFT"):
        if trigger.audience_id is None:
            raise Invalid.at("/trigger/audienceId", "`audienceId` is required for this trigger type.", "required")
        if trigger.event is not None:
            raise Invalid.at("/trigger/event", "Only an EVENT trigger can have `event`.")
    elif trigger.audience_id is not None:
        raise Invalid.at(
            "/trigger/audienceId", "Only AUDIENCE_JOINED and AUDIENCE_LEFT triggers can have `audienceId`."
        )
    if trigger.where is not None and trigger.type != "EVENT":
        raise Invalid.at("/trigger/where", "Only an EVENT trigger can have `where`.")
    if trigger.type == "EVENT":
        if trigger.event is None:
            raise Invalid.at("/trigger/event", "`event` is required for an EVENT trigger.", "required")
        _check_event("/trigger/event", trigger.event)
        if trigger.where is not None:
            _check_where(trigger.where)
    elif trigger.event is not None:
        raise Invalid.at("/trigger/event", "Only an EVENT trigger can have `event`.")


def _check_where(where: Rules) -> None:
    try:
        check_rules(rules_on_data(where))
    except Invalid as invalid:
        errors = [
            ProblemError(path=f"/trigger/where{error.path}", code=error.code, message=error.message)
            for error in invalid.errors
        ]
        raise Invalid(invalid.detail, errors=errors) from None


def rules_on_data(where: Rules) -> Rules:
    """Convert rules about an event's data to audience rules, which read the data as the attributes of a contact.

    The fields `data.plan` and `plan` both become `attributes.plan`.
    """
    return Rules(match=where.match, conditions=[_condition_on_data(clause) for clause in where.conditions])


def _condition_on_data(clause: RuleCondition) -> RuleCondition:
    if clause.conditions is not None:
        return msgspec.structs.replace(clause, conditions=[_condition_on_data(nested) for nested in clause.conditions])
    if clause.field is None:
        return clause
    return msgspec.structs.replace(clause, field=f"attributes.{clause.field.removeprefix('data.')}")


def flatten_data(data: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """A copy of event data with nested values also under names with dots (`customer.plan`).

    `prefix` and `depth` are for the recursion.
    """
    flattened: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, dict) and depth < DATA_DEPTH:
            inner: dict[str, Any] = value
            flattened |= flatten_data(inner, f"{prefix}{name}.", depth + 1)
        flattened[f"{prefix}{name}"] = value
    return flattened


def event_variables(event: EventRow) -> dict[str, Any]:
    """The template variable `event`: the keys of the event's data, and the same data as `data`.

    It also has `name` and `occurredAt`, unless the data has these keys.
    """
    return {
        "name": event.type,
        "occurredAt": timestamp(event.occurred_at),
        **event.data,
        "data": event.data,
    }


def _check_event(path: str, name: str) -> None:
    name = current_event_name(name)
    if name.startswith(AUTOMATION_PREFIX):
        raise Invalid.at(path, "Events of automations cannot start or continue automations, because that could loop.")
    if name not in EVENT_NAMES and not is_custom_name(name):
        names = ", ".join(EVENT_NAMES)
        raise Invalid.at(path, f"There is no event `{name}`. There are: {names}; and custom events.", "unknown_event")


def starting_event(trigger: Trigger) -> tuple[str, UUID | None]:
    """The name of the event that starts a run, and the id of the audience that the event must concern, or None."""
    if trigger.type == "EVENT":
        return current_event_name(trigger.event or ""), None
    audience = None if trigger.audience_id is None else as_id(trigger.audience_id)
    return STARTS_ON[trigger.type], audience


def check_steps(steps: Sequence[Step], allowed: Sequence[Network] = ()) -> None:
    """Raises Invalid, with a JSON pointer for each error, if steps are not valid.

    `allowed` are private networks that WEBHOOK steps may call.
    """
    if count_steps(steps) > STEPS_LIMIT:
        raise Invalid.at("/steps", f"An automation has at most {STEPS_LIMIT} steps.", "too_many")
    if _nesting(steps) > DEPTH_LIMIT:
        raise Invalid.at("/steps", f"Branches are nested at most {DEPTH_LIMIT} deep.", "too_deep")
    errors = [error for position in flatten_steps(steps) for error in _errors(position, allowed)]
    if errors:
        raise Invalid(errors[0].message, errors=errors)


def templates_of(steps: Sequence[Step]) -> set[str]:
    """Ids of the templates that steps send."""
    return {position.step.template_id for position in flatten_steps(steps) if isinstance(position.step, SendEmail)}


def subjects_of(steps: Sequence[Step], unrendered_template_ids: set[UUID]) -> list[tuple[str, Part, str | None]]:
    """The subjects and sender names of steps to check as templates: (JSON pointer, kind of part, text) each.

    Omits steps that send a template in `unrendered_template_ids` (engine `none`), whose subject is not rendered.
    """
    sends = [
        (position.path, position.step)
        for position in flatten_steps(steps)
        if isinstance(position.step, SendEmail) and as_id(position.step.template_id) not in unrendered_template_ids
    ]
    subjects: list[tuple[str, Part, str | None]] = [
        (f"{path}/subject", "subject", step.subject) for path, step in sends
    ]
    return subjects + [(f"{path}/fromName", "subject", from_name_template(step.from_name)) for path, step in sends]


def _nesting(steps: Sequence[Step]) -> int:
    inner = [max(_nesting(step.then), _nesting(step.else_)) for step in steps if isinstance(step, Branching)]
    return 1 + max(inner, default=0)


def _errors(position: StepPosition, allowed: Sequence[Network]) -> Iterator[ProblemError]:
    step, path = position.step, position.path
    try:
        if isinstance(step, Delay):
            _check_delay(step, path)
        elif isinstance(step, Condition):
            _check_condition(step, path)
        elif isinstance(step, WaitForEvent):
            _check_event(f"{path}/event", step.event)
            if step.timeout is not None and not timedelta() < duration_of(step.timeout) <= WAIT_LIMIT:
                raise Invalid.at(
                    f"{path}/timeout", f"The timeout must be more than zero and at most {WAIT_LIMIT.days} days."
                )
        elif isinstance(step, CallWebhook):
            _check_url(step.url, f"{path}/url", allowed)
        elif isinstance(step, UpdateContact):
            check_attributes(step.attributes, f"{path}/attributes")
        elif isinstance(step, SendEmail):
            if step.subject == "":
                raise Invalid.at(
                    f"{path}/subject", "The subject is empty; omit it to use the template's subject.", "required"
                )
            _check_address(step.from_email, step.from_name, path, "fromEmail")
            _check_address(step.reply_to, None, path, "replyTo")
    except Invalid as error:
        yield from error.errors


def _check_delay(step: Delay, path: str) -> None:
    wait = duration_of(step)
    if step.until is not None and wait:
        raise Invalid.at(path, "Set a duration or `until`, not both.")
    if step.until is None and not wait:
        raise Invalid.at(path, "Set `minutes`, `hours`, `days` or `until`.", "required")
    if wait > WAIT_LIMIT:
        raise Invalid.at(path, f"A delay can be at most {WAIT_LIMIT.days} days long.", "too_long")


def _check_condition(step: Condition, path: str) -> None:
    try:
        check_rules(step.rules)
        _refuse_event_fields(step.rules.conditions, "/conditions")
    except Invalid as invalid:
        errors = [
            ProblemError(path=f"{path}/rules{error.path}", code=error.code, message=error.message)
            for error in invalid.errors
        ]
        raise Invalid(invalid.detail, errors=errors) from None


def _refuse_event_fields(clauses: Sequence[RuleCondition], path: str) -> None:
    """Raises Invalid if a condition has a field such as `event.total`.

    Only templates can refer to the event that started the run. A condition would read the field as an attribute of the
    contact, and never match.
    """
    for index, clause in enumerate(clauses):
        if clause.conditions is not None:
            _refuse_event_fields(clause.conditions, f"{path}/{index}/conditions")
        elif clause.field is not None and clause.field.startswith(EVENT_VARIABLE_PREFIX):
            message = (
                f"`{clause.field[:100]}` is not a field of the contact, which a condition evaluates. To decide by the"
                " event that starts a run, use `where` of the trigger. If it is the name of an attribute, write"
                f" `attributes.{clause.field[:100]}`."
            )
            raise Invalid.at(f"{path}/{index}/field", message, "event_field")


def _check_address(spec: str | None, name: str | None, path: str, field: str) -> None:
    if spec is None:
        return
    try:
        address = parse_address(spec)
    except AddressInvalid as error:
        raise Invalid.at(f"{path}/{field}", error.detail, "address_invalid") from None
    if from_name_template(name) is not None:
        return  # The name is a template, which is checked with the subjects (`subjects_of`).
    try:
        parse_address(str(msgspec.structs.replace(address, name=name or address.name)))
    except AddressInvalid as error:
        raise Invalid.at(f"{path}/fromName", error.detail, "name_invalid") from None


def _check_url(url: str, path: str, allowed: Sequence[Network]) -> None:
    try:
        check_target(url, allowed)
    except AddressRefused as refused:
        raise Invalid.at(path, str(refused), "url_refused") from None


def duration_of(wait: Duration | Delay) -> timedelta:
    """The sum of `minutes`, `hours` and `days`; zero if none is set, as in a delay with `until`."""
    return timedelta(minutes=wait.minutes or 0, hours=wait.hours or 0, days=wait.days or 0)


def wait_until(step: Delay | WaitForEvent, now: Moment) -> Moment:
    """When a step that starts to wait at `now` continues without an event (a delay ends, or the timeout passes)."""
    if isinstance(step, WaitForEvent):
        return Moment.of(now + (duration_of(step.timeout) if step.timeout else DEFAULT_EVENT_TIMEOUT))
    return Moment.of(step.until) if step.until is not None else Moment.of(now + duration_of(step))


def contact_id_in(event: EventRow) -> UUID | None:
    """The id of the contact that an event concerns, or None.

    It is the subject of custom events; of other events the `contactId` in the data, or else the subject if the event's
    name begins with `contact.` or `audience.`.
    """
    if event.type not in EVENT_NAMES:
        return event.subject_id
    value = event.data.get("contactId")
    if value is not None and (contact_id := as_id(value)) != NO_ID:
        return contact_id
    area = event.type.partition(".")[0]
    return event.subject_id if area in ("contact", "audience") else None


def concerns_address_of_customer(event: EventRow, *, is_verified: bool) -> bool:
    """Whether the event of a customer concerns the contact with the customer's address.

    People can sign up with the address of another person, who must not get mail because of that. So before the address
    is verified, the only such event is the `customer.signed_up` of a customer that your application or team created.
    `customer.deleted` never concerns a contact: after an erasure there is none.
    """
    if event.type == "customer.deleted":
        return False
    return is_verified or (event.type == "customer.signed_up" and event.actor_type != "CUSTOMER")


def concerns_audience(event: EventRow, audience_id: UUID | None) -> bool:
    """Whether an event concerns the audience of a trigger; True for a trigger without one."""
    return audience_id is None or as_id(event.data.get("audienceId")) == audience_id
