"""Step-up authentication: a signed-in customer authenticates again in the same session (RFC 9470).

`auth_time` of a session is the time at which its level (`acr`) was last proven. So a proof that is weaker than the
level of the session is not accepted, nor one that would not be enough to sign in: a customer with a second factor
proves that one. See docs/decisions/0157-step-up-proves-the-level-of-the-session.md.
"""

from dataclasses import dataclass
from typing import Literal

from msgspec.structs import replace

from postern.identity.customers import mailer, rules
from postern.identity.customers.authentication_levels import (
    MULTI_FACTOR,
    PHISHING_RESISTANT,
    SINGLE_FACTOR,
    acr_of,
    level_of,
)
from postern.identity.customers.challenge_payloads import StepUpCode
from postern.identity.customers.mailed_challenges import (
    ChallengeSent,
    CodeVerification,
    new_code,
    verify_code,
)
from postern.identity.customers.model import (
    CODE_LIFE,
    CUSTOMER,
    CustomerRefreshTokenInvalid,
    CustomerRow,
    CustomerSignInFailed,
    PasswordToCheck,
    SignInLocked,
    SixDigits,
)
from postern.identity.customers.passkeys import relying_party
from postern.identity.customers.requirements import (
    SignInRequirement,
    meets_rules,
    meets_sso_requirement,
    requirement_of,
)
from postern.identity.customers.sessions import bearer_of, customer_of, lock_calling_customer
from postern.identity.customers.sign_in import ATTEMPTS, project_of_call, require_password
from postern.identity.customers.tokens import HOOK_PROBLEMS, SESSIONS, SteppedUpSession, issue_after_step_up
from postern.identity.customers.totp import RecoveryCode, require_second_factor
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call, CredentialInvalid
from postern.kernel.http.operation import get, post
from postern.kernel.http.problems import Forbidden, Invalid
from postern.kernel.limits import TooManyRequests
from postern.kernel.values import Body, Moment, Record
from postern.platform.events import operations as events
from postern.platform.projects.model import Project
from postern.security import challenges, passkeys, session_store
from postern.security.attempts import throttle
from postern.security.challenges import Challenge, CodeInvalid
from postern.security.mail_limits import throttle_mail
from postern.security.passkeys import PasskeyOptions, PasskeySignIn, RelyingParty, VerifiedAssertion
from postern.security.session_store import RefreshedSession, SessionRow
from postern.web.languages import text

StepUpMethod = Literal["PASSWORD", "EMAIL_CODE", "TOTP", "RECOVERY_CODE", "PASSKEY"]
METHODS_OF_LEVEL: dict[str, tuple[StepUpMethod, ...]] = {
    SINGLE_FACTOR: ("PASSWORD", "EMAIL_CODE", "TOTP", "RECOVERY_CODE", "PASSKEY"),
    MULTI_FACTOR: ("TOTP", "RECOVERY_CODE", "PASSKEY"),
    PHISHING_RESISTANT: ("PASSKEY",),
}
"""With which methods a session can get to a level, the weakest level first."""
STEP_UP = "/projects/{project_id}/auth/step-up"


class StepUpMethodNotAllowed(Forbidden):
    """This is not enough for this session. Use one of `methods` of `GET …/auth/step-up`; if it is empty, sign in
    again."""


class StepUpOptions(Record):
    """How a session can authenticate again."""

    acr: str
    """How strong the authentication of the session is: `urn:postern:single-factor`, `urn:postern:multi-factor` or
    `phr`."""
    authenticated_at: Moment
    """When the customer has last authenticated in this session: the claim `auth_time`."""
    methods: list[StepUpMethod]
    """What the session accepts; empty if the customer must sign in again instead."""
    acr_values: list[str]
    """The levels that the session can get to with these methods, the weakest first."""


class StepUp(Body):
    """One proof: exactly one of these fields."""

    password: PasswordToCheck | None = None
    email_code: CodeVerification | None = None
    """The code that `step-up/email-code` has mailed."""
    code: SixDigits | None = None
    """The code that the authenticator app shows."""
    recovery_code: RecoveryCode | None = None
    passkey: PasskeySignIn | None = None
    """The assertion for the options of `step-up/passkey-options`."""


METHODS_OF_FIELDS: dict[str, StepUpMethod] = {
    "password": "PASSWORD",
    "email_code": "EMAIL_CODE",
    "code": "TOTP",
    "recovery_code": "RECOVERY_CODE",
    "passkey": "PASSKEY",
}


@dataclass(frozen=True)
class CheckedProof:
    """A proof that was checked, but not used up."""

    methods: list[str]
    """Its authentication methods (RFC 8176)."""
    password_hash: str | None = None
    """The hash of the password that was checked."""
    assertion: VerifiedAssertion | None = None
    mailed: Challenge[StepUpCode] | None = None


