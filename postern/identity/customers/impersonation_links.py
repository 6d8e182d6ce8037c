"""One-time links with which a member of the project's team opens the app as a customer (`impersonation.py`).

Opening the link shows what will happen; the button on the page begins the session, and the browser goes on to the app
with a code, as after a sign-in. The pages set no cookie, so that whoever is signed in to them in this browser stays so.
"""

from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlencode
from uuid import UUID

from postern.identity.customers import pages, store
from postern.identity.customers.challenge_payloads import Grant, ImpersonationLink
from postern.identity.customers.impersonation import (
    NewImpersonation,
    actor_of,
    audit_impersonation,
    begin_impersonation,
    require_not_banned,
)
from postern.identity.customers.model import GRANT_LIFE, CustomerBanned, CustomerMissing, Url
from postern.identity.customers.operations import lock_customer
from postern.identity.customers.providers import CodeChallenge, OpaqueParameter
from postern.identity.customers.rules import require_redirect
from postern.identity.customers.sign_in import ATTEMPTS, project_of_call
from postern.kernel.http.call import Call
from postern.kernel.http.operation import RawRequest, get, post
from postern.kernel.http.problems import Unprocessable
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import Moment, Record
from postern.messaging.certificates.pages_domains import pages_url
from postern.platform.accounts import operations as accounts
from postern.platform.audit import operations as audit
from postern.platform.projects import operations as projects
from postern.platform.projects.model import Project
from postern.protocols.oidc.authorization import authorization_url
from postern.security import challenges
from postern.security.attempts import throttle
from postern.security.challenges import LINK_TRIES, Challenge, CodeInvalid
from postern.web.languages import Text, counted_text, text
from postern.web.pages import read_form, redirect

PERMISSION = "customers:impersonate"
PAGE = "impersonation-link"
LINK_LIFE = timedelta(minutes=5)
"""How long a link is valid."""
OPEN_LINKS_PER_CUSTOMER = 10
HEADING = text("Open the app as a customer")
EXPIRED = text("This link was already used or has expired.")
NOT_PERMITTED = text("Whoever created this link may not act as a customer any more.")


class TooManyImpersonationLinks(Unprocessable):
    """There are 10 open impersonation links for this customer already; use one, or wait five minutes."""


class NewImpersonationLink(NewImpersonation):
    """Why you act as the customer, for how long, and where the browser goes."""

    redirect_url: Url
    """Where the browser goes with `code`: one of the project's `redirectUrls`."""
    code_challenge: CodeChallenge | None = None
    """The S256 code challenge (RFC 7636) of a verifier that your app keeps. Without one, only a secret key of the
    project can exchange the code."""
    state: OpaqueParameter = ""
    """Returned to `redirectUrl` unchanged."""


class CreatedImpersonationLink(Record):
    """A link that opens the app as the customer, once."""

    url: str
    """Open it in a browser. Whoever has it can use it; it is not returned again."""
    expires_at: Moment
    """Five minutes after its creation."""


@post(
    "/projects/{project_id}/customers/{id}/impersonation-links",
    needs=PERMISSION,
    status=201,
    problems=[CustomerMissing, CustomerBanned, TooManyImpersonationLinks],
    example={
        "reason": "Ticket 4711: the invoice page stays empty",
        "minutes": 15,
        "redirectUrl": "https://app.example.com/auth/callback",
    },
)
async def create_impersonation_link(call: Call, id: UUID, data: NewImpersonationLink) -> CreatedImpersonationLink:
    """Create a link that opens your app as a customer, once, within five minutes.

    The page of the link says who acts as whom and why. Its button begins the session, which lasts `minutes` from then
    on, and the browser goes to `redirectUrl` with `code`, `state` and `impersonation=true`; exchange the code at
    `auth/token` within two minutes. The session is that of `POST …/impersonate`. The customer is told when it begins.
    The link does not work any more if whoever created it has lost the permission or has signed out. A customer has at
    most 10 open links.
    """
    actor = actor_of(call, data)
    project = await project_of_call(call)
    require_redirect(project, data.redirect_url)
    assert call.caller.actor_id is not None
    link = ImpersonationLink(
        actor_type=call.caller.actor_type,
        actor_id=call.caller.actor_id,
        session_id=call.caller.credential_id if call.caller.kind == "developer" else None,
        actor_label=actor,
        reason=data.reason,
        minutes=data.minutes,
        redirect_url=data.redirect_url,
        code_challenge=data.code_challenge,
        state=data.state,
    )
    async with call.db.transaction() as tx:
        customer = await lock_customer(tx, call, id)
        require_not_banned(call, customer)
        open_links = await challenges.open_of(tx, call, call.project_id, customer.id, ImpersonationLink)
        if len(open_links) >= OPEN_LINKS_PER_CUSTOMER:
            raise TooManyImpersonationLinks
        token, expires_at = await challenges.issue_token(tx, call, link, LINK_LIFE, subject_id=customer.id)
        await audit.record(
            tx,
            call,
            "customer.impersonation_link_created",
            "Customer",
            customer.id,
            actor=actor,
            reason=data.reason,
            minutes=data.minutes,
        )
    url = f"{pages_url(call.world, call.project_id)}/auth/pages/{PAGE}?{urlencode({'token': token})}"
    return CreatedImpersonationLink(url=url, expires_at=expires_at)


