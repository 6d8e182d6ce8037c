"""The code blocks of the guides run in order, unchanged, on one new server.

All pages share one shell environment, which begins with the variables that the first start printed (`POSTERN_URL`,
`POSTERN_PROJECT`, `POSTERN_KEY`, …). The Python blocks of a page share one namespace. `Person` does what a reader does
between two blocks: type the code from a mail, publish a DNS record, use a browser. All blocks are run twice.
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

from postern.cli.bootstrap import create_account_with_project
from postern.kernel.config import Settings
from postern.security.totp import code_at
from tests.peers.whole_server import WholeServer, whole_server
from tests.sdk.typescript import ESBUILD, TSC, linked_sdk, needs_typescript
from tests.sdk.typescript import run as run_program

GUIDE = Path(__file__).parent.parent / "docs/guide"
PAGES = sorted(file.name for file in GUIDE.glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WAIT_SECONDS = 120
READ = re.compile(r"^read -r .*?(\w+)$", re.MULTILINE)
SHELL, PYTHON, TYPESCRIPT = ("sh", "bash"), ("python",), ("ts",)
TYPESCRIPT_PAGES = ("sdk-typescript.md",)
"""Pages whose TypeScript blocks are run, in order, as one program. Those of other pages are files of an application."""
ROUNDS = 2
"""How often all blocks are run on the same server."""

NOT_RUN_HERE = {
    ("quickstart.md", "sh", "script/server"): "starts a server: tests/test_boot.py does it",
    ("quickstart.md", "sh", "bootstrap"): "needs the server's data folder: tests/test_boot.py does it",
    ("dashboard.md", "sh", "sign-in-link"): "needs the data folder: tests/cli/test_developers.py runs it",
    ("sdk-python.md", "sh", "pip install"): "installs from the index: tests/sdk/test_python_package.py builds it",
    ("sdk-typescript.md", "sh", "npm install"): "installs from the registry: tests/sdk/test_typescript.py packs it",
    ("templates.md", "sh", "@logo.png"): "needs a file: tests/messaging/assets uploads images",
    ("webhooks.md", "python", "HTTPServer"): "a server that does not end: tests/platform/webhooks/test_guide.py",
    ("webhooks.md", "sh", "curl -N"): "does not end: tests/platform/events/test_stream.py reads streams",
    ("webhooks.md", "sh", "postern listen"): "does not end: tests/platform/webhooks/test_listen.py runs it",
    ("resend.md", "python", "*"): "reads its URL when it is imported: tests/compat/test_resend_guide.py",
    ("smtp.md", "bash", "*"): "needs the SMTP server: tests/messaging/smtp_submission/test_guide.py",
    ("smtp.md", "python", "*"): "needs the SMTP server: tests/messaging/smtp_submission/test_guide.py",
    ("sign-in-express.md", "sh", "*"): "is followed in tests/sdk/test_typescript_sign_in.py",
    ("sign-in-next.md", "sh", "*"): "needs a browser: tests/sdk/test_tutorial_next.py follows the page",
    ("sign-in-fastapi.md", "sh", "*"): "needs a browser: tests/sdk/test_sign_in_tutorial.py follows the page",
    ("sign-in-fastapi.md", "python", "*"): "needs a browser: tests/sdk/test_sign_in_tutorial.py follows the page",
    ("sso.md", "sh", "idpMetadataUrl"): "needs an identity provider: tests/identity/sso/test_over_http.py",
    ("sso.md", "sh", "/test"): "needs the connection of the previous block",
    ("sso.md", "python", "/auth/sso"): "needs a browser and a provider: tests/identity/sso/test_over_http.py",
    ("sso.md", "python", "/auth/token"): "needs a browser and a provider: tests/identity/sso/test_over_http.py",
}
"""Blocks (page, language, part of their text) that are not run here, and the reason."""

WITHOUT_BLOCKS = {
    "sdk-react.md": "components for browsers: tests/sdk/test_react.py uses them",
    "errors.md": "a list generated from the code",
    "findings.md": "a list generated from the code",
    "events.md": "a list generated from the code",
    "install.md": "needs tools of several systems: tests/packages and script/try-install do so",
    "comparison.md": "needs other programs: bench/peers starts them",
    "identity-comparison.md": "a table; a test checks that the tests in it exist",
    "openid-conformance.md": "tables; a test checks that the tests in them exist",
    "growing.md": "starts processes on several machines: bench/chaos_cluster.py does so",
}
ONE_LANGUAGE = {
    "sign-in-express.md": "an application in JavaScript",
    "sign-in-next.md": "an application in TypeScript",
    "quickstart.md": "needs only a shell",
    "dashboard.md": "pages for people",
    "operations.md": "commands of an operator",
    "mail-server.md": "settings of a server",
    "security.md": "one request",
    "customer-mails.md": "texts that developers change by hand",
    "sdk-typescript.md": "a TypeScript client",
}


def raising(send: Callable[..., httpx.Response]) -> Callable[..., httpx.Response]:
    """`send` with an assertion that the response is not an error, because examples do not check every status."""

    def checked_send(*args: Any, **kwargs: Any) -> httpx.Response:
        response = send(*args, **kwargs)
        if kwargs.get("stream"):
            # The SDK raises its own errors, which an example may handle.
            return response
        assert response.status_code < 400, f"{response.request.method} {response.url}: {response.read().decode()}"
        return response

    return checked_send


@dataclass
class Reader:
    """Runs the blocks of the guides with one shell environment, and one Python namespace for each page."""

    person: "Person"
    folder: Path
    environment: dict[str, str]
    python: dict[str, Any] = field(default_factory=dict)
    printed: str = ""
    """The output of all shell blocks of the page."""

    def open_page(self) -> None:
        """Begin a page."""
        self.python, self.printed = {}, ""

    def run(self, page: str, language: str, text: str) -> None:
        """Run one block. Raises AssertionError if it fails."""
        self.person.before(text, self)
        if language in SHELL:
            self._run_shell(page, text)
        else:
            self._run_python(page, text)

    def _run_shell(self, page: str, text: str) -> None:
        environment_file = self.folder / "environment"
        typed_lines = "".join(f"{self.person.type(name, self)}\n" for name in READ.findall(text))
        script = f"set -euo pipefail\n{text}\nenv -0 >{environment_file}\n"
        result = subprocess.run(
            ["bash", "-c", script],
            env=self.environment,
            cwd=self.folder,
            input=typed_lines,
            capture_output=True,
            text=True,
            check=False,
            timeout=WAIT_SECONDS,
        )
        assert result.returncode == 0, f"{page}\n{text}\n{result.stdout}\n{result.stderr}"
        self.printed += result.stdout
        self.environment = dict(line.split("=", 1) for line in environment_file.read_text().split("\0") if "=" in line)

    def _run_python(self, page: str, text: str) -> None:
        # All blocks of a page share a namespace, as if they were typed into one interpreter.
        with pytest.MonkeyPatch.context() as patch, chdir(self.folder):
            for name in os.environ:
                if name.startswith("POSTERN_"):
                    patch.delenv(name)
            for name, value in self.environment.items():
                patch.setenv(name, value)
            patch.setattr(httpx.Client, "send", raising(httpx.Client.send))
            patch.setattr(builtins, "input", lambda prompt: self.person.type(prompt.partition(",")[0], self))
            exec(compile(text, page, "exec"), self.python)


class Person:
    """Does the manual steps of a reader: reads mail, types codes, publishes DNS records, uses a browser."""

    def __init__(self, server: WholeServer, environment: dict[str, str]) -> None:
        self.server, self.environment = server, environment
        self.token = "not signed in"
        self.codes: set[str] = set()
        """The mailed codes that were used, or are older than the page."""

    def type(self, name: str, reader: Reader) -> str:
        """The input for a prompt of a block for `name`."""
        inputs: dict[str, Callable[[], str]] = {
            "CODE": self.mailed_code,
            "TOTP": lambda: self.totp(reader.printed),
            "code": lambda: self.browse(reader.python["BASE"], reader.python["query"]),
        }
        return inputs[name]()

    def before(self, text: str, reader: Reader) -> None:
        """Do the manual step that the page requires before this block."""
        if "/domains/$DOMAIN/verify" in text:
            organization = reader.environment["ORGANIZATION"]
            for domain in self._get(f"/b2b/organizations/{organization}/domains"):
                assert self.server.zone
                self.server.zone.add(domain["recordName"], "TXT", domain["record"])
        if '"/inbound/routes", json=' in text:
            self.verify_domain("reply.acme.example")

    def verify_domain(self, name: str) -> None:
        """Add a sending domain to the project, unless it has it, and publish its records."""
        assert self.server.zone
        headers = {"Authorization": f"Bearer {self.environment['POSTERN_KEY']}"}
        base = f"{self.server.url}/projects/{self.environment['POSTERN_PROJECT']}"
        with httpx.Client(base_url=base, headers=headers, timeout=WAIT_SECONDS) as http:
            added = http.post("/domains", json={"domain": name})
            assert added.status_code in (201, 409), added.text
            (domain,) = [candidate for candidate in http.get("/domains").json() if candidate["domain"] == name]
            for record in domain["records"]:
                self.server.zone.set(record["name"], record["type"], record["value"])
            assert http.post(f"/domains/{domain['id']}/verify").json()["status"] == "VERIFIED"

    def _get(self, path: str) -> Any:
        """The JSON response to a GET request of the developer; signs in again if the access token has expired."""
        with httpx.Client(base_url=self.server.url, timeout=WAIT_SECONDS) as http:
            for _ in range(2):
                headers = {"Authorization": f"Bearer {self.token}"}
                response = http.get(f"/projects/{self.environment['POSTERN_PROJECT']}{path}", headers=headers)
                if response.status_code != 401:
                    break
                login = {"email": self.environment["POSTERN_EMAIL"], "password": self.environment["POSTERN_PASSWORD"]}
                signed_in = http.post("/auth/sign-in", json=login)
                assert signed_in.is_success, signed_in.text
                self.token = signed_in.json()["accessToken"]
            assert response.is_success, response.text
            return response.json()

    def mailed_code(self) -> str:
        """Wait for a mail with a new code, and return the code. Raises AssertionError after WAIT_SECONDS."""
        ends = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < ends:
            if new_codes := self.mailed_codes() - self.codes:
                self.codes |= new_codes
                (code,) = new_codes
                return code
            time.sleep(0.2)
        raise AssertionError(f"No code was mailed: {self._get('/inbox')}")

    def mailed_codes(self) -> set[str]:
        """The codes in the newest mails of the inbox."""
        messages = [self._get(f"/inbox/{message['id']}") for message in self._get("/inbox")["data"][:5]]
        return {code for message in messages for code in re.findall(r"\b\d{6}\b", message["text"] or "")}

    def totp(self, printed: str) -> str:
        """The current TOTP code for the last secret that a block printed."""
        secret = re.findall(r'"secret":\s*"(\w+)"', printed)[-1]
        return code_at(base64.b32decode(secret + "=" * (-len(secret) % 8)), int(time.time()) // 30)

    def browse(self, base: str, query: str) -> str:
        """Sign up on the hosted pages as a browser without scripts does; returns the authorization code."""
        address = f"visitor-{uuid4().hex[:8]}@example.com"
        with httpx.Client(timeout=WAIT_SECONDS) as browser:
            page = browser.get(f"{base}/auth/pages/sign-up?{query}")
            fields = {"email": address, "password": "a long password of a visitor", "name": "Grace"}
            code_page = browser.post(action_of(page), data={**hidden_of(page), **fields})
            assert code_page.status_code == 200, code_page.text
            redirect = browser.post(action_of(code_page), data={**hidden_of(code_page), "code": self.mailed_code()})
        assert redirect.status_code == 303, redirect.text
        return re.findall(r"[?&]code=([^&]+)", redirect.headers["location"])[0]


def action_of(page: httpx.Response) -> str:
    """The URL to which the first form of a page is submitted."""
    return str(page.url.join(unescape(re.findall(r'<form[^>]* action="([^"]+)"', page.text)[0])))


def hidden_of(page: httpx.Response) -> dict[str, str]:
    """The hidden form fields of a page."""
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text)
    assert fields, page.text
    return {name: unescape(value) for name, value in fields}


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Language and text of the shell and Python blocks of a page."""
    return [
        (language, text)
        for language, text in BLOCK.findall((GUIDE / page).read_text())
        if language in (*SHELL, *PYTHON)
    ]


