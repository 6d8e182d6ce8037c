"""What a message says: subject, text and html, compiled once and rendered for each recipient."""

import re
from collections.abc import Callable, Mapping
from secrets import token_hex
from typing import Any, Final, Literal

import msgspec

from postern.protocols.mail.templates.builder import BuilderInvalid, render_builder
from postern.protocols.mail.templates.links import (
    CLICK,
    LINKS_LIMIT,
    UNSUBSCRIBE,
    TooManyLinks,
    TooManyLinksRendered,
    TrackedTemplate,
    click_url,
    compile_links,
    open_url,
    sign_link,
    unsubscribe_url,
    verify_link,
)
from postern.protocols.mail.templates.plain_text import text_from_html
from postern.protocols.mail.templates.template import (
    CompiledTemplate,
    Engine,
    OutputFormat,
    RenderFailed,
    RenderValues,
    TemplateInvalid,
    compile_template,
    variables,
)

__all__ = [
    "CLICK",
    "LINKS_LIMIT",
    "UNSUBSCRIBE",
    "BuilderInvalid",
    "CompiledTemplate",
    "Content",
    "Engine",
    "OutputFormat",
    "RenderFailed",
    "RenderedContent",
    "TemplateInvalid",
    "TooManyLinks",
    "TooManyLinksRendered",
    "TrackedTemplate",
    "TrackingOptions",
    "click_url",
    "compile_content",
    "compile_links",
    "compile_template",
    "open_url",
    "render_builder",
    "sign_link",
    "text_from_html",
    "unsubscribe_url",
    "variables",
    "verify_link",
]


Part = Literal["subject", "html", "text"]
Reached = Callable[[Part | None], None]
"""Told which part of a message is worked on from now on: who watches a render process knows where it died."""


def nowhere(part: Part | None) -> None:
    """Nobody watches."""


class TrackingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How the links of one send are written."""

    base: str
    """Scheme and host that the links lead to, without a slash at the end."""
    key: bytes
    """What signs them: the current key of the project."""
    opens: bool = True
    clicks: bool = True


class RenderedContent(msgspec.Struct, frozen=True, kw_only=True):
    """A message's words for one recipient."""

    subject: str
    text: str | None
    html: str | None
    unsubscribe_url: str | None = None
    """The one-click link of this send (for List-Unsubscribe), when there is a Tracking."""


class LiteralText:
    """A part of a message that no template engine reads, in place of a compiled template."""

    __slots__ = ("_source",)

    def __init__(self, source: str) -> None:
        self._source = source

    def render(self, values: Mapping[str, Any] | RenderValues) -> str:
        """The part as it was written."""
        return self._source


