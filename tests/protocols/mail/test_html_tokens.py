"""The HTML tokenizer compared with `html5lib`, and its time for hostile HTML."""

import random
import re
import time
from urllib.parse import parse_qs, urlsplit

import html5lib
import pytest
from html5lib._tokenizer import HTMLTokenizer
from html5lib.constants import tokenTypes
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from postern.protocols.mail.templates.content import TrackingOptions, compile_content, text_from_html
from postern.protocols.mail.templates.html_tokens import HtmlTokenKind, attributes, text_value, tokens
from postern.protocols.mail.templates.links import (
    TooManyLinks,
    TooManyLinksRendered,
    compile_links,
    split_after_body_tag,
)
from postern.protocols.mail.templates.template import RenderFailed


def own_tokens(source: str) -> list[tuple]:
    """The tokens of our tokenizer: start tags with attributes, end tags, comments, and the texts between them."""
    result: list[tuple] = []
    for token in tokens(source):
        if token.kind is HtmlTokenKind.START:
            values: dict[str, str] = {}
            for attribute in attributes(source, token):
                values.setdefault(attribute.name, attribute.value)
            result.append(("start", token.name, values))
        elif token.kind is HtmlTokenKind.END:
            result.append(("end", token.name))
        elif token.kind is HtmlTokenKind.COMMENT:
            result.append(("comment",))
        else:
            written = source[token.start : token.end]
            text = (
                text_value(written)
                if token.kind is HtmlTokenKind.TEXT
                else written.replace("\r\n", "\n").replace("\r", "\n")
            )
            result.append(("text", text.replace("\0", "").replace("\ufffd", "")))
    return joined(result)


def joined(tokens: list[tuple]) -> list[tuple]:
    """The same tokens with adjacent texts joined."""
    result: list[tuple] = []
    for token in tokens:
        if token[0] == "text" and result and result[-1][0] == "text":
            result[-1] = ("text", result[-1][1] + token[1])
        elif token != ("text", ""):
            result.append(token)
    return result


class RecordingTokenizer(HTMLTokenizer):
    """A tokenizer that records its tokens."""

    def __iter__(self):
        for token in super().__iter__():
            kind = token["type"]
            if kind == tokenTypes["StartTag"]:
                self.recorded.append(("start", token["name"], dict(token["data"])))
            elif kind == tokenTypes["EndTag"]:
                self.recorded.append(("end", token["name"]))
            elif kind in (tokenTypes["Comment"], tokenTypes["Doctype"]):
                self.recorded.append(("comment",))
            elif kind in (tokenTypes["Characters"], tokenTypes["SpaceCharacters"]):
                self.recorded.append(("text", token["data"].replace("\0", "").replace("\ufffd", "")))
            yield token


class RecordingParser(html5lib.HTMLParser):
    """A parser with a RecordingTokenizer. The parser tells its tokenizer where raw text and foreign content begin."""

    def mainLoop(self):
        self.tokenizer.__class__ = RecordingTokenizer
        self.tokenizer.recorded = self.recorded = []
        super().mainLoop()


def html5lib_tokens(source: str) -> list[tuple]:
    """The tokens of html5lib."""
    parser = RecordingParser()
    parser.parse(source)
    return joined(parser.recorded)


