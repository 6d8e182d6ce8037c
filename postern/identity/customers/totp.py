"""The second factor: codes of an authenticator app (RFC 6238) and recovery codes."""

import base64
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from postern.identity.customers import challenge_store, challenges, mailer, store
from postern.identity.customers.challenge_store import Challenge, TotpSecret
from postern.identity.customers.model import (
    CodeInvalid,
    CustomerRow,
    MfaAlreadyOn,
    MfaOff,
    NotFresh,
    SignInBlocked,
    SignInLocked,
    SixDigits,
    Token,
)
from postern.identity.customers.operations import drop_mfa, require_customer
from postern.identity.customers.requirements import MfaStillRequired, SsoRequired, requires_mfa
from postern.identity.customers.sessions import (
    AT_THE_DOOR,
    CUSTOMER,
    CustomerSignInResult,
    bearer_of,
    customer_of,
    end_sessions,
    locked_customer,
    require_fresh,
)
from postern.identity.customers.sign_in import complete_sign_in, origin_of, project_at
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import post
from postern.kernel.values import Body, Record
from postern.platform.events import operations as events
from postern.platform.projects.model import Project
from postern.security import session_store
from postern.security.totp import (
    RECOVERY_LENGTH,
    matching_step,
    new_recovery_codes,
    new_totp_secret,
    plain_recovery_code,
    totp_key,
    totp_uri,
)

ENROLLMENT_TRIES = 30
"""How often one token may begin or confirm: whoever has it has the secret, and guesses nothing."""
RecoveryCode = Annotated[str, msgspec.Meta(min_length=RECOVERY_LENGTH, max_length=RECOVERY_LENGTH + 8)]


class TotpEnrolment(Record):
    """What an authenticator app needs; `uri` is the content of the QR code."""

    secret: str
    uri: str


class CustomerRecoveryCodes(Record):
    """Each signs in once instead of the second factor. They are shown this one time."""

    codes: list[str]


class EnrollmentToken(Body):
    """The token from signing in."""

    mfa_token: Token


class EnrollmentProof(Body):
    """The token from signing in, and what the new app shows."""

    mfa_token: Token
    code: SixDigits


class EnrolledSignIn(CustomerSignInResult):
    """The tokens of the session that began, and the recovery codes, which are shown this one time."""

    recovery_codes: list[str]
    """Each signs in once instead of the second factor."""


class TotpCode(Body):
    """What the app shows now."""

    code: SixDigits


class SecondFactorSignIn(Body):
    """The token from signing in, and either what the app shows or a recovery code."""

    mfa_token: Token
    code: SixDigits | None = None
    recovery_code: RecoveryCode | None = None


class SecondFactorProof(Body):
    """What the app shows, or a recovery code."""

    code: SixDigits | None = None
    recovery_code: RecoveryCode | None = None


@post("/projects/{project_id}/auth/mfa/totp/enroll", accepts=CUSTOMER, problems=[MfaAlreadyOn, NotFresh])
async def enrol_totp(call: Call) -> TotpEnrolment:
    """Begin a second factor: show `uri` as a QR code. It is on when `mfa/totp/confirm` has seen a first code."""
    project = await project_at(call)
    secret = new_totp_secret()
    async with call.db.transaction() as tx:
        person = await locked_customer(tx, call)
        await require_fresh(tx, call)
        sealed = call.world.secrets.seal(secret, _context(call, person.id))
        if not await challenge_store.enrol_totp(
            tx, project_id=call.project_id, customer_id=person.id, secret=sealed, now=call.now
        ):
            raise MfaAlreadyOn
    uri = totp_uri(secret, issuer=mailer.app_name(project), account=person.email or str(person.id))
    return TotpEnrolment(secret=totp_key(secret), uri=uri)


