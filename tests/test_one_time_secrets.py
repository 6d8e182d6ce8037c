"""One-time codes and links are in the sent mail and, hashed, in the database, but in no response, log or webhook.

The tests get the secrets like the recipients: from the messages that arrive or, if mail is captured, from the inbox as
the owner of the account.
"""

import asyncio
import base64
import io
import logging
import re
import subprocess
from dataclasses import dataclass, field
from datetime import timedelta
from email import message_from_bytes, policy
from html import unescape
from ipaddress import ip_network
from typing import Any

import httpx
import msgspec
import pytest
import structlog

from postern.app import OPERATIONS
from postern.kernel.config import Settings
from postern.kernel.database.embedded import program
from postern.kernel.http.call import Caller
from postern.kernel.log import REDACTED, processors
from postern.messaging.emails.model import SendBody
from postern.messaging.emails.redaction import REMOVED, SecretInSubject, redact, redacted_body
from postern.messaging.emails.system_mail import captured_system_mail
from postern.platform.projects.permissions import KEY_PERMISSIONS, PERMISSIONS, ROLE_PERMISSIONS
from tests.conftest import PASSWORD, Client
from tests.identity.customers.conftest import GOOD, AuthClient, auth, new_address
from tests.messaging.domains.test_domains import publish
from tests.peers.http_receiver import http_receiver
from tests.peers.smtp_sink import Sink
from tests.platform.accounts.members import AccountHelper

__all__ = ["auth"]

IMPERSONATE = "customers:impersonate"
ALL_BUT_IMPERSONATE = sorted(set(PERMISSIONS) - {IMPERSONATE, "account:own"})
PAGE = "https://app.example.com/welcome"
INBOX = "http://127.0.0.1:8025"
DELAY = timedelta(minutes=9)
READS = [
    operation
    for operation in OPERATIONS
    # A stream has the same events as their list, and does not end.
    if operation.method == "GET" and "text/event-stream" not in operation.media_types
]


@pytest.fixture
async def sink():
    async with Sink() as sink:
        yield sink


@pytest.fixture
def settings(settings: Settings, sink: Sink, request: pytest.FixtureRequest) -> Settings:
    # The clock stands still, so that more requests than the limit of a second would be refused.
    settings = msgspec.structs.replace(settings, outbound_allow=(ip_network("127.0.0.0/8"),), project_rate=1_000_000)
    if request.node.callspec.params.get("transport") == "capture":
        return settings
    relay = f"smtp://127.0.0.1:{sink.port}?tls=none"
    return msgspec.structs.replace(settings, transport="relay", relay=relay)


def readable_text(content: bytes, media_type: str = "") -> str:
    """All text in the content of a response, also the text of MIME messages in it."""
    text = content.decode("utf-8", "replace")
    messages = [content] if media_type.startswith("message/") else []
    for part in re.findall(r"(?:[0-9a-f]{2}){100,}", text):  # Binary columns, in exports and dumps.
        messages.append(bytes.fromhex(part))
    return "\n".join([text, *(decoded(message) for message in messages)])


def decoded(raw: bytes) -> str:
    """The subject and the texts of a MIME message."""
    message = message_from_bytes(raw, policy=policy.default)
    parts = [part for part in message.walk() if part.get_content_maintype() == "text"]
    return "\n".join([str(message["subject"]), *(str(part.get_content()) for part in parts)])


def secrets_in(text: str) -> set[str]:
    """The codes and tokens in a message."""
    tokens = re.findall(r"[?&;]token=([\w.~%-]+)|invitation code: (\S+)", text)
    return {*re.findall(r"(?<![\w.#])\d{6}(?![\w.])", text), *(token for pair in tokens for token in pair if token)}


def secrets_shown(text: str, secrets: set[str]) -> set[str]:
    """Those of `secrets` that are in a text: unchanged, in hexadecimal or in base64."""
    shown: set[str] = set()
    for secret in secrets:
        hexadecimal = secret.encode().hex()
        encoded = base64.b64encode(secret.encode()).decode().rstrip("=")[:-1]
        is_code = secret.isdigit()
        # Six digits can also be part of a time or an identifier, so a code counts only if it stands alone.
        is_shown = re.search(rf"(?<![\w.:]){secret}(?![\w])", text) if is_code else secret in text
        if is_shown or hexadecimal in text or (not is_code and encoded in text):
            shown.add(secret)
    return shown


