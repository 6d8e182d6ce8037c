"""The data that `postern demo` creates in addition to its messages and its campaign, so that every page of the
dashboard shows something.

All data is created over the HTTP API, so every time stamp is that of the run. Roles, features and types of attributes
that the project already has stay as they are.
"""

import asyncio
import csv
import io
import json
import struct
import tempfile
import zlib
from base64 import b32decode, b64encode
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rich.progress import Progress

    from postern.cli.client import ProjectClient

NAMES = (
    "Ada Lovelace",
    "Grace Hopper",
    "Alan Turing",
    "Katherine Johnson",
    "Edsger Dijkstra",
    "Barbara Liskov",
    "Margaret Hamilton",
    "Радия Перлман",
    "Hedy Lamarr",
    "Annie Easley",
    "Karen Spärck Jones",
    "Mary Jackson",
    "Evelyn Berezin",
    "Jean Bartik",
    "Frances Allen",
    "Lynn Conway",
)
"""Names of the customers that are created. Functions refer to a customer by the index in this list."""
COMPANIES = ("Harbour & Finch", "Northwind Coffee", "Tidewater Books", "Alder Analytics")
PASSWORD = "a demo of Postern 4711"  # noqa: S105 - of invented customers of a sample project
SIGN_IN_FAILURES = 12
"""Maximum number of sign-ins with a wrong password, which make the server lock a customer."""
POLLS, POLL_INTERVAL = 60, timedelta(milliseconds=500)
CONCURRENCY = 6
"""Maximum number of requests at the same time."""
STATUS_CONFLICT, STATUS_TOO_MANY = 409, 429

PHONE_AGENT = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Mobile Safari"
DESK_AGENT = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0"

UNSUBSCRIBE = {
    "type": "text",
    "html": '<a href="{{ unsubscribe_url }}">Unsubscribe</a>',
    "color": "#5a6567",
    "size": 13,
}


def _blocks(heading: str, text: str, button: str) -> dict[str, Any]:
    """The blocks of a template: heading, text, button and a link to unsubscribe."""
    return {
        "blocks": [
            {"type": "heading", "text": heading, "level": 2, "color": "#1d2a2d"},
            {"type": "text", "text": text, "color": "#1d2a2d"},
            {"type": "button", "text": button, "url": "https://example.org/start", "background": "#0d6472"},
            {"type": "divider", "color": "#e0e6e7", "width": 1},
            UNSUBSCRIBE,
        ]
    }


ANNOUNCEMENT = (
    _blocks("A new dashboard", "Hello {{ name }}, there is something new.", "Have a look"),
    _blocks("A new dashboard", "Hello {{ name }}, your team can now work in the browser.", "Have a look"),
    _blocks("Your new dashboard", "Hello {{ name }}, your team can now work in the browser.", "Open the dashboard"),
)
"""The versions of one template, the oldest first."""


