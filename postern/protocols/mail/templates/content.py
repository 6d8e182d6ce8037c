"""The content of a message (subject, text and html), which is compiled once and rendered for each recipient."""

import re
from collections.abc import Callable, Mapping
from secrets import token_hex
from typing import Any, Final, Literal, NamedTuple

import msgspec

from postern.protocols.mail.templates.html_tokens import HtmlToken, HtmlTokenKind, attributes, text_value, tokens
from postern.protocols.mail.templates.links import (
    TooManyLinks,
    TooManyLinksRendered,
    TrackedTemplate,
    compile_links,
    mask,
    unmask,
    unsubscribe_url,
    url_of,
)
from postern.protocols.mail.templates.template import (
    CompiledTemplate,
    Engine,
    OutputFormat,
    RenderValues,
    TemplateInvalid,
    compile_template,
)

UNSUBSCRIBE_NAMES: Final[tuple[str, ...]] = ("unsubscribe_url", "unsubscribeUrl")
"""Template variables that are defined for every message."""
Part = Literal["subject", "html", "text"]
ReportPart = Callable[[Part | None], None]
"""Called with the part of a message before it is processed, so that the part is known if the render process dies."""


def no_report(part: Part | None) -> None:
    """A ReportPart that does nothing."""


class TrackingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of the tracked links of one send."""

    base: str
    """Scheme and host of the links, without a trailing slash."""
    key: bytes
    """The key that signs the links."""
    opens: bool = True
    clicks: bool = True


class RenderedContent(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a message for one recipient."""

    subject: str
    text: str | None
    html: str | None
    unsubscribe_url: str | None = None
    """The unsubscribe link of this send; None without tracking options."""


def is_blank(html: str | None, text: str | None) -> bool:
    """Whether both parts are empty or only white space. Tags count as content, even if they would show nothing."""
    return not (html or "").strip() and not (text or "").strip()


class SeparableSource(NamedTuple):
    """The templates of a content whose parts can be rendered apart from each other."""

    engine: Engine
    text: str | None
    """The template of the text, with `unsubscribe_placeholder` in place of the link for unsubscribing."""
    html: TrackedTemplate | None
    unsubscribe_placeholder: str | None


class LiteralText:
    """A part of a message that is sent as written. Has the `render` method of a compiled template."""

    __slots__ = ("_source",)

    def __init__(self, source: str) -> None:
        self._source = source

    def render(self, values: Mapping[str, Any] | RenderValues) -> str:
        """The part unchanged; `values` is not used."""
        return self._source


