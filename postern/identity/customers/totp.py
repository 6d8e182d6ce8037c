"""The second factor: codes of an authenticator app (RFC 6238) and recovery codes."""

import base64
from typing import Annotated
from uuid import UUID

import msgspec

from postern.identity.customers import mailer, store
from postern.identity.customers.challenge_payloads import PendingEnrollment, PendingSecondFactor
from postern.identity.customers.model import (
    CUSTOMER,
    SIGN_IN_CALLERS,
    CustomerRow,
    MfaAlreadyOn,
    MfaOff,
    NotFresh,
    SignInBlocked,
    SignInLocked,
    SixDigits,
    Token,
)
from postern.identity.customers.operations import remove_second_factor, require_customer
from postern.identity.customers.requirements import MfaStillRequired, SsoRequired, requires_mfa
from postern.identity.customers.sessions import bearer_of, customer_of, end_sessions, locked_customer, require_fresh
from postern.identity.customers.sign_in import ATTEMPTS, complete_sign_in, project_at
from postern.identity.customers.tokens import CustomerSignInResult
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import post
from postern.kernel.values import Body, Record, as_seen
from postern.platform.events import operations as events
from postern.platform.projects.model import Project
from postern.security import challenges, second_factor, session_store
from postern.security.attempts import attempt_failed, attempt_succeeded, begin_attempt, throttle
from postern.security.challenges import Challenge, CodeInvalid
from postern.security.second_factor import UsedFactor
from postern.security.subjects import Subject
from postern.security.totp import RECOVERY_LENGTH, matching_step, totp_key, totp_uri

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
    async with call.db.transaction() as tx:
        person = await locked_customer(tx, call)
        await require_fresh(tx, call)
        secret = await second_factor.enrol(tx, call, person.subject)
        if secret is None:
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
    customer_id, session_id = bearer_of(call)
    enrolled = await second_factor.get(call.db, Subject(project_id=call.project_id, id=customer_id))
    if enrolled is None:
        raise MfaOff
    if enrolled.confirmed_at is not None:
        raise MfaAlreadyOn
    await _require_second_factor(call, customer_id, data.code, None)
    async with call.db.transaction() as tx:
        person = await locked_customer(tx, call)
        await require_fresh(tx, call)
        codes = await second_factor.confirm(tx, call, person.subject, enrolled)
        if codes is None:
            raise MfaAlreadyOn
        await _note_turned_on(tx, call, project, person, but=session_id)
        await session_store.add_method(tx, project_id=call.project_id, id=session_id, method="totp")
    return CustomerRecoveryCodes(codes=codes)


@post(
    "/projects/{project_id}/auth/mfa/enroll",
    accepts=SIGN_IN_CALLERS,
    problems=[CodeInvalid],
    example={"mfaToken": "0199…"},
)
async def begin_required_totp(call: Call, data: EnrollmentToken) -> TotpEnrolment:
    """Begin the second factor that a sign-in asked to set up (`mfaEnrollmentRequired`): show `uri` as a QR code.

    The same token always gives the same secret. It holds for ten minutes.
    """
    throttle(call, ATTEMPTS, data.mfa_token)
    project = await project_at(call)
    challenge = await challenges.answer_token(call, PendingEnrollment, data.mfa_token, most=ENROLLMENT_TRIES)
    person = await _pending_totp(call, challenge)
    secret = base64.b32decode(challenge.payload.totp_key)
    uri = totp_uri(secret, issuer=mailer.app_name(project), account=person.email or str(person.id))
    return TotpEnrolment(secret=totp_key(secret), uri=uri)


@post(
    "/projects/{project_id}/auth/mfa/enroll/confirm",
    accepts=SIGN_IN_CALLERS,
    problems=[CodeInvalid, MfaAlreadyOn, SignInLocked, SignInBlocked, SsoRequired],
    example={"mfaToken": "0199…", "code": "123456"},
    shows={"mfaToken": None},
)
async def confirm_required_totp(call: Call, data: EnrollmentProof) -> EnrolledSignIn:
    """Turn the second factor on with a first code, and finish signing in. Answers ten recovery codes as well.

    Sessions that began without it end, and so do other sign-ins that wait. The token works once.
    """
    throttle(call, ATTEMPTS, data.mfa_token)
    project = await project_at(call)
    challenge = await challenges.answer_token(call, PendingEnrollment, data.mfa_token, most=ENROLLMENT_TRIES)
    before, pending = await _pending_totp(call, challenge), challenge.payload
    secret = base64.b32decode(pending.totp_key)
    attempt = await begin_attempt(call, ATTEMPTS, call.project_id, before.second_factor_identifier)
    step = matching_step(secret, data.code, call.now)
    if step is None:
        await attempt_failed(call, attempt, subject_id=before.id, method="TOTP")
        raise CodeInvalid
    async with call.db.transaction() as tx:
        person = await store.lock_customer(tx, project_id=call.project_id, id=before.id)
        if person is None:
            raise CodeInvalid
        await challenges.consume(tx, challenge)
        codes = await second_factor.turn_on(tx, call, person.subject, secret, step)
        if codes is None:
            raise MfaAlreadyOn
        await attempt_succeeded(tx, attempt, call.now)
        await _note_turned_on(tx, call, project, person)
        person = await require_customer(tx, call.project_id, person.id)
        methods = [*pending.methods, "totp"]
        signed_in = await complete_sign_in(tx, call, project, person, methods, second_factor_done=True, origin=pending)
    return as_seen(EnrolledSignIn, signed_in, recovery_codes=codes)


