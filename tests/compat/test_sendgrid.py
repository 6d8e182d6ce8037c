"""`POST /v3/mail/send` of SendGrid's API: each field, each error, and the same acceptance as `POST /emails`."""

import asyncio
import base64
import email
import email.policy
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
from python_http_client.exceptions import BadRequestsError, UnauthorizedError
from sendgrid import SendGridAPIClient
from sendgrid.helpers.mail import (
    Asm,
    Attachment,
    BatchId,
    Bcc,
    Category,
    Cc,
    ClickTracking,
    Content,
    CustomArg,
    Disposition,
    FileContent,
    FileName,
    FileType,
    From,
    GroupId,
    Header,
    Mail,
    MailSettings,
    OpenTracking,
    Personalization,
    ReplyTo,
    SandBoxMode,
    SendAt,
    SubscriptionTracking,
    To,
    TrackingSettings,
)
from sendgrid.helpers.mail import ContentId as SendGridContentId

from postern.compat.sendgrid import model
from postern.compat.sendgrid.model import FIELDS, REFUSED, SendGridMail

SEND = "/compat/sendgrid/v3/mail/send"
ADA = {"email": "ada@example.org", "name": "Ada"}
MAIL: dict[str, Any] = {
    "personalizations": [{"to": [ADA]}],
    "from": {"email": "hello@example.com", "name": "Acme"},
    "subject": "Hello",
    "content": [{"type": "text/plain", "value": "Text {{x}}"}, {"type": "text/html", "value": "<p>Html {{x}}</p>"}],
}


async def logged(project: Any) -> list[dict[str, Any]]:
    """The sends of a project, oldest first."""
    return (await project.client.get("/emails/logs?limit=100")).json()["data"][::-1]


async def message_of(project: Any, send_id: str) -> Any:
    downloaded = await project.client.get(f"/emails/logs/{send_id}/message")
    assert downloaded.status_code == 200, downloaded.text
    return email.message_from_bytes(downloaded.content, policy=email.policy.default)


def errors_of(response: Any, status: int = 400) -> list[tuple[str | None, str]]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    errors = response.json()["errors"]
    assert all(error.keys() == {"message", "field", "help"} for error in errors)
    return [(error["field"], error["message"]) for error in errors]


async def refuse(project: Any, field: str | None, status: int = 400, **changes: Any) -> str:
    """Assert that a request is refused because of `field`, and that nothing is sent; returns the message."""
    response = await project.client.post(SEND, {**MAIL, **changes})
    ((error_field, message),) = errors_of(response, status)
    assert error_field == field, message
    assert await logged(project) == []
    return message


async def test_a_request_is_accepted_with_202_no_body_and_the_id_of_the_send(project, clock):
    response = await project.client.post(SEND, MAIL)
    assert (response.status_code, response.content) == (202, b"")
    (send,) = await logged(project)
    assert response.headers["x-message-id"] == send["id"]
    assert int(response.headers["x-ratelimit-remaining"]) < int(response.headers["x-ratelimit-limit"])
    assert int(response.headers["x-ratelimit-reset"]) > clock().timestamp()
    assert (send["from"], send["to"], send["subject"]) == (
        "Acme <hello@example.com>",
        ["Ada <ada@example.org>"],
        "Hello",
    )
    message = await message_of(project, send["id"])
    assert message.get_body(("plain",)).get_content().strip() == "Text {{x}}"
    assert "Html {{x}}" in message.get_body(("html",)).get_content()


