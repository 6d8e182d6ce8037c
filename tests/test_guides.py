"""The code blocks of the guides run in order, unchanged, on one new server.

The environment has the variables that the first start printed (`POSTERN_URL`, `POSTERN_PROJECT`, `POSTERN_KEY`, …), one
shell for all pages, and one Python interpreter for each page, started from that shell. `Person` does what a reader does
between two blocks: type the digits from a mail, publish a DNS record, use a browser. All blocks must also work twice.
"""

import asyncio
import base64
import builtins
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from postern.cli.bootstrap import create_first_project
from postern.kernel.config import Settings
from postern.security.totp import code_at
from tests.peers.whole_server import WholeServer, whole_server

GUIDE = Path(__file__).parent.parent / "docs/guide"
PAGES = sorted(file.name for file in GUIDE.glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WAIT_SECONDS = 120
READ = re.compile(r"^read -r .*?(\w+)$", re.MULTILINE)
SHELL, PYTHON = ("sh", "bash"), ("python",)
ROUNDS = 2
"""How often everything is followed on the same server."""

NOT_RUN_HERE = {
    ("quickstart.md", "sh", "script/server"): "starts a server: tests/test_boot.py does it",
    ("quickstart.md", "sh", "bootstrap"): "asks the server's data folder: tests/test_boot.py does it",
    ("webhooks.md", "python", "HTTPServer"): "an endpoint that serves for ever: tests/platform/webhooks/test_guide.py",
    ("webhooks.md", "sh", "postern listen"): "listens for ever: tests/platform/webhooks/test_listen.py runs it",
    ("sso.md", "sh", "idpMetadataUrl"): "needs an identity provider: tests/identity/sso/test_over_http.py",
    ("sso.md", "sh", "/test"): "needs the connection that the block before makes",
    ("sso.md", "python", "/auth/sso"): "needs a browser and a provider: tests/identity/sso/test_over_http.py",
    ("sso.md", "python", "/auth/token"): "needs a browser and a provider: tests/identity/sso/test_over_http.py",
}
"""Blocks (page, language, what is in them) that are not run here, and why."""

WITHOUT_BLOCKS = {
    "errors.md": "a catalogue, written from the code",
    "events.md": "a catalogue, written from the code",
    "growing.md": "starts processes on several machines: bench/chaos_cluster.py does so",
}
ONE_LANGUAGE = {
    "quickstart.md": "a shell is all it asks for",
    "operations.md": "commands of an operator",
    "security.md": "one request",
}


def strictly(send: Callable[..., httpx.Response]) -> Callable[..., httpx.Response]:
    """What fails must be seen to fail, also where an example does not look."""

    def sent(*args: Any, **kwargs: Any) -> httpx.Response:
        answer = send(*args, **kwargs)
        assert answer.status_code < 400, f"{answer.request.method} {answer.url}: {answer.read().decode()}"
        return answer

    return sent


@dataclass
class Reader:
    """Somebody who works through the guides: one shell, and a Python interpreter for each page."""

    person: "Person"
    folder: Path
    environment: dict[str, str]
    python: dict[str, Any] = field(default_factory=dict)
    printed: str = ""
    """What all blocks of a page printed."""

    def open_page(self) -> None:
        self.python, self.printed = {}, ""

    def run(self, page: str, language: str, text: str) -> None:
        self.person.before(text, self)
        if language in SHELL:
            self._run_shell(page, text)
        else:
            self._run_python(page, text)

    def _run_shell(self, page: str, text: str) -> None:
        after = self.folder / "environment"
        typed = "".join(f"{self.person.type(name, self)}\n" for name in READ.findall(text))
        script = f"set -euo pipefail\n{text}\nenv -0 >{after}\n"
        ran = subprocess.run(
            ["bash", "-c", script],
            env=self.environment,
            cwd=self.folder,
            input=typed,
            capture_output=True,
            text=True,
            check=False,
            timeout=WAIT_SECONDS,
        )
        assert ran.returncode == 0, f"{page}\n{text}\n{ran.stdout}\n{ran.stderr}"
        self.printed += ran.stdout
        self.environment = dict(each.split("=", 1) for each in after.read_text().split("\0") if "=" in each)

    def _run_python(self, page: str, text: str) -> None:
        # One program for the whole page, as somebody has who types it into an interpreter.
        with pytest.MonkeyPatch.context() as patch, chdir(self.folder):
            for name in os.environ:
                if name.startswith("POSTERN_"):
                    patch.delenv(name)
            for name, value in self.environment.items():
                patch.setenv(name, value)
            patch.setattr(httpx.Client, "send", strictly(httpx.Client.send))
            patch.setattr(builtins, "input", lambda prompt: self.person.type(prompt.partition(",")[0], self))
            exec(compile(text, page, "exec"), self.python)


class Person:
    """What the reader does without the guide's code: reads mail, types codes, publishes records, uses a browser."""

    def __init__(self, server: WholeServer, environment: dict[str, str]) -> None:
        self.server, self.environment = server, environment
        self.token = "none yet"
        self.codes: set[str] = set()
        """The codes that were mailed and used."""

    def type(self, name: str, reader: Reader) -> str:
        """What is typed where a block asks for `name`."""
        typed: dict[str, Callable[[], str]] = {
            "CODE": self.mailed_code,
            "TOTP": lambda: self.totp(reader.printed),
            "code": lambda: self.browse(reader.python["BASE"], reader.python["query"]),
        }
        return typed[name]()

    def before(self, text: str, reader: Reader) -> None:
        """What the page says has to be done before this block."""
        if "/domains/$DOMAIN/verify" in text:
            organization = reader.environment["ORGANIZATION"]
            for domain in self._get(f"/b2b/organizations/{organization}/domains"):
                assert self.server.zone
                self.server.zone.add(domain["recordName"], "TXT", domain["record"])

    def _get(self, path: str) -> Any:
        """An answer to the developer, signed in anew when the access token has expired."""
        with httpx.Client(base_url=self.server.url, timeout=WAIT_SECONDS) as http:
            for _ in range(2):
                headers = {"Authorization": f"Bearer {self.token}"}
                answer = http.get(f"/projects/{self.environment['POSTERN_PROJECT']}{path}", headers=headers)
                if answer.status_code != 401:
                    break
                login = {"email": self.environment["POSTERN_EMAIL"], "password": self.environment["POSTERN_PASSWORD"]}
                signed_in = http.post("/auth/sign-in", json=login)
                assert signed_in.is_success, signed_in.text
                self.token = signed_in.json()["accessToken"]
            assert answer.is_success, answer.text
            return answer.json()

    def mailed_code(self) -> str:
        """The code of the mail that comes next: one that was not there when the page was opened, nor typed before."""
        ends = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < ends:
            if fresh := self.mailed_codes() - self.codes:
                self.codes |= fresh
                (code,) = fresh
                return code
            time.sleep(0.2)
        raise AssertionError(f"No code was mailed: {self._get('/inbox')}")

    def mailed_codes(self) -> set[str]:
        """The codes in the newest mails of the inbox."""
        messages = [self._get(f"/inbox/{each['id']}") for each in self._get("/inbox")["data"][:5]]
        return {code for each in messages for code in re.findall(r"\b\d{6}\b", each["text"] or "")}

    def totp(self, printed: str) -> str:
        """What the app shows that was given the last printed secret."""
        secret = re.findall(r'"secret":\s*"(\w+)"', printed)[-1]
        return code_at(base64.b32decode(secret + "=" * (-len(secret) % 8)), int(time.time()) // 30)

    def browse(self, base: str, query: str) -> str:
        """Sign up on the hosted pages as a browser without scripts does; the code at the end."""
        address = f"visitor-{uuid4().hex[:8]}@example.com"
        with httpx.Client(timeout=WAIT_SECONDS) as browser:
            page = browser.get(f"{base}/auth/pages/sign-up?{query}")
            fields = {"email": address, "password": "a password that nobody guesses", "name": "Grace"}
            code_page = browser.post(action_of(page), data={**hidden_of(page), **fields})
            assert code_page.status_code == 200, code_page.text
            back = browser.post(action_of(code_page), data={**hidden_of(code_page), "code": self.mailed_code()})
        assert back.status_code == 303, back.text
        return re.findall(r"[?&]code=([^&]+)", back.headers["location"])[0]


def action_of(page: httpx.Response) -> str:
    """Where the first form of a page, the one that leads on, is sent to."""
    return str(page.url.join(unescape(re.findall(r'<form[^>]* action="([^"]+)"', page.text)[0])))


def hidden_of(page: httpx.Response) -> dict[str, str]:
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text)
    assert fields, page.text
    return {name: unescape(value) for name, value in fields}


def blocks_of(page: str) -> list[tuple[str, str]]:
    return [
        (language, text)
        for language, text in BLOCK.findall((GUIDE / page).read_text())
        if language in (*SHELL, *PYTHON)
    ]


def why_not(page: str, language: str, text: str) -> str | None:
    return next(
        (
            reason
            for (where, which, part), reason in NOT_RUN_HERE.items()
            if where == page and which == language and (part == "*" or part in text)
        ),
        None,
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeServer]:
    with whole_server(tmp_path_factory.mktemp("guides")) as server:
        yield server


def pages_in_order() -> list[str]:
    """The quickstart, then the pages in the order in which it names them."""
    named = re.findall(r"\]\((\w+\.md)[)#]", (GUIDE / "quickstart.md").read_text().partition("## Next steps")[2])
    return list(dict.fromkeys(["quickstart.md", *named]))


def first_environment(server: WholeServer, folder: Path) -> dict[str, str]:
    """A shell into which the exports were pasted that a first start prints."""
    settings = Settings(data=server.folder, base_url=server.url)
    printed = asyncio.run(create_first_project(settings, server.database_url, server.url)).welcome()
    exports = dict(re.findall(r"^    export (\w+)=(\S+)$", printed, re.MULTILINE))
    assert set(exports) == {f"POSTERN_{name}" for name in ("URL", "PROJECT", "KEY", "EMAIL", "PASSWORD")}
    others = {name: value for name, value in os.environ.items() if not name.startswith(("POSTERN_", "DATABASE_URL"))}
    return {**others, **exports, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder)}


