"""The Python clients with the real application: sending, lists, imports, errors and captured mail."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any
from uuid import uuid4

import pytest
from postern_sdk import AsyncPostern, Postern, errors, etag, problems, types
from postern_sdk.testing import MailNotFound, SecretsHidden, wait_for_mail

from postern.cli.bootstrap import BootstrapResult
from tests.peers.smtp_sink import Sink
from tests.peers.whole_server import WholeServer, whole_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeServer]:
    with whole_server(tmp_path_factory.mktemp("sdk"), outbound_allow=(ip_network("127.0.0.0/8"),)) as server:
        yield server


@pytest.fixture(scope="module")
def account(server: WholeServer) -> BootstrapResult:
    return asyncio.run(server.account())


@pytest.fixture
def client(server: WholeServer, account: BootstrapResult) -> Iterator[Postern]:
    with Postern(server.url, account.secret_key, account.project_id) as client:
        yield client


@pytest.fixture
async def async_client(server: WholeServer, account: BootstrapResult) -> AsyncIterator[AsyncPostern]:
    async with AsyncPostern(server.url, account.secret_key, account.project_id) as client:
        yield client


@pytest.fixture
def developer(client: Postern, account: BootstrapResult) -> Postern:
    return client.with_options(key=account.developer_token)


def test_send_and_find_the_message_in_the_log(client: Postern) -> None:
    sent = client.emails.send(
        to=["ada@example.com"],
        from_="hello@acme.example",
        subject="Hello {{name}}",
        text="Dear {{name}}",
        variables={"name": "Ada"},
        attachments=[{"filename": "a.txt", "content": "aGVsbG8="}],
        scheduled_at=datetime.now(UTC) + timedelta(hours=1),
    )
    assert sent.status == "SCHEDULED"
    entry = client.emails.get(sent.id)
    assert (entry.from_, entry.to) == ("hello@acme.example", ["ada@example.com"])
    assert isinstance(entry.created_at, datetime)
    assert client.emails.cancel(sent.id).status == "CANCELLED"
    with pytest.raises(problems.NotCancellable) as raised:
        client.emails.cancel(sent.id)
    assert raised.value.status == 409
    assert isinstance(raised.value, errors.ConflictError)


def test_the_same_idempotency_key_sends_once(client: Postern) -> None:
    def send() -> types.SendResult:
        return client.emails.send(
            to=["once@example.com"], from_="a@acme.example", subject="Once", text="x", idempotency_key=key
        )

    key = uuid4().hex
    assert send() == send()


def test_lists_of_all_three_kinds_go_on_over_all_pages(client: Postern) -> None:
    for number in range(5):
        client.contacts.create(email=f"contact-{number}@example.com")
        client.audiences.create(name=f"Audience {number}")
    by_page = client.contacts.list(limit=2)
    assert (by_page.total, len(by_page.data), by_page.has_next) == (5, 2, True)
    following = by_page.next()
    assert following is not None
    assert not {contact.id for contact in following.data} & {contact.id for contact in by_page.data}
    assert sorted(contact.email for contact in by_page) == [f"contact-{number}@example.com" for number in range(5)]
    by_link = client.audiences.list(limit=2)
    assert sorted(audience.name for audience in by_link) == [f"Audience {number}" for number in range(5)]
    by_cursor = client.events.list(limit=3)
    listed = [event.id for event in by_cursor]
    assert len(listed) == len(set(listed)) >= 10
    page, pages = by_cursor, 1
    while (next_page := page.next()) is not None:
        page, pages = next_page, pages + 1
    assert pages >= 4
    assert not page.has_next


async def test_asynchronous_lists_go_on_over_all_pages(async_client: AsyncPostern) -> None:
    for number in range(3):
        await async_client.templates.create(name=f"Template {number}", subject="Hello", text="Hello")
    first = await async_client.templates.list(limit=2)
    assert (len(first.data), first.has_next, first.total) == (2, True, None)
    assert len({template.id async for template in async_client.templates.list(limit=1)}) == 3
    assert len([template async for template in first]) == 3


def test_import_a_csv_file(client: Postern) -> None:
    rows = "".join(f"import-{number}@example.com,Ada\n" for number in range(3))
    begun = client.contacts.imports.create(data=iter([b"email,first name\n", rows.encode()]), mode="upsert")
    for _ in range(300):
        result = client.contacts.imports.get(begun.id)
        if result.finished_at is not None:
            break
        client.contacts.list(limit=1)
    assert (result.status, result.created) == ("COMPLETED", 3)
    exported = client.contacts.export()
    assert isinstance(exported, str)
    assert "import-2@example.com" in exported


async def test_import_a_csv_file_asynchronously(async_client: AsyncPostern) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"email\n"
        yield b"async-1@example.com\n"

    for data in (chunks(), "email\nasync-2@example.com\n", [b"email\n", b"async-3@example.com\n"]):
        preview = await async_client.contacts.imports.preview(data=data)
        assert [column.name for column in preview.columns] == ["email"]


def test_errors_have_a_class_for_each_code_and_the_request_id(client: Postern) -> None:
    with pytest.raises(problems.ContactMissing) as raised:
        client.contacts.get(str(uuid4()))
    error = raised.value
    assert (error.status, error.code) == (404, "contact_missing")
    assert isinstance(error, errors.NotFoundError)
    assert error.request_id == error.headers["x-request-id"]
    assert str(error).endswith(f"[request {error.request_id}]")
    assert str(error).startswith("contact_missing (404): ")
    with pytest.raises(errors.APIError) as rejected:
        client.emails.send(to=["not an address"], from_="a@acme.example", subject="x", text="x")
    assert [problem.path for problem in rejected.value.errors] == ["/to/0"]
    assert "/to/0" in str(rejected.value)
    with pytest.raises(problems.CredentialInvalid):
        client.with_options(key="pk_live_wrong").contacts.list()


def test_change_only_the_version_that_was_read(client: Postern) -> None:
    created = client.templates.create(name="Versions", subject="One", text="One")
    read = client.templates.get(created.id)
    version = etag(read)
    assert version is not None
    changed = client.templates.update(created.id, subject="Two", if_match=version)
    assert changed.subject == "Two"
    with pytest.raises(errors.PreconditionFailedError):
        client.templates.update(created.id, subject="Three", if_match=version)
    # None is JSON's null, and an argument that is not given changes nothing.
    assert client.templates.update(created.id, text="Both", html="<p>Both</p>").subject == "Two"
    assert client.templates.update(created.id, text=None).text is None


def test_objects_within_requests_are_structs_or_dicts(client: Postern) -> None:
    rules: Any = {"match": "all", "conditions": [{"field": "email", "operator": "contains", "value": "@example.com"}]}
    by_dict = client.audiences.create(name=f"Dict {uuid4().hex}")
    assert client.audiences.set_rules(by_dict.id, **rules)
    conditions = [types.RuleCondition(field="email", operator="contains", value="@example.com")]
    assert client.audiences.set_rules(by_dict.id, match="all", conditions=conditions)
    automation = client.automations.create(
        name=f"Welcome {uuid4().hex}",
        trigger=types.Trigger(type="CONTACT_CREATED"),
        steps=[types.Delay(days=1), {"type": "EXIT"}],
    )
    assert [step["type"] for step in automation.steps] == ["DELAY", "EXIT"]


def test_wait_for_captured_mail(client: Postern, developer: Postern) -> None:
    to = f"{uuid4().hex}@example.com"
    client.emails.send(
        to=[to],
        from_="a@acme.example",
        subject="Welcome",
        text="Your code is 123456, not 1234567. See https://acme.example/a?b=1&c=2.",
        track_clicks=False,
        html='<p>Your code: <b>123456</b> <a href="https://acme.example/a?b=1&amp;c=2">Open</a></p>',
    )
    mail = wait_for_mail(client, to=to.upper(), subject="welcome")
    assert (mail.subject, mail.recipients, mail.code) == ("Welcome", [to], "123456")
    assert mail.links == ["https://acme.example/a?b=1&c=2"]
    with pytest.raises(MailNotFound, match=f"within 0 s. The newest there: 'Welcome' to {to} at ") as raised:
        wait_for_mail(client, to=to, subject="Another", timeout=0)
    assert isinstance(raised.value, errors.PosternError)
    assert wait_for_mail(client, to=to, after=mail.captured_at).id == mail.id
    for after in (mail, datetime.now(UTC) + timedelta(minutes=1), datetime.now() + timedelta(minutes=1)):  # noqa: DTZ005
        with pytest.raises(MailNotFound, match="after "):
            wait_for_mail(client, to=to, after=after, timeout=0)
    client.emails.send(to=[to], from_="a@acme.example", subject="Welcome", text="Again")
    assert wait_for_mail(client, to=to, after=mail).text.strip() == "Again"


async def test_a_code_that_signs_in_is_read_only_with_the_permission(
    client: Postern, developer: Postern, server: WholeServer, account: BootstrapResult
) -> None:
    email = f"{uuid4().hex}@example.com"
    signed_up = client.auth.sign_up(email=email, password="correct horse battery staple")
    assert signed_up.challenge_id is not None
    with pytest.raises(SecretsHidden, match="customers:impersonate"):
        _ = wait_for_mail(client, to=email).code
    key = developer.api_keys.create(name="tests", permissions=["inbox:read", "customers:impersonate"]).key
    async with AsyncPostern(server.url, key, account.project_id) as tests:
        mail = await wait_for_mail(tests, to=email)
    session = client.auth.verify_sign_up(challenge_id=signed_up.challenge_id, code=mail.code)
    assert session.access_token is not None
    customer = client.with_options(key=session.access_token)
    assert customer.auth.me().email == email


@asynccontextmanager
async def resetting_proxy(server: WholeServer) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A proxy that resets the connection when the response of the first request arrives. Yields its URL and all
    requests."""
    requests: list[bytes] = []
    host, port = server.url.removeprefix("http://").split(":")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream_reader, upstream_writer = await asyncio.open_connection(host, int(port))
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            request = head + await reader.readexactly(int(length.split(b":")[1]))
            requests.append(request)
            upstream_writer.write(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
            response = await upstream_reader.read()
            if len(requests) == 1:
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                writer.transport.abort()
            else:
                writer.write(response)
                await writer.drain()
        finally:
            upstream_writer.close()
            writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}", requests
    finally:
        listener.close()


