"""Attempts to sign in as a customer: each is counted before it is checked."""

from datetime import timedelta
from uuid import UUID

from postern.identity.customers import rules, token_store
from postern.identity.customers.model import (
    FAILURE_WINDOW,
    FAILURES_BEFORE_LOCK,
    FAILURES_EVERYWHERE,
    FAILURES_KEPT,
    LOCK,
    LOCK_MAX,
    CustomerRow,
    SignInLocked,
)
from postern.kernel.database.statements import Database, Transaction
from postern.kernel.http.call import Call
from postern.kernel.limits import RateLimit, TooManyRequests, network_of
from postern.platform.events import operations as events
from postern.security import attempt_store, attempts
from postern.security.attempt_store import AttemptCount
from postern.security.attempts import EVERYWHERE, AttemptLimits, AttemptPolicy
from postern.security.secrets import Secrets

SIGN_IN_RATE = RateLimit("sign-in", 30, timedelta(seconds=10))
"""Requests of one network to the sign-in operations of one project; people stay far below."""
MAILS_BY_ONE, MAILS_BY_ONE_WINDOW = 10, timedelta(minutes=30)
"""Mails of one purpose that one network may have sent to one address."""
MAILS_BY_ALL, MAILS_BY_ALL_WINDOW = 30, timedelta(hours=1)
"""Mails of one purpose that all networks together may have sent to one address."""
WRONG_CODES, WRONG_CODES_WINDOW = 100, timedelta(days=1)
"""Wrong codes for one address before new ones are mailed only to networks that the customer signed in from."""
MAILED_CODES = frozenset(("SIGN_UP", "CODE", "VERIFY"))
COUNTERS = (*(f"asked {purpose}" for purpose in (*sorted(MAILED_CODES), "LINK", "RESET")), "wrong codes")
LIMITS = AttemptLimits(
    failures=FAILURES_BEFORE_LOCK,
    everywhere=FAILURES_EVERYWHERE,
    window=FAILURE_WINDOW,
    kept=FAILURES_KEPT,
    lock=LOCK,
    lock_max=LOCK_MAX,
)


def throttle(call: Call, challenge: str | None = None) -> None:
    """Count a request against the network that it comes from. Raises TooManyRequests.

    Answers to a challenge count by the challenge instead: nobody else in the network can keep a right answer out.
    """
    counted = network_of(call.origin.ip) if challenge is None else f"challenge {challenge[:36]}"
    call.world.limiter.take(SIGN_IN_RATE, f"{call.project_id}|{counted}")


async def throttle_mail(call: Call, purpose: str, identifier: bytes, email_key: str) -> None:
    """Count a mail that somebody asks for. Raises TooManyRequests, whether or not there is such a customer.

    What one network asks for is limited first, so that a stranger does not use up what the owner of an address may
    ask for. What all networks ask for one address is limited far above that; and so are codes for an address at which
    many wrong codes were tried, because every code may be guessed five times. Neither limit holds for a network from
    which the customer signed in before.
    """
    asked = _counter(call, f"asked {purpose}", identifier)
    network = network_of(call.origin.ip)
    by_one = await _count(call.db, call, asked, network, MAILS_BY_ONE_WINDOW)
    if by_one.failures > MAILS_BY_ONE:
        raise TooManyRequests(retry_after_seconds=int(MAILS_BY_ONE_WINDOW.total_seconds()))
    by_all = await _count(call.db, call, asked, EVERYWHERE, MAILS_BY_ALL_WINDOW)
    wrong = await attempt_store.count_failures(
        call.db,
        project_id=call.project_id,
        identifier=_counter(call, "wrong codes", identifier),
        since=call.now - WRONG_CODES_WINDOW,
    )
    guessed = purpose in MAILED_CODES and wrong >= WRONG_CODES
    if (by_all.failures > MAILS_BY_ALL or guessed) and not await _is_known_network(call, email_key):
        raise TooManyRequests(retry_after_seconds=int(MAILS_BY_ALL_WINDOW.total_seconds()))


