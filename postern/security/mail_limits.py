"""Limits on how many mails with a code or link can be requested for an address, and counts of wrong codes."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import msgspec

from postern.kernel.database.statements import Database, Transaction
from postern.kernel.http.call import Call
from postern.kernel.limits import TooManyRequests, network_of
from postern.security import attempt_store, attempts
from postern.security.attempt_store import AttemptCount
from postern.security.attempts import ALL_NETWORKS

MAX_MAILS_BY_NETWORK, MAILS_BY_NETWORK_WINDOW = 10, timedelta(minutes=30)
"""How many mails of one purpose one network may request for one address within the window."""
MAX_MAILS_BY_ALL, MAILS_BY_ALL_WINDOW = 30, timedelta(hours=1)
"""How many mails of one purpose all networks together may request for one address within the window."""
MAX_WRONG_CODES, WRONG_CODES_WINDOW = 100, timedelta(days=1)
"""Wrong codes for one address within the window. After that many, new codes for the address can be requested only from
networks that its owner has signed in from."""
COUNT_RETENTION = timedelta(days=1)
"""How long after the last mail or wrong code a count is deleted."""

ReadKnownAddresses = Callable[[Call, str], Awaitable[list[str]]]
"""Returns the IP addresses from which the owner of an e-mail address has signed in."""


class MailPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between the mails to developers and to customers."""

    code_purposes: frozenset[str] = frozenset()
    """Purposes of mails that contain a code."""
    link_purposes: frozenset[str]
    """Purposes of mails that contain a link."""
    known_ip_addresses: ReadKnownAddresses


async def throttle_mail(call: Call, policy: MailPolicy, purpose: str, address_hash: bytes, email: str) -> None:
    """Count a requested mail. Raises TooManyRequests beyond the limits, which also apply to addresses without an
    account.

    `address_hash` is the digest under which the address is counted; `email` is passed to `policy.known_ip_addresses`.

    Requests of one network are limited first, so that another person cannot use up the limit of the owner of the
    address. The limit for all networks together is far higher. Codes are also limited after many wrong codes at the
    address, because each code can be guessed five times. Neither of these two limits applies to a network that the
    owner has signed in from.
    """
    requested = _counter_id(call, f"asked {purpose}", address_hash)
    network = network_of(call.origin.ip)
    by_network = await _count(call.db, call, requested, network, MAILS_BY_NETWORK_WINDOW)
    # The counts have the name `failures`, but they count requested mails here.
    if by_network.failures > MAX_MAILS_BY_NETWORK:
        raise TooManyRequests(retry_after_seconds=int(MAILS_BY_NETWORK_WINDOW.total_seconds()))
    by_all = await _count(call.db, call, requested, ALL_NETWORKS, MAILS_BY_ALL_WINDOW)
    wrong = await attempt_store.count_failures(
        call.db,
        project_id=call.project_id,
        identifier=_counter_id(call, "wrong codes", address_hash),
        since=call.now - WRONG_CODES_WINDOW,
    )
    many_wrong_codes = purpose in policy.code_purposes and wrong >= MAX_WRONG_CODES
    if (by_all.failures > MAX_MAILS_BY_ALL or many_wrong_codes) and not await _is_known_network(call, policy, email):
        raise TooManyRequests(retry_after_seconds=int(MAILS_BY_ALL_WINDOW.total_seconds()))


async def count_wrong_code(tx: Transaction, call: Call, address_hash: bytes) -> None:
    """Count a wrong code for an address.

    The address is not locked out: each code has its own limit of attempts, and only its requester knows the challenge
    id. Many wrong codes limit the requests of new codes instead (see `throttle_mail`).
    """
    await _count(tx, call, _counter_id(call, "wrong codes", address_hash), ALL_NETWORKS, WRONG_CODES_WINDOW)


async def clear_counts(tx: Transaction, call: Call, policy: MailPolicy, identifier: bytes) -> None:
    """Delete all counts of an address or subject: failed attempts and any lock, requested mails, wrong codes.

    `identifier` is an address hash or a `second_factor_identifier`.
    """
    names = [*(f"asked {purpose}" for purpose in sorted(policy.code_purposes | policy.link_purposes)), "wrong codes"]
    for counter in (identifier, *(_counter_id(call, name, identifier) for name in names)):
        await attempts.clear_attempts(tx, call.project_id, counter)


def _counter_id(call: Call, name: str, address_hash: bytes) -> bytes:
    """The id under which the counter `name` of an address is stored."""
    # Developers' counters use this name too: with another one, the counts of earlier releases would start again.
    return call.world.secrets.digest("customer-counter", f"{name}|{address_hash.hex()}")


async def _count(
    db: Database | Transaction, call: Call, identifier: bytes, network: str, window: timedelta
) -> AttemptCount:
    return await attempts.count_event(
        db, call.project_id, identifier, network, window=window, retention=COUNT_RETENTION, now=call.now
    )


async def _is_known_network(call: Call, policy: MailPolicy, email: str) -> bool:
    """Whether the owner of the address has signed in from the caller's network before."""
    ip_addresses = await policy.known_ip_addresses(call, email)
    return network_of(call.origin.ip) in {network_of(ip_address) for ip_address in ip_addresses}
