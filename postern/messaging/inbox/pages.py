"""The inbox as a page for people, at /inbox: signed-in developers only, messages in a sandboxed frame."""

import asyncio
import base64
import dataclasses
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs
from uuid import UUID

import minijinja
from litestar import Request, Response, get, post

from postern.kernel.http.call import Call, Caller, CredentialInvalid, Origin, PermissionMissing, ProjectMissing
from postern.kernel.http.cookies import cookie, cookie_name
from postern.kernel.http.problems import Problem
from postern.kernel.values import as_id, timestamp
from postern.messaging.inbox import operations as inbox
from postern.platform.accounts import operations as accounts
from postern.platform.accounts.model import DeveloperSignIn
from postern.platform.projects import operations as projects
from postern.security.secrets import SealBroken
from postern.web.html import require_own_form

if TYPE_CHECKING:
    from postern.world import World

COOKIE = "postern-inbox"
COOKIE_PURPOSE = "inbox-cookie"
SESSION_SECONDS = 1_800
PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "frame-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
MESSAGE_POLICY = (
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data: https: http:; "
    "style-src 'unsafe-inline'; font-src data:; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
)
"""The message is somebody's html: no scripts, no forms, an origin of its own."""

DELETING = "emails:write"
PAGE_NUMBER = re.compile("[1-9][0-9]{0,2}")
LAST_PAGE = 400
HEAD = re.compile(r"<head(?:\s[^>]{0,1000})?>", re.IGNORECASE)
DOCTYPE = re.compile(r"\s*<!doctype[^>]{0,1000}>", re.IGNORECASE)
RawRequest = Request[Any, Any, Any]

LAYOUT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }} · Postern</title><link rel="icon" href="/assets/favicon.svg">
<link rel="stylesheet" href="/assets/postern.css"></head>
<body>{% block body %}{% endblock %}</body></html>"""

SIGN_IN = """{% extends "layout" %}{% block body %}<main class="card"><h1>Sign in</h1>
<p class="quiet">The inbox shows captured messages to developers of the project.</p>
{% if problem %}<p class="problem" role="alert">{{ problem }}</p>{% endif %}
<form method="post" action="/inbox/sign-in">
<label for="email">E-mail</label><input id="email" name="email" type="email" autocomplete="username" required
 value="{{ email }}"{% if not email %} autofocus{% endif %}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required
 {% if email %}autofocus{% endif %}>
