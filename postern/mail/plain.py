"""Html as plain text: for the text part of a message that has none."""

import re
from typing import Any, Final

from lxml import etree

from postern.mail.links import mask, unmask

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
_SILENT: Final = frozenset(["script", "style", "title", "template", "noscript", "head"])


def text_from_html(source: str) -> str:
    """Readable plain text: paragraphs, lists with dashes, links as `text (https://…)`, images as their text.

    Template holes stay as they are, so a template for the html gives one for the text.
    """
    masked, holes = mask(_UNREADABLE.sub("", source))
    if not masked.strip():
        return ""
    reader = _Reader()
    # The standard library's parser takes minutes for hostile tags; libxml2 takes one pass.
    # What is no text (comments, doctypes) needs no method, though lxml's types ask for all of them.
    target: Any = reader
    parser = etree.HTMLParser(target=target, no_network=True, huge_tree=True)
    parser.feed(masked)
    try:
        parser.close()
    except etree.ParserError:
        # Nothing but comments or broken tags: there is no text in it.
        return ""
    return unmask(reader.text(), holes)


_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class _Reader:
    """Takes the pieces of the document as libxml2 finds them."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._silent = 0
        self._links: list[tuple[str, int]] = []

    def start(self, tag: str, values: dict[str, str]) -> None:
        if tag in _SILENT:
            self._silent += 1
        elif tag == "br":
            self._pieces.append("\n")
        elif tag == "hr":
            self._pieces.append("\n\n----\n\n")
        elif tag == "img":
            self._say(values.get("alt", ""))
        elif tag == "a":
            self._links.append((values.get("href", ""), len(self._pieces)))
        elif tag in _BLOCKS:
            self._pieces.append("\n\n" if tag in _SPACED else _SOFT)
            if tag == "li":
                self._pieces.append("- ")
        elif tag in {"td", "th"}:
            self._pieces.append(" ")

    def end(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag == "a" and self._links:
            self._end_link(*self._links.pop())
        elif tag in _BLOCKS:
            self._pieces.append("\n\n" if tag in _SPACED else _SOFT)

    def data(self, text: str) -> None:
        self._say(re.sub(r"[ \t\r\n\f]+", " ", text))

    def close(self) -> None:
        """libxml2 asks for this at the end; the text is fetched by name."""

    def _say(self, text: str) -> None:
        if not self._silent and text:
            self._pieces.append(text)

    def _end_link(self, href: str, start: int) -> None:
        shown = "".join(self._pieces[start:]).strip()
        target = href.strip().removeprefix("mailto:").removeprefix("tel:")
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
