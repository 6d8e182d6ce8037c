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
from postern.messaging.emails.rules import FixedOutcome, fixed_result, new_send
from postern.protocols.mail.address import parse_address

STATUSES = get_args(SendStatus)
PAIRS = list(product(STATUSES, STATUSES))


def test_the_table_has_every_status():
    assert set(TRANSITIONS) == set(STATUSES)
    assert {following for following_statuses in TRANSITIONS.values() for following in following_statuses} <= set(
        STATUSES
    )
    assert WAITING == ("SCHEDULED", "QUEUED", "DELAYED")
    assert RETRIABLE == ("BOUNCED", "FAILED", "EXPIRED")


async def test_settling_changes_exactly_what_the_table_allows(project, world):
    """Every outcome for a send in every status changes it exactly as the table allows."""
    now = world.clock()
    sender = parse_address("hello@acme.example")
    sends = [
        msgspec.structs.replace(new_send(UUID(project.id), sender, "ada@example.com", now), status=status, attempt=1)
        for status, _ in PAIRS
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
            "status": new_status,
            "tries": 1,
            "ambiguous": 0,
        }
        for send, (_, new_status) in zip(sends, PAIRS, strict=True)
    ]
    async with world.db.transaction() as tx:
        await store.insert_sends(tx, project_id=[UUID(project.id)], rows=Jsonb(rows))
        settled = await store.settle(
            tx,
            project_id=[UUID(project.id)],
            rows=Jsonb(outcomes),
            attempts=Jsonb([]),
            allowed=SETTLING_TRANSITIONS,
            now=now,
        )
    status_after = {row.id: row.status for row in settled}
    for send, (status, new_status) in zip(sends, PAIRS, strict=True):
        allowed = status in WAITING and new_status in TRANSITIONS[status]
        assert status_after[send.id] == (new_status if allowed else status), (status, new_status)


async def test_settling_without_allowed_transitions_changes_no_status(project, world):
    send = msgspec.structs.replace(
        new_send(UUID(project.id), parse_address("a@acme.example"), "ada@example.com", world.clock()), attempt=1
    )
    row = {name: getattr(send, name) for name in store.INSERTED_FIELDS} | {"body": {}, "search_text": ""}
    outcome = {"project_id": send.project_id, "id": send.id, "attempt": 1, "status": "SENT", "tries": 1, "ambiguous": 0}
    async with world.db.transaction() as tx:
        await store.insert_sends(tx, project_id=[send.project_id], rows=Jsonb([row]))
        settled = await store.settle(
            tx,
            project_id=[send.project_id],
            rows=Jsonb([outcome]),
            attempts=Jsonb([]),
            allowed=[],
            now=world.clock(),
        )
    assert [row.status for row in settled] == ["QUEUED"]


@pytest.mark.parametrize("name", ["settle", "change_schedule"])
def test_statements_that_change_the_status_contain_no_status_literals(name):
    (statement_,) = [statement for statement in STATEMENTS if statement.name.endswith(f"messaging.emails.store.{name}")]
    assert not re.findall(rf"'({'|'.join(STATUSES)})'", statement_.text)


@pytest.mark.parametrize("status", WAITING)
def test_every_outcome_of_an_attempt_is_one_that_the_table_allows(status, world):
    now = world.clock()
    send = msgspec.structs.replace(
        new_send(new_id(), parse_address("a@acme.example"), "ada@example.com", now), status=status, lane=MARKETING
    )
    expiring = msgspec.structs.replace(send, expires_at=now + timedelta(seconds=1))
    outcomes = [
        rules.failed("why"),
        rules.expired(),
        rules.cancelled(send),
        rules.contact_deleted(),
        rules.domain_not_verified("acme.example"),
        rules.sender_not_verified("a@acme.example"),
        rules.content_kept_changing(send, now),
        rules.not_rendered(send, "why", now),
        rules.not_rendered(expiring, "why", now),
        rules.suppressed(send, [("ada@example.com", "BOUNCE")]),
    ]
    for fixed, on_ambiguous in product(FixedOutcome, ("hold", "retry")):
        for ambiguous, no_server_contacted, tried_send in product((False, True), (False, True), (send, expiring)):
            outcome = rules.DeliveryOutcome(
                results=(fixed_result(fixed, "ada@example.com"),),
                host="postern.test",
                duration=timedelta(),
                ambiguous=ambiguous,
                no_server_contacted=no_server_contacted,
            )
            outcomes.append(
                rules.outcome_of_attempt(tried_send, outcome, now, on_ambiguous=on_ambiguous, chance=lambda: 0.5)
            )
            if outcomes[-1].delivered:
                outcomes.append(rules.with_complaint(outcomes[-1]))
    assert {outcome.status for outcome in outcomes} - TRANSITIONS[status] <= {status}
