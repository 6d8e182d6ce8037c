"""The few pages that people see between their identity provider and the app. No inline scripts; all is escaped."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from minijinja import Environment

from postern.kernel.http.responses import HttpResponse
from postern.protocols.saml.trace import SsoTraceStep

_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title><link rel="stylesheet" href="/assets/postern.css"></head>
<body><main class="card{{ ' wide' if wide }}">
<h1>{{ title }}</h1>"""
_TEMPLATES = {
    "posting.html": _HEAD
    + """<form method="post" action="{{ action }}">{% for name, value in fields|items %}
<input type="hidden" name="{{ name }}" value="{{ value }}">{% endfor %}
<button type="submit">Continue</button></form></main><script src="/assets/submit.js"></script></body></html>""",
    "plain.html": _HEAD
    + """<p>{{ detail }}</p>{% if reason %}<p class="quiet">Reason: <code>{{ reason }}</code></p>{% endif %}
{% if request_id %}<p class="quiet">Request: <code>{{ request_id }}</code></p>{% endif %}</main></body></html>""",
    "trace.html": _HEAD
    + """<p>{{ detail }}</p>{% if reason %}<p class="problem">Reason: <code>{{ reason }}</code></p>{% endif %}
<p class="quiet">Nobody was created or signed in.</p>
<h2>Checks</h2><ol class="checks">{% for each in steps %}
<li><strong>{{ each.step }}</strong>
<span class="{{ 'quiet' if each.ok else 'problem' }}">{{ "passed" if each.ok else "failed" }}</span>
<div>{{ each.detail }}</div></li>{% endfor %}
</ol>{% if profile %}<h2>Who that would be</h2><dl>{% for name, value in profile %}
<dt>{{ name }}</dt><dd>{{ value }}</dd>{% endfor %}</dl>{% endif %}</main></body></html>""",
}
_environment = Environment(templates=_TEMPLATES)
_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'"


def posting(action: str, fields: dict[str, str], *, cookie: str | None = None) -> HttpResponse:
    """A page that posts a form elsewhere by itself. The policy lets it go there, and wherever https leads on."""
    parts = urlsplit(action)
    policy = (
        f"default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
        f"form-action https: {parts.scheme}://{parts.netloc}"
    )
    html = _environment.render_template("posting.html", title="Signing on", action=action, fields=fields)
    return _page(html, 200, policy, cookie)


def plain(title: str, detail: str, *, status: int = 200, reason: str = "", request_id: str = "") -> HttpResponse:
    """A page that says one thing."""
    html = _environment.render_template("plain.html", title=title, detail=detail, reason=reason, request_id=request_id)
    return _page(html, status, _POLICY)


def trace(
    title: str, detail: str, steps: Sequence[SsoTraceStep], profile: Sequence[tuple[str, str]], *, reason: str = ""
) -> HttpResponse:
    """The end of a test sign-on: every check, and who that would be."""
    shown = [{"step": each.step, "ok": each.ok, "detail": each.detail} for each in steps]
    html = _environment.render_template(
        "trace.html",
        title=title,
        detail=detail,
        steps=shown,
        profile=[list(each) for each in profile],
        reason=reason,
        wide=True,
    )
    return _page(html, 200, _POLICY)


def sent_to(url: str, *, status: int = 302, cookie: str | None = None) -> HttpResponse:
    """A redirect that nothing keeps a copy of."""
    headers = {"Location": url, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    if cookie is not None:
        headers["Set-Cookie"] = cookie
    return HttpResponse(b"", media_type="text/html", status=status, headers=headers)


def _page(html: str, status: int, policy: str, cookie: str | None = None) -> HttpResponse:
    headers = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": policy,
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
    }
    if cookie is not None:
        headers["Set-Cookie"] = cookie
    return HttpResponse(html, media_type="text/html", status=status, headers=headers)
