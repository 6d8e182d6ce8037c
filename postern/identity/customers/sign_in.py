"""How customers come in: signing up, passwords, codes and links by mail, and what follows a proof.

Answers never tell whether an address has an account (unless the project chose `verifyEmail: LATER`): known and
unknown people get the same status, the same body, and the same work done.
"""

import asyncio
import math
from datetime import timedelta
from typing import Any, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from postern.identity.customers import attempts, mailer, rules, store
from postern.identity.customers.challenge_payloads import (
    AddressVerification,
    MailedAddress,
    PasswordResetLink,
    PendingEnrollment,
    PendingSecondFactor,
    SignInCode,
    SignInLink,
    SignInOrigin,
    SignUp,
)
from postern.identity.customers.imported_hashes import check_any_password, refusal_seconds
from postern.identity.customers.invitation_check import may_sign_up
from postern.identity.customers.model import (
    CODE_LIFE,
    LINK_LIFE,
    MFA_LIFE,
    RESET_LIFE,
    RESET_TRIES,
    CustomerEmailTaken,
    CustomerRow,
    CustomerSignInFailed,
    CustomerSignUpClosed,
    EmailText,
    GivenPassword,
    MethodOff,
    Password,
    PersonName,
    SignInBlocked,
    SignInLocked,
    SixDigits,
    Token,
    Url,
)
from postern.identity.customers.operations import (
    add_identity,
    add_other_address,
    clear_lockout,
    insert_customer,
    remove_second_factor,
    set_primary_email,
)
from postern.identity.customers.requirements import SsoRequired, is_multi_factor, require_no_sso, require_permitted
from postern.identity.customers.sessions import (
    AT_THE_DOOR,
    CUSTOMER,
    CurrentCustomer,
    CustomerSignInResult,
    bearer_of,
    customer_of,
    end_sessions,
    locked_customer,
    me_of,
    require_fresh,
    start_session,
)
from postern.kernel.clock import Moment
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import post
from postern.kernel.http.problems import Invalid
from postern.kernel.limits import TooManyRequests
from postern.kernel.values import Body, Record, as_id
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.platform.projects.model import Project, SignInMethod
from postern.platform.projects.quotas import PlanLimitReached, require_quota
from postern.security import challenges, passkeys, session_store
from postern.security.breaches import PasswordBreached
from postern.security.challenges import Challenge, CodeInvalid
from postern.security.passwords import PasswordCommon, check_and_rehash, hash_password, require_acceptable
from postern.security.secrets import new_token
from postern.security.totp import new_totp_secret, totp_key

M = TypeVar("M", bound=MailedAddress)
ADA = {"email": "ada@example.com", "password": "correct horse battery staple"}
A_CHALLENGE = "01990000-0000-7000-8000-000000000000"


class CustomerSignUp(Body):
    """An account to begin. `password` may be left out where codes, links or passkeys are on."""

    email: EmailText
    password: Password | None = None
    name: PersonName | None = None


class PasswordSignIn(Body):
    """An address and its password."""

    email: EmailText
    password: GivenPassword


class ChallengeSent(Record):
    """Something was mailed, if there is somebody to mail it to. Send the code with `challengeId`."""

    challenge_id: UUID
    expires_at: Moment


class CustomerSignUpResult(CustomerSignInResult):
    """What signing up answers: what to verify, or the tokens of a session where that may wait."""

    challenge_id: UUID | None = None
    challenge_expires_at: Moment | None = None


class EmailOnly(Body):
    """An address."""

    email: EmailText


class SignInLinkRequest(Body):
    """An address, and where the link leads: one of the project's `redirectUrls` (the first, if left out)."""

    email: EmailText
    redirect_url: Url | None = None


class CodeVerification(Body):
    """The six digits from the mail, and what they answer."""

    challenge_id: str
    code: SixDigits


class CodeResend(Body):
    """What the code answers that did not arrive."""

    challenge_id: str


class LinkVerification(Body):
    """The token from a link."""

    token: Token


class PasswordReset(Body):
    """The token from the mail, and the new password."""

    token: Token
    password: Password


class CustomerPasswordChange(Body):
    """The present password (where there is one) and the new one."""

    current_password: GivenPassword | None = None
    new_password: Password