QUERIES = [
    "id=1&currency=EUR", "a=1&section=2", "a=1&region=eu", "a=1&timestamp=3", "a=1&params=x", "a=1&notify=1",
    "a=1&copy=2", "a=1&copy", "a=1&copy;", "a=1&amp;b=2", "a=1&ampb=2", "a=1&ltx", "a=1&lt", "a&lt;", "a=1&reg_id=2",
    "a&#x26;b", "a&#38b", "a&#x80;", "a&#0;", "a&#xD800;", "a&#1114112;", "a&#99999999999999999999;", "a&", "a&;",
    "a&#", "a&#x", "a&#xg", "&notit;", "&notin;", "&not=1", "&CounterClockwiseContourIntegral;", "q=ä&uuml=ü", "x\0y",
    "a&para=1", "a&yen", "a&times=3", "a&sup1", "a&frac14=1", "a&unknown=2", "a&quot;b", "a&apos;b", "a=%26",
    "token=abc", "a=b=c", "a`b", "u=https://x.test/?a&amp;b",
]  # fmt: skip
SHAPES = [
    '<a href="{}">', "<a href='{}'>", "<a href={}>", "<A HREF={} >", "<a\thref\n=\r\n'{}'>", "<a/href={}/>",
    '<a class=x href="{}"target=_blank>', '<a href = "{}" href="https://second.test/">', '<a title=">" href="{}">',
    '<a title="x"href="{}">', "<a ='x' href='{}'>", '<a "href="{}">', '<a <b href="{}">', '<a href="\n {}\t">',
    "<a data-href=x hRef='{}' />", '<a\0 href="{}">', '<a href="{}', "<a href='{}' ", "<a href={}", '<ab href="{}">',
    '<a href="{}"/ class=y>', "<a href>{}</a>", "<a href=>{}</a>", '<a h\0ref="{}">', '<a href="{}" = >',
]  # fmt: skip
CONTEXTS = [
    "{}", "<!-- {} -->{}", "<!--{}--!>{}", "<!-->{}-->", "<!--->{}-->", "<!---!>{}-->{}",
    "<!--[if mso]>{}<![endif]-->{}",
    "<![if !mso]>{}<![endif]>", "<script>{}</script>{}", "<script><!--{}<script>{}</script>{}--></script>{}",
    "<script><!--></script>{}", "<style>{}</style>{}", "<style>{}</ style></style >{}", "<title>{}</titles></title>{}",
    "<textarea>{}</TEXTAREA\n>{}", "<xmp>{}</xmp>{}", "<iframe>{}</iframe>{}", "<noembed>{}</noembed>{}",
    "<noframes>{}</noframes>{}", "<noscript>{}</noscript>", "<plaintext>{}</plaintext>{}", "<?php {} ?>{}", "</ {} >{}",
    "</>{}", "<!doctype html>{}", "<!DOCTYPE html PUBLIC '>' {}>{}", "<![CDATA[{}]]>{}", "<svg><![CDATA[{}]]></svg>{}",
    "<svg><style>{}</style></svg>{}", "<svg><title>{}</title></svg>", "<svg><p><style>{}</style>{}", "< a {}", "<{}",
    "<svg/><style>{}</style>{}", "<div><svg><g></div><style>{}</style>{}", "<math><mi><style>{}</style>{}</mi></math>",
    "<svg><foreignObject><style>{}</style>{}", "<math><annotation-xml encoding='text/html'><style>{}</style>{}",
    "&copy{}&ampx", "</a {}>{}", "<p>x\0y &#x80; &notit; &amp {}",
]  # fmt: skip


def unusual_links(number: int) -> list[str]:
    """Links in unusual forms, the same in every run."""
    generator = random.Random(7)
    sources: list[str] = []
    for _ in range(number):
        link = generator.choice(SHAPES).replace("{}", "https://shop.example/?" + generator.choice(QUERIES))
        other = generator.choice(SHAPES).replace("{}", "https://other.example/?" + generator.choice(QUERIES))
        outer = generator.choice(CONTEXTS)
        sources.append(outer.replace("{}", link, 1).replace("{}", other) + "x</a>")
    return sources


def test_unusual_links_are_parsed_as_by_html5lib():
    """
    Regression test of M3 (tests/defects.md).
    """
    for source in unusual_links(1_000):
        assert own_tokens(source) == html5lib_tokens(source), source
    for shape in SHAPES:
        for query in QUERIES:
            source = shape.replace("{}", query)
            assert own_tokens(source) == html5lib_tokens(source), source


PIECES = st.sampled_from(
    [
        *CONTEXTS, *SHAPES, *QUERIES,
        "<a ", "href", "=", '"', "'", ">", "/", "<", "&", "<!--", "-->", "--!>", "--", "</", "</a>", "<script",
        "</script",
        "<style>", "</style>", "<title>", "</title>", "<svg>", "</svg>", "]]>", "\r", "\n", " ", "\0", "!", "?", "#",
    ]
)  # fmt: skip
SOURCES = st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join)


