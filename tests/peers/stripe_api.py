"""A stand-in of the part of Stripe's documented HTTP API that we use, on loopback: form-encoded requests with a bearer
key in, JSON objects out, idempotency keys honoured, errors in Stripe's shape."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

KEY = "sk_test_standin"
WEBHOOK_SECRET = "whsec_standin"


@dataclass
class StripeApi:
    """What the stand-in knows and was asked."""

    url: str = ""
    customers: dict[str, dict[str, Any]] = field(default_factory=dict)
    subscriptions: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    down: bool = False
    before_answer: Callable[[str, str], Awaitable[None]] | None = None
    """Awaited between reading the state for an answer and sending it."""
    sessions: list[dict[str, str]] = field(default_factory=list)
    """The checkouts that were asked for."""
    _answered: dict[str, Any] = field(default_factory=dict)

    def subscribe(self, customer: str, price: str, status: str = "active", end: int = 1_900_000_000) -> dict[str, Any]:
        """Somebody went through the checkout."""
        number = len(self.subscriptions) + 1
        found = {
            "id": f"sub_{number}",
            "object": "subscription",
            "customer": customer,
            "status": status,
            "items": {
                "object": "list",
                "data": [
                    {
                        "id": f"si_{number}",
                        "object": "subscription_item",
                        "current_period_end": end,
                        "price": {"id": price, "object": "price"},
                    }
                ],
            },
        }
        self.subscriptions[found["id"]] = found
        return found

    def answer(self, method: str, target: str, headers: dict[str, str], given: dict[str, str]) -> tuple[int, Any]:
        """One request."""
        path = urlsplit(target).path
        self.asked.append((method, path, given))
        if self.down:
            return 500, {"error": {"type": "api_error", "message": "Down."}}
        if headers.get("authorization") != f"Bearer {KEY}":
            return 401, {"error": {"type": "invalid_request_error", "message": "Invalid API Key provided."}}
        once = headers.get("idempotency-key")
        if once in self._answered:
            first, answer = self._answered[once]
            if first != given:
                said = (
                    "Keys for idempotent requests can only be used with the same parameters they were first used with."
                )
                return 400, {"error": {"type": "idempotency_error", "message": said}}
            return 200, answer
        status, found = self._do(method, path, given)
        if once and method == "POST" and status == 200:
            self._answered[once] = (given, found)
        return status, found

    def _do(self, method: str, path: str, given: dict[str, str]) -> tuple[int, Any]:
        if (method, path) == ("POST", "/v1/customers"):
            made = {
                # Tests share a database, so no two accounts of Stripe may give out one id.
                "id": f"cus_{uuid4().hex}",
                "object": "customer",
                "email": given.get("email"),
            }
            self.customers[made["id"]] = made
            return 200, made
        if (method, path) == ("POST", "/v1/checkout/sessions"):
            self.sessions.append(given)
            url = f"https://checkout.stripe.com/c/pay/{given['line_items[0][price]']}"
            return 200, {"id": "cs_1", "object": "checkout.session", "url": url}
        if (method, path) == ("POST", "/v1/billing_portal/sessions"):
            url = f"https://billing.stripe.com/p/{given['customer']}"
            return 200, {"id": "bps_1", "object": "billing_portal.session", "url": url}
        if (method, path) == ("GET", "/v1/subscriptions"):
            data = [each for each in self.subscriptions.values() if each["customer"] == given["customer"]]
            return 200, json.loads(json.dumps({"object": "list", "data": data, "has_more": False, "url": path}))
        if method == "DELETE" and path.removeprefix("/v1/subscriptions/") in self.subscriptions:
            found = self.subscriptions[path.removeprefix("/v1/subscriptions/")]
            found["status"] = "canceled"
            return 200, found
        return 404, {"error": {"type": "invalid_request_error", "message": f"Unrecognized request URL {path}."}}


def event(identifier: str, type_: str, about: dict[str, Any]) -> bytes:
    """A signal's body."""
    return json.dumps({"id": identifier, "object": "event", "type": type_, "data": {"object": about}}).encode()


def signature(body: bytes, at: float, secret: str = WEBHOOK_SECRET) -> str:
    """The `Stripe-Signature` header."""
    mac = hmac.new(secret.encode(), f"{int(at)}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={int(at)},v1={mac},v0=unused"


@asynccontextmanager
async def stripe_api() -> AsyncIterator[StripeApi]:
    """The stand-in, listening on a port of its own."""
    api = StripeApi()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := (await reader.readline()).decode().strip():
                method, target, _ = line.split(" ")
                headers: dict[str, str] = {}
                while header := (await reader.readline()).decode().strip():
                    name, _, value = header.partition(":")
                    headers[name.lower()] = value.strip()
                body = (await reader.readexactly(int(headers.get("content-length", "0")))).decode()
                text = body or urlsplit(target).query
                given = {name: values[-1] for name, values in parse_qs(text).items()}
                status, found = api.answer(method, target, headers, given)
                if api.before_answer:
                    await api.before_answer(method, urlsplit(target).path)
                content = json.dumps(found).encode()
                head = (
                    f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
                )
                writer.write(head.encode() + content)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    api.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield api
    finally:
        server.close()
