"""Composing messages from templates and values."""

from postern.protocols.mail.dkim import Signer, generate_ed25519, generate_rsa
from postern.protocols.mail.templates import composing
from postern.protocols.mail.templates.composing import ComposeRequest, MessageDraft, MessageTemplates, compose
from postern.protocols.mail.templates.content import TrackingOptions

NOW = 1_770_000_000
RSA = Signer.load("acme.example", "one", generate_rsa())
EDWARDS = Signer.load("acme.example", "two", generate_ed25519())
TRACKING = TrackingOptions(base="https://mail.acme.example", key=b"k" * 32)


def composed(orders):
    return [compose(order, NOW) for order in orders]


def draft(number=0, **changes) -> MessageDraft:
    given = {
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
    return MessageDraft(**{**given, **changes})


def orders(count, *, words=None, signers=(RSA, EDWARDS), **changes) -> list[ComposeRequest]:
    words = words or MessageTemplates("Hello {{name}}", '<a href="https://acme.example/{{name}}">{{name}}</a>', None)
    return [ComposeRequest(words, draft(number, **changes), signers) for number in range(count)]


def test_an_internal_error_fails_one_message_with_its_location(monkeypatch):
    def broken(message):
        raise ZeroDivisionError

    monkeypatch.setattr(composing.mime, "compose", broken)
    (made,) = composed(orders(1))
    assert made.reason == "The message could not be composed: ZeroDivisionError."
    assert made.trace
    assert "in broken" in made.trace
