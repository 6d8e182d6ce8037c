"""`postern send`, `tail`, `demo` and `--version` against a server started with `postern serve`."""

import csv
import io
import json
import re
import subprocess
import sys
import threading
from dataclasses import dataclass
from importlib.metadata import version
from queue import Empty, Queue
from typing import Any

import httpx
import pytest

from postern.cli.client import describe_event
from postern.cli.demo import contacts_csv, find_link, recipients_csv
from tests.test_boot import ROOT, WAIT_SECONDS, StartedServer, command, environment


@pytest.fixture(scope="module")
def project_variables(first: StartedServer) -> dict[str, str]:
    """Environment variables of a new project on that server."""
    credentials = json.loads(command(first.folder, "bootstrap", "--json").stdout)
    return {"POSTERN_KEY": credentials["secretKey"], "POSTERN_PROJECT": credentials["projectId"]}


def logs(first: StartedServer, project_variables: dict[str, str], q: str) -> list[dict[str, object]]:
    response = httpx.get(
        f"{first.url}/projects/{project_variables['POSTERN_PROJECT']}/emails/logs",
        params={"q": q, "limit": 100},
        headers={"Authorization": f"Bearer {project_variables['POSTERN_KEY']}"},
        timeout=WAIT_SECONDS,
    )
    return response.json()["data"]


def test_send_finds_the_server_by_its_data_folder(first: StartedServer, project_variables: dict[str, str]) -> None:
    page = first.folder.with_suffix(".html")
    page.write_text("<p>Grüße</p>")
    arguments = ["--to", "ada@example.com", "--to", "bob@example.com", "--subject", "Über uns", "--html", str(page)]
    sent = command(first.folder, "send", *arguments, **project_variables)
    assert sent.returncode == 0, sent.stderr
    entry = logs(first, project_variables, "über uns")[0]
    assert entry["to"] == ["ada@example.com", "bob@example.com"]
    assert str(entry["id"]) in sent.stdout


def test_send_without_a_key_creates_a_project_and_prints_an_inbox_link(first: StartedServer) -> None:
    page = first.folder.with_suffix(".txt")
    page.write_text("Hello")
    sent = command(first.folder, "send", "--to", "ada@example.com", "--subject", "Hi", "--text", str(page))
    assert sent.returncode == 0, sent.stderr
    assert f"{first.url}/inbox/enter?token=" in sent.stdout


def test_refused_requests_print_one_sentence(first: StartedServer, project_variables: dict[str, str], tmp_path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>Hi</p>")
    bad_recipient = command(
        first.folder, "send", "--to", "nobody", "--subject", "Hi", "--html", str(page), **project_variables
    )
    wrong_key = command(
        first.folder,
        *("send", "--to", "a@example.com", "--subject", "Hi", "--html", str(page)),
        **{**project_variables, "POSTERN_KEY": "sk_live_no"},
    )
    no_body = command(first.folder, "send", "--to", "a@example.com", "--subject", "Hi", **project_variables)
    no_server = command(tmp_path / "nothing", "send", "--to", "a@example.com", "--subject", "Hi", "--html", str(page))
    for completed in (bad_recipient, wrong_key, no_body, no_server):
        assert completed.returncode == 78
        assert "Traceback" not in completed.stderr
    page.write_bytes(b"\xff\xfe")
    unreadable = command(
        first.folder, "send", "--to", "a@example.com", "--subject", "Hi", "--html", str(page), **project_variables
    )
    assert (unreadable.returncode, "Traceback" in unreadable.stderr) == (78, False)
    assert "The server refused the request" in bad_recipient.stderr
    assert "--html FILE" in no_body.stderr
    assert "postern serve" in no_server.stderr


@pytest.mark.parametrize(
    "arguments", ["tail", "listen", "import FILE", "campaign watch x", "demo", "send --to a@b.example"]
)
@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "nonsense"])
def test_an_unreachable_server_prints_one_sentence(arguments: str, url: str, tmp_path) -> None:
    file = tmp_path / "file"
    file.write_text("email\nada@example.com\n")
    command_line = arguments.replace("FILE", str(file)).split()
    if command_line[0] == "send":
        command_line += ["--subject", "Hi", "--text", str(file)]
    variables = {"POSTERN_KEY": "sk_live_x", "POSTERN_PROJECT": "x", "POSTERN_URL": url}
    completed = command(tmp_path / "nothing", *command_line, **variables)
    assert completed.returncode == 78, completed.stderr
    assert "Cannot reach the server" in completed.stderr
    assert "Traceback" not in completed.stderr


