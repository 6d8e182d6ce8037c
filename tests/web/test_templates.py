"""Every page template: its variables are passed, values are escaped, and all pages have the same CSP."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from minijinja import TemplateError

from postern.web.page_catalogue import page_messages
from postern.web.page_texts import PageTexts
from postern.web.pages import FOLDER, TEMPLATES, FormField, PageForm, page

HOSTILE = """"'><script>alert(1)</script>{{ 7 * 7 }}{% raise %}"""
PARTIALS = (
    "layout.html",
    "components.html",
    "hosted/layout.html",
    "hosted/back.html",
    "hosted/onwards.html",
    *("hosted/passkey-form.html", "hosted/passkey-messages.html", "hosted/provider-icon.html"),
    "hosted/account-layout.html",
)
"""Templates that other templates extend, include or import."""
H = HOSTILE
NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ITEM = {
    "id": H,
    "name": H,
    "captured_at": NOW,
    "recipients": [H],
    "subject": H,
    "url": H,
    "step": H,
    "ok": True,
    "detail": H,
    "icon": "GOOGLE",
}
FORM = PageForm(button=H, fields=[FormField(name=H, label=H, type="text", autocomplete="off", value=H)], hidden={H: H})
HOSTED: dict[str, Any] = {
    **dict.fromkeys(("action", "base", "challenge", "email", "error", "home", "key", "logo", "mfaToken", "name"), H),
    **dict.fromkeys(("heading", "message", "organization", "pageToken", "query", "resent", "token", "uri", "url"), H),
    **dict.fromkeys(("adds_passkey", "passkeys", "sign_up", "sso", "asks_code", "asks_passkey"), True),
    "remember": H,
    "remembered": [{"name": H, "ip": H, "until": H, "forget_url": H}],
    "choices": [ITEM],
    **dict.fromkeys(("inviter", "role", "role_description", "valid_until"), H),
    "reference": H,
    "time": H,
    "codes": [H],
    "flow": {H: H},
    # Pages of the OpenID provider.
    **dict.fromkeys(("account", "again", "client", "code", "destination", "detail", "session", "user_code"), H),
    "fields": {H: H},
    "foot_links": [{"url": H, "text": H}],
    "lang_query": H,
    "kept_query": H,
    "language_name": H,
    "languages": [{"code": H, "url": H, "name": H}],
    "reason": H,
    "switch_form": {"action": H, "fields": {H: H}},
    "links": [{"url": H, "text": H}],
    "scopes": [H],
    "resource": H,
    "self_registered": True,
    "third_party": True,
    # Pages of setup links.
    **dict.fromkeys(
        ("entered", "overview", "organization_url", "change_url", "provider", "domain", "test_url", "chosen"), H
    ),
    **dict.fromkeys(("metadata_url", "issuer", "client_id", "user_count", "group_count"), H),
    **dict.fromkeys(("configured", "tested", "accepted", "received", "supported", "connected", "may_add_domain"), True),
    **dict.fromkeys(("active", "has_secret"), False),
    "steps": [{"title": H, "url": H, "done": True}],
    "guide": [{"text": H, "values": [{"label": H, "value": H}]}],
    "settings": [{"label": H, "value": H}],
    "takes": ["client", "url", "xml"],
    "checks": [{"step": H, "ok": False, "detail": H}],
    "profile": [{"label": H, "value": H}],
    "posted": {H: H},
    "refused": [{"method": H, "path": H, "status": H, "detail": H}],
    "domains": [
        dict.fromkeys(("id", "domain", "status", "record_name", "record"), H) | {"verified": "", "removable": True}
    ],
    "domain_names": [H],
    "offered": [{"key": H, "name": H}],
    "roles": [H],
    "groups": [{"id": H, "name": H, "role": H}],
    "methods": ["PASSWORD", "EMAIL_CODE"],
    "providers": [ITEM],
    "qr": {"size": H, "path": H},
    "picture": H,
    "wrong_password": False,
    "until": {"iso": H, "text": H},
    "accepted_links": [{"url": H, "text": H}],
    **dict.fromkeys(("customer", "actor", "duration", "publisher", "termsToken", "acceptedTerms", "terms_error"), H),
    "terms": {"version": H},
    "sso_only": False,
    "ways": ["PASSWORD", "EMAIL_CODE"],
    "forgot_url": H,
    "texts": PageTexts(**dict.fromkeys(PageTexts.__struct_fields__, H)),
}
URL_NAMES = (
    *("name", "language", "email", "verify", "password", "passkey", "totp", "totp_off", "codes", "end_others"),
    "export",
)
FIELD = {
    **dict.fromkeys(
        ("name", "label", "type", "autocomplete", "value", "minlength", "maxlength", "inputmode", "hint"), H
    ),
    "kind": "input",
    "required": True,
    "options": [{"value": H, "label": H, "selected": True}],
}
ACCOUNT: dict[str, Any] = {
    **dict.fromkeys(("form_token", "account_url", "sign_out_url", "return_url", "done", "next_url", "provider"), H),
    **dict.fromkeys(("options", "factor", "codes_left", "own_language"), H),
    "form": {
        **dict.fromkeys(("title", "action", "button", "back"), H),
        "paragraphs": [H],
        "inputs": [FIELD, {**FIELD, "kind": "choice"}, {**FIELD, "kind": "checks"}],
        "hidden": {H: H, "username": H},
        "danger": True,
    },
    "urls": dict.fromkeys((*URL_NAMES, "delete"), H),
    "emails": [
        {"email": H, "primary": primary, "verified": not primary, "primary_url": H, "remove_url": H}
        for primary in (True, False)
    ],
    "offers": dict.fromkeys(("password", "passkey", "delete"), True),
    "has_password": True,
    "password_changed": "3 March 2025",
    "keys": [dict.fromkeys(("name", "detail", "rename_url", "remove_url"), H)],
    "devices": [
        {**dict.fromkeys(("name", "ip", "used", "end_url"), H), "current": current} for current in (True, False)
    ],
    "others": 1,
    "identities": [
        {"name": H, "url": H, "connected": connected, "icon": icon, "account": H}
        for connected, icon in ((True, "GITHUB"), (True, ""), (False, ""))
    ],
    "organizations": [dict.fromkeys(("name", "roles", "url", "leave_url"), H)],
    "apps": [{**dict.fromkeys(("name", "since", "url", "publisher"), H), "scopes": [H]}],
}
"""The values of the account pages."""
ACCOUNT |= {
    **dict.fromkeys(("size", "own_roles", "self_url", "invite_url", "domain_url", "rules_url", "entered", "q"), H),
    "setup_url": H,
    "setup": "HERE",
    "directories": [{**dict.fromkeys(("name", "size", "state"), H), "refused": True}],
    **dict.fromkeys(("more_url", "plan"), H),
    "suspended": True,
    "kept": {H: H},
    "may": dict.fromkeys(("members", "domains", "sign_in", "plan"), True),
    "members": [
        {**dict.fromkeys(("name", "email", "roles", "role_url", "remove_url"), H), "own": own, "changeable": True}
        for own in (True, False)
    ],
    "invitations": [
        {**dict.fromkeys(("email", "detail", "resend_url", "revoke_url"), H), "failed": True, "changeable": True}
    ],
    "roles": [dict.fromkeys(("name", "description", "permissions"), H)],
    "role_choices": [{"value": H, "label": H}],
    "domains": [
        {
            **dict.fromkeys(("domain", "state", "record_name", "record", "checked"), H),
            **dict.fromkeys(("verify_url", "join_url", "remove_url"), H),
            "verified": verified,
            "joins": verified,
        }
        for verified in (True, False)
    ],
    "connections": [dict.fromkeys(("kind", "name", "domain", "state", "ends"), H)],
    "rules": [H],
    "features": [dict.fromkeys(("name", "limit"), H)],
}
SETUP = HOSTED
"""The values of the pages of setup links, some of which have the same names as those of the account pages."""
HOSTED = {**HOSTED, **ACCOUNT}
MESSAGE = {
    **dict.fromkeys(("id", "subject", "sender", "mail_from", "text"), H),
    "captured_at": NOW,
    "recipients": [H],
    "html": H,
    "redacted": True,
    "headers": [{"name": H, "value": H}],
    "attachments": [{"number": 1, "filename": H, "content_type": H, "size": 1}],
}
VALUES: dict[str, dict[str, Any]] = {
    "page.html": {"paragraphs": [H], "forms": [FORM]},
    "error.html": {"next": H, "code": H, "request_id": H},
    "docs.html": {},
    "guides.html": {"guides": {H: H}},
    "guide.html": {"guide": H},
    "problem.html": {"detail": H, "next": H, "http_status": H, "code": H},
    "unsubscribe.html": {"send_id": H, "signature": H, "sender": H, "recipient": H},
    "inbox/sign-in.html": {"email": H},
    "inbox/enter.html": {"token": H},
    "inbox/list.html": {
        "project": ITEM,
        "projects": [ITEM, ITEM],
        "q": H,
        "page": {"data": [ITEM], "page": 2, "pages": 3, "total": 1},
    },
    "inbox/message.html": {"project_id": H, "message": MESSAGE, "may_delete": True},
}
NAMES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.html"))
PAGES = [name for name in NAMES if name not in PARTIALS and not name.startswith("mail/")]


