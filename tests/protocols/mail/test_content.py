"""The content of messages: tracked links, pixel, and plain text of html."""

import html
import re
from html.parser import HTMLParser
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.protocols.mail.templates.content import TrackingOptions, compile_content, text_from_html
from postern.protocols.mail.templates.links import (
    CLICK,
    TooManyLinks,
    TooManyLinksRendered,
    sign_link,
    unsubscribe_url,
    verify_link,
)
from postern.protocols.mail.templates.template import RenderFailed, TemplateInvalid

KEY, OLD_KEY = b"k" * 32, b"o" * 32
TRACKING = TrackingOptions(base="https://go.test", key=KEY)


class Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.pixels: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.hrefs.append(dict(attrs).get("href", ""))
        if tag == "img":
            self.pixels.append(dict(attrs).get("src", ""))


def anchors(source: str) -> Anchors:
    reader = Anchors()
    reader.feed(source)
    return reader


def target(link: str, send_id: str = "S1") -> str:
    """The target of a tracked link, after a check of its signature."""
    parts = urlsplit(link)
    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"https://go.test/t/c/{send_id}"
    query = parse_qs(parts.query, strict_parsing=True)
    (url,), (signature,) = query["u"], query["s"]
    assert verify_link([OLD_KEY, KEY], "c", send_id, signature, url)
    return url


def render(source: str, tracking: TrackingOptions | None = TRACKING, **values):
    return compile_content(subject="S", html=source).render(values, send_id="S1", tracking=tracking)


def test_a_signature_covers_key_purpose_send_and_target():
    signature = sign_link(KEY, "c", "S1", "https://x.test/")
    assert re.fullmatch(r"[A-Za-z0-9_-]{22}", signature)
    assert verify_link([KEY], "c", "S1", signature, "https://x.test/")
    assert verify_link([b"new", KEY], "c", "S1", signature, "https://x.test/")
    assert not verify_link([], "c", "S1", signature, "https://x.test/")
    assert not verify_link([OLD_KEY], "c", "S1", signature, "https://x.test/")
    assert not verify_link([KEY], "u", "S1", signature, "https://x.test/")
    assert not verify_link([KEY], "c", "S2", signature, "https://x.test/")
    assert not verify_link([KEY], "c", "S1", signature, "https://x.test/2")
    for invalid in ("", signature[:-1], signature + "A", signature.swapcase(), "ü" * 22, "\ud800"):
        assert not verify_link([KEY], "c", "S1", invalid, "https://x.test/")


def test_tracked_links_keep_their_target_and_nothing_else_changes():
    source = (
        '<p><a class="x" href="https://x.test/a?b=1&amp;c=2#d">1</a> <A HREF=\'http://y.test\'>2</A> <a href=https://z.test/q>3</a>'
        '<a href="mailto:a@b.test">4</a><a href="tel:1">5</a><a href="#top">6</a><a name="x">7</a><a href="/local">8</a>'  # noqa: E501
        '<a data-track="false" href="https://quiet.test">9</a><abbr href="https://no.test">10</abbr></p>'
    )
    hrefs = anchors(render(source).html).hrefs
    assert [target(link) for link in hrefs[:3]] == [
        "https://x.test/a?b=1&c=2#d",
        "http://y.test",
        "https://z.test/q",
    ]
    assert hrefs[3:] == ["mailto:a@b.test", "tel:1", "#top", "", "/local", "https://quiet.test"]
    untracked = render(source, TrackingOptions(base="https://go.test", key=KEY, opens=False, clicks=False))
    assert anchors(untracked.html).hrefs[:3] == [
        "https://x.test/a?b=1&c=2#d",
        "http://y.test",
        "https://z.test/q",
    ]
    assert untracked.html == render(source, None).html


def test_links_with_template_tags_are_rewritten_after_rendering():
    source = (
        '<a href="{{ url }}">1</a><a href="https://x.test/{{ id }}?q={{ q }}">2</a><a href="{{ bad }}">3</a>'
        '<a {% if a > b %}class="q"{% endif %} href="https://y.test">4</a>'
        '{% for i in items %}<a href=\'https://x.test/i/{{ i|default("x") }}\'>5</a>{% endfor %}<a href="{{ unsubscribe_url }}">6</a>'  # noqa: E501
    )
    rendered = render(
        source,
        url="https://u.test/?a=1&b=2",
        id=7,
        q='"><script>',
        bad="javascript:alert(1)",
        items=["1", "2"],
    )
    hrefs = anchors(rendered.html).hrefs
    assert target(hrefs[0]) == "https://u.test/?a=1&b=2"
    assert target(hrefs[1]) == 'https://x.test/7?q="><script>'
    assert hrefs[2] == "javascript:alert(1)"
    assert [target(link) for link in hrefs[3:6]] == [
        "https://y.test",
        "https://x.test/i/1",
        "https://x.test/i/2",
    ]
    assert hrefs[6] == rendered.unsubscribe_url == unsubscribe_url("https://go.test", "S1", KEY)
    assert "<script>" not in rendered.html


URLS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), max_size=60)


