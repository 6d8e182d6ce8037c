"""Passkeys of customers (WebAuthn): register, list and remove them, and sign in with one."""

from urllib.parse import urlsplit
from uuid import UUID

from postern.identity.customers import mailer, store
from postern.identity.customers.model import (
    CUSTOMER,
    SIGN_IN_CALLERS,
    CustomerSignInFailed,
    MethodOff,
    NotFresh,
    SignInBlocked,
)
from postern.identity.customers.operations import add_identity
from postern.identity.customers.requirements import (
    LastSignInMethod,
    MfaStillRequired,
    SignInMethodNotAllowed,
    SsoRequired,
    reject_if_sso_required,
    require_another_sign_in_method,
    requires_mfa,
)
from postern.identity.customers.rules import require_method
from postern.identity.customers.sessions import bearer_of, customer_of, lock_calling_customer, require_fresh
from postern.identity.customers.sign_in import ATTEMPTS, complete_sign_in, project_of_call
from postern.identity.customers.tokens import HOOK_PROBLEMS, CustomerSignInResult, add_hook_claims
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, patch, post
from postern.messaging.certificates.pages_domains import pages_base_url
from postern.platform.events import operations as events
from postern.platform.projects.model import Project
from postern.security import passkeys
from postern.security.attempts import throttle
from postern.security.challenges import CodeInvalid
from postern.security.passkeys import (
    NEW_PASSKEY_EXAMPLE,
    PASSKEY_SIGN_IN_EXAMPLE,
    NewPasskey,
    Passkey,
    PasskeyChange,
    PasskeyMissing,
    PasskeyOptions,
    PasskeySignIn,
    RelyingParty,
    TooManyPasskeys,
)
from postern.web.languages import text


@post(
    "/projects/{project_id}/auth/passkeys/register/options",
    accepts=CUSTOMER,
    problems=[MethodOff, NotFresh, TooManyPasskeys],
)
async def begin_passkey_registration(call: Call) -> PasskeyOptions:
    """Begin to add a passkey: pass `options` to `navigator.credentials.create`. Needs a sign-in in the last hour."""
    project = await project_of_call(call)
    require_method(project, "PASSKEY")
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        await require_fresh(tx, call)
        account = customer.email or str(customer.id)
        return await passkeys.begin_registration(
            tx,
            call,
            customer.subject,
            relying_party(call, project),
            account=account,
            display_name=customer.name or account,
        )


@post(
    "/projects/{project_id}/auth/passkeys/register",
    accepts=CUSTOMER,
    status=201,
    problems=[CodeInvalid, NotFresh, TooManyPasskeys],
    example=NEW_PASSKEY_EXAMPLE,
)
async def add_passkey(call: Call, data: NewPasskey) -> Passkey:
    """Add the passkey that the browser created. Needs a sign-in in the last hour. The customer is notified by mail."""
    project = await project_of_call(call)
    customer_id, _ = bearer_of(call)
    registration = await passkeys.verify_registration(call, customer_id, relying_party(call, project), data)
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        await require_fresh(tx, call)
        passkey = await passkeys.add(tx, call, customer.subject, registration)
        await add_identity(tx, call, customer, "PASSKEY")
        await events.record(
            tx, call, "customer.passkey_added", customer.id, passkeyId=str(passkey.id), name=passkey.name
        )
        await mailer.notify(tx, call, project, customer, "MFA_CHANGED", change=text("A passkey was added"))
    return passkey


@get("/projects/{project_id}/auth/passkeys", accepts=CUSTOMER, restricted=True)
async def list_passkeys(call: Call) -> list[Passkey]:
    """The customer's passkeys, newest first."""
    return await passkeys.passkeys_of(call.db, customer_of(call).subject)


@patch(
    "/projects/{project_id}/auth/passkeys/{id}",
    accepts=CUSTOMER,
    problems=[PasskeyMissing],
    example={"name": "Work laptop"},
)
async def rename_passkey(call: Call, id: UUID, data: PasskeyChange) -> Passkey:
    """Change the name of a passkey."""
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        return await passkeys.rename(tx, customer.subject, id, data.name)