@dataclass
class _Run:
    """One run of the command: its client, and the records that later steps refer to."""

    client: "ProjectClient"
    name: str
    """A part of names and addresses, so that they differ from those of other runs."""
    domain: str
    """Name of the sending domain."""
    domain_id: str
    template: str = ""
    """Id of a template."""
    audience: str = ""
    """Id of an audience."""
    customers: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The created customers, in the order of NAMES."""

    async def post(self, path: str, body: Any = None) -> Any:
        """POST to `path` of the project; returns the JSON of the response. Raises CannotRun for an error."""
        return await self.client.request("POST", path, body)

    async def ensure(self, path: str, *bodies: Mapping[str, Any]) -> None:
        """POST each body, and ignore the status 409 (the record exists already). Raises CannotRun for other errors."""
        for body in bodies:
            response = await self.client.http.post(f"/projects/{self.client.project}{path}", json=dict(body))
            if not response.is_success and response.status_code != STATUS_CONFLICT:
                raise _refused(response.json())

    async def as_customer(self, path: str, body: Any = None, *, token: str = "", agent: str = DESK_AGENT) -> Any:
        """POST to a sign-in operation as a customer's browser does: without the key, and with the customer's access
        token unless that is empty. Returns the status and the JSON of the response."""
        import httpx

        headers = {"user-agent": agent, **({"authorization": f"Bearer {token}"} if token else {})}
        async with httpx.AsyncClient(base_url=self.client.url, timeout=60, headers=headers, trust_env=False) as http:
            response = await http.post(f"/projects/{self.client.project}/auth{path}", json=body)
        return response.status_code, response.json()


async def fill_screens(client: "ProjectClient", progress: "Progress", domain: Mapping[str, Any]) -> list[str]:
    """Create data for every page of the dashboard. `domain` is the sending domain of the run, as the API returns it.

    Returns lines to print: what could not be created, and what the user should know about the data.
    """
    run = _Run(client, domain["domain"].partition(".")[0], domain["domain"], domain["id"])
    steps: list[tuple[str, Callable[[_Run], Awaitable[list[str]]]]] = [
        ("Domains and templates", _make_templates),
        ("Contacts and audiences", _make_contacts),
        ("Emails and suppressions", _make_emails),
        ("Campaigns", _make_campaigns),
        ("Automations", _make_automations),
        ("Roles, features and plans", _make_access),
        ("Customers", _make_customers),
        ("Organizations", _make_organizations),
        ("Webhooks", _make_webhooks),
        ("Keys and team", _make_keys_and_team),
    ]
    remarks: list[str] = []
    task = progress.add_task("Other pages", total=len(steps))
    for title, make in steps:
        progress.update(task, description=title)
        remarks += await make(run)
        progress.advance(task)
    progress.update(task, description="Other pages")
    return remarks


# Each of the following functions creates the records that its docstring lists, and returns lines to print.


async def _make_templates(run: _Run) -> list[str]:
    """A second sending domain, a single sender, an image, and templates of blocks, MJML and HTML with versions."""
    await run.post("/domains", {"domain": f"news.{run.domain}"})
    await run.post(f"/domains/{run.domain_id}/verify")
    await run.ensure("/senders", {"email": f"founder@{run.domain}"})
    image = await run.client.http.post(
        f"/projects/{run.client.project}/assets",
        params={"name": f"{run.name}-header.png"},
        content=_png(600, 120),
        headers={"content-type": "image/png"},
    )
    image_url = image.raise_for_status().json()["url"]
    first, *later = ANNOUNCEMENT
    picture = {"type": "image", "url": image_url, "alt": "A petrol area", "width": 600}
    template = await run.post(
        "/templates", {"name": f"Announcement {run.name}", "subject": "Something new, {{ name }}", "builderJson": first}
    )
    for version in later:
        blocks = {"blocks": [picture, *version["blocks"]]}
        await run.client.request("PATCH", f"/templates/{template['id']}", {"builderJson": blocks})
    run.template = template["id"]
    mjml = "<mjml><mj-body><mj-section><mj-column><mj-text>Invoice {{ number }}</mj-text></mj-column></mj-section>"
    contents = (
        {
            "name": f"Invoice {run.name}",
            "subject": "Invoice {{ number }}",
            "builderJson": {"mjml": f"{mjml}</mj-body></mjml>"},
        },
        {"name": f"Password changed {run.name}", "subject": "Your password was changed", "html": "<p>It was you?</p>"},
    )
    for content in contents:
        await run.post("/templates", content)
    return [f"Domain {run.domain} has no DNS records, so it stays unverified; mail from it is captured nevertheless."]


async def _make_contacts(run: _Run) -> list[str]:
    """Typed attributes, an import with refused lines, an audience with a list of members and one with rules."""
    from postern.cli.contacts import import_file

    types = {"seats": "number", "birthday": "date", "beta": "boolean", "interests": "list", "zip": "string"}
    await run.ensure("/contact-attributes", *({"name": name, "type": kind} for name, kind in types.items()))
    with tempfile.TemporaryDirectory(prefix="postern-demo-") as folder:
        file = Path(folder, f"newsletter-{run.name}.csv")
        await asyncio.to_thread(file.write_text, imported_csv(run.name))
        await import_file(run.client.http, run.client.project, file, "upsert", lambda *_: None, types)
    audience = await run.post("/audiences", {"name": f"Press {run.name}"})
    members = {"contacts": [{"email": _address(run, name), "attributes": {"name": name}} for name in NAMES[:8]]}
    await run.post(f"/audiences/{audience['id']}/contacts/bulk-email", members)
    run.audience = audience["id"]
    rules = {
        "match": "all",
        "conditions": [
            {"field": "seats", "operator": "gte", "value": 10},
            {
                "match": "any",
                "conditions": [
                    {"field": "beta", "operator": "eq", "value": True},
                    {"field": "country", "operator": "eq", "value": "DE"},
                ],
            },
        ],
    }
    await run.post("/audiences", {"name": f"Large teams {run.name}", "rules": rules})
    return []


def imported_csv(name: str) -> str:
    """The CSV file of the import: rows with every type of attribute, and three rows that are refused."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["email", "name", "seats", "birthday", "beta", "interests", "zip", "country"])
    for number, person in enumerate(NAMES):
        beta, country = ("true", "DE") if number % 3 == 0 else ("false", "FR")
        birthday = f"19{70 + number}-03-{1 + number:02}"
        address = f"import-{number}@{name}.example.com"
        writer.writerow(
            [address, person, number * 5, birthday, beta, '["news","offers"]', f"0{4000 + number}", country]
        )
    writer.writerow(["no address", "Nobody", 1, "1990-01-01", "true", "[]", "1", "DE"])
    writer.writerow([f"seats@{name}.example.com", "Seats", "many", "1990-01-01", "true", "[]", "1", "DE"])
    writer.writerow([f"born@{name}.example.com", "Born", 1, "the day before", "true", "[]", "1", "DE"])
    return file.getvalue()


