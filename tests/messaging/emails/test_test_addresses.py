"""Test addresses with a fixed outcome."""

import pytest

from postern.messaging.emails.rules import FixedOutcome, fixed_outcome, fixed_result
from postern.protocols.mail.smtp_replies import classify, suppresses
from postern.protocols.mail.transports.transport import Accepted, Deferred, Rejected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        *[(f"{outcome}@postern.test", outcome) for outcome in FixedOutcome],
        ("Bounced+order-17@Postern.Test", FixedOutcome.BOUNCED),
        ("delivered+@postern.test.", FixedOutcome.DELIVERED),
        ("other@postern.test", None),
        ("delivered@postern.test.example", None),
        ("delivered@sub.postern.test", None),
        ("delivered", None),
        ("", None),
    ],
)
def test_the_outcome_of_test_addresses(address, expected):
    assert fixed_outcome(address) is expected


def test_the_results_of_test_addresses():
    results = {outcome: fixed_result(outcome, "a@b.c") for outcome in FixedOutcome}
    assert {outcome: type(result) for outcome, result in results.items()} == {
        FixedOutcome.DELIVERED: Accepted,
        FixedOutcome.BOUNCED: Rejected,
        FixedOutcome.COMPLAINED: Accepted,
        FixedOutcome.DEFERRED: Deferred,
        FixedOutcome.SUPPRESSED: Rejected,
    }
    bounced = results[FixedOutcome.BOUNCED]
    assert suppresses(classify(bounced.code, bounced.enhanced, bounced.text))
