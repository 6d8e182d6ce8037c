"""Loops: active automations that would start each other for the same contact again and again.

Only automations with `once: false` can be part of a loop: any other lets a contact through once in its life. A change
that a loop repeats has an effect only if the loop also changes it back, so a step counts only if another step of the
same loop sets the same thing (membership of an audience, an attribute) to another value. Sent mail always counts.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from heapq import heappop, heappush
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from postern.kernel.http.problems import ProblemError
from postern.kernel.values import as_id
from postern.messaging.audiences.model import AudienceRules
from postern.messaging.audiences.rules import Rules, attribute_of, audiences_named, conditions_of, read_rules
from postern.messaging.automations import rules
from postern.messaging.automations.model import (
    LOOP_TIME,
    AddToAudience,
    CallWebhook,
    Condition,
    Delay,
    Exit,
    RemoveFromAudience,
    SendEmail,
    Step,
    Trigger,
    UpdateContact,
    WaitForEvent,
)
from postern.platform.events.model import is_custom_name

MAIL_EVENTS: Final = tuple(
    f"email.{name}" for name in ("queued", "sent", "delivered", "delayed", "failed", "suppressed")
)
"""Events that follow a sent message without anything that a person does."""
ANY_CUSTOM_EVENT: Final = "custom.*"

EventKey = tuple[str, UUID | None]
"""An event's name, and the audience that it is about."""


@dataclass(frozen=True, slots=True)
class LoopMember:
    """An automation that may be part of a loop."""

    id: UUID
    name: str
    trigger: Trigger
    steps: Sequence[Step]


@dataclass(frozen=True, slots=True)
class StepEffect:
    """What a step causes."""

    path: str
    """The step, as a JSON pointer."""
    after: timedelta
    """The least time from the start of a run to this step."""
    events: frozenset[EventKey]
    """Events about the contact that follow; any of them may start a run."""
    sets: Mapping[str, str]
    """What the step changes and to what value; empty if the events follow each time."""
    text: str
    """What the step does, for messages."""


@dataclass(frozen=True, slots=True)
class LoopEdge:
    """One automation's effect that starts another one."""

    source: LoopMember
    effect: StepEffect
    target: LoopMember


def find_loop(
    candidate: LoopMember, others: Sequence[LoopMember], audiences: Sequence[AudienceRules], own_url: str
) -> list[ProblemError]:
    """The steps of the quickest loop that `candidate` would be part of, in order; empty if there is none.

    `others` are the active automations with `once: false`. `own_url` is this server's base URL: a WEBHOOK step that
    calls it may send in events.
    """
    members = {each.id: each for each in (candidate, *others)}
    world = _Audiences(audiences)
    effects = {each.id: _effects(each, world, own_url) for each in members.values()}
    targets: dict[EventKey, list[LoopMember]] = {}
    for each in members.values():
        for key in _started_by(each.trigger):
            targets.setdefault(key, []).append(each)
    links = [
        LoopEdge(source, effect, target)
        for source in members.values()
        for effect in effects[source.id]
        for target in {each.id: each for key in _keys(effect) for each in targets.get(key, [])}.values()
    ]
    links = _repeating(links, effects, candidate.id)
    loop = _quickest(links, candidate.id)
    if not loop or sum((link.effect.after for link in loop), timedelta()) >= LOOP_TIME:
        return []
    return [_fault(link, candidate) for link in loop]


def _fault(link: LoopEdge, candidate: LoopMember) -> ProblemError:
    path = link.effect.path if link.source.id == candidate.id else "/trigger"
    message = f"“{link.source.name}” {link.effect.text}, which starts “{link.target.name}”."
    return ProblemError(path=path, code="loop", message=message)


class _Audiences:
    """The names of the audiences, and on what the members of the dynamic ones depend."""

    def __init__(self, audiences: Sequence[AudienceRules]) -> None:
        self.names = {each.id: each.name for each in audiences}
        self._rules: dict[UUID, Rules] = {
            each.id: read_rules(each.rules) for each in audiences if each.rules is not None
        }
        self._depends: dict[UUID, frozenset[str]] = {}

    def name(self, audience_id: UUID) -> str:
        return self.names.get(audience_id, str(audience_id))

    def depends_on(self, id: UUID) -> frozenset[str]:
        """The attributes and memberships that decide who belongs to a dynamic audience; audiences form no circles."""
        if id not in self._depends:
            found: set[str] = set()
            for clause in conditions_of(self._rules[id]):
                name = attribute_of(clause.field or "")
                if name is not None:
                    found.add(_attribute(name))
            for named in audiences_named(self._rules[id]):
                found |= self.depends_on(named) if named in self._rules else {_membership(named)}
            self._depends[id] = frozenset(found)
        return self._depends[id]

    def moved_by(self, variables: Mapping[str, str]) -> Iterator[tuple[UUID, dict[str, str]]]:
        """The dynamic audiences that a change may move the contact into or out of, with the part that decides."""
        for audience_id in self._rules:
            decides = self.depends_on(audience_id)
            relevant = {name: value for name, value in variables.items() if name in decides}
            if relevant:
                yield audience_id, relevant


def _attribute(name: str) -> str:
    return f"attribute:{name}"


def _membership(id: UUID) -> str:
    return f"member:{id}"


def _effects(member: LoopMember, audiences: _Audiences, own_url: str) -> list[StepEffect]:
    found: list[StepEffect] = []
    _walk(member.steps, "/steps", timedelta(), found, audiences, own_url)
    return found


