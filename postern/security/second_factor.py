"""The second factor of a developer or a customer: codes of an authenticator app (TOTP, RFC 6238) and recovery codes.

An attempt is counted before its code is checked. Callers record in their own tables when a second factor was turned on
or off.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeVar
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.security import second_factor_store
from postern.security.attempts import AttemptPolicy, attempt_failed, attempt_succeeded, begin_attempt
from postern.security.second_factor_store import SecondFactor
from postern.security.secrets import Secrets
from postern.security.subjects import Subject
from postern.security.totp import (
    looks_like_recovery_code,
    matching_step,
    new_recovery_codes,
    new_totp_secret,
    plain_recovery_code,
)

UsedFactor = Literal["totp", "recovery"]
T = TypeVar("T")


async def enrol(tx: Transaction, call: Call, subject: Subject) -> bytes | None:
    """Store a new secret for an authenticator app, and return it; None if a second factor is on already.

    The second factor is off until `confirm`. An earlier secret that was not confirmed is replaced.
    """
    secret = new_totp_secret()
    sealed = call.world.secrets.seal(secret, _context(subject))
    enrolled = await second_factor_store.enrol(
        tx, project_id=subject.project_id, subject_id=subject.id, secret=sealed, now=call.now
    )
    return secret if enrolled else None


async def get(db: Queries, subject: Subject) -> SecondFactor | None:
    """Return the second factor of a subject, whether it is on or still being set up; None if there is none."""
    return await second_factor_store.get(db, project_id=subject.project_id, subject_id=subject.id)


async def pending_secret(call: Call, subject: Subject) -> bytes | None:
    """The secret of a second factor that is being set up; None if there is none, or it is on."""
    factor = await get(call.db, subject)
    if factor is None or factor.confirmed_at is not None:
        return None
    return call.world.secrets.open(factor.secret, _context(subject))


async def try_code(
    call: Call, policy: AttemptPolicy, subject: Subject, check: Callable[[Transaction], Awaitable[T | None]]
) -> T | None:
    """Count an attempt at the second factor of a subject, then return the result of `check`, which is None if the code
    is wrong. Raises `policy.locked` after too many failures, without a check.

    `check` gets the transaction in which the attempt succeeds; it is committed when this returns.
    """
    attempt = await begin_attempt(call, policy, subject.project_id, subject.second_factor_identifier)
    async with call.db.transaction() as tx:
        result = await check(tx)
        if result is not None:
            await attempt_succeeded(tx, attempt, call.now)
            return result
    await attempt_failed(call, attempt, subject_id=subject.id, method="TOTP")
    return None


async def consume_code(
    tx: Transaction, call: Call, subject: Subject, code: str, *, former_ids: Sequence[UUID] = ()
) -> UsedFactor | None:
    """Use a code of the app or a recovery code. Returns which it was; None if it is wrong or was used before.

    Also accepts a code of an app that is still being set up. `former_ids` are the ids of customers who were merged into
    the subject: the hashes of the recovery codes taken over from them depend on these ids.
    """
    if looks_like_recovery_code(code):
        hashes = [_recovery_hash(call.world.secrets, subject, owner_id, code) for owner_id in (subject.id, *former_ids)]
        used = await second_factor_store.use_recovery_code(
            tx, project_id=subject.project_id, subject_id=subject.id, hashes=hashes
        )
        return "recovery" if used else None
    factor = await get(tx, subject)
    if factor is None:
        return None
    secret = call.world.secrets.open(factor.secret, _context(subject))
    step = matching_step(secret, code, call.now, used=factor.used_step)
    if step is None or not await second_factor_store.use_step(
        tx, project_id=subject.project_id, subject_id=subject.id, step=step
    ):
        return None
    return "totp"


async def confirm(tx: Transaction, call: Call, subject: Subject, enrolled: SecondFactor) -> list[str] | None:
    """Turn the second factor on. Call this after `consume_code` has accepted its first code.

    Returns ten new recovery codes; None if it is on already, or if another set-up was started since `enrolled` was
    read.
    """
    if not await second_factor_store.confirm(
        tx, project_id=subject.project_id, subject_id=subject.id, secret=enrolled.secret, now=call.now
    ):
        return None
    return await renew_recovery_codes(tx, call, subject)


async def turn_on(tx: Transaction, call: Call, subject: Subject, secret: bytes, step: int) -> list[str] | None:
    """Turn on a second factor with a secret that is not stored yet. `step` is the time step of its first code.

    Returns ten new recovery codes; None if a second factor is on already.
    """
    sealed = call.world.secrets.seal(secret, _context(subject))
    if not await second_factor_store.insert_confirmed(
        tx, project_id=subject.project_id, subject_id=subject.id, secret=sealed, step=step, now=call.now
    ):
        return None
    return await renew_recovery_codes(tx, call, subject)


async def add_imported(tx: Transaction, call: Call, subject: Subject, secret: bytes) -> bool:
    """Turn on a second factor with the secret of an app that was set up with another system, without recovery codes.

    Returns False if a second factor is on already.
    """
    sealed = call.world.secrets.seal(secret, _context(subject))
    return await second_factor_store.insert_confirmed(
        tx, project_id=subject.project_id, subject_id=subject.id, secret=sealed, step=0, now=call.now
    )


async def renew_recovery_codes(tx: Transaction, call: Call, subject: Subject) -> list[str]:
    """Replace the recovery codes by ten new ones, and return the new ones."""
    codes = new_recovery_codes()
    owner = {"project_id": subject.project_id, "subject_id": subject.id}
    hashes = [_recovery_hash(call.world.secrets, subject, subject.id, code) for code in codes]
    await second_factor_store.delete_recovery_codes(tx, **owner)
    await second_factor_store.insert_recovery_codes(tx, **owner, hashes=hashes)
    return codes


async def recovery_codes_left(db: Queries, subject: Subject) -> int:
    """The number of unused recovery codes."""
    return await second_factor_store.count_recovery_codes(db, project_id=subject.project_id, subject_id=subject.id)


async def delete(tx: Transaction, subject: Subject) -> None:
    """Turn the second factor off and delete its recovery codes."""
    await second_factor_store.delete(tx, project_id=subject.project_id, subject_id=subject.id)


async def move(tx: Transaction, call: Call, survivor: Subject, loser: Subject) -> bool:
    """Replace the second factor and recovery codes of `survivor` by those of `loser`, who is merged into `survivor`.

    Returns False, and changes nothing, if `loser` has no second factor on.
    """
    factor = await get(tx, loser)
    if factor is None or factor.confirmed_at is None:
        return False
    secret = call.world.secrets.open(factor.secret, _context(loser))
    await delete(tx, survivor)
    await second_factor_store.move(
        tx,
        project_id=survivor.project_id,
        survivor=survivor.id,
        loser=loser.id,
        secret=call.world.secrets.seal(secret, _context(survivor)),
    )
    return True


# Developers and customers once had separate tables. Their contexts still differ, so that older rows can be decrypted.


def _context(subject: Subject) -> str:
    if subject.kind == "DEVELOPER":
        return f"developer-totp:{subject.id}"
    return f"totp:{subject.project_id}:{subject.id}"


def _recovery_hash(secrets: Secrets, subject: Subject, id: UUID, code: str) -> bytes:
    if subject.kind == "DEVELOPER":
        return secrets.digest("developer-recovery", f"{id}|{plain_recovery_code(code)}")
    return secrets.digest("recovery-code", f"{subject.project_id}|{id}|{plain_recovery_code(code)}")
