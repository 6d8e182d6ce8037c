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
INJECTED_FIELD = "X-Evil"
INJECTIONS = {
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
    "from": lambda injection: {"from": f"A{injection} <hello@acme.example>"},
    "from, address": lambda injection: {"from": f"hello{injection}@acme.example"},
    "to": lambda injection: {"to": [f"Ada{injection} <ada@example.com>"]},
    "cc": lambda injection: {"cc": [f"Ada{injection} <ada@example.com>"]},
    "bcc": lambda injection: {"bcc": [f"Ada{injection} <ada@example.com>"]},
    "replyTo": lambda injection: {"replyTo": f"Ada{injection} <ada@example.com>"},
    "subject": lambda injection: {"subject": f"Hello{injection}"},
    "subject, by a variable": lambda injection: {"subject": "Hello {{name}}", "variables": {"name": f"Ada{injection}"}},
    "header name": lambda injection: {"headers": {f"X-Own{injection}": "1"}},
    "header value": lambda injection: {"headers": {"X-Own": f"1{injection}"}},
    "filename": lambda injection: {"attachments": [{**FILE, "filename": f"a{injection}.txt"}]},
    "content type": lambda injection: {"attachments": [{**FILE, "contentType": f"text/plain{injection}"}]},
    "content id": lambda injection: {"attachments": [{**FILE, "contentId": f"one{injection}"}]},
}


"""Functions that return the fields of an e-mail with an injection in one of them."""


async def send_mail(project, **fields):
    return await project.client.post("/emails", {**MAIL, **fields})


async def eml_of(project, response):
    assert response.status_code == 201, response.text
    downloaded = await project.client.get(f"/emails/logs/{response.json()['id']}/message")
    assert downloaded.status_code == 200, downloaded.text
    return downloaded.content


def assert_no_header_injected(eml):
    """Neither parser finds the injected header, and every line of the message ends with CRLF. Returns the message."""
    message = email.message_from_bytes(eml, policy=email.policy.default)
    assert not message.defects
    for part in message.walk():
        assert INJECTED_FIELD not in part
    assert INJECTED_FIELD not in mailparser.parse_from_bytes(eml).headers
    assert eml.count(b"\r") == eml.count(b"\n") == eml.count(b"\r\n")
    assert b"\0" not in eml
    return message


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
async def test_no_field_can_inject_a_header(project, field):
    assert (await send_mail(project, **field(""))).status_code == 201, "Without an injection the e-mail is accepted."
    for name, injection in INJECTIONS.items():
        response = await send_mail(project, **field(injection))
        if response.status_code == 400:
            assert response.json()["errors"], f"{name}: The response has the path."
        else:
            assert_no_header_injected(await eml_of(project, response))


async def test_no_template_can_inject_a_header(project):
    for name, injection in {"no injection": "", **INJECTIONS}.items():
        created = await project.client.post(
            "/templates", {"name": "T", "subject": f"Hello {{{{name}}}}{injection}", "html": "<p>Hi</p>"}
        )
        if created.status_code == 400:
            assert injection, "Without an injection the template is accepted."
            assert created.json()["errors"], name
            continue
        template = {"templateId": created.json()["id"], "variables": {"name": f"Ada{injection}"}}
        response = await project.client.post("/emails", {"to": MAIL["to"], "from": MAIL["from"], **template})
        if response.status_code == 400:
            assert injection, "Without an injection the e-mail is accepted."
            assert response.json()["errors"], name
        else:
            assert_no_header_injected(await eml_of(project, response))


async def test_a_body_cannot_end_the_smtp_message(project):
    for end_of_data in ("\n.\n", "\r\n.\r\n", "\n.\r\n", "\r.\r", "\r\n.\r"):
        text = f"before{end_of_data}MAIL FROM:<evil@example.com>\r\nRCPT TO:<victim@example.com>\r\nDATA\r\nafter"
        message = assert_no_header_injected(await eml_of(project, await send_mail(project, text=text)))
        text_part = message.get_body(("plain",)).get_content()
        assert text_part.startswith("before")
        assert text_part.rstrip().endswith("after")


async def test_a_line_of_a_megabyte_arrives_unchanged(project):
    line = "x" * 1_000_000
    eml = await eml_of(project, await send_mail(project, text=line, html=None))
    assert max(map(len, eml.split(b"\r\n"))) <= 998
    assert assert_no_header_injected(eml).get_content().strip() == line


NAMES_AND_ADDRESSES = (
    ("Ada 👩‍💻 Lovelace", "ada@example.com"),
    ("עדה לאבלייס", "ada@example.com"),
    ("أدا", "ada@example.com"),
    ('Lovelace, Ada (Countess) \\ "Ada"', "ada@example.com"),
    ("Jörg", "joerg@bücher.example"),
    ("丽", "li@例え.example"),
)


async def test_names_in_every_script_arrive_unchanged(project):
    for name, address in NAMES_AND_ADDRESSES:
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        eml = await eml_of(project, await send_mail(project, to=[f'"{quoted}" <{address}>'], subject=f"Hi {name}"))
        message = assert_no_header_injected(eml)
        user, _, domain = address.partition("@")
        (to,) = message["To"].addresses
        assert (to.display_name, to.username, to.domain) == (name, user, domain.encode("idna").decode())
        assert message["Subject"] == f"Hi {name}"
        read_by_mailparser = mailparser.parse_from_bytes(eml)
        assert read_by_mailparser.subject == f"Hi {name}"
        assert read_by_mailparser.to[0][1] == f"{to.username}@{to.domain}"
        eml.split(b"\r\n\r\n")[0].decode("ascii")
