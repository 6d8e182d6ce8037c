"""“This was not me”: the link in the notice about a sign-in from a new device, and what it does.

Opening the link has no effect, because mail scanners open links. The button on the page ends all sessions, removes the
password and what was added since the sign-in, and shows the form for a new password.
"""

from urllib.parse import urlencode

from postern.identity.customers import rules, store
from postern.identity.customers.challenge_payloads import DeniedSignIn, PasswordResetLink
from postern.identity.customers.model import RESET_LIFE, CustomerRow
from postern.identity.customers.operations import remove_second_factor, set_primary_email
from postern.identity.customers.pages import hosted_page, page_form
from postern.identity.customers.sessions import end_sessions
from postern.identity.customers.sign_in import ATTEMPTS, SIGN_IN_ALERT_PAGE, project_of_call
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import RawRequest, get
from postern.kernel.http.responses import HttpResponse
from postern.platform.events import operations as events
from postern.platform.projects.model import Project
from postern.security import challenges, passkey_store
from postern.security.attempts import throttle
from postern.security.challenges import LINK_TRIES, Challenge, CodeInvalid
from postern.web.languages import text
from postern.web.pages import read_form

EXPIRED = text("This link was already used or has expired.")


@get(
    f"/projects/{{project_id}}/auth/pages/{SIGN_IN_ALERT_PAGE}",
    public=True,
    ignore_unknown_query=True,
    media_types=("text/html",),
)
async def denied_sign_in_page(call: Call, token: str = "") -> HttpResponse:
    """The page of the link “This was not me” in the notice about a new device. Opening it changes nothing."""
    if not await _is_open(call, token):
        return await _notice(call, EXPIRED)
    switch = f"/projects/{call.project_id}/auth/pages/{SIGN_IN_ALERT_PAGE}?{urlencode({'token': token})}"
    return await hosted_page(call, "not-me.html", None, token=token, switch_url=switch)


@page_form(SIGN_IN_ALERT_PAGE, [CodeInvalid])
async def deny_sign_in_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """End all sessions of a customer who did not sign in, and remove the password and what was added since: passkeys, a
    second factor, accounts at providers, a new address. Shows the form for a new password, if the customer had one."""
    token = (await read_form(request)).get("token", "")
    throttle(call, ATTEMPTS, token)
    project = await project_of_call(call)
    try:
        challenge = await challenges.answer_token(call, DeniedSignIn, token, max_tries=LINK_TRIES)
        reset = await _deny(call, project, challenge)
    except CodeInvalid:
        return await _notice(call, EXPIRED, status=401)
    if reset is None:
        return await _notice(call, text("All sessions were ended. Nobody is signed in to your account any more."))
    return await hosted_page(call, "reset-denied.html", None, token=reset)


async def _notice(call: Call, message: object, *, status: int = 200) -> HttpResponse:
    return await hosted_page(
        call, "notice.html", None, status=status, heading=text("New sign-in to your account"), message=message
    )


async def _is_open(call: Call, token: str) -> bool:
    try:
        challenge_id, _ = challenges.split_token(token)
        challenge = await challenges.get(call, DeniedSignIn, challenge_id)
    except CodeInvalid:
        return False
    return challenge is not None and challenge.tries < LINK_TRIES


async def _deny(call: Call, project: Project, challenge: Challenge[DeniedSignIn]) -> str | None:
    """Secure the account. Returns the token for a new password; None if the customer had no password.

    Raises CodeInvalid if the customer is deleted or the link was used meanwhile.
    """
    denied = challenge.payload
    async with call.db.transaction() as tx:
        customer = await store.lock_customer(tx, project_id=call.project_id, id=denied.customer_id)
        if customer is None:
            raise CodeInvalid
        await challenges.consume(tx, challenge)
        await end_sessions(tx, call, customer.id)
        await _remove_what_was_added(tx, call, customer, denied)
        event = events.make_event_by(
            rules.caller_for(call, customer.id),
            call.project_id,
            "customer.sign_in_denied",
            customer.id,
            call.now,
            sessionId=str(denied.session_id),
        )
        await events.record_all(tx, [event])
        if customer.password_hash is None:
            return None
        await store.set_password(tx, project_id=call.project_id, id=customer.id, password_hash=None, now=call.now)
        if "PASSWORD" not in project.settings.sign_in.methods:
            return None
        token, _ = await challenges.issue_token(
            tx,
            call,
            PasswordResetLink(email=denied.email, key=denied.key),
            RESET_LIFE,
            subject_id=customer.id,
            identifier=rules.address_hash(call.world.secrets, call.project_id, denied.key),
        )
        return token


async def _remove_what_was_added(tx: Transaction, call: Call, customer: CustomerRow, denied: DeniedSignIn) -> None:
    """Remove what whoever signed in may have added to keep access, and restore the address of the notice."""
    since, customer_key = denied.since, {"project_id": call.project_id, "subject_id": customer.id}
    for passkey in await passkey_store.of_subject(tx, **customer_key):
        if passkey.created_at.timestamp() >= since:
            await passkey_store.delete(tx, **customer_key, id=passkey.id)
    if customer.mfa_enabled_at is not None and customer.mfa_enabled_at.timestamp() >= since:
        await remove_second_factor(tx, call, customer)
    await store.delete_identities_since(tx, project_id=call.project_id, customer_id=customer.id, since=since)
    await store.refresh_providers(tx, project_id=call.project_id, id=customer.id)
    if customer.email_key != denied.key:
        holder = await store.find_by_email(tx, project_id=call.project_id, email_key=denied.key)
        if holder is None:
            await set_primary_email(tx, call, customer, denied.email, denied.key, call.now)
