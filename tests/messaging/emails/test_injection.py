"""Header injection over HTTP: a value arrives unchanged or is refused with the path."""

import base64
import email
import email.policy

import mailparser
import pytest

MAIL = {
    "to": ["ada@example.com"],
    "from": "Acme <hello@acme.example>",
    "subject": "Hello",
    "html": "<p>Hi</p>",
    "text": "Hi",
}
EVIL = "X-Evil"
BREAKS = {
    "CRLF": "\r\nX-Evil: 1",
    "LF": "\nX-Evil: 1",
    "CR": "\rX-Evil: 1",
    "NUL": "\0X-Evil: 1",
    "line separator": "\u2028X-Evil: 1",
    "encoded word": "=?utf-8?q?a=0D=0AX-Evil:_1?=",
    "encoded word, base64": "=?utf-8?b?DQpYLUV2aWw6IDE=?=",
}
FILE = {"filename": "a.txt", "content": base64.b64encode(b"hi").decode()}
FIELDS = {
    "from": lambda bad: {"from": f"A{bad} <hello@acme.example>"},
    "from, address": lambda bad: {"from": f"hello{bad}@acme.example"},
    "to": lambda bad: {"to": [f"Ada{bad} <ada@example.com>"]},
    "cc": lambda bad: {"cc": [f"Ada{bad} <ada@example.com>"]},
    "bcc": lambda bad: {"bcc": [f"Ada{bad} <ada@example.com>"]},
    "replyTo": lambda bad: {"replyTo": f"Ada{bad} <ada@example.com>"},
    "subject": lambda bad: {"subject": f"Hello{bad}"},
    "subject, by a variable": lambda bad: {"subject": "Hello {{name}}", "variables": {"name": f"Ada{bad}"}},
    "header name": lambda bad: {"headers": {f"X-Own{bad}": "1"}},
    "header value": lambda bad: {"headers": {"X-Own": f"1{bad}"}},
    "filename": lambda bad: {"attachments": [{**FILE, "filename": f"a{bad}.txt"}]},
    "content type": lambda bad: {"attachments": [{**FILE, "contentType": f"text/plain{bad}"}]},
    "content id": lambda bad: {"attachments": [{**FILE, "contentId": f"one{bad}"}]},
}


async def sent(project, **more):
    return await project.client.post("/emails", {**MAIL, **more})


async def raw_of(project, answer):
    assert answer.status_code == 201, answer.text
    got = await project.client.get(f"/emails/logs/{answer.json()['id']}/message")
    assert got.status_code == 200, got.text
    return got.content


def assert_nothing_slipped_in(raw):
    """Neither parser finds the injected header, and every line of the message ends in CRLF."""
    message = email.message_from_bytes(raw, policy=email.policy.default)
    assert not message.defects
    for part in message.walk():
        assert EVIL not in part
    assert EVIL not in mailparser.parse_from_bytes(raw).headers
    assert raw.count(b"\r") == raw.count(b"\n") == raw.count(b"\r\n")
    assert b"\0" not in raw
    return message


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
async def test_no_field_can_inject_a_header(project, field):
    assert (await sent(project, **field(""))).status_code == 201, "Without the break it is sent."
    for name, bad in BREAKS.items():
        answer = await sent(project, **field(bad))
        if answer.status_code == 400:
            assert answer.json()["errors"], f"{name}: it says where."
        else:
            assert_nothing_slipped_in(await raw_of(project, answer))


async def test_no_template_can_inject_a_header(project):
    for name, bad in {"nothing": "", **BREAKS}.items():
        made = await project.client.post(
            "/templates", {"name": "T", "subject": f"Hello {{{{name}}}}{bad}", "html": "<p>Hi</p>"}
        )
        if made.status_code == 400:
            assert bad, "Without the break it is kept."
            assert made.json()["errors"], name
            continue
        template = {"templateId": made.json()["id"], "variables": {"name": f"Ada{bad}"}}
        answer = await project.client.post("/emails", {"to": MAIL["to"], "from": MAIL["from"], **template})
        if answer.status_code == 400:
            assert bad, "Without the break it is sent."
            assert answer.json()["errors"], name
        else:
            assert_nothing_slipped_in(await raw_of(project, answer))


async def test_a_body_cannot_end_the_smtp_message(project):
    for end in ("\n.\n", "\r\n.\r\n", "\n.\r\n", "\r.\r", "\r\n.\r"):
        text = f"before{end}MAIL FROM:<evil@example.com>\r\nRCPT TO:<victim@example.com>\r\nDATA\r\nafter"
        message = assert_nothing_slipped_in(await raw_of(project, await sent(project, text=text)))
        read = message.get_body(("plain",)).get_content()
        assert read.startswith("before")
        assert read.rstrip().endswith("after")


async def test_a_line_of_a_megabyte_arrives_unchanged(project):
    line = "x" * 1_000_000
    raw = await raw_of(project, await sent(project, text=line, html=None))
    assert max(map(len, raw.split(b"\r\n"))) <= 998
    assert assert_nothing_slipped_in(raw).get_content().strip() == line


PEOPLE = (
    ("Ada 👩‍💻 Lovelace", "ada@example.com"),
    ("עדה לאבלייס", "ada@example.com"),
    ("أدا", "ada@example.com"),
    ('Lovelace, Ada (Countess) \\ "Ada"', "ada@example.com"),
    ("Jörg", "joerg@bücher.example"),
    ("丽", "li@例え.example"),
)


async def test_names_in_every_script_arrive_unchanged(project):
    for name, address in PEOPLE:
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        raw = await raw_of(project, await sent(project, to=[f'"{quoted}" <{address}>'], subject=f"Hi {name}"))
        message = assert_nothing_slipped_in(raw)
        user, _, domain = address.partition("@")
        (to,) = message["To"].addresses
        assert (to.display_name, to.username, to.domain) == (name, user, domain.encode("idna").decode())
        assert message["Subject"] == f"Hi {name}"
        other = mailparser.parse_from_bytes(raw)
        assert other.subject == f"Hi {name}"
        assert other.to[0][1] == f"{to.username}@{to.domain}"
        raw.split(b"\r\n\r\n")[0].decode("ascii")
