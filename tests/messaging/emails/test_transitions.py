"""The transitions of a send: SQL and the table TRANSITIONS agree."""

import re
from datetime import timedelta
from itertools import product
from typing import get_args
from uuid import UUID

import msgspec
import pytest

from postern.kernel.database.statements import STATEMENTS, Jsonb
from postern.kernel.values import new_id
from postern.messaging.emails import rules, store
from postern.messaging.emails.model import (
    MARKETING,
    RETRIABLE,
    SETTLING_TRANSITIONS,
    TRANSITIONS,
    WAITING,
    SendStatus,
)
from postern.messaging.emails.rules import new_send
from postern.protocols.mail.address import parse_address
from postern.protocols.mail.transports.transport import FixedOutcome, fixed_result

STATES = get_args(SendStatus)
PAIRS = list(product(STATES, STATES))


def test_the_table_has_every_state():
    assert set(TRANSITIONS) == set(STATES)
    assert {following for each in TRANSITIONS.values() for following in each} <= set(STATES)
    assert WAITING == ("SCHEDULED", "QUEUED", "DELAYED")
    assert RETRIABLE == ("BOUNCED", "FAILED", "EXPIRED")


async def test_settling_changes_exactly_what_the_table_allows(project, world):
    """Every outcome for a send in every status changes it exactly as the table allows."""
    now = world.clock()
    sender = parse_address("hello@acme.example")
    sends = [
        msgspec.structs.replace(new_send(UUID(project.id), sender, "ada@example.com", now), status=state, attempt=1)
        for state, _ in PAIRS
    ]
    rows = [
        {name: getattr(send, name) for name in store.INSERTED_FIELDS} | {"body": {}, "search_text": ""}
        for send in sends
    ]
    outcomes = [
        {
            "project_id": send.project_id,
            "id": send.id,
            "attempt": 1,
            "status": outcome,
            "tries": 1,
            "ambiguous": 0,
        }
        for send, (_, outcome) in zip(sends, PAIRS, strict=True)
    ]
    async with world.db.transaction() as tx:
        await store.insert_sends(tx, project_id=[UUID(project.id)], rows=Jsonb(rows))
        settled = await store.settle(
            tx, project_id=[UUID(project.id)], rows=Jsonb(outcomes), allowed=SETTLING_TRANSITIONS, now=now
        )
    after = {row.id: row.status for row in settled}
    for send, (state, outcome) in zip(sends, PAIRS, strict=True):
        allowed = state in WAITING and outcome in TRANSITIONS[state]
        assert after[send.id] == (outcome if allowed else state), (state, outcome)


async def test_without_the_table_settling_changes_no_state(project, world):
    send = msgspec.structs.replace(
        new_send(UUID(project.id), parse_address("a@acme.example"), "ada@example.com", world.clock()), attempt=1
    )
    row = {name: getattr(send, name) for name in store.INSERTED_FIELDS} | {"body": {}, "search_text": ""}
    outcome = {"project_id": send.project_id, "id": send.id, "attempt": 1, "status": "SENT", "tries": 1, "ambiguous": 0}
    async with world.db.transaction() as tx:
        await store.insert_sends(tx, project_id=[send.project_id], rows=Jsonb([row]))
        settled = await store.settle(
            tx, project_id=[send.project_id], rows=Jsonb([outcome]), allowed=[], now=world.clock()
        )
    assert [each.status for each in settled] == ["QUEUED"]


@pytest.mark.parametrize("name", ["settle", "change_schedule"])
def test_statements_that_change_states_name_none(name):
    (found,) = [each for each in STATEMENTS if each.name.endswith(f"messaging.emails.store.{name}")]
    assert not re.findall(rf"'({'|'.join(STATES)})'", found.text)


@pytest.mark.parametrize("state", WAITING)
def test_every_outcome_of_an_attempt_is_one_that_the_table_allows(state, world):
    now = world.clock()
    send = msgspec.structs.replace(
        new_send(new_id(), parse_address("a@acme.example"), "ada@example.com", now), status=state, lane=MARKETING
    )
    lasting = msgspec.structs.replace(send, expires_at=now + timedelta(seconds=1))
    outcomes = [
        rules.failed("why"),
        rules.expired(),
        rules.cancelled(send),
        rules.contact_deleted(),
        rules.domain_not_verified("acme.example"),
        rules.sender_not_verified("a@acme.example"),
        rules.content_kept_changing(send, now),
        rules.not_rendered(send, "why", now),
        rules.not_rendered(lasting, "why", now),
        rules.suppressed(send, [("ada@example.com", "BOUNCE")]),
    ]
    for each, on_ambiguous in product(FixedOutcome, ("hold", "retry")):
        for ambiguous, untried, of in product((False, True), (False, True), (send, lasting)):
            outcome = rules.DeliveryOutcome(
                results=(fixed_result(each, "ada@example.com"),),
                host="postern.test",
                duration=timedelta(),
                ambiguous=ambiguous,
                no_server_contacted=untried,
            )
            outcomes.append(rules.judge(of, outcome, now, on_ambiguous=on_ambiguous, chance=lambda: 0.5))
            if outcomes[-1].delivered:
                outcomes.append(rules.with_complaint(outcomes[-1]))
    assert {each.status for each in outcomes} - TRANSITIONS[state] <= {state}
