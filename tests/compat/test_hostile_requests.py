"""Hostile requests to the APIs of SendGrid and Postmark: injected headers, odd values in every place, and sizes."""

import base64
import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.messaging.emails.test_injection import INJECTIONS, NAMES_AND_ADDRESSES, assert_no_header_injected

SENDGRID, POSTMARK = "/compat/sendgrid/v3/mail/send", "/compat/postmark/email"
JSON = {"Content-Type": "application/json"}
CONTENT = base64.b64encode(b"hi").decode()
SENDGRID_MAIL: dict[str, Any] = {
    "personalizations": [{"to": [{"email": "ada@example.com", "name": "Ada"}]}],
    "from": {"email": "hello@acme.example", "name": "Acme"},
    "subject": "Hello",
    "content": [{"type": "text/plain", "value": "Hi"}, {"type": "text/html", "value": "<p>Hi</p>"}],
}
POSTMARK_MAIL: dict[str, Any] = {
    "From": "Acme <hello@acme.example>",
    "To": "Ada <ada@example.com>",
    "Subject": "Hello",
    "HtmlBody": "<p>Hi</p>",
    "TextBody": "Hi",
}


def person(**fields: Any) -> dict[str, Any]:
    return {"personalizations": [{**SENDGRID_MAIL["personalizations"][0], **fields}]}


def file(**fields: Any) -> dict[str, Any]:
    return {"attachments": [{"content": CONTENT, "filename": "a.txt", **fields}]}


def postmark_file(**fields: Any) -> dict[str, Any]:
    return {"Attachments": [{"Content": CONTENT, "Name": "a.txt", "ContentType": "text/plain", **fields}]}


SENDGRID_FIELDS: dict[str, Callable[[str], dict[str, Any]]] = {
    "from name": lambda injection: {"from": {"email": "hello@acme.example", "name": f"A{injection}"}},
    "from email": lambda injection: {"from": {"email": f"hello{injection}@acme.example"}},
    "own from": lambda injection: person(from_=1, **{"from": {"email": "hello@acme.example", "name": f"A{injection}"}}),
    "to name": lambda injection: person(to=[{"email": "ada@example.com", "name": f"Ada{injection}"}]),
    "to email": lambda injection: person(to=[{"email": f"ada@example.com{injection}"}]),
    "cc": lambda injection: person(cc=[{"email": "cc@example.com", "name": f"Ada{injection}"}]),
    "bcc": lambda injection: person(bcc=[{"email": "bcc@example.com", "name": f"Ada{injection}"}]),
    "reply_to": lambda injection: {"reply_to": {"email": "r@example.com", "name": f"Ada{injection}"}},
    "reply_to_list": lambda injection: {"reply_to_list": [{"email": "r@example.com", "name": f"Ada{injection}"}]},
    "reply_to by a substitution": lambda injection: {
        "reply_to": {"email": "r@example.com", "name": "-name-"},
        **person(substitutions={"-name-": f"Ada{injection}"}),
    },
    "subject": lambda injection: {"subject": f"Hello{injection}"},
    "own subject": lambda injection: person(subject=f"Hello{injection}"),
    "subject by a substitution": lambda injection: {
        "subject": "Hello -name-",
        **person(substitutions={"-name-": f"Ada{injection}"}),
    },
    "subject by a section": lambda injection: {
        "subject": "Hello -name-",
        "sections": {":section:": f"Ada{injection}"},
        **person(substitutions={"-name-": ":section:"}),
    },
    "header name": lambda injection: {"headers": {f"X-Own{injection}": "1"}},
    "header value": lambda injection: {"headers": {"X-Own": f"1{injection}"}},
    "own header value": lambda injection: person(headers={"X-Own": f"1{injection}"}),
    "filename": lambda injection: file(filename=f"a{injection}.txt"),
    "content type": lambda injection: file(type=f"text/plain{injection}"),
    "content id": lambda injection: file(disposition="inline", content_id=f"one{injection}"),
    "disposition": lambda injection: file(disposition=f"attachment{injection}"),
    "category": lambda injection: {"categories": [f"a{injection}"]},
    "custom argument": lambda injection: {"custom_args": {f"a{injection}": f"b{injection}"}},
    "batch": lambda injection: {"batch_id": f"a{injection}"},
    "type of content": lambda injection: {"content": [{"type": f"text/plain{injection}", "value": "Hi"}]},
}
POSTMARK_FIELDS: dict[str, Callable[[str], dict[str, Any]]] = {
    "From": lambda injection: {"From": f"A{injection} <hello@acme.example>"},
    "address of From": lambda injection: {"From": f"hello{injection}@acme.example"},
    "To": lambda injection: {"To": f"Ada{injection} <ada@example.com>"},
    "quoted To": lambda injection: {"To": f'"Ada{injection}, x" <ada@example.com>, b@example.com'},
    "Cc": lambda injection: {"Cc": f"Ada{injection} <cc@example.com>"},
    "Bcc": lambda injection: {"Bcc": f"Ada{injection} <bcc@example.com>"},
    "ReplyTo": lambda injection: {"ReplyTo": f"Ada{injection} <r@example.com>"},
    "Subject": lambda injection: {"Subject": f"Hello{injection}"},
    "header name": lambda injection: {"Headers": [{"Name": f"X-Own{injection}", "Value": "1"}]},
    "header value": lambda injection: {"Headers": [{"Name": "X-Own", "Value": f"1{injection}"}]},
    "Name": lambda injection: postmark_file(Name=f"a{injection}.txt"),
    "ContentType": lambda injection: postmark_file(ContentType=f"text/plain{injection}"),
    "ContentID": lambda injection: postmark_file(ContentID=f"cid:one{injection}"),
    "Tag": lambda injection: {"Tag": f"a{injection}"},
    "Metadata": lambda injection: {"Metadata": {f"a{injection}": f"b{injection}"}},
}
"""Functions that return the changes of a mail with an injection in one of its fields."""