@dataclass
class Scene:
    """A project whose customers and developers have just received every kind of one-time code and link."""

    project: Any
    house: AccountHelper
    world: Any
    secrets: set[str] = field(default_factory=set)
    subjects: dict[str, str] = field(default_factory=dict)
    """The subject of the mail of each secret."""
    links: set[str] = field(default_factory=set)
    """The mailed links to the server's own pages."""
    reads: list[tuple[Any, str]] = field(default_factory=list)
    """Read operations, with the paths that return 200 for the owner."""
    members: dict[str, Client] = field(default_factory=dict)
    """A client of a member with each role."""

    async def shown_to(self, client: Client, *, only: str | None = None) -> dict[str, set[str]]:
        """The secrets in responses to this client, by path; with `only`, of operations that need this permission."""
        shown: dict[str, set[str]] = {}
        for operation, path in self.reads:
            if only is not None and operation.needs != only:
                continue
            response = await client.get(path)
            assert response.status_code < 500, f"{path}: {response.text}"
            text = readable_text(response.content, response.headers.get("content-type", ""))
            if secrets := secrets_shown(text, self.secrets):
                shown[path] = secrets
        return shown


async def mail_everything(project, auth: AuthClient, house: AccountHelper) -> None:
    """Cause every mail with a code or a link to customers and developers."""
    await auth.settings(methods=["PASSWORD", "EMAIL_CODE", "EMAIL_LINK"], redirectUrls=[PAGE])
    customer = (await project.client.post("/customers", {"email": new_address(), "password": GOOD})).json()
    assert (await auth.post("/sign-up", {"email": new_address(), "password": GOOD})).status_code == 201
    assert (await auth.post("/sign-in/code", {"email": customer["email"]})).status_code == 200
    assert (await auth.post("/sign-in/link", {"email": customer["email"]})).status_code == 204
    assert (await auth.post("/password/forgot", {"email": customer["email"]})).status_code == 204
    ada = auth.as_((await auth.unverified())["accessToken"])
    assert (await ada.post("/verify-email/send")).status_code == 200
    assert (await ada.post("/email/change", {"email": new_address()})).status_code == 200
    organization = (await project.client.post("/b2b/organizations", {"name": "Acme"})).json()
    for fields in ({}, {"acceptUrl": "https://app.example.com/join?from=mail"}):
        body = {"email": new_address(), "role": "ADMIN", **fields}
        created = await project.client.post(f"/b2b/organizations/{organization['id']}/invitations", body)
        assert created.status_code == 201, created.text
    assert (await house.stranger.post("/auth/password/forgot", {"email": project.email})).status_code == 204
    invited = {"email": new_address(), "role": "VIEWER"}
    assert (await house.owner.post("/account/invitations", invited)).status_code == 201
    changed = {"email": new_address(), "password": PASSWORD}
    assert (await house.owner.patch("/account", changed)).status_code == 200
    for _ in range(3):
        await house.run_due_work()
        await wait_until_attempted(house.world, project)


async def reads_of(scene: Scene) -> list[tuple[Any, str]]:
    """Every read operation, with each path with identifiers of the project that returns 200 for the owner."""
    ids = await identifiers(scene)
    prefix = {"project_id": scene.project.id, "app_id": scene.project.id}
    reads: list[tuple[Any, str]] = []
    ids_by_collection: dict[str, list[str]] = {}
    for operation in READS:
        paths = [re.sub(r"{(project_id|app_id)}", lambda match: prefix[match[1]], operation.path)]
        while any("{" in path for path in paths):
            collection = paths[0].partition("{")[0]
            if collection not in ids_by_collection:
                listing = await scene.project.developer.get(collection.rstrip("/"))
                in_listing = [identifier for identifier in ids if identifier in listing.text]
                ids_by_collection[collection] = in_listing if listing.is_success else ids
            values = [*ids_by_collection[collection], "0"] if len(paths) == 1 else ["0", *ids[:40]]
            paths = [re.sub(r"{\w+}", value, path, count=1) for path in paths for value in values]
        for path in paths:
            if (await scene.project.developer.get(path)).status_code == 200:
                reads.append((operation, path))
    return reads


