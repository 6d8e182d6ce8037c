"""Proving who one is: attempts that are counted before they are judged, and challenges that are answered once."""

import hmac
import math
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from postern.customers import proof_store
from postern.customers.model import (
    CODE_TRIES,
    FAILURE_WINDOW,
    FAILURES_BEFORE_LOCK,
    FAILURES_EVERYWHERE,
    FAILURES_KEPT,
    LOCK,
    LOCK_MAX,
    CodeInvalid,
    Person,
    SignInLocked,
)
from postern.customers.proof_store import Challenge
from postern.events import operations as events
from postern.kernel.clock import Moment
from postern.kernel.credentials import Call
from postern.kernel.database import Database, Transaction
from postern.kernel.limits import Rate
from postern.kernel.secrets import new_token
from postern.kernel.values import new_id

DOOR_RATE = Rate("sign-in", 30, timedelta(seconds=10))
"""What one address may try at one project's door; people stay far below."""
MAIL_RATE = Rate("sign-in-mail", 5, timedelta(minutes=10))
"""Mails that anybody may have sent to one address."""
EVERYWHERE = ""
"""Stands for all addresses together."""


def knock(call: Call) -> None:
    """Count a request at the door against its address. Raises TooManyRequests."""
    call.world.limiter.take(DOOR_RATE, f"{call.project_id}|{call.origin.ip}")


def ask_for_mail(call: Call, identifier: bytes) -> None:
    """Count a mail that somebody asks for. Raises TooManyRequests, whether or not there is such a customer."""
    call.world.limiter.take(MAIL_RATE, f"{call.project_id}|{identifier.hex()}")


async def begin_attempt(call: Call, identifier: bytes) -> int:
    """Count one more attempt at somebody from this address; returns its number. Raises SignInLocked.

    It is counted before it is judged, so guesses side by side cannot share one. Unknown people are counted alike.
    """
    found = await proof_store.take_attempt(
        call.db,
        project_id=call.project_id,
        id=new_id(),
        identifier=identifier,
        ip_address=call.origin.ip,
        now=call.now,
        window=_seconds(FAILURE_WINDOW),
        kept=_seconds(FAILURES_KEPT),
    )
    if found.locked_until is not None and found.locked_until > call.now:
        raise _locked(found.locked_until, call.now)
    if found.failures > FAILURES_BEFORE_LOCK:
        raise _locked(call.now + LOCK, call.now)
    if found.everywhere >= FAILURES_EVERYWHERE:
        raise _locked(call.now + LOCK, call.now)
    return found.failures


async def attempt_failed(call: Call, identifier: bytes, number: int, customer_id: UUID | None, method: str) -> None:
    """Note that an attempt failed; the tenth locks this identifier and address, longer every time."""
    async with call.db.transaction() as tx:
        await proof_store.take_attempt(
            tx,
            project_id=call.project_id,
            id=new_id(),
            identifier=identifier,
            ip_address=EVERYWHERE,
            now=call.now,
            window=_seconds(FAILURE_WINDOW),
            kept=_seconds(FAILURES_KEPT),
        )
        locked = number >= FAILURES_BEFORE_LOCK and await proof_store.lock_out(
            tx,
            project_id=call.project_id,
            identifier=identifier,
            ip_address=call.origin.ip,
            now=call.now,
            first=_seconds(LOCK),
            most=_seconds(LOCK_MAX),
        )
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
    if forgives:
        await forgive(tx, call, identifier)
    else:
        await proof_store.take_back(
            tx, project_id=call.project_id, identifier=identifier, ip_address=call.origin.ip, now=call.now
        )


async def forgive(tx: Transaction, call: Call, identifier: bytes) -> None:
    """Forget what failed from this address before."""
    await proof_store.forgive(tx, project_id=call.project_id, identifier=identifier, ip_address=call.origin.ip)


def may_forgive(person: Person, *, second_factor_done: bool = False) -> bool:
    """Whether somebody who proved to be this customer makes up for what failed before.

    A password alone does not where a second factor follows: whoever knows it could guess codes without end. Nor does
    an account whose address nobody proved: `ada+me@…` shares its count with `ada@…`, and anybody can sign up as that.
    """
    if person.mfa_enabled_at is not None and not second_factor_done:
        return False
    return person.identifier is None or person.email_verified_at is not None


async def pose(
    db: Database | Transaction,
    call: Call,
    purpose: str,
    life: timedelta,
    secret: str,
    *,
    customer_id: UUID | None = None,
    identifier: bytes | None = None,
    **data: Any,
) -> tuple[UUID, Moment]:
    """Keep a challenge that `secret` answers; what it is about is sealed, because addresses are in it."""
    challenge_id, expires_at = new_id(), call.now + life
    await proof_store.insert_challenge(
        db,
        project_id=call.project_id,
        id=challenge_id,
        purpose=purpose,
        customer_id=customer_id,
        identifier=identifier,
        secret_hash=_hash(call, challenge_id, secret),
        data=call.world.secrets.seal(msgspec.json.encode(data), f"challenge:{challenge_id}"),
        expires_at=expires_at,
        now=call.now,
    )
    return challenge_id, expires_at


async def pose_token(
    db: Database | Transaction, call: Call, purpose: str, life: timedelta, **about: Any
) -> tuple[str, Moment]:
    """Keep a challenge that only its own token answers: for links and steps in between."""
    secret = new_token(32)
    challenge_id, expires_at = await pose(db, call, purpose, life, secret, **about)
    return f"{challenge_id.hex}{secret}", expires_at


def split_token(token: str) -> tuple[UUID, str]:
    """The challenge that a token names, and its secret. Raises CodeInvalid."""
    try:
        return UUID(hex=token[:32]), token[32:]
    except ValueError:
        raise CodeInvalid from None


async def answer(
    call: Call, purpose: str, challenge_id: UUID, secret: str, *, most: int = CODE_TRIES
) -> Challenge | None:
    """The challenge, if `secret` answers it; every try counts, of `most`. It is used up only by `use`."""
    found = await proof_store.take_try(
        call.db, project_id=call.project_id, id=challenge_id, purpose=purpose, most=most, now=call.now
    )
    if found is None or not hmac.compare_digest(found.secret_hash, _hash(call, challenge_id, secret)):
        return None
    return found


async def answer_token(call: Call, purpose: str, token: str, *, most: int = CODE_TRIES) -> Challenge:
    """The challenge of a token. Raises CodeInvalid."""
    found = await answer(call, purpose, *split_token(token), most=most)
    if found is None:
        raise CodeInvalid
    return found


async def use(tx: Transaction, challenge: Challenge) -> None:
    """Use a challenge up: of all who answer it at the same time, one can. Raises CodeInvalid for the others."""
    if not await proof_store.use_challenge(tx, project_id=challenge.project_id, id=challenge.id):
        raise CodeInvalid


def about(call: Call, challenge: Challenge) -> dict[str, Any]:
    """What was sealed into a challenge."""
    return msgspec.json.decode(call.world.secrets.open(challenge.data, f"challenge:{challenge.id}"))


def _hash(call: Call, challenge_id: UUID, secret: str) -> bytes:
    return call.world.secrets.digest("customer-challenge", f"{call.project_id}|{challenge_id}|{secret}")


def _locked(until: Moment, now: Moment) -> SignInLocked:
    return SignInLocked(retry_after_seconds=max(1, math.ceil((until - now).total_seconds())))


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds()} seconds"
