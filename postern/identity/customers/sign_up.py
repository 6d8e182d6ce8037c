"""Sign-up of customers: with a code sent to the address, or at once if the project verifies addresses later.

Responses do not reveal whether an address has an account, except with `verifyEmail: LATER`.
"""

from uuid import UUID

from postern.identity.customers import mailer, rules, store
from postern.identity.customers.address_proofs import register_customer
from postern.identity.customers.challenge_payloads import SignUp
from postern.identity.customers.mailed_challenges import (
    CHALLENGE_ID_EXAMPLE,
    ChallengeSent,
    CodeVerification,
    clear_failed_attempts,
    new_code,
    verify_code,
)
from postern.identity.customers.model import (
    CODE_LIFE,
    SIGN_IN_CALLERS,
    CustomerEmailTaken,
    CustomerSignUpClosed,
    EmailText,
    MethodOff,
    Password,
    PersonName,
    TermsNotAccepted,
)
from postern.identity.customers.operations import add_identity
from postern.identity.customers.requirements import (
    SignInMethodNotAllowed,
    SsoRequired,
    is_sign_up_open,
    reject_if_sso_required,
)
from postern.identity.customers.sign_in import ATTEMPTS, SIGN_IN_EXAMPLE, complete_sign_in, project_of_call
from postern.identity.customers.terms import check_acceptance, record_acceptance
from postern.identity.customers.tokens import HOOK_PROBLEMS, CustomerSignInResult, add_hook_claims
from postern.identity.hooks import calling as hooks
from postern.identity.hooks.model import HookFailed, HookRefused
from postern.kernel.http.call import Call
from postern.kernel.http.operation import post
from postern.kernel.http.problems import Invalid
from postern.kernel.limits import TooManyRequests
from postern.kernel.values import Body, Moment, as_id, build_view
from postern.platform.projects.model import Project, TermsVersion
from postern.platform.projects.quotas import PlanLimitReached, require_quota
from postern.security import challenges
from postern.security.attempts import throttle
from postern.security.breaches import PasswordBreached
from postern.security.challenges import CodeInvalid
from postern.security.mail_limits import throttle_mail
from postern.security.passwords import PasswordCommon, hash_password, require_acceptable
from postern.security.secrets import new_token
from postern.web.language_tags import LanguageTag


class CustomerSignUp(Body):
    """A new account. `password` may be omitted if the project offers codes, links or passkeys."""

    email: EmailText
    password: Password | None = None
    name: PersonName | None = None
    language: LanguageTag | None = None
    """The language that the person reads. Default: that of the request."""
    accepted_terms: TermsVersion | None = None
    """The version of the terms that the person has accepted. Required if the project's setting `requireTerms` is on."""


class CustomerSignUpResult(CustomerSignInResult):
    """The challenge to verify the address with, or (with `verifyEmail: LATER`) the tokens of a session."""

    challenge_id: UUID | None = None
    challenge_expires_at: Moment | None = None


class CodeResend(Body):
    """The challenge whose code did not arrive."""

    challenge_id: str


@post(
    "/projects/{project_id}/auth/sign-up",
    accepts=SIGN_IN_CALLERS,
    status=201,
    problems=[
        *(
            CustomerSignUpClosed,
            SsoRequired,
            SignInMethodNotAllowed,
            MethodOff,
            PasswordCommon,
            PasswordBreached,
            HookRefused,
            HookFailed,
            CustomerEmailTaken,
            TermsNotAccepted,
            TooManyRequests,
        ),
        PlanLimitReached,
    ],
    example={**SIGN_IN_EXAMPLE, "name": "Ada"},
)
async def sign_up_customer(call: Call, data: CustomerSignUp) -> CustomerSignUpResult:
    """Send a code to the address; `sign-up/verify` creates the account.

    If the address has an account, the response is the same, and the mail says that there is an account. With the
    project's setting `verifyEmail: LATER`, the account is created at once: the response has the tokens of a session,
    and is a 409 if the address has an account.
    """
    throttle(call, ATTEMPTS)
    project = await project_of_call(call)
    settings = project.settings.sign_in
    address, key = rules.read_email(data.email)
    await reject_if_sso_required(call, project, key)
    if not await is_sign_up_open(call.db, call, project, key):
        raise CustomerSignUpClosed
    accepted = check_acceptance(call, settings, data.accepted_terms)
    # Checked whether or not the address has an account, so that the response does not reveal it.
    await require_quota(call.db, call, "customers")
    if data.password is not None:
        rules.require_method(project, "PASSWORD")
        await require_acceptable(call.world, data.password, data.email, mailer.app_name(project))
    elif settings.methods == ["PASSWORD"]:
        raise Invalid.at("/password", "`password` is required.", "required")
    address_hash = rules.address_hash(call.world.secrets, call.project_id, key)
    await throttle_mail(call, mailer.MAIL_POLICY, "SIGN_UP", address_hash, key)
    answer = await hooks.before_sign_up(call, settings.hooks, email=address, name=data.name, method="SIGN_UP")
    name = answer.name or data.name
    password_hash = await hash_password(data.password) if data.password is not None else None
    sign_up = SignUp(
        email=address,
        key=key,
        password_hash=password_hash,
        name=name,
        metadata=answer.metadata,
        accepted_terms=accepted,
        language=data.language,
    )
    if settings.verify_email == "LATER":
        return await _sign_up_unverified(call, project, sign_up)
    challenge_id, expires_at = await _mail_sign_up(call, address_hash, sign_up)
    return CustomerSignUpResult(challenge_id=challenge_id, challenge_expires_at=expires_at)


