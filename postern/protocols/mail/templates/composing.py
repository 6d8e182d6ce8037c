"""Composing signed messages from templates and values, and checking and previewing templates.

These functions run in render processes (`rendering.py`): what they read was written by strangers, and rendering,
composing and signing are the largest part of what a message costs. Those in `TASKS` are called by name; their arguments
and results are plain JSON values, and what is wrong is a Problem whose `errors` say where.
"""

import traceback
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec

from postern.kernel.http.problems import Invalid, Problem, ProblemError, Unprocessable
from postern.protocols.mail import mime
from postern.protocols.mail.address import Address, HeaderInvalid, parse_address
from postern.protocols.mail.dkim import Signer, sign
from postern.protocols.mail.templates.content import (
    Content,
    Part,
    Reached,
    RenderedContent,
    TrackingOptions,
    compile_content,
    nowhere,
)
from postern.protocols.mail.templates.links import TooManyLinks, TooManyLinksRendered, unsubscribe_url
from postern.protocols.mail.templates.template import (
    Engine,
    OutputFormat,
    RenderFailed,
    TemplateInvalid,
    compile_template,
    variables,
)

CONTENTS_KEPT: Final = 256
"""Compiled contents that a process keeps ready."""
CONTENT_KEPT_CHARACTERS: Final = 300_000
"""Larger ones are compiled each time: they are rare, and memory is bounded."""
ADDRESSES_KEPT: Final = 5_000
"""Parsed addresses that a process remembers."""


class TemplateTooExpensive(Unprocessable):
    """Rendering this takes too much time or memory (template_too_expensive)."""


class TemplateCrashed(Unprocessable):
    """Rendering this ended the process that did it (template_crashed)."""


class MessageTemplates(NamedTuple):
    """The templates of a message: what many of them share."""

    subject: str = ""
    html: str | None = None
    text: str | None = None
    engine: Engine = "minijinja"

    @property
    def size(self) -> int:
        """In characters."""
        return len(self.subject) + len(self.html or "") + len(self.text or "")


