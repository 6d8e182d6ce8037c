"""Every code block of the guides is run, page by page, on a server of its own kind: a reader can paste them.

A page's blocks run in their order, with what a reader has by then: variables that an earlier block set, and those
that the page says to fill in (`$ORG`, `$CODE` …), which NAMES looks up as the reader would, in an answer or a mail.
"""

import base64
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

from postern.kernel.totp import code_at
from tests.peers.whole_server import WholeServer, whole_server

GUIDE = Path(__file__).parent.parent / "docs/guide"
PAGES = sorted(file.name for file in GUIDE.glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PASSWORD = "correct horse battery"
WAIT_SECONDS = 120
SHELL, PYTHON = ("sh", "bash"), ("python",)

NOT_RUN_HERE = {
    ("quickstart.md", "sh", "*"): "followed to the letter by tests/test_boot.py, on a server started as it says",
    ("webhooks.md", "python", "HTTPServer"): "an endpoint that serves for ever: tests/webhooks/test_guide.py runs it",
    ("webhooks.md", "sh", "postern listen"): "listens for ever: tests/webhooks/test_listen.py runs it",
    ("sso.md", "sh", "idpMetadataUrl"): "needs an identity provider: tests/sso/test_over_http.py goes the same way",
    ("sso.md", "sh", "/test"): "needs the connection that the block before makes",
    ("sso.md", "python", "auth/sso"): "needs a browser at an identity provider: tests/sso/test_over_http.py",
    ("sso.md", "python", "auth/token"): "needs a browser at an identity provider: tests/sso/test_over_http.py",
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
    """Somebody who works through a page: their project, their shell and their Python."""

    server: WholeServer
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    python: dict[str, Any] = field(default_factory=dict)
    key: str = ""
    codes: list[str] = field(default_factory=list)
    """The codes that were mailed and used."""
    last: str = ""
    """What the last block printed."""

    def __post_init__(self) -> None:
        self.http = httpx.Client(base_url=self.server.url, timeout=WAIT_SECONDS)
        self.email = f"reader-{uuid4().hex[:10]}@example.com"
        up = self.post("/auth/sign-up", {"email": self.email, "password": PASSWORD})
        self.project, token = up["projects"][0]["id"], up["accessToken"]
        key = self.key = self.post(f"/projects/{self.project}/api-keys", {"name": "reader"}, token)["key"]
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("POSTERN_", "DATABASE_URL"))},
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "CURL_HOME": str(self.folder),
            "POSTERN_URL": self.server.url,
            "POSTERN_PROJECT": self.project,
            "POSTERN_KEY": key,
            "DEVELOPER_TOKEN": token,
        }
        # What fails must be seen to fail.
        (self.folder / ".curlrc").write_text("fail\nshow-error\nmax-time = 120\n")

    def post(self, path: str, body: Any = None, token: str | None = None) -> Any:
        headers = {"Authorization": f"Bearer {token or self.key}"} if token or self.key else {}
        answer = self.http.post(path, json=body, headers=headers)
        assert answer.is_success, answer.text
        return answer.json()

    def get(self, path: str) -> Any:
        answer = self.http.get(f"/projects/{self.project}{path}", headers={"Authorization": f"Bearer {self.key}"})
        assert answer.is_success, answer.text
        return answer.json()

    def run(self, language: str, text: str) -> None:
        text = text.replace("http://127.0.0.1:8025", self.server.url)
        self._fill_in(language, text)
        if language in SHELL:
            self._run_shell(text)
        else:
            self._run_python(text)

    def _fill_in(self, language: str, text: str) -> None:
        for name, look_up in NAMES.items():
            is_set = re.search(rf"\b{name}=", text) and language in SHELL
            if is_set:
                continue
            if re.search(rf"\$\{{?{name}\b|environ\[.{name}.\]", text) and name not in self.environment:
                self.environment[name] = look_up(self)
            plain = name in text and re.search(rf"(?<![\w\"'$/]){name}(?![\w\"':=])", text)
            if language in PYTHON and plain and name not in self.python:
                self.python[name] = self.environment.get(name) or look_up(self)

    def _run_shell(self, text: str) -> None:
        after = self.folder / "environment"
        script = f"set -euo pipefail; set -a\n{text}\n{{ env -0; }} > {after}\n"
        ran = subprocess.run(
            ["bash", "-c", script],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=WAIT_SECONDS,
        )
        assert ran.returncode == 0, f"{text}\n{ran.stdout}\n{ran.stderr}"
        self.last = ran.stdout
        self.environment = dict(each.split("=", 1) for each in after.read_text().split("\0") if "=" in each)

    def _run_python(self, text: str) -> None:
        # One program for the whole page, as somebody has who types it into an interpreter.
        with pytest.MonkeyPatch.context() as patch, chdir(self.folder):
            for name, value in self.environment.items():
                patch.setenv(name, value)
            patch.setattr(httpx.Client, "send", strictly(httpx.Client.send))
            exec(compile(text, "guide", "exec"), self.python)

    def customer(self) -> str:
        """A customer of the project: the newest, or a new one."""
        known = self.get("/customers")["data"]
        if known:
            return known[0]["id"]
        body = {"email": f"customer-{uuid4().hex[:8]}@example.com", "password": PASSWORD, "emailVerified": True}
        return self.post(f"/projects/{self.project}/customers", body)["id"]

    def customer_token(self) -> str:
        """The access token of a customer who has just signed in."""
        person = {"email": f"customer-{uuid4().hex[:8]}@example.com", "password": PASSWORD}
        self.post(f"/projects/{self.project}/customers", {**person, "emailVerified": True})
        return self.post(f"/projects/{self.project}/auth/sign-in", person)["accessToken"]

    def organization(self) -> str:
        known = self.get("/b2b/organizations")
        rows = known["data"] if isinstance(known, dict) else known
        return rows[0]["id"] if rows else self.post(f"/projects/{self.project}/b2b/organizations", {"name": "A"})["id"]

    def domain(self) -> str:
        """The organization's newest domain, once its owner has published the record that it asks for."""
        (domain,) = self.get(f"/b2b/organizations/{self.organization()}/domains")
        assert self.server.zone
        self.server.zone.add(domain["recordName"], "TXT", domain["record"])
        return domain["id"]

    def totp(self) -> str:
        """What the app shows that was given the last printed secret."""
        secret = re.findall(r'"secret":\s*"(\w+)"', self.last)[-1]
        return code_at(base64.b32decode(secret + "=" * (-len(secret) % 8)), int(time.time()) // 30)

    def mailed_code(self) -> str:
        """The newest six digits in a mail to a customer."""
        ends = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < ends:
            found = re.findall(r"\b\d{6}\b", " ".join(each["subject"] for each in self.get("/inbox")["data"]))
            fresh = [code for code in found if code not in self.codes]
            if fresh:
                self.codes.append(fresh[0])
                return fresh[0]
            time.sleep(0.05)
        raise AssertionError(f"No code was mailed: {self.get('/inbox')}")

    def said(self, name: str) -> str:
        """What the last answer has under a name."""
        return re.findall(rf'"{name}":\s*"([^"]+)"', self.last)[-1]

    def template(self) -> str:
        known = self.get("/templates")
        rows = known["data"] if isinstance(known, dict) else known
        if rows:
            return rows[0]["id"]
        words = {"name": "Welcome", "subject": "Hello", "html": "<p>Hello {{firstName}}</p>"}
        return self.post(f"/projects/{self.project}/templates", words)["id"]

    def sending_domain(self) -> str:
        known = self.get("/domains")
        return (
            known[0]["id"]
            if known
            else self.post(f"/projects/{self.project}/domains", {"domain": "acme.example"})["id"]
        )

    def audience(self) -> str:
        known = self.get("/audiences")
        rows = known["data"] if isinstance(known, dict) else known
        if rows:
            return rows[0]["id"]
        made = self.post(f"/projects/{self.project}/audiences", {"name": "Everybody"})["id"]
        path = f"/projects/{self.project}/audiences/{made}/contacts/by-email"
        self.post(path, {"email": "ada@example.com"})
        return made

    def grant(self) -> str:
        """The code that the browser brings back from the hosted page."""
        return browse(self, f"{self.python['BASE']}/auth/pages/sign-up?{self.python['query']}")


def browse(reader: Reader, url: str) -> str:
    """Sign up on the hosted pages as a browser without scripts does; the code at the end."""
    address = f"visitor-{uuid4().hex[:8]}@example.com"
    with httpx.Client(timeout=WAIT_SECONDS, base_url=reader.server.url) as browser:
        page = browser.get(url)
        fields = {"email": address, "password": "a password that nobody guesses", "name": "Grace"}
        code_page = browser.post(action_of(page), data={**hidden_of(page), **fields})
        assert "six digits" in code_page.text, code_page.text
        code = reader.mailed_code()
        back = browser.post(action_of(code_page), data={**hidden_of(code_page), "code": code})
    assert back.status_code == 303, back.text
    return re.findall(r"[?&]code=([^&]+)", back.headers["location"])[0]


def action_of(page: httpx.Response) -> str:
    return str(page.url.join(unescape(re.findall(r'<form[^>]* action="([^"]+)"', page.text)[-1])))


def hidden_of(page: httpx.Response) -> dict[str, str]:
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text)
    assert fields, page.text
    return {name: unescape(value) for name, value in fields}


