"""Every page fits the width of a phone.

Chromium renders each page with its stylesheet in a frame of 390 px, without a network. With
`POSTERN_SCREENSHOTS=folder` the test also saves screenshots of each page there: light and dark, wide and narrow.
"""

import json
import os
import re
from html import escape, unescape
from pathlib import Path
from urllib.parse import urlencode, urlsplit
from uuid import UUID

import pytest

from postern.identity.organizations.rules import invitation_token
from tests.conftest import PASSWORD
from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_pages import FLOW, Page, browser
from tests.identity.customers.test_providers import put
from tests.identity.customers.test_second_factor import App, with_totp
from tests.identity.sso.conftest import REDIRECT_URL, person
from tests.peers.chromium import CHROMIUM, chromium

__all__ = ["browser"]

NARROW_PIXELS, WIDE_PIXELS = 390, 1_100
LONG = "a-very-long-name-without-any-blank-that-a-browser-could-break-at-" * 3

MEASURE = """
<!doctype html><meta charset="utf-8"><title>pages</title>{frames}<pre id="result"></pre>
<script>
addEventListener("load", () => {{
const results = {{}};
for (const frame of document.querySelectorAll("iframe")) {{
  const page = frame.contentDocument, root = page.documentElement;
  const scrolls = (node) => node && (getComputedStyle(node).overflowX !== "visible" || scrolls(node.parentElement));
  const wide = [...page.body.querySelectorAll("main *")].filter((node) => {{
    if (scrolls(node.parentElement)) return false;
    const box = node.getBoundingClientRect();
    return box.width > 0 && (box.right > root.clientWidth + 0.5 || box.left < -0.5);
  }});
  results[frame.title] = {{
    scrolls: root.scrollWidth - root.clientWidth,
    outside: wide.map((node) => node.tagName + "." + node.className).slice(0, 5),
    size: [root.clientWidth, root.scrollHeight],
  }};
}}
document.getElementById("result").textContent = JSON.stringify(results);
}});
</script>
"""


async def with_inline_styles(auth, text: str) -> str:
    """A page with its style sheets inline and without scripts, so that Chromium can render it from a file."""
    for link in re.findall(r'<link rel="stylesheet" href="([^"]+)">', text):
        css = await auth.client.get(f"http://postern.test{unescape(link)}")
        assert css.status_code == 200, link
        text = text.replace(f'<link rel="stylesheet" href="{link}">', f"<style>{css.text}</style>")
    text = re.sub(r"<script.*?</script>|<meta http-equiv=\"refresh\"[^>]*>", "", text)
    # Scripts show this element; here it is shown without them.
    return text.replace('<div id="passkeys" hidden>', '<div id="passkeys">')


async def sign_in_pages(auth, browser, clock) -> dict[str, str]:
    address = f"{'x' * 60}@{'y' * 40}.example.com"
    await auth.settings(redirectUrls=[REDIRECT_URL], appName=LONG[:120])
    for provider in ("GOOGLE", "GITHUB"):
        await put(auth, provider, "https://login.example", kind=provider)
    await auth.signed_up(address)
    sign_in = await browser.open("sign-in", **FLOW)
    wrong_password = await browser.submit(sign_in, email=address, password="wrong password")
    sign_up = await browser.open("sign-up", **FLOW)
    pages = {"sign-in": sign_in, "sign-in-wrong": wrong_password, "sign-up": sign_up}
    pages["sign-up-code"] = await browser.submit(sign_up, email=new_address(), password=GOOD, name="Ada")
    pages["code"] = await browser.submit(sign_in, f"{browser.base}/code", email=address)
    pages["code-wrong"] = await browser.submit(pages["code"], code="abc")
    pages["forgot"] = await browser.open("forgot", **FLOW)
    pages["forgot-done"] = await browser.submit(pages["forgot"], email=address)
    pages["reset"] = await browser.open("reset", token=await auth.link_token(address))
    pages["reset-done"] = await browser.submit(pages["reset"], password="another password here")
    pages["reset-used"] = await browser.open("reset", token="0" * 64)
    add_passkey = await browser.open("sign-in", **FLOW, then="passkey")
    pages["passkey-add"] = await browser.submit(add_passkey, email=address, password="another password here")
    address_with_factor = new_address()
    await with_totp(auth, clock, address_with_factor)
    pages["mfa"] = await browser.submit(sign_in, email=address_with_factor, password=GOOD)
    await auth.settings(requireMfa=True)
    address_without_factor = new_address()
    challenge = (await auth.post("/sign-up", {"email": address_without_factor, "password": GOOD})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(address_without_factor)}
    mfa_token = (await auth.post("/sign-up/verify", body)).json()["mfaToken"]
    pages["mfa-set-up"] = await browser.open("mfa", **FLOW, mfaToken=mfa_token)
    totp_key = re.search(r'class="key">([A-Z2-7 ]+)<', pages["mfa-set-up"].text)[1].replace(" ", "")
    pages["mfa-set-up-wrong"] = await browser.submit(pages["mfa-set-up"], code="12345")
    pages["recovery-codes"] = await browser.submit(pages["mfa-set-up"], code=App(totp_key, clock).code())
    await auth.settings(requireMfa=False, methods=["EMAIL_CODE"])
    pages["sign-in-by-code"] = await browser.open("sign-in", **FLOW)
    return {name: page.text for name, page in pages.items()}


