"""The rate at which one core renders, composes and signs messages, compared with plain RSA signatures.

Run: python bench/mail.py
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from postern.protocols.mail.address import parse_address
from postern.protocols.mail.dkim import Signer, generate_ed25519, generate_rsa, sign
from postern.protocols.mail.mime import Message, compose
from postern.protocols.mail.templates.content import TrackingOptions, compile_content

PARAGRAPH = "<p>Hello {{ name }}, here is what happened in your neighbourhood this week.</p>\n"
LINKS = "".join(f'<a href="https://shop.example.test/item/{n}?ref=mail&amp;n={n}">Item {n}</a>\n' for n in range(10))
HTML = f"<html><body><h1>News</h1>{PARAGRAPH * 50}{LINKS}</body></html>"
SECONDS = 1.5


def rate(work: Callable[[], object]) -> float:
    """Calls per second of processor time."""
    work()
    calls, start = 0, time.process_time()
    while time.process_time() - start < SECONDS:
        for _ in range(20):
            work()
        calls += 20
    return calls / (time.process_time() - start)


def main() -> None:
    content = compile_content(subject="News for {{ name }}", html=HTML)
    tracking = TrackingOptions(base="https://go.example.test", key=b"k" * 32)
    rendered = content.render({"name": "Ada"}, send_id="01", tracking=tracking)
    text, html = (
        "Hello Ada, this is the news of the week.\n" * 50,
        "<p>Hello Ada, this is the news.</p>\n" * 140,
    )
    service_headers = [
        ("List-Unsubscribe", f"<{rendered.unsubscribe_url}>"),
        ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
    ]
    message = Message(
        from_=parse_address("Postern News <news@example.test>"),
        to=[parse_address("Ada Lovelace <ada@example.test>")],
        subject="News for Ada",
        date=datetime.now(UTC),
        message_id="<01@example.test>",
        own_headers=service_headers,
        text=text,
        html=html,
    )
    raw = compose(message)
    rsa = Signer.load("example.test", "one", generate_rsa())
    ed25519 = Signer.load("example.test", "two", generate_ed25519())

    def render_compose_and_sign() -> bytes:
        rendered = content.render({"name": "Ada"}, send_id="01", tracking=tracking)
        composed = compose(
            msgspec.structs.replace(message, subject=rendered.subject, text=rendered.text, html=rendered.html)
        )
        return sign(composed, [rsa], now=1_770_000_000)

    key = rsa.private_key
    assert isinstance(key, RSAPrivateKey)
    limit = rate(lambda: key.sign(b"x" * 1000, PKCS1v15(), hashes.SHA256()))
    for name, work in (
        (
            f"compose, {len(text) + len(html)} octets of text, {len(raw)} encoded",
            lambda: compose(message),
        ),
        (
            f"render, {len(HTML)} octets, 10 links signed, pixel, text",
            lambda: content.render({"name": "Ada"}, send_id="01", tracking=tracking),
        ),
        ("sign with RSA-2048", lambda: sign(raw, [rsa], now=1_770_000_000)),
        ("sign with RSA-2048 and Ed25519", lambda: sign(raw, [rsa, ed25519], now=1_770_000_000)),
        ("render, compose and sign with RSA-2048", render_compose_and_sign),
    ):
        measured = rate(work)
        print(f"{measured:>10,.0f}/s  {measured / limit:>6.2f} of the limit  {name}")
    print(f"{limit:>10,.0f}/s    1.00  the limit: plain RSA-2048 signatures")


if __name__ == "__main__":
    main()