@pytest.mark.parametrize("is_async", [False, True], ids=["synchronous", "asynchronous"])
async def test_one_mail_arrives_if_the_connection_is_reset_before_the_response(
    is_async: bool, server: WholeServer, developer: Postern
) -> None:
    project = developer.projects.create(name=f"Relay {uuid4().hex}")
    of_project = developer.with_options(project=project.id)
    key = of_project.api_keys.create(name="server").key
    domain = of_project.domains.create(domain=f"d{uuid4().hex}.example")
    assert server.zone
    for record in domain.records:
        server.zone.add(record.name, record.type, record.value)
    assert of_project.domains.verify(domain.id).status == "VERIFIED"
    message: Any = {"to": ["ada@example.net"], "from_": f"hello@{domain.domain}", "subject": "Once", "text": "Once"}
    async with Sink() as sink, resetting_proxy(server) as (url, requests):
        relay = types.ProjectRelay(host="127.0.0.1", port=sink.port, tls="none")
        await asyncio.to_thread(of_project.projects.update, settings={"transport": "relay", "relays": [relay]})
        if is_async:
            async with AsyncPostern(url, key, project.id) as async_client:
                sent = await async_client.emails.send(**message)
        else:
            with Postern(url, key, project.id) as client:
                sent = await asyncio.to_thread(client.emails.send, **message)
        assert sent.status == "SENT"
        assert len(requests) == 2
        assert len(sink.messages) == 1
    keys = {line for request in requests for line in request.split(b"\r\n") if line.lower().startswith(b"idempotency")}
    assert len(keys) == 1