<label for="code">Code, if a second factor is on</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code">
<button type="submit">Sign in</button></form></main>{% endblock %}"""

ENTER = """{% extends "layout" %}{% block body %}<main class="card"><h1>Open the inbox</h1>
<form method="post" action="/inbox/enter"><input type="hidden" name="token" value="{{ token }}">
<button type="submit" autofocus>Open</button></form></main>{% endblock %}"""

LIST = """{% extends "layout" %}{% block body %}<main>
<header><h1>Inbox of {{ project.name }}</h1>
<form method="post" action="/inbox/sign-out"><button type="submit">Sign out</button></form></header>
{% if projects|length > 1 %}<nav aria-label="Projects"><p>{% for each in projects %}
<a href="/inbox/{{ each.id }}"{% if each.id == project.id %} aria-current="page"{% endif %}>{{ each.name }}</a>
{% endfor %}</p></nav>{% endif %}
<form method="get" role="search"><label for="q">Search subject and recipients</label>
<input id="q" name="q" type="search" value="{{ q }}"></form>
<div id="messages"><p class="quiet">{{ page.total }} message{{ "" if page.total == 1 else "s" }}</p>
{% if page.data %}<table><thead><tr><th>When</th><th>To</th><th>Subject</th></tr></thead><tbody>
{% for each in page.data %}<tr><td class="time">{{ each.when }}</td><td>{{ each.to }}</td>
<td><a href="/inbox/{{ project.id }}/{{ each.id }}">{{ each.subject or "(no subject)" }}</a></td></tr>{% endfor %}
</tbody></table>{% else %}<p>Nothing captured yet. Send a message, and it appears here.</p>{% endif %}
<p>{% if page.page > 1 %}<a href="?page={{ page.page - 1 }}&amp;q={{ q|urlencode }}">Newer</a>{% endif %}
{% if page.page < page.pages %}<a href="?page={{ page.page + 1 }}&amp;q={{ q|urlencode }}">Older</a>{% endif %}</p>
</div>
{% if page.page == 1 %}<script src="/assets/inbox.js" defer></script>{% endif %}
</main>{% endblock %}"""

MESSAGE = """{% extends "layout" %}{% block body %}<main>
<p><a href="/inbox/{{ project_id }}">All messages</a></p>
<h1>{{ message.subject or "(no subject)" }}</h1>
<dl><dt>From</dt><dd>{{ message.sender }}</dd><dt>To</dt><dd>{{ message.to }}</dd>
<dt>When</dt><dd>{{ message.when }}</dd><dt>Return path</dt><dd>{{ message.mail_from }}</dd></dl>
{% if message.redacted %}<p class="quiet">One-time codes and links are removed: only owners and admins of the account
see them.</p>{% endif %}
{% if message.html %}<h2>Html</h2>
<iframe class="message" sandbox="allow-popups allow-popups-to-escape-sandbox" title="The message"
 src="/inbox/{{ project_id }}/{{ message.id }}/html"></iframe>{% endif %}
{% if message.text %}<h2>Text</h2><pre>{{ message.text }}</pre>{% endif %}
{% if message.attachments %}<h2>Attachments</h2><ul>{% for each in message.attachments %}
<li><a href="/inbox/{{ project_id }}/{{ message.id }}/attachments/{{ each.number }}">{{ each.filename }}</a>
<span class="quiet">{{ each.content_type }}, {{ each.size }} bytes</span></li>{% endfor %}</ul>{% endif %}
<h2>Headers</h2><dl>{% for each in message.headers %}<dt>{{ each.name }}</dt><dd>{{ each.value }}</dd>{% endfor %}</dl>
<p><a href="/inbox/{{ project_id }}/{{ message.id }}/raw">The message as it is (.eml)</a></p>
{% if may_delete %}<form method="post" action="/inbox/{{ project_id }}/{{ message.id }}/delete">
<button type="submit" class="danger">Delete</button></form>{% endif %}
</main>{% endblock %}"""

_pages = minijinja.Environment(
    templates={"layout": LAYOUT, "sign-in": SIGN_IN, "enter": ENTER, "list": LIST, "message": MESSAGE},
    auto_escape_callback=lambda name: "html",
)


def routes() -> list[Any]:
    """The page's addresses."""
    shown = [show_list, show_message, show_html, show_raw, show_attachment]
    return [start, enter, use_link, sign_in, sign_out, delete_message, *shown]


@get("/inbox")
async def start(request: RawRequest) -> Response[str]:
    """The newest project's inbox, or the sign-in page."""
    caller = await _signed_in(request, None)
    if caller is None or caller.account_id is None:
        return _page("sign-in", "Sign in")
    found = await projects.projects_of_account(request.app.state.world.db, caller.account_id)
    return _redirect(f"/inbox/{found[0].id}") if found else _page("sign-in", "Sign in", problem="No project yet.")


@get("/inbox/enter")
async def enter(request: RawRequest) -> Response[str]:
    """Where a one-time link leads: a button, so that a link preview does not use the link up."""
    return _page("enter", "Open the inbox", token=request.query_params.get("token", "")[:200])


@post("/inbox/enter", status_code=200)
async def use_link(request: RawRequest) -> Response[str]:
    """Use a one-time link."""
    form = await _form(request)
    try:
        session = await accounts.sign_in_by_link(_call(request), form.get("token", ""))
    except Problem as problem:
        return _page("sign-in", "Sign in", problem=problem.detail, status=problem.status)
    return _entered(request, session.access_token)


@post("/inbox/sign-in", status_code=200)
async def sign_in(request: RawRequest) -> Response[str]:
    """Sign in by password."""
    form = await _form(request)
    try:
        data = DeveloperSignIn(
            email=form.get("email", "")[:254], password=form.get("password", "")[:256], code=form.get("code") or None
        )
        session = await accounts.sign_in_developer(_call(request), data)
    except Problem as problem:
        email = form.get("email", "")[:254]
        return _page("sign-in", "Sign in", problem=problem.detail, status=problem.status, email=email)
    return _entered(request, session.access_token)


