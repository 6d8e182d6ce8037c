"""Challenges: one-time codes and tokens. Each can be used once, before it expires, with a limited number of tries.

The database stores a keyed hash of the answer and the encrypted payload, a Struct whose tag is the challenge's purpose.
Six-digit codes, tokens in links, and tokens between the steps of a sign-in are challenges.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Database, Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Unauthenticated
from postern.kernel.values import Moment, Record, new_id
from postern.security import challenge_store
from postern.security.challenge_store import ChallengeRow
from postern.security.secrets import Secrets, new_token

CODE_TRIES = 5
"""Default maximum number of answers to one challenge, right or wrong."""
LINK_TRIES = 30
"""How often the token of a link may be sent, for example to set a new password. Rejected passwords (too common,
breached) count. There is no need for a lower limit, because the token cannot be guessed."""


class CodeInvalid(Unauthenticated):
    """This code or link is invalid, was used already, or has expired. Request a new one."""


class Payload(Record, tag_field="purpose"):
    """The data of a challenge. Each purpose has a subclass; its `tag` is stored in the row as `purpose`."""


P = TypeVar("P", bound=Payload)


@dataclass(frozen=True)
class Challenge(Generic[P]):
    """A challenge that is neither used nor expired: `answer` returns it for a correct answer, `get` without answer."""

    project_id: UUID
    """NO_ID for challenges of developers."""
    id: UUID
    subject_id: UUID | None
    """The developer or customer to whom the challenge belongs; None if there is none yet, as for a sign-up."""
    identifier: bytes | None
    """Keyed hash of the address to which the code or link was mailed; None if it was not mailed."""
    tries: int
    payload: P


async def issue(
    db: Database | Transaction,
    call: Call,
    payload: Payload,
    life: timedelta,
    secret: str,
    *,
    subject_id: UUID | None = None,
    identifier: bytes | None = None,
) -> tuple[UUID, Moment]:
    """Store a challenge with the answer `secret`, valid for `life`. Returns the challenge's id and expiry time."""
    challenge_id, expires_at = new_id(), call.now + life
    await challenge_store.insert(
        db,
        project_id=call.project_id,
        id=challenge_id,
        purpose=purpose_of(type(payload)),
        subject_id=subject_id,
        identifier=identifier,
        secret_hash=_hash(call.world.secrets, call.project_id, challenge_id, secret),
        data=call.world.secrets.seal(msgspec.json.encode(payload), _context(challenge_id)),
        expires_at=expires_at,
        now=call.now,
    )
    return challenge_id, expires_at


async def issue_token(
    db: Database | Transaction,
    call: Call,
    payload: Payload,
    life: timedelta,
    *,
    subject_id: UUID | None = None,
    identifier: bytes | None = None,
) -> tuple[str, Moment]:
    """Store a challenge with a random secret, valid for `life`. Returns a token, which consists of the challenge's id
    and secret, and the expiry time."""
    secret = new_token(32)
    challenge_id, expires_at = await issue(
        db, call, payload, life, secret, subject_id=subject_id, identifier=identifier
    )
    return token_of(challenge_id, secret), expires_at


def token_of(challenge_id: UUID, secret: str) -> str:
    """The token that consists of the id and the secret of a challenge."""
    return f"{challenge_id.hex}{secret}"


def split_token(token: str) -> tuple[UUID, str]:
    """Split a token into the id of its challenge and the secret. Raises CodeInvalid if it is malformed."""
    try:
        return UUID(hex=token[:32]), token[32:]
    except ValueError:
        raise CodeInvalid from None