@settings(max_examples=600, deadline=None)
@given(source=SOURCES)
def test_any_html_is_parsed_as_by_html5lib(source):
    """
    Regression test of M3 (tests/defects.md).
    """
    source = source.encode("utf-8", "replace").decode()
    # Without a parser's tree the tokenizer cannot know whether HTML inside `svg` is still open at a CDATA section.
    assume("CDATA" not in source or ("foreignObject" not in source and "annotation" not in source))
    assert own_tokens(source) == html5lib_tokens(source)


@pytest.mark.parametrize(
    ("written", "target"),
    [
        ('"https://shop.example/?id=1&currency=EUR"', "https://shop.example/?id=1&currency=EUR"),
        ('"https://shop.example/?id=1&section=2&region=eu&timestamp=3"', "https://shop.example/?id=1&section=2&region=eu&timestamp=3"),
        ('"https://shop.example/?id=1&params=2&notify=1&copy=3"', "https://shop.example/?id=1&params=2&notify=1&copy=3"),
        ("https://acme.example/reset?token=abc", "https://acme.example/reset?token=abc"),
        ("'https://x.test/?a=1&amp;b=2&#38;c'", "https://x.test/?a=1&b=2&c"),
        ('"\n https://x.test/a\n b "', "https://x.test/a b"),
        ("https://x.test/a/", "https://x.test/a/"),
        ('"https://x.test/é?q=\'"', "https://x.test/é?q='"),
    ],
)  # fmt: skip
def test_a_tracked_link_keeps_the_target_of_the_attribute(written, target):
    """
    Regression test of M3 (tests/defects.md).
    """
    content = compile_content(subject="S", html=f"<p><a class=x href={written}>x</a>")
    tracking = TrackingOptions(base="https://go.test", key=b"k" * 32)
    assert targets(content.render({}, send_id="S1", tracking=tracking).html) == [target]
    assert content.render({}, send_id="S1").text == f"x ({target})\n"
    with_url = compile_content(subject="S", html="<a href={{ url }}>x</a>")
    assert targets(with_url.render({"url": target}, send_id="S1", tracking=tracking).html) == [target]
    with_variable = compile_content(subject="S", html="{{ html|safe }}")
    html = f"<a href={written}>x</a>"
    assert targets(with_variable.render({"html": html}, send_id="S1", tracking=tracking).html) == [target]


def targets(html: str) -> list[str]:
    """The targets of the tracked links of a message."""
    hrefs = [token[2]["href"] for token in html5lib_tokens(html) if token[:2] == ("start", "a")]
    return [parse_qs(urlsplit(href).query, strict_parsing=True)["u"][0] for href in hrefs]


def test_text_that_only_looks_like_a_link_is_not_changed():
    """
    Regression test of M3 (tests/defects.md).
    """
    link = '<a href="https://x.test/">'
    tracking = TrackingOptions(base="https://go.test", key=b"k" * 32, opens=False)
    for source in (
        f"<!--{link}-->", f"<style>{link}</style>", f"<title>{link}</title>", f"<textarea>{link}</textarea>",
        f"<script>{link}</script>", f"<xmp>{link}</xmp>", f"<!doctype {link[:-1]}>", link[:-1], f"<img alt='{link}'>",
    ):  # fmt: skip
        content = compile_content(subject="S", html=source)
        assert content.render({}, send_id="S1", tracking=tracking).html == source


def test_a_template_condition_in_a_tag_chooses_between_tracked_links():
    """
    Regression test of M3 (tests/defects.md).
    """
    source = (
        '<a {% if vip %}href="https://vip.test/"{% else %}href=https://all.test/{% endif %}>1</a>'
        '<a{% if vip %} class="x"{% endif %} href="https://y.test/">2</a>'
    )
    content = compile_content(subject="S", html=source)
    tracking = TrackingOptions(base="https://go.test", key=b"k" * 32)
    for vip, first in ((True, "https://vip.test/"), (False, "https://all.test/")):
        rendered = content.render({"vip": vip}, send_id="S1", tracking=tracking)
        assert targets(rendered.html) == [first, "https://y.test/"]