async def _make_emails(run: _Run) -> list[str]:
    """Scheduled e-mails, an e-mail for each outcome, one with an attachment, and suppressions for every reason."""
    now = _now()
    message = {"from": f"Demo <hello@{run.domain}>", "subject": "Your order 4711", "tags": ["demo", "orders"]}
    text = "Thank you for your order. It leaves our house today."
    await run.post(
        "/emails/batch",
        {
            "emails": [
                *(
                    {**message, "to": [f"{outcome}+{run.name}@postern.test"], "text": text}
                    for outcome in ("delivered", "bounced", "complained", "deferred", "suppressed")
                ),
                {
                    **message,
                    "to": [_address(run, NAMES[0])],
                    "cc": [_address(run, NAMES[1])],
                    "subject": "Your invoice 2026-117",
                    "text": "The invoice is attached.",
                    "attachments": [{"filename": "invoice.txt", "content": b64encode(b"Sum: 42.00").decode()}],
                },
                *(
                    {
                        **message,
                        "to": [_address(run, person)],
                        "subject": "Your trial ends tomorrow",
                        "text": "Stay with us.",
                        "scheduledAt": _text(now + timedelta(hours=hours)),
                    }
                    for hours, person in ((3, NAMES[2]), (26, NAMES[3]), (24 * 6, NAMES[4]))
                ),
            ]
        },
    )
    reasons = {
        "MANUAL": "Asked by phone",
        "BOUNCE": "550 5.1.1 no such user",
        "COMPLAINT": "Reported as spam",
        "UNSUBSCRIBE": None,
    }
    for reason, detail in reasons.items():
        address = f"{reason.lower()}@{run.name}.example.com"
        await run.ensure("/suppressions", {"address": address, "reason": reason, "detail": detail})
    return []


async def _make_campaigns(run: _Run) -> list[str]:
    """A draft, a scheduled campaign, and a campaign that is sent at once."""
    base = {
        "fromName": "Demo News",
        "fromEmail": f"news@{run.domain}",
        "templateId": run.template,
        "domainId": run.domain_id,
        "audienceId": run.audience,
    }
    await run.post("/campaigns", {"name": f"Autumn offer {run.name}", "subject": "For you, {{ name }}"})
    later = {"scheduledAt": _text(_now() + timedelta(days=3)), "subject": "See you on Thursday"}
    for name, fields in (("Invitation", later), ("Press release", {"subject": "A new dashboard"})):
        campaign = await run.post("/campaigns", {**base, **fields, "name": f"{name} {run.name}"})
        await run.post(f"/campaigns/{campaign['id']}/send")
    return []


