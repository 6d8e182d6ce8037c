"""Sign-in of customers with a password, or with a code or link sent by mail, and the steps that all methods share.

Responses do not reveal whether an address has an account: status, body and duration are the same for addresses with and
without an account.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from datetime import UTC, timedelta
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from postern.identity.customers import mailer, requirement_store, rules, store, terms_store
from postern.identity.customers.address_proofs import register_customer, verify_address
from postern.identity.customers.challenge_payloads import (
    DeniedSignIn,
    PendingEnrollment,
    PendingSecondFactor,
    PendingTerms,
    RememberedDevice,
    SignInCode,
    SignInContext,
    SignInLink,
)
from postern.identity.customers.devices import device_name
from postern.identity.customers.imported_hashes import check_imported, refusal_seconds
from postern.identity.customers.mailed_challenges import (
    CHALLENGE_ID_EXAMPLE,
    ChallengeSent,
    EmailOnly,
    M,
    SignInCodeVerification,
    SignInLinkRequest,
    clear_failed_attempts,
    link_target,
    lock_mailed_customer,
    mail_challenge,
    new_code,
    verify_code,
)
from postern.identity.customers.model import (
    CODE_LIFE,
    MFA_LIFE,
    SIGN_IN_ALERT_LIFE,
    SIGN_IN_CALLERS,
    SIGN_IN_LINK_LIFE,
    CustomerRow,
    CustomerSignInFailed,
    EmailText,
    MethodOff,
    PasswordToCheck,
    RequiredTerms,
    SignInBlocked,
    SignInLocked,
    Token,
)
from postern.identity.customers.operations import add_identity
from postern.identity.customers.remembered_devices import device_of_token, is_remembered
from postern.identity.customers.requirement_store import SignInRequirement
from postern.identity.customers.requirements import (
    SignInMethodNotAllowed,
    SsoRequired,
    check_rules,
    check_sso_requirement,
    is_multi_factor,
    is_sign_up_open,
    reject_for_organization,
    session_limits,
)
from postern.identity.customers.tokens import (
    HOOK_PROBLEMS,
    CustomerSignInResult,
    add_hook_claims,
    issue_first_tokens,
    start_session,
)
from postern.identity.hooks import calling as hooks
from postern.identity.hooks.model import SignUpAnswer
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call, ProjectMissing
from postern.kernel.http.operation import post
from postern.kernel.http.problems import Problem
from postern.kernel.http.scheduling import paused_request
from postern.kernel.limits import RateLimit, TooManyRequests
from postern.kernel.values import Body, Moment
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.platform.projects.model import Project
from postern.platform.projects.quotas import PlanLimitReached
from postern.security import challenges
from postern.security.attempts import Attempt, AttemptPolicy, attempt_failed, attempt_succeeded, begin_attempt, throttle
from postern.security.challenges import Challenge, CodeInvalid
from postern.security.passwords import check_and_rehash
from postern.security.secrets import new_token
from postern.security.totp import new_totp_secret, totp_key
from postern.web.languages import asked_language

MIGRATION_MARGIN_SECONDS = 0.1
"""How much longer than the time limit of the hook MIGRATION a failed sign-in takes, so that the end of a call that took
all of this time is not visible."""
MigrateCustomer = Callable[[Call, Project, UUID | None, str, str], Awaitable[tuple[UUID, str] | None]]
"""Ask the system that the project leaves about an address and a password. The third argument is the customer with the
address, who has no password; None if there is none. Returns the id of the customer and the stored hash of the password,
or None if the other system does not know them. Raises HookFailed and PlanLimitReached."""
SIGN_IN_ALERT_PAGE = "not-me"
"""The hosted page of the link in the notice about a new device."""
SIGN_IN_EXAMPLE = {"email": "ada@example.com", "password": "correct horse battery staple"}


async def _record_failure(
    tx: Transaction, call: Call, customer_id: UUID | None, method: str | None, locked: bool
) -> None:
    # Also recorded for unknown addresses, without a customer, so that the response takes the same time.
    event = "customer.locked" if locked else "customer.sign_in_failed"
    await events.record(tx, call, event, customer_id, method=method, ipAddress=call.origin.ip)


ATTEMPTS = AttemptPolicy(
    rate=RateLimit("sign-in", 30, timedelta(seconds=10)),
    max_failures=10,
    max_failures_all_networks=100,
    window=timedelta(hours=1),
    retention=timedelta(days=1),
    first_lock=timedelta(minutes=15),
    max_lock=timedelta(hours=1),
    locked=SignInLocked,
    record_failure=_record_failure,
)
"""Limits on attempts at passwords and second factors of customers."""


class PasswordSignIn(Body):
    """An e-mail address and its password."""

    email: EmailText
    password: PasswordToCheck
    remembered_device_token: Token | None = None
    """The `rememberedDeviceToken` that `mfa/verify` has returned on this device."""


class LinkVerification(Body):
    """The token of the link."""

    token: Token
    remembered_device_token: Token | None = None
    """The `rememberedDeviceToken` that `mfa/verify` has returned on this device."""


@post(
    "/projects/{project_id}/auth/sign-in",
    accepts=SIGN_IN_CALLERS,
    problems=[
        *(CustomerSignInFailed, SignInLocked, SignInBlocked, SsoRequired, SignInMethodNotAllowed, MethodOff),
        *(TooManyRequests, PlanLimitReached, *HOOK_PROBLEMS),
    ],
    example=SIGN_IN_EXAMPLE,
)
async def sign_in_customer(call: Call, data: PasswordSignIn) -> CustomerSignInResult:
    """Sign in with an e-mail address and a password.

    Ten failures lock the address for this network for 15 minutes, further ones for up to an hour. If a second factor is
    on, the response has `mfaRequired` and no tokens. If the address has no password here, the hook MIGRATION is asked.
    """
    throttle(call, ATTEMPTS)
    _, key = rules.read_email(data.email)
    domain = key.rpartition("@")[2]
    state = await requirement_store.password_sign_in_state(
        call.db, project_id=call.project_id, domain=domain, email_key=key
    )
    if state is None:
        raise ProjectMissing
    rules.require_method(state, "PASSWORD")
    await reject_for_organization(call, state, state.sso_organization_id, domain)
    identifier = rules.address_hash(call.world.secrets, call.project_id, key)
    attempt = await begin_attempt(call, ATTEMPTS, call.project_id, identifier)
    loop = asyncio.get_running_loop()
    began = loop.time()
    customer_id = state.customer_id
    password_hash = await _check_password(call, customer_id, state.password_hash, data.password)
    migrates = "MIGRATION" in state.settings.sign_in.hooks
    if migrates and password_hash is None and state.password_hash is None:
        try:
            migrated = await call.world.hooks.migrate_customer(call, state, customer_id, data.email, data.password)
        except Problem:
            # A failure of the other system is none of the customer.
            async with call.db.transaction() as tx:
                await attempt_succeeded(tx, attempt, call.now, clear_failures=False)
            raise
        if migrated is not None:
            customer_id, password_hash = migrated
    if customer_id is None or password_hash is None:
        if migrates:
            # Otherwise the duration would tell whether the other system was asked, and so whether the address has an
            # account here.
            limit = await hooks.time_limit(call, "MIGRATION") + MIGRATION_MARGIN_SECONDS
            with paused_request():
                await asyncio.sleep(max(0.0, limit - (loop.time() - began)))
        elapsed = loop.time() - began
        await attempt_failed(call, attempt, subject_id=customer_id, method="PASSWORD")
        # A failure must take equally long for an imported hash, a hash that this server made, and an unknown address.
        # So wait until `failure_seconds` have passed since the check began; if the check took longer, until the next
        # multiple of `failure_seconds`.
        schemes = await store.imported_schemes(call.db, project_id=call.project_id)
        if failure_seconds := await refusal_seconds([row.scheme for row in schemes]):
            with paused_request():
                await asyncio.sleep(failure_seconds * math.ceil(elapsed / failure_seconds) - elapsed)
        raise CustomerSignInFailed
    device = await device_of_token(call, data.remembered_device_token)
    async with call.db.transaction() as tx:
        # The password was checked without a lock. If it was changed meanwhile, the sign-in fails.
        locked_row = await requirement_store.record_password_sign_in(
            tx,
            project_id=call.project_id,
            id=customer_id,
            password_hash=password_hash,
            pending=state.settings.sign_in.require_mfa or state.settings.sign_in.require_terms,
            now=call.now,
        )
        if locked_row is None:
            raise CustomerSignInFailed
        # Both must be verified: the address of this sign-in, which may be a secondary one, and the primary address.
        succeeded: Attempt | None = attempt
        if state.matched_verified_at is None or not rules.may_clear_attempts(locked_row):
            await attempt_succeeded(tx, attempt, call.now, clear_failures=False)
            succeeded = None
        # The requirement depends on the customer's addresses. If they may have changed before the row was locked, it is
        # read again.
        required = locked_row.requirement if locked_row.updated_at == state.customer_updated_at else None
        result = await complete_sign_in(
            tx, call, state, locked_row, ["pwd"], required=required, succeeded=succeeded, device=device
        )
    return await add_hook_claims(call, state.settings.sign_in.hooks, result)


@post(
    "/projects/{project_id}/auth/sign-in/code",
    accepts=SIGN_IN_CALLERS,
    problems=[SsoRequired, MethodOff, TooManyRequests],
    example={"email": "ada@example.com"},
)
async def request_sign_in_code(call: Call, data: EmailOnly) -> ChallengeSent:
    """Send a six-digit code by mail. It is valid for 10 minutes and 5 tries. Unknown addresses get the same response.

    Earlier codes stay valid. If sign-up is open, a code for an unknown address creates an account.
    """
    throttle(call, ATTEMPTS)
    project = await project_of_call(call)
    rules.require_method(project, "EMAIL_CODE")
    code = new_code(call)
    challenge_id, expires_at = await mail_challenge(
        call, project, data.email, SignInCode, CODE_LIFE, secret=code, code=code
    )
    return ChallengeSent(challenge_id=challenge_id, expires_at=expires_at)


@post(
    "/projects/{project_id}/auth/sign-in/code/verify",
    accepts=SIGN_IN_CALLERS,
    problems=[
        *(CodeInvalid, SignInBlocked, SsoRequired, SignInMethodNotAllowed, MethodOff, PlanLimitReached),
        *HOOK_PROBLEMS,
    ],
    example={"challengeId": CHALLENGE_ID_EXAMPLE, "code": "123456"},
)
async def sign_in_with_code(call: Call, data: SignInCodeVerification) -> CustomerSignInResult:
    """Sign in with the code from the mail. It works once. Creates the account if sign-up is open.

    Marks the address as verified. If it is the first verified address of the account, the password, second factor,
    passkeys and linked accounts are removed, because another person may have added them.
    """
    throttle(call, ATTEMPTS, data.challenge_id)
    project = await project_of_call(call)
    rules.require_method(project, "EMAIL_CODE")
    challenge = await verify_code(call, SignInCode, data)
    device = await device_of_token(call, data.remembered_device_token)
    return await _sign_in_by_mail(call, project, challenge, "otp", device)


@post(
    "/projects/{project_id}/auth/sign-in/link",
    accepts=SIGN_IN_CALLERS,
    problems=[SsoRequired, MethodOff, TooManyRequests],
    example={"email": "ada@example.com"},
)
async def request_sign_in_link(call: Call, data: SignInLinkRequest) -> None:
    """Send a link by mail that signs in once, within 15 minutes. Unknown addresses get the same response.

    Earlier links stay valid. If sign-up is open, a link for an unknown address creates an account.
    """
    throttle(call, ATTEMPTS)
    project = await project_of_call(call)
    rules.require_method(project, "EMAIL_LINK")
    target = link_target(call, project, data.redirect_url, None)
    secret = new_token(32)
    await mail_challenge(call, project, data.email, SignInLink, SIGN_IN_LINK_LIFE, secret=secret, target=target)


@post(
    "/projects/{project_id}/auth/sign-in/link/verify",
    accepts=SIGN_IN_CALLERS,
    problems=[
        *(CodeInvalid, SignInBlocked, SsoRequired, SignInMethodNotAllowed, MethodOff, PlanLimitReached),
        *HOOK_PROBLEMS,
    ],
    example={"token": "0199…"},
)
async def sign_in_with_link(call: Call, data: LinkVerification) -> CustomerSignInResult:
    """Sign in with the token of a link. It works once. Creates the account if sign-up is open.

    Opening the link does not use up the token, because mail scanners open links. The effects on the account are those
    of `sign-in/code/verify`.
    """
    throttle(call, ATTEMPTS, data.token)
    project = await project_of_call(call)
    rules.require_method(project, "EMAIL_LINK")
    challenge = await challenges.answer_token(call, SignInLink, data.token)
    device = await device_of_token(call, data.remembered_device_token)
    return await _sign_in_by_mail(call, project, challenge, "link", device)


# The steps that all sign-in methods share.


async def complete_sign_in(
    tx: Transaction,
    call: Call,
    project: Project,
    customer: CustomerRow,
    methods: list[str],
    *,
    second_factor_done: bool = False,
    terms_checked: bool = False,
    context: SignInContext | None = None,
    required: SignInRequirement | None = None,
    succeeded: Attempt | None = None,
    device: Challenge[RememberedDevice] | None = None,
) -> CustomerSignInResult:
    """Sign in a customer who has been authenticated and whose row is locked.

    Checks the ban and the requirements, starts a session, records `customer.signed_in`, and notifies the customer of a
    new device. If a second factor is on (unless `second_factor_done`) or must be set up, the result has an MFA token
    instead of a session. It has a token for the terms instead, if the project requires that customers accept them
    (unless `terms_checked`) and this one has not accepted the current version.

    `methods` are the authentication methods so far (RFC 8176). `context` has data of an earlier request, in which
    the sign-in began. `required` are the requirements of the customer's organizations, if they were read already.
    The failures before the attempt `succeeded` are deleted. On a remembered `device` of the customer, a second factor
    that nobody requires is not asked for; it is not among the methods of the session then. Raises SignInBlocked,
    SsoRequired, SignInMethodNotAllowed, and CodeInvalid if `context.until` has passed.
    """
    context = context or SignInContext()
    until = None if context.until is None else Moment.fromtimestamp(context.until, UTC)
    if rules.is_banned(customer, call.now):
        raise SignInBlocked
    if until is not None and until <= call.now:
        raise CodeInvalid
    required = await check_sso_requirement(
        tx, call, project, customer, sso_organization_id=context.sso_organization_id, required=required
    )
    check_rules(required, methods, context.sso_organization_id)
    context_fields: dict[str, Any] = {name: getattr(context, name) for name in SignInContext.__struct_fields__}
    asks_second_factor = customer.mfa_enabled_at is not None and not second_factor_done
    if asks_second_factor and not await is_remembered(tx, call, project, customer, required, device):
        if succeeded is not None:
            await attempt_succeeded(tx, succeeded, call.now)
        token = await _issue_pending_token(tx, call, customer, PendingSecondFactor(**context_fields, methods=methods))
        return CustomerSignInResult(mfa_required=True, mfa_token=token, mfa_methods=["TOTP", "RECOVERY_CODE"])
    terms = None if terms_checked else await terms_to_accept(tx, call, project, customer)
    if terms is not None:
        if succeeded is not None:
            await attempt_succeeded(tx, succeeded, call.now)
        # The remembered device is not sent again with the acceptance.
        device_id = None if device is None else device.id
        pending_terms = PendingTerms(
            **context_fields, methods=methods, second_factor_done=second_factor_done, device_id=device_id
        )
        token = await _issue_pending_token(tx, call, customer, pending_terms)
        return CustomerSignInResult(terms_required=True, terms_token=token, terms=terms)
    if (required.mfa or project.settings.sign_in.require_mfa) and not is_multi_factor(methods):
        if succeeded is not None:
            await attempt_succeeded(tx, succeeded, call.now)
        pending = PendingEnrollment(**context_fields, methods=methods, totp_key=totp_key(new_totp_secret()))
        token = await _issue_pending_token(tx, call, customer, pending)
        return CustomerSignInResult(
            mfa_required=True, mfa_enrollment_required=True, mfa_token=token, mfa_methods=["TOTP"]
        )
    lifetime, idle = session_limits(required)
    if lifetime is not None:
        latest_end = Moment.of(call.now + lifetime)
        until = latest_end if until is None else min(until, latest_end)
    session = await start_session(
        tx,
        call,
        customer,
        methods,
        until=until,
        idle=idle,
        sso_organization_id=context.sso_organization_id,
        succeeded=succeeded,
    )
    is_new_device = session.has_sessions and not session.has_user_agent
    # Who signs in on a new device may be a stranger, who does not decide in which language the customer is told.
    if customer.language is None and not is_new_device and (language := asked_language(call)) is not None:
        customer = await store.set_profile(tx, replace(customer, language=language), now=call.now)
        await events.record(tx, call, "customer.updated", customer.id, changed=["language"])
    event = events.make_event_by(
        rules.caller_for(call, customer.id),
        call.project_id,
        "customer.signed_in",
        customer.id,
        call.now,
        sessionId=str(session.id),
        methods=methods,
        ipAddress=call.origin.ip,
        userAgent=call.origin.user_agent,
        **({"via": context.via} if context.via else {}),
    )
    has_reactions = await events.record_all(tx, [event])
    signed_in = await issue_first_tokens(tx, call, session, customer, choose_again=has_reactions)
    if is_new_device:
        await _alert(tx, call, project, customer, session.id)
    return signed_in


async def terms_to_accept(db: Queries, call: Call, project: Project, customer: CustomerRow) -> RequiredTerms | None:
    """The terms that a customer must accept before a session begins; None if there are none."""
    terms = rules.required_terms(project.settings.sign_in)
    if terms is None or await terms_store.has_accepted(
        db, project_id=call.project_id, customer_id=customer.id, version=terms.version
    ):
        return None
    return terms


async def _alert(tx: Transaction, call: Call, project: Project, customer: CustomerRow, session_id: UUID) -> None:
    """Notify the customer of a sign-in from a new device, with a link to deny it (`sign_in_alerts.py`)."""
    if not mailer.gets_notice(project, customer, "NEW_DEVICE"):
        return
    assert customer.email is not None
    assert customer.email_key is not None
    denied = DeniedSignIn(
        customer_id=customer.id,
        session_id=session_id,
        since=call.now.timestamp(),
        email=customer.email,
        key=customer.email_key,
        verified=customer.email_verified_at is not None,
    )
    token, _ = await challenges.issue_token(tx, call, denied, SIGN_IN_ALERT_LIFE)
    page = link_target(call, project, None, SIGN_IN_ALERT_PAGE)
    await mailer.notify(
        tx,
        call,
        project,
        customer,
        "NEW_DEVICE",
        device=device_name(call.origin.user_agent),
        ip=call.origin.ip,
        link=f"{page}?token={token}",
    )


async def _issue_pending_token(
    tx: Transaction,
    call: Call,
    customer: CustomerRow,
    pending: PendingSecondFactor | PendingEnrollment | PendingTerms,
) -> str:
    token, _ = await challenges.issue_token(
        tx, call, pending, MFA_LIFE, subject_id=customer.id, identifier=customer.identifier
    )
    return token


async def project_of_call(call: Call) -> Project:
    """The project in the path. Raises ProjectMissing."""
    return await projects.require_project(call.db, call.project_id)


async def require_password(call: Call, customer: CustomerRow, password: str) -> str:
    """Check the password of a signed-in customer again. Failures count like failed sign-ins.

    Returns the stored hash. The caller locks the customer's row later, and must then compare this hash with that of the
    row. Raises CustomerSignInFailed and SignInLocked.
    """
    identifier = customer.identifier or customer.id.bytes
    attempt = await begin_attempt(call, ATTEMPTS, call.project_id, identifier)
    password_hash = await _check_password(call, customer.id, customer.password_hash, password)
    if password_hash is None:
        await attempt_failed(call, attempt, subject_id=customer.id, method="PASSWORD")
        raise CustomerSignInFailed("The current password is wrong.")
    async with call.db.transaction() as tx:
        await attempt_succeeded(tx, attempt, call.now, clear_failures=rules.may_clear_attempts(customer))
    return password_hash


async def _check_password(call: Call, customer_id: UUID | None, password_hash: str | None, password: str) -> str | None:
    """The stored hash if the password is right, None if it is wrong. An imported or outdated hash is replaced first."""

    async def replace_hash(before: str, renewed: str) -> bool:
        assert customer_id
        return await store.replace_password_hash(
            call.db, project_id=call.project_id, id=customer_id, password_hash=renewed, before=before
        )

    async def read_hash() -> str | None:
        assert customer_id
        current = await store.get_customer(call.db, project_id=call.project_id, id=customer_id)
        return current.password_hash if current else None

    return await check_and_rehash(
        password, password_hash, check_imported=check_imported, replace=replace_hash, read=read_hash
    )


async def _sign_in_by_mail(
    call: Call, project: Project, challenge: Challenge[M], method: str, device: Challenge[RememberedDevice] | None
) -> CustomerSignInResult:
    """Sign in the owner of the address that a challenge was mailed to. Creates the account if sign-up is open."""
    answer = await _ask_before_sign_up(call, project, challenge, method)
    async with call.db.transaction() as tx:
        customer = await lock_mailed_customer(tx, call, challenge)
        await challenges.consume(tx, challenge)
        if customer is None:
            mailed = challenge.payload
            if challenge.subject_id is not None or not await is_sign_up_open(tx, call, project, mailed.key):
                raise CodeInvalid
            customer = await register_customer(
                tx,
                call,
                mailed.email,
                mailed.key,
                name=answer.name,
                password_hash=None,
                verified=True,
                metadata=answer.metadata,
            )
            if customer is None:
                raise CodeInvalid
        customer = await verify_address(tx, call, project, customer, challenge.payload.key)
        # Codes and links are the same kind of identity: both prove control of the address.
        customer = await add_identity(tx, call, customer, "EMAIL_CODE")
        await clear_failed_attempts(tx, call, challenge, customer)
        signed_in = await complete_sign_in(tx, call, project, customer, [method], device=device)
    return await add_hook_claims(call, project.settings.sign_in.hooks, signed_in)


async def _ask_before_sign_up(call: Call, project: Project, challenge: Challenge[M], method: str) -> SignUpAnswer:
    """The answer of the hook BEFORE_SIGN_UP, if the challenge is about to create an account."""
    mailed, active = challenge.payload, project.settings.sign_in.hooks
    if "BEFORE_SIGN_UP" not in active or challenge.subject_id is not None:
        return SignUpAnswer()
    if await store.find_by_email(call.db, project_id=call.project_id, email_key=mailed.key) is not None:
        return SignUpAnswer()
    sign_up_method = {"otp": "EMAIL_CODE", "link": "EMAIL_LINK"}[method]
    return await hooks.before_sign_up(call, active, email=mailed.email, name=None, method=sign_up_method)
