"""`postern sign-in-link`, `access`, `developers` and `keys`: help for developers who lost a password or key."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from postern.cli.console import SOCKET_FILE
from tests.cli.test_start import MAIN, SERVER_MODULES, modules_of
from tests.test_boot import WAIT_SECONDS, StartedServer, command, start

NEW_PASSWORD = "an entirely new password"


@pytest.fixture(scope="module")
def credentials(first: StartedServer) -> dict[str, str]:
    return json.loads(command(first.folder, "bootstrap", "--json").stdout)


@pytest.fixture
def http(first: StartedServer):
    with httpx.Client(base_url=first.url, timeout=WAIT_SECONDS) as client:
        yield client


@pytest.mark.parametrize("path", ["/usr/bin:/bin", f"{Path(sys.executable).parent}:/usr/bin:/bin"])
def test_the_printed_command_runs_in_a_new_terminal(first, path):
    """In a clone, it is in a folder that a new terminal does not search."""
    printed = command(first.folder, "bootstrap", PATH=path)
    assert printed.returncode == 0, printed.stderr
    program = re.search(r"^    (.*) demo$", printed.stdout, re.MULTILINE)[1]
    assert (program == "postern") == (path != "/usr/bin:/bin")
    exports = "\n".join(re.findall("^    (export .*)$", printed.stdout, re.MULTILINE))
    assert ("export PATH=" in exports) == (path == "/usr/bin:/bin")
    pasted = subprocess.run(["bash", "-c", f"{exports}\ncommand -v postern"], env={"PATH": path}, check=False)
    assert pasted.returncode == 0, exports
    shell = subprocess.run(
        ["bash", "-c", f"{program} demo --help"],
        env={"PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT_SECONDS,
    )
    assert (shell.returncode, shell.stderr) == (0, "")


def test_access_prints_a_link_that_signs_in_once(first, credentials, http):
    """Regression test of N7 (tests/defects.md)."""
    completed = command(first.folder, "access", credentials["developerEmail"])
    assert completed.returncode == 0, completed.stderr
    token = re.search(r"/inbox/enter\?token=(\S+)", completed.stdout)[1]
    assert http.post("/inbox/enter", data={"token": token}).status_code == 303
    assert http.post("/inbox/enter", data={"token": token}).status_code == 400
    unnamed = command(first.folder, "access")
    assert (unnamed.returncode, "several accounts: give the email" in unnamed.stderr) == (78, True)
    # Somebody who lost the address finds it, if the server has few accounts.
    assert re.search(r"Owners are developer-\w+@example.com, ", unnamed.stderr)
    unknown = command(first.folder, "access", "nobody@example.com")
    assert (unknown.returncode, "nobody@example.com" in unknown.stderr) == (78, True)


def test_sign_in_link_prints_a_link_to_the_dashboard_that_works_once(first, credentials, http):
    completed = command(first.folder, "sign-in-link", credentials["developerEmail"])
    assert completed.returncode == 0, completed.stderr
    link = re.search(r"^    (\S+)/dashboard/welcome#(\w{64})$", completed.stdout, re.MULTILINE)
    assert link[1] == first.url
    headers = {"sec-fetch-site": "same-origin", "x-postern-dashboard": "1"}
    signed_in = http.post("/dashboard/api/welcome", json={"token": link[2]}, headers=headers)
    assert (signed_in.status_code, signed_in.json()["developer"]["email"]) == (200, credentials["developerEmail"])
    assert http.get("/dashboard/api/account", headers=headers).status_code == 200
    assert http.post("/dashboard/api/welcome", json={"token": link[2]}, headers=headers).status_code == 400
    unnamed = command(first.folder, "sign-in-link")
    assert (unnamed.returncode, "several accounts: give the email" in unnamed.stderr) == (78, True)
    unknown = command(first.folder, "sign-in-link", "nobody@example.com")
    assert (unknown.returncode, "nobody@example.com" in unknown.stderr) == (78, True)


def test_reset_password_prints_a_link_that_sets_a_new_password(first, credentials, http):
    """Regression test of N7 (tests/defects.md)."""
    completed = command(first.folder, "developers", "reset-password", credentials["developerEmail"])
    assert completed.returncode == 0, completed.stderr
    token = re.search(r"/reset-password\?token=(\S+)", completed.stdout)[1]
    assert http.post("/auth/password/reset", json={"token": token, "newPassword": NEW_PASSWORD}).status_code == 204
    login = {"email": credentials["developerEmail"], "password": NEW_PASSWORD}
    assert http.post("/auth/sign-in", json=login).status_code == 200


def test_keys_create_prints_a_key_of_an_existing_project(first, credentials, http):
    """Regression test of N7 (tests/defects.md)."""
    completed = command(
        first.folder, "keys", "create", credentials["projectId"], "--permission", "emails:read", "--test"
    )
    assert completed.returncode == 0, completed.stderr
    key = completed.stdout.strip()
    assert key.startswith("sk_test_")
    headers = {"authorization": f"Bearer {key}"}
    path = f"/projects/{credentials['projectId']}"
    assert http.get(f"{path}/emails/logs", headers=headers).status_code == 200
    assert http.get(f"{path}/templates", headers=headers).status_code == 403
    for arguments in (
        ["00000000-0000-7000-8000-000000000000"],
        [credentials["projectId"], "--permission", "emails:nonsense"],
    ):
        refused = command(first.folder, "keys", "create", *arguments)
        assert (refused.returncode, refused.stderr.count("Traceback")) == (78, 0), refused.stderr


def test_the_running_server_executes_commands_that_need_the_application(first, credentials):
    """The command imports neither the application nor the database driver."""
    email, project = credentials["developerEmail"], credentials["projectId"]
    for words in (
        ["sign-in-link", email],
        ["access", email],
        ["developers", "reset-password", email],
        ["keys", "create", project],
        ["certificates", "list"],
        ["sites"],
        ["sources", "--json"],
        ["bootstrap", "--json"],
        ["send", "--to", "ada@example.com", "--subject", "Hello", "--text", __file__],
    ):
        imported = modules_of(MAIN.format(module="postern.cli"), *words, POSTERN_DATA=str(first.folder))
        assert imported.isdisjoint(SERVER_MODULES | {"httpx", "uvloop", "postern.world"}), words


def test_only_the_owner_of_the_data_folder_can_connect_to_the_console(first):
    assert (first.folder / SOCKET_FILE).stat().st_mode & 0o777 == 0o600


def test_a_command_that_fails_in_the_server_says_so(first):
    refused = command(first.folder, "sites", "suspend", "nowhere.example", "--reason", "Test")
    assert (refused.returncode, refused.stderr.count("Traceback")) == (78, 0)
    assert "No mail was sent to 'nowhere.example'" in refused.stderr
    for request, answer in (
        (b'{"command": "no such command", "arguments": {}}', b"runs another release"),
        (b'{"command": "sites", "arguments": {"unknown": 1}}', b"its log says why"),
        (b'{"command": "sites"}', b"cannot read this request"),
        (b"{", b"cannot read this request"),
        (b"[]", b"cannot read this request"),
        (b"[" * 60_000, b"cannot read this request"),
    ):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(WAIT_SECONDS)
            connection.connect(str(first.folder / SOCKET_FILE))
            connection.sendall(request + b"\n")
            assert answer in connection.recv(1_000)
            assert connection.recv(1_000) == b""
    too_long = command(first.folder, "sites", "suspend", "nowhere.example", "--reason", "x" * 100_000)
    assert (too_long.returncode, "more than" in too_long.stderr) == (78, True)
    assert command(first.folder, "sites").returncode == 0


def test_a_command_without_a_running_server_does_it_itself(base_folder):
    """Also if the path of the data folder is too long for a socket."""
    folder = base_folder / ("long" * 30)
    server = start(folder)
    try:
        server.wait_until_ready()
        assert not (folder / SOCKET_FILE).exists()
        assert "/dashboard/welcome#" in command(folder, "sign-in-link").stdout
    finally:
        server.stop()
    assert "/dashboard/welcome#" in command(folder, "sign-in-link").stdout
