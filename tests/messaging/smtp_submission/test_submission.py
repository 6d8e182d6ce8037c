"""Messages submitted by SMTP are accepted, refused and delivered by the rules of `POST /emails`."""

import asyncio
import email
import email.policy
import json
from datetime import timedelta
from email.message import EmailMessage
from smtplib import SMTPAuthenticationError, SMTPNotSupportedError, SMTPServerDisconnected

import msgspec
import pytest
from psycopg import OperationalError

from postern.kernel.limits import RateLimiter
from postern.messaging.emails.model import RECIPIENTS_LIMIT
from postern.messaging.smtp_submission.handler import FAILURES
from tests.messaging.smtp_submission.conftest import Submission, message, sent_id
from tests.tokens import with_another_end


async def entry(project, send_id: str) -> dict:
    response = await project.client.get(f"/emails/logs/{send_id}")
    assert response.status_code == 200, response.text
    return response.json()


async def content(project, send_id: str) -> EmailMessage:
    raw = (await project.client.get(f"/emails/logs/{send_id}/message")).content
    return email.message_from_bytes(raw, policy=email.policy.default)  # pyright: ignore[reportReturnType]


def text_of(captured: EmailMessage) -> str:
    return captured.get_body(("plain",)).get_content().replace("\r\n", "\n")


@pytest.mark.parametrize("secured", ["starttls", "tls", "none"])
async def test_a_message_is_accepted_and_delivered(project, submission: Submission, run_due_work, secured):
    composed = message(Cc="Bob <bob@example.org>", Reply_To="help@example.com", X_Campaign="spring")
    composed.add_alternative('<p>Hello <a href="https://acme.example">Ada</a> {{ not_a_tag }}</p>', subtype="html")
    to = ["ada@example.org", "bob@example.org", "carol@example.org"]
    send_id = sent_id(await submission.send(project.secret_key, composed, to, secured=secured))
    log = await entry(project, send_id)
    assert (log["status"], log["subject"], log["test"]) == ("QUEUED", "Hello", False)
    assert (log["from"], log["to"]) == ("Acme <hello@example.com>", ["Ada <ada@example.org>"])
    assert (log["cc"], log["bcc"]) == (["Bob <bob@example.org>"], ["carol@example.org"])
    await run_due_work()
    assert (await entry(project, send_id))["status"] == "DELIVERED"
    captured = await content(project, send_id)
    assert captured["Message-ID"] == log["messageId"]
    assert captured["X-Campaign"] == "spring"
    assert captured["Reply-To"] == "help@example.com"
    assert "carol" not in captured.as_string()
    assert text_of(captured) == "Hello Ada.\n"
    assert "{{ not_a_tag }}" in captured.get_body(("html",)).get_content()
    keys = (await project.developer.get("/api-keys")).json()
    assert keys[0]["lastUsedAt"] is not None


async def test_a_live_key_sends_through_the_relay_what_the_log_shows(sender, submission, sink, run_due_work):
    composed = message("Grüße ✉\n..\n.\nend\n", To="Zoë <ada@example.org>", Subject="Schöne Grüße")
    composed.add_attachment(b"\x00\x01\xff" * 1_000, maintype="application", subtype="pdf", filename="Räume.pdf")
    send_id = sent_id(await submission.send(sender.secret_key, composed, ["ada@example.org"]))
    await run_due_work()
    (received,) = sink.messages
    stored = (await sender.client.get(f"/emails/logs/{send_id}/message")).content
    assert received.raw == stored
    assert received.recipients == ("ada@example.org",)
    assert "anything.example" not in received.sender
    parsed = email.message_from_bytes(received.raw, policy=email.policy.default)
    assert (parsed["Subject"], parsed["To"]) == ("Schöne Grüße", "Zoë <ada@example.org>")
    assert text_of(parsed) == "Grüße ✉\n..\n.\nend\n"
    (attachment,) = parsed.iter_attachments()
    assert (attachment.get_filename(), attachment.get_content()) == ("Räume.pdf", b"\x00\x01\xff" * 1_000)
    assert (await entry(sender, send_id))["status"] == "SENT"


