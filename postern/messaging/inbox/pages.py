"""The inbox view as web pages at /inbox, for signed-in developers. Messages are shown in a sandboxed frame."""

import asyncio
import base64
import dataclasses
import re
from typing import TYPE_CHECKING, Any
from uuid import UUID

from litestar import Request, Response, get, post

from postern.kernel.http.call import Call, Caller, CredentialInvalid, Origin, PermissionMissing
from postern.kernel.http.cookies import cookie, cookie_name
from postern.kernel.http.problems import Problem
from postern.kernel.values import as_id
from postern.messaging.inbox import operations as inbox
from postern.messaging.inbox.frames import framed_html
from postern.messaging.inbox.model import CapturedRow
from postern.platform.accounts import operations as accounts
from postern.platform.accounts.links import InboxSignInLink
from postern.platform.accounts.model import DeveloperSignIn
from postern.platform.projects import operations as projects
from postern.security.secrets import SealBroken
from postern.web.pages import SCRIPT_SOURCES, as_response, page, read_form

if TYPE_CHECKING:
    from postern.world import World

COOKIE = "postern-inbox"
COOKIE_PURPOSE = "inbox-cookie"
SESSION_SECONDS = 1_800
"""How long the cookie of the pages is valid."""
PAGE_POLICY = {**SCRIPT_SOURCES, "img-src": "data:", "frame-src": "'self'"}
DELETE_PERMISSION = "emails:write"
PAGE_NUMBER = re.compile("[1-9][0-9]{0,2}")
LAST_PAGE = 400
"""The last page of the list that can be shown."""
RawRequest = Request[Any, Any, Any]


def routes() -> list[Any]:
    """The route handlers of the inbox pages."""
    views = [show_list, show_message, show_html, show_raw, show_attachment]
    return [open_inbox, show_sign_in_link, sign_in_by_link, sign_in, sign_out, delete_message, *views]


@get("/inbox")
async def open_inbox(request: RawRequest) -> Response[bytes]:
    """Redirect to the inbox of the newest project, or show the sign-in page."""
    caller = await _signed_in_caller(request, None)
    if caller is None or caller.account_id is None:
        return _sign_in_page()
    account_projects = await projects.projects_of_account(request.app.state.world.db, caller.account_id)
    if not account_projects:
        return _sign_in_page("Your account has no project yet.")
    return _redirect(f"/inbox/{account_projects[0].id}")


@get("/inbox/enter")
async def show_sign_in_link(request: RawRequest) -> Response[bytes]:
    """The page of a one-time sign-in link.

    The button on the page uses up the link. Opening the page does not, because programs that preview links open it.
    """
    return _page("enter", "Open the inbox", token=request.query_params.get("token", "")[:200])


@post("/inbox/enter", status_code=200)
async def sign_in_by_link(request: RawRequest) -> Response[bytes]:
    """Sign in by a one-time link: redirect to the inbox, or show the sign-in page with the error."""
    form = await read_form(request)
    try:
        session = await accounts.sign_in_by_link(_call(request), form.get("token", ""), InboxSignInLink)
    except Problem as problem:
        return _sign_in_page(problem.detail, status=problem.status)
    return _start_session(request, session.access_token)


@post("/inbox/sign-in", status_code=200)
async def sign_in(request: RawRequest) -> Response[bytes]:
    """Sign in with a password: redirect to the inbox, or show the sign-in page with the error."""
    form = await read_form(request)
    try:
        data = DeveloperSignIn(
            email=form.get("email", "")[:254], password=form.get("password", "")[:256], code=form.get("code") or None
        )
        session = await accounts.sign_in_developer(_call(request), data)
    except Problem as problem:
        email = form.get("email", "")[:254]
        return _sign_in_page(problem.detail, status=problem.status, email=email)
    return _start_session(request, session.access_token)


@post("/inbox/sign-out", status_code=200)
async def sign_out(request: RawRequest) -> Response[bytes]:
    """End the session, delete the cookie, and redirect to the sign-in page."""
    await read_form(request)
    caller = await _signed_in_caller(request, None)
    if caller is not None and caller.actor_id is not None and caller.credential_id is not None:
        await accounts.end_session(request.app.state.world, caller.actor_id, caller.credential_id)
    response = _redirect("/inbox")
    response.headers["Set-Cookie"] = _cookie(request, "", 0)
    return response


@post("/inbox/{project:str}/{message:str}/delete", status_code=200)
async def delete_message(request: RawRequest, project: str, message: str) -> Response[bytes]:
    """Delete a captured message. Raises PermissionMissing, as the API does."""
    await read_form(request)
    caller = await _signed_in_caller(request, as_id(project))
    if caller is None:
        return _sign_in_page(status=401)
    if not caller.may(DELETE_PERMISSION):
        raise PermissionMissing
    call = dataclasses.replace(_call(request), caller=caller, project_id=as_id(project))
    await inbox.delete_inbox_message(call, as_id(message))
    return _redirect(f"/inbox/{project}")


@get("/inbox/{project:str}")
async def show_list(request: RawRequest, project: str) -> Response[bytes]:
    """A page of 25 of a project's captured messages, newest first; the query has its number `page`, and `q` to search.

    Without a session that may read them, the sign-in page (401).
    """
    caller = await _signed_in_caller(request, as_id(project))
    if caller is None or caller.account_id is None:
        return _sign_in_page(status=401)
    db = request.app.state.world.db
    number = request.query_params.get("page", "1")
    q = request.query_params.get("q", "")[:320].replace("\0", "")
    page_number = int(number) if PAGE_NUMBER.fullmatch(number) and int(number) <= LAST_PAGE else 1
    messages = await inbox.page_of_inbox(db, as_id(project), q or None, page_number, 25)
    account_projects = await projects.projects_of_account(db, caller.account_id)
    current_project = next(candidate for candidate in account_projects if str(candidate.id) == project.lower())
    return _page("list", "Inbox", project=current_project, projects=account_projects, q=q, page=messages)


