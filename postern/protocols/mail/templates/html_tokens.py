"""HTML tokenizer that reports source positions, following the HTML standard (§13.2.5).

One pass, linear in the length of any source. It follows the standard for attributes (unquoted values, duplicates,
character references), comments, raw text elements and foreign content (`svg`, `math`). It builds no tree, so an end tag
that a parser would ignore is reported as well.
"""

import re
from collections import Counter
from collections.abc import Iterator
from enum import IntEnum
from html.entities import html5
from typing import Final, NamedTuple


class HtmlTokenKind(IntEnum):
    """The kind of a token."""

    TEXT = 1
    """Text in which character references must be decoded."""
    RAW_TEXT = 2
    """Text without character references: the content of `script` and `style`, and CDATA sections."""
    START = 3
    END = 4
    COMMENT = 5
    """A comment, a bogus comment or a doctype."""


class HtmlToken(NamedTuple):
    """A token; its source is `source[start:end]`."""

    kind: HtmlTokenKind
    start: int
    end: int
    name: str = ""
    """The lower-case name of a tag."""


class Attribute(NamedTuple):
    """An attribute of a start tag; its value as written is `source[start:end]`, without quotes."""

    name: str
    """In lower case."""
    value: str
    r"""The value with character references decoded and line ends normalized to `\n`."""
    quote: str
    """`"`, `'`, or an empty string if the value is unquoted or missing."""
    start: int
    end: int


_BLANK: Final = "\t\n\f\r "
_LOWER_CASE: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ\0", "abcdefghijklmnopqrstuvwxyz\ufffd")
"""Names are compared case-insensitively for ASCII letters; NUL becomes U+FFFD."""
_MARKUP = re.compile(r"<(?=[A-Za-z!?/])")
# Every repetition is possessive, so matching never backtracks.
_NAME = re.compile(rf"</?(?P<name>[A-Za-z][^{_BLANK}/>]*+)")
_VALUE: Final = rf"""(?:"[^"]*+"?+|'[^']*+'?+|[^{_BLANK}>"'][^{_BLANK}>]*+|)"""
_ATTRIBUTES = re.compile(
    rf"(?:[{_BLANK}/]++|[^{_BLANK}/>][^{_BLANK}/>=]*+(?:[{_BLANK}]*+=[{_BLANK}]*+{_VALUE})?+)*+(?P<closed>>?+)"
)
_ATTRIBUTE = re.compile(
    rf"(?P<name>[^{_BLANK}/>][^{_BLANK}/>=]*+)"
    rf"""(?:[{_BLANK}]*+=[{_BLANK}]*+(?:"(?P<double>[^"]*+)"|'(?P<single>[^']*+)'|(?P<bare>[^{_BLANK}>"'][^{_BLANK}>]*+)|))?"""
)
_COMMENT_END = re.compile(r"--!?>")
_SCRIPT = re.compile(rf"<!--|-->|<(?P<slash>/?)script(?=[{_BLANK}/>])", re.IGNORECASE | re.ASCII)

RAW_TEXT: Final = frozenset(["iframe", "noembed", "noframes", "style", "xmp"])
"""Elements with raw text content (scripting is disabled in mail, so `noscript` is not one of them)."""
ESCAPABLE_RAW_TEXT: Final = frozenset(["textarea", "title"])
"""Elements with text content in which only character references are interpreted."""
_RAW_END: Final = {
    name: re.compile(rf"</{name}(?=[{_BLANK}/>])", re.IGNORECASE | re.ASCII) for name in RAW_TEXT | ESCAPABLE_RAW_TEXT
}


def tokens(source: str) -> Iterator[HtmlToken]:
    """The tokens of `source` in order. Tokenization ends at an unclosed tag."""
    foreign = _ForeignContent()
    end = len(source)
    at = text_start = 0
    while True:
        markup = _MARKUP.search(source, at)
        if markup is None:
            break
        start = markup.start()
        next_character = source[start + 1]
        if next_character == "/" and start + 2 == end:  # `</` at the very end is text.
            break
        if text_start < start:
            yield HtmlToken(HtmlTokenKind.TEXT, text_start, start)
        if next_character in "!?" or (next_character == "/" and not _is_letter(source[start + 2])):
            token = _declaration(source, start, cdata=foreign.active)
            if token is not None:
                yield token
            at = text_start = _declaration_end(source, start, cdata=foreign.active)
            continue
        name_match = _NAME.match(source, start)
        assert name_match
        attributes_match = _ATTRIBUTES.match(source, name_match.end())
        assert attributes_match
        at = text_start = attributes_match.end()
        if not attributes_match["closed"]:  # The source ends inside the tag, which the standard drops.
            return
        name = name_match["name"].translate(_LOWER_CASE)
        if next_character == "/":
            foreign.end(name)
            yield HtmlToken(HtmlTokenKind.END, start, at, name)
            continue
        token = HtmlToken(HtmlTokenKind.START, start, at, name)
        is_html = foreign.start(source, token)
        yield token
        if not is_html:
            continue
        if name in _RAW_END:
            closing = _RAW_END[name].search(source, at)
            at = text_start = closing.start() if closing else end
        elif name == "script":
            at = text_start = _script_end(source, at)
        elif name == "plaintext":
            at = text_start = end
        else:
            continue
        if token.end < at:
            yield HtmlToken(HtmlTokenKind.TEXT if name in ESCAPABLE_RAW_TEXT else HtmlTokenKind.RAW_TEXT, token.end, at)
    if text_start < end:
        yield HtmlToken(HtmlTokenKind.TEXT, text_start, end)


