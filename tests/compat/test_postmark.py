"""`/email`, `/email/batch` and both with templates of Postmark's API: each field, each error, and the acceptance."""

import base64
import email
import email.policy
import re
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.compat.postmark.errors import CODES
from postern.compat.postmark.model import FIELDS, PostmarkEmail
from postern.compat.postmark.rules import split_addresses

BASE = "/compat/postmark"
MAIL: dict[str, Any] = {
    "From": "Acme <hello@example.com>",
    "To": "Ada <ada@example.org>",
    "Subject": "Hello",
    "HtmlBody": "<p>Html {{x}}</p>",
    "TextBody": "Text {{x}}",
}
TEMPLATE = {"name": "Welcome mail", "subject": "Welcome, {{name}}", "html": "<p>Hi {{name}}</p>"}


async def post(client: Any, path: str, body: Any, **headers: str) -> Any:
    """A request with the key of a client in Postmark's header."""
    headers = {"X-Postmark-Server-Token": client.token, "Authorization": "Bearer other", **headers}
    return await client.post(f"{BASE}{path}", body, headers=headers)


async def send(project: Any, path: str = "/email", **changes: Any) -> Any:
    return await post(project.client, path, {**MAIL, **changes})


async def logged(project: Any) -> list[dict[str, Any]]:
    """The sends of a project, oldest first."""
    return (await project.client.get("/emails/logs?limit=100")).json()["data"][::-1]


async def message_of(project: Any, send_id: str) -> Any:
    downloaded = await project.client.get(f"/emails/logs/{send_id}/message")
    return email.message_from_bytes(downloaded.content, policy=email.policy.default)


def code_of(response: Any, status: int = 422) -> tuple[int, str]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert body.keys() == {"ErrorCode", "Message"}
    return body["ErrorCode"], body["Message"]


async def new_template(project: Any, **fields: Any) -> str:
    created = await project.client.post("/templates", {**TEMPLATE, **fields})
    assert created.status_code == 201, created.text
    return created.json()["id"]


async def test_a_message_is_accepted_with_the_result_of_postmark(project, clock):
    response = await send(project, Cc="", ReplyTo=None, Unknown="ignored")
    assert response.status_code == 200
    result = response.json()
    assert result.keys() == {"To", "SubmittedAt", "MessageID", "ErrorCode", "Message"}
    assert (result["To"], result["ErrorCode"], result["Message"]) == ("Ada <ada@example.org>", 0, "OK")
    (entry,) = await logged(project)
    assert (result["MessageID"], result["SubmittedAt"]) == (entry["id"], entry["createdAt"])
    message = await message_of(project, entry["id"])
    assert message.get_body(("plain",)).get_content().strip() == "Text {{x}}"
    assert "Html {{x}}" in message.get_body(("html",)).get_content()


async def test_all_fields_apply_to_the_message(project):
    content = base64.b64encode(b"hello").decode()
    response = await send(
        project,
        To='"Doe, Jane" <jane@example.org>, ada@example.org,',
        Cc="cc@example.org",
        Bcc="bcc@example.org",
        ReplyTo="r1@example.com, R2 <r2@example.com>",
        HtmlBody='<a href="https://acme.example/">x</a><img src="cid:logo">',
        Tag="welcome mail",
        Metadata={"user": "42", "plan": "a b"},
        Headers=[{"Name": "X-Own", "Value": "1"}],
        TrackOpens=False,
        TrackLinks="HtmlOnly",
        MessageStream="outbound",
        Attachments=[
            {"Name": "logo.png", "Content": content, "ContentType": "image/png", "ContentID": "cid:logo"},
            {"Name": "a.txt", "Content": content, "ContentType": None, "ContentID": None, "ContentLength": 5},
        ],
    )
    assert response.status_code == 200, response.text
    assert (response.json()["Cc"], response.json()["Bcc"]) == ("cc@example.org", "bcc@example.org")
    (entry,) = await logged(project)
    assert entry["to"] == ["Doe, Jane <jane@example.org>", "ada@example.org"]
    assert (entry["cc"], entry["bcc"]) == (["cc@example.org"], ["bcc@example.org"])
    assert entry["tags"] == ["welcome mail", "user--42", "plan--a b"]
    message = await message_of(project, entry["id"])
    assert (message["X-Own"], message["Reply-To"]) == ("1", "r1@example.com, R2 <r2@example.com>")
    html = message.get_body(("html",)).get_content()
    assert "https://acme.example/" not in html
    parts = {part.get_filename(): part for part in message.walk() if part.get_filename()}
    assert (parts["logo.png"]["Content-ID"], parts["logo.png"].get_content_disposition()) == ("<logo>", "inline")
    assert (parts["a.txt"].get_content_type(), parts["a.txt"].get_content_disposition()) == ("text/plain", "attachment")