class Content:
    """Subject, text and html of a message, compiled for any number of recipients and threads.

    Templates can use `unsubscribe_url` (or `unsubscribeUrl`) if tracking options are given.
    """

    __slots__ = (
        "_engine",
        "_html",
        "_literal_html",
        "_scan_rendered",
        "_shared_values",
        "_subject",
        "_text",
        "_text_from_rendered",
        "_text_part",
        "_text_source",
        "_tracked",
        "_unsubscribe_placeholder",
    )

    def __init__(
        self,
        subject: str,
        html: str | None,
        text: str | None,
        shared_values: Mapping[str, Any],
        report_part: ReportPart,
        engine: Engine,
    ) -> None:
        self._shared_values = dict(shared_values)
        self._engine: Engine = engine
        report_part("subject")
        self._subject = self._compile(subject, OutputFormat.TEXT)
        self._tracked: TrackedTemplate | None = None
        self._html: CompiledTemplate | LiteralText | None = None
        self._literal_html: str | None = None
        """The html of a message with the engine `none`, for recipients without tracked links."""
        self._unsubscribe_placeholder: str | None = None
        """The placeholder of the recipient's unsubscribe link in the text."""
        self._scan_rendered = self._text_from_rendered = False
        """Whether links are searched for in the rendered html, and whether the text is derived from it."""
        if html is not None:
            report_part("html")
            # The original html is compiled first, so that an error has the author's line and column.
            self._compile(html, OutputFormat.HTML)
            self._tracked = compile_links(html, template=engine != "none")
            self._html = self._compile(self._tracked.source, OutputFormat.HTML)
            if engine == "none":
                self._literal_html = html
            # A variable may contain html with links, which can only be found after rendering.
            self._scan_rendered = engine != "none" and _SAFE_FILTER.search(html) is not None
        # If the text is derived from the html, errors in the text are reported as errors of the html.
        self._text_part: Part = "html" if text is None else "text"
        self._text_source: str | None = None
        report_part(self._text_part)
        self._text = self._compile_text(text, html)

    def _compile(self, source: str, kind: OutputFormat) -> CompiledTemplate | LiteralText:
        return LiteralText(source) if self._engine == "none" else compile_template(source, kind)

    def _compile_text(self, text: str | None, html: str | None) -> CompiledTemplate | LiteralText | None:
        if text is not None or html is None:
            self._text_source = text
            return None if text is None else self._compile(text, OutputFormat.TEXT)
        if self._scan_rendered:
            self._text_from_rendered = True
            return None
        if self._tracked is not None and self._tracked.has_unsubscribe:
            # The URL of the unsubscribe link differs for each recipient.
            self._unsubscribe_placeholder = f"https://{token_hex(16)}.invalid"
            html = self._tracked.rewrite(self._tracked.source, **_UNTRACKED, unsubscribe=self._unsubscribe_placeholder)
        derived = self._text_source = text_from_html(html, template=self._engine != "none")
        try:
            return self._compile(derived, OutputFormat.TEXT)
        except TemplateInvalid:
            # The text does not have the HTML tags. One of these contained a statement such as `{% if %}`, so the text
            # is not a valid template.
            self._text_from_rendered = True
            return None

    def separable_source(self, tracking: TrackingOptions) -> SeparableSource | None:
        """The templates for a layout; None if links or the text are derived from what was rendered, or if the html is
        sent as written."""
        if self._scan_rendered or self._text_from_rendered or self._shared_values:
            return None
        if self._literal_html is not None and not (tracking.clicks or tracking.opens):
            return None
        return SeparableSource(self._engine, self._text_source, self._tracked, self._unsubscribe_placeholder)

    def render_subject(self, values: Mapping[str, Any]) -> str:
        """The subject alone. Raises RenderFailed."""
        return self._subject.render(values)

    def render(
        self,
        values: Mapping[str, Any],
        *,
        send_id: str,
        tracking: TrackingOptions | None = None,
        report_part: ReportPart = no_report,
    ) -> RenderedContent:
        """Render the content for one recipient, with signed links and the tracking pixel as set in `tracking`.

        Raises RenderFailed or TooManyLinksRendered, which concern only this recipient.
        """
        unsubscribe_link = None
        merged: dict[str, Any] = {**self._shared_values, **values}
        if tracking is not None:
            unsubscribe_link = unsubscribe_url(tracking.base, send_id, tracking.key)
            merged |= dict.fromkeys(UNSUBSCRIBE_NAMES, unsubscribe_link)
        report_part("subject")
        prepared = merged if self._engine == "none" else RenderValues(merged)
        subject = self._subject.render(prepared).strip()
        report_part(self._text_part)
        # Without tracking options, the caller may have given the link as a shared value.
        link_for_content = unsubscribe_link or self._shared_values.get("unsubscribe_url")
        text = self._text.render(prepared) if self._text is not None else None
        if text is not None and self._unsubscribe_placeholder and link_for_content:
            text = text.replace(self._unsubscribe_placeholder, link_for_content)
        report_part("html")
        html = self._render_html(prepared, send_id, tracking, link_for_content)
        if self._html is not None and (
            self._text_from_rendered or (self._unsubscribe_placeholder and not link_for_content)
        ):
            text = text_from_html(self._render_html(prepared, send_id, None, link_for_content) or "", template=False)
        return RenderedContent(subject=subject, text=text, html=html, unsubscribe_url=unsubscribe_link)

    def _render_html(
        self,
        values: Mapping[str, Any] | RenderValues,
        send_id: str,
        tracking: TrackingOptions | None,
        unsubscribe_link: str | None,
    ) -> str | None:
        if self._html is None or self._tracked is None:
            return None
        is_tracked = tracking is not None and (tracking.clicks or tracking.opens)
        if self._literal_html is not None and not (is_tracked or (self._tracked.has_unsubscribe and unsubscribe_link)):
            return self._literal_html
        rendered = self._html.render(values)
        if tracking is None:
            return self._tracked.rewrite(rendered, **_UNTRACKED, unsubscribe=unsubscribe_link)
        if not (self._scan_rendered and tracking.clicks):
            return _track(self._tracked, rendered, send_id, tracking, unsubscribe_link)
        final_html = self._tracked.rewrite(rendered, **_UNTRACKED)
        try:
            tracked = compile_links(final_html, template=False)
        except TooManyLinks:
            raise TooManyLinksRendered from None
        return _track(tracked, tracked.source, send_id, tracking, unsubscribe_link)