@post(
    "/projects/{project_id}/auth/sign-up",
    accepts=AT_THE_DOOR,
    status=201,
    problems=[
        *(
            CustomerSignUpClosed,
            SsoRequired,
            MethodOff,
            PasswordCommon,
            PasswordBreached,
            CustomerEmailTaken,
            TooManyRequests,
        ),
        PlanLimitReached,
    ],
    example={**ADA, "name": "Ada"},
)
async def sign_up_customer(call: Call, data: CustomerSignUp) -> CustomerSignUpResult:
    """Begin an account: a code is mailed, and `sign-up/verify` finishes it.

    An address that has an account gets the same answer and a mail that says so. Where the project verifies
    addresses later, the answer has the tokens of a session, and a taken address is 409.
    """
    attempts.throttle(call)
    project = await project_at(call)
    settings = project.settings.sign_in
    spec, key = rules.read_email(data.email)
    await require_no_sso(call, project, key)
    if not await may_sign_up(call.db, call, project, key):
        raise CustomerSignUpClosed
    # Asked of known and unknown addresses alike, so that the answer tells nobody which one this is.
    await require_quota(call.db, call, "customers")
    if data.password is not None:
        require_method(project, "PASSWORD")
        await require_acceptable(call.world, data.password, data.email, mailer.app_name(project))
    elif settings.methods == ["PASSWORD"]:
        raise Invalid.at("/password", "`password` is required.", "required")
    identifier = attempts.identifier_of(call.world.secrets, call.project_id, key)
    await attempts.throttle_mail(call, "SIGN_UP", identifier, key)
    password_hash = await hash_password(data.password) if data.password is not None else None
    if settings.verify_email == "LATER":
        return await _sign_up_at_once(call, project, spec, key, password_hash, data.name)
    sign_up = SignUp(email=spec, key=key, password_hash=password_hash, name=data.name)
    challenge_id, expires_at = await _mail_sign_up(call, identifier, sign_up)
    return CustomerSignUpResult(challenge_id=challenge_id, challenge_expires_at=expires_at)


@post(
    "/projects/{project_id}/auth/sign-up/resend",
    accepts=AT_THE_DOOR,
    problems=[CodeInvalid, CustomerSignUpClosed, SsoRequired, TooManyRequests],
    example={"challengeId": A_CHALLENGE},
)
async def resend_sign_up_code(call: Call, data: CodeResend) -> ChallengeSent:
    """Have another code mailed for a sign-up that was begun within ten minutes. The codes before it stay valid.

    Send the new code with the new `challengeId`. The limits of mails are those of `sign-up`.
    """
    attempts.throttle(call)
    project = await project_at(call)
    issued = await challenges.get(call, SignUp, as_id(data.challenge_id))
    if issued is None or issued.identifier is None:
        raise CodeInvalid
    sign_up = issued.payload
    await require_no_sso(call, project, sign_up.key)
    if not await may_sign_up(call.db, call, project, sign_up.key):
        raise CustomerSignUpClosed
    await attempts.throttle_mail(call, "SIGN_UP", issued.identifier, sign_up.key)
    challenge_id, expires_at = await _mail_sign_up(call, issued.identifier, sign_up)
    return ChallengeSent(challenge_id=challenge_id, expires_at=expires_at)


@post(
    "/projects/{project_id}/auth/sign-up/verify",
    accepts=AT_THE_DOOR,
    problems=[CodeInvalid, CustomerSignUpClosed, SsoRequired, PlanLimitReached],
    example={"challengeId": A_CHALLENGE, "code": "123456"},
)
async def verify_sign_up(call: Call, data: CodeVerification) -> CustomerSignInResult:
    """Finish signing up with the code from the mail, and sign in."""
    attempts.throttle(call, data.challenge_id)
    project = await project_at(call)
    challenge = await _answer_code(call, SignUp, data)
    sign_up = challenge.payload
    if not await may_sign_up(call.db, call, project, sign_up.key):
        raise CustomerSignUpClosed
    async with call.db.transaction() as tx:
        await challenges.consume(tx, challenge)
        person = await create_customer_row(
            tx,
            call,
            sign_up.email,
            sign_up.key,
            name=sign_up.name,
            password_hash=sign_up.password_hash,
            verified=True,
        )
        if person is None:
            raise CodeInvalid  # Somebody began an account with this address in the meantime.
        person = await add_identity(tx, call, person, "PASSWORD" if sign_up.password_hash else "EMAIL_CODE")
        await _proven_by_mail(tx, call, challenge, person)
        return await complete_sign_in(tx, call, project, person, ["pwd", "otp"] if sign_up.password_hash else ["otp"])