async def test_a_test_key_is_captured(sender, submission, sink, run_due_work):
    key = (await sender.key(environment="TEST")).token
    send_id = sent_id(await submission.send(key, message(From="x@unverified.example"), ["ada@example.org"]))
    await run_due_work()
    log = await entry(sender, send_id)
    assert (log["status"], log["test"]) == ("DELIVERED", True)
    assert sink.messages == []


async def test_inline_images_and_attachments(project, submission, run_due_work):
    composed = message()
    composed.add_alternative('<img src="cid:logo">', subtype="html")
    composed.get_body(("html",)).add_related(b"PNG", "image", "png", cid="<logo>")
    composed.add_attachment(b"BEGIN:VCALENDAR", maintype="text", subtype="calendar", params={"method": "REQUEST"})
    composed.add_attachment(message("inner"))
    send_id = sent_id(await submission.send(project.secret_key, composed, ["ada@example.org"]))
    await run_due_work()
    parts = {part.get_filename(): part for part in (await content(project, send_id)).walk() if part.get_filename()}
    assert sorted(parts) == ["attachment-1.png", "attachment-3.eml", "invite.ics"]
    assert parts["attachment-1.png"]["Content-ID"] == "<logo>"
    assert parts["invite.ics"]["Content-Type"].params["method"] == "REQUEST"


