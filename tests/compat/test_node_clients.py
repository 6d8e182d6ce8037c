"""The official Node clients of SendGrid and Postmark: mails arrive, and errors are the clients' own error classes."""

import asyncio
import email
import email.policy
import json
import os
import shutil
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

PEER = Path(__file__).parents[1] / "peers" / "compat_node"
INSTALL = "npm install --no-package-lock --prefix tests/peers/compat_node"
TIMEOUT_SECONDS = 120

pytestmark = [
    pytest.mark.needs_node,
    pytest.mark.skipif(
        not (shutil.which("node") and (PEER / "node_modules" / "postmark").exists()),
        reason=f"The Node clients are not installed: {INSTALL}",
    ),
]


async def run_node(url: str, key: str, template_id: str) -> dict[str, Any]:
    """The results of send.cjs."""
    environment = {**os.environ, "POSTERN_URL": url, "POSTERN_KEY": key, "TEMPLATE_ID": template_id}
    node = await asyncio.create_subprocess_exec(
        *("node", PEER / "send.cjs"), env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    output, errors = await asyncio.wait_for(node.communicate(), TIMEOUT_SECONDS)
    assert node.returncode == 0, errors.decode()
    return json.loads(output)


async def test_the_node_clients_send_mails_that_arrive(sender, sink, url, run_due_work):
    template = {"name": "Welcome mail", "subject": "Welcome, {{name}}", "html": "<p>Hi {{name}}</p>"}
    template_id = (await sender.client.post("/templates", template)).json()["id"]
    await sender.client.post("/suppressions", {"address": "gone@example.org", "reason": "BOUNCE"})
    results = await run_node(url, sender.secret_key, template_id)
    check_sendgrid(results["sendgrid"])
    check_postmark(results["postmark"])
    await run_due_work()
    sent: dict[tuple[str, ...], Any] = {}
    for received in sink.messages:
        message = email.message_from_bytes(received.raw, policy=email.policy.default)
        sent.setdefault(received.recipients, []).append(message)
    assert {" ".join(recipient.partition("@")[0] for recipient in key): len(sent[key]) for key in sent} == {
        "ada": 1,
        "bob carol dan": 1,
        "eve": 1,
        "fred": 1,
        "pat": 4,
        "jane joe cc bcc": 1,
        "tess": 3,
    }
    (bob,) = sent[("bob@example.org", "carol@example.org", "dan@example.org")]
    assert (bob["Subject"], bob["X-Own"], bob["Reply-To"]) == ("Welcome, Bob", "1", "reply@example.com")
    (jane,) = sent[("jane@example.org", "joe@example.org", "cc@example.org", "bcc@example.org")]
    assert jane["To"] == '"Doe, Jane" <jane@example.org>, joe@example.org'
    assert "https://acme.example/" in jane.get_body(("html",)).get_content()
    assert {part["Content-ID"] for part in jane.walk()} == {None, "<logo.png>"}
    assert {message["Subject"] for message in sent[("tess@example.org",)]} == {"Welcome, Tess"}
    jane_log = (await sender.client.get("/emails/logs", params={"tag": "welcome mail"})).json()["data"]
    assert [entry["tags"] for entry in jane_log] == [["welcome mail", "user--42"]]


def check_sendgrid(results: dict[str, Any]) -> None:
    for name in ("send", "full", "multiple"):
        assert results[name]["result"]["statusCode"] == 202, results[name]
        assert UUID(results[name]["result"]["headers"]["x-message-id"])
    assert {
        name: (results[name]["error"], results[name]["code"]) for name in ("invalid", "unverified", "wrongKey")
    } == {
        "invalid": ("ResponseError", 400),
        "unverified": ("ResponseError", 403),
        "wrongKey": ("ResponseError", 401),
    }
    assert results["invalid"]["body"]["errors"][0]["field"] == "personalizations.0.to.0.email"


def check_postmark(results: dict[str, Any]) -> None:
    for name in ("send", "full", "template", "alias"):
        result = results[name]["result"]
        assert (result["ErrorCode"], result["Message"]) == (0, "OK"), results[name]
        assert UUID(result["MessageID"])
        assert result["SubmittedAt"].endswith("Z")
    assert results["full"]["result"]["Cc"] == "cc@example.org"
    assert [item["ErrorCode"] for item in results["batch"]["result"]] == [0, 300, 0]
    assert [item["ErrorCode"] for item in results["templates"]["result"]] == [0, 1101]
    errors = ("inactive", "invalid", "unverified", "wrongToken", "testToken", "notOffered")
    assert {name: (results[name]["error"], results[name]["status"], results[name]["code"]) for name in errors} == {
        "inactive": ("InactiveRecipientsError", 422, 406),
        "invalid": ("InvalidEmailRequestError", 422, 300),
        "unverified": ("ApiInputError", 422, 400),
        "wrongToken": ("InvalidAPIKeyError", 401, 10),
        "testToken": ("InvalidAPIKeyError", 401, 10),
        "notOffered": ("UnknownError", 501, 501),
    }
    assert results["inactive"]["recipients"] == ["gone@example.org"]
    assert results["someInactive"]["result"]["Message"].endswith("inactive addresses: gone@example.org.")
