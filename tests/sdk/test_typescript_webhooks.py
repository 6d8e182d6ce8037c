"""Webhook verification of the TypeScript SDK, with requests signed by the server and by two other libraries."""

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import standardwebhooks
import svix

from postern.security.signatures import new_webhook_secret, webhook_headers
from tests.sdk.typescript import linked_sdk, needs_typescript, run

pytestmark = [pytest.mark.needs_node, needs_typescript]
PROGRAMS = Path(__file__).parent / "typescript_programs"
BODY = json.dumps(
    {"type": "email.delivered", "timestamp": "2026-01-31T12:00:00.000Z", "data": {"id": "1", "note": "Zoë 🎉"}},
    ensure_ascii=False,
).encode()
CUSTOM = b'{"type": "custom.order"}'
SECRET, OLD_SECRET = new_webhook_secret(), new_webhook_secret()


def signed_by_server(*secrets: str, ago: timedelta = timedelta(), body: bytes = BODY) -> dict[str, str]:
    return webhook_headers("evt_1", datetime.now(UTC) - ago, body, secrets)


def signed_by(library: Any, prefix: str) -> dict[str, str]:
    now = datetime.now(UTC)
    return {
        f"{prefix}-id": "msg_1",
        f"{prefix}-timestamp": str(int(now.timestamp())),
        f"{prefix}-signature": library.Webhook(SECRET).sign("msg_1", now, BODY.decode()),
    }


TIME, HEADER = "WebhookVerificationError: The time", "WebhookVerificationError: The header"
VALID = "event email.delivered"
WRONG = "WebhookVerificationError: No signature fits"


def cases() -> list[tuple[dict[str, str], Any, bytes, str]]:
    """Headers, secret and body of requests that are signed now, with the result of each."""
    return [
        (signed_by_server(SECRET), SECRET, BODY, VALID),
        (signed_by_server(SECRET), SECRET.removeprefix("whsec_"), BODY, VALID),
        ({name.title(): value for name, value in signed_by_server(SECRET).items()}, SECRET, BODY, VALID),
        (signed_by_server(OLD_SECRET, SECRET), SECRET, BODY, VALID),
        (signed_by_server(OLD_SECRET), [SECRET, OLD_SECRET], BODY, VALID),
        (signed_by(standardwebhooks, "webhook"), SECRET, BODY, VALID),
        (signed_by(svix, "webhook"), SECRET, BODY, VALID),
        (signed_by(svix, "svix"), SECRET, BODY, VALID),
        (signed_by_server(SECRET, ago=timedelta(seconds=250)), SECRET, BODY, VALID),
        (
            signed_by_server(SECRET, body=CUSTOM),
            SECRET,
            b'{"type": "custom.order"}',
            "event custom.order",
        ),
        (signed_by_server(OLD_SECRET), SECRET, BODY, WRONG),
        (signed_by_server(SECRET), SECRET, BODY + b" ", WRONG),
        ({**signed_by_server(SECRET), "webhook-id": "evt_2"}, SECRET, BODY, WRONG),
        ({**signed_by_server(SECRET), "webhook-signature": "v1,AAAA v1,%%%"}, SECRET, BODY, WRONG),
        (
            {**signed_by_server(SECRET), "webhook-signature": "v1a,AAAA"},
            SECRET,
            BODY,
            "WebhookVerificationError: The header",
        ),
        ({**signed_by_server(SECRET), "webhook-timestamp": "now"}, SECRET, BODY, HEADER),
        (signed_by_server(SECRET, ago=timedelta(hours=1)), SECRET, BODY, TIME),
        (signed_by_server(SECRET, ago=timedelta(hours=-1)), SECRET, BODY, TIME),
        ({}, SECRET, BODY, "WebhookVerificationError: The header webhook-id is missing."),
        (signed_by_server(SECRET), "whsec_not base64!", BODY, "WebhookVerificationError: The secret is not base64"),
        (signed_by_server(SECRET), "", BODY, "WebhookVerificationError: The secret is not base64"),
        (signed_by_server(SECRET, body=b"{"), SECRET, b"{", "WebhookVerificationError: The signature is valid, but"),
    ]


def test_requests_are_verified(tmp_path: Path) -> None:
    requests = cases()
    file = tmp_path / "cases.json"
    file.write_text(
        json.dumps(
            [
                {"headers": headers, "secret": secret, "body": base64.b64encode(body).decode()}
                for headers, secret, body, _ in requests
            ]
        )
    )
    program = linked_sdk(tmp_path) / "verify_webhooks.mjs"
    program.write_text((PROGRAMS / program.name).read_text())
    printed = json.loads(run("node", program, file, SECRET, BODY.decode(), folder=tmp_path))
    for (*_, expected), result in zip(requests, printed["results"], strict=True):
        assert result.startswith(expected), expected
        assert " / " not in result, "The four ways to pass a request have different results."
    for library in (standardwebhooks, svix):
        library.Webhook(SECRET).verify(BODY, printed["signed"])