_UNTRACKED: Final[dict[str, Any]] = {"base": "", "send_id": "", "key": b"", "clicks": False, "opens": False}


def _track(
    tracked: TrackedTemplate, rendered: str, send_id: str, tracking: TrackingOptions, unsubscribe_link: str | None
) -> str:
    return tracked.rewrite(
        rendered,
        base=tracking.base,
        send_id=send_id,
        key=tracking.key,
        clicks=tracking.clicks,
        opens=tracking.opens,
        unsubscribe=unsubscribe_link,
    )


_SAFE_FILTER = re.compile(r"\|\s*safe\b")


def compile_content(
    *,
    subject: str,
    html: str | None = None,
    text: str | None = None,
    shared_values: Mapping[str, Any] | None = None,
    report_part: ReportPart = no_report,
    engine: Engine = "minijinja",
) -> Content:
    """Compile the content of a campaign or a single message.

    `shared_values` are the same for all recipients. Without `text`, the text part is derived from the html. With the
    engine `none` no templates are rendered, but links are tracked. `report_part` is called before a part is compiled.
    Raises TemplateInvalid (with line and column) or TooManyLinks.
    """
    return Content(subject, html, text, shared_values or {}, report_part, engine)


# Conversion of HTML to plain text, for messages without a text part.

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
_SPACED_BLOCKS: Final = frozenset(["blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "table", "ul"])
"""Blocks with an empty line before and after them."""
_SKIPPED: Final = frozenset(["script", "style", "title", "template", "noscript", "iframe", "noembed", "noframes"])
"""Elements whose content is dropped."""


def text_from_html(source: str, *, template: bool = True) -> str:
    """The plain text of HTML: paragraphs, lists with dashes, links as `text (https://…)`, images as their alt text.

    Template tags are preserved, so an HTML template gives a text template. Use `template=False` for final HTML.
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
            self._pieces.append("\n\n" if tag in _SPACED_BLOCKS else _BLOCK_EDGE)
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
            self._pieces.append("\n\n" if tag in _SPACED_BLOCKS else _BLOCK_EDGE)

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


# Most templates contain only placeholders such as `{{ name }}`. `fill_placeholders` fills them in one linear pass,
# without the template engine, which runs in a separate process.

PLACEHOLDERS_MAX: Final = 100
CHARACTERS_MAX: Final = 100_000
"""Maximum characters of the template, and of the result."""
NUMBER_MAX: Final = 10**15
"""Up to this number, the engine formats integers like Python does."""

PLACEHOLDER: Final = re.compile(r"\{\{ *([A-Za-z_][A-Za-z0-9_]{0,63}) *\}\}")
RESERVED_NAMES: Final = frozenset((
    "true", "false", "none", "True", "False", "None", "and", "or", "not", "in", "is", "if", "else", "elif", "for",
    "loop", "self", "super", "caller", "range", "values", "debug", "namespace", "dict", "cycler", "joiner", "now",
    "lipsum",
))  # fmt: skip
"""Names with a meaning in the engine's language, left to the engine."""


def fill_placeholders(source: str, values: Mapping[str, Any]) -> str | None:
    """Fill the placeholders of a template, exactly as the engine would; None if only the engine can render it.

    Names without a value render as an empty string.
    """
    if "{" not in source:
        return source
    if len(source) > CHARACTERS_MAX:
        return None
    names = PLACEHOLDER.findall(source)
    if len(names) > PLACEHOLDERS_MAX or source.count("{") != 2 * len(names):
        return None
    filled: dict[str, str] = {}
    size = len(source)
    for name in names:
        text = filled.get(name)
        if text is None:
            text = plain_text(values[name]) if name in values else ""
            if text is None or name in RESERVED_NAMES:
                return None
            filled[name] = text
        size += len(text)
    return None if size > CHARACTERS_MAX else PLACEHOLDER.sub(lambda match: filled[match[1]], source)


def plain_text(value: object) -> str | None:
    """A value as rendered in a text; None if only the engine can render it."""
    if type(value) is str:
        return value
    return str(value) if type(value) is int and abs(value) <= NUMBER_MAX else None