@get(STEP_UP, accepts=CUSTOMER)
async def get_step_up_options(call: Call) -> StepUpOptions:
    """How you can authenticate again in this session, without signing in."""
    project = await project_of_call(call)
    session = await _session_of(call)
    methods = await step_up_methods(call.db, call, project, customer_of(call), session)
    return StepUpOptions(
        acr=level_of(session.methods),
        authenticated_at=session.authenticated_at,
        methods=methods,
        acr_values=[acr for acr, usable in METHODS_OF_LEVEL.items() if not set(usable).isdisjoint(methods)],
    )


@post(
    STEP_UP,
    accepts=CUSTOMER,
    problems=[
        *(StepUpMethodNotAllowed, CustomerSignInFailed, CodeInvalid, SignInLocked, TooManyRequests),
        *(CustomerRefreshTokenInvalid, *HOOK_PROBLEMS),
    ],
    example={"code": "123456"},
)
async def step_up(call: Call, data: StepUp) -> SteppedUpSession:
    """Authenticate again in this session, for what needs a recent or a stronger authentication.

    Returns an access token with the new `auth_time`, `acr` and `amr`; the refresh token stays valid. The limits on
    failures are those of a sign-in. A customer with a second factor, or a session that was begun with one, needs that:
    a password is not enough. With a code of the authenticator app, a session whose sign-in did not ask for it becomes
    `urn:postern:multi-factor`; with a passkey that verifies its user, any session becomes `phr`.
    """
    return await issue_after_step_up(call, await authenticate_again(call, data))


@post(
    f"{STEP_UP}/email-code",
    accepts=CUSTOMER,
    problems=[StepUpMethodNotAllowed, TooManyRequests],
)
async def request_step_up_code(call: Call) -> ChallengeSent:
    """Mail a code to your address, with which this session can authenticate again. It is valid for 10 minutes and 5
    tries."""
    project = await project_of_call(call)
    customer, session = customer_of(call), await _session_of(call)
    await _require_allowed(call.db, call, project, customer, session, "EMAIL_CODE")
    assert customer.email is not None
    assert customer.email_key is not None
    identifier = rules.address_hash(call.world.secrets, call.project_id, customer.email_key)
    await throttle_mail(call, mailer.MAIL_POLICY, "CODE", identifier, customer.email_key)
    code = new_code(call)
    async with call.db.transaction() as tx:
        challenge_id, expires_at = await challenges.issue(
            tx,
            call,
            StepUpCode(email=customer.email, key=customer.email_key, session_id=session.id),
            CODE_LIFE,
            code,
            subject_id=customer.id,
            identifier=identifier,
        )
        await mailer.enqueue_security_mail(tx, call, "CODE", customer.email, customer.id, customer.language, code=code)
    return ChallengeSent(challenge_id=challenge_id, expires_at=expires_at)


@post(f"{STEP_UP}/passkey-options", accepts=CUSTOMER, problems=[StepUpMethodNotAllowed])
async def begin_passkey_step_up(call: Call) -> PasskeyOptions:
    """Begin to authenticate again with one of your passkeys: pass `options` to `navigator.credentials.get`."""
    project = await project_of_call(call)
    customer, session = customer_of(call), await _session_of(call)
    await _require_allowed(call.db, call, project, customer, session, "PASSKEY")
    return await passkeys.begin_sign_in(call, _verifying_party(call, project), subject=customer.subject)


async def authenticate_again(call: Call, data: StepUp) -> RefreshedSession:
    """Check a proof and record it in the session of the calling customer. Returns the session.

    Raises Invalid, StepUpMethodNotAllowed, CustomerSignInFailed, CodeInvalid, SignInLocked and TooManyRequests, and
    CredentialInvalid if the session has ended.
    """
    throttle(call, ATTEMPTS)
    sent = [name for name in METHODS_OF_FIELDS if getattr(data, name) is not None]
    if len(sent) != 1:
        raise Invalid("Send exactly one of `password`, `emailCode`, `code`, `recoveryCode` and `passkey`.")
    method = METHODS_OF_FIELDS[sent[0]]
    project = await project_of_call(call)
    customer = customer_of(call)
    await _require_allowed(call.db, call, project, customer, await _session_of(call), method)
    checked = await _checked_proof(call, project, customer, data)
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        session = await session_store.session(tx, project_id=call.project_id, id=bearer_of(call)[1])
        assert session is not None
        # Once more, now that nothing can change: a second factor may have been turned on meanwhile.
        await _require_allowed(tx, call, project, customer, session, method)
        await _use_up(tx, call, project, customer, checked)
        return await _record(tx, call, customer, session, checked.methods)


