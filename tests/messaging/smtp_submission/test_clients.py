"""SMTP clients of other projects submit messages, and what they send arrives."""

import asyncio
import email
import email.policy
import json
import os
import shutil
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from tests.messaging.smtp_submission.conftest import Submission
from tests.peers.smtp_sink import certificate

PEERS = Path(__file__).parents[2] / "peers"
NODEMAILER = PEERS / "nodemailer"
PHPMAILER = Path("/usr/share/php/libphp-phpmailer/autoload.php")
TIMEOUT_SECONDS = 120
MESSAGE = "From: hello@example.com\nTo: ada@example.org\nSubject: Hello\n\nHello\n.\n..\nend\n"


def needs(program: str, package: str | None = None):
    """Skip the test if a program is missing."""
    install = f"apt-get install {package or program}"
    return lambda test: pytest.mark.needs_tool(program, install)(
        pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed: {install}")(test)
    )


async def run(*command: str | Path, stdin: str = "", **environment: Any) -> str:
    """The output of a client, which must succeed."""
    process = await asyncio.create_subprocess_exec(
        *map(str, command),
        env={**os.environ, **{name: str(value) for name, value in environment.items()}},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await asyncio.wait_for(process.communicate(stdin.encode()), TIMEOUT_SECONDS)
    assert process.returncode == 0, errors.decode() + output.decode()
    return output.decode()


def parsed(raw: bytes) -> EmailMessage:
    return email.message_from_bytes(raw, policy=email.policy.default)  # pyright: ignore[reportReturnType]


def check_rich(received) -> None:
    """The message that nodemailer and PHPMailer send."""
    assert received.recipients == ("ada@example.org", "carol@example.org")
    message = parsed(received.raw)
    assert message["From"].addresses[0].display_name == "Acme, Inc."
    assert message["To"] == "Zoë <ada@example.org>"
    assert message["Bcc"] is None
    assert message["Subject"].startswith("Schöne Grüße ")
    text = message.get_body(("plain",)).get_content().replace("\r\n", "\n")
    assert text.strip("\n") == ".\n..\nHallo Zoë"
    assert "cid:logo@example.com" in message.get_body(("html",)).get_content()
    files = {part.get_filename(): part for part in message.walk() if part.get_filename()}
    assert sorted(files) == ["Räume.txt", "logo.png"]
    assert files["logo.png"].get_content() == b"\x01\x02\x03\xff"
    assert files["logo.png"]["Content-ID"] == "<logo@example.com>"
    assert files["Räume.txt"].get_payload(decode=True) == "Büro\n".encode()


@pytest.mark.needs_node
@pytest.mark.skipif(
    not (shutil.which("node") and (NODEMAILER / "node_modules" / "nodemailer").exists()),
    reason="nodemailer is not installed: npm install --no-package-lock --prefix tests/peers/nodemailer",
)
@pytest.mark.parametrize("is_implicit", [False, True])
async def test_nodemailer(sender, sink, submission: Submission, run_due_work, is_implicit):
    output = await run("node", NODEMAILER / "send.cjs", **environment_of(sender, submission, is_implicit))
    result = json.loads(output)
    assert all(response.startswith("250 2.0.0 queued as ") for response in result["sent"])
    assert result["refused"]["response"].startswith("550-5.7.1 From: unverified.example is not a verified")
    await run_due_work()
    assert len(sink.messages) == 3
    for received in sink.messages:
        check_rich(received)
    log = (await sender.client.get("/emails/logs")).json()["data"]
    assert [item["tags"] for item in log] == [["welcome"]] * 3


@needs("php", "php-cli")
@pytest.mark.skipif(not PHPMAILER.exists(), reason="PHPMailer is missing: apt-get install libphp-phpmailer php-cli")
@pytest.mark.parametrize("is_implicit", [False, True])
async def test_phpmailer(sender, sink, submission: Submission, run_due_work, is_implicit):
    await run("php", PEERS / "phpmailer" / "send.php", **environment_of(sender, submission, is_implicit))
    await run_due_work()
    check_rich(sink.messages[0])


def environment_of(sender, submission: Submission, is_implicit: bool) -> dict[str, object]:
    return {
        "SMTP_PORT": submission.tls_port if is_implicit else submission.starttls_port,
        "SMTP_KEY": sender.secret_key,
        "SMTP_SECURE": str(is_implicit).lower(),
        "SMTP_CA": certificate("localhost")[0],
    }


def check_plain(sink) -> None:
    (received,) = sink.messages
    text = parsed(received.raw).get_body(("plain",)).get_content().replace("\r\n", "\n")
    assert text.strip("\n") == "Hello\n.\n..\nend"


@needs("swaks")
async def test_swaks(sender, sink, submission: Submission, run_due_work):
    options = ["--server", f"localhost:{submission.starttls_port}", "--auth-user", "apikey", "--auth", "LOGIN"]
    options += ["--auth-password", sender.secret_key, "--from", "x@example.com", "--to", "ada@example.org"]
    output = await run("swaks", *options, "--data", "-", stdin=MESSAGE)
    assert "250 2.0.0 queued as " in output
    await run_due_work()
    check_plain(sink)


@needs("msmtp")
@pytest.mark.parametrize("is_implicit", [False, True])
async def test_msmtp(sender, sink, submission: Submission, run_due_work, is_implicit):
    port = submission.tls_port if is_implicit else submission.starttls_port
    options = ["--host=localhost", f"--port={port}", "--auth=plain", "--user=apikey", "--from=x@example.com"]
    options += ["--tls=on", f"--tls-starttls={'off' if is_implicit else 'on'}"]
    options += [f"--tls-trust-file={certificate('localhost')[0]}", "--passwordeval=printenv SMTP_KEY"]
    await run("msmtp", *options, "ada@example.org", stdin=MESSAGE, SMTP_KEY=sender.secret_key)
    await run_due_work()
    check_plain(sink)


@needs("curl")
async def test_curl(sender, sink, submission: Submission, run_due_work):
    options = ["--silent", "--show-error", "--ssl-reqd", "--cacert", str(certificate("localhost")[0])]
    options += ["--user", f"apikey:{sender.secret_key}", "--mail-from", "x@example.com"]
    options += ["--mail-rcpt", "ada@example.org", "--crlf", "--upload-file", "-"]
    await run("curl", *options, f"smtp://localhost:{submission.starttls_port}", stdin=MESSAGE)
    await run_due_work()
    check_plain(sink)