@post("/inbox/sign-out", status_code=200)
async def sign_out(request: RawRequest) -> Response[str]:
    """End the session."""
    await _form(request)
    caller = await _signed_in(request, None)
    if caller is not None and caller.actor_id is not None and caller.credential_id is not None:
        await accounts.end_session(request.app.state.world, caller.actor_id, caller.credential_id)
    response = _redirect("/inbox")
    response.headers["Set-Cookie"] = _cookie(request, "", 0)
    return response


@post("/inbox/{project:str}/{message:str}/delete", status_code=200)
async def delete_message(request: RawRequest, project: str, message: str) -> Response[str]:
    """Throw a captured message away. Raises PermissionMissing, as the API does."""
    await _form(request)
    caller = await _signed_in(request, as_id(project))
    if caller is None:
        return _page("sign-in", "Sign in", status=401)
    if not caller.may(DELETING):
        raise PermissionMissing
    call = dataclasses.replace(_call(request), caller=caller, path_project_id=as_id(project))
    await inbox.delete_inbox_message(call, as_id(message))
    return _redirect(f"/inbox/{project}")


@get("/inbox/{project:str}")
async def show_list(request: RawRequest, project: str) -> Response[str]:
    """The messages of a project."""
    caller = await _signed_in(request, as_id(project))
    if caller is None or caller.account_id is None:
        return _page("sign-in", "Sign in", status=401)
    db = request.app.state.world.db
    number = request.query_params.get("page", "1")
    q = request.query_params.get("q", "")[:320].replace("\0", "")
    page_number = int(number) if PAGE_NUMBER.fullmatch(number) and int(number) <= LAST_PAGE else 1
    page = await inbox.page_of_inbox(db, as_id(project), q or None, page_number, 25)
    mine = await projects.projects_of_account(db, caller.account_id)
    return _page(
        "list",
        "Inbox",
        project=next({"id": str(each.id), "name": each.name} for each in mine if str(each.id) == project.lower()),
        projects=[{"id": str(each.id), "name": each.name} for each in mine],
        q=q,
        page={
            "total": page.total,
            "page": page.page,
            "pages": page.pages,
            "data": [
                {
                    "id": str(each.id),
                    "when": timestamp(each.captured_at),
                    "to": ", ".join(each.recipients),
                    "subject": each.subject,
                }
                for each in page.data
            ],
        },
    )


@get("/inbox/{project:str}/{message:str}")
async def show_message(request: RawRequest, project: str, message: str) -> Response[str]:
    """One message."""
    caller = await _signed_in(request, as_id(project))
    if caller is None:
        return _page("sign-in", "Sign in", status=401)
    world = request.app.state.world
    raw = await inbox.require_message(world, caller, as_id(project), as_id(message))
    found = await asyncio.to_thread(inbox.parse_captured, raw)
    return _page(
        "message",
        found.subject,
        project_id=project,
        may_delete=caller.may(DELETING),
        message={
            "id": str(found.id),
            "subject": found.subject,
            "sender": found.sender,
            "to": ", ".join(found.recipients),
            "when": timestamp(found.captured_at),
            "mail_from": found.mail_from,
            "html": found.html is not None,
            "redacted": found.redacted,
            "text": found.text,
            "headers": [{"name": each.name, "value": each.value} for each in found.headers],
            "attachments": [
                {
                    "number": each.number,
                    "filename": each.filename,
                    "content_type": each.content_type,
                    "size": each.size,
                }
                for each in found.attachments
            ],
        },
    )


