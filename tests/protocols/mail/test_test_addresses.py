"""Addresses with a fixed fate."""

import pytest

from postern.protocols.mail.smtp_replies import classify, suppresses
from postern.protocols.mail.transports.test_addresses import TestOutcome, answer, outcome_of
from postern.protocols.mail.transports.transport import Accepted, Deferred, Rejected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        *[(f"{each}@postern.test", each) for each in TestOutcome],
        ("Bounced+order-17@Postern.Test", TestOutcome.BOUNCED),
        ("delivered+@postern.test.", TestOutcome.DELIVERED),
        ("other@postern.test", None),
        ("delivered@postern.test.example", None),
        ("delivered@sub.postern.test", None),
        ("delivered", None),
        ("", None),
    ],
)
def test_fate(address, expected):
    assert outcome_of(address) is expected


def test_answers():
    said = {each: answer(each, "a@b.c") for each in TestOutcome}
    assert {each: type(one) for each, one in said.items()} == {
        TestOutcome.DELIVERED: Accepted,
        TestOutcome.BOUNCED: Rejected,
        TestOutcome.COMPLAINED: Accepted,
        TestOutcome.DEFERRED: Deferred,
        TestOutcome.SUPPRESSED: Rejected,
    }
    bounced = said[TestOutcome.BOUNCED]
    assert suppresses(classify(bounced.code, bounced.enhanced, bounced.text))
