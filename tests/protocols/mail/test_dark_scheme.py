"""The dark scheme of documents of blocks, and what replaces properties that mail clients drop."""

import re

import pytest

from postern.protocols.mail.templates.builder import render_builder


def rules(*blocks, **document):
    """The rules for dark schemes in the HTML of a document; an empty string if there are none."""
    rendered = render_builder({"blocks": list(blocks), **document})
    match = re.search(r"@media \(prefers-color-scheme:dark\)\{(.*?)\}</style>", rendered)
    assert ('name="color-scheme"' in rendered) == (match is not None)
    return match[1] if match else ""


def luminance(color):
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("color", ["#000000", "#0d6472", "#5a6567", "#c00", "#1d4ed8", "#777777", "black"])
@pytest.mark.parametrize("background", ["#ffffff", "#fff", "#f1f5f5", "#fbe7c8", "white"])
def test_text_is_readable_on_the_dark_background(color, background):
    declarations = rules({"type": "text", "text": "x", "color": color}, background=background)
    dark_background = re.search(r"body,\.page\{background-color:(#\w{6})!important\}", declarations)
    dark_text = re.search(r" a\{color:(#\w{6})!important\}", declarations)
    assert dark_background
    assert dark_text
    assert luminance(dark_background[1]) < 0.05
    assert contrast(dark_background[1], dark_text[1]) >= 4.5


def test_text_in_columns_is_readable_on_their_background():
    text = {"type": "text", "text": "x", "color": "#333333"}
    light = rules({"type": "columns", "background": "#e6eeef", "columns": [[text]]})
    assert light.count("!important") == 3  # The page, the columns and the text.
    # White on a strong color stays.
    white = {"type": "heading", "text": "x", "color": "#ffffff"}
    assert rules({"type": "columns", "background": "#0d6472", "columns": [[white]]}).count("!important") == 1


def test_a_button_is_changed_only_if_its_area_would_vanish():
    button = {"type": "button", "text": "x", "url": "https://x.test/"}
    assert rules({**button, "background": "#0d6472"}).count("!important") == 1
    assert rules({**button, "background": "#101010"}).count("!important") == 2


@pytest.mark.parametrize(
    "document",
    [
        {"blocks": [{"type": "html", "html": '<p style="color:#333">x</p>'}]},
        {"blocks": [{"type": "text", "html": '<td bgcolor="#eeeeee">x</td>'}]},
        {"blocks": [{"type": "text", "html": "{{ content|safe }}"}]},
        {"blocks": [{"type": "columns", "columns": [{"blocks": [{"type": "html", "html": "<font>x</font>"}]}]}]},
        {"blocks": [{"type": "text", "text": "x", "color": "rebeccapurple"}]},
        {"blocks": [{"type": "divider", "color": "rgb(1, 2, 3)"}]},
        {"background": "#101820", "blocks": [{"type": "text", "text": "x", "color": "#ffffff"}]},
        {"background": "navy", "blocks": [{"type": "text", "text": "x"}]},
    ],
)
def test_colors_that_cannot_be_changed_keep_the_document_light(document):
    assert rules(*document["blocks"], **{name: value for name, value in document.items() if name != "blocks"}) == ""


def test_words_about_colors_do_not_keep_the_document_light():
    assert rules({"type": "text", "html": "Our favourite colors, and the background of it all"})


def test_links_have_the_color_of_their_text():
    html = (
        '<a href="{{ url|default("https://x.test/?a>b") }}">one</a> <a href="#" style="padding:4px">two</a> '
        '<a href="#" style="color:#ff0000">three</a>'
    )
    rendered = render_builder({"blocks": [{"type": "text", "html": html, "color": "#123456"}]})
    assert (
        '<a style="color:#123456;text-decoration:underline" href="{{ url|default("https://x.test/?a>b") }}">one'
        in rendered
    )
    assert 'style="color:#123456;padding:4px"' in rendered
    assert 'style="color:#ff0000"' in rendered


def test_the_document_has_its_language_and_nothing_that_clients_drop():
    image = {"type": "image", "url": "https://x.test/a.png", "alt": "x"}
    button = {"type": "button", "text": "x", "url": "https://x.test/"}
    blocks = [image, {**image, "href": "https://x.test/"}, button, {"type": "spacer"}, {"type": "divider"}]
    rendered = render_builder({"lang": "de", "title": "T", "preview": '{{ day|default("soon") }}', "blocks": blocks})
    assert '<html lang="de"' in rendered
    assert '{{ day|default("soon") }}' in rendered
    visible = re.sub(r"<!--.*?-->", "", rendered, flags=re.DOTALL)
    dropped = "cursor opacity overflow outline: target= max-height height:auto border-spacing aria-label word-spacing"
    for word in [*dropped.split(), "mj-full-width-mobile", "moz-text-html"]:
        assert word not in visible, word
