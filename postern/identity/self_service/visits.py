"""The visit of a signed-in customer to the account and organization pages: its session, forms, and way back.

The pages use the session that the browser has with the project's OpenID provider (`oauth.browsers`), and begin one if
there is none: the hosted sign-in pages return to `account/signed-in`. The pages call the operations of the API as if
the customer had sent their access token, so that they have the same rules. See
docs/decisions/0141-account-pages-share-the-session-of-the-provider.md.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlencode

import msgspec

from postern.identity.customers.model import CustomerRow, NotFresh
from postern.identity.customers.operations import require_customer
from postern.identity.customers.pages import FORM_LIMIT, HTML, hosted_page
from postern.identity.customers.rules import account_return_url, require_redirect
from postern.identity.customers.sessions import call_of_customer
from postern.identity.customers.sign_in import project_of_call
from postern.identity.oauth.browsers import NO_EFFECT, browser_session, customer_call, renew_session
from postern.identity.oauth.model import SignedInCustomer
from postern.identity.oauth.tokens import meets_requirements
from postern.identity.self_service.forms import FormValues
from postern.kernel.http.call import Call, CredentialInvalid
from postern.kernel.http.cookies import cookie, cookie_name
from postern.kernel.http.handler import is_head
from postern.kernel.http.operation import FORM, Operation, RawRequest, get, post
from postern.kernel.http.problems import Forbidden, Invalid, Problem
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import Record
from postern.protocols.oidc.authorization import code_challenge
from postern.security.secrets import new_token
from postern.web.languages import Text, chosen_language, format_moment, language_of, match_language, text
from postern.web.pages import read_form, redirect
from postern.web.problem_texts import text_of

P = ParamSpec("P")
R = TypeVar("R")
PAGES = "/projects/{project_id}/auth/pages"
START_COOKIE = "postern-account-"
"""Prefix of the names of the cookies that bind a sign-in for these pages to the browser that began it."""
START_LIFE = timedelta(hours=1)
"""How long such a sign-in may take."""
FORM_PURPOSE = "account-form"
STATE_PURPOSE = "account-sign-in"
FIELDS = {"formToken": "Token of the page, from its hidden form field; it belongs to the session."}
"""The field of each form of these pages."""


class PageExpired(Forbidden):
    """This page belongs to an earlier sign-in. Check it and send it again."""


class SignInNotBegun(Forbidden, code="sign_in_not_begun"):
    """This browser did not begin this sign-in, or too long ago, or it blocks cookies. Open the page again."""


class SignInState(Record):
    """Where the browser goes on after the sign-in."""

    page: str
    """The path of the page, below `auth/pages/`."""
    return_url: str = ""


@dataclass(frozen=True)
class Visit:
    """A request of a signed-in customer for one of these pages."""

    call: Call
    """The call as if the customer had sent it with an access token."""
    session: SignedInCustomer
    customer: CustomerRow
    page: str
    """The path of the page, below `auth/pages/`."""
    language: str
    """The language of the page."""
    return_url: str = ""
    """Where the app wants the customer back; "" if it did not say."""
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    """The parameters of the URL."""

    def url(self, page: str, **parameters: str) -> str:
        """The URL of another page, which keeps the language and the way back to the app."""
        return page_url(self.call, page, self.return_url, **parameters)

    @property
    def kept(self) -> dict[str, str]:
        """The parameters that `url` keeps, for forms that replace the query of their URL."""
        return kept_parameters(self.call, self.return_url)

    @property
    def language_parameter(self) -> dict[str, str]:
        """The parameter that keeps the stored language of the customer on pages after the session has ended."""
        return {"lang": self.language} if self.customer.language else {}

    @property
    def form_token(self) -> str:
        """The token that the forms of these pages carry (CSRF)."""
        return self.call.world.secrets.sign(FORM_PURPOSE, self.call.project_id.bytes + self.session.session_id.bytes)

    def is_own_form(self, form: Mapping[str, str]) -> bool:
        """Whether a form comes from a page of this session."""
        data = self.call.project_id.bytes + self.session.session_id.bytes
        return self.call.world.secrets.verify(FORM_PURPOSE, data, form.get("formToken", ""))

    def done(self, page: str, message: str) -> HttpResponse:
        """Go on to a page that says what was done. `message` is a key of its messages."""
        return redirect(self.url(page, done=message), status=303)

    def moment(self, moment: datetime | None) -> str:
        """A date and time in the language of the page; "" for None."""
        return "" if moment is None else format_moment(self.language, moment)

    async def shown(
        self,
        template: str,
        *,
        problem: Problem | None = None,
        status: int = 200,
        messages: Mapping[str, Text] | None = None,
        headers: dict[str, str] | None = None,
        **values: Any,
    ) -> HttpResponse:
        """Render a page, with what a problem says, or with the message of what was just done."""
        message = (messages or {}).get(self.query.get("done", ""), "") if problem is None else ""
        return await hosted_page(
            self.call,
            template,
            None,
            status=status if problem is None else problem.status,
            retry_after=None if problem is None else problem.retry_after_seconds,
            error="" if problem is None else text_of(problem),
            headers=headers,
            switch_url=page_url(replace_language(self.call), self.page, self.return_url),
            done=message,
            form_token=self.form_token,
            account=self.customer.email or self.customer.name or str(self.customer.id),
            account_url=self.url("account"),
            sign_out_url=self.url("account/sign-out"),
            return_url=self.return_url,
            **values,
        )

    async def form(self, form: FormValues, *, problem: Problem | None = None, status: int = 200) -> HttpResponse:
        """Render a page with one form."""
        return await self.shown("account-form.html", problem=problem, status=status, form=form)


Render = Callable[..., Awaitable[HttpResponse]]
"""Renders a page for a visit; with `problem` and the fields of the form `entered`, if a form failed."""
Entered = dict[str, str] | None
"""The fields of a form that failed."""


def page_url(call: Call, page: str, return_url: str, **parameters: str) -> str:
    """The path of a page with its parameters."""
    query = {**parameters, **kept_parameters(call, return_url)}
    return f"/projects/{call.project_id}/auth/pages/{page}{'?' if query else ''}{urlencode(query)}"


def kept_parameters(call: Call, return_url: str) -> dict[str, str]:
    """The parameters that go from page to page: the language that was chosen, and the way back to the app."""
    language = chosen_language(call.origin)
    return {**({"lang": language} if language else {}), **({"returnUrl": return_url} if return_url else {})}


def replace_language(call: Call) -> Call:
    """The call without a chosen language, for links that choose one."""
    return replace(call, origin=replace(call.origin, language=""))


def page_operation(path: str, **options: Any) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """A decorator for an operation that shows a page."""
    return get(f"{PAGES}/{path}", public=True, ignore_unknown_query=True, media_types=HTML, hidden=True, **options)


def form_operation(path: str, **options: Any) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """A decorator for an operation that takes the form of a page."""
    return post(
        f"{PAGES}/{path}",
        public=True,
        ignore_unknown_query=True,
        media_types=HTML,
        hidden=True,
        takes=FORM,
        fields=FIELDS,
        body_limit=FORM_LIMIT,
        **options,
    )


async def show(call: Call, request: RawRequest, page: str, render: Render) -> HttpResponse:
    """Show a page to the customer who is signed in, or send the browser to the sign-in pages, and back.

    A page that needs a recent sign-in says so, and offers to sign in again.
    """
    if is_head(request):
        return NO_EFFECT
    try:
        visit = await current_visit(call, request, page)
    except Problem as problem:
        return await problem_page(call, problem, page)
    if visit is None:
        return await to_sign_in(call, request, page)
    try:
        return await render(visit)
    except NotFresh:
        return await confirm_page(visit, request)
    except Problem as problem:
        return await failed_page(visit, problem)


async def submit(
    call: Call,
    request: RawRequest,
    page: str,
    act: Callable[[Visit, dict[str, str]], Awaitable[HttpResponse]],
    render: Render,
) -> HttpResponse:
    """Let `act` do what a form of the page `page` asks for. If that raises a problem, `render` shows the page again.

    Forms of other sites are refused (CrossSiteForm), and so are those that do not have the token of the session. If the
    session has ended, nothing is done, and the browser goes to the sign-in pages, and back to the page.
    """
    form = await read_form(request)
    try:
        visit = await current_visit(call, request, page)
    except Problem as problem:
        return await problem_page(call, problem, page)
    if visit is None:
        return await to_sign_in(call, request, page)
    try:
        try:
            if not visit.is_own_form(form):
                raise PageExpired
            return await act(visit, form)
        except CredentialInvalid:
            return await to_sign_in(call, request, page)  # The session has ended since it was read.
        except NotFresh:
            return await confirm_page(visit, request)
        except KeyError as missing:
            error: Problem = Invalid.at(f"/{missing.args[0]}", "This field is missing.", "field_missing")
        except msgspec.ValidationError:
            error = Invalid()
        except Problem as problem:
            error = problem
        return await render(visit, problem=error, entered=form)
    except NotFresh:
        return await confirm_page(visit, request)
    except Problem as problem:
        return await failed_page(visit, problem)  # The page itself cannot be shown, such as without a permission.


async def failed_page(visit: Visit, problem: Problem) -> HttpResponse:
    """A page that says why another one cannot be shown."""
    return await visit.shown("account-notice.html", problem=problem, heading=text("This did not work"))


async def confirm_page(visit: Visit, request: RawRequest) -> HttpResponse:
    """A page that asks for a recent sign-in, and leads to it and back."""
    # Also on a remembered device: the session may be recent, but without the second factor.
    url, cookies = await _sign_in_url(
        visit.call, request, visit.page, visit.return_url, email=visit.customer.email, asks_factor=True
    )
    return await visit.shown("account-confirm.html", status=403, headers={"Set-Cookie": cookies}, url=url)


async def problem_page(call: Call, problem: Problem, page: str) -> HttpResponse:
    """A page that says why the page `page` cannot be shown, for visitors who are not signed in."""
    return await hosted_page(
        call,
        "account-end.html",
        None,
        status=problem.status,
        error=text_of(problem),
        heading=text("This did not work"),
        return_url="",
        again=page_url(call, page, ""),
    )


async def signed_out(call: Call, request: RawRequest, heading: Text) -> HttpResponse:
    """A page after the session has ended, with a link back to the app."""
    try:
        return_url = await _return_url(call, request)
    except Problem as problem:
        return await problem_page(call, problem, "account")
    again = page_url(call, "account", return_url)
    return await hosted_page(call, "account-end.html", None, heading=heading, return_url=return_url, again=again)


async def _return_url(call: Call, request: RawRequest) -> str:
    """The URL to which the app wants the customer back; "" if it names none. Raises Invalid unless it is one of the
    project's."""
    url = str(request.query_params.get("returnUrl", ""))
    if url:
        require_redirect(await project_of_call(call), url)
    return url