async def identifiers(scene: Scene) -> list[str]:
    """Identifiers of rows of the project, from every table."""
    async with scene.world.db.connection() as connection:
        rows = await connection.execute(
            "select table_name from information_schema.columns where table_schema = 'public' and column_name = 'id'"
            " and table_name in (select table_name from information_schema.columns where column_name = 'project_id')"
            " and table_name <> 'events'"
        )
        ids: list[str] = []
        for (table,) in await rows.fetchall():
            rows = await connection.execute(
                f'select id::text from "{table}" where project_id = %s order by id limit %s',
                [scene.project.id, 50 if table in ("sends", "captured_messages") else 2],
            )
            ids += [row[0] for row in await rows.fetchall()]
    return ids


async def member(house: AccountHelper, role: str, sink: Sink, *, captured: bool) -> Client:
    """A client of a new member, who was invited and signed up with the mailed link."""
    email = new_address()
    assert (await house.owner.post("/account/invitations", {"email": email, "role": role})).status_code == 201
    await house.run_due_work()
    messages = captured_system_mail(house.world, email) if captured else []
    raw = (
        bytes(messages[-1])
        if captured
        else next(message.raw for message in sink.messages if email in message.recipients)
    )
    (token,) = {secret for secret in secrets_in(decoded(raw)) if not secret.isdigit()}
    body = {"email": email, "password": PASSWORD, "invitationToken": token}
    signed_up = await house.stranger.post("/auth/sign-up", body)
    assert signed_up.status_code == 201, signed_up.text
    return Client(house.stranger.app, signed_up.json()["accessToken"], house.tenant.client.base)


@pytest.fixture
async def receiver():
    async with http_receiver() as receiver:
        yield receiver


