"""Html as plain text: for the text part of a message that has none."""

import re
from typing import Final

from postern.protocols.mail.templates.html_tokens import HtmlToken, HtmlTokenKind, attributes, text_value, tokens
from postern.protocols.mail.templates.links import mask, unmask, url_of

_BLOCKS: Final = frozenset(
    [
        "address",
        "article",
        "blockquote",
        "center",
        "dd",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "tbody",
        "tfoot",
        "thead",
        "tr",
        "ul",
    ]
)
_SPACED: Final = frozenset(["blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "table", "ul"])
_SILENT: Final = frozenset(["script", "style", "title", "template", "noscript", "iframe", "noembed", "noframes"])
"""Elements whose content is not read."""


def text_from_html(source: str, *, template: bool = True) -> str:
    """Readable plain text: paragraphs, lists with dashes, links as `text (https://…)`, images as their text.

    Template holes stay as they are, so a template for the html gives one for the text. With `template=False` the html
    has none.
    """
    source = _UNREADABLE.sub("", source)
    masked, holes = mask(source) if template else (source.replace("\ue000", ""), [])
    reader = _TextWriter(masked)
    for token in tokens(masked):
        reader.take(token)
    return unmask(reader.text(), holes)


_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_BLANKS = re.compile(r"[ \t\r\n\f]+")


class _TextWriter:
    """Takes the tokens of the document one by one."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._pieces: list[str] = []
        self._silent = 0
        """Open elements whose content is not read."""
        self._link: tuple[str, int] | None = None
        """Where the open link leads, and before which piece it began."""

    def take(self, token: HtmlToken) -> None:
        """Write down what the token says."""
        if token.kind is HtmlTokenKind.START:
            self._start(token)
        elif token.kind is HtmlTokenKind.END:
            self._end(token.name)
        elif token.kind is HtmlTokenKind.TEXT:
            self._say(text_value(self._source[token.start : token.end]))
        elif token.kind is HtmlTokenKind.RAW_TEXT:
            self._say(self._source[token.start : token.end])

    def _start(self, token: HtmlToken) -> None:
        tag = token.name.partition("\ue000")[0]
        if tag in _SILENT:
            self._silent += 1
        elif self._silent:
            return
        elif tag == "br":
            self._pieces.append("\n")
        elif tag == "hr":
            self._pieces.append("\n\n----\n\n")
        elif tag == "img":
            self._say(self._attribute(token, "alt"))
        elif tag == "a":
            self._end_link()  # A link cannot hold another one (§13.2.6.4.7).
            self._link = self._attribute(token, "href"), len(self._pieces)
        elif tag in _BLOCKS:
            self._pieces.append("\n\n" if tag in _SPACED else _SOFT)
            if tag == "li":
                self._pieces.append("- ")
        elif tag in {"td", "th"}:
            self._pieces.append(" ")

    def _end(self, name: str) -> None:
        tag = name.partition("\ue000")[0]
        if self._silent:
            self._silent -= tag in _SILENT
        elif tag == "a":
            self._end_link()
        elif tag == "br":  # `</br>` is `<br>` (§13.2.6.4.7).
            self._pieces.append("\n")
        elif tag in _BLOCKS:
            self._pieces.append("\n\n" if tag in _SPACED else _SOFT)

    def _attribute(self, token: HtmlToken, name: str) -> str:
        return next((each.value for each in attributes(self._source, token) if each.name == name), "")

    def _say(self, text: str) -> None:
        if not self._silent and text:
            self._pieces.append(_BLANKS.sub(" ", text))

    def _end_link(self) -> None:
        if self._link is None:
            return
        (href, start), self._link = self._link, None
        shown = "".join(self._pieces[start:]).strip()
        target = url_of(href).removeprefix("mailto:").removeprefix("tel:")
        if target and not target.startswith("#") and target not in {shown, shown.rstrip("/") + "/"}:
            self._say(f" ({target})" if shown else target)

    def text(self) -> str:
        found = "".join(self._pieces).replace("\u200b", "").replace("\u200c", "").replace("\xa0", " ")
        found = _BREAKS.sub(_one_break, re.sub(r" {2,}", " ", found)).strip()
        return found + "\n" if found else ""


_SOFT: Final = "\x01"
"""The edge of a block: a line break, unless there is one already."""
_BREAKS = re.compile(r" *[\n\x01][ \n\x01]*")


def _one_break(run: re.Match[str]) -> str:
    return "\n" * min(2, max(1, run[0].count("\n")))