async def _make_automations(run: _Run) -> list[str]:
    """An active automation with runs that wait for a delay, wait for an event, and have ended; and an inactive one."""
    mail = {"type": "SEND_EMAIL", "templateId": run.template, "fromEmail": f"hello@{run.domain}"}
    started, placed = f"trial.started.{run.name}", f"order.placed.{run.name}"
    trial = await run.post("/automations", {
        "name": f"Trial {run.name}",
        "trigger": {"type": "EVENT", "event": started},
        "steps": [
            {**mail, "subject": "Your trial has begun, {{ name }}"},
            {
                "type": "WAIT_FOR_EVENT",
                "event": placed,
                "timeout": {"days": 14},
                "then": [{"type": "UPDATE_CONTACT", "attributes": {"customer": True}}],
                "else": [{**mail, "subject": "Still there, {{ name }}?"}],
            },
            {
                "type": "CONDITION",
                "rules": {"match": "all", "conditions": [{"field": "seats", "operator": "gte", "value": 30}]},
                "then": [{"type": "EXIT"}],
                "else": [{"type": "DELAY", "days": 3}, {**mail, "subject": "Three tips"}],
            },
        ],
    })  # fmt: skip
    win_back = {
        "name": f"Win back {run.name}",
        "trigger": {"type": "AUDIENCE_LEFT", "audienceId": run.audience},
        "steps": [{"type": "DELAY", "days": 30}, mail],
    }
    await run.post("/automations", win_back)
    await run.client.request("PATCH", f"/automations/{trial['id']}/active", {"active": True})
    contacts = [f"import-{number}@{run.name}.example.com" for number in range(10)]
    await run.post("/events/batch", {"events": [{"name": started, "email": email} for email in contacts]})
    await _wait_for(run, f"/automations/{trial['id']}/runs?status=WAITING", len(contacts))
    orders = [{"name": placed, "email": email, "data": {"total": 42}} for email in contacts[3:]]
    await run.post("/events/batch", {"events": orders})
    return []


async def _wait_for(run: _Run, path: str, count: int) -> None:
    """Poll the list at `path` until it has `count` rows, at most POLLS times. Does not fail if the worker is slower."""
    for _ in range(POLLS):
        page = await run.client.request("GET", path)
        if len(page["data"] if isinstance(page, dict) else page) >= count:
            return
        await asyncio.sleep(POLL_INTERVAL.total_seconds())


async def _make_access(run: _Run) -> list[str]:
    """Permissions, roles of the project and for organizations, features and plans."""
    permissions = {
        "posts:read": "See articles",
        "posts:write": "Write articles",
        "posts:publish": "Publish articles",
        "invoices:read": "See invoices",
        "invoices:pay": "Pay invoices",
        "members:invite": "Invite colleagues",
    }
    await run.ensure("/access/permissions", *({"key": key, "description": text} for key, text in permissions.items()))
    await run.ensure(
        "/access/roles",
        {"key": "editor", "name": "Editor", "permissions": ["posts:*"]},
        {"key": "support", "name": "Support", "permissions": ["posts:read", "invoices:read"]},
        {"key": "buyer", "name": "Buyer", "scope": "ORGANIZATION", "permissions": ["invoices:*"],
         "appliesToAllOrganizations": True},
    )  # fmt: skip
    await run.ensure(
        "/b2b/features",
        {"key": "seats", "name": "Seats", "type": "LIMIT", "defaultEnabled": True, "defaultLimit": 5},
        {"key": "projects", "name": "Projects", "type": "LIMIT", "defaultEnabled": True, "defaultLimit": 1},
        {"key": "audit-log", "name": "Audit log", "type": "BOOLEAN"},
        {"key": "priority-support", "name": "Priority support", "type": "BOOLEAN"},
    )
    await run.ensure(
        "/b2b/plans",
        {"key": "team", "name": "Team", "features": [
            {"featureKey": "seats", "limit": 25}, {"featureKey": "projects", "limit": 10},
            {"featureKey": "audit-log"}]},
        {"key": "enterprise", "name": "Enterprise", "features": [
            {"featureKey": "seats"}, {"featureKey": "projects"}, {"featureKey": "audit-log"},
            {"featureKey": "priority-support"}]},
    )  # fmt: skip
    return []