@delete(
    "/projects/{project_id}/auth/passkeys/{id}",
    accepts=CUSTOMER,
    problems=[PasskeyMissing, NotFresh, LastSignInMethod, MfaStillRequired],
)
async def remove_passkey(call: Call, id: UUID) -> None:
    """Remove a passkey. Needs a sign-in in the last hour, and another sign-in method.

    The last passkey cannot be removed (409) if a second factor is required and the customer has no other second factor.
    The customer is notified by mail.
    """
    project = await project_of_call(call)
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        await require_fresh(tx, call)
        await passkeys.remove(tx, customer.subject, id)
        if not await passkeys.passkeys_of(tx, customer.subject):
            if customer.mfa_enabled_at is None and await requires_mfa(tx, call, project, customer):
                raise MfaStillRequired
            await require_another_sign_in_method(tx, call, project, customer, "PASSKEY")
            await store.delete_identities(tx, project_id=call.project_id, customer_id=customer.id, provider="PASSKEY")
            await store.refresh_providers(tx, project_id=call.project_id, id=customer.id)
        await events.record(tx, call, "customer.passkey_removed", customer.id, passkeyId=str(id))
        await mailer.notify(tx, call, project, customer, "MFA_CHANGED", change=text("A passkey was removed"))


@post(
    "/projects/{project_id}/auth/passkeys/sign-in/options", accepts=SIGN_IN_CALLERS, problems=[SsoRequired, MethodOff]
)
async def begin_passkey_sign_in(call: Call) -> PasskeyOptions:
    """Begin to sign in with a passkey: pass `options` to `navigator.credentials.get`. No e-mail address is needed."""
    throttle(call, ATTEMPTS)
    project = await project_of_call(call)
    require_method(project, "PASSKEY")
    await reject_if_sso_required(call, project, None)
    return await passkeys.begin_sign_in(call, relying_party(call, project))


@post(
    "/projects/{project_id}/auth/passkeys/sign-in",
    accepts=SIGN_IN_CALLERS,
    problems=[
        *(CustomerSignInFailed, SignInBlocked, SsoRequired, SignInMethodNotAllowed, CodeInvalid, MethodOff),
        *HOOK_PROBLEMS,
    ],
    example=PASSKEY_SIGN_IN_EXAMPLE,
)
async def sign_in_with_passkey(call: Call, data: PasskeySignIn) -> CustomerSignInResult:
    """Sign in with a passkey. User verification (PIN, fingerprint, face) counts as the second factor."""
    throttle(call, ATTEMPTS)
    project = await project_of_call(call)
    require_method(project, "PASSKEY")
    assertion = await passkeys.verify_sign_in(call, relying_party(call, project), data)
    if assertion is None:
        raise CustomerSignInFailed
    async with call.db.transaction() as tx:
        customer = await store.lock_customer(tx, project_id=call.project_id, id=assertion.subject_id)
        if customer is None or not await passkeys.consume_assertion(tx, call, assertion):
            raise CustomerSignInFailed
        signed_in = await complete_sign_in(
            tx, call, project, customer, assertion.methods, second_factor_done=assertion.verified.user_verified
        )
    return await add_hook_claims(call, project.settings.sign_in.hooks, signed_in)


def relying_party(call: Call, project: Project) -> RelyingParty:
    """The WebAuthn relying party for the passkeys of a project's customers.

    Its id is the project's `passkeyDomain`, or else the host of this server. Its origins are that of the
    hosted pages, that of this server, and the project's `allowedOrigins`.
    """
    urls = (call.world.settings.public_url, pages_base_url(call.world, project.id))
    (server, pages), sign_in = map(urlsplit, urls), project.settings.sign_in
    return RelyingParty(
        id=sign_in.passkey_domain or server.hostname or "localhost",
        name=mailer.app_name(project),
        origins=[
            *dict.fromkeys(f"{url.scheme}://{url.netloc}" for url in (server, pages)),
            *sign_in.allowed_origins,
        ],
    )