async def test_the_stream_broadcast_adds_an_unsubscribe_link_for_each_recipient(project):
    response = await send(project, To="ada@example.org, bob@example.org", MessageStream="broadcast")
    first, second = await logged(project)
    assert response.json()["MessageID"] == first["id"]
    assert [entry["to"] for entry in (first, second)] == [["ada@example.org"], ["bob@example.org"]]
    message = await message_of(project, second["id"])
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    code, text = code_of(await send(project, MessageStream="news"))
    assert (code, "'news' does not exist" in text) == (1235, True)


async def test_templates_are_found_by_id_name_and_slug(project, new_project):
    template_id = await new_template(project)
    mail = {"From": MAIL["From"], "To": MAIL["To"], "TemplateModel": {"name": "Ada"}, "InlineCss": True}
    for template in ({"TemplateId": template_id}, {"TemplateAlias": "Welcome mail"}, {"TemplateAlias": "welcome-mail"}):
        response = await post(project.client, "/email/withTemplate", {**mail, **template})
        assert response.status_code == 200, response.text
    assert [entry["subject"] for entry in await logged(project)] == ["Welcome, Ada"] * 3
    foreign = await new_template(await new_project(), name="Foreign")
    await new_template(project, name="Twice")
    await new_template(project, name="Twice")
    for template in (
        {"TemplateId": foreign},
        {"TemplateAlias": "foreign"},
        {"TemplateAlias": "Twice"},
        {"TemplateId": 12_345},
        {"TemplateId": "12345"},
        {"TemplateId": str(uuid4())},
        {},
    ):
        code, _ = code_of(await post(project.client, "/email/withTemplate", {**mail, **template}))
        assert code == 1101, template
    for name in ("Subject", "HtmlBody", "TextBody"):
        body = {**mail, "TemplateId": template_id, name: "x"}
        code, text = code_of(await post(project.client, "/email/withTemplate", body))
        assert (code, name in text) == (300, True)
    assert len(await logged(project)) == 3


async def test_a_batch_has_a_result_for_each_message_in_its_order(project):
    bad = [{"To": "nobody"}, {"From": None}, {"To": 7}, {"HtmlBody": None, "TextBody": None}]
    messages = [{**MAIL, "To": f"a{number}@example.org"} for number in range(4)]
    mixed = [pair for good, fault in zip(messages, bad, strict=True) for pair in (good, {**MAIL, **fault})]
    response = await post(project.client, "/email/batch", [*mixed, "no message"])
    assert response.status_code == 200, response.text
    results = response.json()
    assert [result["ErrorCode"] for result in results] == [0, 300, 0, 300, 0, 300, 0, 300, 300]
    assert all(result.keys() == {"ErrorCode", "Message"} for result in results[1::2])
    assert [result["MessageID"] for result in results[::2][:4]] == [entry["id"] for entry in await logged(project)]
    assert [result["To"] for result in results[::2][:4]] == [message["To"] for message in messages]
    assert (await post(project.client, "/email/batch", [])).json() == []


