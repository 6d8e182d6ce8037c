"""Operations with which customers reset and change their password, and verify and change their e-mail address."""

from collections.abc import Callable
from uuid import UUID

from postern.identity.customers import mailer, rules, store
from postern.identity.customers.address_proofs import verify_address
from postern.identity.customers.challenge_payloads import AddressVerification, PasswordResetLink, RememberedDevice
from postern.identity.customers.mailed_challenges import (
    CHALLENGE_ID_EXAMPLE,
    ChallengeSent,
    CodeVerification,
    EmailOnly,
    SignInLinkRequest,
    link_target,
    lock_mailed_customer,
    mail_challenge,
    new_code,
)
from postern.identity.customers.model import (
    CODE_LIFE,
    CUSTOMER,
    OTHER_ADDRESSES_LIMIT,
    RESET_LIFE,
    SIGN_IN_CALLERS,
    CustomerEmailTaken,
    CustomerRow,
    CustomerSignInFailed,
    MethodOff,
    Password,
    PasswordToCheck,
    PrimaryAddressUnverified,
    SignInLocked,
    Token,
    TooManyAddresses,
)
from postern.identity.customers.operations import (
    add_identity,
    add_other_address,
    clear_lockout,
    set_primary_email,
)
from postern.identity.customers.requirements import SsoRequired
from postern.identity.customers.sessions import (
    active_organization,
    bearer_of,
    customer_of,
    end_sessions,
    lock_calling_customer,
    require_fresh,
)
from postern.identity.customers.sign_in import ATTEMPTS, project_of_call, require_password
from postern.identity.customers.tokens import CurrentCustomer, me_of
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import post
from postern.kernel.http.problems import Invalid
from postern.kernel.limits import TooManyRequests
from postern.kernel.values import Body, as_id
from postern.platform.events import operations as events
from postern.platform.projects.model import Project
from postern.security import challenges
from postern.security.attempts import throttle
from postern.security.breaches import PasswordBreached
from postern.security.challenges import LINK_TRIES, CodeInvalid
from postern.security.mail_limits import throttle_mail
from postern.security.passwords import PasswordCommon, hash_password, require_acceptable
from postern.security.secrets import new_token
from postern.web.languages import text


class PasswordReset(Body):
    """The token from the mail and the new password."""

    token: Token
    password: Password


class CustomerPasswordChange(Body):
    """The current password, if there is one, and the new one."""

    current_password: PasswordToCheck | None = None
    new_password: Password


@post(
    "/projects/{project_id}/auth/password/forgot",
    accepts=SIGN_IN_CALLERS,
    problems=[SsoRequired, MethodOff, TooManyRequests],
    example={"email": "ada@example.com"},
)
async def request_password_reset(call: Call, data: SignInLinkRequest) -> None:
    """Send a link by mail with which a new password can be set within 30 minutes. Unknown addresses get the same
    response.

    Without `redirectUrl` the link leads to a hosted page.
    """
    throttle(call, ATTEMPTS)
    project = await project_of_call(call)
    rules.require_method(project, "PASSWORD")
    target = link_target(call, project, data.redirect_url, "reset")
    secret = new_token(32)
    await mail_challenge(
        call, project, data.email, PasswordResetLink, RESET_LIFE, secret, target=target, mail_unknown_addresses=False
    )


@post(
    "/projects/{project_id}/auth/password/reset",
    accepts=SIGN_IN_CALLERS,
    problems=[CodeInvalid, PasswordCommon, PasswordBreached, MethodOff],
    example={"token": "0199…", "password": "correct horse battery staple"},
)
async def reset_password(call: Call, data: PasswordReset) -> None:
    """Set a new password with the token from the mail, and mark the address as verified.

    All sessions end, and so does a lockout after wrong passwords. If this is the first verified address of the account,
    the second factor, passkeys and linked accounts are removed too, because another person may have added them. The
    customer is notified by mail.
    """
    throttle(call, ATTEMPTS, data.token)
    project = await project_of_call(call)
    rules.require_method(project, "PASSWORD")
    challenge = await challenges.answer_token(call, PasswordResetLink, data.token, max_tries=LINK_TRIES)
    await require_acceptable(call.world, data.password, challenge.payload.email, mailer.app_name(project))
    password_hash = await hash_password(data.password)
    async with call.db.transaction() as tx:
        customer = await lock_mailed_customer(tx, call, challenge)
        if customer is None:
            raise CodeInvalid
        await challenges.consume(tx, challenge)
        customer = await verify_address(tx, call, project, customer, challenge.payload.key)
        await _set_password(tx, call, project, customer, password_hash)
        await end_sessions(tx, call, customer.id)
        # The second factor stays locked: otherwise a person who can read the mail could guess codes without limit.
        await clear_lockout(tx, call, customer, second_factor=False)