@post(
    "/projects/{project_id}/auth/sign-in",
    accepts=AT_THE_DOOR,
    problems=[CustomerSignInFailed, SignInLocked, SignInBlocked, SsoRequired, MethodOff, TooManyRequests],
    example=ADA,
)
async def sign_in_customer(call: Call, data: PasswordSignIn) -> CustomerSignInResult:
    """Sign in with address and password.

    Ten failures lock this address for this caller for 15 minutes, then longer. With a second factor on, the answer
    has `mfaRequired` and no tokens yet.
    """
    attempts.throttle(call)
    project = await project_at(call)
    require_method(project, "PASSWORD")
    _, key = rules.read_email(data.email)
    await require_no_sso(call, project, key)
    identifier = attempts.identifier_of(call.world.secrets, call.project_id, key)
    number = await attempts.begin_attempt(call, identifier)
    loop = asyncio.get_running_loop()
    began = loop.time()
    found = await store.find_by_email(call.db, project_id=call.project_id, email_key=key)
    password_hash = await _check_password(call, found, data.password)
    if found is None or password_hash is None:
        spent = loop.time() - began
        await attempts.attempt_failed(call, identifier, number, found.id if found else None, "PASSWORD")
        # A wrong password takes as long for an imported hash as for one of ours and for nobody's.
        schemes = await store.imported_schemes(call.db, project_id=call.project_id)
        if pause := await refusal_seconds([each.scheme for each in schemes]):
            await asyncio.sleep(pause * math.ceil(spent / pause) - spent)
        raise CustomerSignInFailed
    async with call.db.transaction() as tx:
        # The password was checked outside any lock: whoever changed it, or banned meanwhile, comes first.
        person = await store.lock_customer(tx, project_id=call.project_id, id=found.id)
        if person is None or person.password_hash != password_hash:
            raise CustomerSignInFailed
        forgives = found.matched_verified_at is not None and attempts.may_clear_attempts(person)
        await attempts.attempt_succeeded(tx, call, identifier, forgives=forgives)
        return await complete_sign_in(tx, call, project, person, ["pwd"])


@post(
    "/projects/{project_id}/auth/sign-in/code",
    accepts=AT_THE_DOOR,
    problems=[SsoRequired, MethodOff, TooManyRequests],
    example={"email": "ada@example.com"},
)
async def request_sign_in_code(call: Call, data: EmailOnly) -> ChallengeSent:
    """Have a six-digit code mailed: it holds for 10 minutes and 5 tries. Unknown addresses get the same answer.

    Codes asked for before stay valid beside it.

    Where strangers may sign up, a code sent to a new address begins an account.
    """
    attempts.throttle(call)
    project = await project_at(call)
    require_method(project, "EMAIL_CODE")
    code = six_digits(call)
    challenge_id, expires_at = await _mail_challenge(call, project, data.email, SignInCode, CODE_LIFE, code, code=code)
    return ChallengeSent(challenge_id=challenge_id, expires_at=expires_at)


@post(
    "/projects/{project_id}/auth/sign-in/code/verify",
    accepts=AT_THE_DOOR,
    problems=[CodeInvalid, SignInBlocked, SsoRequired, MethodOff, PlanLimitReached],
    example={"challengeId": A_CHALLENGE, "code": "123456"},
)
async def sign_in_with_code(call: Call, data: CodeVerification) -> CustomerSignInResult:
    """Sign in with the code from the mail; it works once."""
    attempts.throttle(call, data.challenge_id)
    project = await project_at(call)
    require_method(project, "EMAIL_CODE")
    challenge = await _answer_code(call, SignInCode, data)
    return await _sign_in_by_mail(call, project, challenge, "otp")


@post(
    "/projects/{project_id}/auth/sign-in/link",
    accepts=AT_THE_DOOR,
    problems=[SsoRequired, MethodOff, TooManyRequests],
    example={"email": "ada@example.com"},
)
async def request_sign_in_link(call: Call, data: SignInLinkRequest) -> None:
    """Have a link mailed that signs in once, within 15 minutes. Unknown addresses get the same answer."""
    attempts.throttle(call)
    project = await project_at(call)
    require_method(project, "EMAIL_LINK")
    target = _link_target(call, project, data.redirect_url, None)
    secret = new_token(32)
    await _mail_challenge(call, project, data.email, SignInLink, LINK_LIFE, secret, target=target)


@post(
    "/projects/{project_id}/auth/sign-in/link/verify",
    accepts=AT_THE_DOOR,
    problems=[CodeInvalid, SignInBlocked, SsoRequired, MethodOff, PlanLimitReached],
    example={"token": "0199…"},
)
async def sign_in_with_link(call: Call, data: LinkVerification) -> CustomerSignInResult:
    """Sign in with the token of a link. Only this uses the link up: opening it does not, so mail scanners may."""
    attempts.throttle(call, data.token)
    project = await project_at(call)
    require_method(project, "EMAIL_LINK")
    challenge = await challenges.answer_token(call, SignInLink, data.token)
    return await _sign_in_by_mail(call, project, challenge, "link")