async def test_a_batch_with_templates_has_a_result_for_each_message(project):
    await new_template(project)
    mail = {"From": MAIL["From"], "To": MAIL["To"], "TemplateModel": {"name": "Ada"}}
    messages = [
        {**mail, "TemplateAlias": "welcome-mail"},
        {**mail, "TemplateAlias": "other"},
        {**mail, "TemplateId": 1},
    ]
    response = await post(project.client, "/email/batchWithTemplates", {"Messages": messages})
    assert [result["ErrorCode"] for result in response.json()] == [0, 1101, 1101]
    assert [entry["subject"] for entry in await logged(project)] == ["Welcome, Ada"]


async def test_batches_have_at_most_500_messages(project, run_due_work):
    messages = [{**MAIL, "To": f"a{number}@example.org"} for number in range(501)]
    assert code_of(await post(project.client, "/email/batch", messages))[0] == 410
    # The number is checked before the key.
    for path, body in (("/email/batch", messages), ("/email/batchWithTemplates", {"Messages": messages})):
        assert code_of(await post(project.client, path, body, **{"Idempotency-Key": "k" * 256}))[0] == 410
    assert await logged(project) == []
    response = await post(project.client, "/email/batch", messages[:500])
    assert {result["ErrorCode"] for result in response.json()} == {0}
    assert (await project.client.get("/emails/logs?limit=1")).json()["total"] == 500
    await run_due_work()  # Other tests count the mail that is due in this database.


async def test_recipients_are_counted_before_an_address_is_read(project):
    # No address is valid, so the problem would be another one if any had been read.
    many = {**MAIL, "To": "ü@ü", "Cc": ",".join(["ü"] * 10_000), "Bcc": ",".join(["ü"] * 10_000)}
    code, sentence = code_of(await post(project.client, "/email", many))
    assert (code, "at most 50 recipients" in sentence) == (300, True)
    results = (await post(project.client, "/email/batch", [many, MAIL, {**MAIL, "To": "ü," * 51}])).json()
    assert [result["ErrorCode"] for result in results] == [300, 0, 300]
    assert all("at most 50 recipients" in result["Message"] for result in results[::2])


MANY = ", ".join(f"a{number}@example.org" for number in range(51))
INVALID: dict[str, tuple[int, str, dict[str, Any]]] = {
    "no From": (300, "From", {"From": None}),
    "From without an address": (300, "Invalid 'From' address", {"From": "Acme"}),
    "two addresses in From": (300, "Invalid 'From' address", {"From": "a@example.com, b@example.com"}),
    "no To": (300, "To", {"To": ""}),
    "only commas": (300, "To", {"To": ", ,"}),
    "To without an address": (300, "Invalid 'To' address", {"To": "ada@example.org, Ada"}),
    "Cc without an address": (300, "Invalid 'Cc' address", {"Cc": "Ada"}),
    "Bcc without an address": (300, "Invalid 'Bcc' address", {"Bcc": "Ada"}),
    "51 recipients": (300, "recipients", {"To": MANY}),
    "51 recipients in several fields": (300, "recipients", {"To": "b@example.org", "Cc": MANY}),
    "ReplyTo without an address": (300, "Invalid 'ReplyTo' address", {"ReplyTo": "Ada"}),
    "11 reply addresses": (300, "reply addresses", {"ReplyTo": ",".join(f"a{n}@example.org" for n in range(11))}),
    "no content": (300, "HtmlBody", {"HtmlBody": "", "TextBody": None}),
    "reserved header": (300, "From", {"Headers": [{"Name": "From", "Value": "x"}]}),
    "same header twice": (300, "Headers/1/Name", {"Headers": [{"Name": "X-A", "Value": "1"}] * 2}),
    "tracking of links": (300, "TrackLinks", {"TrackLinks": "All"}),
    "no base64": (300, "Attachments/0/Content", {"Attachments": [{"Name": "a", "Content": "?"}]}),
    "long tag": (300, "Tag", {"Tag": "a" * 257}),
    "long metadata": (300, "Metadata", {"Metadata": {"a": "b" * 300}}),
    "metadata is no string": (300, "Metadata", {"Metadata": {"a": {}}}),
    "long subject": (300, "Subject", {"Subject": "a" * 2_001}),
}


