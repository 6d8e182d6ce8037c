"""What commands and processes import: each of these modules takes a noticeable part of the time to start."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from postern.cli import COMMANDS, make_command
from tests.test_boot import ROOT, environment

SERVER_MODULES = {"litestar", "uvicorn", "psycopg", "structlog", "cryptography", "dns", "lxml", "postern.app"}
"""What no command needs that calls the API or prints a text."""
CLIENT_MODULES = {"httpx", "asyncio", "ssl"}
RARELY_USED = {"typer", "webauthn", "acme", "requests", "flufl.bounce", "markdown_it", "httpx", "email_validator"} | {
    "postern.protocols.mail.bounce_forms"
}
"""What a server process imports when it needs it."""
OPTIONAL = {"rich", "pygments", "attr", "annotated_types", "pydantic"}
"""What libraries import if it is installed, and no server process needs."""
MAIN = (
    "import json, sys; from {module} import main\ntry: main()\n"
    "finally: print(json.dumps(sorted(name for name in sys.modules if sys.modules[name])))"
)


def modules_of(code: str, *words: str, **variables: str) -> set[str]:
    """The modules that are imported after running `code` with these arguments in a new process."""
    ended = subprocess.run(
        [sys.executable, "-c", code, *words],
        env=environment(ROOT / "unused", **variables),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(ended.stdout.splitlines()[-1]))


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["send", "--help"], ["serve", "--help"]])
def test_a_command_that_prints_a_text_imports_no_heavy_modules(words: list[str]) -> None:
    imported = modules_of(MAIN.format(module="postern.cli"), *words)
    assert imported.isdisjoint(SERVER_MODULES | CLIENT_MODULES - {"asyncio", "ssl"})


class SendApi(BaseHTTPRequestHandler):
    """Accepts every message and every health check."""

    def do_POST(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        body = json.dumps({"status": "SENT", "id": "1", "messageId": "<1@example.com>"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def api_port() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), SendApi)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_command_that_calls_the_api_imports_no_server_modules(api_port: int, tmp_path: Path) -> None:
    body = tmp_path / "body.txt"
    body.write_text("Hello.")
    words = ["send", "--to", "ada@example.com", "--subject", "Hello", "--text", str(body)]
    words += ["--url", f"http://127.0.0.1:{api_port}", "--key", "k", "--project", "p"]
    assert modules_of(MAIN.format(module="postern.cli"), *words).isdisjoint(SERVER_MODULES)
    health = modules_of(MAIN.format(module="postern.cli"), "health", POSTERN_PORT=str(api_port))
    assert health.isdisjoint(SERVER_MODULES | {"httpx"})


def test_a_process_does_not_import_modules_that_it_rarely_needs() -> None:
    # Without a parent, the process ends as soon as it has loaded the application.
    imported = modules_of(MAIN.format(module="postern.cli.child"), "worker")
    assert imported.isdisjoint(RARELY_USED | OPTIONAL)
    assert "postern.app" in imported


def test_serve_starts_its_processes_before_it_imports_heavy_modules() -> None:
    imported = modules_of("import json, sys; import postern.cli.supervisor; print(json.dumps(sorted(sys.modules)))")
    assert imported.isdisjoint(SERVER_MODULES | {"httpx"})


def test_each_module_adds_the_commands_of_the_list() -> None:
    names = [name for names in COMMANDS.values() for name in names]
    assert sorted(get_command(make_command()).commands) == sorted(names)  # type: ignore[attr-defined]
    for names in COMMANDS.values():
        for name in names:
            of_module = get_command(make_command([name, "--help"])).commands  # type: ignore[attr-defined]
            assert sorted(of_module) == sorted(names)
