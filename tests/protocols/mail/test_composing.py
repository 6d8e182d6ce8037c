"""Composing messages from templates and values."""

from postern.protocols.mail.dkim import Signer, generate_ed25519, generate_rsa
from postern.protocols.mail.templates import composing
from postern.protocols.mail.templates.composing import (
    ComposeRequest,
    ComposeResult,
    MessageDraft,
    MessageTemplates,
    prepare,
    signed,
)
from postern.protocols.mail.templates.content import TrackingOptions

NOW = 1_770_000_000
RSA_SIGNER = Signer.load("acme.example", "one", generate_rsa())
ED25519_SIGNER = Signer.load("acme.example", "two", generate_ed25519())
TRACKING = TrackingOptions(base="https://mail.acme.example", key=b"k" * 32)


def compose(request: ComposeRequest, now: int) -> ComposeResult:
    return signed(prepare(request), now)


def composed(requests):
    return [compose(request, NOW) for request in requests]


def draft(number=0, **changes) -> MessageDraft:
    fields = {
        "send_id": f"{number:032}",
        "values": {"name": f"Zoë {number}", "big": 2**53, "half": 0.5, "none": None, "list": [{"a": True}]},
        "sender": "Acme ✉ <hello@acme.example>",
        "to": [f"user{number}@example.org"],
        "cc": ["Bob <bob@example.org>"],
        "reply_to": ["answers@acme.example"],
        "headers": [("X-Order", "17")],
        "date": NOW,
        "message_id": f"<{number}@acme.example>",
        "tracking": TRACKING,
        "unsubscribe": TRACKING,
        "list_id": "<news.acme.example>",
        "feedback_id": "a:b:c",
    }
    return MessageDraft(**{**fields, **changes})


def compose_requests(count, *, templates=None, signers=(RSA_SIGNER, ED25519_SIGNER), **changes) -> list[ComposeRequest]:
    templates = templates or MessageTemplates(
        "Hello {{name}}", '<a href="https://acme.example/{{name}}">{{name}}</a>', None
    )
    return [ComposeRequest(templates, draft(number, **changes), signers) for number in range(count)]


def test_an_internal_error_fails_one_message_with_its_location(monkeypatch):
    def broken(message):
        raise ZeroDivisionError

    monkeypatch.setattr(composing.mime, "compose", broken)
    (result,) = composed(compose_requests(1))
    assert result.reason == "The message could not be composed: ZeroDivisionError."
    assert result.trace
    assert "in broken" in result.trace