async def test_invalid_messages_are_refused_with_a_code_and_a_sentence(project):
    for case, (code, part, changes) in INVALID.items():
        error_code, message = code_of(await send(project, **changes))
        assert (error_code, part in message) == (code, True), (case, message)
    assert await logged(project) == []


async def test_errors_have_the_statuses_and_codes_of_postmark(project, stranger, new_project):
    url = f"{BASE}/email"
    assert code_of(await stranger.post(url, MAIL), 401)[0] == 10
    assert code_of(await stranger.post(url, MAIL, headers={"X-Postmark-Server-Token": "x"}), 401)[0] == 10
    code, message = code_of(
        await stranger.post(url, MAIL, headers={"x-postmark-server-token": "postmark_api_test"}), 401
    )
    assert (code, "environment TEST" in message) == (10, True)
    for client in (await project.key("emails:read"), await project.key(type="PUBLISHABLE"), project.developer):
        assert code_of(await post(client, "/email", MAIL), 401)[0] == 10
    headers = {"X-Postmark-Server-Token": project.secret_key, "Content-Type": "application/json"}
    malformed = await project.client.http.post(url, content=b"{From: 'x'}", headers=headers)
    assert code_of(malformed)[0] == 402
    wrong_type = {**headers, "Content-Type": "text/plain"}
    assert code_of(await project.client.http.post(url, content=b"x", headers=wrong_type), 415)[0] == 409
    assert code_of(await project.client.http.post(url, content=b"x" * 36_000_001, headers=headers), 413)[0] == 300
    for path in ("/bounces", "/templates", "/email/other", ""):
        code, message = code_of(await post(project.client, path, {}), 501)
        assert (code, "POST /email" in message) == (501, True)
    assert code_of(await project.client.get(url, headers=headers), 501)[0] == 501
    limited = await new_project()
    await limited.developer.patch("", {"settings": {"rateLimit": 1}})
    refused = [response for response in [await send(limited) for _ in range(3)] if response.status_code == 429]
    assert (code_of(refused[0], 429)[0], refused[0].headers["retry-after"]) == (429, "1")
    assert await logged(project) == []


def test_no_kind_of_problem_is_hidden_by_an_earlier_one():
    kinds = [kind for kind, _, _ in CODES]
    assert not [kind for index, kind in enumerate(kinds) if any(issubclass(kind, other) for other in kinds[:index])]


async def test_an_unknown_and_an_unconfirmed_sender_have_codes_of_their_own(sender):
    await sender.client.post("/domains", {"domain": "waiting.example"})
    code, message = code_of(await send(sender, From="a@other.example"))
    assert (code, "other.example" in message, "/domains" in message) == (400, True, True)
    code, message = code_of(await send(sender, From="a@waiting.example"))
    assert (code, "waiting.example" in message, "/verify" in message) == (401, True, True)
    batch = await post(sender.client, "/email/batch", [MAIL, {**MAIL, "From": "a@waiting.example"}])
    assert [result["ErrorCode"] for result in batch.json()] == [0, 401]


async def test_suppressed_recipients_are_inactive(sender, sink, run_due_work):
    for address, reason in (("gone@example.org", "BOUNCE"), ("left@example.org", "UNSUBSCRIBE")):
        await sender.client.post("/suppressions", {"address": address, "reason": reason})
    code, message = code_of(await send(sender, To="Gone <GONE@example.org>"))
    assert (code, "Found inactive addresses: GONE@example.org. Inactive" in message) == (406, True)
    response = await send(sender, To="ada@example.org", Cc="gone@example.org, left@example.org")
    assert (
        response.json()["Message"] == "Message OK, but will not deliver to these inactive addresses: gone@example.org."
    )
    code, _ = code_of(await send(sender, To="left@example.org", MessageStream="broadcast"))
    assert code == 406
    batch = await post(sender.client, "/email/batch", [{**MAIL, "To": "gone@example.org"}, MAIL])
    assert [result["ErrorCode"] for result in batch.json()] == [406, 0]
    await run_due_work()
    assert sorted(message.recipients for message in sink.messages) == [
        ("ada@example.org",),
        ("ada@example.org", "left@example.org"),
    ]