class Content:
    """Subject, text and html of a message, compiled for any number of recipients and threads.

    Templates may use `unsubscribe_url` (or `unsubscribeUrl`) where a Tracking is given.
    """

    __slots__ = (
        "_engine",
        "_facts",
        "_html",
        "_leave_mark",
        "_scan_rendered",
        "_subject",
        "_text",
        "_text_from_rendered",
        "_text_part",
        "_tracked",
        "_written_html",
    )

    def __init__(
        self,
        subject: str,
        html: str | None,
        text: str | None,
        facts: Mapping[str, Any],
        reached: Reached,
        engine: Engine,
    ) -> None:
        self._facts = dict(facts)
        self._engine: Engine = engine
        reached("subject")
        self._subject = self._compile(subject, OutputFormat.TEXT)
        self._tracked: TrackedTemplate | None = None
        self._html: CompiledTemplate | LiteralText | None = None
        self._written_html: str | None = None
        """The html of a message that no engine reads, for recipients whose links are not tracked."""
        self._leave_mark: str | None = None
        """What stands in the text for the link that unsubscribes the recipient."""
        self._scan_rendered = self._text_from_rendered = False
        if html is not None:
            reached("html")
            # Compiled as written first, so that an error names the author's own line and column.
            self._compile(html, OutputFormat.HTML)
            self._tracked = compile_links(html, template=engine != "none")
            self._html = self._compile(self._tracked.source, OutputFormat.HTML)
            if engine == "none":
                self._written_html = html
            # Html that a variable brings along holds links that only the rendered text shows.
            self._scan_rendered = engine != "none" and _BRINGS_HTML.search(html) is not None
        # A text that is made from the html fails for what the html says.
        self._text_part: Part = "html" if text is None else "text"
        reached(self._text_part)
        self._text = self._compile_text(text, html)

    def _compile(self, source: str, kind: OutputFormat) -> CompiledTemplate | LiteralText:
        return LiteralText(source) if self._engine == "none" else compile_template(source, kind)

    def _compile_text(self, text: str | None, html: str | None) -> CompiledTemplate | LiteralText | None:
        if text is not None or html is None:
            return None if text is None else self._compile(text, OutputFormat.TEXT)
        if self._scan_rendered:
            self._text_from_rendered = True
            return None
        if self._tracked is not None and self._tracked.has_unsubscribe:
            # Where such a link leads is filled in for each recipient.
            self._leave_mark = f"https://{token_hex(16)}.invalid"
            html = self._tracked.rewrite(self._tracked.source, **_UNTRACKED, unsubscribe=self._leave_mark)
        if self._engine == "none":
            return LiteralText(text_from_html(html, template=False))
        try:
            return compile_template(text_from_html(html), OutputFormat.TEXT)
        except TemplateInvalid:
            # Half of a condition stood in a tag that plain text leaves out.
            self._text_from_rendered = True
            return None

    def render(
        self,
        values: Mapping[str, Any],
        *,
        send_id: str,
        tracking: TrackingOptions | None = None,
        reached: Reached = nowhere,
    ) -> RenderedContent:
        """The words for one recipient, with signed links and the pixel where `tracking` asks for them.

        Raises RenderFailed or TooManyLinksRendered; either concerns this recipient alone.
        """
        leave = None
        merged: dict[str, Any] = {**self._facts, **values}
        if tracking is not None:
            leave = unsubscribe_url(tracking.base, send_id, tracking.key)
            merged["unsubscribe_url"] = merged["unsubscribeUrl"] = leave
        reached("subject")
        filled = merged if self._engine == "none" else RenderValues(merged)
        subject = self._subject.render(filled).strip()
        reached(self._text_part)
        leads_to = leave or self._facts.get("unsubscribe_url")
        text = self._text.render(filled) if self._text is not None else None
        if text is not None and self._leave_mark and leads_to:
            text = text.replace(self._leave_mark, leads_to)
        reached("html")
        html = self._render_html(filled, send_id, tracking, leads_to)
        if self._html is not None and (self._text_from_rendered or (self._leave_mark and not leads_to)):
            text = text_from_html(self._render_html(filled, send_id, None, leads_to) or "", template=False)
        return RenderedContent(subject=subject, text=text, html=html, unsubscribe_url=leave)

    def _render_html(
        self,
        values: Mapping[str, Any] | RenderValues,
        send_id: str,
        tracking: TrackingOptions | None,
        leave: str | None,
    ) -> str | None:
        if self._html is None or self._tracked is None:
            return None
        is_tracked = tracking is not None and (tracking.clicks or tracking.opens)
        if self._written_html is not None and not (is_tracked or (self._tracked.has_unsubscribe and leave)):
            return self._written_html
        rendered = self._html.render(values)
        if tracking is None:
            return self._tracked.rewrite(rendered, **_UNTRACKED, unsubscribe=leave)
        if not (self._scan_rendered and tracking.clicks):
            return _track(self._tracked, rendered, send_id, tracking, leave)
        plain = self._tracked.rewrite(rendered, **_UNTRACKED)
        try:
            late = compile_links(plain, template=False)
        except TooManyLinks:
            raise TooManyLinksRendered from None
        return _track(late, late.source, send_id, tracking, leave)


_UNTRACKED: Final[dict[str, Any]] = {"base": "", "send_id": "", "key": b"", "clicks": False, "opens": False}


def _track(tracked: TrackedTemplate, rendered: str, send_id: str, tracking: TrackingOptions, leave: str | None) -> str:
    return tracked.rewrite(
        rendered,
        base=tracking.base,
        send_id=send_id,
        key=tracking.key,
        clicks=tracking.clicks,
        opens=tracking.opens,
        unsubscribe=leave,
    )


_BRINGS_HTML = re.compile(r"\|\s*safe\b")


def compile_content(
    *,
    subject: str,
    html: str | None = None,
    text: str | None = None,
    facts: Mapping[str, Any] | None = None,
    reached: Reached = nowhere,
    engine: Engine = "minijinja",
) -> Content:
    """Compile the words of a campaign or a single message.

    `facts` are values that are the same for everybody. Without `text` one is made from the html. With the engine
    `none` nothing is filled in; links are tracked all the same.
    Raises TemplateInvalid (with line and column) or TooManyLinks.
    """
    return Content(subject, html, text, facts or {}, reached, engine)