async def test_each_personalization_is_a_message_with_its_own_values(project, clock):
    later = int((clock() + timedelta(hours=2)).timestamp())
    response = await project.client.post(
        SEND,
        {
            **MAIL,
            "personalizations": [
                {
                    "to": [ADA, {"email": "bob@example.org"}],
                    "cc": [{"email": "carol@example.org"}],
                    "bcc": [{"email": "dan@example.org"}],
                    "subject": "For -name-",
                    "substitutions": {"-name-": "Ada & Bob", "-greeting-": ":formal:"},
                    "headers": {"X-One": "own"},
                    "custom_args": {"user": "42"},
                },
                {"to": [{"email": "eve@example.org"}], "from": {"email": "other@example.com"}, "send_at": later},
            ],
            "content": [{"type": "text/html", "value": "<p>-greeting-</p>"}],
            "sections": {":formal:": "Dear -name-"},
            "headers": {"X-One": "common", "X-Two": "two"},
            "custom_args": {"user": "1", "plan": "a b"},
            "categories": ["welcome mail", "spring"],
            "reply_to_list": [{"email": "r1@example.com", "name": "R, 1"}, {"email": "r2@example.com"}],
            "batch_id": "batch1",
            "ip_pool_name": "pool",
        },
    )
    assert response.status_code == 202, response.text
    first, second = await logged(project)
    assert response.headers["x-message-id"] == first["id"]
    assert (first["to"], first["cc"], first["bcc"]) == (
        ["Ada <ada@example.org>", "bob@example.org"],
        ["carol@example.org"],
        ["dan@example.org"],
    )
    assert first["subject"] == "For Ada & Bob"
    assert first["tags"] == ["welcome mail", "spring", "user--42", "plan--a b", "batch_id--batch1"]
    assert (first["status"], second["status"]) == ("QUEUED", "SCHEDULED")
    assert second["from"] == "other@example.com"
    assert second["tags"] == ["welcome mail", "spring", "user--1", "plan--a b", "batch_id--batch1"]
    message, other = await message_of(project, first["id"]), await message_of(project, second["id"])
    assert "<p>Dear Ada & Bob</p>" in message.get_body(("html",)).get_content()
    assert (message["X-One"], message["X-Two"], other["X-One"]) == ("own", "two", "common")
    assert message["Reply-To"] == '"R, 1" <r1@example.com>, r2@example.com'
    assert "<p>-greeting-</p>" in other.get_body(("html",)).get_content()
    emails = await project.client.get("/emails/logs", params={"tag": "welcome mail"})
    assert emails.json()["total"] == 2


async def test_attachments_are_files_or_inline_images(project):
    content = base64.b64encode(b"hello").decode()
    files = [
        {"content": content, "filename": "a.txt"},
        {"content": content, "filename": "b.bin", "type": "application/x-own", "content_id": "not-inline"},
        {"content": content, "filename": "c.png", "type": "image/png", "disposition": "inline", "content_id": "logo"},
    ]
    response = await project.client.post(SEND, {**MAIL, "attachments": files})
    message = await message_of(project, response.headers["x-message-id"])
    parts = {part.get_filename(): part for part in message.walk() if part.get_filename()}
    assert {name: (part.get_content_type(), part.get_content_disposition()) for name, part in parts.items()} == {
        "a.txt": ("text/plain", "attachment"),
        "b.bin": ("application/x-own", "attachment"),
        "c.png": ("image/png", "inline"),
    }
    assert parts["c.png"]["Content-ID"] == "<logo>"
    assert await refuse_more(project, "attachments.0.content", attachments=[{"content": "?", "filename": "a"}])
    assert await refuse_more(
        project, "attachments.0.type", attachments=[{"content": content, "filename": "a", "type": "multipart/mixed"}]
    )


async def refuse_more(project: Any, field: str, **changes: Any) -> str:
    ((error_field, message),) = errors_of(await project.client.post(SEND, {**MAIL, **changes}))
    assert error_field == field, message
    return message


async def new_template(project: Any, **fields: Any) -> str:
    created = await project.client.post("/templates", {"name": "Welcome", "html": "<p>Hi {{name}}</p>", **fields})
    assert created.status_code == 201, created.text
    return created.json()["id"]


async def test_a_template_gets_the_dynamic_data_of_each_personalization(project):
    template_id = await new_template(project, subject="Welcome, {{name}}")
    mail = {name: MAIL[name] for name in ("from", "subject")}
    recipients = [{"to": [{"email": f"{name}@example.org"}], "dynamic_template_data": {"name": name}} for name in "ab"]
    response = await project.client.post(SEND, {**mail, "personalizations": recipients, "template_id": template_id})
    assert response.status_code == 202, response.text
    sends = await logged(project)
    assert [send["subject"] for send in sends] == ["Welcome, a", "Welcome, b"]
    assert "Hi b" in (await message_of(project, sends[1]["id"])).get_body(("html",)).get_content()
    sandbox = {"mail_settings": {"sandbox_mode": {"enable": True}}}
    body = {**mail, **sandbox, "personalizations": recipients, "template_id": f"d-{template_id}"}
    assert (await project.client.post(SEND, body)).status_code == 200
    without_subject = await new_template(project, name="Other")
    response = await project.client.post(SEND, {**mail, "personalizations": recipients, "template_id": without_subject})
    assert [send["subject"] for send in await logged(project)][2:] == ["Hello", "Hello"]


