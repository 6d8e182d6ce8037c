"""Conversion of HTML to plain text, for messages without a text part."""

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
_SKIPPED: Final = frozenset(["script", "style", "title", "template", "noscript", "iframe", "noembed", "noframes"])
"""Elements whose content is dropped."""


def text_from_html(source: str, *, template: bool = True) -> str:
    """Readable plain text: paragraphs, lists with dashes, links as `text (https://…)`, images as their alt text.

    Template tags are preserved, so an HTML template gives a text template. With `template=False` the HTML has none.
    """
    source = _UNREADABLE.sub("", source)
    masked, tags = mask(source) if template else (source.replace("\ue000", ""), [])
    writer = _TextWriter(masked)
    for token in tokens(masked):
        writer.add(token)
    return unmask(writer.text(), tags)


_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_BLANKS = re.compile(r"[ \t\r\n\f]+")


class _TextWriter:
    """Builds the text from the tokens of a document."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._pieces: list[str] = []
        self._skipping = 0
        """The number of open elements whose content is dropped."""
        self._link: tuple[str, int] | None = None
        """The URL of the open link, and the index of its first piece."""

    def add(self, token: HtmlToken) -> None:
        """Append the text of one token."""
        if token.kind is HtmlTokenKind.START:
            self._start(token)
        elif token.kind is HtmlTokenKind.END:
            self._end(token.name)
        elif token.kind is HtmlTokenKind.TEXT:
            self._write(text_value(self._source[token.start : token.end]))
        elif token.kind is HtmlTokenKind.RAW_TEXT:
            self._write(self._source[token.start : token.end])

    def _start(self, token: HtmlToken) -> None:
        tag = token.name.partition("\ue000")[0]
        if tag in _SKIPPED:
            self._skipping += 1
        elif self._skipping:
            return
        elif tag == "br":
            self._pieces.append("\n")
        elif tag == "hr":
            self._pieces.append("\n\n----\n\n")
        elif tag == "img":
            self._write(self._attribute(token, "alt"))
        elif tag == "a":
            self._end_link()  # Links cannot be nested (HTML §13.2.6.4.7).
            self._link = self._attribute(token, "href"), len(self._pieces)
        elif tag in _BLOCKS:
            self._pieces.append("\n\n" if tag in _SPACED else _BLOCK_EDGE)
            if tag == "li":
                self._pieces.append("- ")
        elif tag in {"td", "th"}:
            self._pieces.append(" ")

    def _end(self, name: str) -> None:
        tag = name.partition("\ue000")[0]
        if self._skipping:
            self._skipping -= tag in _SKIPPED
        elif tag == "a":
            self._end_link()
        elif tag == "br":  # `</br>` is treated as `<br>` (HTML §13.2.6.4.7).
            self._pieces.append("\n")
        elif tag in _BLOCKS:
            self._pieces.append("\n\n" if tag in _SPACED else _BLOCK_EDGE)

    def _attribute(self, token: HtmlToken, name: str) -> str:
        return next((attribute.value for attribute in attributes(self._source, token) if attribute.name == name), "")

    def _write(self, text: str) -> None:
        if not self._skipping and text:
            self._pieces.append(_BLANKS.sub(" ", text))

    def _end_link(self) -> None:
        if self._link is None:
            return
        (href, start), self._link = self._link, None
        shown = "".join(self._pieces[start:]).strip()
        target = url_of(href).removeprefix("mailto:").removeprefix("tel:")
        if target and not target.startswith("#") and target not in {shown, shown.rstrip("/") + "/"}:
            self._write(f" ({target})" if shown else target)

    def text(self) -> str:
        text = "".join(self._pieces).replace("\u200b", "").replace("\u200c", "").replace("\xa0", " ")
        text = _LINE_BREAKS.sub(_collapse_breaks, re.sub(r" {2,}", " ", text)).strip()
        return text + "\n" if text else ""


_BLOCK_EDGE: Final = "\x01"
"""The edge of a block: a line break, unless there already is one."""
_LINE_BREAKS = re.compile(r" *[\n\x01][ \n\x01]*")


def _collapse_breaks(run: re.Match[str]) -> str:
    return "\n" * min(2, max(1, run[0].count("\n")))
