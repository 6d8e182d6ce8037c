"""Operations on the second factor of customers: codes of an authenticator app (RFC 6238) and recovery codes."""

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
from postern.identity.customers.remembered_devices import remember_device
from postern.identity.customers.requirements import (
    MfaStillRequired,
    SignInMethodNotAllowed,
    SsoRequired,
    requirement_of,
    requires_mfa,
)
from postern.identity.customers.sessions import (
    bearer_of,
    customer_of,
    end_sessions,
    lock_calling_customer,
    require_fresh,
)
from postern.identity.customers.sign_in import ATTEMPTS, complete_sign_in, project_of_call, terms_to_accept
from postern.identity.customers.tokens import HOOK_PROBLEMS, CustomerSignInResult, add_hook_claims
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import post
from postern.kernel.values import Body, Record, build_view
from postern.platform.events import operations as events
from postern.platform.projects.model import Project
from postern.security import challenges, second_factor, session_store
from postern.security.attempts import throttle
from postern.security.challenges import Challenge, CodeInvalid
from postern.security.second_factor import UsedFactor
from postern.security.subjects import Subject
from postern.security.totp import RECOVERY_LENGTH, matching_step, totp_key, totp_uri
from postern.web.languages import text

ENROLLMENT_TRIES = 30
"""How many requests one enrollment token allows. There is no need for a lower limit against guessed codes: the holder
of the token can get the TOTP secret from `mfa/enroll`, and so knows the code."""
RecoveryCode = Annotated[str, msgspec.Meta(min_length=RECOVERY_LENGTH, max_length=RECOVERY_LENGTH + 8)]


class TotpEnrolment(Record):
    """The secret for an authenticator app; `uri` is the content of the QR code."""

    secret: str
    uri: str


class CustomerRecoveryCodes(Record):
    """Recovery codes. Each can be used once instead of a code of the authenticator app. They are shown only once."""

    codes: list[str]


class EnrollmentToken(Body):
    """The `mfaToken` that the sign-in returned."""

    mfa_token: Token


class EnrollmentProof(Body):
    """The `mfaToken` that the sign-in returned, and the code that the app shows."""

    mfa_token: Token
    code: SixDigits


class EnrolledSignIn(CustomerSignInResult):
    """The tokens of the session, and the recovery codes, which are shown only once."""

    recovery_codes: list[str]
    """Each can be used once instead of a code of the authenticator app."""


class TotpCode(Body):
    """The code that the app shows."""

    code: SixDigits


class SecondFactorSignIn(Body):
    """The `mfaToken` that the sign-in returned, and either a code of the authenticator app or a recovery code."""

    mfa_token: Token
    code: SixDigits | None = None
    recovery_code: RecoveryCode | None = None
    remember_device: bool = False
    """Whether not to ask for the second factor on this device again for the days that the project allows
    (`rememberedDeviceDays`)."""


class SecondFactorProof(Body):
    """A code of the authenticator app, or a recovery code."""

    code: SixDigits | None = None
    recovery_code: RecoveryCode | None = None


@post("/projects/{project_id}/auth/mfa/totp/enroll", accepts=CUSTOMER, problems=[MfaAlreadyOn, NotFresh])
async def enrol_totp(call: Call) -> TotpEnrolment:
    """Begin to set up a second factor: show `uri` as a QR code. `mfa/totp/confirm` turns it on with a first code.

    Needs a sign-in in the last hour.
    """
    project = await project_of_call(call)
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        await require_fresh(tx, call)
        secret = await second_factor.enrol(tx, call, customer.subject)
        if secret is None:
            raise MfaAlreadyOn
    return _enrolment(project, customer, secret)


