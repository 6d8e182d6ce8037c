"""Hosted pages fit a narrow phone in every language and a wide window, and are accessible in light and dark.

Chromium renders all of them in one run, without a network. With `POSTERN_SCREENSHOTS=folder` the page with all frames
is kept there.
"""

import json
import os
import re
from datetime import UTC, datetime
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest

import postern.web.pages
from postern.identity.oauth.rules import SCOPE_TEXTS
from postern.identity.setup_links.guides import GUIDES, shown_steps
from postern.identity.setup_links.pages import STATUS_TEXTS, TITLES
from postern.web.languages import LANGUAGES, counted_text, format_moment, text, translated
from postern.web.mails import render_mail
from postern.web.page_texts import PageTexts
from postern.web.pages import FOLDER, page
from postern.web.problem_texts import PROBLEM_TEXTS
from postern.web.qr import qr_code
from postern.web.themes import ThemeSettings, style_of, theme_of
from tests.peers.chromium import CHROMIUM, chromium
from tests.web.test_mails import MAILS
from tests.web.test_templates import URL_NAMES

WIDTH_PIXELS = 320
WIDE_PIXELS = 1280
WIDE_NAMES = (
    *("sign-in.html", "sign-up.html", "mfa.html", "oauth-consent.html", "terms.html", "invitation.html"),
    *("account.html", "organization.html", "setup-sso.html", "/error.html"),
)
"""The pages of every kind of layout, which are measured in a wide window, too."""
AXE_TAGS = "wcag2a wcag2aa wcag21a wcag21aa wcag22aa best-practice"
SVG = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' style='background:%2320939e'"
LOGO = f"{SVG} width='900' height='120'/%3E"
"""A wide logo."""
PICTURE = f"{SVG} width='2400' height='3200'/%3E"
ASSETS = Path(postern.web.pages.__file__).parent / "assets"
AXE = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"
PARTIALS = (
    *("layout.html", "back.html", "onwards.html", "passkey-form.html", "passkey-messages.html"),
    *("provider-icon.html", "account-layout.html"),
)
OTHERS = ("/error.html",)
"""Templates outside of `hosted/` that customers and their administrators see."""
NAMES = [*sorted(file.name for file in (FOLDER / "hosted").glob("*.html") if file.name not in PARTIALS), *OTHERS]
MAIL_NAMES = [name for name in MAILS if name.startswith("customers/")]
EMAIL = "maximiliane.oberhausen-schmitt@kaffeehaus-linden.example.com"
PROVIDERS = ["Google", "Microsoft", "GitHub", "Apple", "GitLab", "Discord", "Slack", "LinkedIn", "Facebook", "X"]