@post(
    "/projects/{project_id}/auth/password/forgot",
    accepts=AT_THE_DOOR,
    problems=[SsoRequired, MethodOff, TooManyRequests],
    example={"email": "ada@example.com"},
)
async def request_password_reset(call: Call, data: SignInLinkRequest) -> None:
    """Have a link mailed that sets a new password, within 30 minutes. Unknown addresses get the same answer.

    Without `redirectUrl` it leads to a hosted page.
    """
    attempts.throttle(call)
    project = await project_at(call)
    require_method(project, "PASSWORD")
    target = _link_target(call, project, data.redirect_url, "reset")
    secret = new_token(32)
    await _mail_challenge(
        call, project, data.email, PasswordResetLink, RESET_LIFE, secret, target=target, strangers=False
    )


@post(
    "/projects/{project_id}/auth/password/reset",
    accepts=AT_THE_DOOR,
    problems=[CodeInvalid, PasswordCommon, PasswordBreached, MethodOff],
    example={"token": "0199…", "password": "correct horse battery staple"},
)
async def reset_password(call: Call, data: PasswordReset) -> None:
    """Set a new password with the token from the mail. All sessions and any lock-out end; sign in with the new one."""
    attempts.throttle(call, data.token)
    project = await project_at(call)
    require_method(project, "PASSWORD")
    challenge = await challenges.answer_token(call, PasswordResetLink, data.token, most=RESET_TRIES)
    await require_acceptable(call.world, data.password, challenge.payload.email, mailer.app_name(project))
    password_hash = await hash_password(data.password)
    async with call.db.transaction() as tx:
        person = await _mailed_customer(tx, call, challenge)
        if person is None:
            raise CodeInvalid
        await challenges.consume(tx, challenge)
        person = await prove_address(tx, call, project, person, challenge.payload.key)
        await _set_password(tx, call, project, person, password_hash)
        await end_sessions(tx, call, person.id)
        # Whoever reads the mail could otherwise guess second factors without end.
        await clear_lockout(tx, call, person, second_factor=False)


@post(
    "/projects/{project_id}/auth/password/change",
    accepts=CUSTOMER,
    problems=[CustomerSignInFailed, SignInLocked, PasswordCommon, PasswordBreached],
    example={"currentPassword": "correct horse battery staple", "newPassword": "another horse battery staple"},
)
async def change_customer_password(call: Call, data: CustomerPasswordChange) -> None:
    """Change the own password; all other sessions end. Without one so far, a sign-in within the hour is asked for."""
    project = await project_at(call)
    before = customer_of(call)
    proven = None
    if before.password_hash is not None:
        proven = await require_password(call, before, data.current_password or "")
    await require_acceptable(call.world, data.new_password, before.email, mailer.app_name(project), path="/newPassword")
    password_hash = await hash_password(data.new_password)
    async with call.db.transaction() as tx:
        person = await locked_customer(tx, call)
        if person.password_hash != proven:
            raise CustomerSignInFailed
        if person.password_hash is None:
            await require_fresh(tx, call)
        await _set_password(tx, call, project, person, password_hash)
        await end_sessions(tx, call, person.id, but=bearer_of(call)[1])


@post("/projects/{project_id}/auth/verify-email/send", accepts=CUSTOMER, problems=[TooManyRequests])
async def request_email_verification(call: Call) -> ChallengeSent:
    """Have a code mailed to the own address that proves it."""
    person = customer_of(call)
    if person.email is None or person.email_key is None:
        raise Invalid("This account has no address to verify.")
    return await _ask_to_verify(call, person, person.email, person.email_key)


@post(
    "/projects/{project_id}/auth/email/change",
    accepts=CUSTOMER,
    problems=[TooManyRequests],
    example={"email": "ada@example.org"},
)
async def request_email_change(call: Call, data: EmailOnly) -> ChallengeSent:
    """Have a code mailed to a new address; the account keeps the old one until `verify-email` has the code."""
    spec, key = rules.read_email(data.email)
    async with call.db.transaction() as tx:
        person = await locked_customer(tx, call)
        await require_fresh(tx, call)
    return await _ask_to_verify(call, person, spec, key)


