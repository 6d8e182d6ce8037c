"""Addresses with a fixed fate."""

import pytest

from postern.protocols.mail.smtp_replies import classify, suppresses
from postern.protocols.mail.transports.test_addresses import Fate, answer, fate
from postern.protocols.mail.transports.transport import Accepted, Deferred, Rejected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        *[(f"{each}@postern.test", each) for each in Fate],
        ("Bounced+order-17@Postern.Test", Fate.BOUNCED),
        ("delivered+@postern.test.", Fate.DELIVERED),
        ("other@postern.test", None),
        ("delivered@postern.test.example", None),
        ("delivered@sub.postern.test", None),
        ("delivered", None),
        ("", None),
    ],
)
def test_fate(address, expected):
    assert fate(address) is expected


def test_answers():
    said = {each: answer(each, "a@b.c") for each in Fate}
    assert {each: type(one) for each, one in said.items()} == {
        Fate.DELIVERED: Accepted,
        Fate.BOUNCED: Rejected,
        Fate.COMPLAINED: Accepted,
        Fate.DEFERRED: Deferred,
        Fate.SUPPRESSED: Rejected,
    }
    bounced = said[Fate.BOUNCED]
    assert suppresses(classify(bounced.code, bounced.enhanced, bounced.text))
