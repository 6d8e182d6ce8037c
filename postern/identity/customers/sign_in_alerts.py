"""“This was not me”: the link in the notice about a sign-in from a new device, and what it does.

Opening the link has no effect, because mail scanners open links. The button on the page ends all sessions, removes the
password and what was added since the sign-in, and shows the form for a new password.
"""

from urllib.parse import urlencode

from msgspec.structs import replace

from postern.identity.customers import rules, store, terms_store
from postern.identity.customers.address_proofs import revoke_credentials
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
    second factor, accounts at providers, new addresses. Shows the form for a new password, if the customer had one."""
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
        holder = await store.find_by_email(tx, project_id=call.project_id, email_key=denied.key)
        # Locked in the order of ids, like those that are merged.
        customer_ids = sorted({denied.customer_id, denied.customer_id if holder is None else holder.id})
        locked = [
            await store.lock_customer(tx, project_id=call.project_id, id=customer_id) for customer_id in customer_ids
        ]
        customer = next((row for row in locked if row is not None and row.id == denied.customer_id), None)
        if customer is None:
            raise CodeInvalid
        await challenges.consume(tx, challenge)
        await end_sessions(tx, call, customer.id)
        await _remove_what_was_added(tx, call, customer, denied)
        has_address = await _restore_address(tx, call, customer, denied)
        await _remove_added_addresses(tx, call, customer, denied)
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
        if "PASSWORD" not in project.settings.sign_in.methods or not has_address:
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
    """Remove what whoever signed in may have added to keep access; and what is older, too, if the address was not
    verified, because another person may have created the account with it."""
    since, customer_key = denied.since, {"project_id": call.project_id, "subject_id": customer.id}
    for passkey in await passkey_store.of_subject(tx, **customer_key):
        if passkey.created_at.timestamp() >= since:
            await passkey_store.delete(tx, **customer_key, id=passkey.id)
    if customer.mfa_enabled_at is not None and customer.mfa_enabled_at.timestamp() >= since:
        await remove_second_factor(tx, call, customer)
    await store.delete_identities_since(tx, project_id=call.project_id, customer_id=customer.id, since=since)
    await store.refresh_providers(tx, project_id=call.project_id, id=customer.id)
    # The owner has not accepted these terms.
    await terms_store.delete_since(tx, project_id=call.project_id, customer_id=customer.id, since=since)
    if not denied.verified and customer.email_key != denied.key:
        await revoke_credentials(tx, call, customer)


async def _restore_address(tx: Transaction, call: Call, customer: CustomerRow, denied: DeniedSignIn) -> bool:
    """Make the address of the notice the primary one again. False if another customer has verified it since; then the
    customer has no primary address, because the present one may be that of whoever signed in.

    Another customer who has not verified it loses it: whoever signed in could register it to keep the present one. The
    rows of both customers are locked.
    """
    if customer.email_key == denied.key:
        return True
    holder = await store.find_by_email(tx, project_id=call.project_id, email_key=denied.key)
    is_free = holder is None or holder.id == customer.id or holder.matched_verified_at is None
    if holder is not None and holder.id != customer.id and is_free:
        await _remove_address(tx, call, holder, denied.key)
    if is_free:
        await set_primary_email(tx, call, customer, denied.email, denied.key, call.now)
        await events.record(tx, call, "customer.email_verified", customer.id, changed=True)
    else:
        await _remove_address(tx, call, customer, customer.email_key)
    return is_free


async def _remove_added_addresses(tx: Transaction, call: Call, customer: CustomerRow, denied: DeniedSignIn) -> None:
    """Remove the secondary addresses that were added since the sign-in: a password can be reset with each of them."""
    removed = await store.delete_other_addresses_since(
        tx, project_id=call.project_id, customer_id=customer.id, since=denied.since
    )
    for identifier in removed:
        await challenges.revoke_mailed(tx, call.project_id, identifier)
    if removed:
        await events.record(tx, call, "customer.updated", customer.id, changed=["otherEmails"])


async def _remove_address(tx: Transaction, call: Call, customer: CustomerRow, email_key: str | None) -> None:
    if customer.email_key == email_key:
        row = replace(customer, email=None, email_key=None, identifier=None, email_verified_at=None)
        await store.set_email(tx, row, now=call.now)
    elif email_key is not None:
        await store.delete_other_address(tx, project_id=call.project_id, customer_id=customer.id, email_key=email_key)
    await events.record(tx, call, "customer.updated", customer.id, changed=["email"])