def attributes(source: str, tag: HtmlToken) -> list[Attribute]:
    """The attributes of a start tag in source order. Duplicates are included; the first one counts."""
    result: list[Attribute] = []
    for match in _ATTRIBUTE.finditer(source, tag.start + 1 + len(tag.name), tag.end - 1):
        group = match.lastgroup or "name"
        quote = {"double": '"', "single": "'"}.get(group, "")
        if group == "name":
            start = end = match.end()
        else:
            start, end = match.span(group)
        value = attribute_value(source[start:end])
        result.append(Attribute(match["name"].translate(_LOWER_CASE), value, quote, start, end))
    return result


def attribute_value(source: str) -> str:
    r"""The value of an attribute: character references decoded, line ends as `\n`, NUL as U+FFFD."""
    value = decode_attribute(_with_lf(source))
    return value.replace("\0", "\ufffd") if "\0" in value else value


def decode_attribute(source: str) -> str:
    """Decode the character references of an attribute value."""
    return _REFERENCE.sub(_reference_in_attribute, source) if "&" in source else source


def text_value(source: str) -> str:
    r"""The text between tags: character references decoded, line ends as `\n`."""
    source = _with_lf(source)
    return _REFERENCE.sub(_reference_in_text, source) if "&" in source else source


def _with_lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()


# Comments, doctypes, scripts -------------------------------------------------------------------------------


def _declaration(source: str, start: int, *, cdata: bool) -> HtmlToken | None:
    """The token for `<!…`, `<?…` or `</` without a name; None for `</>`."""
    if source.startswith("</>", start):
        return None
    end = _declaration_end(source, start, cdata=cdata)
    if cdata and source.startswith("<![CDATA[", start):
        inner = end - 3 if source.endswith("]]>", start + 9, end) else end
        return HtmlToken(HtmlTokenKind.RAW_TEXT, start + 9, inner) if inner > start + 9 else None
    return HtmlToken(HtmlTokenKind.COMMENT, start, end)


def _declaration_end(source: str, start: int, *, cdata: bool) -> int:
    """The offset after a comment, a doctype or, if `cdata` is set, a CDATA section that begins at `start`."""
    if source.startswith("<!--", start):
        # `<!-->` and `<!--->` are complete comments.
        for abrupt_end in (">", "->"):
            if source.startswith(abrupt_end, start + 4):
                return start + 4 + len(abrupt_end)
        closing = _COMMENT_END.search(source, start + 4)
        return closing.end() if closing else len(source)
    terminator = "]]>" if cdata and source.startswith("<![CDATA[", start) else ">"
    position = source.find(terminator, start + (9 if terminator == "]]>" else 2))
    return position + len(terminator) if position >= 0 else len(source)


def _script_end(source: str, at: int) -> int:
    """The end of a script's content (§13.2.5.15 to §13.2.5.31); inside `<!-- -->` one nested script is allowed."""
    escaped = nested = False
    while (match := _SCRIPT.search(source, at)) is not None:
        at = match.end()
        if match[0] == "<!--":
            escaped = True
            at = match.start() + 2  # The dashes may also belong to `-->`.
        elif match[0] == "-->":
            escaped = nested = False
        elif not match["slash"]:
            nested = nested or escaped
        elif nested:
            nested = False
        else:
            return match.start()
    return len(source)


# Foreign content -------------------------------------------------------------------------------------------

_ENDS_FOREIGN_CONTENT: Final = frozenset([
    "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2",
    "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre",
    "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul", "var",
])  # fmt: skip
"""HTML elements that end foreign content (§13.2.6.5)."""
_TEXT_INTEGRATION_POINTS: Final = frozenset(["mi", "mo", "mn", "ms", "mtext"])
"""MathML elements that may contain HTML besides `mglyph` and `malignmark` (text integration points)."""
_HTML_INTEGRATION_POINTS: Final = frozenset(["foreignobject", "desc", "title"])
"""SVG elements that contain HTML (HTML integration points)."""


