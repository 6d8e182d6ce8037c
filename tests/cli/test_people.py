"""The commands for people, against a server that was started as people start it."""

import csv
import io
import json
import re
import subprocess
import sys
import threading
from queue import Empty, Queue

import httpx
import pytest

from postern.cli.people import people
from tests.test_boot import ROOT, WAIT_SECONDS, Started, command, environment, first, place

__all__ = ["first", "place"]


@pytest.fixture(scope="module")
def own(first: Started) -> dict[str, str]:
    """A project on that server, as the environment names it."""
    made = json.loads(command(first.folder, "bootstrap", "--json").stdout)
    return {"POSTERN_KEY": made["secretKey"], "POSTERN_PROJECT": made["projectId"]}


def logs(first: Started, own: dict[str, str], q: str) -> list[dict[str, object]]:
    answer = httpx.get(
        f"{first.url}/projects/{own['POSTERN_PROJECT']}/emails/logs",
        params={"q": q, "limit": 100},
        headers={"Authorization": f"Bearer {own['POSTERN_KEY']}"},
        timeout=WAIT_SECONDS,
    )
    return answer.json()["data"]


def test_send_finds_the_server_by_its_folder(first: Started, own: dict[str, str]) -> None:
    page = first.folder.with_suffix(".html")
    page.write_text("<p>Grüße</p>")
    words = ["--to", "ada@example.com", "--to", "bob@example.com", "--subject", "Über uns", "--html", str(page)]
    sent = command(first.folder, "send", *words, **own)
    assert sent.returncode == 0, sent.stderr
    entry = logs(first, own, "über uns")[0]
    assert entry["to"] == ["ada@example.com", "bob@example.com"]
    assert str(entry["id"]) in sent.stdout


def test_send_without_a_key_makes_a_project_and_says_where_to_look(first: Started) -> None:
    page = first.folder.with_suffix(".txt")
    page.write_text("Hello")
    sent = command(first.folder, "send", "--to", "ada@example.com", "--subject", "Hi", "--text", str(page))
    assert sent.returncode == 0, sent.stderr
    assert f"{first.url}/inbox/enter?token=" in sent.stdout


def test_what_is_refused_is_one_sentence(first: Started, own: dict[str, str], tmp_path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>Hi</p>")
    bad = command(first.folder, "send", "--to", "nobody", "--subject", "Hi", "--html", str(page), **own)
    wrong = command(
        first.folder,
        *("send", "--to", "a@example.com", "--subject", "Hi", "--html", str(page)),
        **{**own, "POSTERN_KEY": "sk_live_no"},
    )
    empty = command(first.folder, "send", "--to", "a@example.com", "--subject", "Hi", **own)
    alone = command(tmp_path / "nothing", "send", "--to", "a@example.com", "--subject", "Hi", "--html", str(page))
    for each in (bad, wrong, empty, alone):
        assert each.returncode == 78
        assert "Traceback" not in each.stderr
    assert "The server refuses" in bad.stderr
    assert "--html FILE" in empty.stderr
    assert "postern serve" in alone.stderr


def test_demo_sends_to_everybody_once(first: Started, own: dict[str, str]) -> None:
    shown = command(first.folder, "demo", "--count", "12", **own)
    assert shown.returncode == 0, shown.stderr
    domain = re.search(r"Domain (\S+) and template", shown.stdout)
    assert domain, shown.stdout
    found = logs(first, own, "person-")
    written = list(csv.DictReader(io.StringIO(people(12))))
    assert sorted(entry["to"][0] for entry in found) == sorted(person["email"] for person in written)
    subject_of = {entry["to"][0]: entry["subject"] for entry in found}
    for person in written:
        assert subject_of[person["email"]] == f"{person['name']}, your {person['plan']} plan"


def test_tail_shows_what_happens(first: Started, own: dict[str, str], tmp_path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>Hi</p>")
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "postern", "tail", "--events", "email.*"],
        env=environment(first.folder, **own),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    lines: Queue[str] = Queue()
    assert process.stdout
    reading = threading.Thread(target=lambda out: [lines.put(line) for line in out], args=(process.stdout,))
    reading.start()
    try:
        # It shows what happens from its first look on, and nobody outside sees that look: so again and again.
        for _ in range(20):
            sent = command(first.folder, "send", "--to", "t@example.com", "--subject", "T", "--html", str(page), **own)
            assert sent.returncode == 0, sent.stderr
            try:
                assert " email." in lines.get(timeout=3)
                break
            except Empty:
                assert process.poll() is None
        else:
            pytest.fail("Nothing was shown.")
    finally:
        process.terminate()
        process.wait(WAIT_SECONDS)
        reading.join(WAIT_SECONDS)
        process.stdout.close()