@post(
    "/projects/{project_id}/auth/mfa/totp/confirm",
    accepts=CUSTOMER,
    problems=[CodeInvalid, MfaAlreadyOn, MfaOff, NotFresh, SignInLocked],
    example={"code": "123456"},
)
async def confirm_totp(call: Call, data: TotpCode) -> CustomerRecoveryCodes:
    """Turn the second factor on with a first code. Returns ten recovery codes. All other sessions end.

    Needs a sign-in in the last hour. The customer is notified by mail.
    """
    project = await project_of_call(call)
    customer_id, session_id = bearer_of(call)
    enrolled = await second_factor.get(call.db, Subject(project_id=call.project_id, id=customer_id))
    if enrolled is None:
        raise MfaOff
    if enrolled.confirmed_at is not None:
        raise MfaAlreadyOn
    await require_second_factor(call, customer_id, data.code, None)
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        await require_fresh(tx, call)
        codes = await second_factor.confirm(tx, call, customer.subject, enrolled)
        if codes is None:
            raise MfaAlreadyOn
        await _record_turned_on(tx, call, project, customer, except_session_id=session_id)
        await session_store.add_method(tx, project_id=call.project_id, id=session_id, method="totp")
    return CustomerRecoveryCodes(codes=codes)


@post(
    "/projects/{project_id}/auth/mfa/enroll",
    accepts=SIGN_IN_CALLERS,
    problems=[CodeInvalid],
    example={"mfaToken": "0199…"},
)
async def begin_required_totp(call: Call, data: EnrollmentToken) -> TotpEnrolment:
    """Begin to set up the second factor that a sign-in requires (`mfaEnrollmentRequired`): show `uri` as a QR code.

    The token is valid for ten minutes; repeated requests with it return the same secret.
    """
    throttle(call, ATTEMPTS, data.mfa_token)
    project = await project_of_call(call)
    challenge = await challenges.answer_token(call, PendingEnrollment, data.mfa_token, max_tries=ENROLLMENT_TRIES)
    customer = await _pending_customer(call, challenge)
    secret = base64.b32decode(challenge.payload.totp_key)
    return _enrolment(project, customer, secret)


@post(
    "/projects/{project_id}/auth/mfa/enroll/confirm",
    accepts=SIGN_IN_CALLERS,
    problems=[
        *(CodeInvalid, MfaAlreadyOn, SignInLocked, SignInBlocked, SsoRequired, SignInMethodNotAllowed),
        *HOOK_PROBLEMS,
    ],
    example={"mfaToken": "0199…", "code": "123456"},
    response_example={"mfaToken": None},
)
async def confirm_required_totp(call: Call, data: EnrollmentProof) -> EnrolledSignIn:
    """Turn the second factor on with a first code, and complete the sign-in. Also returns ten recovery codes.

    All other sessions and pending sign-ins end. The token works once.
    """
    throttle(call, ATTEMPTS, data.mfa_token)
    project = await project_of_call(call)
    challenge = await challenges.answer_token(call, PendingEnrollment, data.mfa_token, max_tries=ENROLLMENT_TRIES)
    pending_customer = await _pending_customer(call, challenge)
    if await terms_to_accept(call.db, call, project, pending_customer) is not None:
        # The project requires them since the sign-in began. They come before the set-up: begin again.
        async with call.db.transaction() as tx:
            await challenges.consume(tx, challenge)
        raise CodeInvalid
    pending = challenge.payload
    secret = base64.b32decode(pending.totp_key)

    async def check(_tx: Transaction) -> int | None:
        return matching_step(secret, data.code, call.now)

    step = await second_factor.try_code(call, ATTEMPTS, pending_customer.subject, check)
    if step is None:
        raise CodeInvalid
    async with call.db.transaction() as tx:
        customer = await store.lock_customer(tx, project_id=call.project_id, id=pending_customer.id)
        if customer is None:
            raise CodeInvalid
        await challenges.consume(tx, challenge)
        codes = await second_factor.turn_on(tx, call, customer.subject, secret, step)
        if codes is None:
            raise MfaAlreadyOn
        await _record_turned_on(tx, call, project, customer)
        customer = await require_customer(tx, call.project_id, customer.id)
        methods = [*pending.methods, "totp"]
        signed_in = await complete_sign_in(
            *(tx, call, project, customer, methods),
            second_factor_done=True,
            terms_checked=True,
            context=pending,
        )
    signed_in = await add_hook_claims(call, project.settings.sign_in.hooks, signed_in)
    return build_view(EnrolledSignIn, signed_in, recovery_codes=codes)