async def test_options_in_header_fields(project, submission, run_due_work, clock):
    composed = message(X_Postern_Tag="welcome, first-mail", X_Postern_Track="clicks")
    composed["X-Postern-Metadata-User"] = "42"
    composed["X-Postern-Scheduled-At"] = (clock() + timedelta(days=1)).isoformat()
    composed["X-Postern-Expires-At"] = (clock() + timedelta(days=2)).isoformat()
    composed["X-Postern-Unsubscribable"] = "true"
    send_id = sent_id(await submission.send(project.secret_key, composed, ["ada@example.org"]))
    log = await entry(project, send_id)
    assert (log["status"], log["tags"]) == ("SCHEDULED", ["welcome", "first-mail", "user--42"])
    assert log["expiresAt"] is not None
    clock.move(timedelta(days=1, minutes=1))
    await run_due_work()
    captured = await content(project, send_id)
    assert captured["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert not any(name.lower().startswith("x-postern-") for name in captured)


async def test_a_template_with_variables(project, submission, run_due_work):
    template = {"name": "Welcome", "subject": "Welcome {{name}}", "html": "<p>Dear {{name}}</p>"}
    template_id = (await project.client.post("/templates", template)).json()["id"]
    composed = message("ignored", Subject="", X_Postern_Template=template_id)
    composed["X-Postern-Variables"] = json.dumps({"name": "Zoë"})
    send_id = sent_id(await submission.send(project.secret_key, composed, ["ada@example.org"]))
    await run_due_work()
    captured = await content(project, send_id)
    assert captured["Subject"] == "Welcome Zoë"
    assert "Dear Zoë" in captured.get_body(("html",)).get_content()
    with_subject = message("ignored", Subject="Hi {{name}}", X_Postern_Template=template_id)
    with_subject["X-Postern-Variables"] = '{"name": "Bob"}'
    send_id = sent_id(await submission.send(project.secret_key, with_subject, ["ada@example.org"]))
    assert (await entry(project, send_id))["subject"] == "Hi Bob"
    rendered = message("Hello {{name}}", X_Postern_Variables='{"name": "Bob"}')
    send_id = sent_id(await submission.send(project.secret_key, rendered, ["ada@example.org"]))
    assert (await content(project, send_id)).get_body(("plain",)).get_content().strip() == "Hello Bob"


async def test_recipients_of_whom_none_is_named_get_separate_messages(project, submission):
    to = ["ada@example.org", "BOB@example.org", "bob@example.org"]
    composed = message(To="undisclosed-recipients:;", Idempotency_Key="k")
    first = sent_id(await submission.send(project.secret_key, composed, to))
    log = (await project.client.get("/emails/logs")).json()["data"]
    assert sorted(item["to"] for item in log) == [["BOB@example.org"], ["ada@example.org"]]
    assert first in {item["id"] for item in log}
    assert sent_id(await submission.send(project.secret_key, composed, to)) == first
    assert (await project.client.get("/emails/logs")).json()["total"] == 2


async def test_an_idempotency_key_sends_once(project, submission):
    composed = message(Idempotency_Key="order-1")
    replies = await asyncio.gather(
        *(submission.send(project.secret_key, composed, ["ada@example.org"]) for _ in range(5))
    )
    accepted = {sent_id(reply) for reply in replies if reply.startswith("250")}
    assert len(accepted) == 1
    assert all(reply.startswith(("250 ", "451 4.3.0")) for reply in replies)
    assert {sent_id(await submission.send(project.secret_key, composed, ["ada@example.org"]))} == accepted
    other = message("Another text", Idempotency_Key="order-1")
    reply = await submission.send(project.secret_key, other, ["ada@example.org"])
    assert reply.startswith("554 5.6.0 This idempotency key was used with a different body")
    assert (await project.client.get("/emails/logs")).json()["total"] == 1


async def test_a_suppressed_recipient_gets_nothing(sender, submission, sink, run_due_work):
    await sender.client.post("/suppressions", {"address": "ada@example.org"})
    send_id = sent_id(await submission.send(sender.secret_key, message(), ["ada@example.org"]))
    await run_due_work()
    assert (await entry(sender, send_id))["status"] == "SUPPRESSED"
    assert sink.messages == []


RAW = message().as_bytes(policy=email.policy.SMTP)

REFUSED = [
    ({"From": "a@unverified.example"}, "550 5.7.1 From: unverified.example is not a verified sending domain"),
    ({"From": ""}, "554 5.6.0 From: A message must have exactly one sender address."),
    ({"From": "a@example.com, b@example.com"}, "554 5.6.0 From: A message must have exactly one sender address."),
    ({"From": "nobody"}, "550 5.1.7 From: “nobody” is not an address"),
    ({"Sender": "boss@example.com"}, "554 5.6.0 Sender: The field must have the same address as `From`"),
    ({"To": "Ada <ada@example.org>, eve@example.org"}, "554 5.6.0 To: eve@example.org is not a recipient"),
    ({"To": "ada@example.org, " * 51}, "554 5.6.0 To: A message can have at most 50 recipients."),
    ({"X_Postern_Variables": "[" * 100 + "]" * 100}, "554 5.6.0 X-Postern-Variables: Use a JSON object"),
    ({"To": "", "Cc": "ada@example.org"}, "554 5.6.0 To: Name at least one recipient"),
    ({"Reply_To": "a b"}, "550 5.1.3 Reply-To: "),
    ({"Return_Receipt_To": "hello@example.com"}, "554 5.6.0 Return-Receipt-To: this field is written by the service"),
    ({"Resent_To": "x@example.com"}, "554 5.6.0 Resent-To: this field is written by the service"),
    ({"List_Unsubscribe": "https://x.example"}, "554 5.6.0 List-Unsubscribe: Use URLs in angle brackets"),
    ({"X_Postern_Tags": "a"}, "554 5.6.0 X-Postern-Tags: There is no such option. The options are X-Postern-"),
    ({"X_Postern_Track": "all"}, "554 5.6.0 X-Postern-Track: Use `opens`"),
    ({"X_Postern_Variables": "[1]"}, "554 5.6.0 X-Postern-Variables: Expected an object; found a list."),
    ({"X_Postern_Variables": "{"}, "554 5.6.0 X-Postern-Variables: Use a JSON object"),
    ({"X_Postern_Template": "welcome"}, "554 5.6.0 X-Postern-Template: There is no such template"),
    ({"X_Postern_Scheduled_At": "tomorrow"}, "554 5.6.0 X-Postern-Scheduled-At: Expected a time in ISO 8601"),
    ({"X_Postern_Scheduled_At": "2099-01-01T00:00:00Z"}, "554 5.6.0 X-Postern-Scheduled-At: The time can be at most"),
    ({"X_Postern_Expires_At": "2001-01-01T00:00:00Z"}, "554 5.6.0 X-Postern-Expires-At: The e-mail would expire"),
    ({"X_Postern_Unsubscribable": "maybe"}, "554 5.6.0 X-Postern-Unsubscribable: Use `true` or `false`."),
    ({"Idempotency_Key": "x" * 256}, "554 5.6.0 Idempotency-Key: A key must have 1 to 255"),
    ({"Subject": "x" * 2_001}, "554 5.6.0 Subject: Expected at most 2000 characters."),
]


@pytest.mark.parametrize(("fields", "reply"), REFUSED, ids=lambda value: str(value)[:40])
async def test_what_is_refused(sender, submission, fields, reply):
    """The reply names the header field, and nothing is stored."""
    text = await submission.send(sender.secret_key, message(**fields), ["ada@example.org"])
    assert text.replace("\n", " ").startswith(reply.encode("ascii", "backslashreplace").decode())
    assert (await sender.client.get("/emails/logs")).json()["data"] == []


RAW_REFUSED = [
    (b"no header\r\n\r\n", "554 5.6.0 This line is not a header field: no header"),
    (b"Subject: a\r\nSubject: b\r\n\r\nx", "554 5.6.0 Subject: The field may occur only once."),
    (b"Content-Type: multipart/signed; boundary=b\r\n\r\n", "554 5.6.0 Content-Type: A multipart/signed message"),
    (b"Content-Type: multipart/mixed\r\n\r\n", "554 5.6.0 Content-Type: a multipart needs a boundary."),
    (b"Content-Transfer-Encoding: x-uuencode\r\n\r\nx", "554 5.6.0 Content-Transfer-Encoding: x-uuencode is not"),
    (b"Subject: x\r\n\r\n\r\n", "554 5.6.0 Content: The message would be blank"),
    (b"Subject: x\r\n\r\na\0b\r\n", "554 5.6.0 Content: This text contains a NUL"),
]


@pytest.mark.parametrize(("head", "reply"), RAW_REFUSED)
async def test_messages_that_cannot_be_parsed(sender, submission, head, reply):
    content = b"From: hello@example.com\r\nTo: ada@example.org\r\n" + head
    assert (await submission.send(sender.secret_key, content, ["ada@example.org"])).startswith(reply)


async def test_too_many_attachments(project, submission):
    composed = message()
    for _ in range(21):
        composed.add_attachment(b"x", maintype="application", subtype="pdf", filename="x.pdf")
    reply = await submission.send(project.secret_key, composed, ["ada@example.org"])
    assert reply == "554 5.6.0 Attachment: Expected at most 20 items."


async def test_a_large_message(project, submission, run_due_work):
    composed = message()
    composed.add_attachment(b"x" * 5_000_000, maintype="application", subtype="pdf", filename="x.pdf")
    send_id = sent_id(await submission.send(project.secret_key, composed, ["ada@example.org"]))
    await run_due_work()
    (attachment,) = (await content(project, send_id)).iter_attachments()
    assert attachment.get_content() == b"x" * 5_000_000


async def test_credentials(project, new_project, submission, world):
    """Wrong, publishable, deleted and foreign keys, keys without the permission, and keys for other addresses."""
    publishable = (await project.key(type="PUBLISHABLE")).token
    weak = (await project.key("emails:read")).token
    key_of_other_network = (await project.key(ipAllowList=["192.0.2.0/24"])).token
    narrow = await project.key("emails:send")
    refused = [
        ("apikey", "sk_live_wrong", "Wrong user or password."),
        ("apikey", with_another_end(project.secret_key), "Wrong user or password."),
        ("ada", project.secret_key, "Wrong user or password."),
        ("apikey", publishable, "A publishable key cannot send mail."),
        ("apikey", weak, "This credential lacks the permission `emails:send`."),
        ("apikey", key_of_other_network, "This API key is not allowed from your IP address"),
    ]
    for user, key, text in refused:
        with pytest.raises(SMTPAuthenticationError) as error:
            await submission.send(key, message(), ["ada@example.org"], user=user)
        assert error.value.smtp_code == 535
        assert text in error.value.smtp_error.decode()
    world.limiter = RateLimiter()
    assert sent_id(await submission.send(narrow.token, message(), ["ada@example.org"], user="ApiKey"))
    # A key that is deleted during the session cannot send any more.
    client = await asyncio.to_thread(submission.client)
    await asyncio.to_thread(client.login, "apikey", narrow.token)
    keys = (await project.developer.get("/api-keys")).json()
    for key in keys:
        await project.developer.delete(f"/api-keys/{key['id']}")
    await asyncio.to_thread(client.mail, "a@example.com")
    await asyncio.to_thread(client.rcpt, "ada@example.org")
    code, text = await asyncio.to_thread(client.data, RAW)
    assert (code, text[:5]) == (535, b"5.7.8")
    client.close()


async def test_a_key_that_expires_during_the_session(project, submission, clock):
    key = (await project.key("emails:send", expiresAt=(clock() + timedelta(hours=1)).isoformat())).token
    client = await asyncio.to_thread(submission.client)
    await asyncio.to_thread(client.login, "apikey", key)
    clock.move(timedelta(hours=2))
    await asyncio.to_thread(client.mail, "a@example.com")
    await asyncio.to_thread(client.rcpt, "ada@example.org")
    code, text = await asyncio.to_thread(client.data, RAW)
    assert (code, text[:5]) == (535, b"5.7.8")
    client.close()
    with pytest.raises(SMTPAuthenticationError) as error:
        await submission.send(key, message(), ["ada@example.org"])
    assert error.value.smtp_code == 535


async def test_a_key_of_a_deleted_project(project, submission):
    assert (await project.developer.delete("")).status_code == 200
    with pytest.raises(SMTPAuthenticationError) as error:
        await submission.send(project.secret_key, message(), ["ada@example.org"])
    assert error.value.smtp_code == 535


async def test_a_message_has_at_most_as_many_recipients_as_by_the_api(project, submission):
    """Further ones get 452, so that a client sends them the message in another transaction (RFC 5321 §4.5.3.1.10)."""
    client = await asyncio.to_thread(submission.client)
    await asyncio.to_thread(client.login, "apikey", project.secret_key)
    await asyncio.to_thread(client.mail, "a@example.com")
    codes = [(await asyncio.to_thread(client.rcpt, f"ada{number}@example.org"))[0] for number in range(52)]
    assert codes == [250] * RECIPIENTS_LIMIT + [452] * 2
    content = message(To="ada0@example.org").as_bytes(policy=email.policy.SMTP)
    code, text = await asyncio.to_thread(client.data, content)
    client.close()
    log = await entry(project, sent_id(f"{code} {text.decode()}"))
    assert (len(log["to"]), len(log["bcc"])) == (1, RECIPIENTS_LIMIT - 1)


async def test_wrong_passwords_are_limited(project, submission):
    """After too many failures from an address, the next one closes the connection. Right passwords are accepted."""
    for _ in range(FAILURES.quota // 2):  # The client tries both PLAIN and LOGIN.
        with pytest.raises(SMTPAuthenticationError) as error:
            await submission.send("sk_live_wrong", message(), ["ada@example.org"])
        assert error.value.smtp_code == 535
    with pytest.raises(SMTPServerDisconnected):
        await submission.send("sk_live_wrong", message(), ["ada@example.org"])
    sent_id(await submission.send(project.secret_key, message(), ["ada@example.org"]))


async def test_a_large_message_to_hidden_recipients(project, submission):
    composed = message(To="")
    composed.add_attachment(b"x" * 10_000_000, maintype="application", subtype="pdf", filename="x.pdf")
    to = [f"ada{n}@example.org" for n in range(5)]
    reply = await submission.send(project.secret_key, composed, to)
    assert reply.startswith("554 5.6.0 To: A message without recipients in `To` and `Cc` is stored once")


async def test_without_a_login_nothing_is_accepted(submission):
    client = await asyncio.to_thread(submission.client)
    assert (await asyncio.to_thread(client.mail, "a@example.com"))[0] == 530
    client.close()


async def test_a_password_is_not_accepted_without_tls_from_other_networks(project, world, submission, settings):
    world.settings = msgspec.structs.replace(settings, smtp_plain_auth=())
    with pytest.raises(SMTPNotSupportedError):
        await submission.send(project.secret_key, message(), ["ada@example.org"], secured="none")
    sent_id(await submission.send(project.secret_key, message(), ["ada@example.org"]))


async def test_the_rate_limit_of_the_project(project, submission):
    assert (await project.developer.patch("", {"settings": {"rateLimit": 1}})).status_code == 200
    replies = [await submission.send(project.secret_key, message(), ["ada@example.org"]) for _ in range(4)]
    assert any(reply.startswith("450 4.7.1 Too many requests") for reply in replies)


async def test_a_database_that_is_away(project, submission, world, monkeypatch):
    async def away(*_: object, **__: object):
        raise OperationalError("the connection is lost")

    client = await asyncio.to_thread(submission.client)
    await asyncio.to_thread(client.login, "apikey", project.secret_key)
    await asyncio.to_thread(client.mail, "a@example.com")
    await asyncio.to_thread(client.rcpt, "ada@example.org")
    with monkeypatch.context() as patch:
        patch.setattr(world.db._pool, "getconn", away)
        code, text = await asyncio.to_thread(client.data, RAW)
        assert (code, text[:5]) == (451, b"4.3.0")
        with pytest.raises((SMTPAuthenticationError, SMTPServerDisconnected)) as error:
            await submission.send(project.secret_key, message(), ["ada@example.org"])
        assert error.value.smtp_code == 454
    client.close()
    sent_id(await submission.send(project.secret_key, message(), ["ada@example.org"]))


# REQUIRETLS ---------------------------------------------------


@pytest.mark.parametrize("secured", ["starttls", "tls"])
async def test_a_client_can_require_tls(sender, submission, world, run_due_work, secured):
    def submit():
        with submission.client(secured) as client:
            client.ehlo()
            assert client.has_extn("REQUIRETLS")
            client.login("apikey", sender.secret_key)
            content = message().as_bytes(policy=email.policy.SMTP)
            client.sendmail("a@b.test", ["ada@example.org"], content, mail_options=["REQUIRETLS"])

    await asyncio.to_thread(submit)
    await run_due_work()
    (log,) = (await sender.client.get("/emails/logs")).json()["data"]
    assert (log["status"], "5.7.10" in log["reason"]) == ("BOUNCED", True), "The relay of the test has no TLS."


async def test_without_tls_the_parameter_is_not_offered(sender, submission):
    def submit():
        with submission.client("none") as client:
            assert not client.has_extn("REQUIRETLS")
            client.login("apikey", sender.secret_key)
            return client.mail("a@b.test", ["REQUIRETLS"])

    assert (await asyncio.to_thread(submit))[0] == 555


async def test_the_parameter_has_no_value(sender, submission):
    def submit():
        with submission.client("tls") as client:
            client.login("apikey", sender.secret_key)
            return client.mail("a@b.test", ["REQUIRETLS=yes"])

    assert (await asyncio.to_thread(submit))[0] == 555


async def test_a_header_field_can_require_tls(sender, submission, run_due_work):
    await submission.send(sender.secret_key, message(X_Postern_Require_Tls="true"), ["ada@example.org"])
    await run_due_work()
    (log,) = (await sender.client.get("/emails/logs")).json()["data"]
    assert (log["status"], "5.7.10" in log["reason"]) == ("BOUNCED", True)
