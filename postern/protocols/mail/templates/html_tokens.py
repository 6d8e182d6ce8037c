"""The tokens of an HTML document, with their positions, as the HTML standard's tokenizer finds them (§13.2.5).

One pass: the time is linear in the length of the source, whatever is in it. The tokenizer follows the standard for
attributes (unquoted values, duplicates, character references), comments, raw text elements and foreign content
(`svg`, `math`). It builds no tree, so an end tag that a parser would ignore is a token as well.
"""

import re
from collections import Counter
from collections.abc import Iterator
from enum import IntEnum
from html.entities import html5
from typing import Final, NamedTuple


class HtmlTokenKind(IntEnum):
    """What a token is."""

    TEXT = 1
    """Characters with character references: they are to be decoded."""
    RAW_TEXT = 2
    """Characters that mean themselves: the content of `script` and `style`, and CDATA sections."""
    START = 3
    END = 4
    COMMENT = 5
    """A comment, what the standard calls a bogus comment, or a doctype."""


class HtmlToken(NamedTuple):
    """A piece of the source: `source[start:end]`."""

    kind: HtmlTokenKind
    start: int
    end: int
    name: str = ""
    """Of a tag: in lower case."""


class Attribute(NamedTuple):
    """An attribute of a start tag. The value as it is written is `source[start:end]`, without its quotes."""

    name: str
    """In lower case."""
    value: str
    """With its character references decoded and its line ends made `\\n`."""
    quote: str
    """`"`, `'`, or nothing where the value is unquoted or missing."""
    start: int
    end: int


_BLANK: Final = "\t\n\f\r "
_LETTERS: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ\0", "abcdefghijklmnopqrstuvwxyz\ufffd")
"""Names are compared without the case of ASCII letters, and NUL is U+FFFD in them."""
_MARKUP = re.compile(r"<(?=[A-Za-z!?/])")
# Every repetition is possessive: what it took is never given back, so nothing is read twice.
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
"""Elements in which nothing is markup (scripting is off in mail, so `noscript` is none of them)."""
ESCAPABLE_RAW_TEXT: Final = frozenset(["textarea", "title"])
"""Elements in which only character references mean something."""
_RAW_END: Final = {
    name: re.compile(rf"</{name}(?=[{_BLANK}/>])", re.IGNORECASE | re.ASCII) for name in RAW_TEXT | ESCAPABLE_RAW_TEXT
}


def tokens(source: str) -> Iterator[HtmlToken]:
    """The tokens of `source` in order; a tag that is not closed ends it."""
    foreign = _ForeignContent()
    end = len(source)
    at = text = 0
    while True:
        markup = _MARKUP.search(source, at)
        if markup is None:
            break
        start = markup.start()
        sign = source[start + 1]
        if sign == "/" and start + 2 == end:  # `</` at the very end is text.
            break
        if text < start:
            yield HtmlToken(HtmlTokenKind.TEXT, text, start)
        if sign in "!?" or (sign == "/" and not _is_letter(source[start + 2])):
            token = _declaration(source, start, cdata=foreign.active)
            if token is not None:
                yield token
            at = text = _declaration_end(source, start, cdata=foreign.active)
            continue
        named = _NAME.match(source, start)
        assert named
        rest = _ATTRIBUTES.match(source, named.end())
        assert rest
        at = text = rest.end()
        if not rest["closed"]:  # The source ends within the tag: there is no tag.
            return
        name = named["name"].translate(_LETTERS)
        if sign == "/":
            foreign.end(name)
            yield HtmlToken(HtmlTokenKind.END, start, at, name)
            continue
        token = HtmlToken(HtmlTokenKind.START, start, at, name)
        in_html = foreign.start(source, token)
        yield token
        if not in_html:
            continue
        if name in _RAW_END:
            closing = _RAW_END[name].search(source, at)
            at = text = closing.start() if closing else end
        elif name == "script":
            at = text = _script_end(source, at)
        elif name == "plaintext":
            at = text = end
        else:
            continue
        if token.end < at:
            yield HtmlToken(HtmlTokenKind.TEXT if name in ESCAPABLE_RAW_TEXT else HtmlTokenKind.RAW_TEXT, token.end, at)
    if text < end:
        yield HtmlToken(HtmlTokenKind.TEXT, text, end)