@post(
    "/projects/{project_id}/auth/mfa/totp/disable",
    accepts=CUSTOMER,
    problems=[CodeInvalid, MfaOff, MfaStillRequired, SignInLocked],
    example={"code": "123456"},
)
async def disable_totp(call: Call, data: SecondFactorProof) -> None:
    """Turn the second factor off with a code of the authenticator app or a recovery code.

    The response is 409 if the project or an organization requires a second factor. The customer is notified by mail.
    """
    project = await project_of_call(call)
    customer_id = await _require_turned_on(call)
    if await requires_mfa(call.db, call, project, customer_of(call)):
        raise MfaStillRequired
    await require_second_factor(call, customer_id, data.code, data.recovery_code)
    async with call.db.transaction() as tx:
        customer = await remove_second_factor(tx, call, await lock_calling_customer(tx, call))
        await events.record(tx, call, "customer.mfa_disabled", customer.id, method="TOTP")
        await mailer.notify(tx, call, project, customer, "MFA_CHANGED", change=text("The second factor was turned off"))


@post(
    "/projects/{project_id}/auth/recovery-codes",
    accepts=CUSTOMER,
    problems=[CodeInvalid, MfaOff, SignInLocked],
    example={"code": "123456"},
)
async def renew_recovery_codes(call: Call, data: TotpCode) -> CustomerRecoveryCodes:
    """Create ten new recovery codes. Earlier ones are no longer valid. The customer is notified by mail."""
    project = await project_of_call(call)
    await require_second_factor(call, await _require_turned_on(call), data.code, None)
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        codes = await second_factor.renew_recovery_codes(tx, call, customer.subject)
        await mailer.notify(tx, call, project, customer, "MFA_CHANGED", change=text("New recovery codes were created"))
    return CustomerRecoveryCodes(codes=codes)


@post(
    "/projects/{project_id}/auth/mfa/verify",
    accepts=SIGN_IN_CALLERS,
    problems=[CodeInvalid, SignInLocked, SignInBlocked, SsoRequired, SignInMethodNotAllowed, *HOOK_PROBLEMS],
    example={"mfaToken": "0199…", "code": "123456"},
    response_example={"mfaToken": None},
)
async def verify_second_factor(call: Call, data: SecondFactorSignIn) -> CustomerSignInResult:
    """Complete a sign-in with the second factor, in at most five tries.

    A code of the authenticator app works once, even within its 30 seconds. If a recovery code is used, the customer
    is notified by mail.
    """
    throttle(call, ATTEMPTS, data.mfa_token)
    project = await project_of_call(call)
    challenge = await challenges.answer_token(call, PendingSecondFactor, data.mfa_token)
    assert challenge.subject_id is not None
    used_factor = await require_second_factor(call, challenge.subject_id, data.code, data.recovery_code)
    async with call.db.transaction() as tx:
        customer = await store.lock_customer(tx, project_id=call.project_id, id=challenge.subject_id)
        if customer is None:
            raise CodeInvalid
        await challenges.consume(tx, challenge)
        if used_factor == "recovery":
            await mailer.notify(tx, call, project, customer, "MFA_CHANGED", change=text("A recovery code was used"))
        pending = challenge.payload
        methods = [*pending.methods, used_factor]
        signed_in = await complete_sign_in(
            tx, call, project, customer, methods, second_factor_done=True, context=pending
        )
        if data.remember_device:
            required = await requirement_of(tx, call.project_id, customer.id)
            device = await remember_device(tx, call, project, customer, required)
            if device is not None:
                token, expires_at = device
                signed_in = msgspec.structs.replace(
                    signed_in, remembered_device_token=token, remembered_device_expires_at=expires_at
                )
    return await add_hook_claims(call, project.settings.sign_in.hooks, signed_in)


def code_field_of(entered: str) -> dict[str, str]:
    """The field of SecondFactorProof for what a person has entered: six digits are a code of the app, everything else
    is a recovery code."""
    code = "".join(entered.split())
    return {"code": code} if code.isascii() and code.isdigit() and len(code) == 6 else {"recoveryCode": code}