@post(
    "/projects/{project_id}/auth/mfa/totp/disable",
    accepts=CUSTOMER,
    problems=[CodeInvalid, MfaOff, MfaStillRequired, SignInLocked],
    example={"code": "123456"},
)
async def disable_totp(call: Call, data: SecondFactorProof) -> None:
    """Turn the second factor off, with one more code of it or a recovery code. Not where one is required (409)."""
    project = await project_at(call)
    customer_id = await _require_turned_on(call)
    if await requires_mfa(call.db, call, project, customer_of(call)):
        raise MfaStillRequired
    await _require_second_factor(call, customer_id, data.code, data.recovery_code)
    async with call.db.transaction() as tx:
        person = await remove_second_factor(tx, call, await locked_customer(tx, call))
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
    await _require_second_factor(call, await _require_turned_on(call), data.code, None)
    async with call.db.transaction() as tx:
        person = await locked_customer(tx, call)
        codes = await second_factor.renew_recovery_codes(tx, call, person.subject)
        await mailer.notify(tx, call, project, person, "MFA_CHANGED", change="New recovery codes were made")
    return CustomerRecoveryCodes(codes=codes)


@post(
    "/projects/{project_id}/auth/mfa/verify",
    accepts=SIGN_IN_CALLERS,
    problems=[CodeInvalid, SignInLocked, SignInBlocked, SsoRequired],
    example={"mfaToken": "0199…", "code": "123456"},
    shows={"mfaToken": None},
)
async def verify_second_factor(call: Call, data: SecondFactorSignIn) -> CustomerSignInResult:
    """Finish signing in with the second factor. A code works once, also within its 30 seconds; five tries."""
    throttle(call, ATTEMPTS, data.mfa_token)
    project = await project_at(call)
    challenge = await challenges.answer_token(call, PendingSecondFactor, data.mfa_token)
    assert challenge.subject_id is not None
    used = await _require_second_factor(call, challenge.subject_id, data.code, data.recovery_code)
    async with call.db.transaction() as tx:
        person = await store.lock_customer(tx, project_id=call.project_id, id=challenge.subject_id)
        if person is None:
            raise CodeInvalid
        await challenges.consume(tx, challenge)
        if used == "recovery":
            await mailer.notify(tx, call, project, person, "MFA_CHANGED", change="A recovery code was used")
        pending = challenge.payload
        methods = [*pending.methods, used]
        return await complete_sign_in(tx, call, project, person, methods, second_factor_done=True, origin=pending)


async def is_enrollment(call: Call, mfa_token: str) -> bool:
    """Whether the token of a sign-in that waits asks to set up a second factor; asking uses nothing up."""
    try:
        return await challenges.get(call, PendingEnrollment, challenges.split_token(mfa_token)[0]) is not None
    except CodeInvalid:
        return False


async def _pending_totp(call: Call, challenge: Challenge[PendingEnrollment]) -> CustomerRow:
    """The customer whose sign-in waits for the answer to a challenge."""
    assert challenge.subject_id is not None
    return await require_customer(call.db, call.project_id, challenge.subject_id)


async def _note_turned_on(
    tx: Transaction, call: Call, project: Project, person: CustomerRow, *, but: UUID | None = None
) -> None:
    """Note that the second factor is on: all sessions except `but` end, and the customer is told by mail."""
    await store.set_mfa(tx, project_id=call.project_id, id=person.id, mfa_enabled_at=call.now, now=call.now)
    await end_sessions(tx, call, person.id, but=but)
    await events.record(tx, call, "customer.mfa_enabled", person.id, method="TOTP")
    await mailer.notify(tx, call, project, person, "MFA_CHANGED", change="A second factor was turned on")


async def _require_second_factor(
    call: Call, customer_id: UUID, code: str | None, recovery_code: str | None
) -> UsedFactor:
    """Use up a code of the app or a recovery code; failures count against the customer.

    Raises CodeInvalid and SignInLocked.
    """
    person = await require_customer(call.db, call.project_id, customer_id)
    attempt = await begin_attempt(call, ATTEMPTS, call.project_id, person.second_factor_identifier)
    async with call.db.transaction() as tx:
        used = await _use_second_factor(tx, call, person, code, recovery_code)
        if used is not None:
            await attempt_succeeded(tx, attempt, call.now)
            return used
    await attempt_failed(call, attempt, subject_id=customer_id, method="TOTP")
    raise CodeInvalid


async def _use_second_factor(
    tx: Transaction, call: Call, person: CustomerRow, code: str | None, recovery_code: str | None
) -> UsedFactor | None:
    if recovery_code is not None:
        merged = await store.merged_ids_of(tx, project_id=call.project_id, customer_id=person.id)
        return await second_factor.consume_code(tx, call, person.subject, recovery_code, former_ids=merged)
    return None if code is None else await second_factor.consume_code(tx, call, person.subject, code)


async def _require_turned_on(call: Call) -> UUID:
    """The id of the calling customer. Raises MfaOff without a second factor."""
    customer_id, _ = bearer_of(call)
    factor = await second_factor.get(call.db, Subject(project_id=call.project_id, id=customer_id))
    if factor is None or factor.confirmed_at is None:
        raise MfaOff
    return customer_id


async def move_second_factor(tx: Transaction, call: Call, survivor: CustomerRow, loser: CustomerRow) -> bool:
    """Move a merged customer's second factor to a survivor who has none. Returns whether there was one to move.

    Both rows are locked, and the merged customer's row still exists.
    """
    if survivor.mfa_enabled_at is not None or not await second_factor.move(tx, call, survivor.subject, loser.subject):
        return False
    await store.set_mfa(
        tx, project_id=call.project_id, id=survivor.id, mfa_enabled_at=loser.mfa_enabled_at, now=call.now
    )
    return True
