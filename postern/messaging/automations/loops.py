"""Detection of loops: active automations that would start each other for the same contact without end.

Only automations with `once: false` can be part of a loop, because others run once per contact. Setting a value that is
set already causes no event, so a step that sets something (an audience membership, an attribute) is part of a loop only
if another step of the loop sets it to a different value. Steps that send e-mail, and WEBHOOK steps that call this
server, cause events every time.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from heapq import heappop, heappush
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from postern.kernel.graphs import reachable_nodes
from postern.kernel.http.problems import ProblemError
from postern.kernel.values import as_id
from postern.messaging.audiences.model import AudienceRules
from postern.messaging.audiences.rules import Rules, attribute_of, audiences_named, conditions_of, read_rules
from postern.messaging.automations import rules
from postern.messaging.automations.model import (
    LOOP_MIN_DELAY,
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
"""Events that follow from sending an e-mail without any action of the recipient."""
ANY_CUSTOM_EVENT: Final = "custom.*"

TriggerKey = tuple[str, UUID | None]
"""The key under which triggers are stored for lookup: an event's name, and the id of the audience, if any."""


@dataclass(frozen=True, slots=True)
class LoopCandidate:
    """An automation that may be part of a loop."""

    id: UUID
    name: str
    trigger: Trigger
    steps: Sequence[Step]


@dataclass(frozen=True, slots=True)
class StepEffect:
    """The events that a step causes, and what it changes."""

    path: str
    """The step, as a JSON pointer."""
    after: timedelta
    """Minimum time from the start of a run to this step."""
    events: frozenset[TriggerKey]
    """Events of the contact that the step causes; each of them may start a run."""
    sets: Mapping[str, str]
    """The attributes and memberships that the step sets, with their values. If they have these values already, the step
    causes no events. Empty if the step always causes its events."""
    text: str
    """Description of the step for error messages."""


@dataclass(frozen=True, slots=True)
class LoopEdge:
    """An effect of one automation that starts another one."""

    source: LoopCandidate
    effect: StepEffect
    target: LoopCandidate


def find_loop(
    candidate: LoopCandidate, others: Sequence[LoopCandidate], audiences: Sequence[AudienceRules], own_url: str
) -> list[ProblemError]:
    """The loop with the least total delay that `candidate` would be part of: one error for each automation in the loop,
    in order, which names the step that starts the next automation.

    Empty if there is no loop, or if its total delay is at least LOOP_MIN_DELAY. `others` are the active automations
    with `once: false`. `own_url` is this server's base URL: a WEBHOOK step that calls it may record custom events.
    """
    members = {member.id: member for member in (candidate, *others)}
    audience_lookup = _Audiences(audiences)
    effects = {member.id: _effects(member, audience_lookup, own_url) for member in members.values()}
    targets: dict[TriggerKey, list[LoopCandidate]] = {}
    for member in members.values():
        for key in _starting_keys(member.trigger):
            targets.setdefault(key, []).append(member)
    edges = [
        LoopEdge(source, effect, target)
        for source in members.values()
        for effect in effects[source.id]
        for target in {member.id: member for key in _event_keys(effect) for member in targets.get(key, [])}.values()
    ]
    edges = _repeatable_edges(edges, effects, candidate.id)
    loop = _shortest_loop(edges, candidate.id)
    if not loop or sum((edge.effect.after for edge in loop), timedelta()) >= LOOP_MIN_DELAY:
        return []
    return [_loop_error(edge, candidate) for edge in loop]


def _loop_error(edge: LoopEdge, candidate: LoopCandidate) -> ProblemError:
    """The message for one edge of the loop, with the JSON pointer of a step of `candidate`, or of its trigger."""
    path = edge.effect.path if edge.source.id == candidate.id else "/trigger"
    message = f"“{edge.source.name}” {edge.effect.text}, which starts “{edge.target.name}”."
    return ProblemError(path=path, code="loop", message=message)


class _Audiences:
    """Names of audiences, and what the rules of dynamic ones depend on."""

    def __init__(self, audiences: Sequence[AudienceRules]) -> None:
        self.names = {audience.id: audience.name for audience in audiences}
        self._rules: dict[UUID, Rules] = {
            audience.id: read_rules(audience.rules) for audience in audiences if audience.rules is not None
        }
        self._depends: dict[UUID, frozenset[str]] = {}

    def name(self, audience_id: UUID) -> str:
        return self.names.get(audience_id, str(audience_id))

    def depends_on(self, id: UUID) -> frozenset[str]:
        """Attributes and memberships that the rules of an audience depend on, also indirectly; there are no cycles."""
        if id not in self._depends:
            dependencies: set[str] = set()
            for clause in conditions_of(self._rules[id]):
                name = attribute_of(clause.field or "")
                if name is not None:
                    dependencies.add(_attribute(name))
            for source_id in audiences_named(self._rules[id]):
                is_dynamic = source_id in self._rules
                dependencies |= self.depends_on(source_id) if is_dynamic else {_membership(source_id)}
            self._depends[id] = frozenset(dependencies)
        return self._depends[id]

    def affected_by(self, new_values: Mapping[str, str]) -> Iterator[tuple[UUID, dict[str, str]]]:
        """Find the dynamic audiences whose members may change if attributes and memberships get `new_values`.

        Yields the id of each audience, with the part of `new_values` that its rules depend on.
        """
        for audience_id in self._rules:
            dependencies = self.depends_on(audience_id)
            relevant = {name: value for name, value in new_values.items() if name in dependencies}
            if relevant:
                yield audience_id, relevant


def _attribute(name: str) -> str:
    return f"attribute:{name}"