def test_the_guides_run_in_order_and_twice(server, tmp_path):
    """Runs every block of every page on one server.

    Defects: N5
    """
    environment = first_environment(server, tmp_path)
    person = Person(server, environment)
    reader = Reader(person, tmp_path, environment)
    for _ in range(ROUNDS):
        for page in pages_in_order():
            reader.open_page()
            person.codes |= person.mailed_codes()
            # Commands on the server's own machine find its database there; elsewhere nobody has these.
            here = {"DATABASE_URL": server.database_url, "POSTERN_DATA": str(server.folder)}
            reader.environment |= here if page == "operations.md" else {}
            for language, text in blocks_of(page):
                if why_not(page, language, text) is None:
                    reader.run(page, language, text)
            reader.environment = {name: value for name, value in reader.environment.items() if name not in here}


def test_the_quickstart_links_to_every_guide():
    assert sorted(pages_in_order()) == PAGES


VARIABLES = {"PATH", "PWD", "HOME"}
"""What every shell has."""


def test_the_guides_use_consistent_variable_names():
    """A variable is printed by the first start or set by an earlier block of the same page.

    Defects: N5
    """
    given = {f"POSTERN_{name}" for name in ("URL", "PROJECT", "KEY", "EMAIL", "PASSWORD", "TOKEN")} | VARIABLES
    for page in PAGES:
        known = set(given)
        for language, text in blocks_of(page):
            if language in SHELL:
                known |= set(re.findall(r"\b(\w+)=\S", text)) | set(READ.findall(text))
                used = set(re.findall(r"\$\{?([A-Za-z_]\w*)", text))
            else:
                used = set(re.findall(r"environ\[[\"'](\w+)[\"']\]", text))
            if why_not(page, language, text) is None:
                assert used <= known, f"{page}: {used - known}"


