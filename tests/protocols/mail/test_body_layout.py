"""Bulk messages that are composed with the layout of their content: they say the same as those composed one by one."""

from email import message_from_bytes, policy

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.protocols.mail.dkim import Signer, canonical_body, generate_ed25519, generate_rsa, sign
from postern.protocols.mail.mime import LINE_OCTETS, has_safe_lines
from postern.protocols.mail.smtp import dot_stuffed
from postern.protocols.mail.templates import body_layout, composing
from postern.protocols.mail.templates.body_layout import layout_of
from postern.protocols.mail.templates.composing import (
    ComposeRequest,
    ComposeResult,
    MessageDraft,
    MessageTemplates,
)
from postern.protocols.mail.templates.content import TrackingOptions, compile_content
from tests.protocols.mail.test_composing import compose

NOW = 1_770_000_000
SEND_ID = "0190b0a0-1111-7000-8000-00000000002a"
SIGNERS = (Signer.load("acme.example", "one", generate_rsa()), Signer.load("acme.example", "two", generate_ed25519()))
LONG = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt. " * 5
CONTENTS = {
    "values": MessageTemplates("Hello {{name}}", "<p>Dear {{ name }},\n{{missing}} welcome to {{ city }}!</p>"),
    "value first and last": MessageTemplates("x", "<p>{{name}} and {{ city }}</p>", "{{name}}, hello {{city}}"),
    "neighbours": MessageTemplates("x", "<p>{{name}}{{city}} {{name}}  {{city}}</p>\n"),
    "only text": MessageTemplates(
        "x", None, f"{LONG}\n\nFrom here, {{{{name}}}}:\n.\n. dot\n--=_x\n\ttab  \n{LONG}.\n"
    ),
    "links": MessageTemplates(
        "x",
        '<body><a href="https://acme.example/a?b=1&amp;c=2">A</a> <a href="mailto:a@acme.example">M</a>'
        '<a data-postern-no-track href=https://acme.example/b>B</a> <a href="https://acme.example/{{name}}">C</a>'
        '<a href="{{ unsubscribe_url }}">Off</a> {{ unsubscribe_url }}</body>',
    ),
    "attribute right after a link": MessageTemplates(
        "x", '<a href="https://acme.example/1"H="{{name}}">x</a> <a href="{{ name }}">{{ name }}</a>'
    ),
    "unsubscribe links": MessageTemplates("x", '<a data-postern-unsubscribe href="#">Off</a> <p>Ünicode {{name}}</p>'),
    "filters": MessageTemplates("{{ name | upper }}", '<p>{{ name | default("friend") }}, {{ name | upper }}</p>'),
    "conditions": MessageTemplates(
        "x",
        '{% if name %}<p>Dear {{name}}</p>{% else %}<p>Hello <a href="https://acme.example/x">there</a></p>{% endif %}'
        '{% set greeting = "Bye " ~ name %}<p>{% for n in [1, 2] %}{{ n }}, {% endfor %}{{ greeting }}</p>'
        "{# hidden #}{% raw %}{{ shown }}{% endraw %}",
    ),
    "literal": MessageTemplates("{{x}}", '<p>{{ as }} <a href="https://acme.example/">it is</a></p>', None, "none"),
    "white space": MessageTemplates("x", f"<p>\t\ta  b \r\n   c\r{LONG}   \n \n  {{{{name}}}} \n</p>   "),
    "dots": MessageTemplates(
        "x", f"<p>\n.a {{ }}\n{'b' * 75}.{{{{name}}}}.{{{{ city }}}}. Bye\n.</p>", f"{LONG}\n.{{{{name}}}}\n."
    ),
    "long words": MessageTemplates("x", f"<p>{'é' * 10}{'=' * 200}{{{{name}}}}</p>" + "a" * 2_000),
    "space before the end of a line": MessageTemplates("x", None, f"{'a' * 74} \n{'b' * 75} \n{'c' * 76} \nd"),
}