@post(
    "/projects/{project_id}/auth/mfa/totp/confirm",
    accepts=CUSTOMER,
    problems=[CodeInvalid, MfaAlreadyOn, MfaOff, NotFresh, SignInLocked],
    example={"code": "123456"},
)
async def confirm_totp(call: Call, data: TotpCode) -> CustomerRecoveryCodes:
    """Turn the second factor on with a first code. Answers ten recovery codes; other sessions end."""
    project = await project_at(call)
    before = await _totp_of(call, bearer_of(call)[0])
    if before is None:
        raise MfaOff
    if before.confirmed_at is not None:
        raise MfaAlreadyOn
    await _require_password_or_fresh(call, before.customer_id, data.code, None)
    session_id = bearer_of(call)[1]
    async with call.db.transaction() as tx:
        person = await locked_customer(tx, call)
        await require_fresh(tx, call)
        kept: dict[str, Any] = {"project_id": call.project_id, "customer_id": person.id, "secret": before.secret}
        if not await challenge_store.confirm_totp(tx, **kept, now=call.now):
            raise MfaAlreadyOn
        codes = await _turn_on(tx, call, project, person, but=session_id)
        await session_store.add_method(tx, project_id=call.project_id, id=session_id, method="totp")
    return CustomerRecoveryCodes(codes=codes)


@post(
    "/projects/{project_id}/auth/mfa/enroll",
    accepts=AT_THE_DOOR,
    problems=[CodeInvalid],
    example={"mfaToken": "0199…"},
)
async def begin_required_totp(call: Call, data: EnrollmentToken) -> TotpEnrolment:
    """Begin the second factor that a sign-in asked to set up (`mfaEnrollmentRequired`): show `uri` as a QR code.

    The same token always gives the same secret. It holds for ten minutes.
    """
    challenges.throttle(call, data.mfa_token)
    project = await project_at(call)
    challenge = await challenges.answer_token(call, "MFA_ENROLLMENT", data.mfa_token, most=ENROLLMENT_TRIES)
    person = await _pending_totp(call, challenge)
    secret = base64.b32decode(challenges.payload(call, challenge)["totpKey"])
    uri = totp_uri(secret, issuer=mailer.app_name(project), account=person.email or str(person.id))
    return TotpEnrolment(secret=totp_key(secret), uri=uri)


@post(
    "/projects/{project_id}/auth/mfa/enroll/confirm",
    accepts=AT_THE_DOOR,
    problems=[CodeInvalid, MfaAlreadyOn, SignInLocked, SignInBlocked, SsoRequired],
    example={"mfaToken": "0199…", "code": "123456"},
    shows={"mfaToken": None},
)
async def confirm_required_totp(call: Call, data: EnrollmentProof) -> EnrolledSignIn:
    """Turn the second factor on with a first code, and finish signing in. Answers ten recovery codes as well.

    Sessions that began without it end, and so do other sign-ins that wait. The token works once.
    """
    challenges.throttle(call, data.mfa_token)
    project = await project_at(call)
    challenge = await challenges.answer_token(call, "MFA_ENROLLMENT", data.mfa_token, most=ENROLLMENT_TRIES)
    before, said = await _pending_totp(call, challenge), challenges.payload(call, challenge)
    secret = base64.b32decode(said["totpKey"])
    identifier = challenges.second_factor_identifier(before)
    number = await challenges.begin_attempt(call, identifier)
    step = matching_step(secret, data.code, call.now)
    if step is None:
        await challenges.attempt_failed(call, identifier, number, before.id, "TOTP")
        raise CodeInvalid
    async with call.db.transaction() as tx:
        person = await store.lock_customer(tx, project_id=call.project_id, id=before.id)
        if person is None:
            raise CodeInvalid
        await challenges.consume(tx, challenge)
        sealed = call.world.secrets.seal(secret, _context(call, person.id))
        if not await challenge_store.put_totp(
            tx, project_id=call.project_id, customer_id=person.id, secret=sealed, step=step, now=call.now
        ):
            raise MfaAlreadyOn
        await challenges.attempt_succeeded(tx, call, identifier, forgives=True)
        codes = await _turn_on(tx, call, project, person)
        person = await require_customer(tx, call.project_id, person.id)
        methods = [*said["methods"], "totp"]
        signed_in = await complete_sign_in(
            tx, call, project, person, methods, second_factor_done=True, **origin_of(said)
        )
    fields: dict[str, Any] = {name: getattr(signed_in, name) for name in CustomerSignInResult.__struct_fields__}
    return EnrolledSignIn(**fields, recovery_codes=codes)