async def organization_pages(auth, acme, browser, world) -> dict[str, str]:
    name, email = LONG[:190], new_address()
    organization = await acme.directory.organization(name)
    base = f"/b2b/organizations/{organization['id']}/invitations"
    invitation = (await acme.client.post(base, {"email": email})).json()
    token = invitation_token(world.secrets, UUID(auth.project.id), UUID(invitation["id"]), 1)
    pages = {"invitation": await browser.open("invitation", token=token)}
    pages["invitation-accepted"] = await browser.submit(pages["invitation"])
    pages["invitation-unknown"] = await browser.open("invitation", token="nonsense")
    await acme.connect(name=LONG[:190])
    path = f"/projects/{auth.project.id}/auth/pages/sso"
    redirect_page = await acme.client.request("POST", path, data={**FLOW, "email": acme.address()})
    pages["sso-going"] = Page(redirect_page)
    visitor = acme.browser()
    test = (await acme.client.post(f"{acme.connection_path}/test")).json()["url"]
    user = person(acme.address(), name_id=LONG * 3, groups=[LONG, "staff"], **{f"http://{LONG}": [LONG * 4]})
    started = (await visitor.client.get(test)).headers["location"]
    passed = await visitor.post(*visitor.idp_response(started, person=user))
    assert "The test succeeded" in passed.text
    started = (await visitor.client.get(test)).headers["location"]
    failed = await visitor.post(*visitor.idp_response(started, person=user, audience=f"https://{LONG}.example"))
    assert "The test failed" in failed.text
    refused = await visitor.post(acme.connection["spAcsUrl"], {"SAMLResponse": "nonsense"})
    changed = await acme.client.patch(f"/b2b/organizations/{acme.organization['id']}", {"requireSso": True})
    assert changed.status_code == 200
    await auth.settings(requireSso=True)
    required = await browser.open("sign-in", **FLOW)
    return {
        **{name: page.text for name, page in pages.items()},
        "sso-test": passed.text,
        "sso-test-failed": failed.text,
        "sso-refused": refused.text,
        "sso-required": required.text,
    }


async def developer_pages(auth, stranger) -> dict[str, str]:
    """Pages for developers and operators: the inbox, targets of links in e-mails, guides and problems."""
    mail = {"from": f"shop@{'z' * 50}.example.com", "to": [new_address()], "subject": LONG, "html": f"<p>{LONG}</p>"}
    assert (await auth.project.client.post("/emails", mail)).status_code == 201
    credentials = {"email": auth.project.email, "password": PASSWORD}
    signed_in = await stranger.request("POST", "http://postern.test/inbox/sign-in", data=credentials)
    assert signed_in.status_code in (200, 302, 303), signed_in.text
    message = (await auth.project.client.get("/inbox")).json()["data"][0]
    html = {"accept": "text/html"}
    paths = {
        "verify-email": "verify-email?token=nonsense",
        "reset-password": "reset-password?token=nonsense",
        "join": "join?token=nonsense",
        "inbox": f"inbox/{auth.project.id}",
        "inbox-message": f"inbox/{auth.project.id}/{message['id']}",
        "guide": "guide/customers",
        "problem-meaning": "problems/sso_required",
    }
    pages: dict[str, str] = {}
    for name, path in paths.items():
        answer = await stranger.get(f"http://postern.test/{path}", headers=html)
        assert answer.status_code == 200, (path, answer.text)
        pages[name] = answer.text
    return pages