class MessageDraft(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One message beside its words: the same draft and words always give the same octets."""

    send_id: str
    values: dict[str, Any]
    """What the templates get."""
    sender: str
    to: list[str]
    cc: list[str] = []
    reply_to: list[str] = []
    headers: list[tuple[str, str]] = []
    """Fields that the caller asked for."""
    date: int
    """In seconds since 1970."""
    message_id: str
    tracking: TrackingOptions | None = None
    leave: TrackingOptions | None = None
    """With whose base and key the `List-Unsubscribe` link is written, where there is one (RFC 8058)."""
    list_id: str | None = None
    feedback_id: str | None = None
    attachments: list[mime.Attachment] = []
    from_name: str | None = None
    """The sender's display name as a template, filled with the same values as the rest."""
    is_bulk: bool = False
    """Whether it is one of many, so that the time it takes to write counts more than the form of its text."""


class ComposeRequest(NamedTuple):
    """A message to make, and who signs it."""

    words: MessageTemplates
    draft: MessageDraft
    signers: Sequence[Signer] = ()
    tenant: str = ""
    """Whose it is: what one project's templates cost is not to be at the expense of others."""

    @property
    def size(self) -> int:
        """About how many characters and octets are in it."""
        return self.words.size + sum(len(each.content) for each in self.draft.attachments)

    @property
    def is_small(self) -> bool:
        """Whether it is made together with others: it has no files, and words that are kept in memory."""
        return not self.draft.attachments and self.words.size <= CONTENT_KEPT_CHARACTERS


class ComposeResult(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """The message, or why there is none."""

    message: bytes = b""
    subject: str = ""
    reason: str | None = None
    """Why it could not be made, for whoever wrote it."""
    trace: str | None = None
    """Where, if that is our own mistake."""


def compile_templates(words: MessageTemplates, draft: MessageDraft, *, reached: Reached = nowhere) -> tuple[bytes, str]:
    """The message as it goes on the wire before signing, and its subject. Raises what the words or the fields raise."""
    content = content_of(words, reached=reached)
    rendered = content.render(draft.values, send_id=draft.send_id, tracking=draft.tracking, reached=reached)
    reached(None)
    own: list[tuple[str, str]] = []
    if draft.leave is not None:
        own.append(("List-Unsubscribe", f"<{unsubscribe_url(draft.leave.base, draft.send_id, draft.leave.key)}>"))
        own.append(("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"))
    if draft.list_id:
        own.append(("List-Id", draft.list_id))
    if draft.feedback_id:
        own.append(("Feedback-ID", draft.feedback_id))
    message = mime.Message(
        from_=_sender(draft, words.engine),
        to=[address_of(text) for text in draft.to],
        cc=[address_of(text) for text in draft.cc],
        reply_to=[address_of(text) for text in draft.reply_to],
        subject=rendered.subject,
        date=datetime.fromtimestamp(draft.date, UTC),
        message_id=draft.message_id,
        headers=draft.headers,
        own_headers=own,
        text=rendered.text if rendered.text is not None or rendered.html is not None else "",
        html=rendered.html,
        attachments=draft.attachments,
        quoted_printable=not draft.is_bulk,
    )
    return mime.compose(message), rendered.subject


def _sender(draft: MessageDraft, engine: Engine) -> Address:
    """The sender, with its display name filled in where that is a template."""
    sender = address_of(draft.sender)
    if draft.from_name is None:
        return sender
    name = (
        content_of(MessageTemplates(draft.from_name, engine=engine)).render(draft.values, send_id=draft.send_id).subject
    )
    return msgspec.structs.replace(sender, name=" ".join(name.split()))


def compose(order: ComposeRequest, now: int, *, reached: Reached = nowhere) -> ComposeResult:
    """Make one message. `reached` is told which part is worked on."""
    try:
        message, subject = compile_templates(order.words, order.draft, reached=reached)
        return ComposeResult(
            message=sign(message, order.signers, now=now) if order.signers else message, subject=subject
        )
    except Problem as problem:
        return ComposeResult(reason=problem.detail[:1_000])
    except MemoryError:
        return ComposeResult(reason=TemplateTooExpensive.message())
    except Exception as error:  # One poisoned message fails alone.
        return ComposeResult(reason=f"It could not be composed: {type(error).__name__}.", trace=traceback.format_exc())


_contents: OrderedDict[MessageTemplates, Content] = OrderedDict()


def content_of(words: MessageTemplates, *, reached: Reached = nowhere) -> Content:
    """The compiled words; contents that many messages share are compiled once. Raises TemplateInvalid."""
    found = _contents.get(words)
    if found is None:
        found = compile_content(
            subject=words.subject, html=words.html, text=words.text, reached=reached, engine=words.engine
        )
        if words.size <= CONTENT_KEPT_CHARACTERS:
            _contents[words] = found
            while len(_contents) > CONTENTS_KEPT:
                try:
                    _contents.popitem(last=False)
                except KeyError:  # Another thread was quicker.
                    break
    return found


_addresses: dict[str, Address] = {}


def address_of(text: str) -> Address:
    """A parsed address; senders repeat, so the last few thousand are remembered. Raises AddressInvalid."""
    found = _addresses.get(text)
    if found is None:
        if len(_addresses) > ADDRESSES_KEPT:
            _addresses.clear()
        found = _addresses[text] = parse_address(text)
    return found


UNSUBSCRIBE_NAMES: Final[tuple[str, ...]] = ("unsubscribe_url", "unsubscribeUrl")
"""What every message has without being given it."""
PROBLEMS: Final[dict[str, type[Problem]]] = {
    each.code(): each
    for each in (
        Invalid,
        HeaderInvalid,
        RenderFailed,
        TemplateInvalid,
        TooManyLinks,
        TooManyLinksRendered,
        TemplateTooExpensive,
        TemplateCrashed,
        mime.MessageTooLarge,
    )
}
"""What these functions raise, by code: a problem travels between processes as its code, words and places."""


def check_message(
    reached: Reached,
    subject: str,
    html: str | None,
    text: str | None,
    values: dict[str, Any],
    send_id: str,
    attached: int = 0,
    engine: Engine = "minijinja",
) -> str:
    """Render a message as it would be sent and return its subject. `attached`: octets of its files in base64.

    Raises Invalid at the part that cannot be sent, or MessageTooLarge.
    """
    part: Part | None = None

    def now_at(at: Part | None) -> None:
        nonlocal part
        part = at
        reached(at)

    try:
        content = content_of(MessageTemplates(subject, html, text, engine), reached=now_at)
        rendered = content.render(values, send_id=send_id, reached=now_at)
        now_at("subject")
        mime.check_subject(rendered.subject)
    except TemplateInvalid as error:
        raise Invalid.at(f"/{part}", error.detail, "template_invalid") from None
    except Problem as error:
        raise Invalid.at(f"/{part}", error.detail, error.code()) from None
    _require_room(rendered, attached)
    return rendered.subject


def _require_room(rendered: RenderedContent, attached: int) -> None:
    """Raises MessageTooLarge where the encoded words and files are larger than a message may be."""
    words = [part for part in (rendered.html, rendered.text) if part is not None]
    files = attached + attached // 76 * 2
    if 4 * sum(map(len, words)) * 78 // 57 + files <= mime.MESSAGE_BYTES_LIMIT:
        return  # Not even four octets for each character, in base64 with its line ends, would be too many.
    nobody = parse_address("a@example.org")
    message = mime.Message(
        from_=nobody,
        to=[nobody],
        subject="",
        date=datetime.fromtimestamp(0, UTC),
        message_id="<a@example.org>",
        text=rendered.text,
        html=rendered.html,
    )
    path = "/attachments" if attached else "/html" if rendered.html is not None else "/text"
    try:
        size = len(mime.compose(message)) + files
    except mime.MessageTooLarge:
        size = mime.MESSAGE_BYTES_LIMIT + 1
    if size > mime.MESSAGE_BYTES_LIMIT:
        message_text = mime.MessageTooLarge.message()
        raise mime.MessageTooLarge(
            errors=[ProblemError(path=path, code=mime.MessageTooLarge.code(), message=message_text)]
        )


def render_subjects(reached: Reached, subjects: list[tuple[str, dict[str, Any]]]) -> list[str | None]:
    """Subjects with the values of each message; None for one that does not render."""
    return [_subject(reached, *each) for each in subjects]


def _subject(reached: Reached, subject: str, values: dict[str, Any]) -> str | None:
    try:
        return content_of(MessageTemplates(subject), reached=reached).render(values, send_id="").subject
    except Problem:
        return None


def check_parts(reached: Reached, parts: list[tuple[str, Part, str]], engine: Engine = "minijinja") -> None:
    """Parse templates, each with its JSON pointer and what it is. Raises Invalid at the first that does not parse."""
    for path, part, source in parts:
        reached(None)
        try:
            if part == "subject":
                if engine != "none":
                    compile_template(source, OutputFormat.TEXT)
                mime.check_subject(source)
            else:
                compile_content(
                    subject="",
                    html=source if part == "html" else None,
                    text=source if part == "text" else None,
                    engine=engine,
                )
        except Problem as error:
            raise Invalid.at(path, error.detail, error.code()) from None


def preview_template(
    reached: Reached,
    subject: str | None,
    builder_json: bytes | None,
    html: str | None,
    text: str | None,
    engine: Engine = "minijinja",
) -> tuple[str | None, bool, list[str]]:
    """Check a template and render its builder document, given as JSON.

    Returns the html, whether it was rendered, and the names that the template asks for: none where no engine reads it.

    Raises Invalid with the place.
    """
    is_rendered = builder_json is not None and html is None
    reached("html")
    if builder_json is not None:
        rendered = _rendered(msgspec.json.decode(builder_json), engine)
        html = rendered if html is None else html
    parts: list[tuple[str, Part, str | None]] = [
        ("/builderJson" if is_rendered else "/html", "html", html),
        ("/text", "text", text),
        ("/subject", "subject", subject),
    ]
    for path, part, source in parts:
        if source is not None:
            reached(part)
            check_parts(lambda _: None, [(path, part, source)], engine)
    if engine == "none":
        return html, is_rendered, []
    names = {name for source in (subject, html, text) if source is not None for name in variables(source)}
    return html, is_rendered, sorted(names - set(UNSUBSCRIBE_NAMES))


def preview(
    reached: Reached,
    subject: str | None,
    html: str | None,
    text: str | None,
    values: dict[str, Any],
    unsubscribe_url: str,
    engine: Engine = "minijinja",
) -> tuple[str | None, str | None, str | None]:
    """Subject, html and text for these values. Raises RenderFailed."""
    facts: dict[str, Any] = dict.fromkeys(UNSUBSCRIBE_NAMES, unsubscribe_url)
    content = compile_content(subject=subject or "", html=html, text=text, facts=facts, reached=reached, engine=engine)
    rendered = content.render(values, send_id="preview", reached=reached)
    return None if subject is None else rendered.subject, rendered.html, rendered.text


def _rendered(builder_json: dict[str, Any], engine: Engine) -> str:
    # Imported here: the MJML renderer takes memory, and most render processes never need it.
    from postern.protocols.mail.templates.builder import BuilderInvalid, render_builder

    try:
        return render_builder(builder_json, engine)
    except BuilderInvalid as error:
        faults = [
            ProblemError(path=f"/builderJson{each.path}", code=each.code, message=each.message) for each in error.errors
        ]
        raise Invalid(error.detail, errors=faults) from None
    except Problem as error:
        raise Invalid.at("/builderJson", error.detail, error.code()) from None


TASKS: Final[dict[str, Callable[..., Any]]] = {
    each.__name__: each for each in (check_message, render_subjects, check_parts, preview_template, preview)
}


def problem_of(code: str, detail: str, errors: list[ProblemError]) -> Problem:
    """The problem that travelled here from another process."""
    return PROBLEMS.get(code, Unprocessable)(detail, errors=errors)
