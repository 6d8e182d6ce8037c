"""Addresses whose fate is fixed, so that integrations can be tested on every transport."""

from enum import StrEnum

from postern.protocols.mail.transports.transport import NO_TIME, Accepted, Deferred, Rejected, Result

DOMAIN = "postern.test"
"""A name that the DNS will never have (RFC 6761 §6.2): this mail could not go anywhere."""


class FixedOutcome(StrEnum):
    """What happens to mail for `<fate>@postern.test`; `+tags` are fine."""

    DELIVERED = "delivered"
    BOUNCED = "bounced"
    """A hard bounce: no such mailbox."""
    COMPLAINED = "complained"
    """Delivered, and then reported as spam."""
    DEFERRED = "deferred"
    """Put off at every attempt."""
    SUPPRESSED = "suppressed"
    """As if an earlier bounce had put it on the suppression list."""


def outcome_of(address: str) -> FixedOutcome | None:
    """The fixed fate of an address, None for all the others; decided before any transport is asked."""
    local, _, domain = address.lower().rpartition("@")
    if domain.removesuffix(".") != DOMAIN:
        return None
    name = local.partition("+")[0]
    return next((each for each in FixedOutcome if each == name), None)


def answer(fate: FixedOutcome, recipient: str) -> Result:
    """What a server would have said."""
    if fate is FixedOutcome.BOUNCED:
        kind, code, enhanced, text = Rejected, 550, "5.1.1", "No such user here"
    elif fate is FixedOutcome.SUPPRESSED:
        kind, code, enhanced, text = Rejected, 550, "5.1.1", "On the suppression list"
    elif fate is FixedOutcome.DEFERRED:
        kind, code, enhanced, text = Deferred, 451, "4.2.0", "Mailbox busy, try again later"
    else:
        return Accepted(
            recipient=recipient,
            code=250,
            enhanced="2.1.5",
            text="Delivered",
            host=DOMAIN,
            duration=NO_TIME,
            delivered=True,
        )
    return kind(recipient=recipient, code=code, enhanced=enhanced, text=text, host=DOMAIN, duration=NO_TIME)
