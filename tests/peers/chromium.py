"""Headless Chromium: one run for a page in a file, or a `Browser` that a test controls."""

import asyncio
import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.peers.interfaces import interfaces_stay

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
"""The headless shell is the same browser without windows, and takes less processor time."""
CHROMIUM = next(filter(None, map(shutil.which, PROGRAMS)), None)
WAIT_SECONDS = 120
POLL_SECONDS = 0.05
HEADLESS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
ON_LOOPBACK = ("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync")
KEYS = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Home": 36, "End": 35, " ": 32}
"""Windows key codes, which Chromium needs for keys that do something."""

FIND = """
(target => {
  const visible = element => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== "hidden";
  const text = element => {
    const copy = element.cloneNode(true);
    copy.querySelectorAll("[aria-hidden=true]").forEach(hidden => hidden.remove());
    return copy.textContent;
  };
  const name = element => (element.getAttribute("aria-label") || text(element) || element.value || "")
    .replace(/\\s+/g, " ").trim();
  const controls = [...document.querySelectorAll(
    "button, a, summary, input[type=submit], [role^=menuitem], [role=option], [role=tab]")].filter(visible);
  return controls.find(element => name(element) === target)
    || controls.find(element => name(element).startsWith(target))
    || (() => { try { return [...document.querySelectorAll(target)].find(visible); } catch { return undefined; } })();
})"""
"""JavaScript: the visible control that has this name, or whose name begins so, or that this CSS selector finds."""

AIM = (
    "(target => { const find = "
    + FIND
    + """;
  const box = element => { const { x, y, width, height } = element.getBoundingClientRect();
    return { x: x + width / 2, y: y + height / 2 }; };
  // Chromium draws no frames of a page that is behind another.
  const frame = () => new Promise(done => { requestAnimationFrame(done); setTimeout(done, 100); });
  return (async () => {
    const element = find(target);
    if (!element) return null;
    element.scrollIntoView({ block: "center" });
    const before = box(element);
    await frame();
    await frame();
    const { x, y } = box(element);
    const isHit = hit => element.contains(hit) || hit?.closest?.("label")?.control === element;
    if (x !== before.x || y !== before.y || !isHit(document.elementFromPoint(x, y))) return null;
    const kinds = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"];
    // The press decides: what opens a menu on a press covers itself before the release.
    const click = (window.postern_click = { missed: null });
    const check = event => {
      click.missed ??= !isHit(event.target);
      if (click.missed) { event.preventDefault(); event.stopImmediatePropagation(); }
    };
    for (const kind of kinds) window.addEventListener(kind, check, true);
    click.end = () => {
      for (const kind of kinds) window.removeEventListener(kind, check, true);
      return click.missed;
    };
    return [x, y];
  })();
})"""
)
"""JavaScript: where to click on what FIND returns; null while it moves or something covers it.

Until `postern_click.end()`, which says whether the click missed, clicks on anything else do nothing.
"""


async def chromium(*arguments: str) -> str:
    """Run Chromium with these arguments and return its standard output. Raises TimeoutError after WAIT_SECONDS."""
    assert CHROMIUM is not None
    process = await asyncio.create_subprocess_exec(
        CHROMIUM,
        *HEADLESS,
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), WAIT_SECONDS)
    finally:
        if process.returncode is None:
            # CHROMIUM may be a shell script, whose child would keep the pipe open.
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    return output.decode()


class BrowserError(Exception):
    """Chromium answered a command with an error."""