@post(
    "/projects/{project_id}/auth/verify-email",
    accepts=CUSTOMER,
    problems=[CodeInvalid, CustomerEmailTaken],
    example={"challengeId": A_CHALLENGE, "code": "123456"},
)
async def verify_email(call: Call, data: CodeVerification) -> CurrentCustomer:
    """Prove an address with the code that was mailed to it.

    Only the customer who asked can: whoever merely receives the mail of somebody else's account proves nothing.
    """
    project = await project_at(call)
    challenge = await challenges.answer(call, AddressVerification, as_id(data.challenge_id), data.code)
    if challenge is None or challenge.subject_id != bearer_of(call)[0]:
        raise CodeInvalid
    asked = challenge.payload
    async with call.db.transaction() as tx:
        person = await locked_customer(tx, call)
        await challenges.consume(tx, challenge)
        holder = await store.lock_by_email(tx, project_id=call.project_id, email_key=asked.key)
        if holder is not None and holder.id != person.id:
            raise CustomerEmailTaken
        changed = person.email_key != asked.key
        if changed:
            await mailer.notify(tx, call, project, person, "EMAIL_CHANGED")
        person = await set_primary_email(tx, call, person, asked.email, asked.key, call.now)
        await events.record(tx, call, "customer.email_verified", person.id, changed=changed)
    return me_of(person)


# What follows a proof, whichever it was.


async def complete_sign_in(
    tx: Transaction,
    call: Call,
    project: Project,
    person: CustomerRow,
    methods: list[str],
    *,
    second_factor_done: bool = False,
    origin: SignInOrigin | None = None,
) -> CustomerSignInResult:
    """Sign in somebody who proved who they are, and whose row is locked: ban, what is required, second factor,
    session, event. Where a second factor is required and there is none, the answer asks to set one up.

    `origin` says how the sign-in began where that was in an earlier request.
    """
    origin = origin or SignInOrigin()
    until, sso_organization_id = origin.ends_at, origin.sso_organization_id
    if person.is_banned(call.now):
        raise SignInBlocked
    if until is not None and until <= call.now:
        raise CodeInvalid
    required = await require_permitted(tx, call, project, person, sso_organization_id=sso_organization_id)
    if person.mfa_enabled_at is not None and not second_factor_done:
        token, _ = await challenges.issue_token(
            tx,
            call,
            PendingSecondFactor(
                methods=methods, via=origin.via, until=origin.until, sso_organization_id=sso_organization_id
            ),
            MFA_LIFE,
            subject_id=person.id,
            identifier=person.identifier,
        )
        return CustomerSignInResult(mfa_required=True, mfa_token=token, mfa_methods=["TOTP", "RECOVERY_CODE"])
    if (required.mfa or project.settings.sign_in.require_mfa) and not is_multi_factor(methods):
        token, _ = await challenges.issue_token(
            tx,
            call,
            PendingEnrollment(
                methods=methods,
                totp_key=totp_key(new_totp_secret()),
                via=origin.via,
                until=origin.until,
                sso_organization_id=sso_organization_id,
            ),
            MFA_LIFE,
            subject_id=person.id,
            identifier=person.identifier,
        )
        return CustomerSignInResult(
            mfa_required=True, mfa_enrollment_required=True, mfa_token=token, mfa_methods=["TOTP"]
        )
    seen = await session_store.is_known_device(
        tx, project_id=call.project_id, subject_id=person.id, user_agent=call.origin.user_agent
    )
    signed_in = await start_session(tx, call, person, methods, until=until, sso_organization_id=sso_organization_id)
    event = events.make_event(
        call.project_id,
        "customer.signed_in",
        person.id,
        call.now,
        actor_type="CUSTOMER",
        actor_id=person.id,
        sessionId=str(signed_in.session_id),
        methods=methods,
        ipAddress=call.origin.ip,
        userAgent=call.origin.user_agent,
        **({"via": origin.via} if origin.via else {}),
    )
    await events.record_all(tx, [event])
    if seen.any and not seen.known:
        await mailer.notify(
            tx, call, project, person, "NEW_DEVICE", device=call.origin.user_agent[:200], ip=call.origin.ip
        )
    return signed_in


async def create_customer_row(
    tx: Transaction,
    call: Call,
    email: str | None,
    key: str | None,
    *,
    name: str | None,
    password_hash: str | None,
    verified: bool,
    method: str = "SIGN_UP",
) -> CustomerRow | None:
    """Make a customer who signed up; None if the address is taken. Raises PlanLimitReached."""
    await require_quota(tx, call, "customers")
    person = await insert_customer(
        tx,
        call,
        external_id=None,
        email=email,
        email_key=key,
        verified=verified,
        phone=None,
        name=name,
        metadata={},
        roles=[],
        password_hash=password_hash,
    )
    if person is not None:
        event = events.make_event(
            call.project_id,
            "customer.signed_up",
            person.id,
            call.now,
            actor_type="CUSTOMER",
            actor_id=person.id,
            method=method,
        )
        await events.record_all(tx, [event])
    return person


