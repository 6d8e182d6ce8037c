"""The tutorial `docs/guide/sign-in-next.md`, followed to the letter, with a browser.

Only two things differ from what a reader does: `npm install` takes the packages from the folders in which the tests
have them, and the application listens on a free port instead of 3000.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.peers.chromium import CHROMIUM, open_browser
from tests.peers.ports import reserved_port
from tests.peers.whole_server import WholeServer, whole_server
from tests.sdk.typescript import built_sdk, needs_typescript
from tests.sdk.web_frameworks import PEER, install_package, install_react, needs_web_frameworks
from tests.test_guides import GUIDE, Person, first_environment

pytestmark = [
    pytest.mark.needs_node,
    needs_typescript,
    needs_web_frameworks,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium"),
]
TUTORIAL = (GUIDE / "sign-in-next.md").read_text()
TOKEN_BLOCK = re.search(
    r"^export POSTERN_TOKEN.*?\n```", (GUIDE / "quickstart.md").read_text(), re.DOTALL | re.MULTILINE
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE_NAME = re.compile(r"^`([^`\s]+\.\w+)`", re.MULTILINE)
WAIT_SECONDS = 120
NPM = """#!/usr/bin/env bash
# npm as the tutorial's reader has it, but for packages that come from folders, and a server that stays on loopback.
set -euo pipefail
case "$1" in
install) "$TEST_PYTHON" -m tests.sdk.test_tutorial_next "$PWD" "${@:2}" ;;
start)
    node node_modules/next/dist/bin/next start --hostname localhost --port "$TEST_PORT" >"$TEST_LOG" 2>&1 &
    echo $! >"$TEST_PID"
    for _ in $(seq 600); do grep -q Ready "$TEST_LOG" && exit 0; sleep 0.1; done
    cat "$TEST_LOG" && exit 1 ;;