def test_every_guide_has_curl_and_python_examples_or_an_exception():
    for page in PAGES:
        languages = {language for language, _ in blocks_of(page)}
        if page in WITHOUT_BLOCKS:
            assert not languages, page
        else:
            assert languages & set(SHELL), f"{page} has no block for a shell"
            assert "python" in languages or page in ONE_LANGUAGE, f"{page} has no block of Python"


def test_blocks_that_are_not_run_exist():
    for (page, language, part), reason in NOT_RUN_HERE.items():
        found = [text for which, text in blocks_of(page) if which == language and (part == "*" or part in text)]
        assert found, f"{page} has no such block any more: {part}"
        for file in re.findall(r"tests/[\w/]+\.py", reason):
            assert (GUIDE.parents[1] / file).exists(), file


def test_json_in_the_guides_is_valid():
    for page in PAGES:
        for language, text in BLOCK.findall((GUIDE / page).read_text()):
            if language == "json":
                json.loads(re.sub(r" ?…", "", text))


def test_links_between_guides_resolve():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)\)", (GUIDE / page).read_text()):
            if "://" not in target:
                assert (GUIDE / target).exists(), f"{page} → {target}"


def test_metrics_in_the_guides_refer_to_existing_work():
    from postern.app import WORK

    names = {each.name for each in WORK}
    for page in PAGES:
        named = set(re.findall(r'work="([^"]+)"', (GUIDE / page).read_text()))
        assert named <= names