@pytest.fixture
def log_output(request):
    """The log that the server writes at level debug."""
    log, previous_config = io.StringIO(), structlog.get_config()
    structlog.configure(
        processors=processors(human_readable=request.node.callspec.params.get("transport") == "relay"),
        wrapper_class=structlog.make_filtering_bound_logger("debug"),
        logger_factory=structlog.PrintLoggerFactory(log),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(log)
    handler.addFilter(lambda record: not record.name.startswith(("httpx", "httpcore")))  # The HTTP client of the test.
    logging.getLogger().addHandler(handler)
    yield log
    logging.getLogger().removeHandler(handler)
    structlog.configure(**previous_config)


@pytest.fixture
async def scene(request, project, auth, zone, sink, stranger, run_due_work, world, receiver, log_output) -> Scene:
    house = AccountHelper(project, stranger, run_due_work, world)
    captured = request.node.callspec.params.get("transport") == "capture"
    domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
    publish(zone, domain)
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    await auth.settings(mailFrom="auth@example.com")
    subscribed = await project.client.post("/webhooks", {"url": receiver.url("/hook"), "events": ["*"]})
    assert subscribed.status_code == 201, subscribed.text
    await mail_everything(project, auth, house)
    scene = Scene(project, house, world)
    for role in ("DEVELOPER", "VIEWER"):
        scene.members[role] = await member(house, role, sink, captured=captured)
    if captured:
        page = (await project.developer.get("/inbox?limit=100")).json()["data"]
        texts = [decoded((await project.developer.get(f"/inbox/{message['id']}/raw")).content) for message in page]
        texts += [decoded(bytes(message)) for message in captured_system_mail(world)]
    else:
        texts = [decoded(message.raw) for message in sink.messages]
    for text in texts:
        subject = text.partition("\n")[0]
        assert not secrets_in(subject), "subjects are stored and shown in many places"
        scene.links |= set(re.findall(r"http://127\.0\.0\.1:8025/[^\s\"<>]*token=[\w.~%-]+", text))
        for secret in secrets_in(text):
            scene.subjects[secret] = subject
    scene.secrets = set(scene.subjects)
    subjects = set(scene.subjects.values())
    for part in (
        "sign-up code",
        "sign-in code",
        "Sign in to",
        "password",
        "verification code",
        "You are invited to Acme",
    ):
        assert any(part in subject for subject in subjects), f"no mail with a secret has the subject {part}: {subjects}"
    for part in ("Reset your password", "You are invited to an account", "Confirm your e-mail address"):
        assert any(part in subject for subject in subjects), f"no mail with a secret has the subject {part}: {subjects}"
    return scene


TRANSPORTS = pytest.mark.parametrize("transport", ["relay", "capture"])


@TRANSPORTS
async def test_no_credential_without_impersonation_reads_a_one_time_secret(scene, transport):
    """Calls every read operation with every kind of credential.

    Regression test of I1, S5 (tests/defects.md).
    """
    scene.reads = await reads_of(scene)
    assert len(scene.reads) > 60, "most read operations have paths that return 200"
    if transport == "capture":
        assert await scene.shown_to(scene.project.developer, only="inbox:read"), (
            "the check finds secrets that are shown"
        )
    for permission in ALL_BUT_IMPERSONATE:
        if permission in KEY_PERMISSIONS:
            assert await scene.shown_to(await scene.project.key(permission), only=permission) == {}, permission
    keys = {
        "default": await scene.project.key(),
        "all": await scene.project.key(
            *(permission for permission in ALL_BUT_IMPERSONATE if permission in KEY_PERMISSIONS)
        ),
        "wildcard": await scene.project.key("customers:*", "inbox:*", "emails:*"),
        "test": await scene.project.key(environment="TEST"),
        "publishable": await scene.project.key(type="PUBLISHABLE"),
    }
    for name, client in keys.items():
        assert await scene.shown_to(client) == {}, name
    for role, client in scene.members.items():
        assert await scene.shown_to(client) == {}, role


@TRANSPORTS
async def test_stored_data_and_deliveries_have_no_one_time_secrets(scene, transport, receiver, database_url, tmp_path):
    """Dumps, exports, webhook deliveries and metrics.

    Regression test of I1, S5 (tests/defects.md).
    """
    dump = subprocess.run(
        [program("pg_dump"), "--inserts", f"--dbname={database_url}"], capture_output=True, check=True
    ).stdout
    assert secrets_shown(readable_text(dump), scene.secrets) == set()
    for path in ("/account/export", "http://postern.test/metrics"):
        response = await scene.project.developer.get(path)
        assert response.status_code == 200, response.text
        assert secrets_shown(readable_text(response.content), scene.secrets) == set(), path
    assert len(receiver.requests) > 10
    for request in receiver.requests:
        assert secrets_shown(readable_text(request.body), scene.secrets) == set()
    for file in [path for path in tmp_path.rglob("*") if path.is_file()]:
        assert secrets_shown(readable_text(file.read_bytes()), scene.secrets) == set(), file


async def use_all(scene: Scene) -> None:
    """Open every mailed link and submit every secret to all operations that take one, accepted or not."""
    stranger, project = scene.house.stranger, f"/projects/{scene.project.id}/auth"
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert len(scene.links) > 2
    for link in scene.links:
        url = link.replace("127.0.0.1:8025", "postern.test")
        for response in (await stranger.get(url), await stranger.post(url, content="password=x", headers=form)):
            assert response.status_code < 500, f"{link}: {response.text}"
    for secret in scene.secrets:
        responses = [await stranger.get(f"http://postern.test/healthz?{secret}&a;token={secret}")]
        for path in ("/auth/verify-email", "/auth/password/reset", f"{project}/password/reset"):
            responses.append(await stranger.post(path, {"token": secret, "password": PASSWORD}))
        for path in ("/verify-email", "/sign-in/link/verify", "/sign-in/code/verify", "/sign-up/verify"):
            body = {"email": scene.project.email, "code": secret, "token": secret, "flowId": secret}
            responses.append(await stranger.post(project + path, body))
        for response in responses:
            assert response.status_code < 500, response.text


@TRANSPORTS
async def test_the_log_has_no_one_time_secrets(scene, transport, log_output):
    """Neither when the secret is created and mailed, nor when it is submitted in a link, a form or a body."""
    await use_all(scene)
    await scene.house.run_due_work()
    text = log_output.getvalue()
    assert text.count("request") > 50, "the log has the requests"
    assert REDACTED in text
    assert [line for line in text.splitlines() if secrets_shown(line, scene.secrets)] == []


@pytest.mark.parametrize("transport", ["capture"])
async def test_inbox_pages_show_one_time_secrets_only_with_impersonation(scene, app, transport):
    """The list and the messages with their HTML and source, as a browser gets them."""
    listed = (await scene.project.developer.get("/inbox?limit=100")).json()["data"]
    pages = [f"/inbox/{scene.project.id}?page={page}" for page in (1, 2)]
    for message in listed:
        page = f"/inbox/{scene.project.id}/{message['id']}"
        pages += [page, f"{page}/html", f"{page}/raw"]

    async def shown_to(client: Client) -> dict[str, set[str]]:
        headers = {"cookie": await inbox_cookie(scene, client)}
        shown: dict[str, set[str]] = {}
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url=INBOX, headers=headers
        ) as browser:
            for page in ("/inbox", *pages):
                response = await browser.get(page)
                assert response.status_code in (200, 303), f"{page}: {response.status_code}"
                text = readable_text(response.content, response.headers.get("content-type", ""))
                if secrets := secrets_shown(unescape(text), scene.secrets):
                    shown[page] = secrets
        return shown

    assert len(listed) > 5
    for role, client in scene.members.items():
        assert await shown_to(client) == {}, role
    assert await shown_to(scene.project.developer), "the check finds secrets that are shown"