def attributes(source: str, tag: HtmlToken) -> list[Attribute]:
    """The attributes of a start tag in the order of writing; of duplicates the first one counts, and comes first."""
    found: list[Attribute] = []
    for match in _ATTRIBUTE.finditer(source, tag.start + 1 + len(tag.name), tag.end - 1):
        group = match.lastgroup or "name"
        quote = {"double": '"', "single": "'"}.get(group, "")
        if group == "name":
            start = end = match.end()
        else:
            start, end = match.span(group)
        value = attribute_value(source[start:end])
        found.append(Attribute(match["name"].translate(_LETTERS), value, quote, start, end))
    return found


def attribute_value(written: str) -> str:
    """What the value of an attribute means: character references decoded, line ends as `\\n`, NUL as U+FFFD."""
    value = decode_attribute(_plain_lines(written))
    return value.replace("\0", "\ufffd") if "\0" in value else value


def decode_attribute(written: str) -> str:
    """The value of an attribute with its character references decoded."""
    return _REFERENCE.sub(_reference_in_attribute, written) if "&" in written else written


def text_value(written: str) -> str:
    """What characters between tags mean: character references decoded, line ends as `\\n`."""
    written = _plain_lines(written)
    return _REFERENCE.sub(_reference_in_text, written) if "&" in written else written


def _plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()


# Comments, doctypes, scripts -------------------------------------------------------------------------------


def _declaration(source: str, start: int, *, cdata: bool) -> HtmlToken | None:
    """The token of what begins with `<!`, `<?`, or `</` without a name; `</>` is none."""
    if source.startswith("</>", start):
        return None
    end = _declaration_end(source, start, cdata=cdata)
    if cdata and source.startswith("<![CDATA[", start):
        inner = end - 3 if source.endswith("]]>", start + 9, end) else end
        return HtmlToken(HtmlTokenKind.RAW_TEXT, start + 9, inner) if inner > start + 9 else None
    return HtmlToken(HtmlTokenKind.COMMENT, start, end)


def _declaration_end(source: str, start: int, *, cdata: bool) -> int:
    if source.startswith("<!--", start):
        # `<!-->` and `<!--->` are whole comments.
        for odd in (">", "->"):
            if source.startswith(odd, start + 4):
                return start + 4 + len(odd)
        closing = _COMMENT_END.search(source, start + 4)
        return closing.end() if closing else len(source)
    last = "]]>" if cdata and source.startswith("<![CDATA[", start) else ">"
    found = source.find(last, start + (9 if last == "]]>" else 2))
    return found + len(last) if found >= 0 else len(source)


def _script_end(source: str, at: int) -> int:
    """Where the content of a script ends (§13.2.5.15 to §13.2.5.31): within `<!-- -->`, scripts may be nested once."""
    escaped = nested = False
    while (found := _SCRIPT.search(source, at)) is not None:
        at = found.end()
        if found[0] == "<!--":
            escaped = True
            at = found.start() + 2  # Its dashes may be those of `-->`.
        elif found[0] == "-->":
            escaped = nested = False
        elif not found["slash"]:
            nested = nested or escaped
        elif nested:
            nested = False
        else:
            return found.start()
    return len(source)


# Foreign content -------------------------------------------------------------------------------------------

_BREAKS_OUT: Final = frozenset([
    "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2",
    "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre",
    "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul", "var",
])  # fmt: skip
"""HTML elements that end foreign content (§13.2.6.5)."""
_TEXT_POINTS: Final = frozenset(["mi", "mo", "mn", "ms", "mtext"])
_HTML_POINTS: Final = frozenset(["foreignobject", "desc", "title"])