class _ForeignContent:
    """Tracks whether the tokenizer is inside `svg` or `math`, where elements have no raw text and CDATA exists."""

    def __init__(self) -> None:
        self._open: list[tuple[str, str, str]] = []
        """The open foreign elements: name, namespace (svg or math) and content model (`html`, `text` or empty)."""
        self._counts: Counter[str] = Counter()
        self._foreign_around_html = 0
        """The number of open foreign elements when the last HTML element inside them started."""
        self._open_html: Counter[str] = Counter()
        """Open HTML elements by name: an upper bound of a parser's stack of open elements."""

    @property
    def active(self) -> bool:
        """Whether the innermost open element belongs to `svg` or `math`."""
        return len(self._open) > self._foreign_around_html

    def start(self, source: str, tag: HtmlToken) -> bool:
        """Process a start tag and count it if it is an HTML element; returns whether it is one."""
        is_html = self._process_start_tag(source, tag)
        if is_html:
            self._open_html[tag.name] += 1
            self._foreign_around_html = len(self._open)
        return is_html

    def _process_start_tag(self, source: str, tag: HtmlToken) -> bool:
        """Open a foreign element, or close the ones that the tag ends; returns whether the tag is an HTML element."""
        name = tag.name
        if not self._open and name not in {"svg", "math"}:
            return True
        namespace, content_model = self._open[-1][1:] if self._open else ("", "html")
        if content_model == "html" or (content_model == "text" and name not in {"mglyph", "malignmark"}):
            if name not in {"svg", "math"}:
                return True
            namespace = name
        elif self._open[-1][0] == "annotation-xml" and name == "svg":
            namespace = "svg"
        elif name in _ENDS_FOREIGN_CONTENT or (
            name == "font" and any(attribute.name in {"color", "face", "size"} for attribute in attributes(source, tag))
        ):
            self._close_to_integration_point()
            return True
        if source[tag.end - 2] != "/" or not _is_self_closing(source, tag):
            self._open.append((name, namespace, _content_model(source, tag, namespace)))
            self._counts[name] += 1
        return False

    def end(self, name: str) -> None:
        """Process an end tag."""
        if self._open and self._counts[name]:
            while self._pop() != name:
                pass
            return
        if self._open_html[name]:
            self._open_html[name] -= 1
        elif name not in {"p", "br"}:
            return
        self._close_to_integration_point()

    def _close_to_integration_point(self) -> None:
        """Close foreign elements up to an integration point with HTML content."""
        while self._open and not self._open[-1][2]:
            self._pop()

    def _pop(self) -> str:
        name = self._open.pop()[0]
        self._counts[name] -= 1
        self._foreign_around_html = min(self._foreign_around_html, len(self._open))
        return name


def _content_model(source: str, tag: HtmlToken, namespace: str) -> str:
    """The content of a foreign element: `html`, `text` (HTML except for two elements), or empty (foreign content)."""
    if namespace == "svg":
        return "html" if tag.name in _HTML_INTEGRATION_POINTS else ""
    if tag.name == "annotation-xml":
        encoding = next(
            (attribute.value.lower() for attribute in attributes(source, tag) if attribute.name == "encoding"), ""
        )
        return "html" if encoding in {"text/html", "application/xhtml+xml"} else ""
    return "text" if tag.name in _TEXT_INTEGRATION_POINTS else ""


def _is_self_closing(source: str, tag: HtmlToken) -> bool:
    """Whether the `/` before `>` makes the tag self-closing, instead of ending an unquoted value."""
    tag_attributes = attributes(source, tag)
    return not (
        tag_attributes
        and tag_attributes[-1].end == tag.end - 1
        and tag_attributes[-1].start < tag_attributes[-1].end
        and not tag_attributes[-1].quote
    )


# Character references (§13.2.5.72 to §13.2.5.80) ------------------------------------------------------------

_REFERENCE = re.compile(r"&(?:#(?:[xX][0-9A-Fa-f]++|[0-9]++);?|[A-Za-z][A-Za-z0-9]{1,31}+;?)")
_WINDOWS_1252: Final = {
    0x80 + number: ord(character)
    for number, character in enumerate(bytes(range(0x80, 0xA0)).decode("cp1252", "replace"))
    if character != "\ufffd"
}
"""Control character numbers that stand for Windows-1252 characters."""


def _reference_in_text(reference: re.Match[str]) -> str:
    return _reference(reference, in_attribute=False)


def _reference_in_attribute(reference: re.Match[str]) -> str:
    return _reference(reference, in_attribute=True)


def _reference(reference: re.Match[str], *, in_attribute: bool) -> str:
    text = reference[0]
    if text[1] == "#":
        return _numeric_reference(text)
    body = text[1:]
    for length in range(len(body), 1, -1):
        replacement = html5.get(body[:length])
        if replacement is None:
            continue
        if in_attribute and body[length - 1] != ";":
            after = body[length : length + 1] or reference.string[reference.end() : reference.end() + 1]
            # `?a=1&copy=2`: a query parameter whose name starts like a reference is not one.
            if after == "=" or (after.isascii() and after.isalnum()):
                return text
        return replacement + body[length:]
    return text


def _numeric_reference(text: str) -> str:
    digits = text[2:].rstrip(";")
    is_hex = digits[0] in "xX"
    digits = digits[1:].lstrip("0") if is_hex else digits.lstrip("0")
    if len(digits) > 7:
        return "\ufffd"
    number = int(digits or "0", 16 if is_hex else 10)
    if number == 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return "\ufffd"
    return chr(_WINDOWS_1252.get(number, number))
