"""The dashboard's session and mail previews in a real browser."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from tests.peers.chromium import CHROMIUM, Browser, open_browser
from tests.peers.whole_server import whole_server

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium")

PAGE = """<!doctype html>
<html><head><meta charset="utf-8"><meta name="style-nonce" nonce="{{nonce}}">
<script type="module" src="./assets/app.js"></script></head><body><div id="root">Loading</div></body></html>
"""
SCRIPT = """
import { greeting } from "./part.js";

const style = document.createElement("style");
style.nonce = document.querySelector("meta[name=style-nonce]").nonce;
style.textContent = "iframe { width: 600px; height: 500px; border: 0; position: absolute; left: 0; top: 100px }";
document.head.append(style);

window.call = async (method, path, body) => {
  const response = await fetch(`/dashboard/api${path}`, {
    method,
    headers: { "X-Postern-Dashboard": "1", ...(body ? { "Content-Type": "application/json" } : {}) },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : null };
};
window.show = (path) => new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.src = path;
  frame.onload = () => resolve(true);
  document.body.append(frame);
});
window.messages = [];
window.addEventListener("message", (event) => window.messages.push(event.data));
document.getElementById("root").textContent = greeting;
"""
ATTACKS = """<!doctype html><html><head>
<base href="{canary}/base/" target="_top">
<meta http-equiv="refresh" content="0; url={canary}/refresh">
<link rel="stylesheet" href="{canary}/style"><link rel="prefetch" href="{canary}/prefetch">
<link rel="preload" as="image" href="{canary}/preload"><link rel="icon" href="{canary}/icon">
<style>@import url({canary}/import); @font-face {{ font-family: x; src: url({canary}/font) }}
body {{ margin: 0; font-family: x; background: url({canary}/background) }}
a, button {{ position: absolute; left: 0; width: 600px; height: 100px }}</style>
<script>parent.postMessage("script", "*"); top.location = "{canary}/script"; fetch("{canary}/fetch")</script>
</head><body onload="parent.postMessage('onload', '*')">
<img src="x" onerror="parent.postMessage('onerror', '*')"><svg onload="parent.postMessage('svg', '*')"></svg>
<img src="{canary}/image"><video src="{canary}/video" poster="{canary}/poster" autoplay></video>
<audio src="{canary}/audio" autoplay></audio><iframe src="{canary}/iframe"></iframe>
<iframe srcdoc="<script>top.postMessage('srcdoc', '*')</script>"></iframe>
<iframe src="javascript:top.postMessage('javascript', '*')"></iframe>
<object data="{canary}/object"></object><embed src="{canary}/embed">
<details open ontoggle="parent.postMessage('toggle', '*')"></details>
<input autofocus onfocus="parent.postMessage('focus', '*')">
<a href="{canary}/top" target="_top" style="top: 0">Top</a>
<a href="{canary}/self" target="_self" style="top: 100px">Self</a>
<a href="javascript:top.postMessage('link', '*')" target="_self" style="top: 200px">Script</a>
<a href="{canary}/tab" style="top: 400px">Link</a>
<form action="{canary}/form" method="post" target="_top"><button style="top: 300px">Form</button></form>
</body></html>"""
REMOTE_IMAGES = {"/image", "/background", "/poster", "/preload", "/prefetch"}
"""What may be requested from the attacker's server if the person loads the images of a mail."""
NEW_TAB = {"/tab", "/favicon.ico"}
"""What the tab requests that the person has opened with the usual link."""
FRAME = """
new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.src = "URL";
  frame.onload = () => resolve(true);
  document.body.append(frame);
})
"""
"""JavaScript: load a page in a frame."""
CLICKS = (50, 250, 350, 450, 150)
"""Where to click in the frame: on the links and the button. The link that replaces the frame's content is the last."""
FRAME_TOP = 100
"""The distance of the frame from the top of the window, in pixels."""