@get("/inbox/{project:str}/{message:str}")
async def show_message(request: RawRequest, project: str, message: str) -> Response[bytes]:
    """The page of one captured message."""
    caller = await _signed_in_caller(request, as_id(project))
    if caller is None:
        return _sign_in_page(status=401)
    row = await _require_message(request, caller, project, message)
    parsed = await asyncio.to_thread(inbox.parse_captured, row)
    return _page(
        "message", parsed.subject, project_id=project, may_delete=caller.may(DELETE_PERMISSION), message=parsed
    )


@get("/inbox/{project:str}/{message:str}/html")
async def show_html(request: RawRequest, project: str, message: str) -> Response[bytes]:
    """The html of a message, for the sandboxed frame."""
    caller = await _signed_in_caller(request, as_id(project))
    if caller is None:
        return _sign_in_page(status=401)
    row = await _require_message(request, caller, project, message)
    html = await asyncio.to_thread(inbox.shown_html, row.message, row.send_id)
    return as_response(framed_html(html, images=True))


@get("/inbox/{project:str}/{message:str}/raw")
async def show_raw(request: RawRequest, project: str, message: str) -> Response[bytes]:
    """A captured message as an `.eml` file, without one-time codes and links for callers without SECRETS_PERMISSION.

    Without a session, the sign-in page (401). Raises PermissionMissing without `inbox:read`.
    """
    caller = await _signed_in_caller(request, as_id(project))
    if caller is None:
        return _sign_in_page(status=401)
    row = await _require_message(request, caller, project, message)
    headers = {"Content-Disposition": f'attachment; filename="{row.id}.eml"', "Cache-Control": "no-store"}
    return Response(row.message, media_type="message/rfc822", headers=headers)


@get("/inbox/{project:str}/{message:str}/attachments/{number:str}")
async def show_attachment(request: RawRequest, project: str, message: str, number: str) -> Response[bytes]:
    """An attachment of a captured message, always as a download. Without a session, the sign-in page (401)."""
    caller = await _signed_in_caller(request, as_id(project))
    if caller is None:
        return _sign_in_page(status=401)
    row = await _require_message(request, caller, project, message)
    response = inbox.attachment_of(row, number)
    headers = {**(response.headers or {}), "Cache-Control": "no-store", "Content-Security-Policy": "sandbox"}
    assert isinstance(response.content, bytes)
    return Response(response.content, media_type=response.media_type, headers=headers)


async def _require_message(request: RawRequest, caller: Caller, project: str, message: str) -> CapturedRow:
    show_secrets = caller.may(inbox.SECRETS_PERMISSION)
    return await inbox.require_message(
        request.app.state.world, as_id(project), as_id(message), show_secrets=show_secrets
    )


async def _signed_in_caller(request: RawRequest, project_id: UUID | None) -> Caller | None:
    """The developer of the session cookie; None if there is no valid session.

    Raises ProjectMissing for a project of another account, and PermissionMissing without `inbox:read`.
    """
    token = _access_token_of(request)
    if token is None:
        return None
    try:
        caller = await accounts.read_token(request.app.state.world, token, project_id, _origin(request))
    except CredentialInvalid:
        return None
    if caller is not None and not caller.may("inbox:read"):
        raise PermissionMissing
    return caller


def _call(request: RawRequest) -> Call:
    """The call of an operation, without a credential, for this request."""
    world: World = request.app.state.world
    return Call(
        world=world,
        db=world.db,
        caller=Caller(kind="anonymous"),
        now=world.clock(),
        request_id=str(request.scope.get("postern_request_id", "")),
        origin=_origin(request),
    )


def _origin(request: RawRequest) -> Origin:
    client = request.client
    return Origin(ip=client.host if client else "", user_agent=request.headers.get("user-agent", "")[:512])


def _start_session(request: RawRequest, token: str) -> Response[bytes]:
    response = _redirect("/inbox")
    world: World = request.app.state.world
    # The token is encrypted, so that the cookie works for these pages only and not as an API credential.
    sealed = base64.urlsafe_b64encode(world.secrets.seal(token.encode(), COOKIE_PURPOSE)).decode()
    response.headers["Set-Cookie"] = _cookie(request, sealed, SESSION_SECONDS)
    return response


def _cookie(request: RawRequest, value: str, seconds: int) -> str:
    return cookie(request.app.state.world.settings, COOKIE, value, path="/inbox", seconds=seconds)


def _access_token_of(request: RawRequest) -> str | None:
    """The developer's access token from the encrypted cookie; None without a valid cookie."""
    world: World = request.app.state.world
    sealed = request.cookies.get(cookie_name(world.settings, COOKIE))
    if not sealed:
        return None
    try:
        return world.secrets.open(base64.b64decode(sealed, altchars=b"-_", validate=True), COOKIE_PURPOSE).decode()
    except (ValueError, SealBroken):
        return None


def _redirect(path: str) -> Response[bytes]:
    headers = {"Location": path, "Cache-Control": "no-store"}
    return Response(b"", status_code=303, headers=headers, media_type="text/html")


def _page(name: str, title: str, *, status: int = 200, **values: Any) -> Response[bytes]:
    return as_response(page(f"inbox/{name}.html", title, status=status, policy=PAGE_POLICY, **values))


def _sign_in_page(problem: str = "", *, status: int = 200, email: str = "") -> Response[bytes]:
    return _page("sign-in", "Sign in", status=status, error=problem, email=email)