async def _make_customers(run: _Run) -> list[str]:
    """Customers: signed in on several devices, with a second factor, banned, locked, unverified."""
    bodies = [
        {
            "email": _address(run, person),
            "emailVerified": number not in (13, 14),
            "name": person,
            "externalUserId": f"{run.name}-{number}",
            "metadata": {"plan": ("free", "pro", "team")[number % 3]},
            "roles": ["editor"] if number in (0, 4) else ["support"] if number == 1 else [],
            **({"password": PASSWORD} if number < 6 else {}),
            **({"phone": f"+4930120{1000 + number}", "phoneVerified": number % 2 == 0} if number < 4 else {}),
        }
        for number, person in enumerate(NAMES)
    ]
    run.customers = await _gather(run.post("/customers", body) for body in bodies)
    for number, agent in ((0, DESK_AGENT), (0, PHONE_AGENT), (1, DESK_AGENT), (2, PHONE_AGENT), (3, DESK_AGENT)):
        _, signed_in = await run.as_customer("/sign-in", _credentials(run, number), agent=agent)
        if number == 3:
            await _enroll(run, signed_in["accessToken"])
    for _ in range(SIGN_IN_FAILURES):
        credentials = {**_credentials(run, 5), "password": "not the password"}
        if (await run.as_customer("/sign-in", credentials))[0] == STATUS_TOO_MANY:
            break
    for number, ban in (
        (10, {"reason": "Card fraud"}),
        (11, {"reason": "Spam", "expiresAt": _text(_now() + timedelta(days=7))}),
    ):
        await run.post(f"/customers/{run.customers[number]['id']}/ban", ban)
    return [f"The customers {_address(run, NAMES[0])} to {_address(run, NAMES[4])} have the password “{PASSWORD}”."]


async def _enroll(run: _Run, token: str) -> None:
    """Turn on the second factor of the customer with this access token, as an authenticator app does."""
    from postern.security.totp import code_at, step_of

    status, enrollment = await run.as_customer("/mfa/totp/enroll", {}, token=token)
    if status >= 400:
        raise _refused(enrollment)
    secret = enrollment["secret"]
    code = code_at(b32decode(secret + "=" * (-len(secret) % 8)), step_of(_now()))
    status, confirmed = await run.as_customer("/mfa/totp/confirm", {"code": code}, token=token)
    if status >= 400:
        raise _refused(confirmed)


def _credentials(run: _Run, number: int) -> dict[str, str]:
    return {"email": _address(run, NAMES[number]), "password": PASSWORD}


async def _make_organizations(run: _Run) -> list[str]:
    """Organizations with members, invitations, a domain, an SSO connection, a plan and an override."""
    organizations = [
        await run.post("/b2b/organizations", {"name": name, "externalId": f"crm-{run.name}-{number}",
                                              "metadata": {"region": "EU"}})
        for number, name in enumerate(COMPANIES)
    ]  # fmt: skip
    paths = [f"/b2b/organizations/{organization['id']}" for organization in organizations]
    members = [
        (paths[number], {"customerId": run.customers[2 * number + offset]["id"], "roles": roles})
        for number in range(3)
        for offset, roles in enumerate((["OWNER"], ["MEMBER", "buyer"]))
    ]
    for path, member in [*members, (paths[0], {"customerId": run.customers[6]["id"], "roles": ["ADMIN"]})]:
        await run.post(f"{path}/members", member)
    for number, role in ((12, "MEMBER"), (13, "ADMIN")):
        await run.post(f"{paths[0]}/invitations", {"email": _address(run, f"invited {number}"), "role": role})
    for number, company in enumerate(("harbour", "northwind")):
        await run.post(f"{paths[number]}/domains", {"domain": f"{company}-{run.name}.example.org"})
    await run.post(
        f"{paths[0]}/sso-connections",
        {
            "name": "Harbour Okta",
            "domain": f"harbour-{run.name}.example.org",
            "idpEntityId": f"https://idp.example.org/{run.name}",
            "idpSsoUrl": "https://idp.example.org/sso",
            "idpCertificate": [_certificate()],
        },
    )
    for path, plan in ((paths[0], "enterprise"), (paths[1], "team")):
        await run.client.request("PUT", f"{path}/plan", {"planKey": plan})
    override = {"limit": 40, "reason": "Agreed until the next invoice", "expiresAt": _text(_now() + timedelta(days=60))}
    await run.client.request("PUT", f"{paths[1]}/entitlements/seats", override)
    await run.client.request("PATCH", paths[3], {"status": "SUSPENDED"})
    return []


