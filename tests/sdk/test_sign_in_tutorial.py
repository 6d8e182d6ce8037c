"""docs/guide/sign-in-fastapi.md, followed to the letter by a new user with Chromium.

Only two things differ from the page: the port, because 8000 may be taken, and where pip finds the packages: the SDK is
built from this source tree, and what it depends on is installed already.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.peers.chromium import CHROMIUM, Browser, open_browser
from tests.peers.ports import reserved_port
from tests.peers.whole_server import WholeServer, whole_server
from tests.test_guides import BLOCK, GUIDE, WAIT_SECONDS, Person, first_environment

SDK = Path(__file__).parent.parent.parent / "sdk/python"
FILE = re.compile(r"^`(\w+\.py)` (?:[^\n]+\n)+\n```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
"""A paragraph that begins with the name of a file, and its content."""
PASSWORD = "a long password of a new user"


class Tutorial:
    """The blocks of the page, and the folder in which they run."""

    def __init__(self, text: str, folder: Path, environment: dict[str, str]) -> None:
        self.text, self.folder, self.environment = text, folder, environment
        self.commands = [block for language, block in BLOCK.findall(text) if language == "sh"]
        self.files = dict(FILE.findall(text))

    def write(self, name: str) -> None:
        """Save a file of the page."""
        (self.folder / name).write_text(self.files[name])

    def run(self, part: str) -> str:
        """Run the command block that contains `part`, and keep its variables and folder. Returns what it printed."""
        (command,) = [block for block in self.commands if part in block]
        after = self.folder.parent / "after"
        result = subprocess.run(
            ["bash", "-c", f"set -euo pipefail\n{command}\npwd >{after}\nenv -0 >>{after}\n"],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=WAIT_SECONDS,
        )
        assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
        folder, _, variables = after.read_text().partition("\n")
        self.folder = Path(folder)
        self.environment = dict(line.split("=", 1) for line in variables.split("\0") if "=" in line)
        return result.stdout

    @contextmanager
    def running(self, part: str, url: str) -> Iterator[None]:
        """Run the command block that contains `part` until the end of the block; begins when `url` answers."""
        (command,) = [block for block in self.commands if part in block]
        log = self.folder.parent / "application.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {command}"], env=self.environment, cwd=self.folder, stdout=output, stderr=output
            )
            try:
                ends = time.monotonic() + WAIT_SECONDS
                while True:
                    assert process.poll() is None, log.read_text()
                    assert time.monotonic() < ends, log.read_text()
                    try:
                        httpx.get(url)
                        break
                    except httpx.HTTPError:
                        time.sleep(0.05)
                yield
            finally:
                process.terminate()
                process.wait(WAIT_SECONDS)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeServer]:
    with whole_server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables with which pip finds the SDK of this source tree, and its dependencies in the tests' environment."""
    folder = tmp_path_factory.mktemp("packages")
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, SDK]
    subprocess.run(build, check=True, capture_output=True)
    installed = next(path for path in sys.path if path.endswith("site-packages"))
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PYTHONPATH": installed}


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
def test_a_new_user_follows_the_tutorial(server: WholeServer, packages: dict[str, str], tmp_path: Path) -> None:
    environment = first_environment(server, tmp_path) | packages
    person = Person(server, environment)
    with reserved_port() as reserved:
        port = reserved.getsockname()[1]
    text = (GUIDE / "sign-in-fastapi.md").read_text().replace("8000", str(port))
    tutorial, app = Tutorial(text, tmp_path, environment), f"http://127.0.0.1:{port}"
    assert set(tutorial.files) == {"setup_access.py", "app.py", "join.py"}

    tutorial.run("pip install")
    tutorial.run("redirectUrls")
    tutorial.write("setup_access.py")
    assert tutorial.run("setup_access.py").startswith("Acme ")
    tutorial.write("app.py")
    with tutorial.running("uvicorn app:app", app), open_browser() as browser:
        sign_up(browser, app, person)
        browser.wait_for("No organization")
        tutorial.write("join.py")
        tutorial.run("join.py")
        browser.open(f"{app}/invoices")
        switch(browser, "Acme")
        browser.wait_for("invoices:read, invoices:write")
        browser.click("Create invoice")
        browser.wait_for("Invoice 0001 by ada@example.com")
        take_pictures(browser)
        switch(browser, "Globex")
        assert "invoices:write" not in browser.text
        browser.wait_for("There are no invoices yet.")
        browser.click("Create invoice")
        browser.wait_for("This needs the permission invoices:write.")
        assert browser.evaluate("performance.getEntriesByType('navigation')[0].responseStatus") == 403
        browser.open(f"{app}/invoices")
        assert {cookie["name"] for cookie in browser.cookies() if cookie["httpOnly"]} >= {
            "postern_access",
            "postern_refresh",
        }
        browser.click("Sign out")
        browser.wait_for("Invoices for teams")
        assert not [cookie for cookie in browser.cookies() if cookie["name"].startswith("postern_")]
        # Chromium reports the refusal, and that the application has no icon.
        assert [line for line in browser.console if "403" not in line and "favicon" not in line] == []
        answer = tutorial.run("/api/me")
        assert "401 Unauthorized" in answer
        assert '"code":"sign_in_required"' in answer
        browser.open(f"{app}/invoices")  # A browser is sent to the sign-in page, and comes back.
        browser.fill("email", "ada@example.com")
        browser.press("Enter")
        browser.wait("document.getElementById('password')")
        browser.fill("password", PASSWORD)
        browser.press("Enter")
        browser.wait_for("Your permissions")
        assert browser.url == f"{app}/invoices"


def sign_up(browser: Browser, app: str, person: Person) -> None:
    browser.open(app)
    browser.click("Sign up")
    browser.fill("email", "ada@example.com")
    browser.fill("password", PASSWORD)
    browser.press("Enter")
    browser.fill("code", person.mailed_code())
    browser.press("Enter")


def switch(browser: Browser, organization: str) -> None:
    select = "document.querySelector('select[name=organization_id]')"
    browser.wait(f"!!{select}")
    browser.evaluate(
        f"{select}.value = [...{select}.options].find(option => option.text === '{organization}').value, null"
    )
    browser.click("Switch")
    browser.wait_for(f"Invoices of {organization}")


def take_pictures(browser: Browser) -> None:
    """Write screenshots if POSTERN_PICTURES names a folder, for a look at the sample application."""
    if folder := os.environ.get("POSTERN_PICTURES"):
        for name, dark, width in (("light", False, 1_000), ("dark", True, 1_000), ("phone", False, 390)):
            browser.show_as(dark=dark, width=width, height=700)
            browser.screenshot(Path(folder) / f"{name}.png")


def test_the_example_for_flask_runs(server: WholeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = [
        block
        for language, block in BLOCK.findall((GUIDE / "sign-in-fastapi.md").read_text())
        if language == "python" and "from flask" in block
    ]
    monkeypatch.setenv("POSTERN_URL", server.url)
    monkeypatch.setenv("POSTERN_PROJECT", "019c13f9-5a00-7b1c-8e24-5d0c9a1f77e2")
    names: dict[str, object] = {"__name__": "example"}
    exec(compile(code, "sign-in-fastapi.md", "exec"), names)
    client = names["app"].test_client()  # pyright: ignore[reportAttributeAccessIssue]
    assert client.get("/", headers={"Accept": "text/html"}).status_code == 303
    assert client.post("/invoices").json["code"] == "sign_in_required"