async def current_visit(call: Call, request: RawRequest, page: str) -> Visit | None:
    """The visit of the customer who is signed in in this browser; None if nobody is, or only with a session that does
    not meet what the project or an organization now requires.

    Sessions of TEST clients do not count. Raises Invalid if the URL to return to is not one of the project's.
    """
    query = {name: str(value) for name, value in request.query_params.items()}
    return_url = await _return_url(call, request)
    session = await browser_session(call, request, test=False)
    if session is None or not await meets_requirements(call, session):
        return None
    customer = await require_customer(call.db, call.project_id, session.customer_id)
    await renew_session(call.db, call, session.session_id, session.customer_id)
    acting = call_of_customer(customer_call(call, session), customer, session.session_id, session.organization_id)
    project = await project_of_call(call)
    # The audit log of the account has what members change in their organization, too.
    acting = replace(acting, caller=replace(acting.caller, account_id=project.account_id))
    # The language that the customer has chosen stands in for that of the browser, also for the mails that follow.
    if known := match_language(customer.language or ""):
        acting = replace(acting, origin=replace(acting.origin, accept_language=known))
    language = language_of(acting.origin, default=project.settings.sign_in.default_language)
    return Visit(acting, session, customer, page, language, return_url, query)


# Signing in, and back.


async def to_sign_in(call: Call, request: RawRequest, page: str) -> HttpResponse:
    """A redirect to the sign-in page, which returns to the page `page`."""
    url, cookies = await _sign_in_url(call, request, page, await _return_url(call, request))
    return redirect(url, status=303, cookies=cookies)


