"""Limits on the mails that anybody may have sent to an address, and the counts of wrong codes."""

from datetime import timedelta
from uuid import UUID

from postern.identity.customers import token_store
from postern.kernel.database.statements import Database, Transaction
from postern.kernel.http.call import Call
from postern.kernel.limits import TooManyRequests, network_of
from postern.platform.events import operations as events
from postern.security import attempt_store, attempts
from postern.security.attempt_store import AttemptCount
from postern.security.attempts import EVERYWHERE

MAILS_BY_ONE, MAILS_BY_ONE_WINDOW = 10, timedelta(minutes=30)
"""Mails of one purpose that one network may have sent to one address."""
MAILS_BY_ALL, MAILS_BY_ALL_WINDOW = 30, timedelta(hours=1)
"""Mails of one purpose that all networks together may have sent to one address."""
WRONG_CODES, WRONG_CODES_WINDOW = 100, timedelta(days=1)
"""Wrong codes for one address before new ones are mailed only to networks that the customer signed in from."""
MAILED_CODES = frozenset(("SIGN_UP", "CODE", "VERIFY"))
COUNTS_KEPT = timedelta(days=1)
COUNTERS = (*(f"asked {purpose}" for purpose in (*sorted(MAILED_CODES), "LINK", "RESET")), "wrong codes")


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


async def clear_counts(tx: Transaction, call: Call, identifier: bytes) -> None:
    """Forget what was counted under an identifier: failed attempts and any lock, mails, wrong codes."""
    for each in (identifier, *(_counter(call, what, identifier) for what in COUNTERS)):
        await attempts.clear_attempts(tx, call.project_id, each)


def _counter(call: Call, what: str, identifier: bytes) -> bytes:
    """The identifier of another count at the same address."""
    return call.world.secrets.digest("customer-counter", f"{what}|{identifier.hex()}")


async def _count(
    db: Database | Transaction, call: Call, identifier: bytes, network: str, window: timedelta
) -> AttemptCount:
    return await attempts.count_event(
        db, call.project_id, identifier, network, window=window, kept=COUNTS_KEPT, now=call.now
    )


async def _is_known_network(call: Call, email_key: str) -> bool:
    """Whether the customer with this address signed in from the caller's network before."""
    seen = await token_store.addresses_seen(call.db, project_id=call.project_id, email_key=email_key)
    return network_of(call.origin.ip) in {network_of(each) for each in seen}