async def customer_by_email(tx: Transaction, call: Call, project: Project, email: str, email_key: str) -> CustomerRow:
    """The customer, locked, with an address at which somebody received mail; a new one if there is none.

    Raises CustomerEmailTaken where somebody else takes the address at the same moment, and PlanLimitReached.
    """
    person = await store.lock_by_email(tx, project_id=call.project_id, email_key=email_key)
    if person is not None:
        return await prove_address(tx, call, project, person, email_key)
    made = await create_customer_row(
        tx, call, email, email_key, name=None, password_hash=None, verified=True, method="INVITATION"
    )
    if made is None:
        raise CustomerEmailTaken
    return made


async def prove_address(
    tx: Transaction, call: Call, project: Project, person: CustomerRow, email_key: str
) -> CustomerRow:
    """Note that somebody received mail at one of a customer's addresses.

    If no address of theirs was ever proven before, whoever made the account may be somebody else: their password,
    sessions, second factor, passkeys and accounts elsewhere go first.
    """
    others = await store.other_addresses(tx, project_id=call.project_id, customer_ids=[person.id])
    other = next((each for each in others if each.email_key == email_key), None)
    if (person.email_verified_at if other is None else other.verified_at) is not None:
        return person
    was_proven = person.email_verified_at is not None or any(each.verified_at for each in others)
    if not was_proven:
        await revoke_credentials(tx, call, person)
    if other is None:
        assert person.email is not None
        person = await set_primary_email(tx, call, person, person.email, email_key, call.now)
    elif person.email_verified_at is not None:
        await store.verify_other_address(
            tx, project_id=call.project_id, customer_id=person.id, email_key=email_key, now=call.now
        )
        await mailer.notify(tx, call, project, person, "IDENTITY_CHANGED", change=f"{other.email} was confirmed")
    else:
        # The proven address becomes the primary one, and the one that nobody proved stays beside it.
        before, before_key = person.email, person.email_key
        person = await set_primary_email(tx, call, person, other.email, email_key, call.now)
        if before is not None and before_key is not None:
            await add_other_address(tx, call, person.id, before, before_key, None)
    await events.record(tx, call, "customer.email_verified", person.id, changed=False)
    return person


async def revoke_credentials(tx: Transaction, call: Call, person: CustomerRow) -> None:
    """Take every way in from an account whose address nobody ever proved."""
    await end_sessions(tx, call, person.id)
    await store.set_password(tx, project_id=call.project_id, id=person.id, password_hash=None, now=call.now)
    await remove_second_factor(tx, call, person)
    await passkeys.remove_all(tx, person.subject)
    await store.delete_identities(tx, project_id=call.project_id, customer_id=person.id, provider=None)
    await store.refresh_providers(tx, project_id=call.project_id, id=person.id)


async def project_at(call: Call) -> Project:
    """The project whose door this is. Raises ProjectMissing."""
    return await projects.require_project(call.db, call.project_id)


async def is_reset_open(call: Call, token: str) -> bool:
    """Whether the token of a reset link still works; asking uses nothing up."""
    try:
        challenge = await challenges.get(call, PasswordResetLink, challenges.split_token(token)[0])
    except CodeInvalid:
        return False
    return challenge is not None and challenge.tries < RESET_TRIES


def require_method(project: Project, method: SignInMethod) -> None:
    """Raises MethodOff."""
    if method not in project.settings.sign_in.methods:
        raise MethodOff


async def require_password(call: Call, person: CustomerRow, password: str) -> str:
    """Check the password of a signed-in customer again; failures count as those of signing in.

    Raises CustomerSignInFailed. Returns the stored hash: whoever acts on it compares it with that of the locked row.
    """
    identifier = person.identifier or person.id.bytes
    number = await attempts.begin_attempt(call, identifier)
    password_hash = await _check_password(call, person, password)
    if password_hash is None:
        await attempts.attempt_failed(call, identifier, number, person.id, "PASSWORD")
        raise CustomerSignInFailed("The current password is wrong.")
    async with call.db.transaction() as tx:
        await attempts.attempt_succeeded(tx, call, identifier, forgives=attempts.may_clear_attempts(person))
    return password_hash