async def code_failed(call: Call, identifier: bytes, customer_id: UUID | None) -> None:
    """Note that a wrong code was tried.

    It locks nothing: the tries of a code are limited by the code itself, and only who asked for it knows its
    challenge. Many wrong codes stop new ones instead (see `throttle_mail`).
    """
    async with call.db.transaction() as tx:
        await _count(tx, call, _counter(call, "wrong codes", identifier), EVERYWHERE, WRONG_CODES_WINDOW)
        await events.record(
            tx, call, "customer.sign_in_failed", customer_id, method="EMAIL_CODE", ipAddress=call.origin.ip
        )


async def begin_attempt(call: Call, identifier: bytes) -> int:
    """Count one more attempt at somebody from this address; returns its number. Raises SignInLocked.

    It is counted before it is judged, so guesses side by side cannot share one. Unknown people are counted alike.
    """
    try:
        return await attempts.begin_attempt(call.db, _attempts(call, identifier), call.now)
    except attempts.Locked as locked:
        raise SignInLocked(retry_after_seconds=locked.retry_after_seconds(call.now)) from None


async def attempt_failed(call: Call, identifier: bytes, number: int, customer_id: UUID | None, method: str) -> None:
    """Note that an attempt failed; the tenth locks this identifier and address, longer every time."""
    async with call.db.transaction() as tx:
        locked = await attempts.attempt_failed(tx, _attempts(call, identifier), number, call.now)
        # Recorded for unknown people too, without saying who: it takes the same time.
        await events.record(
            tx,
            call,
            "customer.locked" if locked else "customer.sign_in_failed",
            customer_id,
            method=method,
            ipAddress=call.origin.ip,
        )


async def attempt_succeeded(tx: Transaction, call: Call, identifier: bytes, *, forgives: bool) -> None:
    """Take the attempt back; where it `forgives`, forget what failed from this address before as well."""
    await attempts.attempt_succeeded(tx, _attempts(call, identifier), call.now, forgives=forgives)


async def unlock(tx: Transaction, call: Call, identifier: bytes) -> None:
    """Forget every failed attempt under an identifier, from all networks, and any lock that came of it."""
    for each in (identifier, *(_counter(call, what, identifier) for what in COUNTERS)):
        await attempts.clear_attempts(tx, call.project_id, each)


def may_clear_attempts(person: CustomerRow) -> bool:
    """Whether somebody who proved to be this customer makes up for what failed before.

    Not where nobody proved the address: `ada+me@…` shares its count with `ada@…`, and anybody can sign up as that.
    Failed second factors count by themselves, so a first factor makes up for none of them.
    """
    return person.identifier is None or person.email_verified_at is not None


def identifier_of(secrets: Secrets, project_id: UUID, email_key: str) -> bytes:
    """What failures at an address are counted under: a keyed hash, so that it names nobody."""
    return secrets.digest("customer-identifier", f"{project_id}|{rules.without_subaddress(email_key)}")


def second_factor_identifier(person: CustomerRow) -> bytes:
    """What failed second factors of a customer count under, apart from failed passwords.

    Otherwise strangers could lock the second factor by guessing passwords, and whoever knows the password could clear
    the count of second factors with it.
    """
    return person.id.bytes


def _counter(call: Call, what: str, identifier: bytes) -> bytes:
    """The identifier of another count at the same address."""
    return call.world.secrets.digest("customer-counter", f"{what}|{identifier.hex()}")


async def _count(
    db: Database | Transaction, call: Call, identifier: bytes, network: str, window: timedelta
) -> AttemptCount:
    return await attempts.count_event(
        db, call.project_id, identifier, network, window=window, kept=FAILURES_KEPT, now=call.now
    )


async def _is_known_network(call: Call, email_key: str) -> bool:
    """Whether the customer with this address signed in from the caller's network before."""
    seen = await token_store.addresses_seen(call.db, project_id=call.project_id, email_key=email_key)
    return network_of(call.origin.ip) in {network_of(each) for each in seen}


def _attempts(call: Call, identifier: bytes) -> AttemptPolicy:
    network = network_of(call.origin.ip)
    return AttemptPolicy(project_id=call.project_id, identifier=identifier, network=network, limits=LIMITS)