@contextmanager
def canary() -> Iterator[tuple[str, list[str]]]:
    """A server of the attacker: its URL, and the paths that were requested from it."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        # A name, so that the attacker is another site than 127.0.0.1.
        yield f"http://localhost:{server.server_port}", paths
    finally:
        server.shutdown()
        thread.join()


def call(browser: Browser, method: str, path: str, body: object = None) -> dict:
    """Call the API as a script of the dashboard."""
    return browser.evaluate(f"call({json.dumps(method)}, {json.dumps(path)}, {json.dumps(body)})")


async def test_the_dashboard_signs_in_and_shows_hostile_mail_safely(tmp_path: Path):
    """With its Content-Security-Policy the page runs; HTML of others runs nothing, sends nothing and loads nothing."""
    build = tmp_path / "build"
    (build / "assets").mkdir(parents=True)
    (build / "index.html").write_text(PAGE)
    (build / "assets/app.js").write_text(SCRIPT)
    (build / "assets/part.js").write_text('export const greeting = "Ready";\n')
    with (
        whole_server(tmp_path / "data", dashboard_folder=build) as server,
        canary() as (attacker, requested),
        open_browser() as browser,
    ):
        account = await server.account()
        browser.show_as(width=1280, height=800)
        browser.open(account.dashboard_url)
        browser.wait_for("Ready")
        assert browser.url == account.dashboard_url
        token = account.dashboard_url.partition("#")[2]
        assert call(browser, "GET", "/account")["body"]["code"] == "credential_missing"
        signed_in = call(browser, "POST", "/welcome", {"token": token})
        assert (signed_in["status"], signed_in["body"]["developer"]["email"]) == (200, account.developer_email)
        assert call(browser, "GET", "/account")["status"] == 200
        (cookie,) = browser.cookies()
        attributes = (cookie["name"], cookie["path"], cookie["httpOnly"], cookie["sameSite"], cookie["secure"])
        assert attributes == ("postern-dashboard", "/dashboard", True, "Strict", False)
        assert browser.evaluate("document.cookie") == ""
        expected = ["Failed to load resource: the server responded with a status of 401 (Unauthorized)"]
        assert [line.rpartition(" ")[0] for line in browser.console] == expected, "no violation of the policy"

        mail = {
            "from": "a@example.org",
            "to": ["b@example.com"],
            "subject": "x",
            "html": ATTACKS.format(canary=attacker),
        }
        headers = {"authorization": f"Bearer {account.secret_key}"}
        project = f"/projects/{account.project_id}"
        async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60) as client:
            sent = await client.post(f"{project}/emails", json={**mail, "trackClicks": False})
        assert sent.status_code == 201, sent.text
        preview = f"{project}/emails/logs/{sent.json()['id']}/preview"

        for images, allowed in ((False, NEW_TAB), (True, NEW_TAB | REMOTE_IMAGES)):
            path = call(browser, "POST", preview, {"images": images})["body"]["path"]
            browser.evaluate(f"show({json.dumps(path)})")
            for offset in CLICKS:
                for kind in ("mousePressed", "mouseReleased"):
                    position = {"x": 300, "y": FRAME_TOP + offset}
                    browser.command("Input.dispatchMouseEvent", type=kind, **position, button="left", clickCount=1)
                browser.evaluate("new Promise(resolve => setTimeout(resolve, 300))")
            assert {"/tab"} <= set(requested) <= allowed, images
            assert not images or "/image" in requested
            assert browser.url == account.dashboard_url
            assert browser.evaluate("messages") == []
            assert browser.evaluate("document.querySelector('iframe').contentDocument") is None, "another origin"
            browser.evaluate("document.querySelector('iframe').remove()")
        assert call(browser, "GET", "/account")["status"] == 200

        # The attacker's site, and the person's own click there, have no session.
        browser.open(f"{attacker}/page")
        for method in ("GET", "POST"):
            attempt = f"fetch('{server.url}/dashboard/api/account', {{method: '{method}', credentials: 'include'}})"
            assert browser.evaluate(f"{attempt}.then(() => 'read', () => 'refused')") == "refused"
        browser.evaluate(FRAME.replace("URL", f"{server.url}/dashboard"))
        assert "frame" in " ".join(browser.console).lower(), "the page refuses to be framed"