async def inbox_cookie(scene: Scene, client: Client) -> str:
    """The session cookie of a developer for the inbox pages."""
    email = (await client.get("/account")).json()["email"]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=client.app), base_url=INBOX) as browser:
        signed_in = await browser.post("/inbox/sign-in", data={"email": email, "password": PASSWORD})
    assert signed_in.status_code == 303, signed_in.text
    return signed_in.headers["set-cookie"].partition(";")[0]


async def preview_of(client: Client, path: str) -> str:
    """The HTML that a preview of a message shows."""
    created = await client.post(f"{path}/preview", {})
    assert created.status_code == 200, created.text
    return (await Client(client.app).get(f"http://postern.test{created.json()['path']}")).text


@pytest.mark.parametrize("transport", ["capture"])
async def test_credentials_with_impersonation_read_codes_in_the_inbox(project, auth, world, transport):
    """The owner and a key with the explicit permission can read codes, for end-to-end tests.

    Regression test of I1 (tests/defects.md).
    """
    address = new_address()
    assert (await auth.post("/sign-up", {"email": address, "password": GOOD})).status_code == 201
    await auth.run_due_work()
    await wait_until_attempted(world, project)
    allowed = await project.key("inbox:read", IMPERSONATE)
    redacted = await project.key("inbox:read")
    (row,) = (await allowed.get(f"/inbox?q={address}")).json()["data"]
    code = await auth.code(address)
    for client in (allowed, project.developer):
        shown = (await client.get(f"/inbox/{row['id']}")).json()
        assert (code in shown["text"], code in shown["html"], shown["redacted"]) == (True, True, False)
        assert code in decoded((await client.get(f"/inbox/{row['id']}/raw")).content)
    assert code in await preview_of(project.developer, f"/inbox/{row['id']}")
    assert code not in await preview_of(project.developer, f"/emails/logs/{row['sendId']}")
    shown = (await redacted.get(f"/inbox/{row['id']}")).json()
    assert (REMOVED in shown["text"], REMOVED in shown["html"], shown["redacted"]) == (True, True, True)
    assert code not in decoded((await redacted.get(f"/inbox/{row['id']}/raw")).content)


@pytest.mark.parametrize("transport", ["capture"])
async def test_neither_wildcards_nor_lower_roles_grant_impersonation(project, stranger, run_due_work, world, transport):
    """Regression test of I1 (tests/defects.md)."""
    for wildcard in ("customers:*", "*", "*:*"):
        assert not Caller(kind="secret_key", permissions=frozenset((wildcard,))).may(IMPERSONATE)
    assert IMPERSONATE not in KEY_PERMISSIONS | ROLE_PERMISSIONS["DEVELOPER"] | ROLE_PERMISSIONS["VIEWER"]
    assert IMPERSONATE in ROLE_PERMISSIONS["OWNER"] & ROLE_PERMISSIONS["ADMIN"]
    _, developer = await AccountHelper(project, stranger, run_due_work, world).member("DEVELOPER")
    refused = await developer.post("/api-keys", {"name": "mine", "permissions": [IMPERSONATE]})
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_missing")
    assert (await developer.post("/api-keys", {"name": "mine", "permissions": ["customers:*"]})).status_code == 201