async def test_unknown_and_foreign_templates_are_refused(project, new_project):
    foreign = await new_template(await new_project())
    for template_id in (foreign, str(uuid4()), "d-0123456789abcdef0123456789abcdef"):
        message = await refuse(project, "template_id", template_id=template_id)
        assert message.startswith("The template_id must be a valid GUID, you provided")
    own = await new_template(project)
    recipients = [{"to": [ADA], "substitutions": {"-a-": "b"}}]
    await refuse(project, "personalizations.0.substitutions", template_id=own, personalizations=recipients)
    broken = await new_template(project, html="{{ 1 / n }}", subject="x")
    recipients = [{"to": [ADA], "dynamic_template_data": {"n": 0}}]
    await refuse(project, "template_id", template_id=broken, personalizations=recipients)


async def test_sandbox_mode_checks_everything_and_sends_nothing(project):
    sandbox = {"mail_settings": {"sandbox_mode": {"enable": True}}}
    response = await project.client.post(SEND, {**MAIL, **sandbox})
    assert (response.status_code, response.content) == (200, b"")
    assert "x-message-id" not in response.headers
    await refuse(project, "from.email", from_={"email": "nobody"}, **sandbox, **{"from": {"email": "nobody"}})


async def test_tracking_settings_apply_to_the_message(project):
    changed = await project.client.post(
        SEND,
        {
            **MAIL,
            "personalizations": [{"to": [ADA, {"email": "bob@example.org"}]}],
            "content": [{"type": "text/html", "value": '<a href="https://acme.example/">x</a>%open%'}],
            "tracking_settings": {
                "click_tracking": {"enable": True, "enable_text": True},
                "open_tracking": {"enable": False, "substitution_tag": "%open%"},
                "subscription_tracking": {"enable": True, "text": "t", "html": "h"},
                "ganalytics": {"enable": True, "utm_source": "s"},
            },
        },
    )
    assert changed.status_code == 202, changed.text
    sends = await logged(project)
    assert [send["to"] for send in sends] == [["Ada <ada@example.org>"], ["bob@example.org"]]
    message = await message_of(project, sends[0]["id"])
    html = message.get_body(("html",)).get_content()
    assert "https://acme.example/" not in html
    assert "%open%" not in html
    assert "<img" not in html
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


def setting(field: str, value: Any) -> dict[str, Any]:
    for name in reversed(field.split(".")):
        value = {name: value}
    return value


async def test_settings_that_would_change_a_message_are_refused(project):
    sandbox = {"sandbox_mode": {"enable": True}}
    for field, sentence in REFUSED.items():
        enabled: Any = (
            {"group_id": 1} if field == "asm" else "[tag]" if "substitution_tag" in field else {"enable": True}
        )
        assert await refuse(project, field, **setting(field, enabled)) == sentence
        if isinstance(enabled, dict) and field != "asm":
            disabled = setting(field, {"enable": False})
            disabled["mail_settings"] = {**disabled.get("mail_settings", {}), **sandbox}
            assert (await project.client.post(SEND, {**MAIL, **disabled})).status_code == 200