async def _sign_in_url(
    call: Call, request: RawRequest, page: str, return_url: str, *, email: str | None = None, asks_factor: bool = False
) -> tuple[str, str]:
    """The URL of the sign-in page that leads back to `page`, and the cookie that binds the sign-in to this browser."""
    secret = _start_secret(call, request) or new_token(32)
    payload = urlsafe_b64encode(msgspec.json.encode(SignInState(page=page, return_url=return_url))).decode()
    signature = call.world.secrets.sign(STATE_PURPOSE, _signed(call, secret, payload))
    language = chosen_language(call.origin)
    parameters = {
        "redirectUrl": account_return_url(call),
        "codeChallenge": code_challenge(code_verifier(call, secret)),
        "state": f"{payload}.{signature}",
        **({"email": email} if email else {}),
        **({"factor": "ask"} if asks_factor else {}),
        **({"lang": language} if language else {}),
    }
    url = f"/projects/{call.project_id}/auth/pages/sign-in?{urlencode(parameters)}"
    return url, start_cookie(call, secret)


def read_state(call: Call, request: RawRequest, state: str) -> tuple[SignInState, str]:
    """Where a sign-in leads that this browser has begun, and its code verifier. Raises SignInNotBegun, also if another
    browser has begun it, as in an attack that signs a victim in as somebody else (RFC 9700 §4.7)."""
    secret = _start_secret(call, request)
    payload, _, signature = state.partition(".")
    if secret is None or not call.world.secrets.verify(STATE_PURPOSE, _signed(call, secret, payload), signature):
        raise SignInNotBegun
    return msgspec.json.decode(urlsafe_b64decode(payload), type=SignInState), code_verifier(call, secret)


def start_cookie(call: Call, secret: str) -> str:
    """The cookie that binds a sign-in to the browser."""
    return cookie(
        call.world.settings,
        _start_cookie_name(call),
        secret,
        path=f"/projects/{call.project_id}/auth/pages",
        seconds=int(START_LIFE.total_seconds()),
    )


def code_verifier(call: Call, secret: str) -> str:
    """The code verifier (RFC 7636 §4.1) of a sign-in with this secret."""
    return call.world.secrets.digest("account-verifier", f"{call.project_id}|{secret}").hex()


def _start_cookie_name(call: Call) -> str:
    return f"{START_COOKIE}{call.project_id}"


def _start_secret(call: Call, request: RawRequest) -> str | None:
    value = request.cookies.get(cookie_name(call.world.settings, _start_cookie_name(call)), "")
    return value if value.isalnum() and value.isascii() and len(value) == len(new_token(32)) else None


def _signed(call: Call, secret: str, payload: str) -> bytes:
    return json.dumps([str(call.project_id), secret, payload]).encode()