def test_demo_sends_one_message_to_each_recipient(first: StartedServer, project_variables: dict[str, str]) -> None:
    completed = command(first.folder, "demo", "--count", "12", "--contacts", "0", **project_variables)
    assert completed.returncode == 0, completed.stderr
    domain = re.search(r"Domain (\S+) and template", completed.stdout)
    assert domain, completed.stdout
    entries = logs(first, project_variables, "person-")
    recipients = list(csv.DictReader(io.StringIO(recipients_csv(12))))
    assert sorted(entry["to"][0] for entry in entries) == sorted(person["email"] for person in recipients)
    subject_of = {entry["to"][0]: entry["subject"] for entry in entries}
    for person in recipients:
        assert subject_of[person["email"]] == f"{person['name']}, your {person['plan']} plan"


@dataclass
class DemoRun:
    """A run of `postern demo`, and the API as the developer whose project it filled."""

    url: str
    project: str
    token: str
    stdout: str
    stderr: str

    def get(self, path: str) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.get(f"{self.url}{path}", headers=headers, timeout=WAIT_SECONDS).raise_for_status().json()

    def read(self, path: str) -> Any:
        """GET below the project."""
        return self.get(f"/projects/{self.project}{path}")

    def rows(self, path: str) -> list[dict[str, Any]]:
        page = self.read(path)
        return page["data"] if isinstance(page, dict) else page


@pytest.fixture(scope="module")
def demo_run(first: StartedServer) -> DemoRun:
    """`postern demo` in a project of its own, run twice, because each run must leave room for the next."""
    credentials = json.loads(command(first.folder, "bootstrap", "--json").stdout)
    variables = {
        "POSTERN_KEY": credentials["secretKey"],
        "POSTERN_PROJECT": credentials["projectId"],
        "POSTERN_EMAIL": credentials["developerEmail"],
        "POSTERN_PASSWORD": credentials["developerPassword"],
    }
    for contacts in ("50", "150"):
        completed = subprocess.run(
            [sys.executable, "-m", "postern", "demo", "--count", "2", "--contacts", contacts],
            env=environment(first.folder, **variables),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=400,
        )
        assert completed.returncode == 0, completed.stderr
    return DemoRun(
        first.url, credentials["projectId"], credentials["developerToken"], completed.stdout, completed.stderr
    )


def test_demo_fills_a_project_with_sample_data(demo_run: DemoRun) -> None:
    assert "Readers of the winner" in demo_run.stderr, "the progress bars"
    api_paths = dict(
        re.findall(
            r"^(\w+): GET \S+?(/(?:campaigns|audiences|automations|analytics)\S*)", demo_run.stdout, re.MULTILINE
        )
    )
    assert set(api_paths) == {"Campaign", "Audience", "Automation", "Statistics"}
    campaign = demo_run.read(api_paths["Campaign"])
    assert campaign["status"] == "SENT"
    assert campaign["progress"]["expected"] == demo_run.read(api_paths["Audience"])["total"] > 0
    assert campaign["evidence"]["decidedBy"] == "hand"
    assert [variant["isWinner"] for variant in campaign["variants"]].count(True) == 1
    for name in ("delivered", "opened", "clicked"):
        assert campaign["stats"][name] > 0, name
    statistics = demo_run.read(api_paths["Statistics"])
    assert statistics["contacts"]["total"] > 150
    assert statistics["sends"]["opened"] >= campaign["stats"]["opened"]
    assert statistics["sends"]["machineOpened"] > 0
    assert statistics["contacts"]["unsubscribed"] > 0
    assert demo_run.rows("/contacts?q=reader-")[0]["attributes"]["plan"] in ("free", "pro", "team")
    assert demo_run.read(api_paths["Automation"].removesuffix("/runs"))["active"] is True