def reason_not_to_run(page: str, language: str, text: str) -> str | None:
    """Why a block is not run here (NOT_RUN_HERE); None if it is run."""
    return next(
        (
            reason
            for (block_page, block_language, part), reason in NOT_RUN_HERE.items()
            if block_page == page and block_language == language and (part == "*" or part in text)
        ),
        None,
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeServer]:
    with whole_server(tmp_path_factory.mktemp("guides")) as server:
        yield server


def pages_in_order() -> list[str]:
    """The quickstart, then the pages in the order in which it names them."""
    named = re.findall(r"\]\(([\w-]+\.md)[)#]", (GUIDE / "quickstart.md").read_text().partition("## Next steps")[2])
    return list(dict.fromkeys(["quickstart.md", *named]))


def first_environment(server: WholeServer, folder: Path) -> dict[str, str]:
    """The environment of a shell after the `export` commands that the first start prints."""
    settings = Settings(data=server.folder, base_url=server.url)
    printed = asyncio.run(create_account_with_project(settings, server.database_url, server.url)).welcome()
    exports = dict(re.findall(r"^    export (\w+)=(\S+)$", printed, re.MULTILINE))
    exports.pop("PATH", None)  # Only if `postern` is not on the PATH.
    assert set(exports) == {f"POSTERN_{name}" for name in ("URL", "PROJECT", "KEY", "EMAIL", "PASSWORD")}
    others = {name: value for name, value in os.environ.items() if not name.startswith(("POSTERN_", "DATABASE_URL"))}
    return {**others, **exports, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder)}