def values_of(name: str) -> dict[str, Any]:
    hosted = SETUP if name.startswith("hosted/setup") else HOSTED
    return {"title": HOSTILE, "site": HOSTILE, "error": HOSTILE, "language": "de", **(VALUES.get(name) or hosted)}


def test_every_template_has_test_values():
    assert {name for name in PAGES if not name.startswith("hosted/")} == set(VALUES)


@pytest.mark.parametrize("name", PAGES)
def test_every_value_is_escaped(name):
    values = values_of(name)
    html = str(page(name, **values).content)
    assert "<script>alert" not in html
    assert not re.search(r"""=["'][^"'<>]*["']["']>""", html), "a value ends its attribute"
    assert "49" not in html, "a value was rendered as a template"
    if values.get("error") and name != "docs.html":
        assert "&lt;script&gt;" in html


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("hosted/")])
@pytest.mark.parametrize("times", [0, 1, 2])
def test_texts_of_a_project_can_have_their_values_or_not(name, times):
    """Also twice, and with the characters that templates, scripts or formats give a meaning."""
    words = [form for message in page_messages() for form in (message.english, message.plural) if form]
    own = {english: f"Own words | %s {{{{ 7 * 7 }}}} {english * times}" for english in words}
    html = str(page(name, own_texts=own, **values_of(name)).content)
    assert "Own words" in html
    assert "49" not in html


@pytest.mark.parametrize("name", PAGES)
def test_every_variable_of_a_template_is_passed(name):
    """This includes variables in branches that are not rendered, and variables with a default."""
    used = TEMPLATES.undeclared_variables_in_template(name) - {"self", "field", "hidden", "_"}
    assert used <= values_of(name).keys()


def test_a_variable_that_is_not_passed_is_an_error():
    with pytest.raises(TemplateError):
        page("guide.html", "Title")


def test_all_pages_have_the_same_content_security_policy():
    """A page can add sources to a directive but not replace the policy. Styles and scripts come only from files."""
    assert page("docs.html").headers["Content-Security-Policy"] == (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; "
        "base-uri 'none'"
    )
    added_sources = {"img-src": "https://logo.example", "script-src": "'self'"}
    assert page("docs.html", policy=added_sources).headers["Content-Security-Policy"] == (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' https://logo.example; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )
    for name in PAGES:
        source = (FOLDER / name).read_text("utf-8")
        assert not re.search(r"<style|<script(?! src=)| style=| on[a-z]+=|\|\s*safe", source), name