SCREENS = {
    "/emails/logs": 10,
    "/emails/logs?status=SCHEDULED": 3,
    "/emails/logs?status=BOUNCED": 1,
    "/emails/logs?status=COMPLAINED": 1,
    "/emails/logs?status=DELAYED": 1,
    "/emails/logs?status=SUPPRESSED": 1,
    "/inbox": 5,
    "/suppressions?reason=MANUAL": 1,
    "/suppressions?reason=BOUNCE": 1,
    "/suppressions?reason=COMPLAINT": 1,
    "/suppressions?reason=UNSUBSCRIBE": 1,
    "/campaigns?status=DRAFT": 1,
    "/campaigns?status=SCHEDULED": 1,
    "/campaigns?status=SENT": 2,
    "/templates": 6,
    "/assets": 1,
    "/contacts": 150,
    "/contact-attributes": 5,
    "/contacts/imports": 2,
    "/audiences?type=STATIC": 1,
    "/audiences?type=DYNAMIC": 2,
    "/automations?active=true": 2,
    "/automations?active=false": 1,
    "/customers?status=verified": 10,
    "/customers?status=unverified": 1,
    "/customers?status=banned": 1,
    "/customers?status=mfa": 1,
    "/customers?status=locked": 1,
    "/b2b/organizations?status=ACTIVE": 3,
    "/b2b/organizations?status=SUSPENDED": 1,
    "/b2b/sso-connections": 1,
    "/b2b/features": 4,
    "/b2b/plans": 2,
    "/access/permissions": 6,
    "/access/roles": 3,
    "/domains": 2,
    "/senders": 1,
    "/api-keys": 5,
    "/webhooks": 2,
    "/events": 10,
}
"""The lists that the screens of the dashboard show, with the least number of rows."""


@pytest.mark.parametrize("path", SCREENS)
def test_demo_leaves_no_screen_of_the_dashboard_empty(demo_run: DemoRun, path: str) -> None:
    # Lists that are short by their nature, such as senders, have no pages.
    limit = "" if path == "/senders" else f"{'&' if '?' in path else '?'}limit=100"
    assert len(demo_run.rows(path + limit)) >= min(SCREENS[path], 100)


def test_demo_fills_the_pages_of_single_records(demo_run: DemoRun) -> None:
    """What hangs on one template, import, automation, customer, organization or webhook."""
    blocks = next(row for row in demo_run.rows("/templates") if row["name"].startswith("Announcement"))
    assert len(demo_run.rows(f"/templates/{blocks['id']}/versions")) >= 2
    refused = [row["failed"] for row in demo_run.rows("/contacts/imports")]
    assert max(refused) >= 1

    statuses = {
        run["status"]
        for automation in demo_run.rows("/automations?active=true")
        for run in demo_run.rows(f"/automations/{automation['id']}/runs?limit=100")
    }
    assert {"WAITING", "COMPLETED"} <= statuses

    customers = [demo_run.read(f"/customers/{row['id']}") for row in demo_run.rows("/customers?limit=100")]
    assert any(customer["sessions"] for customer in customers)
    ada = next(customer for customer in customers if customer["name"] == "Ada Lovelace")
    assert demo_run.rows(f"/customers/{ada['id']}/timeline")
    assert demo_run.rows(f"/customers/{ada['id']}/organizations")

    organization = next(row for row in demo_run.rows("/b2b/organizations") if row["name"] == "Harbour & Finch")
    for part in ("members", "invitations", "domains", "sso-connections", "entitlements"):
        assert demo_run.rows(f"/b2b/organizations/{organization['id']}/{part}"), part
    assert demo_run.read(f"/b2b/organizations/{organization['id']}/plan")["planKey"] == "enterprise"

    webhook = next(row for row in demo_run.rows("/webhooks") if row["description"] == "CRM")
    assert demo_run.rows(f"/webhooks/{webhook['id']}/deliveries")