async def step_up_methods(
    db: Queries, call: Call, project: Project, customer: CustomerRow, session: SessionRow
) -> list[StepUpMethod]:
    """What a session accepts as a proof."""
    enabled = project.settings.sign_in.methods
    required = await requirement_of(db, call.project_id, customer.id)
    level = MULTI_FACTOR if customer.mfa_enabled_at is not None else SINGLE_FACTOR
    own_level = level_of(session.methods)
    accepted = set(METHODS_OF_LEVEL[level]).intersection(METHODS_OF_LEVEL[own_level])
    methods: list[StepUpMethod] = []
    if "PASSWORD" in enabled and customer.password_hash is not None and _may_sign_in(project, required, "pwd"):
        methods.append("PASSWORD")
    if (
        "EMAIL_CODE" in enabled
        and customer.email is not None
        and customer.email_verified_at is not None
        and _may_sign_in(project, required, "otp")
    ):
        methods.append("EMAIL_CODE")
    if customer.mfa_enabled_at is not None:
        methods.extend(("TOTP", "RECOVERY_CODE"))
    if (
        "PASSKEY" in enabled
        and _may_sign_in(project, required, "hwk")
        and await passkeys.passkeys_of(db, customer.subject)
    ):
        methods.append("PASSKEY")
    return [method for method in methods if method in accepted]


def _may_sign_in(project: Project, required: SignInRequirement, method: str) -> bool:
    """Whether the project and the organizations of the customer allow a sign-in with a method (`amr`): who must use
    single sign-on cannot prove with a password that they still may."""
    return meets_sso_requirement(
        required, None, project_requires_sso=project.settings.sign_in.require_sso
    ) and meets_rules(required, [method], None)


def _verifying_party(call: Call, project: Project) -> RelyingParty:
    """The relying party for passkeys that must verify their user, which makes them a second factor."""
    return replace(relying_party(call, project), needs_user_verification=True)


async def _require_allowed(
    db: Queries, call: Call, project: Project, customer: CustomerRow, session: SessionRow, method: StepUpMethod
) -> None:
    """Raises StepUpMethodNotAllowed unless the session accepts the method."""
    methods = await step_up_methods(db, call, project, customer, session)
    if method not in methods:
        raise StepUpMethodNotAllowed(next=f"Use one of: {', '.join(methods)}." if methods else "Sign in again.")


async def _checked_proof(call: Call, project: Project, customer: CustomerRow, data: StepUp) -> CheckedProof:
    """Check the proof of a customer. Failures count like failed sign-ins."""
    if data.password is not None:
        return CheckedProof(["pwd"], password_hash=await require_password(call, customer, data.password))
    if data.email_code is not None:
        challenge = await verify_code(call, StepUpCode, data.email_code)
        if (challenge.subject_id, challenge.payload.session_id) != bearer_of(call):
            raise CodeInvalid
        return CheckedProof(["otp"], mailed=challenge)
    if data.passkey is not None:
        assertion = await passkeys.verify_sign_in(call, _verifying_party(call, project), data.passkey)
        if assertion is None or assertion.subject_id != customer.id:
            raise CustomerSignInFailed
        return CheckedProof(assertion.methods, assertion=assertion)
    return CheckedProof([await require_second_factor(call, customer.id, data.code, data.recovery_code)])


async def _use_up(tx: Transaction, call: Call, project: Project, customer: CustomerRow, checked: CheckedProof) -> None:
    """Use up a proof of the locked customer. Raises CustomerSignInFailed or CodeInvalid if it no longer holds."""
    if checked.password_hash is not None and customer.password_hash != checked.password_hash:
        raise CustomerSignInFailed
    if checked.assertion is not None and not await passkeys.consume_assertion(tx, call, checked.assertion):
        raise CustomerSignInFailed
    if checked.mailed is not None:
        await challenges.consume(tx, checked.mailed)
        if checked.mailed.payload.key != customer.email_key:
            raise CodeInvalid
    if "recovery" in checked.methods:
        await mailer.notify(tx, call, project, customer, "MFA_CHANGED", change=text("A recovery code was used"))


async def _record(
    tx: Transaction, call: Call, customer: CustomerRow, session: SessionRow, methods: list[str]
) -> RefreshedSession:
    """Record a new proof in the locked session."""
    renewed = await session_store.reauthenticate(
        tx,
        project_id=call.project_id,
        id=session.id,
        methods=list(dict.fromkeys([*session.methods, *methods])),
        now=call.now,
        subject=SESSIONS.subject,
    )
    await events.record(
        tx,
        call,
        "customer.stepped_up",
        customer.id,
        sessionId=str(session.id),
        methods=methods,
        acr=acr_of(renewed.methods),
        ipAddress=call.origin.ip,
    )
    return renewed


async def _session_of(call: Call) -> SessionRow:
    """The session of the calling customer. Raises CredentialInvalid if it was deleted meanwhile."""
    session = await session_store.session(call.db, project_id=call.project_id, id=bearer_of(call)[1])
    if session is None:
        raise CredentialInvalid
    return session