@post(
    "/projects/{project_id}/auth/password/change",
    accepts=CUSTOMER,
    problems=[CustomerSignInFailed, SignInLocked, PasswordCommon, PasswordBreached],
    example={"currentPassword": "correct horse battery staple", "newPassword": "another horse battery staple"},
)
async def change_customer_password(call: Call, data: CustomerPasswordChange) -> None:
    """Change your password. All other sessions end, and you are notified by mail.

    To set a first password, you need a sign-in in the last hour instead of `currentPassword`.
    """
    project = await project_of_call(call)
    calling_customer = customer_of(call)
    checked_hash = None
    if calling_customer.password_hash is not None:
        checked_hash = await require_password(call, calling_customer, data.current_password or "")
    await require_acceptable(
        call.world, data.new_password, calling_customer.email, mailer.app_name(project), path="/newPassword"
    )
    password_hash = await hash_password(data.new_password)
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        if customer.password_hash != checked_hash:
            raise CustomerSignInFailed
        if customer.password_hash is None:
            await require_fresh(tx, call)
        await _set_password(tx, call, project, customer, password_hash)
        _, session_id = bearer_of(call)
        await end_sessions(tx, call, customer.id, except_session_id=session_id)


@post("/projects/{project_id}/auth/verify-email/send", accepts=CUSTOMER, problems=[TooManyRequests])
async def request_email_verification(call: Call) -> ChallengeSent:
    """Send a code to your e-mail address. `verify-email` takes the code and marks the address as verified."""
    customer = customer_of(call)
    if customer.email is None or customer.email_key is None:
        raise Invalid("This account has no address to verify.")
    return await mail_verification(call, customer, AddressVerification(email=customer.email, key=customer.email_key))


@post(
    "/projects/{project_id}/auth/email/change",
    accepts=CUSTOMER,
    problems=[TooManyRequests],
    example={"email": "ada@example.org"},
)
async def request_email_change(call: Call, data: EmailOnly) -> ChallengeSent:
    """Send a code to a new e-mail address. The account keeps the old address until `verify-email` gets the code.

    Needs a sign-in in the last hour.
    """
    address, key = rules.read_email(data.email)
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        await require_fresh(tx, call)
    return await mail_verification(call, customer, AddressVerification(email=address, key=key))


@post(
    "/projects/{project_id}/auth/verify-email",
    accepts=CUSTOMER,
    problems=[CodeInvalid, CustomerEmailTaken, PrimaryAddressUnverified, TooManyAddresses],
    example={"challengeId": CHALLENGE_ID_EXAMPLE, "code": "123456"},
)
async def verify_email(call: Call, data: CodeVerification) -> CurrentCustomer:
    """Verify an address with the code that was sent to it. The address becomes the primary one of your account, or a
    further one if `emails` has sent the code.

    If the primary address changes, the old one gets a notice. Only the customer who requested the code can use it.
    """
    project = await project_of_call(call)
    challenge = await challenges.answer(call, AddressVerification, as_id(data.challenge_id), data.code)
    customer_id, _ = bearer_of(call)
    if challenge is None or challenge.subject_id != customer_id:
        raise CodeInvalid
    address = challenge.payload
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        await challenges.consume(tx, challenge)
        holder = await store.lock_by_email(tx, project_id=call.project_id, email_key=address.key)
        if holder is not None and holder.id != customer.id:
            raise CustomerEmailTaken
        changed = customer.email_key != address.key
        if address.secondary and changed:
            await _add_secondary(tx, call, project, customer, address)
            return me_of(customer, active_organization(call))
        if changed:
            await mailer.notify(tx, call, project, customer, "EMAIL_CHANGED")
            await challenges.revoke(tx, call.project_id, customer.id, [RememberedDevice])
        customer = await set_primary_email(tx, call, customer, address.email, address.key, call.now)
        await events.record(tx, call, "customer.email_verified", customer.id, changed=changed)
    return me_of(customer, active_organization(call))


