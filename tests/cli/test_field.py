"""`postern field` prints one value of a JSON document, or the reason why it cannot."""

import os
import subprocess

import pytest

from tests.commands import run_command


def run(document: str, path: str) -> subprocess.CompletedProcess[str]:
    return run_command("field", path, environment=os.environ, stdin=document)


@pytest.mark.parametrize(
    ("path", "value"),
    [("id", "42x"), ("data.1.email", "g@x"), ("count", "3"), ("ok", "true"), ("gone", "null")],
)
def test_a_value_is_printed_without_quotes(path, value):
    document = '{"id": "42x", "count": 3, "ok": true, "gone": null, "data": [{"email": "a@x"}, {"email": "g@x"}]}'
    printed = run(document, path)
    assert (printed.returncode, printed.stdout) == (0, f"{value}\n")


@pytest.mark.parametrize(
    ("document", "path", "reason"),
    [
        ("", "id", "nothing on standard input"),
        ("<html>", "id", "not JSON"),
        ('{"detail": "No such domain."}', "id", "No such domain."),
        ("[1]", "7", "has no"),
        ("3", "id", "has no"),
    ],
)
def test_a_missing_value_prints_one_sentence(document, path, reason):
    printed = run(document, path)
    assert printed.returncode == 78
    assert reason in printed.stderr
    assert "Traceback" not in printed.stderr
