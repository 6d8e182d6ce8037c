"""Steps written out in order, what starts a run, and which contact an event is about."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.http.problems import Invalid, ProblemError
from postern.kernel.outbound.ssrf import AddressRefused, Network, check_target
from postern.kernel.values import NO_ID, as_id, timestamp, to_plain
from postern.messaging.audiences.model import check_attributes
from postern.messaging.audiences.rules import RuleCondition, Rules, check_rules, plain_rules, read_rules
from postern.messaging.automations.model import (
    DEPTH_LIMIT,
    EVENT_WAIT,
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
from postern.messaging.emails.rules import name_template
from postern.platform.events.model import ALIASES, EVENT_NAMES, Event, is_custom_name
from postern.protocols.mail.address import AddressInvalid, parse_address
from postern.protocols.mail.templates.content import Part

STARTS_ON = {
    "AUDIENCE_JOINED": "audience.joined",
    "AUDIENCE_LEFT": "audience.left",
    "CONTACT_CREATED": "contact.created",
}
OWN_AREA = "automation."
DATA_DEPTH = 5
"""How deep names with dots reach into the data of an event."""


@dataclass(frozen=True, slots=True)
class StepPosition:
    """One step among the steps written out in order, and where it leads."""

    step: Step
    path: str
    """Where it stands in what was sent, as a JSON pointer."""
    next: int
    """The step after it; of one that branches: the first of `then`, or the one after it all."""
    otherwise: int
    """Of one that branches: the first of `else`, or the one after it all."""


def written_out(steps: Sequence[Step]) -> list[StepPosition]:
    """Steps in order: a branching one, its `then`, its `else`, what follows. The end is one past the last."""
    places: list[StepPosition] = []
    _write(steps, "/steps", places, None)
    return places


def _write(steps: Sequence[Step], path: str, places: list[StepPosition], after: int | None) -> None:
    """Append `steps`; the last of them leads to `after`, or to what comes next in order."""
    for index, step in enumerate(steps):
        here = len(places)
        where = f"{path}/{index}"
        end = here + size([step])
        follows = after if index == len(steps) - 1 and after is not None else end
        if not isinstance(step, Branching):
            places.append(StepPosition(step, where, follows, follows))
            continue
        then, otherwise = here + 1, here + 1 + size(step.then)
        places.append(StepPosition(step, where, then if step.then else follows, otherwise if step.else_ else follows))
        _write(step.then, f"{where}/then", places, follows)
        _write(step.else_, f"{where}/else", places, follows)


def size(steps: Sequence[Step]) -> int:
    """How many steps there are, those in branches counted."""
    return sum(1 + (size(step.then) + size(step.else_) if isinstance(step, Branching) else 0) for step in steps)


def read_steps(stored: Any) -> list[Step]:
    """Stored steps."""
    return msgspec.convert(stored, list[Step])


def plain_steps(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Steps as they are stored and shown: nothing that was not said."""
    return [_plain(each) for each in to_plain(steps)]