def _walk(
    steps: Sequence[Step],
    path: str,
    after: timedelta,
    found: list[StepEffect],
    audiences: _Audiences,
    own_url: str,
) -> timedelta | None:
    """Collect the effects of steps that begin `after` the start; returns when they are over, None if a run ends."""
    for index, step in enumerate(steps):
        where = f"{path}/{index}"
        if isinstance(step, Exit):
            return None
        if isinstance(step, Delay):
            after += rules.wait_of(step)
        elif isinstance(step, Condition | WaitForEvent):
            later = after
            if isinstance(step, WaitForEvent):
                later += rules.wait_of(step.timeout) if step.timeout else rules.EVENT_WAIT
            ends = [
                _walk(step.then, f"{where}/then", after, found, audiences, own_url),
                _walk(step.else_, f"{where}/else", later, found, audiences, own_url),
            ]
            known = [each for each in ends if each is not None]
            if not known:
                return None
            after = min(known)
        else:
            found += _effects_of_step(step, where, after, audiences, own_url)
    return after


def _effects_of_step(
    step: Step, path: str, after: timedelta, audiences: _Audiences, own_url: str
) -> Iterator[StepEffect]:
    if isinstance(step, SendEmail):
        yield StepEffect(path, after, frozenset((name, None) for name in MAIL_EVENTS), {}, "sends mail")
    elif isinstance(step, CallWebhook) and urlsplit(step.url).netloc.lower() == urlsplit(own_url).netloc.lower():
        yield StepEffect(path, after, frozenset([(ANY_CUSTOM_EVENT, None)]), {}, "calls this server")
    elif isinstance(step, UpdateContact):
        sets = {_attribute(name): json.dumps(value, sort_keys=True) for name, value in step.attributes.items()}
        made = StepEffect(path, after, frozenset([("contact.updated", None)]), sets, "changes attributes")
        yield made
        yield from _moves(made, audiences)
    elif isinstance(step, AddToAudience | RemoveFromAudience):
        joins, audience_id = isinstance(step, AddToAudience), as_id(step.audience_id)
        name = audiences.name(audience_id)
        made = StepEffect(
            path,
            after,
            frozenset([("audience.joined" if joins else "audience.left", audience_id)]),
            {_membership(audience_id): str(joins)},
            f"adds contacts to the audience “{name}”" if joins else f"removes contacts from the audience “{name}”",
        )
        yield made
        yield from _moves(made, audiences)


def _moves(made: StepEffect, audiences: _Audiences) -> Iterator[StepEffect]:
    """The same step as it moves contacts into and out of dynamic audiences."""
    for audience_id, relevant in audiences.moved_by(made.sets):
        events = frozenset([("audience.joined", audience_id), ("audience.left", audience_id)])
        text = f"{made.text} and so moves them in the audience “{audiences.name(audience_id)}”"
        yield replace(made, events=events, sets=relevant, text=text)


def _started_by(trigger: Trigger) -> list[EventKey]:
    name, audience_id = rules.starts_on(trigger)
    return [(name, audience_id), *([(ANY_CUSTOM_EVENT, None)] if is_custom_name(name) else [])]


def _keys(effect: StepEffect) -> set[EventKey]:
    """What an effect may be called by a trigger: the event about one audience, or about any."""
    return {key for name, about in effect.events for key in ((name, about), (name, None))}


def _repeating(links: list[LoopEdge], effects: Mapping[UUID, list[StepEffect]], candidate: UUID) -> list[LoopEdge]:
    """The links that can repeat without end among the automations that reach `candidate` and are reached from it."""
    while True:
        forward = [(link.source.id, link.target.id) for link in links]
        within = _reached(forward, candidate) & _reached([(target, source) for source, target in forward], candidate)
        values: dict[str, set[str]] = {}
        for effect in (effect for member in within for effect in effects[member]):
            for name, value in effect.sets.items():
                values.setdefault(name, set()).add(value)
        kept = [
            link
            for link in links
            if link.source.id in within
            and link.target.id in within
            and (not link.effect.sets or any(len(values[name]) > 1 for name in link.effect.sets))
        ]
        if len(kept) == len(links):
            return kept
        links = kept


def _reached(arrows: Sequence[tuple[UUID, UUID]], start: UUID) -> set[UUID]:
    following: dict[UUID, list[UUID]] = {}
    for source, target in arrows:
        following.setdefault(source, []).append(target)
    found, pending = {start}, [start]
    while pending:
        for each in following.get(pending.pop(), []):
            if each not in found:
                found.add(each)
                pending.append(each)
    return found


def _quickest(links: Sequence[LoopEdge], candidate: UUID) -> list[LoopEdge]:
    """The loop through `candidate` in which contacts wait least, as links in order; empty if there is none."""
    following: dict[UUID, list[LoopEdge]] = {}
    for link in links:
        following.setdefault(link.source.id, []).append(link)
    pending: list[tuple[timedelta, int, UUID, tuple[LoopEdge, ...]]] = [(timedelta(), 0, candidate, ())]
    done: set[UUID] = set()
    number = 0
    while pending:
        spent, _, here, way = heappop(pending)
        if way and here == candidate:
            return list(way)
        if here in done:
            continue
        done.add(here)
        for link in following.get(here, []):
            number += 1
            heappush(pending, (spent + link.effect.after, number, link.target.id, (*way, link)))
    return []