NAMES: dict[str, Callable[[Reader], str]] = {
    "POSTERN": lambda reader: reader.server.url,
    "BASE": lambda reader: f"{reader.server.url}/projects/{reader.project}",
    "PROJECT": lambda reader: reader.project,
    "KEY": lambda reader: reader.key,
    "DEVELOPER": lambda reader: reader.environment["DEVELOPER_TOKEN"],
    "CUSTOMER": Reader.customer,
    "ID": Reader.customer,
    "ORG": Reader.organization,
    "DOMAIN": Reader.domain,
    "CHALLENGE": lambda reader: reader.said("challengeId"),
    "CODE": Reader.mailed_code,
    "TOTP": Reader.totp,
    "TEMPLATE": Reader.template,
    "SENDING_DOMAIN": Reader.sending_domain,
    "AUDIENCE": Reader.audience,
    "id": Reader.template,
    "code": Reader.grant,
    "token": Reader.customer_token,
    "access_token": Reader.customer_token,
}
"""What pages ask a reader to fill in, and where the reader finds it."""


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


@pytest.mark.parametrize("page", [page for page in PAGES if page not in WITHOUT_BLOCKS])
def test_a_reader_can_paste_what_the_guide_says(page, server, tmp_path):
    blocks = [(language, text) for language, text in blocks_of(page) if why_not(page, language, text) is None]
    if not blocks:
        return
    reader = Reader(server, tmp_path)
    (tmp_path / "contacts.csv").write_text("email,plan\nada@example.com,pro\n")
    if page == "operations.md":
        reader.environment |= {"DATABASE_URL": server.database_url, "POSTERN_DATA": str(server.folder)}
    for language, text in blocks:
        # The guide to accounts is about the developer, whose address is this.
        reader.run(language, text.replace("ada@example.com", reader.email) if page == "account.md" else text)