@post(
    "/projects/{project_id}/auth/mfa/totp/disable",
    accepts=CUSTOMER,
    problems=[CodeInvalid, MfaOff, MfaStillRequired, SignInLocked],
    example={"code": "123456"},
)
async def disable_totp(call: Call, data: SecondFactorProof) -> None:
    """Turn the second factor off, with one more code of it or a recovery code. Not where one is required (409)."""
    project = await project_at(call)
    before = await _totp_of(call, bearer_of(call)[0])
    if before is None or before.confirmed_at is None:
        raise MfaOff
    if await requires_mfa(call.db, call, project, customer_of(call)):
        raise MfaStillRequired
    await _require_password_or_fresh(call, before.customer_id, data.code, data.recovery_code)
    async with call.db.transaction() as tx:
        person = await drop_mfa(tx, call, await locked_customer(tx, call))
        await events.record(tx, call, "customer.mfa_disabled", person.id, method="TOTP")
        await mailer.notify(tx, call, project, person, "MFA_CHANGED", change="The second factor was turned off")


@post(
    "/projects/{project_id}/auth/recovery-codes",
    accepts=CUSTOMER,
    problems=[CodeInvalid, MfaOff, SignInLocked],
    example={"code": "123456"},
)
async def renew_recovery_codes(call: Call, data: TotpCode) -> CustomerRecoveryCodes:
    """Make ten new recovery codes; the old ones are worthless from now on."""
    project = await project_at(call)
    before = await _totp_of(call, bearer_of(call)[0])
    if before is None or before.confirmed_at is None:
        raise MfaOff
    await _require_password_or_fresh(call, before.customer_id, data.code, None)
    async with call.db.transaction() as tx:
        person = await locked_customer(tx, call)
        codes = await _new_recovery_codes(tx, call, person.id)
        await mailer.notify(tx, call, project, person, "MFA_CHANGED", change="New recovery codes were made")
    return CustomerRecoveryCodes(codes=codes)


@post(
    "/projects/{project_id}/auth/mfa/verify",
    accepts=AT_THE_DOOR,
    problems=[CodeInvalid, SignInLocked, SignInBlocked, SsoRequired],
    example={"mfaToken": "0199…", "code": "123456"},
    shows={"mfaToken": None},
)
async def verify_second_factor(call: Call, data: SecondFactorSignIn) -> CustomerSignInResult:
    """Finish signing in with the second factor. A code works once, also within its 30 seconds; five tries."""
    challenges.throttle(call, data.mfa_token)
    project = await project_at(call)
    challenge = await challenges.answer_token(call, "MFA", data.mfa_token)
    assert challenge.customer_id is not None
    used = await _require_password_or_fresh(call, challenge.customer_id, data.code, data.recovery_code)
    async with call.db.transaction() as tx:
        person = await store.lock_customer(tx, project_id=call.project_id, id=challenge.customer_id)
        if person is None:
            raise CodeInvalid
        await challenges.consume(tx, challenge)
        if used == "recovery":
            await mailer.notify(tx, call, project, person, "MFA_CHANGED", change="A recovery code was used")
        said = challenges.payload(call, challenge)
        methods = [*said["methods"], used]
        return await complete_sign_in(tx, call, project, person, methods, second_factor_done=True, **origin_of(said))


async def is_enrollment(call: Call, mfa_token: str) -> bool:
    """Whether the token of a sign-in that waits asks to set up a second factor; asking uses nothing up."""
    try:
        challenge_id, _ = challenges.split_token(mfa_token)
    except CodeInvalid:
        return False
    waits: dict[str, Any] = {"project_id": call.project_id, "id": challenge_id, "purpose": "MFA_ENROLLMENT"}
    return await challenge_store.get_challenge(call.db, **waits, now=call.now) is not None


async def _pending_totp(call: Call, challenge: Challenge) -> CustomerRow:
    """The customer whose sign-in waits for the answer to a challenge."""
    assert challenge.customer_id is not None
    return await require_customer(call.db, call.project_id, challenge.customer_id)


async def _turn_on(
    tx: Transaction, call: Call, project: Project, person: CustomerRow, *, but: UUID | None = None
) -> list[str]:
    """What follows a confirmed second factor: sessions but one end, the person is told, recovery codes are made."""
    await store.set_mfa(tx, project_id=call.project_id, id=person.id, mfa_enabled_at=call.now, now=call.now)
    codes = await _new_recovery_codes(tx, call, person.id)
    await end_sessions(tx, call, person.id, but=but)
    await events.record(tx, call, "customer.mfa_enabled", person.id, method="TOTP")
    await mailer.notify(tx, call, project, person, "MFA_CHANGED", change="A second factor was turned on")
    return codes


