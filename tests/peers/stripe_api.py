"""A fake of the part of Stripe's HTTP API that Postern uses, on loopback.

It takes form-encoded requests with a bearer key, returns JSON objects and errors in Stripe's format, and supports
idempotency keys.
"""

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
    """The objects of the fake, and the requests that it received."""

    url: str = ""
    customers: dict[str, dict[str, Any]] = field(default_factory=dict)
    subscriptions: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """Method, path and form of each request."""
    down: bool = False
    """Whether every request gets the status 500."""
    before_answer: Callable[[str, str], Awaitable[None]] | None = None
    """Awaited with method and path after the response was determined and before it is sent."""
    sessions: list[dict[str, str]] = field(default_factory=list)
    """The forms of the created checkout sessions."""
    _responses: dict[str, Any] = field(default_factory=dict)

    def subscribe(self, customer: str, price: str, status: str = "active", end: int = 1_900_000_000) -> dict[str, Any]:
        """Add a subscription, as a completed checkout does; returns it. `end` is in seconds since 1970."""
        number = len(self.subscriptions) + 1
        subscription = {
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
        self.subscriptions[subscription["id"]] = subscription
        return subscription

    def respond(self, method: str, target: str, headers: dict[str, str], form: dict[str, str]) -> tuple[int, Any]:
        """Status and JSON value of the response to a request; `form` has its body or query."""
        path = urlsplit(target).path
        self.asked.append((method, path, form))
        if self.down:
            return 500, {"error": {"type": "api_error", "message": "Down."}}
        if headers.get("authorization") != f"Bearer {KEY}":
            return 401, {"error": {"type": "invalid_request_error", "message": "Invalid API Key provided."}}
        key = headers.get("idempotency-key")
        if key in self._responses:
            first_form, response = self._responses[key]
            if first_form != form:
                message = (
                    "Keys for idempotent requests can only be used with the same parameters they were first used with."
                )
                return 400, {"error": {"type": "idempotency_error", "message": message}}
            return 200, response
        status, value = self._process(method, path, form)
        if key and method == "POST" and status == 200:
            self._responses[key] = (form, value)
        return status, value

    def _process(self, method: str, path: str, form: dict[str, str]) -> tuple[int, Any]:
        if (method, path) == ("POST", "/v1/customers"):
            customer = {
                # Tests share a database, so ids must be unique over all instances of this fake.
                "id": f"cus_{uuid4().hex}",
                "object": "customer",
                "email": form.get("email"),
            }
            self.customers[customer["id"]] = customer
            return 200, customer
        if (method, path) == ("POST", "/v1/checkout/sessions"):
            self.sessions.append(form)
            url = f"https://checkout.stripe.com/c/pay/{form['line_items[0][price]']}"
            return 200, {"id": "cs_1", "object": "checkout.session", "url": url}
        if (method, path) == ("POST", "/v1/billing_portal/sessions"):
            url = f"https://billing.stripe.com/p/{form['customer']}"
            return 200, {"id": "bps_1", "object": "billing_portal.session", "url": url}
        if (method, path) == ("GET", "/v1/subscriptions"):
            data = [
                subscription
                for subscription in self.subscriptions.values()
                if subscription["customer"] == form["customer"]
            ]
            return 200, json.loads(json.dumps({"object": "list", "data": data, "has_more": False, "url": path}))
        if method == "DELETE" and path.removeprefix("/v1/subscriptions/") in self.subscriptions:
            subscription = self.subscriptions[path.removeprefix("/v1/subscriptions/")]
            subscription["status"] = "canceled"
            return 200, subscription
        return 404, {"error": {"type": "invalid_request_error", "message": f"Unrecognized request URL {path}."}}


def event(identifier: str, type_: str, payload: dict[str, Any]) -> bytes:
    """The body of a webhook delivery: an event about the object `about`."""
    return json.dumps({"id": identifier, "object": "event", "type": type_, "data": {"object": payload}}).encode()


def signature(body: bytes, at: float, secret: str = WEBHOOK_SECRET) -> str:
    """The `Stripe-Signature` header of a body signed at `at`, in seconds since 1970."""
    mac = hmac.new(secret.encode(), f"{int(at)}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={int(at)},v1={mac},v0=unused"


@asynccontextmanager
async def stripe_api() -> AsyncIterator[StripeApi]:
    """Start the fake; it ends with the block."""
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
                form = {name: values[-1] for name, values in parse_qs(text).items()}
                status, value = api.respond(method, target, headers, form)
                if api.before_answer:
                    await api.before_answer(method, urlsplit(target).path)
                content = json.dumps(value).encode()
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