async def pending_totp(call: Call) -> TotpEnrolment | None:
    """What `enrol_totp` has returned last to the calling customer; None if no set-up is open."""
    customer = customer_of(call)
    secret = await second_factor.pending_secret(call, customer.subject)
    return None if secret is None else _enrolment(await project_of_call(call), customer, secret)


async def is_enrollment(call: Call, mfa_token: str) -> bool:
    """Whether the token of a pending sign-in is one to set up a second factor. Does not count as a try."""
    try:
        challenge_id, _ = challenges.split_token(mfa_token)
        return await challenges.get(call, PendingEnrollment, challenge_id) is not None
    except CodeInvalid:
        return False


def _enrolment(project: Project, customer: CustomerRow, secret: bytes) -> TotpEnrolment:
    uri = totp_uri(secret, issuer=mailer.app_name(project), account=customer.email or str(customer.id))
    return TotpEnrolment(secret=totp_key(secret), uri=uri)


async def _pending_customer(call: Call, challenge: Challenge[PendingEnrollment]) -> CustomerRow:
    """The customer whose sign-in is pending."""
    assert challenge.subject_id is not None
    return await require_customer(call.db, call.project_id, challenge.subject_id)


async def _record_turned_on(
    tx: Transaction, call: Call, project: Project, customer: CustomerRow, *, except_session_id: UUID | None = None
) -> None:
    """Set `mfa_enabled_at`, end all other sessions than `except_session_id`, record the events, and notify the customer
    by mail."""
    await store.set_mfa(tx, project_id=call.project_id, id=customer.id, mfa_enabled_at=call.now, now=call.now)
    await end_sessions(tx, call, customer.id, except_session_id=except_session_id)
    await events.record(tx, call, "customer.mfa_enabled", customer.id, method="TOTP")
    await mailer.notify(tx, call, project, customer, "MFA_CHANGED", change=text("A second factor was turned on"))


async def require_second_factor(
    call: Call, customer_id: UUID, code: str | None, recovery_code: str | None
) -> UsedFactor:
    """Use up a code of the authenticator app or a recovery code. Failures count as attempts at the customer's second
    factor.

    Raises CodeInvalid and SignInLocked.
    """
    customer = await require_customer(call.db, call.project_id, customer_id)

    async def check(tx: Transaction) -> UsedFactor | None:
        if recovery_code is not None:
            # A recovery code is hashed with the id of its customer. The codes of a merged customer stay valid, so they
            # are checked with the id of that customer.
            merged_ids = await store.merged_ids_of(tx, project_id=call.project_id, customer_id=customer.id)
            return await second_factor.consume_code(tx, call, customer.subject, recovery_code, former_ids=merged_ids)
        return None if code is None else await second_factor.consume_code(tx, call, customer.subject, code)

    used_factor = await second_factor.try_code(call, ATTEMPTS, customer.subject, check)
    if used_factor is None:
        raise CodeInvalid
    return used_factor


async def _require_turned_on(call: Call) -> UUID:
    """Return the id of the calling customer. Raises MfaOff if no second factor is on."""
    customer_id, _ = bearer_of(call)
    factor = await second_factor.get(call.db, Subject(project_id=call.project_id, id=customer_id))
    if factor is None or factor.confirmed_at is None:
        raise MfaOff
    return customer_id


async def move_second_factor(tx: Transaction, call: Call, survivor: CustomerRow, loser: CustomerRow) -> bool:
    """Move the second factor of the merged customer `loser` to `survivor`, unless the survivor has one.

    Returns whether it was moved. Both rows must be locked, and that of `loser` not deleted yet. Records no event.
    """
    if survivor.mfa_enabled_at is not None or not await second_factor.move(tx, call, survivor.subject, loser.subject):
        return False
    await store.set_mfa(
        tx, project_id=call.project_id, id=survivor.id, mfa_enabled_at=loser.mfa_enabled_at, now=call.now
    )
    return True