@pytest.mark.parametrize("transport", ["capture"])
async def test_previews_for_lower_roles_have_no_codes(project, auth, stranger, run_due_work, world, transport):
    address = new_address()
    assert (await auth.post("/sign-up", {"email": address, "password": GOOD})).status_code == 201
    await auth.run_due_work()
    await wait_until_attempted(world, project)
    _, developer = await AccountHelper(project, stranger, run_due_work, world).member("DEVELOPER")
    (row,) = (await developer.get(f"/inbox?q={address}")).json()["data"]
    code = await auth.code(address)
    for path in (f"/inbox/{row['id']}", f"/emails/logs/{row['sendId']}"):
        page = await preview_of(developer, path)
        assert (REMOVED in page, code in page) == (True, False)


@TRANSPORTS
async def test_secrets_are_encrypted_until_the_delivery_result_and_then_erased(
    project, auth, sink, zone, world, clock, transport
):
    """A queued code is stored encrypted and deleted after the delivery result; a retry cannot restore it.

    Regression test of I1, S5 (tests/defects.md).
    """
    domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
    publish(zone, domain)
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    await auth.settings(mailFrom="auth@example.com")
    address = new_address()
    sink.behaviour.replies["DOT"] = b"451 4.2.0 Mailbox busy"
    assert (await auth.post("/sign-in/code", {"email": address})).status_code == 200
    await auth.run_due_work()
    await wait_until_attempted(world, project)
    if transport == "relay":
        assert [await stored(world, project, address)] == [("DELAYED", True, True)]
        sink.behaviour.replies["DOT"] = b"550 5.7.1 no"
        clock.move(DELAY)
        await auth.run_due_work()
        assert await stored(world, project, address) == ("BOUNCED", True, False)
        (row,) = (await project.client.get(f"/emails/logs?q={address}")).json()["data"]
        refused = await project.client.post(f"/emails/{row['id']}/retry")
        assert (refused.status_code, refused.json()["code"]) == (409, "not_retriable")
    else:
        assert await stored(world, project, address) == ("DELIVERED", True, False)


@pytest.mark.parametrize("transport", ["relay"])
async def test_a_reply_that_quotes_the_message_is_redacted_in_the_log(project, auth, sink, zone, world, transport):
    """Regression test of S5 (tests/defects.md)."""
    domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
    publish(zone, domain)
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    await auth.settings(mailFrom="auth@example.com")
    address = new_address()
    world.random.randrange, original = lambda *_: 424_242, world.random.randrange
    try:
        sink.behaviour.replies["DOT"] = b"554 5.7.1 Refused: 424242 looks like a code"
        assert (await auth.post("/sign-in/code", {"email": address})).status_code == 200
        await auth.run_due_work()
        await wait_until_attempted(world, project)
    finally:
        world.random.randrange = original
    (row,) = (await project.client.get(f"/emails/logs?q={address}")).json()["data"]
    for path in ("", "/attempts", "/message"):
        text = readable_text((await project.client.get(f"/emails/logs/{row['id']}{path}")).content, "message/rfc822")
        assert "424242" not in text
    assert REMOVED in row["reason"]


async def wait_until_attempted(world, project) -> None:
    """Wait until every message was attempted, because requests deliver their messages in the background."""
    async with asyncio.timeout(60), world.db.connection() as connection:
        waiting = "select 1 from sends where project_id = %s and status = 'QUEUED'"
        while await (await connection.execute(waiting, [project.id])).fetchone():
            await asyncio.sleep(0.05)


async def stored(world, project, address: str) -> tuple[str, bool, bool]:
    """The status of the send to an address, whether its body is redacted, and whether an encrypted copy is stored."""
    async with world.db.connection() as connection:
        rows = await connection.execute(
            "select s.status, coalesce((b.body ->> 'redacted')::bool, false), b.sealed is not null"
            " from sends s join send_bodies b on (b.project_id, b.send_id) = (s.project_id, s.id)"
            " where s.project_id = %s and s.recipient = %s",
            [project.id, address],
        )
        (row,) = await rows.fetchall()
        return row


def test_redaction_finds_secrets_in_every_encoding():
    """Regression test of S5 (tests/defects.md)."""
    secret = "a.b&c=d"
    text = f"{secret} a.b&amp;c=d a.b%26c%3Dd"
    assert redact(text, [secret]) == " ".join([REMOVED] * 3)
    with pytest.raises(SecretInSubject):
        redacted_body(SendBody(subject="123456 is your code", secrets=["123456"]))