async def _check_password(call: Call, person: CustomerRow | None, password: str) -> str | None:
    """The stored hash of a right password, renewed if it is outdated; None if the password is wrong."""

    async def replace_hash(before: str, renewed: str) -> bool:
        assert person
        return await store.replace_password_hash(
            call.db, project_id=call.project_id, id=person.id, password_hash=renewed, before=before
        )

    async def read_hash() -> str | None:
        assert person
        now = await store.get_customer(call.db, project_id=call.project_id, id=person.id)
        return now.password_hash if now else None

    before = person.password_hash if person else None
    return await check_and_rehash(password, before, check=check_any_password, replace=replace_hash, read=read_hash)


def require_redirect(project: Project, url: str) -> str:
    """Raises Invalid unless the project lists this address exactly."""
    if url not in project.settings.sign_in.redirect_urls:
        raise Invalid.at("/redirectUrl", "This address is not among the project's `redirectUrls`.", "not_allowed")
    return url


def six_digits(call: Call) -> str:
    """A code, from the operating system's chance."""
    return f"{call.world.random.randrange(1_000_000):06d}"


async def _mail_sign_up(call: Call, identifier: bytes, sign_up: SignUp) -> tuple[UUID, Moment]:
    """Mail the code that finishes a sign-up; the same is done, and another mail sent, for an address in use."""
    known = await store.find_by_email(call.db, project_id=call.project_id, email_key=sign_up.key)
    code = six_digits(call)
    async with call.db.transaction() as tx:
        challenge_id, expires_at = await challenges.issue(
            tx, call, sign_up, CODE_LIFE, code if known is None else new_token(), identifier=identifier
        )
        if known is None:
            await mailer.enqueue_security_mail(tx, call, "SIGN_UP", sign_up.email, code=code)
        else:
            await mailer.enqueue_security_mail(tx, call, "SIGN_UP_KNOWN", known.matched_email, known.id)
    return challenge_id, expires_at


async def _sign_up_at_once(
    call: Call, project: Project, spec: str, key: str, password_hash: str | None, name: str | None
) -> CustomerSignUpResult:
    async with call.db.transaction() as tx:
        person = await create_customer_row(tx, call, spec, key, name=name, password_hash=password_hash, verified=False)
        if person is None:
            raise CustomerEmailTaken
        if password_hash is not None:
            person = await add_identity(tx, call, person, "PASSWORD")
        signed_in = await complete_sign_in(tx, call, project, person, ["pwd"] if password_hash else [])
    fields: dict[str, Any] = {name: getattr(signed_in, name) for name in CustomerSignInResult.__struct_fields__}
    return CustomerSignUpResult(**fields)


async def _mail_challenge(
    call: Call,
    project: Project,
    email: str,
    kind: type[SignInCode | SignInLink | PasswordResetLink],
    life: timedelta,
    secret: str,
    *,
    code: str | None = None,
    target: str | None = None,
    strangers: bool = True,
) -> tuple[UUID, Moment]:
    """Store a challenge for an address and mail it; the same is done, and nothing sent, for unknown addresses."""
    purpose = challenges.purpose_of(kind)
    spec, key = rules.read_email(email)
    await require_no_sso(call, project, key)
    identifier = attempts.identifier_of(call.world.secrets, call.project_id, key)
    await attempts.throttle_mail(call, purpose, identifier, key)
    person = await store.find_by_email(call.db, project_id=call.project_id, email_key=key)
    open_to_all = await may_sign_up(call.db, call, project, key)
    welcome = person is not None or (strangers and open_to_all)
    async with call.db.transaction() as tx:
        challenge_id, expires_at = await challenges.issue(
            tx,
            call,
            kind(email=spec, key=key),
            life,
            secret if welcome else new_token(),
            subject_id=person.id if person else None,
            identifier=identifier,
        )
        values = {"code": code or ""}
        if target is not None:
            joint = "&" if "?" in target else "?"
            values["link"] = f"{target}{joint}{urlencode({'token': challenges.token_of(challenge_id, secret)})}"
        to = (person.matched_email if person else spec) if welcome else None
        await mailer.enqueue_security_mail(tx, call, purpose, to, person.id if person else None, **values)
    return challenge_id, expires_at


async def _answer_code(call: Call, kind: type[M], data: CodeVerification) -> Challenge[M]:
    """The challenge that a code answers. Raises CodeInvalid.

    No lock stands before it: a right code works within its tries whatever strangers do.
    """
    challenge_id = as_id(data.challenge_id)
    issued = await challenges.get(call, kind, challenge_id)
    if issued is None or issued.identifier is None:
        raise CodeInvalid
    challenge = await challenges.answer(call, kind, challenge_id, data.code)
    if challenge is None:
        await attempts.code_failed(call, issued.identifier, issued.subject_id)
        raise CodeInvalid
    return challenge