class Browser:
    """A Chromium process with a page, controlled through a pipe (Chrome DevTools Protocol).

    All methods block. Those that wait raise AssertionError after WAIT_SECONDS, with what the page shows.
    """

    def __init__(self, profile: Path) -> None:
        assert CHROMIUM is not None
        pipe_in, self._commands = os.pipe()
        self._answers, pipe_out = os.pipe()
        # Chromium reads from descriptor 3 and writes to descriptor 4, so these pipes must have other numbers.
        commands, answers = (fcntl.fcntl(pipe, fcntl.F_DUPFD, 10) for pipe in (pipe_in, pipe_out))
        script = f'exec "$0" "$@" 3<&{commands} 4>&{answers} {commands}<&- {answers}>&-'
        arguments = (*HEADLESS, *ON_LOOPBACK, "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank")
        self._process = subprocess.Popen(
            ["bash", "-c", script, CHROMIUM, *arguments],
            pass_fds=(commands, answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for descriptor in (pipe_in, pipe_out, commands, answers):
            os.close(descriptor)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.console: list[str] = []
        """Errors that pages reported: exceptions and messages of the level `error`."""
        targets = self.command("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.command("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.command(f"{domain}.enable")

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command of the protocol and return its result. Raises BrowserError."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(answer["error"]["message"])
                return answer["result"]
            self._note(answer)

    def _read(self) -> dict[str, Any]:
        answers = select.poll()
        answers.register(self._answers, select.POLLIN)
        while b"\0" not in self._buffer:
            assert answers.poll(WAIT_SECONDS * 1_000), "Chromium does not answer."
            received = os.read(self._answers, 1 << 20)
            assert received, "Chromium ended."
            self._buffer += received
        line, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(line)

    def _note(self, event: dict[str, Any]) -> None:
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.console.append(details.get("exception", {}).get("description") or details["text"])
        elif event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            self.console.append(
                " ".join(str(part.get("value", part.get("description"))) for part in parameters["args"])
            )
        elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.console.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, awaited if it is a promise. Raises BrowserError if it throws."""
        result = self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    def wait(self, expression: str) -> Any:
        """Wait until a JavaScript expression is truthy, also across navigations; returns its value."""
        ends = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < ends:
            try:
                # An element has no value here.
                if value := self.evaluate(f"(value => value instanceof Node || value)({expression})"):
                    return value
            except BrowserError:
                pass  # The page is just being replaced.
            time.sleep(POLL_SECONDS)
        raise AssertionError(f"Never true: {expression}\n{self.url}\n{self.text}\n{self.console}")

    @property
    def url(self) -> str:
        return self.evaluate("location.href")

    @property
    def text(self) -> str:
        """The visible text of the page."""
        return self.evaluate("document.body ? document.body.innerText : ''")

    def open(self, url: str) -> None:
        """Open a URL and wait until the page has loaded. Raises AssertionError if nothing answers."""
        failure = self.command("Page.navigate", url=url).get("errorText")
        assert failure is None or failure == "net::ERR_ABORTED", f"{url}: {failure}"
        self.wait("document.readyState === 'complete'")

    def wait_for(self, text: str) -> None:
        """Wait until the page shows this text."""
        self.wait(f"document.body && document.body.innerText.includes({json.dumps(text)})")

    def click(self, target: str) -> None:
        """Click a button, link or menu item by its name or the beginning of it, or an element by its CSS selector."""
        ends = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < ends:
            x, y = self.wait(f"{AIM}({json.dumps(target)})")
            for kind in ("mousePressed", "mouseReleased"):
                self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
            try:
                # A page that replaced this one has no such object.
                if not self.evaluate("window.postern_click?.end()"):
                    return
            except BrowserError:
                return  # The page is just being replaced.
        raise AssertionError(f"Moves away from every click: {target}\n{self.url}\n{self.text}")

    def fill(self, name: str, value: str) -> None:
        """Type a value into the form field with this name."""
        field = f"document.querySelector('input:not([type=hidden])[name={json.dumps(name)}]')"
        self.wait(f"!!{field}")
        self.evaluate(f"{field}.focus(), {field}.value = ''")
        self.command("Input.insertText", text=value)

    def press(self, key: str) -> None:
        """Press a key, such as `Enter`, `Tab` or `ArrowDown`."""
        code = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS[key]}
        text = {"Enter": {"text": "\r"}, " ": {"text": " "}}.get(key, {})
        self.command("Input.dispatchKeyEvent", type="keyDown", **code, **text)
        self.command("Input.dispatchKeyEvent", type="keyUp", **code)

    def show_as(self, *, dark: bool = False, width: int = 1280, height: int = 800) -> None:
        """Set the preferred color scheme and the size of the window in pixels."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def screenshot(self, file: Path) -> None:
        """Write what the window shows as PNG."""
        file.write_bytes(base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"]))

    def cookies(self) -> list[dict[str, Any]]:
        """All cookies of the profile, as `Network.Cookie` of the protocol."""
        return self.command("Storage.getCookies")["cookies"]

    def clear_cookies(self) -> None:
        self.command("Storage.clearCookies")

    def close(self) -> None:
        """End the process."""
        os.close(self._commands)
        os.close(self._answers)
        self._process.terminate()
        try:
            self._process.wait(WAIT_SECONDS)
        finally:
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a browser with an empty profile; it ends with the block."""
    with (
        interfaces_stay(),
        tempfile.TemporaryDirectory(prefix="postern-chromium-", ignore_cleanup_errors=True) as folder,
    ):
        browser = Browser(Path(folder))
        try:
            yield browser
        finally:
            browser.close()