async def send_sendgrid(project: Any, **changes: Any) -> tuple[int, str | None]:
    """The status, and the id of the send if the mail is accepted."""
    response = await project.client.post(SENDGRID, {**SENDGRID_MAIL, **changes})
    assert response.status_code in (202, 400), response.text
    return response.status_code, response.headers.get("x-message-id")


async def send_postmark(project: Any, **changes: Any) -> tuple[int, str | None]:
    """The status, and the id of the send if the mail is accepted."""
    headers = {"X-Postmark-Server-Token": project.secret_key}
    response = await project.client.post(POSTMARK, {**POSTMARK_MAIL, **changes}, headers=headers)
    assert response.status_code in (200, 422), response.text
    return response.status_code, response.json().get("MessageID")


async def message_of(project: Any, send_id: str) -> bytes:
    downloaded = await project.client.get(f"/emails/logs/{send_id}/message")
    assert downloaded.status_code == 200, downloaded.text
    return downloaded.content


@pytest.mark.parametrize(
    ("send", "fields"),
    [(send_sendgrid, SENDGRID_FIELDS), (send_postmark, POSTMARK_FIELDS)],
    ids=["SendGrid", "Postmark"],
)
async def test_no_field_can_inject_a_header(project, send, fields, run_due_work):
    for name, changes in fields.items():
        _, send_id = await send(project, **changes(""))
        assert send_id is not None, f"Without an injection into {name} the mail is accepted."
        for injection in INJECTIONS.values():
            _, send_id = await send(project, **changes(injection))
            if send_id is not None:
                assert_no_header_injected(await message_of(project, send_id))
    await run_due_work()  # Other tests count the mail that is due in this database.


async def test_names_in_every_script_arrive_unchanged(project):
    for name, address in NAMES_AND_ADDRESSES:
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        for send, changes in (
            (send_sendgrid, person(to=[{"email": address, "name": name}])),
            (send_postmark, {"To": f'"{quoted}" <{address}>, b@example.com'}),
        ):
            _, send_id = await send(project, **changes)
            assert send_id is not None
            message = assert_no_header_injected(await message_of(project, send_id))
            assert message["To"].addresses[0].display_name == name


FULL_SENDGRID_MAIL: dict[str, Any] = {
    **SENDGRID_MAIL,
    "personalizations": [
        {
            "to": [{"email": "ada@example.com", "name": "Ada"}],
            "cc": [{"email": "cc@example.com"}],
            "from": {"email": "own@acme.example"},
            "subject": "Own -a-",
            "headers": {"X-Own": "1"},
            "substitutions": {"-a-": ":b:"},
            "custom_args": {"user": "42"},
            "send_at": 1,
        }
    ],
    "reply_to_list": [{"email": "r@example.com", "name": "R"}],
    "sections": {":b:": "c"},
    "attachments": [{"content": CONTENT, "filename": "a", "type": "text/plain", "disposition": "inline"}],
    "headers": {"X-All": "1"},
    "categories": ["a"],
    "custom_args": {"plan": "free"},
    "batch_id": "b",
    "send_at": 1,
    "mail_settings": {"sandbox_mode": {"enable": True}, "footer": {"enable": False, "text": "t", "html": "h"}},
    "tracking_settings": {
        "click_tracking": {"enable": True, "enable_text": False},
        "open_tracking": {"enable": True, "substitution_tag": "%o%"},
        "subscription_tracking": {"enable": True, "text": "t"},
    },
}
FULL_POSTMARK_MAIL: dict[str, Any] = {
    **POSTMARK_MAIL,
    "Cc": "cc@example.com",
    "ReplyTo": "r@example.com",
    "Tag": "a",
    "Metadata": {"user": "42"},
    "Headers": [{"Name": "X-Own", "Value": "1"}],
    "TrackOpens": True,
    "TrackLinks": "HtmlOnly",
    "MessageStream": "outbound",
    "Attachments": [{"Name": "a", "Content": CONTENT, "ContentType": "text/plain", "ContentID": "cid:a"}],
    "TemplateId": "",
    "TemplateAlias": "",
    "TemplateModel": {"name": "Ada"},
}
DEEP: Any = []
for _ in range(50):
    DEEP = [DEEP]