async def is_reset_open(call: Call, token: str) -> bool:
    """Whether the token of a reset link is still valid. Does not count as a try."""
    try:
        challenge_id, _ = challenges.split_token(token)
        challenge = await challenges.get(call, PasswordResetLink, challenge_id)
    except CodeInvalid:
        return False
    return challenge is not None and challenge.tries < LINK_TRIES


async def set_first_password(
    tx: Transaction,
    call: Call,
    project: Project,
    customer_id: UUID,
    password_hash: str,
    may_set: Callable[[CustomerRow], bool],
    verified_key: str | None,
) -> bool:
    """Store the first password of a customer, if `may_set` is true for the locked row. False if the customer has a
    password already, or it is not true.

    `verified_key` is the lookup key of the customer's address whose owner has the password, if that is known: it counts
    as verified then, which removes what another person may have added before (`verify_address`).
    """
    customer = await store.lock_customer(tx, project_id=call.project_id, id=customer_id)
    if customer is None or customer.password_hash is not None or not may_set(customer):
        return False
    if verified_key is not None:
        customer = await verify_address(tx, call, project, customer, verified_key)
    await _set_password(tx, call, project, customer, password_hash)
    return True


async def _set_password(
    tx: Transaction, call: Call, project: Project, customer: CustomerRow, password_hash: str
) -> None:
    """Store the hash, record the event, and notify the customer by mail. Ends no sessions."""
    await store.set_password(tx, project_id=call.project_id, id=customer.id, password_hash=password_hash, now=call.now)
    await add_identity(tx, call, customer, "PASSWORD")
    await events.record(tx, call, "customer.password_changed", customer.id)
    await mailer.notify(tx, call, project, customer, "PASSWORD_CHANGED")


async def _add_secondary(
    tx: Transaction, call: Call, project: Project, customer: CustomerRow, address: AddressVerification
) -> None:
    """Add a verified secondary address, or verify one that the customer has, and notify the customer by mail."""
    others = await store.other_addresses(tx, project_id=call.project_id, customer_ids=[customer.id])
    if any(row.email_key == address.key for row in others):
        await store.verify_other_address(
            tx, project_id=call.project_id, customer_id=customer.id, email_key=address.key, now=call.now
        )
    elif customer.email_verified_at is None:
        raise PrimaryAddressUnverified
    elif len(others) >= OTHER_ADDRESSES_LIMIT:
        raise TooManyAddresses
    else:
        await add_other_address(tx, call, customer.id, address.email, address.key, call.now)
    await events.record(tx, call, "customer.updated", customer.id, changed=["otherEmails"])
    change = text("The address {address} was added", address=address.email)
    await mailer.notify(tx, call, project, customer, "IDENTITY_CHANGED", change=change)


async def mail_verification(call: Call, customer: CustomerRow, address: AddressVerification) -> ChallengeSent:
    """Mail a code that verifies an address for this customer."""
    identifier = rules.address_hash(call.world.secrets, call.project_id, address.key)
    # Limits are looser in networks from which the customer has signed in before. The customer is found by the present
    # address; the verified one may be new.
    await throttle_mail(call, mailer.MAIL_POLICY, "VERIFY", identifier, customer.email_key or address.key)
    code = new_code(call)
    async with call.db.transaction() as tx:
        challenge_id, expires_at = await challenges.issue(
            tx,
            call,
            address,
            CODE_LIFE,
            code,
            subject_id=customer.id,
            identifier=identifier,
        )
        await mailer.enqueue_security_mail(tx, call, "VERIFY", address.email, customer.id, customer.language, code=code)
    return ChallengeSent(challenge_id=challenge_id, expires_at=expires_at)