class _ForeignContent:
    """Whether the tokenizer is inside `svg` or `math`: there, no element is raw text, and CDATA sections exist."""

    def __init__(self) -> None:
        self._open: list[tuple[str, str, str]] = []
        """The open foreign elements: name, language (svg or math), and what they hold (`html`, `text`, or nothing)."""
        self._counts: Counter[str] = Counter()
        self._html_within = 0
        """How many elements were open when the last HTML element within them began."""
        self._html: Counter[str] = Counter()
        """HTML elements that were opened and not closed, by name: no more than a parser's stack may hold."""

    @property
    def active(self) -> bool:
        """Whether the innermost open element belongs to `svg` or `math`."""
        return len(self._open) > self._html_within

    def start(self, source: str, tag: HtmlToken) -> bool:
        """Take a start tag in; whether it is an HTML element."""
        is_html = self._takes_as_html(source, tag)
        if is_html:
            self._html[tag.name] += 1
            self._html_within = len(self._open)
        return is_html

    def _takes_as_html(self, source: str, tag: HtmlToken) -> bool:
        name = tag.name
        if not self._open and name not in {"svg", "math"}:
            return True
        language, holds = self._open[-1][1:] if self._open else ("", "html")
        if holds == "html" or (holds == "text" and name not in {"mglyph", "malignmark"}):
            if name not in {"svg", "math"}:
                return True
            language = name
        elif self._open[-1][0] == "annotation-xml" and name == "svg":
            language = "svg"
        elif name in _BREAKS_OUT or (
            name == "font" and any(each.name in {"color", "face", "size"} for each in attributes(source, tag))
        ):
            self._break_out()
            return True
        if source[tag.end - 2] != "/" or not _closes_itself(source, tag):
            self._open.append((name, language, _held_by(source, tag, language)))
            self._counts[name] += 1
        return False

    def end(self, name: str) -> None:
        """Take an end tag in."""
        if self._open and self._counts[name]:
            while self._pop() != name:
                pass
            return
        if self._html[name]:
            self._html[name] -= 1
        elif name not in {"p", "br"}:
            return
        self._break_out()

    def _break_out(self) -> None:
        """Close foreign elements up to one that holds HTML."""
        while self._open and not self._open[-1][2]:
            self._pop()

    def _pop(self) -> str:
        name = self._open.pop()[0]
        self._counts[name] -= 1
        self._html_within = min(self._html_within, len(self._open))
        return name


def _held_by(source: str, tag: HtmlToken, language: str) -> str:
    """What an element of `svg` or `math` holds: `html`, `text` (HTML but for two elements), or nothing special."""
    if language == "svg":
        return "html" if tag.name in _HTML_POINTS else ""
    if tag.name == "annotation-xml":
        encoding = next((each.value.lower() for each in attributes(source, tag) if each.name == "encoding"), "")
        return "html" if encoding in {"text/html", "application/xhtml+xml"} else ""
    return "text" if tag.name in _TEXT_POINTS else ""


def _closes_itself(source: str, tag: HtmlToken) -> bool:
    """Whether the `/` before the `>` is the tag's own, not the end of an unquoted value."""
    found = attributes(source, tag)
    return not (found and found[-1].end == tag.end - 1 and found[-1].start < found[-1].end and not found[-1].quote)


# Character references (§13.2.5.72 to §13.2.5.80) ------------------------------------------------------------

_REFERENCE = re.compile(r"&(?:#(?:[xX][0-9A-Fa-f]++|[0-9]++);?|[A-Za-z][A-Za-z0-9]{1,31}+;?)")
_WINDOWS_1252: Final = {
    0x80 + number: ord(character)
    for number, character in enumerate(bytes(range(0x80, 0xA0)).decode("cp1252", "replace"))
    if character != "\ufffd"
}
"""Numbers of control characters that stand for the characters of Windows-1252."""


def _reference_in_text(reference: re.Match[str]) -> str:
    return _reference(reference, in_attribute=False)


def _reference_in_attribute(reference: re.Match[str]) -> str:
    return _reference(reference, in_attribute=True)


def _reference(reference: re.Match[str], *, in_attribute: bool) -> str:
    written = reference[0]
    if written[1] == "#":
        return _numbered(written)
    body = written[1:]
    for length in range(len(body), 1, -1):
        meaning = html5.get(body[:length])
        if meaning is None:
            continue
        if in_attribute and body[length - 1] != ";":
            after = body[length : length + 1] or reference.string[reference.end() : reference.end() + 1]
            # `?a=1&copy=2`: a parameter that happens to begin with a name is no reference.
            if after == "=" or (after.isascii() and after.isalnum()):
                return written
        return meaning + body[length:]
    return written


def _numbered(written: str) -> str:
    digits = written[2:].rstrip(";")
    is_hex = digits[0] in "xX"
    digits = digits[1:].lstrip("0") if is_hex else digits.lstrip("0")
    if len(digits) > 7:
        return "\ufffd"
    number = int(digits or "0", 16 if is_hex else 10)
    if number == 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return "\ufffd"
    return chr(_WINDOWS_1252.get(number, number))