def _plain(step: dict[str, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in step.items() if value is not None}
    for branch in ("then", "else"):
        if branch in plain:
            plain[branch] = [_plain(each) for each in plain[branch]]
    if "rules" in plain:
        plain["rules"] = plain_rules(read_rules(plain["rules"]))
    return plain


def waited_for(steps: Sequence[Step]) -> list[str]:
    """The events that steps wait for."""
    return sorted(
        {event_name(place.step.event) for place in written_out(steps) if isinstance(place.step, WaitForEvent)}
    )


def event_name(name: str) -> str:
    """The present name of an event that may be called by an older one."""
    return ALIASES.get(name, name)


def check_trigger(trigger: Trigger) -> None:
    """Raises Invalid where a trigger lacks what its type needs."""
    if trigger.type in ("AUDIENCE_JOINED", "AUDIENCE_LEFT"):
        if trigger.audience_id is None:
            raise Invalid.at("/trigger/audienceId", "Say which audience.", "required")
        if trigger.event is not None:
            raise Invalid.at("/trigger/event", "Only an EVENT trigger has an event.")
    elif trigger.audience_id is not None:
        raise Invalid.at("/trigger/audienceId", "Only AUDIENCE_JOINED and AUDIENCE_LEFT have an audience.")
    if trigger.where is not None and trigger.type != "EVENT":
        raise Invalid.at("/trigger/where", "Only an EVENT trigger has rules for the event's data.")
    if trigger.type == "EVENT":
        if trigger.event is None:
            raise Invalid.at("/trigger/event", "Say which event.", "required")
        _check_event("/trigger/event", trigger.event)
        if trigger.where is not None:
            _check_where(trigger.where)
    elif trigger.event is not None:
        raise Invalid.at("/trigger/event", "Only an EVENT trigger has an event.")


def _check_where(where: Rules) -> None:
    try:
        check_rules(on_data(where))
    except Invalid as wrong:
        moved = [
            ProblemError(path=f"/trigger/where{each.path}", code=each.code, message=each.message)
            for each in wrong.errors
        ]
        raise Invalid(wrong.detail, errors=moved) from None


def on_data(where: Rules) -> Rules:
    """Rules on the data of an event as rules on attributes: every field is a name in the data."""
    return Rules(match=where.match, conditions=[_clause_on_data(each) for each in where.conditions])


def _clause_on_data(clause: RuleCondition) -> RuleCondition:
    if clause.conditions is not None:
        return msgspec.structs.replace(clause, conditions=[_clause_on_data(each) for each in clause.conditions])
    if clause.field is None:
        return clause
    return msgspec.structs.replace(clause, field=f"attributes.{clause.field.removeprefix('data.')}")


def flat(data: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """The data of an event with what lies deeper under names with dots (`customer.plan`) beside it."""
    found: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, dict) and depth < DATA_DEPTH:
            inner: dict[str, Any] = value
            found |= flat(inner, f"{prefix}{name}.", depth + 1)
        found[f"{prefix}{name}"] = value
    return found


def event_values(event: Event) -> dict[str, Any]:
    """What `event` is in templates: the data by name, and whole under `data`; `name` and `occurredAt` unless given."""
    return {
        "name": event.type,
        "occurredAt": timestamp(event.occurred_at),
        **event.data,
        "data": event.data,
    }


def _check_event(path: str, name: str) -> None:
    name = event_name(name)
    if name.startswith(OWN_AREA):
        raise Invalid.at(
            path, "What automations do starts and continues no automation: they would go round in circles."
        )
    if name not in EVENT_NAMES and not is_custom_name(name):
        names = ", ".join(EVENT_NAMES)
        raise Invalid.at(path, f"`{name}` is no event. There are: {names}; and those you send in.", "unknown_event")


def starts_on(trigger: Trigger) -> tuple[str, UUID | None]:
    """The event that starts a run, and the audience it must be about."""
    if trigger.type == "EVENT":
        return event_name(trigger.event or ""), None
    audience = None if trigger.audience_id is None else as_id(trigger.audience_id)
    return STARTS_ON[trigger.type], audience


def check_steps(steps: Sequence[Step], allowed: Sequence[Network] = ()) -> None:
    """Raises Invalid where steps make no sense, with a pointer to each place.

    `allowed` are special networks that calls may reach all the same.
    """
    if size(steps) > STEPS_LIMIT:
        raise Invalid.at("/steps", f"An automation has at most {STEPS_LIMIT} steps.", "too_many")
    if _depth(steps) > DEPTH_LIMIT:
        raise Invalid.at("/steps", f"Branches are nested at most {DEPTH_LIMIT} deep.", "too_deep")
    faults = [fault for place in written_out(steps) for fault in _faults(place, allowed)]
    if faults:
        raise Invalid(faults[0].message, errors=faults)


def templates_of(steps: Sequence[Step]) -> set[str]:
    """The identifiers of the templates that steps send."""
    return {place.step.template_id for place in written_out(steps) if isinstance(place.step, SendEmail)}


def subjects_of(steps: Sequence[Step], without_engine: set[UUID]) -> list[tuple[str, Part, str | None]]:
    """The subjects that steps give, and sender names with values to fill in, with a pointer to each.

    Left out are those of steps that send one of the templates `without_engine`: they are sent as written.
    """
    sends = [
        (place.path, place.step)
        for place in written_out(steps)
        if isinstance(place.step, SendEmail) and as_id(place.step.template_id) not in without_engine
    ]
    subjects: list[tuple[str, Part, str | None]] = [
        (f"{path}/subject", "subject", step.subject) for path, step in sends
    ]
    return subjects + [(f"{path}/fromName", "subject", name_template(step.from_name)) for path, step in sends]


def _depth(steps: Sequence[Step]) -> int:
    inner = [max(_depth(step.then), _depth(step.else_)) for step in steps if isinstance(step, Branching)]
    return 1 + max(inner, default=0)


def _faults(place: StepPosition, allowed: Sequence[Network]) -> Iterator[ProblemError]:
    step, path = place.step, place.path
    try:
        if isinstance(step, Delay):
            _check_delay(step, path)
        elif isinstance(step, Condition):
            _check_condition(step, path)
        elif isinstance(step, WaitForEvent):
            _check_event(f"{path}/event", step.event)
            if step.timeout is not None and not timedelta() < wait_of(step.timeout) <= WAIT_LIMIT:
                raise Invalid.at(f"{path}/timeout", f"Wait up to {WAIT_LIMIT.days} days, and more than not at all.")
        elif isinstance(step, CallWebhook):
            _check_url(step.url, f"{path}/url", allowed)
        elif isinstance(step, UpdateContact):
            check_attributes(step.attributes, f"{path}/attributes")
        elif isinstance(step, SendEmail):
            if step.subject == "":
                raise Invalid.at(f"{path}/subject", "Leave it out for the template's own subject.", "required")
            _check_address(step.from_email, step.from_name, path, "from")
            _check_address(step.reply_to, None, path, "replyTo")
    except Invalid as wrong:
        yield from wrong.errors


def _check_delay(step: Delay, path: str) -> None:
    wait = wait_of(step)
    if step.until is not None and wait:
        raise Invalid.at(path, "A delay has a length or an end, not both.")
    if step.until is None and not wait:
        raise Invalid.at(path, "Say how long: minutes, hours, days, or until.", "required")
    if wait > WAIT_LIMIT:
        raise Invalid.at(path, f"A delay is at most {WAIT_LIMIT.days} days long.", "too_long")


def _check_condition(step: Condition, path: str) -> None:
    try:
        check_rules(step.rules)
    except Invalid as wrong:
        moved = [
            ProblemError(path=f"{path}/rules{each.path}", code=each.code, message=each.message) for each in wrong.errors
        ]
        raise Invalid(wrong.detail, errors=moved) from None


def _check_address(spec: str | None, name: str | None, path: str, field: str) -> None:
    if spec is None:
        return
    try:
        address = parse_address(spec)
    except AddressInvalid as wrong:
        where = "fromEmail" if field == "from" else field
        raise Invalid.at(f"{path}/{where}", wrong.detail, "address_invalid") from None
    if name_template(name) is not None:
        return  # Checked with the subjects.
    try:
        parse_address(str(msgspec.structs.replace(address, name=name or address.name)))
    except AddressInvalid as wrong:
        raise Invalid.at(f"{path}/fromName", wrong.detail, "name_invalid") from None


def _check_url(url: str, path: str, allowed: Sequence[Network]) -> None:
    try:
        check_target(url, allowed)
    except AddressRefused as refused:
        raise Invalid.at(path, str(refused), "url_refused") from None


def wait_of(wait: Duration | Delay) -> timedelta:
    """The length of time that is given."""
    return timedelta(minutes=wait.minutes or 0, hours=wait.hours or 0, days=wait.days or 0)


def wait_until(step: Delay | WaitForEvent, now: Moment) -> Moment:
    """When a step that begins to wait now goes on by itself."""
    if isinstance(step, WaitForEvent):
        return Moment.of(now + (wait_of(step.timeout) if step.timeout else EVENT_WAIT))
    return Moment.of(step.until) if step.until is not None else Moment.of(now + wait_of(step))


def contact_id_in(event: Event) -> UUID | None:
    """The contact that an event names, if it names one; what a customer's own event says inside is not ours."""
    if event.type not in EVENT_NAMES:
        return event.subject_id
    named = event.data.get("contactId")
    if named is not None and (found := as_id(named)) != NO_ID:
        return found
    area = event.type.partition(".")[0]
    return event.subject_id if area in ("contact", "audience") else None


def address_in(event: Event) -> str | None:
    """The address of the person that an event is about, where it names no contact: a customer's events do."""
    if event.type not in EVENT_NAMES:
        return None
    address = event.data.get("email")
    return address if isinstance(address, str) else None


def is_about(event: Event, audience_id: UUID | None) -> bool:
    """Whether an event is about the audience that a trigger names, if it names one."""
    return audience_id is None or as_id(event.data.get("audienceId")) == audience_id