MANY = [{"email": f"a{number}@example.org"} for number in range(51)]
INVALID: dict[str, tuple[str | None, dict[str, Any]]] = {
    "no personalization": ("personalizations", {"personalizations": []}),
    "no to": ("personalizations.0.to", {"personalizations": [{"to": []}]}),
    "to is missing": ("personalizations.0.to", {"personalizations": [{"cc": [ADA]}]}),
    "to is no object": ("personalizations.0.to.0", {"personalizations": [{"to": ["ada@example.org"]}]}),
    "no address": ("personalizations.1.to.0.email", {"personalizations": [{"to": [ADA]}, {"to": [{"email": "ada"}]}]}),
    "name in the address": ("personalizations.0.to.0.email", {"personalizations": [{"to": [{"email": "A <a@b.c>"}]}]}),
    "two addresses": ("personalizations.0.to.0.email", {"personalizations": [{"to": [{"email": "a@b.co,c@d.co"}]}]}),
    "same address twice": (
        "personalizations.0.bcc.0.email",
        {"personalizations": [{"to": [ADA], "bcc": [{"email": "ADA@example.org"}]}]},
    ),
    "51 recipients": ("personalizations.0.to", {"personalizations": [{"to": MANY}]}),
    "1,001 recipients": (
        "personalizations",
        {"personalizations": [{"to": MANY[:50]}] * 20 + [{"to": [ADA]}]},
    ),
    "1,001 personalizations": ("personalizations", {"personalizations": [{"to": [ADA]}] * 1_001}),
    "no subject": ("subject", {"subject": None}),
    "no content": ("content", {"content": []}),
    "empty content": ("content.0.value", {"content": [{"type": "text/html", "value": ""}]}),
    "two texts": ("content.1.type", {"content": [{"type": "text/plain", "value": "a"}] * 2}),
    "AMP": ("content.0.type", {"content": [{"type": "text/x-amp-html", "value": "a"}]}),
    "both reply fields": ("reply_to", {"reply_to": ADA, "reply_to_list": [ADA]}),
    "reserved header": ("headers.DKIM-Signature", {"headers": {"DKIM-Signature": "x"}}),
    "header of a personalization": (
        "personalizations.0.headers.To",
        {"personalizations": [{"to": [ADA], "headers": {"To": "x"}}]},
    ),
    "custom argument is no string": ("custom_args", {"custom_args": {"a": 1}}),
    "long custom argument": ("custom_args", {"custom_args": {"a": "b" * 300}}),
    "large custom arguments": ("custom_args", {"custom_args": {str(n): "b" * 200 for n in range(60)}}),
    "many custom arguments": ("custom_args", {"custom_args": {str(n): "b" for n in range(80)}}),
    "long category": ("categories.0", {"categories": ["a" * 256]}),
    "11 categories": ("categories", {"categories": [str(number) for number in range(11)]}),
    "category with a line break": ("categories", {"categories": ["a\nb"]}),
    "far send_at": ("send_at", {"send_at": 253_402_300_000}),
    "impossible send_at": ("send_at", {"send_at": 10**18}),
    "empty tag": (
        "personalizations.0.substitutions",
        {"personalizations": [{"to": [ADA], "substitutions": {"": "a"}}]},
    ),
    "large substitutions": (
        "personalizations.0.substitutions",
        {"personalizations": [{"to": [ADA], "substitutions": {"a": "b" * 10_001}}]},
    ),
    "large sections": ("sections", {"sections": {"a": "b" * 10_001}}),
    "exploding substitutions": (
        "personalizations.0.substitutions",
        {
            "personalizations": [{"to": [ADA], "substitutions": {"a": "b" * 9_000}}],
            "content": [{"type": "text/plain", "value": "a" * 5_000}],
        },
    ),
}


async def test_invalid_requests_name_the_field_and_send_nothing(project):
    fields = {}
    for case, (_, changes) in INVALID.items():
        ((fields[case], _),) = errors_of(await project.client.post(SEND, {**MAIL, **changes}))
    assert fields == {case: field for case, (field, _) in INVALID.items()}
    assert await logged(project) == []


async def test_errors_have_the_statuses_and_the_body_of_sendgrid(project, stranger, world, new_project):
    ((field, message),) = errors_of(await stranger.post(SEND, MAIL), 401)
    assert field is None
    wrong = await stranger.post(SEND, MAIL, headers={"Authorization": "Bearer SG.abc"})
    ((_, message),) = errors_of(wrong, 401)
    assert message.startswith("The provided authorization grant is invalid, expired, or revoked")
    ((_, message),) = errors_of(await (await project.key("emails:read")).post(SEND, MAIL), 403)
    assert message.startswith("access forbidden")
    publishable = await project.key(type="PUBLISHABLE")
    errors_of(await publishable.post(SEND, MAIL), 403)
    errors_of(await project.developer.post(SEND, MAIL), 403)
    malformed = await project.client.post(SEND, content=b'{"from":', headers={"Content-Type": "application/json"})
    errors_of(malformed, 400)
    errors_of(await project.client.post(SEND, content=b"a=b", headers={"Content-Type": "text/plain"}), 415)
    errors_of(await project.client.post(SEND, content=b"x" * 36_000_001), 413)
    for path in ("/compat/sendgrid/v3/marketing/contacts", "/compat/sendgrid/v3/mail/batch", "/compat/sendgrid/v3"):
        ((_, message),) = errors_of(await project.client.post(path, {}), 501)
        assert "POST /v3/mail/send" in message
    errors_of(await project.client.get(SEND), 501)
    limited = await new_project()
    await limited.developer.patch("", {"settings": {"rateLimit": 1}})
    responses = [await limited.client.post(SEND, MAIL) for _ in range(3)]
    refused = next(response for response in responses if response.status_code == 429)
    errors_of(refused, 429)
    assert (refused.headers["x-ratelimit-remaining"], refused.headers["retry-after"]) == ("0", "1")


