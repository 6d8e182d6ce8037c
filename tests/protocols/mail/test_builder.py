"""Rendering of block documents and MJML."""

import re

import pytest

from postern.protocols.mail.templates.builder import BuilderInvalid, render_builder
from postern.protocols.mail.templates.content import compile_content


def block(**fields):
    return {"blocks": [fields]}


def test_every_block_becomes_html_and_template_tags_are_kept():
    rendered = render_builder(
        {
            "title": "News & more",
            "preview": "Soon {{ name }}",
            "width": 640,
            "background": "#eeeeee",
            "font": "Georgia, serif",
            "blocks": [
                {
                    "type": "heading",
                    "text": 'Hi {{ name|default("you") }} & <all>',
                    "level": 2,
                    "align": "center",
                    "color": "#ff0000",
                },
                {"type": "text", "text": "one\ntwo", "size": 14},
                {"type": "text", "html": "<b>bold</b>{% if a < 3 and b %} &amp; more{% endif %}"},
                {
                    "type": "button",
                    "text": "Go",
                    "url": "https://x.test/{{ id }}?a=1&b=2",
                    "background": "blue",
                },
                {
                    "type": "image",
                    "url": "https://x.test/a.png",
                    "alt": 'A "q"',
                    "href": "https://y.test",
                    "width": 100,
                },
                {"type": "divider", "color": "#cccccc"},
                {"type": "spacer", "height": 30},
                {
                    "type": "columns",
                    "columns": [
                        {"blocks": [{"type": "text", "text": "left"}]},
                        {"blocks": [{"type": "html", "html": "<i>right</i>"}]},
                    ],
                },
            ],
        }
    )
    for piece in (
        'Hi {{ name|default("you") }} &amp; &lt;all&gt;',
        "one<br",
        "<b>bold</b>{% if a < 3 and b %} &amp; more{% endif %}",
        'href="https://x.test/{{ id }}?a=1&amp;b=2"',
        'src="https://x.test/a.png"',
        "left",
        "<i>right</i>",
        "Soon {{ name }}",
        "#ff0000",
    ):
        assert piece in rendered, piece
    text = compile_content(subject="s", html=rendered).render({"id": 5, "name": "Ada"}, send_id="S").text
    assert "Hi Ada & <all>" in text
    assert "Go (https://x.test/5?a=1&b=2)" in text


def test_mjml_is_rendered_without_includes():
    rendered = render_builder(
        {
            "mjml": "<mjml><mj-body><mj-section><mj-column><mj-text>{{ a }} & b</mj-text><mj-button href=\"https://x.test/{{ b|default('x') }}?a&b\">"  # noqa: E501
            "go</mj-button></mj-column></mj-section></mj-body></mjml>"
        }
    )
    assert re.search(r"\{\{ a \}\} &(amp;)? b", rendered)
    assert "https://x.test/{{ b|default('x') }}" in rendered
    for include in (
        '<mj-include path="/etc/passwd"/>',
        '<MJ-INCLUDE path="http://127.0.0.1/"/>',
        "< mj-include path='x' />",
    ):
        with pytest.raises(BuilderInvalid):
            render_builder({"mjml": f"<mjml><mj-body>{include}</mj-body></mjml>"})


@pytest.mark.parametrize("beginning", ["https://", "http://", "mailto:", "tel:", "cid:", "#", "/", "{{ link }}"])
def test_the_error_about_a_url_names_every_accepted_beginning(beginning):
    assert f'href="{beginning}' in render_builder(block(type="button", text="x", url=f"{beginning}a"))
    with pytest.raises(BuilderInvalid) as raised:
        render_builder(block(type="button", text="x", url="ftp://a.example"))
    accepted = raised.value.detail.partition("begins with ")[2].rstrip(".").replace(" or ", ", ").split(", ")
    assert ("a template expression" if beginning == "{{ link }}" else beginning) in accepted


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({}, ""),
        ({"mjml": "<mjml/>", "blocks": []}, ""),
        ({"mjml": 3}, ""),
        ({"mjml": "<mjml>"}, "/mjml"),
        ({"mjml": "plain"}, "/mjml"),
        ({"mjml": "{{ a b }}"}, "/mjml"),
        ({"blocks": {}}, ""),
        ({"blocks": [], "colour": "x"}, "/colour"),
        ({"blocks": [], "background": 'red" x="y'}, "/background"),
        ({"blocks": [3]}, "/blocks/0"),
        (block(), "/blocks/0/type"),
        (block(type="video"), "/blocks/0/type"),
        (block(type="text"), "/blocks/0/text"),
        (block(type="text", text=3), "/blocks/0/text"),
        (block(type="text", text="x", colr="red"), "/blocks/0/colr"),
        (block(type="text", text="x", color="red;background:url(x)"), "/blocks/0/color"),
        (block(type="heading", text="x", level=4), "/blocks/0/level"),
        (block(type="spacer", height=True), "/blocks/0/height"),
        (block(type="button", text="x"), "/blocks/0/url"),
        (block(type="button", text="x", url="javascript:alert(1)"), "/blocks/0/url"),
        (block(type="columns", columns=[]), "/blocks/0/columns"),
        (block(type="columns", columns=[[], [3]]), "/blocks/0/columns/1/0"),
        (
            block(type="columns", columns=[{"blocks": [{"type": "columns"}]}]),
            "/blocks/0/columns/0/blocks/0/type",
        ),
        ({"blocks": [{"type": "divider"}] * 501}, "/blocks/500"),
    ],
)
def test_an_invalid_document_is_refused_with_the_location(document, path):
    with pytest.raises(BuilderInvalid) as raised:
        render_builder(document)
    assert raised.value.errors[0].path == path
    assert raised.value.status == 400