@given(URLS)
def test_any_link_target_is_preserved(rest):
    rest = rest.replace("{", "").replace("\ue000", "").strip()
    url = "https://x.test/" + rest
    constant = render(f'<a href="{html.escape(url)}">x</a>').html
    from_variable = render('<a href="{{ url }}">x</a>', url=url).html
    assert target(anchors(constant).hrefs[0]) == target(anchors(from_variable).hrefs[0]) == url
    click_url = f"https://go.test/t/c/S1?u={quote(url, safe='')}&s={sign_link(KEY, CLICK, 'S1', url)}"
    assert click_url in html.unescape(constant)


def test_links_in_html_from_a_variable_are_tracked():
    rendered = render("<body>{{ body|safe }}</body>", body='<a href="https://x.test/{{ y }}">x</a>')
    assert target(anchors(rendered.html).hrefs[0]) == "https://x.test/{{ y }}"
    assert anchors(rendered.html).pixels == ["https://go.test/t/o/S1"]
    assert rendered.text == "x (https://x.test/{{ y }})\n"


def test_a_value_cannot_forge_link_markers():
    content = compile_content(subject="S", html='<a href="https://x.test">x</a>{{ name }}')
    forged = content.render(
        {"name": "\ue002L0\ue003 \ue0000\ue001 Hhttps://evil.test"}, send_id="S1", tracking=TRACKING
    )
    assert forged.html.count("/t/c/") == 1
    assert "\ue002L0\ue003" in forged.html


def test_the_pixel_is_inserted_before_the_end_of_the_body():
    assert re.search(
        r'<img src="https://go\.test/t/o/S1"[^>]*></BODY></html>$', render("<html><BODY>x</BODY></html>").html
    )
    assert render("<p>x</p>").html.startswith('<p>x</p><img src="https://go.test/t/o/S1"')
    assert "<img" not in render("<p>x</p>", TrackingOptions(base="https://go.test", key=KEY, opens=False)).html


def test_a_message_has_at_most_a_thousand_links():
    render('<a href="https://x.test">x</a>' * 1000)
    with pytest.raises(TooManyLinks):
        render('<a href="https://x.test">x</a>' * 1001)
    with pytest.raises(TooManyLinksRendered):
        render('{% for i in range(600) %}<a href="https://x.test">x</a><a href="https://y.test">y</a>{% endfor %}')


@pytest.mark.parametrize(
    "source",
    [
        "<a " * 200_000,
        "<a href=" * 100_000,
        "<a" + " " * 1_000_000,
        '<a href="' + "x" * 1_000_000,
        "{{" * 100_000,
    ],
)
def test_hostile_html_is_processed_in_linear_time(source):
    try:
        render(source)
    except TemplateInvalid:
        pass


def test_plain_text_of_html():
    source = """<html><head><title>T</title><style>p{}</style></head><body><h1>Hello&nbsp;{{ name }}</h1>
        <p>Read <a href="https://x.test/?a=1&amp;b=2">this</a>,<br>or <a href="https://y.test/">https://y.test/</a>.</p>
        <ul><li>one</li><li>two &lt;3</li></ul><img src="x" alt="Logo"><hr><table><tr><td>a</td><td>b</td></tr></table>
        <script>no</script><a href="mailto:a@b.test">write</a></body></html>"""
    assert text_from_html(source) == (
        "Hello {{ name }}\n\nRead this (https://x.test/?a=1&b=2),\nor https://y.test/.\n\n- one\n- two <3\n\n"
        "Logo\n\n----\n\na b\n\nwrite (a@b.test)\n"
    )
    assert text_from_html("") == ""
    assert text_from_html("just words") == "just words\n"


@given(st.text(max_size=200))
def test_any_html_has_a_plain_text_form(source):
    assert isinstance(text_from_html(source), str)


def test_content_is_rendered_for_every_recipient():
    content = compile_content(
        subject="Hi {{ name }} of {{ shop }}\n",
        html='<p>Hi {{ name }}</p><a href="{{ unsubscribeUrl }}">Leave</a>',
        shared_values={"shop": "Postern & Co", "name": "friend"},
    )
    first = content.render({"name": "<Ada>"}, send_id="S1", tracking=TRACKING)
    assert first.subject == "Hi <Ada> of Postern & Co"
    assert "<p>Hi &lt;Ada&gt;</p>" in first.html
    assert first.text == f"Hi <Ada>\n\nLeave ({first.unsubscribe_url})\n"
    second = content.render({}, send_id="S2", tracking=TRACKING)
    assert second.subject.startswith("Hi friend")
    assert second.unsubscribe_url != first.unsubscribe_url
    assert compile_content(subject="s", text="T {{ x }}").render({"x": 1}, send_id="S").text == "T 1"


def test_one_faulty_recipient_fails_alone():
    content = compile_content(subject="s", html="{% for a in rows %}{% for b in rows %}{{ a }}{% endfor %}{% endfor %}")
    with pytest.raises(RenderFailed):
        content.render({"rows": ["x" * 1000] * 1000}, send_id="S1", tracking=TRACKING)
    assert "xx" in content.render({"rows": ["x"]}, send_id="S2").html + "x"


def test_an_error_has_the_line_of_the_template():
    with pytest.raises(TemplateInvalid, match="Line 2, column 6"):
        compile_content(subject="s", html='<a href="https://x.test">x</a>\n{{ a b }}')


def test_a_template_condition_in_a_tag_does_not_affect_the_text():
    rendered = render(
        '<img alt="{% if a %}A"{% else %}B"{% endif %} src="x"><p>Words</p>{% if a %}<style>{% endif %}</style>'
    )
    assert "Words" in rendered.text