async def test_an_unverified_domain_is_403_and_names_the_next_step(sender):
    changes = {"from": {"email": "hello@other.example"}}
    message = await refuse(sender, "from.email", 403, **changes)
    assert message.startswith("The from address does not match a verified Sender Identity. other.example is not")
    assert "/domains" in message


async def test_a_suppressed_recipient_gets_nothing(sender, sink, run_due_work):
    await sender.client.post("/suppressions", {"address": "ada@example.org", "reason": "MANUAL"})
    recipients = [{"to": [ADA]}, {"to": [{"email": "bob@example.org"}]}]
    response = await sender.client.post(SEND, {**MAIL, "personalizations": recipients})
    assert response.status_code == 202
    await run_due_work()
    assert [send["status"] for send in await logged(sender)] == ["SUPPRESSED", "SENT"]
    assert [message.recipients for message in sink.messages] == [("bob@example.org",)]


async def test_one_invalid_personalization_sends_none_of_the_others(project):
    recipients = [{"to": [{"email": f"a{number}@example.org"}]} for number in range(20)]
    recipients[13]["headers"] = {"From": "x"}  # pyright: ignore[reportArgumentType]
    await refuse(project, "personalizations.13.headers.From", personalizations=recipients)


async def test_an_idempotency_key_gives_the_first_response_again(project):
    headers = {"Idempotency-Key": "one"}
    mail = {**MAIL, "template_id": await new_template(project, subject="x")}
    first = await project.client.post(SEND, mail, headers=headers)
    await project.client.delete(f"/templates/{mail['template_id']}")
    again = await project.client.post(SEND, mail, headers=headers)
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.headers["x-message-id"] == again.headers["x-message-id"]
    assert len(await logged(project)) == 1
    errors_of(await project.client.post(SEND, MAIL, headers=headers), 422)


async def test_messages_that_are_too_large_together_are_refused(project):
    recipients = [{"to": [{"email": f"a{number}@example.org"}]} for number in range(60)]
    content = [{"type": "text/plain", "value": "x" * 1_000_000}]
    await refuse(project, None, 413, personalizations=recipients, content=content)
    many_tags = [{**person, "substitutions": {f"-{n}-": "" for n in range(900)}} for person in recipients]
    content = [{"type": "text/plain", "value": "x" * 20_000}]
    await refuse(project, None, 413, personalizations=many_tags, content=content)


async def test_a_thousand_personalizations_are_accepted(project):
    recipients = [
        {"to": [{"email": f"a{number}@example.org"}], "substitutions": {"%n%": str(number)}} for number in range(1_000)
    ]
    mail = {**MAIL, "subject": "Hello %n%", "personalizations": recipients}
    sandbox = {"mail_settings": {"sandbox_mode": {"enable": True}}}
    assert (await project.client.post(SEND, {**mail, **sandbox})).status_code == 200
    assert (await project.client.post(SEND, {**mail, "personalizations": recipients[-20:]})).status_code == 202
    assert [send["subject"] for send in await logged(project)] == [f"Hello {number}" for number in range(980, 1_000)]


def fields_of(kind: Any, prefix: str = "") -> set[str]:
    """The fields of a request; those of a setting are not listed separately."""
    names = set()
    for field in msgspec.structs.fields(kind):
        name = f"{prefix}{field.encode_name}"
        structs = [part for part in re.findall(r"SendGrid\w+", str(field.type)) if hasattr(model, part)]
        nested = getattr(model, structs[0]) if structs else None
        has_fields = name in ("personalizations", "attachments", "mail_settings", "tracking_settings")
        names |= fields_of(nested, f"{name}.") if has_fields else set()
        names |= {name} if name not in ("mail_settings", "tracking_settings") else set()
    return names