@post(
    "/projects/{project_id}/auth/sign-up/resend",
    accepts=SIGN_IN_CALLERS,
    problems=[CodeInvalid, CustomerSignUpClosed, SsoRequired, TooManyRequests],
    example={"challengeId": CHALLENGE_ID_EXAMPLE},
)
async def resend_sign_up_code(call: Call, data: CodeResend) -> ChallengeSent:
    """Send another code for a sign-up of the last ten minutes. Earlier codes stay valid.

    Send the new code with the new `challengeId`. The limits on mails are those of `sign-up`.
    """
    throttle(call, ATTEMPTS)
    project = await project_of_call(call)
    issued = await challenges.get(call, SignUp, as_id(data.challenge_id))
    if issued is None or issued.identifier is None:
        raise CodeInvalid
    sign_up = issued.payload
    await reject_if_sso_required(call, project, sign_up.key)
    if not await is_sign_up_open(call.db, call, project, sign_up.key):
        raise CustomerSignUpClosed
    await throttle_mail(call, mailer.MAIL_POLICY, "SIGN_UP", issued.identifier, sign_up.key)
    challenge_id, expires_at = await _mail_sign_up(call, issued.identifier, sign_up)
    return ChallengeSent(challenge_id=challenge_id, expires_at=expires_at)


@post(
    "/projects/{project_id}/auth/sign-up/verify",
    accepts=SIGN_IN_CALLERS,
    problems=[CodeInvalid, CustomerSignUpClosed, SsoRequired, SignInMethodNotAllowed, PlanLimitReached, *HOOK_PROBLEMS],
    example={"challengeId": CHALLENGE_ID_EXAMPLE, "code": "123456"},
)
async def verify_sign_up(call: Call, data: CodeVerification) -> CustomerSignInResult:
    """Create the account with the code from the mail, and sign in. The code works once."""
    throttle(call, ATTEMPTS, data.challenge_id)
    project = await project_of_call(call)
    challenge = await verify_code(call, SignUp, data)
    sign_up = challenge.payload
    if not await is_sign_up_open(call.db, call, project, sign_up.key):
        raise CustomerSignUpClosed
    async with call.db.transaction() as tx:
        await challenges.consume(tx, challenge)
        customer = await register_customer(
            tx,
            call,
            sign_up.email,
            sign_up.key,
            name=sign_up.name,
            password_hash=sign_up.password_hash,
            verified=True,
            metadata=sign_up.metadata,
            language=sign_up.language,
        )
        if customer is None:
            raise CodeInvalid  # Another request has created an account with this address since.
        await record_acceptance(tx, call, customer, sign_up.accepted_terms)
        customer = await add_identity(tx, call, customer, "PASSWORD" if sign_up.password_hash else "EMAIL_CODE")
        await clear_failed_attempts(tx, call, challenge, customer)
        methods = ["pwd", "otp"] if sign_up.password_hash else ["otp"]
        signed_in = await complete_sign_in(tx, call, project, customer, methods)
    return await add_hook_claims(call, project.settings.sign_in.hooks, signed_in)


async def _mail_sign_up(call: Call, address_hash: bytes, sign_up: SignUp) -> tuple[UUID, Moment]:
    """Queue the mail with the code that completes a sign-up, and return the id and expiry time of its challenge.

    If the address has an account, the mail says so and has no code, and no code can complete the challenge.
    """
    holder = await store.find_by_email(call.db, project_id=call.project_id, email_key=sign_up.key)
    code = new_code(call)
    async with call.db.transaction() as tx:
        challenge_id, expires_at = await challenges.issue(
            tx, call, sign_up, CODE_LIFE, code if holder is None else new_token(), identifier=address_hash
        )
        if holder is None:
            await mailer.enqueue_security_mail(tx, call, "SIGN_UP", sign_up.email, code=code)
        else:
            await mailer.enqueue_security_mail(
                tx, call, "SIGN_UP_KNOWN", holder.matched_email, holder.id, holder.language
            )
    return challenge_id, expires_at


async def _sign_up_unverified(call: Call, project: Project, sign_up: SignUp) -> CustomerSignUpResult:
    async with call.db.transaction() as tx:
        customer = await register_customer(
            *(tx, call, sign_up.email, sign_up.key),
            name=sign_up.name,
            password_hash=sign_up.password_hash,
            verified=False,
            metadata=sign_up.metadata,
            language=sign_up.language,
        )
        if customer is None:
            raise CustomerEmailTaken
        await record_acceptance(tx, call, customer, sign_up.accepted_terms)
        if sign_up.password_hash is not None:
            customer = await add_identity(tx, call, customer, "PASSWORD")
        signed_in = await complete_sign_in(tx, call, project, customer, ["pwd"] if sign_up.password_hash else [])
    signed_in = await add_hook_claims(call, project.settings.sign_in.hooks, signed_in)
    return build_view(CustomerSignUpResult, signed_in, challenge_id=None, challenge_expires_at=None)