def test_the_body_tag_is_found_as_the_html_standard_defines():
    """
    Regression test of S3 (tests/defects.md).
    """
    assert split_after_body_tag('<!--<body>--><BODY class="a>b" {{ x }}>y') == (
        '<!--<body>--><BODY class="a>b" {{ x }}>',
        "y",
    )
    assert split_after_body_tag("{# <body> #}<p>") == ("", "{# <body> #}<p>")
    assert split_after_body_tag("<title><body></title>") == ("", "<title><body></title>")
    tracked = compile_links("<body>x</body><!--</body>--><script></body></script>")
    assert tracked.source.startswith(f"<body>x{tracked.marker}P")


HOSTILE = [
    "<a href= ", "<a ", "<a", "<!--", "<!-- -->", "<", "&", "href=", "</", "</a", "<a href='", '<a href="x',
    '<a href="x">',
    "<a href=x ", "<a x=", "<a>", "<a><a>", "</a>", "<!", "<?", "<!-", "--!", "<![CDATA[", "<svg>", "<svg><![CDATA[",
    "<svg></g>", "<math><mi>", "<svg><font>", "<script>", "<script><!--", "<script></script", "<style></styl",
    "<title>",
    "<title></titl", "<body", "</body", "</body>", "<body>", "<template></noscript>", "<li>", "<td> ", "&am", "&#1",
    "&notit", "&amp;", " ", "\n", "\0", "{{a}}<a href= ", "<a {{a}} ", "<a href={{a}} ", '<a href="{{a}}">', "{{a}}",
    "<p>", "{%", "{{", "{#", "<a\ue000", "=\"'", "<a href= >",
]  # fmt: skip


@pytest.mark.parametrize(
    ("process", "piece"),
    [(text_from_html, piece) for piece in HOSTILE]
    + [(compile_links, piece) for piece in HOSTILE if re.search(r"<a|href|body|\{|&", piece)],
)
def test_parsing_takes_linear_time(process, piece):
    """Eight times the html takes at most twelve times as long, up to half a megabyte.

    Regression test of S3 (tests/defects.md).
    """
    prefix = "{{a}}" if "{" in piece else ""
    eighth, full = (prefix + piece * (size // len(piece)) for size in (62_500, 500_000))
    assert_linear(process, eighth, full)


def assert_linear(process, eighth: str, full: str) -> None:
    """`full`, which is eight times as long as `eighth`, takes at most twelve times as long to process.

    So at most two fifths of that time are quadratic in the length. A measurement that fails is repeated up to three
    times, because the machine may have been busy.
    """
    measured: list[tuple[float, float]] = []
    while not measured or (len(measured) < 4 and measured[-1][1] > max(12 * measured[-1][0], 0.1)):
        measured.append((seconds_of(process, eighth), seconds_of(process, full)))
    # Times below a tenth of a second vary too much.
    assert measured[-1][1] <= max(12 * measured[-1][0], 0.1), measured


def seconds_of(process, source: str) -> float:
    """Processor time of one call."""
    start = time.process_time()
    try:
        process(source)
    except TooManyLinks:
        pass
    return time.process_time() - start


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_values_are_processed_in_linear_time(piece):
    """The html in a recipient's values is processed in one pass too.

    Regression test of S3 (tests/defects.md).
    """
    content = compile_content(subject="S", html='<a href="{{ url }}">x</a>{{ html|safe }}')
    tracking = TrackingOptions(base="https://go.test", key=b"k" * 32)

    def render(value: str) -> None:
        try:
            content.render({"url": "https://x.test/" + value, "html": value}, send_id="S1", tracking=tracking)
        except (RenderFailed, TooManyLinksRendered):
            pass

    assert_linear(render, *(piece * (size // len(piece)) for size in (25_000, 200_000)))