def test_the_guides_run_in_order_and_twice(server, tmp_path):
    """Runs every block of every page on one server.

    Regression test of N5 (tests/defects.md).
    """
    environment = first_environment(server, tmp_path)
    person = Person(server, environment)
    reader = Reader(person, tmp_path, environment)
    for _ in range(ROUNDS):
        for page in pages_in_order():
            reader.open_page()
            person.codes |= person.mailed_codes()
            # Only commands of operations.md run on the machine of the server, where these variables are set.
            server_variables = {"DATABASE_URL": server.database_url, "POSTERN_DATA": str(server.folder)}
            reader.environment |= server_variables if page == "operations.md" else {}
            for language, text in blocks_of(page):
                if reason_not_to_run(page, language, text) is None:
                    reader.run(page, language, text)
            reader.environment = {
                name: value for name, value in reader.environment.items() if name not in server_variables
            }


@pytest.mark.needs_node
@needs_typescript
@pytest.mark.parametrize("page", TYPESCRIPT_PAGES)
def test_typescript_blocks_have_strict_types_and_run(server, tmp_path, page):
    """The blocks of a page are one program, with strict types, that runs to its end twice."""
    blocks = [text for language, text in BLOCK.findall((GUIDE / page).read_text()) if language in TYPESCRIPT]
    (linked_sdk(tmp_path) / "page.mts").write_text("".join(blocks))
    (tmp_path / "node.d.ts").write_text("declare const process: { env: Record<string, string | undefined> };\n")
    options = ("--strict", "--noEmit", "--module", "Node16", "--target", "ES2022", "--lib", "ES2022,DOM")
    run_program(TSC, *options, "page.mts", "node.d.ts", folder=tmp_path)
    run_program(ESBUILD, "page.mts", "--outfile=page.mjs", "--log-level=error", folder=tmp_path)
    variables = {
        name: value for name, value in first_environment(server, tmp_path).items() if name.startswith("POSTERN_")
    }
    for _ in range(ROUNDS):
        printed = run_program("node", "page.mjs", folder=tmp_path, **variables)
        assert "There is no such contact." in printed


