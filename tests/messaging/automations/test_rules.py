"""Validation and flattening of steps."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.kernel.http.problems import Invalid
from postern.messaging.automations.model import STEPS_LIMIT, Branching, Step, Trigger
from postern.messaging.automations.rules import (
    awaited_events,
    check_steps,
    check_trigger,
    count_steps,
    encode_steps,
    flatten_steps,
    read_steps,
)

EXIT = {"type": "EXIT"}
DELAY = {"type": "DELAY", "days": 1}
RULES = {"match": "all", "conditions": [{"field": "plan", "operator": "eq", "value": "pro"}]}


def condition(then=(), otherwise=()):
    """A CONDITION step."""
    return {"type": "CONDITION", "rules": RULES, "then": list(then), "else": list(otherwise)}


def wait(then=(), otherwise=(), event="email.opened", **fields):
    """A WAIT_FOR_EVENT step."""
    return {"type": "WAIT_FOR_EVENT", "event": event, "then": list(then), "else": list(otherwise), **fields}


@pytest.mark.parametrize(
    ("steps", "successors"),
    [
        ([], []),
        ([DELAY, DELAY], [(1, 1), (2, 2)]),
        ([condition(), DELAY], [(1, 1), (2, 2)]),
        ([condition([DELAY]), DELAY], [(1, 2), (2, 2), (3, 3)]),
        ([condition([], [DELAY]), DELAY], [(2, 1), (2, 2), (3, 3)]),
        ([condition([DELAY, DELAY], [DELAY]), DELAY], [(1, 3), (2, 2), (4, 4), (4, 4), (5, 5)]),
        ([condition([condition([DELAY], [DELAY])], [DELAY])], [(1, 4), (2, 3), (5, 5), (5, 5), (5, 5)]),
        ([wait([DELAY], [EXIT]), DELAY], [(1, 2), (3, 3), (3, 3), (4, 4)]),
    ],
)
def test_the_successors_of_steps(steps, successors):
    """`successors` are the pairs (next, otherwise) of the flattened steps."""
    positions = flatten_steps(read_steps(steps))
    assert [(position.next, position.otherwise) for position in positions] == successors


leaves = st.sampled_from([EXIT, DELAY, {"type": "UPDATE_CONTACT", "attributes": {"a": 1}}])
trees = st.recursive(
    st.lists(leaves, max_size=3),
    lambda inner: st.lists(
        st.one_of(leaves, st.builds(condition, inner, inner), st.builds(wait, inner, inner)), max_size=3
    ),
    max_leaves=20,
)


@given(trees)
def test_every_path_leads_forward_to_the_end(tree):
    steps = read_steps(tree)
    positions = flatten_steps(steps)
    assert len(positions) == count_steps(steps)
    for index, position in enumerate(positions):
        assert index < position.next <= len(positions)
        assert index < position.otherwise <= len(positions)
        assert isinstance(position.step, Branching) or position.next == position.otherwise
    reached, pending = set(), [0]
    while pending:
        current = pending.pop()
        if current < len(positions) and current not in reached:
            reached.add(current)
            pending += [positions[current].next, positions[current].otherwise]
    assert reached == set(range(len(positions))), "every step can be reached"
    assert read_steps(encode_steps(steps)) == steps


def mail(**fields):
    """A SEND_EMAIL step."""
    return {"type": "SEND_EMAIL", "templateId": "x", "fromEmail": "a@example.com", **fields}


@pytest.mark.parametrize(
    ("step", "path"),
    [
        ({"type": "DELAY"}, "/steps/0"),
        ({"type": "DELAY", "days": 1, "until": "2030-01-01T00:00:00Z"}, "/steps/0"),
        ({"type": "DELAY", "days": 366, "hours": 1}, "/steps/0"),
        (wait(event="email.opend"), "/steps/0/event"),
        (wait(event="automation.completed"), "/steps/0/event"),
        (wait(event="two words"), "/steps/0/event"),
        (wait(timeout={}), "/steps/0/timeout"),
        ({"type": "WEBHOOK", "url": "ftp://example.com"}, "/steps/0/url"),
        ({"type": "WEBHOOK", "url": "http://169.254.169.254/latest"}, "/steps/0/url"),
        ({"type": "WEBHOOK", "url": "http://localhost/"}, "/steps/0/url"),
        ({"type": "UPDATE_CONTACT", "attributes": {"": 1}}, "/steps/0/attributes/"),
        ({"type": "UPDATE_CONTACT", "attributes": {"n": 10**309}}, "/steps/0/attributes/n"),
        ({"type": "UPDATE_CONTACT", "attributes": {"n": "x" * 20_000}}, "/steps/0/attributes"),
        (mail(subject=""), "/steps/0/subject"),
        (mail(fromEmail="nobody"), "/steps/0/fromEmail"),
        (mail(fromName="a\nb"), "/steps/0/fromName"),
        (mail(replyTo="nobody"), "/steps/0/replyTo"),
        (condition([condition([{"type": "DELAY"}])]), "/steps/0/then/0/then/0"),
        (condition([], [wait([], [{"type": "WEBHOOK", "url": "nowhere"}])]), "/steps/0/else/0/else/0/url"),
        (
            {"type": "CONDITION", "rules": {"conditions": [{"field": "a", "operator": "is", "value": 1}]}},
            "/steps/0/rules/conditions/0/operator",
        ),
    ],
)
def test_invalid_steps_are_refused_with_the_path(step, path):
    with pytest.raises(Invalid) as raised:
        check_steps(read_steps([step]))
    assert raised.value.errors[0].path == path


def test_steps_and_nesting_are_limited():
    check_steps(read_steps([DELAY] * STEPS_LIMIT))
    with pytest.raises(Invalid, match="150"):
        check_steps(read_steps([condition([DELAY] * STEPS_LIMIT)]))
    deep: list = [DELAY]
    for _ in range(9):
        deep = [condition(deep)]
    check_steps(read_steps(deep))
    with pytest.raises(Invalid, match="nested"):
        check_steps(read_steps([condition(deep)]))


@pytest.mark.parametrize(
    ("trigger", "path"),
    [
        ({"type": "AUDIENCE_JOINED"}, "/trigger/audienceId"),
        ({"type": "CONTACT_CREATED", "audienceId": "x"}, "/trigger/audienceId"),
        ({"type": "CONTACT_CREATED", "event": "email.sent"}, "/trigger/event"),
        ({"type": "AUDIENCE_LEFT", "audienceId": "x", "event": "email.sent"}, "/trigger/event"),
        ({"type": "EVENT"}, "/trigger/event"),
        ({"type": "EVENT", "event": "email.nothing"}, "/trigger/event"),
        ({"type": "EVENT", "event": "automation.failed"}, "/trigger/event"),
    ],
)
def test_invalid_triggers_are_refused_with_the_path(trigger, path):
    with pytest.raises(Invalid) as raised:
        check_trigger(msgspec.convert(trigger, Trigger))
    assert raised.value.errors[0].path == path


def test_awaited_events_are_sorted_and_have_current_names():
    steps = read_steps([wait([wait(event="order.placed")], [wait(event="send.delivered")])])
    assert awaited_events(steps) == ["email.delivered", "email.opened", "order.placed"]


def test_every_kind_of_step_is_stored_and_read_unchanged():
    encoded = [
        {"type": "SEND_EMAIL", "templateId": "t", "domainId": "d", "fromEmail": "a@example.org", "subject": "s"},
        {"type": "DELAY", "until": "2030-01-01T00:00:00Z"},
        condition([EXIT], [DELAY]),
        wait([EXIT], timeout={"days": 2}),
        {"type": "UPDATE_CONTACT", "attributes": {"plan": None}},
        {"type": "ADD_TO_AUDIENCE", "audienceId": "a"},
        {"type": "REMOVE_FROM_AUDIENCE", "audienceId": "a"},
        {"type": "WEBHOOK", "url": "https://example.com/"},
        EXIT,
    ]
    steps = read_steps(encoded)
    assert {type(step) for step in steps} == set(Step.__args__)
    assert read_steps(encode_steps(steps)) == steps