MOMENT = datetime(2026, 12, 31, 22, 45, tzinfo=UTC)
TIME = "TIME-OF-TESTS"
"""Stands in the values of pages for MOMENT as readers of the language write it."""
QR = qr_code("otpauth://totp/Northwind%20Coffee:ada@example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
DEVICE = {
    "name": text("{browser} on {system}", browser="Samsung Internet", system="ChromeOS"),
    "ip": "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
}
FIELD = {
    **dict.fromkeys(("value", "minlength", "maxlength", "inputmode"), ""),
    "type": "text",
    "autocomplete": "off",
    "required": True,
    "hint": PROBLEM_TEXTS["sso_required"],
    "options": [{"value": "x", "label": "Kaffeehaus Linden und Töchter, Hamburg", "selected": True}],
}
ACCOUNT_VALUES = {
    **dict.fromkeys(("account_url", "sign_out_url", "return_url", "next_url", "options", "form_token"), "/x"),
    "done": PROBLEM_TEXTS["sso_required"],
    "provider": "Microsoft",
    "own_language": "Português",
    "factor": TIME,
    "codes_left": "10",
    "form": {
        "title": text("Make {email} your main address?", email=EMAIL),
        **dict.fromkeys(("action", "back"), "/x"),
        "button": text("Make it the main address"),
        "paragraphs": [PROBLEM_TEXTS["sso_required"]],
        "inputs": [
            {**FIELD, "kind": kind, "name": kind, "label": text("Code from the app, or a recovery code")}
            for kind in ("input", "choice", "checks")
        ],
        "hidden": {"username": EMAIL},
        "danger": True,
    },
    "urls": dict.fromkeys((*URL_NAMES, "delete"), "/x"),
    "emails": [
        {"email": EMAIL, "primary": primary, "verified": verified, "primary_url": "/x", "remove_url": "/x"}
        for primary, verified in ((True, False), (False, True), (False, False))
    ],
    "offers": dict.fromkeys(("password", "passkey", "delete"), True),
    "has_password": True,
    "password_changed": TIME,
    "keys": [{"name": EMAIL, "detail": text("Added {added}", added=TIME), "rename_url": "/x", "remove_url": "/x"}],
    "devices": [{**DEVICE, "used": TIME, "end_url": "/x", "current": it} for it in (True, False)],
    "others": 1,
    "remembered": [{**DEVICE, "until": text("Until {time}", time=TIME), "forget_url": "/x"}],
    "identities": [
        {"name": "Microsoft", "url": "/x", "connected": connected, "icon": icon, "account": account}
        for connected, icon, account in ((True, "MICROSOFT", EMAIL), (True, "", ""), (False, "GITHUB", ""))
    ],
    "organizations": [{"name": EMAIL, "roles": "OWNER, billing-administrators", "url": "/x", "leave_url": "/x"}],
    "apps": [
        {
            "name": EMAIL,
            "publisher": "kaffeehaus-linden-reports-and-more.apps.example.com:8443",
            "scopes": list(SCOPE_TEXTS.values()),
            "since": TIME,
            "url": "/x",
        }
    ],
}
"""Long values of the account pages."""
ACCOUNT_VALUES |= {
    **dict.fromkeys(("self_url", "invite_url", "domain_url", "rules_url", "setup_url", "more_url"), "/x"),
    "setup": "HERE",
    "directories": [
        {
            "name": "Microsoft Entra",
            "size": text("Up to {count}", count="10000"),
            "state": text("Last request {time}", time=TIME),
            "refused": True,
        }
    ],
    "entered": EMAIL,
    "q": EMAIL,
    "size": text("Up to {count}", count="10000"),
    "own_roles": "OWNER, billing-administrators",
    "plan": "Kaffeehausgroßhandelspartnerprogramm",
    "suspended": False,
    "kept": {"lang": "de"},
    "may": dict.fromkeys(("members", "domains", "sign_in", "plan"), True),
    "members": [
        {
            "name": EMAIL,
            "email": EMAIL,
            "roles": "OWNER",
            "own": own,
            "changeable": True,
            "role_url": "/x",
            "remove_url": "/x",
        }
        for own in (True, False)
    ],
    "invitations": [
        {
            "email": EMAIL,
            "detail": text("As {role}, valid until {time}", role="billing-administrator", time=TIME),
            "failed": True,
            "changeable": True,
            "resend_url": "/x",
            "revoke_url": "/x",
        }
    ],
    "roles": [{"name": "Administrator", "description": "x " * 40, "permissions": "billing:invoices:write"}],
    "role_choices": [{"value": "x", "label": "Kaffeehausgroßhandelspartnerverwaltung"}],
    "domains": [
        {
            "domain": EMAIL.partition("@")[2],
            "state": text("Waiting for the record"),
            "verified": verified,
            "joins": verified,
            "record_name": f"_postern-verification.{EMAIL.partition('@')[2]}",
            "record": f"postern-verification={'x' * 32}",
            "checked": TIME,
            **dict.fromkeys(("verify_url", "join_url", "remove_url"), "/x"),
        }
        for verified in (True, False)
    ],
    "connections": [
        {
            "kind": "OpenID Connect",
            "name": "Microsoft Entra",
            "domain": EMAIL,
            "state": text("On, but it does not work now"),
            "ends": TIME,
        }
    ],
    "rules": [text("Sessions end after {count} minutes without use.", count="43200")],
    "features": [{"name": "Kaffeehausgroßhandelspartnerprogramm", "limit": text("Up to {count}", count="10000")}],
}
OTHER_VALUES = {
    "title": text("This did not work"),
    "detail": PROBLEM_TEXTS["sso_required"],
    "reason": f"The audience is https://{EMAIL[-31:]}/saml/01a2282b-c4f7-719b-acc3-17a249ae614b.",
    "request_id": "01a2282b-c4f7-719b-acc3-17a249ae614b",
    "next": "",
}
"""Values of the pages outside of `hosted/`."""

MEASURE = """
<!doctype html><html lang="en"><meta charset="utf-8"><title>pages</title>{frames}<pre id="result"></pre>
<script>{axe}</script>
<script>
addEventListener("load", async () => {{
  const results = {{}};
  for (const frame of document.querySelectorAll("iframe")) {{
    const page = frame.contentDocument, root = page.documentElement;
    const outside = [...page.body.querySelectorAll("main *, footer *")].filter((node) => {{
      const box = node.getBoundingClientRect();
      return box.width > 1 && (box.right > root.clientWidth + 0.5 || box.left < -0.5);
    }});
    const measured = {{ scrolls: root.scrollWidth - root.clientWidth }};
    measured.outside = outside.map((node) => node.outerHTML.slice(0, 90));
    if (frame.dataset.axe) {{
      frame.contentWindow.eval(document.scripts[0].textContent);
      const options = {{ resultTypes: ["violations"], runOnly: frame.dataset.axe.split(" ") }};
      const checked = await frame.contentWindow.axe.run(page, options);
      const parts = (rule) => rule.nodes.map((node) => node.html.slice(0, 120));
      measured.violations = checked.violations.map((rule) => [rule.id, parts(rule)]);
    }}
    results[frame.title] = measured;
  }}
  document.getElementById("result").textContent = JSON.stringify(results);
}});
</script>
"""


def setup_values() -> dict[str, object]:
    """The values of the pages of setup links."""
    url = "https://postern.kaffeehaus-linden.example.com/sso/saml/01a22643-f7cc-78a5-bc64-0219e1feb908"
    values = {"entity_id": url, "acs_url": f"{url}/acs", "base_url": url, "token": "scim_" + "x" * 46}
    record = {"record_name": f"_postern-verification.{EMAIL[-31:]}", "record": "postern-verification=" + "x" * 32}
    domain = {"id": "1", "domain": EMAIL[-31:], "status": STATUS_TEXTS["PENDING"], "verified": False, "removable": True}
    return {
        **dict.fromkeys(("entered", "overview", "change_url", "test_url", "metadata_url", "issuer", "client_id"), url),
        **dict.fromkeys(("provider", "chosen"), "Microsoft Entra ID"),
        **dict.fromkeys(("configured", "tested", "received", "supported", "connected", "may_add_domain"), True),
        **dict.fromkeys(("active", "has_secret", "accepted"), False),
        **dict.fromkeys(("user_count", "group_count"), 12),
        "domain": EMAIL[-31:],
        "organization_url": "/x",
        "steps": [{"title": title, "url": "/x", "done": False} for title in TITLES.values()],
        "guide": shown_steps(GUIDES["ENTRA"].sso + GUIDES["OKTA"].scim, values),
        "settings": [{"label": "Entity ID", "value": url}],
        "takes": ["client", "url", "xml"],
        "checks": [{"step": "audience", "ok": ok, "detail": f"The audience is {url}/x."} for ok in (True, False)],
        "profile": [{"label": "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress", "value": EMAIL}],
        "refused": [
            {"method": "PATCH", "path": f"/Users/{url[-36:]}", "status": 400, "detail": "The path is unknown."}
        ],
        "domains": [{**domain, **record}],
        "domain_names": [EMAIL[-31:]],
        "offered": [{"key": key, "name": guide.name} for key, guide in GUIDES.items()],
        "roles": ["BILLING_ADMINISTRATOR"],
        "groups": [{"id": str(number), "name": "Platform administrators", "role": ""} for number in range(2)],
    }


def rendered(name: str, language: str, *, dark: bool = False, pictured: bool = False, **changed: object) -> str:
    """A page with long values, its style sheets inline, and the menu of languages open; if `pictured`, with a logo and
    a picture. `changed` are other values of the template."""
    base = "/projects/1/auth/pages"
    languages = [{"code": code, "name": name_, "url": f"{base}/x?lang={code}"} for code, name_ in LANGUAGES.items()]
    values = {
        **dict.fromkeys(("action", "home", "uri", "url", "again"), f"{base}/x"),
        **dict.fromkeys(
            ("mfaToken", "pageToken", "challenge", "token", "session", "query", "lang_query", "kept_query"), "x"
        ),
        "name": "",
        "key": "JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP",
        "resent": "",
        "user_code": "WDJB-MJHT",
        "account": EMAIL,
        "email": EMAIL,
        "client": "Northwind Reports",
        "organization": "Kaffeehaus Linden",
        "code": "invalid_request_uri",
        "reason": "The request_uri is unknown.",
        "customer": EMAIL,
        "posted": {"SAMLRequest": "x"},
        "actor": EMAIL,
        "duration": counted_text("{count} minute", "{count} minutes", 30),
        "destination": "app.example.com",
        "publisher": "kaffeehaus-linden-reports-and-more.apps.example.com:8443",
        **dict.fromkeys(("heading", "message", "detail", "error"), PROBLEM_TEXTS["sso_required"]),
        **dict.fromkeys(("adds_passkey", "passkeys", "sign_up", "sso", "third_party", "self_registered"), True),
        **dict.fromkeys(("asks_code", "asks_passkey"), True),
        "remember": counted_text(
            "Do not ask for it on this device for {count} day", "Do not ask for it on this device for {count} days", 90
        ),
        "sso_only": False,
        "resource": "Northwind Notes and Reports",
        "choices": [{"name": "Kaffeehaus Linden und Töchter, Hamburg", "url": "/x"}] * 2,
        "picture": PICTURE if pictured else None,
        "logo": LOGO if pictured else None,
        "base": base,
        "site": "Northwind Coffee",
        "codes": ["abcd-efgh-ijkl"] * 10,
        "flow": {"state": "x"},
        "fields": {"x": "x"},
        "switch_form": None,
        "links": [{"url": "https://a.example", "text": text("privacy policy")}] * 2,
        "scopes": list(SCOPE_TEXTS.values()),
        "methods": ["PASSWORD", "EMAIL_CODE"],
        "ways": ["PASSWORD", "EMAIL_CODE"],
        "forgot_url": "/x",
        "texts": PageTexts(footer="Northwind Coffee GmbH, Speicherstadt 4, 20457 Hamburg"),
        "providers": [{"name": provider, "url": "/x", "icon": provider.upper()} for provider in PROVIDERS],
        "qr": QR,
        "foot_links": [{"url": "/x", "text": PROBLEM_TEXTS["customer_banned"]}] * 3,
        "wrong_password": False,
        "until": {"iso": "2026-01-31T12:00:00Z", "text": "12:00 UTC"},
        "accepted_links": [{"url": "https://a.example", "text": text("Privacy")}] * 2,
        "terms": {"version": "1"},
        "termsToken": "x",
        "acceptedTerms": "",
        "terms_error": PROBLEM_TEXTS["terms_not_accepted"],
        "languages": languages,
        "language_name": LANGUAGES[language],
        "reference": "01a2282b-c4f7-719b-acc3-17a249ae614b",
        "time": TIME,
        "inviter": EMAIL,
        "role": "Kaffeehausgroßhandelspartnerverwaltung",
        "role_description": "Sees prices, places orders and approves orders.",
        "valid_until": TIME,
        **(setup_values() if name.startswith("setup") else ACCOUNT_VALUES),
        **(OTHER_VALUES if name in OTHERS else {}),
        **changed,
    }
    template = name[1:] if name in OTHERS else f"hosted/{name}"
    html = str(page(template, language=language, **values).content)
    theme = style_of(theme_of("#0a7d55", ThemeSettings()))
    style = "".join((ASSETS / file).read_text() for file in ("postern.css", "hosted.css", "account.css")) + theme
    if dark:
        style = re.sub(r"@media \(prefers-color-scheme: ?dark\)", "@media all", style)
    html = re.sub(r'<link rel="stylesheet"[^>]*>|<script.*?</script>|<meta http-equiv="refresh"[^>]*>', "", html)
    html = html.replace("</head>", f"<style>{style}</style></head>").replace(
        '<details class="lang">', '<details class="lang" open>'
    )
    html = html.replace(TIME, format_moment(language, MOMENT))
    return html.replace('<div id="passkeys" hidden>', '<div id="passkeys">')


def rendered_mail(name: str, language: str) -> str:
    """The HTML of a mail with long values; `name` is one of MAIL_NAMES."""
    device = translated(language, text("{browser} on {system}", browser="Samsung Internet", system="ChromeOS"))
    values = {
        **dict.fromkeys(("app", "organization"), "Kaffeehaus Linden und Töchter, Hamburg"),
        "device": device,
        "change": translated(language, text("{sign_in} was added", sign_in=EMAIL)),
        "reason": "The invoice of January cannot be downloaded",
        **dict.fromkeys(("inviter", "role"), "Maximiliane Oberhausen-Schmitt"),
        **dict.fromkeys(("time", "until"), format_moment(language, MOMENT)),
        "role_description": f"Sees prices, places orders and approves them. {'x' * 60}",
        "ip": str(DEVICE["ip"]),
        "minutes": "10",
        "source": f"{device}, {DEVICE['ip']}",
        "email": EMAIL,
        "code": "428913",
        "link": f"https://accounts.kaffeehaus-linden.example.com/in?token={'x' * 60}",
    }
    return render_mail(name, language=language, **values).html


async def measured(
    frames: dict[str, str], file: Path, axe_tags: str, width_pixels: int = WIDTH_PIXELS
) -> dict[str, Any]:
    """What Chromium measures of pages of this width, by their titles.

    `axe_tags` are the tags of the rules that axe checks, separated by spaces; without any, axe does not run. `file` is
    written with all pages as frames.
    """
    html = "".join(
        f'<iframe title="{title}" width="{width_pixels}" height="900" data-axe="{axe_tags}"'
        f' srcdoc="{escape(text)}"></iframe>'
        for title, text in frames.items()
    )
    file.write_text(MEASURE.format(frames=html, axe=AXE.read_text()))
    dump = await chromium("--dump-dom", "--virtual-time-budget=60000", f"file://{file}")
    match = re.search(r'<pre id="result">(.*?)</pre>', dump, re.DOTALL)
    assert match, dump[-2_000:]
    results = json.loads(unescape(match[1]))
    assert results.keys() == frames.keys()
    return results


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium")
@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: cd web && npm ci")
@pytest.mark.parametrize("language", LANGUAGES)
async def test_pages_fit_a_narrow_phone_in_every_language_and_are_accessible(tmp_path, language):
    """One run of Chromium for all pages in a language; the German ones are dark, and the English ones both."""
    has_axe = language in ("en", "de")
    schemes = {"en": (False, True), "de": (True,)}.get(language, (False,))
    frames = {
        f"{name} {language}{' dark' if dark else ''}": rendered(name, language, dark=dark)
        for dark in schemes
        for name in NAMES
    }
    assert len(frames) == len(NAMES) * len(schemes) > 30
    file = Path(os.environ.get("POSTERN_SCREENSHOTS") or tmp_path) / f"hosted-pages-{language}.html"
    results = await measured(frames, file, AXE_TAGS if has_axe else "")
    assert sum("violations" in result for result in results.values()) == has_axe * len(frames)
    assert wrong_of(results) == {}


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium")
@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: cd web && npm ci")
async def test_pages_with_a_logo_and_a_picture_fit_a_wide_window_and_are_accessible(tmp_path):
    """One run of Chromium for pages of every kind; the German ones are dark."""
    frames = {
        f"{name} {language}": rendered(name, language, dark=language == "de", pictured=True)
        for language in ("de", "ja")
        for name in WIDE_NAMES
    }
    assert all(f'<img src="{LOGO.partition(":")[0]}:' in page for title, page in frames.items() if title[0] != "/")
    assert sum('class="art"' in page for page in frames.values()) > len(WIDE_NAMES)
    file = Path(os.environ.get("POSTERN_SCREENSHOTS") or tmp_path) / "hosted-pages-wide.html"
    results = await measured(frames, file, AXE_TAGS, WIDE_PIXELS)
    assert wrong_of(results) == {}


def wrong_of(results: dict[str, Any]) -> dict[str, Any]:
    """The measured pages that do not fit, or violate a rule."""
    return {
        title: result
        for title, result in results.items()
        if result["scrolls"] > 0 or result["outside"] or result.get("violations")
    }


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium")
@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: cd web && npm ci")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_mails_fit_a_narrow_phone_in_every_language_and_are_accessible(tmp_path, dark):
    frames: dict[str, str] = {}
    for language in LANGUAGES:
        for name in MAIL_NAMES:
            html = rendered_mail(name, language)
            if dark:
                html = html.replace("@media (prefers-color-scheme: dark)", "@media all")
            frames[f"{name} {language}"] = html
    assert len(frames) > 70
    file = Path(os.environ.get("POSTERN_SCREENSHOTS") or tmp_path) / f"mails-{'dark' if dark else 'light'}.html"
    results = await measured(frames, file, "wcag2a wcag2aa")
    wrong = {title: result for title, result in results.items() if result["scrolls"] > 0 or result["violations"]}
    assert wrong == {}