def draft(values, **changes) -> MessageDraft:
    tracking = TrackingOptions(base="https://mail.acme.example", key=b"k" * 32, **changes)
    return MessageDraft(
        send_id=SEND_ID,
        values=values,
        sender="News <news@acme.example>",
        from_name="{{ name }} at Acme",
        to=["ada@example.org"],
        date=NOW,
        message_id="<1@acme.example>",
        tracking=tracking,
        unsubscribe=tracking,
        list_id="<news.acme.example>",
        is_bulk=True,
    )


def parts_of(message: bytes) -> list[tuple[str, str]]:
    """Content type and text of each part, and the header fields that are rendered.

    Without the line end that a text gets if it is the whole message and not in base64.
    """
    parsed = message_from_bytes(message, policy=policy.SMTP)
    texts = [
        (part.get_content_type(), part.get_payload(decode=True).decode().replace("\r\n", "\n"))
        for part in parsed.walk()
        if not part.is_multipart()
    ]
    if not parsed.is_multipart():
        texts = [(kind, text.removesuffix("\n")) for kind, text in texts]
    return [*texts, ("subject", str(parsed["subject"])), ("from", str(parsed["from"]))]


def composed_one_by_one(request: ComposeRequest) -> ComposeResult:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(composing, "_layout", lambda *_: None)
        return compose(request, NOW)


def test_each_content_has_a_layout():
    tracking = draft({}).tracking
    for name, (subject, html, text, engine) in CONTENTS.items():
        content = compile_content(subject=subject, html=html, text=text, engine=engine)
        assert layout_of(content, tracking) is not None, name


VALUES = st.one_of(
    st.none(),
    st.integers(-(10**6), 10**6),
    st.sampled_from(["Ada", "From ", ".", " x ", "a  b", "<b>&\"'/</b>", "x" * 200, "=", "a\n", "\n.\n", "Zoë 漢字"]),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=120),
)


@given(
    values=st.dictionaries(st.sampled_from(["name", "city", "x"]), VALUES),
    name=st.sampled_from(sorted(CONTENTS)),
    options=st.fixed_dictionaries({"clicks": st.booleans(), "opens": st.booleans()}),
)
def test_a_message_with_a_layout_says_the_same_as_one_without(values, name, options):
    request = ComposeRequest(CONTENTS[name], draft(values, **options))
    expected, result = composed_one_by_one(request), compose(request, NOW)
    assert result.reason == expected.reason
    if result.reason:  # A line end in a header field.
        return
    assert parts_of(result.message) == parts_of(expected.message)
    body = result.message.partition(b"\r\n\r\n")[2]
    assert canonical_body(body) == body or b"base64" in body or b"7bit" in body
    assert has_safe_lines(result.message) or not result.has_safe_lines
    assert all(len(line) <= LINE_OCTETS for line in body.split(b"\r\n")) or b"7bit" in body


@pytest.mark.parametrize("name", CONTENTS)
def test_the_signatures_are_those_of_the_whole_message(name):
    unsigned = compose(ComposeRequest(CONTENTS[name], draft({"name": "Ada"})), NOW).message
    signed = compose(ComposeRequest(CONTENTS[name], draft({"name": "Ada"}), SIGNERS), NOW).message
    assert signed == sign(unsigned, SIGNERS, now=NOW)
    assert signed.count(b"DKIM-Signature:") == 2