async def test_mail_of_a_test_key_is_captured(sender, sink, run_due_work):
    test_key = await sender.key(environment="TEST")
    response = await post(test_key, "/email", {**MAIL, "From": "a@other.example"})
    assert UUID(response.json()["MessageID"])
    await run_due_work()
    assert sink.messages == []
    assert [entry["test"] for entry in await logged(sender)] == [True]


async def test_an_idempotency_key_gives_the_first_response_again(project):
    template_id = await new_template(project)
    mail = {"From": MAIL["From"], "To": MAIL["To"], "TemplateId": template_id}
    batch = [MAIL, {**MAIL, "To": "nobody"}]
    first = await post(project.client, "/email/withTemplate", mail, **{"Idempotency-Key": "one"})
    first_batch = await post(project.client, "/email/batch", batch, **{"Idempotency-Key": "two"})
    await project.client.delete(f"/templates/{template_id}")
    again = await post(project.client, "/email/withTemplate", mail, **{"Idempotency-Key": "one"})
    batch_again = await post(project.client, "/email/batch", batch, **{"Idempotency-Key": "two"})
    assert (first.status_code, first.json()) == (200, again.json())
    assert first_batch.json() == batch_again.json()
    assert [result["ErrorCode"] for result in batch_again.json()] == [0, 300]
    assert len(await logged(project)) == 2
    assert code_of(
        await post(project.client, "/email/withTemplate", {**mail, "Tag": "x"}, **{"Idempotency-Key": "one"})
    )


ADDRESS_LISTS = {
    "a@b.c": ["a@b.c"],
    " a@b.c ,\td@e.f,": ["a@b.c", "d@e.f"],
    '"Doe, Jane" <j@b.c>, x@y.z': ['"Doe, Jane" <j@b.c>', "x@y.z"],
    '"a \\" , b" <j@b.c>,x@y.z': ['"a \\" , b" <j@b.c>', "x@y.z"],
    '"a\\\\", b@c.d': ['"a\\\\"', "b@c.d"],
    '"open, a@b.c': ['"open, a@b.c'],
    "": [],
}


@pytest.mark.parametrize("text", ADDRESS_LISTS)
def test_commas_separate_addresses_except_in_quotes(text):
    assert split_addresses(text) == ADDRESS_LISTS[text]


@given(st.text(alphabet='ab@.,"\\<> '))
def test_splitting_loses_nothing_but_commas_and_spaces(text):
    kept = "".join(split_addresses(text))
    assert re.sub("[, ]", "", kept) == re.sub("[, ]", "", text)


def test_the_guide_says_what_happens_with_each_field():
    ignored = {
        "InlineCss",
        "Attachments.Name",
        "Attachments.Content",
        "Attachments.ContentType",
        "Attachments.ContentID",
    }
    names = {field.encode_name for field in msgspec.structs.fields(PostmarkEmail)}
    assert set(FIELDS) == names | ignored
    guide = (Path(__file__).parents[2] / "docs/guide/postmark.md").read_text()
    fields = guide.partition("## Fields")[2].partition("## Errors")[0]
    assert dict(re.findall(r"^\| `([\w.]+)` \| (.+) \|$", fields, re.MULTILINE)) == FIELDS
    errors = guide.partition("## Errors")[2].partition("## What")[0]
    codes = {(int(status), int(code)) for status, code in re.findall(r"^\| (\d+) \| (\d+) \|", errors, re.MULTILINE)}
    assert codes >= {(status, code) for _, status, code in CODES if (status, code) != (409, 300)}