def test_every_page_has_curl_and_python_or_says_why_not():
    for page in PAGES:
        languages = {language for language, _ in blocks_of(page)}
        if page in WITHOUT_BLOCKS:
            assert not languages, page
        else:
            assert languages & set(SHELL), f"{page} has no block for a shell"
            assert "python" in languages or page in ONE_LANGUAGE, f"{page} has no block of Python"


def test_what_is_not_run_is_there():
    for (page, language, part), reason in NOT_RUN_HERE.items():
        found = [text for which, text in blocks_of(page) if which == language and (part == "*" or part in text)]
        assert found, f"{page} has no such block any more: {part}"
        for file in re.findall(r"tests/[\w/]+\.py", reason):
            assert (GUIDE.parents[1] / file).exists(), file


def test_json_in_the_guides_is_json():
    for page in PAGES:
        for language, text in BLOCK.findall((GUIDE / page).read_text()):
            if language == "json":
                json.loads(re.sub(r" ?…", "", text))


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)\)", (GUIDE / page).read_text()):
            if "://" not in target:
                assert (GUIDE / target).exists(), f"{page} → {target}"


def test_metrics_in_the_guides_name_work_that_exists():
    from postern.app import WORK

    names = {each.name for each in WORK}
    for page in PAGES:
        named = set(re.findall(r'work="([^"]+)"', (GUIDE / page).read_text()))
        assert named <= names