async def _sign_in_by_mail(call: Call, project: Project, challenge: Challenge[M], method: str) -> CustomerSignInResult:
    """Sign in whoever answered a challenge that was mailed; a new address begins an account."""
    async with call.db.transaction() as tx:
        person = await _mailed_customer(tx, call, challenge)
        await challenges.consume(tx, challenge)
        if person is None:
            mailed = challenge.payload
            if challenge.subject_id is not None or not await may_sign_up(tx, call, project, mailed.key):
                raise CodeInvalid
            person = await create_customer_row(
                tx, call, mailed.email, mailed.key, name=None, password_hash=None, verified=True
            )
            if person is None:
                raise CodeInvalid
        person = await prove_address(tx, call, project, person, challenge.payload.key)
        person = await add_identity(tx, call, person, "EMAIL_CODE")
        await _proven_by_mail(tx, call, challenge, person)
        return await complete_sign_in(tx, call, project, person, [method])


async def _mailed_customer(tx: Transaction, call: Call, challenge: Challenge[M]) -> CustomerRow | None:
    """The customer a challenge was mailed to, locked, if the address is still theirs.

    Locked before the challenge is used up: ending all sessions of a customer takes the two in this order.
    """
    if challenge.subject_id is None:
        return None
    person = await store.lock_customer(tx, project_id=call.project_id, id=challenge.subject_id)
    if person is None or not await is_address_of(tx, call, person, challenge.payload.key):
        raise CodeInvalid
    return person


async def is_address_of(tx: Transaction, call: Call, person: CustomerRow, email_key: str) -> bool:
    """Whether an address signs this customer in: the primary one, or one beside it."""
    if person.email_key == email_key:
        return True
    other = await store.other_address(tx, project_id=call.project_id, email_key=email_key)
    return other is not None and other.customer_id == person.id


async def is_proven_address_of(tx: Transaction, call: Call, person: CustomerRow, email_key: str) -> bool:
    """Whether an address signs this customer in and somebody proved to receive mail there."""
    if person.email_key == email_key:
        return person.email_verified_at is not None
    other = await store.other_address(tx, project_id=call.project_id, email_key=email_key)
    return other is not None and other.customer_id == person.id and other.verified_at is not None


async def _ask_to_verify(call: Call, person: CustomerRow, email: str, key: str) -> ChallengeSent:
    identifier = attempts.identifier_of(call.world.secrets, call.project_id, key)
    await attempts.throttle_mail(call, "VERIFY", identifier, person.email_key or key)
    code = six_digits(call)
    async with call.db.transaction() as tx:
        challenge_id, expires_at = await challenges.issue(
            tx,
            call,
            AddressVerification(email=email, key=key),
            CODE_LIFE,
            code,
            subject_id=person.id,
            identifier=identifier,
        )
        await mailer.enqueue_security_mail(tx, call, "VERIFY", email, person.id, code=code)
    return ChallengeSent(challenge_id=challenge_id, expires_at=expires_at)


async def _set_password(tx: Transaction, call: Call, project: Project, person: CustomerRow, password_hash: str) -> None:
    await store.set_password(tx, project_id=call.project_id, id=person.id, password_hash=password_hash, now=call.now)
    await add_identity(tx, call, person, "PASSWORD")
    await events.record(tx, call, "customer.password_changed", person.id)
    await mailer.notify(tx, call, project, person, "PASSWORD_CHANGED")


async def _proven_by_mail(tx: Transaction, call: Call, challenge: Challenge[M], person: CustomerRow) -> None:
    """Make up for failed attempts from this network with a proof that came by mail."""
    if challenge.identifier is not None and attempts.may_clear_attempts(person):
        await attempts.attempt_succeeded(tx, call, challenge.identifier, forgives=True)


def _link_target(call: Call, project: Project, redirect_url: str | None, page: str | None) -> str:
    """Where a mailed link leads: the app, or our own page for it."""
    if redirect_url is not None:
        return require_redirect(project, redirect_url)
    if page is not None:
        return f"{call.world.settings.public_url}/projects/{project.id}/auth/pages/{page}"
    known = project.settings.sign_in.redirect_urls
    if not known:
        raise Invalid.at("/redirectUrl", "The project has no `redirectUrls` that a link could lead to.", "required")
    return known[0]