def _membership(id: UUID) -> str:
    return f"member:{id}"


def _effects(member: LoopCandidate, audiences: _Audiences, own_url: str) -> list[StepEffect]:
    effects: list[StepEffect] = []
    _collect_effects(member.steps, "/steps", timedelta(), effects, audiences, own_url)
    return effects


def _collect_effects(
    steps: Sequence[Step],
    path: str,
    after: timedelta,
    effects: list[StepEffect],
    audiences: _Audiences,
    own_url: str,
) -> timedelta | None:
    """Append the effects of `steps` to `effects`.

    `after` is the minimum time from the start of a run to the first of `steps`. Returns the
    minimum time from the start of the run to the end of the steps; None if they end with EXIT.
    """
    for index, step in enumerate(steps):
        pointer = f"{path}/{index}"
        if isinstance(step, Exit):
            return None
        if isinstance(step, Delay):
            after += rules.duration_of(step)
        elif isinstance(step, Condition | WaitForEvent):
            after_else = after
            if isinstance(step, WaitForEvent):
                after_else += rules.duration_of(step.timeout) if step.timeout else rules.DEFAULT_EVENT_TIMEOUT
            ends = [
                _collect_effects(step.then, f"{pointer}/then", after, effects, audiences, own_url),
                _collect_effects(step.else_, f"{pointer}/else", after_else, effects, audiences, own_url),
            ]
            continuing = [end for end in ends if end is not None]
            if not continuing:
                return None
            after = min(continuing)
        else:
            effects += _effects_of_step(step, pointer, after, audiences, own_url)
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
        effect = StepEffect(path, after, frozenset([("contact.updated", None)]), sets, "changes attributes")
        yield effect
        yield from _effects_on_dynamic_audiences(effect, audiences)
    elif isinstance(step, AddToAudience | RemoveFromAudience):
        adds, audience_id = isinstance(step, AddToAudience), as_id(step.audience_id)
        name = audiences.name(audience_id)
        effect = StepEffect(
            path,
            after,
            frozenset([("audience.joined" if adds else "audience.left", audience_id)]),
            {_membership(audience_id): str(adds)},
            f"adds contacts to the audience “{name}”" if adds else f"removes contacts from the audience “{name}”",
        )
        yield effect
        yield from _effects_on_dynamic_audiences(effect, audiences)


def _effects_on_dynamic_audiences(effect: StepEffect, audiences: _Audiences) -> Iterator[StepEffect]:
    """Further effects of the step that has `effect`: the memberships of dynamic audiences that it may change."""
    for audience_id, relevant in audiences.affected_by(effect.sets):
        events = frozenset([("audience.joined", audience_id), ("audience.left", audience_id)])
        text = f"{effect.text} and thereby changes the members of the audience “{audiences.name(audience_id)}”"
        yield replace(effect, events=events, sets=relevant, text=text)


def _starting_keys(trigger: Trigger) -> list[TriggerKey]:
    """The keys of the events that start a run by this trigger."""
    name, audience_id = rules.starting_event(trigger)
    return [(name, audience_id), *([(ANY_CUSTOM_EVENT, None)] if is_custom_name(name) else [])]


def _event_keys(effect: StepEffect) -> set[TriggerKey]:
    """The keys by which triggers match an effect: its events, with and without the audience."""
    return {key for name, audience_id in effect.events for key in ((name, audience_id), (name, None))}


def _repeatable_edges(
    edges: list[LoopEdge], effects: Mapping[UUID, list[StepEffect]], candidate: UUID
) -> list[LoopEdge]:
    """The edges that can repeat without end, in the strongly connected component of `candidate`.

    An edge can repeat if its effect causes events every time, or if the effect sets an attribute or membership that
    another effect in the component sets to a different value.
    """
    while True:  # Removing an edge can make the component smaller, so that other edges no longer repeat.
        forward = [(edge.source.id, edge.target.id) for edge in edges]
        component = _reachable(forward, candidate) & _reachable(
            [(target, source) for source, target in forward], candidate
        )
        values: dict[str, set[str]] = {}
        for effect in (effect for member in component for effect in effects[member]):
            for name, value in effect.sets.items():
                values.setdefault(name, set()).add(value)
        repeating = [
            edge
            for edge in edges
            if edge.source.id in component
            and edge.target.id in component
            and (not edge.effect.sets or any(len(values[name]) > 1 for name in edge.effect.sets))
        ]
        if len(repeating) == len(edges):
            return repeating
        edges = repeating


def _reachable(edges: Sequence[tuple[UUID, UUID]], start: UUID) -> set[UUID]:
    following: dict[UUID, list[UUID]] = {}
    for source, target in edges:
        following.setdefault(source, []).append(target)
    return reachable_nodes(start, following)


def _shortest_loop(edges: Sequence[LoopEdge], candidate: UUID) -> list[LoopEdge]:
    """The loop through `candidate` with the least total delay, as edges in order (Dijkstra); empty if there is none."""
    following: dict[UUID, list[LoopEdge]] = {}
    for edge in edges:
        following.setdefault(edge.source.id, []).append(edge)
    pending: list[tuple[timedelta, int, UUID, tuple[LoopEdge, ...]]] = [(timedelta(), 0, candidate, ())]
    done: set[UUID] = set()
    tie_breaker = 0
    while pending:
        delay, _, current, path = heappop(pending)
        if path and current == candidate:
            return list(path)
        if current in done:
            continue
        done.add(current)
        for edge in following.get(current, []):
            tie_breaker += 1
            heappush(pending, (delay + edge.effect.after, tie_breaker, edge.target.id, (*path, edge)))
    return []