def test_the_guide_says_what_happens_with_each_field():
    assert set(FIELDS) == fields_of(SendGridMail)
    assert set(REFUSED) <= {*FIELDS, "tracking_settings.subscription_tracking.substitution_tag"}
    guide = (Path(__file__).parents[2] / "docs/guide/sendgrid.md").read_text()
    rows = re.findall(r"^\| `([\w.]+)` \| (.+) \|$", guide, re.MULTILINE)
    assert dict(rows) == FIELDS


async def test_the_python_client_sends_a_mail_that_arrives(sender, sink, url, run_due_work):
    client = SendGridAPIClient(sender.secret_key, host=f"{url}/compat/sendgrid")
    simple = Mail(
        from_email=("hello@example.com", "Acme"),
        to_emails=[To("ada@example.org", "Ada", substitutions={"-name-": "Ada"}), To("bob@example.org")],
        subject="Hello -name-",
        plain_text_content="and easy to do anywhere, -name-",
        html_content="<strong>and easy to do anywhere</strong>",
        is_multiple=True,
    )
    response = await asyncio.to_thread(client.send, simple)
    assert (response.status_code, response.body) == (202, b"")
    assert UUID(response.headers["X-Message-Id"])
    sent = await asyncio.to_thread(client.send, everything())
    assert sent.status_code == 202
    await run_due_work()
    by_recipient = {
        message.recipients: email.message_from_bytes(message.raw, policy=email.policy.default)
        for message in sink.messages
    }
    assert {len(recipients) for recipients in by_recipient} == {1, 3}
    hello = by_recipient[("ada@example.org",)]
    assert (hello["Subject"], hello["To"], hello["From"]) == (
        "Hello Ada",
        "Ada <ada@example.org>",
        "Acme <hello@example.com>",
    )
    full = next(message for recipients, message in by_recipient.items() if len(recipients) == 3)
    assert (full["X-Own"], full["Reply-To"], full["Cc"]) == ("1", "R <r@example.com>", "carol@example.org")
    with pytest.raises(BadRequestsError) as refused:
        asm = everything()
        asm.asm = Asm(GroupId(7))
        await asyncio.to_thread(client.send, asm)
    assert json.loads(refused.value.body)["errors"][0]["field"] == "asm"
    with pytest.raises(UnauthorizedError):
        await asyncio.to_thread(SendGridAPIClient("SG.x", host=f"{url}/compat/sendgrid").send, simple)
    settings = everything()
    settings.mail_settings = MailSettings(sandbox_mode=SandBoxMode(True))
    assert (await asyncio.to_thread(client.send, settings)).status_code == 200


def everything() -> Mail:
    """A mail made with the helpers of the Python client for every field that it can have."""
    mail = Mail()
    mail.from_email = From("hello@example.com", "Acme")
    mail.reply_to = ReplyTo("r@example.com", "R")
    mail.subject = "Everything"
    mail.content = [Content("text/plain", "plain"), Content("text/html", "<p>html</p>")]
    person = Personalization()
    person.add_to(To("ada@example.org", "Ada"))
    person.add_cc(Cc("carol@example.org"))
    person.add_bcc(Bcc("dan@example.org"))
    person.add_header(Header("X-Own", "1"))
    person.add_custom_arg(CustomArg("user", "42"))
    person.send_at = 1
    mail.add_personalization(person)
    mail.header = Header("X-All", "1")
    mail.category = Category("all")
    mail.custom_arg = CustomArg("plan", "free")
    mail.send_at = SendAt(1)
    mail.batch_id = BatchId("b1")
    mail.attachment = Attachment(
        FileContent(base64.b64encode(b"x").decode()),
        FileName("x.png"),
        FileType("image/png"),
        Disposition("inline"),
        SendGridContentId("x"),
    )
    mail.tracking_settings = TrackingSettings(
        click_tracking=ClickTracking(True, False),
        open_tracking=OpenTracking(True),
        subscription_tracking=SubscriptionTracking(False),
    )
    return mail