async def _require_password_or_fresh(
    call: Call, customer_id: UUID, code: str | None, recovery_code: str | None
) -> Literal["totp", "recovery"]:
    """Check one proof and use it up; failures count against the customer. Raises CodeInvalid, SignInLocked."""
    person = await require_customer(call.db, call.project_id, customer_id)
    identifier = challenges.second_factor_identifier(person)
    number = await challenges.begin_attempt(call, identifier)
    async with call.db.transaction() as tx:
        used = await _use_second_factor(tx, call, person, code, recovery_code)
        if used is not None:
            await challenges.attempt_succeeded(tx, call, identifier, forgives=True)
            return used
    await challenges.attempt_failed(call, identifier, number, customer_id, "TOTP")
    raise CodeInvalid


async def _use_second_factor(
    tx: Transaction, call: Call, person: CustomerRow, code: str | None, recovery_code: str | None
) -> Literal["totp", "recovery"] | None:
    if recovery_code is not None:
        # Codes that came with a merged customer keep the hash that names that customer.
        merged = await store.merged_into(tx, project_id=call.project_id, customer_id=person.id)
        hashes = [_recovery_hash(call, each, recovery_code) for each in (person.id, *merged)]
        if await challenge_store.use_recovery_code(
            tx,
            project_id=call.project_id,
            customer_id=person.id,
            hashes=hashes,
        ):
            return "recovery"
        return None
    kept = await challenge_store.totp(tx, project_id=call.project_id, customer_id=person.id)
    if kept is None or code is None:
        return None
    secret = call.world.secrets.open(kept.secret, _context(call, person.id))
    step = matching_step(secret, code, call.now, used=kept.used_step)
    if step is None or not await challenge_store.use_step(
        tx,
        project_id=call.project_id,
        customer_id=person.id,
        step=step,
    ):
        return None
    return "totp"


async def move_second_factor(tx: Transaction, call: Call, survivor: CustomerRow, loser: CustomerRow) -> bool:
    """Move a merged customer's second factor to a survivor who has none. Returns whether there was one to move.

    Both rows are locked, and the merged customer's row still exists.
    """
    kept = await challenge_store.totp(tx, project_id=call.project_id, customer_id=loser.id)
    if survivor.mfa_enabled_at is not None or kept is None or kept.confirmed_at is None:
        return False
    secret = call.world.secrets.open(kept.secret, _context(call, loser.id))
    await challenge_store.drop_totp(tx, project_id=call.project_id, customer_id=survivor.id)
    await challenge_store.drop_recovery_codes(tx, project_id=call.project_id, customer_id=survivor.id)
    await challenge_store.move_totp(
        tx,
        project_id=call.project_id,
        survivor=survivor.id,
        loser=loser.id,
        secret=call.world.secrets.seal(secret, _context(call, survivor.id)),
    )
    await challenge_store.move_recovery_codes(tx, project_id=call.project_id, survivor=survivor.id, loser=loser.id)
    await store.set_mfa(
        tx, project_id=call.project_id, id=survivor.id, mfa_enabled_at=loser.mfa_enabled_at, now=call.now
    )
    return True


async def _totp_of(call: Call, customer_id: UUID) -> TotpSecret | None:
    return await challenge_store.totp(call.db, project_id=call.project_id, customer_id=customer_id)


async def _new_recovery_codes(tx: Transaction, call: Call, customer_id: UUID) -> list[str]:
    codes = new_recovery_codes()
    await challenge_store.drop_recovery_codes(tx, project_id=call.project_id, customer_id=customer_id)
    await challenge_store.insert_recovery_codes(
        tx,
        project_id=call.project_id,
        customer_id=customer_id,
        hashes=[_recovery_hash(call, customer_id, code) for code in codes],
    )
    return codes


def _recovery_hash(call: Call, customer_id: UUID, code: str) -> bytes:
    text = f"{call.project_id}|{customer_id}|{plain_recovery_code(code)}"
    return call.world.secrets.digest("recovery-code", text)


def _context(call: Call, customer_id: UUID) -> str:
    return f"totp:{call.project_id}:{customer_id}"