ODD_VALUES: list[Any] = [
    *(None, True, 0, -1, 10**30, 1.5, "", " ", "\0", "a" * 5_000, "<>", '"', "{{", "\u2028"),
    *([], [[]], [None], {}, {"": ""}, {"a": None}, {"email": None}, {"a": "b", "\r\n": "\r\n"}, DEEP),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of each value inside a JSON value."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def variants(mail: dict[str, Any], *, step: int = 1) -> Iterator[dict[str, Any]]:
    """The mail with odd values in each place: all of them, or each `step`th, beginning at another one in each place."""
    for index, path in enumerate(places(mail)):
        for odd in ODD_VALUES[index % step :: step]:
            variant = copy.deepcopy(mail)
            parent: Any = variant
            for key in path[:-1]:
                parent = parent[key]
            parent[path[-1]] = odd
            yield variant


async def test_odd_values_in_every_place_are_accepted_or_refused(project, run_due_work):
    """Never a 500. SendGrid's mails are only checked; with Postmark's, a batch has a result for each."""
    assert (await project.client.post(SENDGRID, FULL_SENDGRID_MAIL)).status_code == 200
    for variant in variants(FULL_SENDGRID_MAIL, step=5):
        response = await project.client.post(SENDGRID, content=json.dumps(variant), headers=JSON)
        assert response.status_code in (200, 202, 400), (response.text, variant)
        if response.status_code == 400:
            assert all(error["message"] for error in response.json()["errors"])
    messages = [variant for variant in variants(FULL_POSTMARK_MAIL) if variant["To"] == POSTMARK_MAIL["To"]]
    headers = {"X-Postmark-Server-Token": project.secret_key, **JSON}
    for start in range(0, len(messages), 500):
        batch = messages[start : start + 500]
        response = await project.client.post(f"{POSTMARK}/batch", content=json.dumps(batch), headers=headers)
        assert response.status_code == 200, response.text
        results = response.json()
        assert len(results) == len(batch)
        assert {result["ErrorCode"] for result in results} <= {0, 300, 402, 1235}
        assert all(("MessageID" in result) == (result["ErrorCode"] == 0) for result in results)
    await run_due_work()


@pytest.mark.parametrize("path", [SENDGRID, POSTMARK, f"{POSTMARK}/batch", f"{POSTMARK}/batchWithTemplates"])
async def test_bodies_that_are_no_requests_are_refused(project, path):
    headers = {"X-Postmark-Server-Token": project.secret_key, "Content-Type": "application/json"}
    for body in (b"", b"null", b"1", b'"a"', b"[", b"[" * 100_000, b"\xff", b'{"a":1}', b"[1]", b"{}"):
        response = await project.client.post(path, content=body, headers=headers)
        expected = (400,) if path == SENDGRID else (200,) if body == b"[1]" and path.endswith("batch") else (422,)
        assert response.status_code in expected, (body, response.text)


async def test_a_subuser_of_sendgrid_is_refused(project):
    response = await project.client.post(SENDGRID, SENDGRID_MAIL, headers={"On-Behalf-Of": "other"})
    assert (response.status_code, response.json()["errors"][0]["field"]) == (400, "On-Behalf-Of")


async def test_too_many_tags_in_a_large_message_are_refused(project):
    tags = {f"-{number}-": "" for number in range(60)}
    content = [{"type": "text/plain", "value": "x" * 1_000_000}]
    response = await project.client.post(SENDGRID, {**SENDGRID_MAIL, **person(substitutions=tags), "content": content})
    assert response.status_code == 413
    assert "substitutions" in response.json()["errors"][0]["message"]