@get("/inbox/{project:str}/{message:str}/html")
async def show_html(request: RawRequest, project: str, message: str) -> Response[str]:
    """The html of a message, for the sandboxed frame."""
    caller = await _signed_in(request, as_id(project))
    if caller is None:
        return _page("sign-in", "Sign in", status=401)
    raw = await inbox.require_message(request.app.state.world, caller, as_id(project), as_id(message))
    html = await asyncio.to_thread(inbox.shown_html, raw) or ""
    headers = {"Content-Security-Policy": MESSAGE_POLICY, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    return Response(_opening_links(html), media_type="text/html", headers=headers)


@get("/inbox/{project:str}/{message:str}/raw")
async def show_raw(request: RawRequest, project: str, message: str) -> Response[bytes] | Response[str]:
    """The message to the byte."""
    caller = await _signed_in(request, as_id(project))
    if caller is None:
        return _page("sign-in", "Sign in", status=401)
    raw = await inbox.require_message(request.app.state.world, caller, as_id(project), as_id(message))
    headers = {"Content-Disposition": f'attachment; filename="{raw.id}.eml"', "Cache-Control": "no-store"}
    return Response(raw.message, media_type="message/rfc822", headers=headers)


@get("/inbox/{project:str}/{message:str}/attachments/{number:str}")
async def show_attachment(
    request: RawRequest, project: str, message: str, number: str
) -> Response[bytes] | Response[str]:
    """One attachment, always as a download."""
    caller = await _signed_in(request, as_id(project))
    if caller is None:
        return _page("sign-in", "Sign in", status=401)
    raw = await inbox.require_message(request.app.state.world, caller, as_id(project), as_id(message))
    answer = inbox.attachment_of(raw, number)
    headers = {**(answer.headers or {}), "Cache-Control": "no-store", "Content-Security-Policy": "sandbox"}
    assert isinstance(answer.content, bytes)
    return Response(answer.content, media_type=answer.media_type, headers=headers)


def _opening_links(html: str) -> str:
    """The html with links that open in a tab of their own: a frame may not leave this server."""
    found = HEAD.search(html) or DOCTYPE.match(html)
    place = found.end() if found else 0
    return f'{html[:place]}<base target="_blank">{html[place:]}'


async def _signed_in(request: RawRequest, project_id: UUID | None) -> Caller | None:
    """Who the cookie stands for; None asks for the sign-in page. Raises ProjectMissing for another's project."""
    token = _token_in(request)
    if token is None:
        return None
    try:
        caller = await accounts.read_token(request.app.state.world, token, project_id, _origin(request))
    except CredentialInvalid:
        return None
    except ProjectMissing:
        raise
    if caller is not None and not caller.may("inbox:read"):
        raise PermissionMissing
    return caller


def _call(request: RawRequest) -> Call:
    world: World = request.app.state.world
    return Call(
        world=world,
        db=world.db,
        caller=Caller(kind="nobody"),
        now=world.clock(),
        request_id=str(request.scope.get("postern_request_id", "")),
        origin=_origin(request),
    )


def _origin(request: RawRequest) -> Origin:
    client = request.client
    return Origin(ip=client.host if client else "", user_agent=request.headers.get("user-agent", "")[:512])


async def _form(request: RawRequest) -> dict[str, str]:
    """The fields of a form that this server's own page sent: another site's is refused (CSRF)."""
    require_own_form(request)
    body = (await request.body())[:10_000].decode("utf-8", "replace")
    return {name: values[0].replace("\0", "") for name, values in parse_qs(body).items()}


def _entered(request: RawRequest, token: str) -> Response[str]:
    response = _redirect("/inbox")
    world: World = request.app.state.world
    # Sealed, so that the cookie opens these pages and is no credential of the API.
    sealed = base64.urlsafe_b64encode(world.secrets.seal(token.encode(), COOKIE_PURPOSE)).decode()
    response.headers["Set-Cookie"] = _cookie(request, sealed, SESSION_SECONDS)
    return response


def _cookie(request: RawRequest, value: str, seconds: int) -> str:
    return cookie(request.app.state.world.settings, COOKIE, value, path="/inbox", seconds=seconds)


def _token_in(request: RawRequest) -> str | None:
    """The developer's session that the cookie stands for."""
    world: World = request.app.state.world
    sealed = request.cookies.get(cookie_name(world.settings, COOKIE))
    if not sealed:
        return None
    try:
        return world.secrets.open(base64.b64decode(sealed, altchars=b"-_", validate=True), COOKIE_PURPOSE).decode()
    except (ValueError, SealBroken):
        return None


def _redirect(path: str) -> Response[str]:
    return Response(
        "", status_code=303, headers={"Location": path, "Cache-Control": "no-store"}, media_type="text/html"
    )


def _page(name: str, title: str, *, status: int = 200, **values: Any) -> Response[str]:
    html = _pages.render_template(name, title=title, **{"problem": None, "email": "", **values})
    headers = {"Content-Security-Policy": PAGE_POLICY, "Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
    return Response(html, status_code=status, media_type="text/html", headers=headers)