*) exec "$TEST_NPM" "$@" ;;
esac
"""


def steps() -> list[tuple[str, str, str]]:
    """The blocks of the tutorial in order: language, name of the file that the block is (empty for commands), text."""
    result: list[tuple[str, str, str]] = []
    end = 0
    for match in BLOCK.finditer(TUTORIAL):
        language, text = match.groups()
        names = FILE_NAME.findall(TUTORIAL[end : match.start()])
        result.append((language, "" if language == "sh" else names[-1], text))
        end = match.end()
    return result


def install(folder: Path, names: list[str]) -> None:
    """Do what `npm install` does with these packages."""
    modules = folder / "node_modules"
    modules.mkdir(exist_ok=True)
    for name in names:
        assert name in ("--save-dev", "@postern/sdk", "@postern/react") or (PEER / "node_modules" / name).is_dir(), name
    if not (modules / "next").exists():
        # Hard links, because Next follows no links that leave the folder of the application.
        link = os.link if PEER.stat().st_dev == folder.stat().st_dev else shutil.copy2
        shutil.copytree(PEER / "node_modules", modules, copy_function=link, symlinks=True, dirs_exist_ok=True)
        install_package(built_sdk(), modules)
        install_react(modules)


@dataclass
class Tutorial:
    """A reader with a shell in a folder that begins empty."""

    folder: Path
    environment: dict[str, str]
    port: int

    def run(self, text: str) -> str:
        """Run a block in the shell; returns what it prints. The next block has its folder and variables."""
        state = self.folder / "environment"
        script = f"set -euo pipefail\n{text}\nenv -0 >{state}\n"
        result = subprocess.run(
            ["bash", "-c", script],
            cwd=self.environment["PWD"],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        assert result.returncode == 0, f"{text}\n{result.stdout[-8_000:]}"
        self.environment = dict(line.split("=", 1) for line in state.read_text().split("\0") if "=" in line)
        return result.stdout

    def follow(self, language: str, name: str, text: str) -> None:
        """Do what a block says: write the file, or run the commands."""
        text = text.replace("localhost:3000", f"localhost:{self.port}")
        if language == "sh":
            self.run(text)
        else:
            (Path(self.environment["PWD"]) / name).write_text(text)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeServer]:
    with whole_server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture
def tutorial(server: WholeServer, tmp_path: Path) -> Iterator[Tutorial]:
    programs, folder = tmp_path / "bin", tmp_path / "reader"
    programs.mkdir()
    folder.mkdir()
    (programs / "npm").write_text(NPM)
    (programs / "npm").chmod(0o755)
    pid = tmp_path / "pid"
    npm = shutil.which("npm")
    assert npm
    environment = first_environment(server, folder)
    with reserved_port() as port_socket:
        port = port_socket.getsockname()[1]
        environment |= {
            "PATH": f"{programs}:{environment['PATH']}",
            "PWD": str(folder),
            "NEXT_TELEMETRY_DISABLED": "1",
            "PYTHONPATH": str(GUIDE.parent.parent),
            "TEST_NPM": npm,
            "TEST_PYTHON": sys.executable,
            "TEST_PORT": str(port),
            "TEST_LOG": str(tmp_path / "next.log"),
            "TEST_PID": str(pid),
        }
        try:
            yield Tutorial(folder, environment, port)
        finally:
            if pid.exists():
                os.kill(int(pid.read_text()), 15)


def test_a_reader_signs_in_to_a_next_application(server: WholeServer, tutorial: Tutorial) -> None:
    """Sign-up with a mailed code, organizations, a page that is permitted and refused, and sign-out."""
    assert TOKEN_BLOCK
    tutorial.run(TOKEN_BLOCK[0].removesuffix("```"))
    *blocks, organizations = steps()
    for block in blocks:
        tutorial.follow(*block)
    person = Person(server, tutorial.environment)
    app = f"http://localhost:{tutorial.port}"
    with open_browser() as browser:
        browser.open(app)
        browser.wait_for("Welcome")
        browser.click("Sign up")
        browser.fill("email", "ada@example.com")
        browser.fill("password", "a long password of a visitor")
        browser.fill("name", "Ada Lovelace")
        browser.press("Enter")
        browser.fill("code", person.mailed_code())
        browser.press("Enter")
        browser.wait_for("Hello ada@example.com")
        browser.wait_for("Organization: none")
        # The session survives the access token.
        access = next(cookie for cookie in browser.cookies() if cookie["name"] == "postern_access")
        assert access["httpOnly"]
        browser.command("Network.deleteCookies", name="postern_access", url=app)
        browser.open(app)
        browser.wait_for("Hello ada@example.com")
        assert "postern_access" in {cookie["name"] for cookie in browser.cookies()}
        caching = "fetch('/').then((response) => response.headers.get('cache-control'))"
        assert "no-store" in browser.evaluate(caching)

        tutorial.follow(*organizations)
        browser.open(f"{app}/reports")
        browser.wait_for("does not permit this")
        browser.click("Organization: Personal account")
        browser.click("Acme Ltd")
        browser.wait("""document.querySelector('[aria-label="Organization: Acme Ltd"]')""")
        browser.click("Acme")
        browser.wait_for("Organization: Acme Ltd (OWNER)")
        browser.wait_for("Permissions: reports:read")
        browser.click("Reports")
        browser.wait_for("Reports of Acme Ltd")
        assert browser.evaluate("fetch('/api/reports').then((response) => response.json())") == {
            "organization": "Acme Ltd",
            "reports": [],
        }
        browser.click("Organization: Acme Ltd")
        browser.click("Globex")
        browser.wait_for("does not permit this")
        assert browser.evaluate("fetch('/api/reports').then((response) => response.status)") == 403
        browser.click("Account: Ada Lovelace")
        browser.click("Sign out")
        browser.wait_for("Welcome")
        assert not {cookie["name"] for cookie in browser.cookies()} & {"postern_access", "postern_refresh"}
        assert browser.evaluate("fetch('/api/reports').then((response) => response.status)") == 401
        browser.open(f"{app}/reports")
        browser.wait_for("Acme")
        assert "/auth/pages/sign-in" in browser.url
        unexpected = [line for line in browser.console if not re.search(r"40[13]|favicon", line)]
        assert not unexpected, unexpected


if __name__ == "__main__":
    install(Path(sys.argv[1]), sys.argv[2:])