def test_the_quickstart_links_to_every_guide():
    assert sorted(pages_in_order()) == PAGES


VARIABLES = {"PATH", "PWD", "HOME"}
"""Variables that every shell has."""


def test_the_guides_use_consistent_variable_names():
    """A variable is printed by the first start or set by an earlier block of the same page.

    Regression test of N5 (tests/defects.md).
    """
    initial = {f"POSTERN_{name}" for name in ("URL", "PROJECT", "KEY", "EMAIL", "PASSWORD", "TOKEN")} | VARIABLES
    for page in PAGES:
        known = set(initial)
        for language, text in blocks_of(page):
            if language in SHELL:
                known |= set(re.findall(r"\b(\w+)=\S", text)) | set(READ.findall(text))
                used = set(re.findall(r"\$\{?([A-Za-z_]\w*)", text))
            else:
                used = set(re.findall(r"environ\[[\"'](\w+)[\"']\]", text))
            if reason_not_to_run(page, language, text) is None:
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
        texts = [
            text
            for block_language, text in blocks_of(page)
            if block_language == language and (part == "*" or part in text)
        ]
        assert texts, f"{page} has no such block any more: {part}"
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

    names = {work.name for work in WORK}
    for page in PAGES:
        mentioned = set(re.findall(r'work="([^"]+)"', (GUIDE / page).read_text()))
        assert mentioned <= names