@get(f"/projects/{{project_id}}/auth/pages/{PAGE}", public=True, ignore_unknown_query=True, media_types=("text/html",))
async def impersonation_page(call: Call, token: str = "") -> HttpResponse:
    """The page of a link that opens the app as a customer. Opening it does not use up the link."""
    throttle(call, ATTEMPTS, token)
    challenge = await _open_link(call, token)
    customer = None
    if challenge is not None and challenge.subject_id is not None:
        customer = await store.get_customer(call.db, project_id=call.project_id, id=challenge.subject_id)
    if challenge is None or customer is None:
        return await _notice(call, EXPIRED)
    link = challenge.payload
    if await _call_of_creator(call, await project_of_call(call), link) is None:
        return await _notice(call, NOT_PERMITTED, status=403)
    switch = f"/projects/{call.project_id}/auth/pages/{PAGE}?{urlencode({'token': token})}"
    return await pages.hosted_page(
        call,
        "impersonation-link.html",
        None,
        form_target=link.redirect_url,
        switch_url=switch,
        token=token,
        customer=customer.email or customer.name or str(customer.id),
        actor=link.actor_label or "",
        reason=link.reason,
        duration=counted_text("{count} minute", "{count} minutes", link.minutes),
    )


@pages.page_form(PAGE, [CodeInvalid], other_statuses=(303,))
async def impersonate_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Use a link: begin the session as the customer, and redirect the browser to the app with a code."""
    token = (await read_form(request)).get("token", "")
    throttle(call, ATTEMPTS, token)
    project = await project_of_call(call)
    challenge = await _open_link(call, token)
    if challenge is None:
        return await _notice(call, EXPIRED, status=401)
    link = challenge.payload
    if link.redirect_url not in project.settings.sign_in.redirect_urls:  # It was removed since.
        return await _notice(call, EXPIRED, status=401)
    acting = await _call_of_creator(call, project, link)
    if acting is None:
        return await _notice(call, NOT_PERMITTED, status=403)
    try:
        code = await _begin(acting, project, challenge)
    except (CodeInvalid, CustomerMissing, CustomerBanned):  # A ban has ended the link.
        return await _notice(call, EXPIRED, status=401)
    parameters = {"code": code, **({"state": link.state} if link.state else {}), "impersonation": "true"}
    return redirect(authorization_url(link.redirect_url, **parameters), status=303)


async def _begin(acting: Call, project: Project, challenge: Challenge[ImpersonationLink]) -> str:
    """Use up a link and begin its session. Returns the code for the app.

    Raises CustomerMissing, CustomerBanned and, if another request has used the link, CodeInvalid.
    """
    link = challenge.payload
    assert challenge.subject_id is not None
    async with acting.db.transaction() as tx:
        customer = await lock_customer(tx, acting, challenge.subject_id)
        await challenges.consume(tx, challenge)
        session = await begin_impersonation(tx, acting, project, customer, link.actor_label, link.reason, link.minutes)
        grant = Grant(code_challenge=link.code_challenge, session_id=session.id, impersonation=True)
        code, _ = await challenges.issue_token(tx, acting, grant, GRANT_LIFE, subject_id=customer.id)
        await audit_impersonation(tx, acting, session, link.actor_label, link.reason, link.minutes)
    return code


async def _call_of_creator(call: Call, project: Project, link: ImpersonationLink) -> Call | None:
    """The call as if whoever created the link had sent it; None if they may not act as customers any more."""
    if link.actor_type == "DEVELOPER":
        caller = await accounts.caller_of_member(call.db, project.account_id, link.actor_id, link.session_id, call.now)
    else:
        caller = await projects.caller_of_key(call.db, call.project_id, link.actor_id, call.now)
    if caller is None or not caller.may(PERMISSION):
        return None
    caller = replace(caller, account_id=project.account_id, project_id=call.project_id)
    # The languages of this browser are not those of the customer, who gets a mail.
    origin = replace(call.origin, accept_language="", language="")
    return replace(call, caller=caller, origin=origin)


async def _open_link(call: Call, token: str) -> Challenge[ImpersonationLink] | None:
    """The link of a token that can still be used. The page shows whom and why, so the token must be right."""
    try:
        return await challenges.answer_token(call, ImpersonationLink, token, max_tries=LINK_TRIES)
    except CodeInvalid:
        return None


async def _notice(call: Call, message: Text, *, status: int = 200) -> HttpResponse:
    return await pages.hosted_page(call, "notice.html", None, status=status, heading=HEADING, message=message)