async def answer(
    call: Call, kind: type[P], challenge_id: UUID, secret: str, *, max_tries: int = CODE_TRIES
) -> Challenge[P] | None:
    """Return the challenge if it has a payload of type `kind` and the answer `secret`; otherwise None.

    Each call counts as one of at most `max_tries` tries. The challenge stays open until `consume`.
    """
    row = await challenge_store.count_try(
        call.db,
        project_id=call.project_id,
        id=challenge_id,
        purpose=purpose_of(kind),
        max_tries=max_tries,
        now=call.now,
    )
    if row is None:
        return None
    expected = _hash(call.world.secrets, call.project_id, challenge_id, secret)
    return _open_row(call, kind, row) if hmac.compare_digest(row.secret_hash, expected) else None


async def answer_token(call: Call, kind: type[P], token: str, *, max_tries: int = CODE_TRIES) -> Challenge[P]:
    """Like `answer`, but with a token of `issue_token`. Raises CodeInvalid instead of returning None."""
    challenge = await answer(call, kind, *split_token(token), max_tries=max_tries)
    if challenge is None:
        raise CodeInvalid
    return challenge


async def get(call: Call, kind: type[P], challenge_id: UUID) -> Challenge[P] | None:
    """Return a challenge without an answer; None if it is used or expired. Counts no try, and does not authenticate."""
    row = await challenge_store.get(
        call.db, project_id=call.project_id, id=challenge_id, purpose=purpose_of(kind), now=call.now
    )
    return None if row is None else _open_row(call, kind, row)


async def open_of(db: Queries, call: Call, project_id: UUID, subject_id: UUID, kind: type[P]) -> list[Challenge[P]]:
    """The challenges of a subject with payloads of type `kind` that are neither used nor expired, newest first."""
    rows = await challenge_store.open_of_subject(
        db, project_id=project_id, subject_id=subject_id, purpose=purpose_of(kind), now=call.now
    )
    return [challenge for row in rows if (challenge := _open_row(call, kind, row)) is not None]


async def consume(tx: Transaction, challenge: Challenge[P]) -> P:
    """Delete a challenge and return its payload. Raises CodeInvalid if another request has used the challenge."""
    await consume_id(tx, challenge.project_id, challenge.id)
    return challenge.payload


async def consume_id(tx: Transaction, project_id: UUID, id: UUID) -> None:
    """Delete a challenge that was answered in an earlier request. Raises CodeInvalid if it was used since."""
    if not await challenge_store.delete(tx, project_id=project_id, id=id):
        raise CodeInvalid


async def revoke(tx: Transaction, project_id: UUID, subject_id: UUID, kinds: Sequence[type[Payload]] = ()) -> None:
    """Delete the open challenges of a subject: those of `kinds`, or all if `kinds` is empty."""
    purposes = [purpose_of(kind) for kind in kinds]
    await challenge_store.delete_of_subject(tx, project_id=project_id, subject_id=subject_id, purposes=purposes)


async def revoke_mailed(tx: Transaction, project_id: UUID, identifier: bytes) -> None:
    """Delete the open challenges that were mailed to an address, given its identifier."""
    await challenge_store.delete_of_identifier(tx, project_id=project_id, identifier=identifier)


def purpose_of(kind: type[Payload]) -> str:
    """The purpose of challenges with payloads of this kind."""
    return str(kind.__struct_config__.tag)


def _open_row(call: Call, kind: type[P], row: ChallengeRow) -> Challenge[P] | None:
    try:
        payload = msgspec.json.decode(call.world.secrets.open(row.data, _context(row.id)), type=kind)
    except msgspec.ValidationError:  # Another release, with another payload, issued it: treat it as expired.
        return None
    return Challenge(
        project_id=row.project_id,
        id=row.id,
        subject_id=row.subject_id,
        identifier=row.identifier,
        tries=row.tries,
        payload=payload,
    )


def _hash(secrets: Secrets, project_id: UUID, challenge_id: UUID, secret: str) -> bytes:
    # Developers' challenges use the purpose `customer-challenge`, too: with another one, links that were already mailed
    # would stop working.
    return secrets.digest("customer-challenge", f"{project_id}|{challenge_id}|{secret}")


def _context(challenge_id: UUID) -> str:
    return f"challenge:{challenge_id}"