async def _make_webhooks(run: _Run) -> list[str]:
    """A webhook whose host does not exist, an inactive one, and one to a receiver of this process. The last one is
    created only if the server may send requests to loopback addresses."""
    events = ["email.*", "contact.*", "customer.*"]
    failing = await run.post(
        "/webhooks", {"url": f"https://hooks.{run.domain}/postern", "events": events, "description": "CRM"}
    )
    off = {"url": f"https://old.{run.domain}/postern", "events": ["*"], "description": "Old CRM", "active": False}
    await run.post("/webhooks", off)
    await run.post(f"/webhooks/{failing['id']}/test")
    async with _receiver() as url:
        working = {"url": url, "events": ["email.*"], "description": "Receiver of the demo"}
        response = await run.client.http.post(f"/projects/{run.client.project}/webhooks", json=working)
        if not response.is_success:
            return ["The server may not call this machine (POSTERN_OUTBOUND_ALLOW), so there is no webhook that works."]
        webhook = response.json()["id"]
        delivered = False
        await run.post(f"/webhooks/{webhook}/test")
        for _ in range(20):
            rows = (await run.client.request("GET", f"/webhooks/{webhook}/deliveries"))["data"]
            delivered = any(row["status"] == "DELIVERED" for row in rows)
            if delivered or any(row["attempts"] for row in rows):
                break
            await asyncio.sleep(POLL_INTERVAL.total_seconds())
        # The receiver ends with the command, so the webhook is made inactive.
        await run.client.request("PATCH", f"/webhooks/{webhook}", {"active": False})
        if not delivered:
            await run.client.request("DELETE", f"/webhooks/{webhook}")
            return ["The server may not call this machine (POSTERN_OUTBOUND_ALLOW), so there is no webhook that works."]
    return []


@asynccontextmanager
async def _receiver() -> "AsyncGenerator[str]":
    """Run an HTTP server on a port of 127.0.0.1 that answers 204 to every request, during the block; yields its URL."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
            )
            await reader.readexactly(length)
            writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
            await writer.drain()
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/postern"


async def _make_keys_and_team(run: _Run) -> list[str]:
    """Keys with different permissions, and invitations to the team. Only a developer may create both, not a key."""
    token = run.client.access.developer_token
    if not token:
        return ["Without POSTERN_EMAIL and POSTERN_PASSWORD there are no further keys and no invitations to the team."]
    http, headers = run.client.http, {"authorization": f"Bearer {token}"}
    keys = (
        {"name": f"Web shop {run.name}", "permissions": ["emails:send", "emails:read"]},
        {"name": f"Reports {run.name}", "permissions": ["analytics:read", "campaigns:read"],
         "ipAllowList": ["192.0.2.0/24"]},
        {"name": f"Tests {run.name}", "environment": "TEST", "expiresAt": _text(_now() + timedelta(days=90))},
        {"name": f"Sign-in page {run.name}", "type": "PUBLISHABLE"},
    )  # fmt: skip
    members = ((f"colleague@{run.name}.example.com", "ADMIN"), (f"auditor@{run.name}.example.com", "VIEWER"))
    requests = [
        *((f"/projects/{run.client.project}/api-keys", key) for key in keys),
        *(("/account/invitations", {"email": email, "role": role}) for email, role in members),
    ]
    for path, body in requests:
        response = await http.post(path, json=body, headers=headers)
        if not response.is_success:
            raise _refused(response.json())
    return []


def _refused(problem: Any) -> Exception:
    from postern.cli import CannotRun

    detail = problem.get("detail") if isinstance(problem, dict) else None
    return CannotRun(f"The server refused the request: {detail or json.dumps(problem)}")


async def _gather(calls: Iterable[Awaitable[Any]]) -> list[Any]:
    """Run the calls, at most CONCURRENCY at a time; returns their results in the order of the calls."""
    semaphore = asyncio.Semaphore(CONCURRENCY)

    async def run(call: Awaitable[Any]) -> Any:
        async with semaphore:
            return await call

    return list(await asyncio.gather(*map(run, calls)))


def _address(run: _Run, person: str) -> str:
    """The address of a person. It is the same for contacts, customers and e-mails of one run."""
    local = "".join(character for character in person.lower().replace(" ", ".") if character.isascii())
    return f"{local.strip('.') or 'radia.perlman'}@{run.name}.example.com"


def _now() -> datetime:
    from postern.kernel.values import system_clock

    return system_clock()


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _certificate() -> str:
    """A self-signed certificate in PEM, as an identity provider has one. Nobody has its private key."""
    from cryptography.hazmat.primitives.asymmetric import ec

    from postern.protocols.self_signed import self_signed

    key, now = ec.generate_private_key(ec.SECP256R1()), _now()
    return self_signed(key, "idp.example.org", not_before=now, not_after=now + timedelta(days=365))


def _png(width: int, height: int) -> bytes:
    """A PNG image of one colour, with width and height in pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes((13, 100, 114)) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