@pytest.mark.parametrize("name", CONTENTS)
def test_smtp_can_send_the_lines_as_they_are(name):
    result = compose(ComposeRequest(CONTENTS[name], draft({"name": ".Ada", "city": "."}), SIGNERS), NOW)
    assert result.has_safe_lines
    assert dot_stuffed(result.message) == result.message
    request = ComposeRequest(CONTENTS[name], msgspec.structs.replace(draft({}), headers=[(".field", "x")]))
    assert not compose(request, NOW).has_safe_lines


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"unsubscribe": None},
        {"unsubscribe_address": "off@acme.example", "feedback_id": "a:b:c"},
        {"headers": [("X-Campaign", "spring  \t sale"), ("List-Archive", f"<https://acme.example/{'x' * 90}>")]},
        {"headers": [("List-Unsubscribe", "<https://acme.example/off>")]},
        {"headers": [("List-Unsubscribe", "<https://acme.example/off>")], "unsubscribe": None},
        {"reply_to": ["Help <help@acme.example>", "b@acme.example"]},
        {"cc": ["cc@example.org"]},
        {"to": []},
        {"to": ["Zoë <zoe@example.org>", "b@example.org"] * 4, "from_name": None},
        {"unsigned_headers": ["date", "message-id", "list-unsubscribe"]},
        {"sender": "no address"},
        {"message_id": "no id"},
        {"headers": [("Subject", "x")]},
    ],
)
@pytest.mark.parametrize("name", ["Ada", "a  b " * 30, "漢字" * 40])
def test_the_header_is_that_of_a_message_without_a_layout(changes, name):
    templates = MessageTemplates("Hello {{name}}", CONTENTS["values"].html)
    changed = composing.msgspec.structs.replace(draft({"name": name}), **changes)
    request = ComposeRequest(templates, changed)
    expected, result = composed_one_by_one(request), compose(request, NOW)
    assert (result.reason, result.subject) == (expected.reason, expected.subject)
    head, _, _ = result.message.partition(b"MIME-Version")
    assert head == expected.message.partition(b"MIME-Version")[0]
    if not result.reason:
        signed = compose(ComposeRequest(templates, changed, SIGNERS), NOW).message
        assert signed == sign(result.message, SIGNERS, now=NOW, unsigned=changed.unsigned_headers)


@pytest.mark.parametrize(
    "templates",
    [
        MessageTemplates("x", "<p>a {{- name }}</p>"),
        MessageTemplates("x", "<p>{{ name | safe }}</p>"),
        MessageTemplates("x", "<p>漢字漢字漢字漢字漢字漢字漢字漢字漢字</p>"),
        MessageTemplates("x", None, "Ends with a value: {{name}}"),
        MessageTemplates("x", "<p>\r{{name}}</p>"),
        MessageTemplates("x", "<p>{{name}}</p>" * 2_001),
        MessageTemplates("x", f"<p>{'a' * 100_000}</p>"),
    ],
)
def test_other_contents_are_composed_one_by_one(templates):
    content = compile_content(subject="x", html=templates.html, text=templates.text)
    assert layout_of(content, draft({}).tracking) is None
    assert compose(ComposeRequest(templates, draft({"name": "Ada"})), NOW).message


@pytest.mark.parametrize("value", [["list"], {"a": 1}, True, 0.5, 2**60, "a\rb", "a\0b", "x" * 100_001])
def test_other_values_are_composed_one_by_one(value):
    request = ComposeRequest(CONTENTS["values"], draft({"name": value}))
    assert compose(request, NOW) == composed_one_by_one(request)


def test_the_address_of_the_server_may_contain_any_word():
    tracking = TrackingOptions(base="https://mail.acme.example/SLOT", key=b"k" * 32)
    request = ComposeRequest(
        CONTENTS["links"], composing.msgspec.structs.replace(draft({"name": "Ada"}), tracking=tracking)
    )
    assert parts_of(compose(request, NOW).message) == parts_of(composed_one_by_one(request).message)


def test_transactional_messages_keep_their_encoding():
    request = ComposeRequest(CONTENTS["values"], draft({"name": "Ada"}))
    draft_of_one = composing.msgspec.structs.replace(request.draft, is_bulk=False)
    message = compose(request._replace(draft=draft_of_one), NOW).message
    assert b"Content-Transfer-Encoding: 7bit" in message


def test_links_in_loops_count_towards_the_limit(monkeypatch):
    monkeypatch.setattr(body_layout, "LINKS_LIMIT", 5)
    html = '<a href="https://a.example">a</a>{% for n in range(n) %}<a href="https://a.example/{{n}}">n</a>{% endfor %}'
    templates = MessageTemplates("x", html)
    assert compose(ComposeRequest(templates, draft({"n": 4})), NOW).message
    assert "links" in (compose(ComposeRequest(templates, draft({"n": 5})), NOW).reason or "")