async def other_pages(auth, stranger) -> dict[str, str]:
    mail = {"from": "shop@example.com", "to": [new_address()], "subject": "Hello", "text": "Hello", "html": "<p>Hi</p>"}
    sent = await auth.project.client.post("/emails", {**mail, "unsubscribable": True})
    assert sent.status_code == 201, sent.text
    inbox = (await auth.project.client.get("/inbox")).json()["data"][0]
    message = (await auth.project.client.get(f"/inbox/{inbox['id']}")).json()
    header = next(
        header_field["value"] for header_field in message["headers"] if header_field["name"] == "List-Unsubscribe"
    )
    url = urlsplit(header.strip("<>"))
    headers_for_html = {"accept": "text/html"}
    flow = urlencode({**FLOW, "redirectUrl": "https://elsewhere.example"})
    responses = {
        "unsubscribe": await stranger.get(f"{url.path}?{url.query}", headers=headers_for_html),
        "unsubscribed": await stranger.request("POST", f"{url.path}?{url.query}", data={}, headers=headers_for_html),
        "link-not-valid": await stranger.get(f"{url.path}?s=wrong", headers=headers_for_html),
        "problem": await stranger.get(
            f"/projects/{auth.project.id}/auth/pages/sign-in?{flow}", headers=headers_for_html
        ),
        "not-found": await stranger.get(f"http://postern.test/{LONG}", headers=headers_for_html),
        "inbox-sign-in": await stranger.get("http://postern.test/inbox", headers=headers_for_html),
    }
    return {name: response.text for name, response in responses.items()}


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium")
async def test_no_page_is_wider_than_a_phone(auth, acme, browser, world, stranger, clock, tmp_path):
    """Regression test of I12 (tests/defects.md)."""
    pages = {
        **await other_pages(auth, stranger),
        **await developer_pages(auth, stranger),
        **await sign_in_pages(auth, browser, clock),
        **await organization_pages(auth, acme, browser, world),
    }
    assert len(pages) >= 38
    assert [name for name, text in pages.items() if "<main" not in text] == []
    files = {name: await with_inline_styles(auth, text) for name, text in pages.items()}
    frames = "".join(
        f'<iframe title="{name}" width="{NARROW_PIXELS}" height="800" srcdoc="{escape(text)}"></iframe>'
        for name, text in files.items()
    )
    (tmp_path / "pages.html").write_text(MEASURE.format(frames=frames))
    dump = await chromium("--dump-dom", "--virtual-time-budget=10000", f"file://{tmp_path}/pages.html")
    match = re.search(r'<pre id="result">(.*?)</pre>', dump, re.DOTALL)
    assert match, dump[-2_000:]
    results = json.loads(unescape(match[1]))
    assert results.keys() == pages.keys()
    too_wide = {name: result for name, result in results.items() if result["scrolls"] > 0 or result["outside"]}
    await save_screenshots(files, results)
    assert too_wide == {}


async def save_screenshots(files: dict[str, str], results: dict[str, dict]) -> None:
    """Save screenshots in the folder POSTERN_SCREENSHOTS, if it is set."""
    folder = os.environ.get("POSTERN_SCREENSHOTS")
    if not folder:
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    for theme, width in (
        ("light", WIDE_PIXELS),
        ("dark", WIDE_PIXELS),
        ("light", NARROW_PIXELS),
        ("dark", NARROW_PIXELS),
    ):
        if width == WIDE_PIXELS and theme == "dark":
            continue
        frames = "".join(
            f'<figure style="margin:8px;display:inline-block;vertical-align:top"><figcaption>{name}</figcaption>'
            f'<iframe width="{width}" height="{min(results[name]["size"][1] + 4, 1_400) if width < 500 else 900}"'
            f' srcdoc="{escape(text)}"></iframe></figure>'
            for name, text in files.items()
        )
        sheet = Path(folder) / f"{theme}-{width}.html"
        sheet.write_text(f'<!doctype html><meta charset="utf-8"><body style="background:#888">{frames}')
        dark_mode = ["--blink-settings=preferredColorScheme=0"] if theme == "dark" else []
        await chromium(
            *dark_mode, "--window-size=2460,6000", f"--screenshot={folder}/{theme}-{width}.png", f"file://{sheet}"
        )