def test_demo_invites_colleagues(demo_run: DemoRun) -> None:
    for path in ("/account/members", "/account/invitations", "/account/audit-log"):
        page = demo_run.get(path)
        assert page["data"] if isinstance(page, dict) else page, path


def test_the_contacts_of_the_demo_have_every_outcome() -> None:
    rows = list(csv.DictReader(io.StringIO(contacts_csv(5_000))))
    assert len({row["email"] for row in rows}) == 5_000
    assert {row["email"].partition("+")[0] for row in rows if "+" in row["email"]} == {"bounced", "complained"}
    assert {row["unsubscribed"] for row in rows} == {"true", "false"}


def test_find_link_returns_the_path_of_a_link_in_a_message() -> None:
    message = "Content-Type: text/html\n\n<a href='x'>x</a><a href=\"https://any.example/t/c/1?u=a&amp;s=b\">y</a>"
    assert find_link(message, "/t/c/") == "/t/c/1?u=a&s=b"
    assert find_link(message, "/t/u/") is None
    assert find_link("no html", "/t/c/") is None


def test_tail_prints_events(first: StartedServer, project_variables: dict[str, str], tmp_path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>Hi</p>")
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "postern", "tail", "--events", "email.*"],
        env=environment(first.folder, **project_variables),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    lines: Queue[str] = Queue()
    assert process.stdout
    reader_thread = threading.Thread(target=lambda out: [lines.put(line) for line in out], args=(process.stdout,))
    reader_thread.start()
    try:
        # `tail` prints events from its first poll on. The test cannot see that poll, so it sends until one is printed.
        for _ in range(20):
            sent = command(
                first.folder,
                "send",
                "--to",
                "t@example.com",
                "--subject",
                "T",
                "--html",
                str(page),
                **project_variables,
            )
            assert sent.returncode == 0, sent.stderr
            try:
                assert " email." in lines.get(timeout=10)
                break
            except Empty:
                assert process.poll() is None
        else:
            pytest.fail("Nothing was printed.")
    finally:
        process.terminate()
        process.wait(WAIT_SECONDS)
        reader_thread.join(WAIT_SECONDS)
        process.stdout.close()


def test_the_version_is_printed(tmp_path) -> None:
    """`postern --version` prints the version of the package.

    Regression test of N11 (tests/defects.md).
    """
    completed = command(tmp_path, "--version")
    assert (completed.returncode, completed.stdout) == (0, f"postern {version('postern-server')}\n")


def test_an_event_is_described_with_its_subject_in_printable_characters() -> None:
    """`tail` prints the recipient and subject of an event, without control characters.

    Regression test of N11 (tests/defects.md).
    """
    event = {
        "occurredAt": "2026-05-01T12:00:00Z",
        "type": "email.delivered",
        "subjectId": "0198",
        "contact": {"id": "1", "email": "ada@example.com"},
        "data": {"recipient": "ada@example.com", "subject": "Hello\x1b[2J", "to": ["bob@example.com"]},
    }
    line = describe_event(event)
    assert line == "2026-05-01T12:00:00Z  email.delivered              ada@example.com  bob@example.com  Hello[2J  0198"
    assert len(describe_event({**event, "data": {"subject": "x" * 1_000}})) < 300
    assert describe_event({**event, "data": None, "contact": None}).endswith("0198")
