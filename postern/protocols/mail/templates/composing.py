"""Composing signed messages from templates and values, and checking and previewing templates.

These functions run in render processes (`rendering.py`), because templates and values are not trusted, and because
rendering, composing and signing take most of the processor time of a message. Functions in `TASKS` are called by name,
with plain JSON values as arguments and results; they raise Problems whose `errors` have the location.
"""

import re
import traceback
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from secrets import token_hex
from typing import Any, Final, NamedTuple

import msgspec

from postern.kernel.http.problems import Invalid, Problem, ProblemError, Unprocessable
from postern.protocols.mail import mime
from postern.protocols.mail.address import Address, HeaderInvalid, parse_address
from postern.protocols.mail.dkim import (
    FieldsForm,
    SignedParts,
    Signer,
    body_hash,
    canonical_field,
    signatures_of,
    signed_fields,
    signed_parts,
)
from postern.protocols.mail.message_findings import ContentReport, InspectedContent, inspect_content
from postern.protocols.mail.templates.body_layout import SEND_ID_LENGTH, BodyLayout, layout_of
from postern.protocols.mail.templates.content import (
    UNSUBSCRIBE_NAMES,
    Content,
    Part,
    RenderedContent,
    ReportPart,
    TrackingOptions,
    compile_content,
    fill_placeholders,
    no_report,
)
from postern.protocols.mail.templates.links import (
    SIGNATURE_LENGTH,
    TooManyLinks,
    TooManyLinksRendered,
    signed_unsubscribe_url,
    unsubscribe_url,
)
from postern.protocols.mail.templates.template import (
    Engine,
    OutputFormat,
    RenderFailed,
    TemplateInvalid,
    compile_template,
    variables,
)

CONTENTS_CACHED: Final = 256
"""Maximum number of compiled contents that a process caches."""
CONTENT_CACHED_CHARACTERS: Final = 300_000
"""Larger contents are not cached, to bound the memory; they are rare."""
ADDRESSES_CACHED: Final = 5_000
"""Maximum number of parsed addresses that a process caches."""


class TemplateTooExpensive(Unprocessable):
    """Rendering takes too much time or memory; simplify the template or its variables (template_too_expensive)."""


class TemplateCrashed(Unprocessable):
    """Rendering crashed the rendering process; change the template or its variables (template_crashed)."""


class MessageTemplates(NamedTuple):
    """The templates of a message, which many messages can share."""

    subject: str = ""
    html: str | None = None
    text: str | None = None
    engine: Engine = "minijinja"

    @property
    def size(self) -> int:
        """The size in characters."""
        return len(self.subject) + len(self.html or "") + len(self.text or "")


class MessageDraft(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """The parts of a message besides its templates. The same draft and templates always give the same octets."""

    send_id: str
    values: dict[str, Any]
    """The template variables."""
    sender: str
    to: list[str]
    cc: list[str] = []
    reply_to: list[str] = []
    headers: list[tuple[str, str]] = []
    """Custom header fields of the caller."""
    date: int
    """In seconds since 1970."""
    message_id: str
    tracking: TrackingOptions | None = None
    unsubscribe: TrackingOptions | None = None
    """The base URL and key of the `List-Unsubscribe` link (RFC 8058); None for no link."""
    unsubscribe_address: str | None = None
    """The address in `List-Unsubscribe` besides the link (RFC 2369 §3.2); None for no address."""
    list_id: str | None = None
    feedback_id: str | None = None
    attachments: list[mime.Attachment] = []
    from_name: str | None = None
    """The sender's display name as a template, rendered with the same values as the content."""
    is_bulk: bool = False
    """Whether it is bulk mail, composed with the layout of its content, or else with a faster encoding."""
    unsigned_headers: list[str] = []
    """Header fields, in lower case, that DKIM signatures do not cover because a server replaces them."""


class ComposeRequest(NamedTuple):
    """A message to compose, with its signers."""

    templates: MessageTemplates
    draft: MessageDraft
    signers: Sequence[Signer] = ()
    tenant: str = ""
    """The id of the project. The messages of projects with expensive templates are composed in the slow lane."""

    @property
    def size(self) -> int:
        """The approximate size in characters and octets."""
        return self.templates.size + sum(len(attachment.content) for attachment in self.draft.attachments)

    @property
    def is_small(self) -> bool:
        """Whether it can be composed in a batch with others: it has no attachments, and its content can be cached."""
        return not self.draft.attachments and self.templates.size <= CONTENT_CACHED_CHARACTERS


class ComposeResult(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """The composed message, or the reason if it could not be composed."""

    message: bytes = b""
    subject: str = ""
    has_safe_lines: bool = False
    """Whether it is known that the message has `mime.has_safe_lines` and ends with a line end."""
    reason: str | None = None
    """Why it could not be composed, for the author of the template."""
    trace: str | None = None
    """The stack trace of an internal error."""


def compose_unsigned(
    templates: MessageTemplates, draft: MessageDraft, *, report_part: ReportPart = no_report
) -> tuple[bytes, str]:
    """Compose a message without signatures. Returns the message and its subject.

    `report_part` is called with each part before it is processed. Raises a Problem if a template or header field is
    invalid, or if the content cannot be rendered.
    """
    content = content_of(templates, report_part=report_part)
    rendered = content.render(draft.values, send_id=draft.send_id, tracking=draft.tracking, report_part=report_part)
    report_part(None)
    message = _message(draft, templates.engine, rendered)
    return mime.compose(message), rendered.subject


def _message(draft: MessageDraft, engine: Engine, rendered: RenderedContent) -> mime.Message:
    """The message of a draft with this content. Raises a Problem if the sender's name cannot be rendered."""
    service_headers: list[tuple[str, str]] = []
    if draft.unsubscribe is not None:
        link = f"<{unsubscribe_url(draft.unsubscribe.base, draft.send_id, draft.unsubscribe.key)}>"
        address = f"<mailto:{draft.unsubscribe_address}>, " if draft.unsubscribe_address else ""
        service_headers.append(("List-Unsubscribe", f"{address}{link}"))
        service_headers.append(("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"))
    if draft.list_id:
        service_headers.append(("List-Id", draft.list_id))
    if draft.feedback_id:
        service_headers.append(("Feedback-ID", draft.feedback_id))
    return mime.Message(
        from_=_sender(draft, engine),
        to=[address_of(text) for text in draft.to],
        cc=[address_of(text) for text in draft.cc],
        reply_to=[address_of(text) for text in draft.reply_to],
        subject=rendered.subject,
        date=datetime.fromtimestamp(draft.date, UTC),
        message_id=draft.message_id,
        headers=draft.headers,
        own_headers=service_headers,
        text=rendered.text if rendered.text is not None or rendered.html is not None else "",
        html=rendered.html,
        attachments=draft.attachments,
        quoted_printable=not draft.is_bulk,
    )


def _sender(draft: MessageDraft, engine: Engine) -> Address:
    """The sender, with its display name rendered if it is a template."""
    name = _sender_name(draft, engine)
    sender = address_of(draft.sender)
    return sender if name is None else msgspec.structs.replace(sender, name=name)


def _sender_name(draft: MessageDraft, engine: Engine) -> str | None:
    """The rendered display name of the sender; None if it is part of `draft.sender`."""
    if draft.from_name is None:
        return None
    name = draft.from_name if engine == "none" else fill_placeholders(draft.from_name, draft.values)
    if name is None:
        templates = MessageTemplates(draft.from_name, engine=engine)
        name = content_of(templates).render(draft.values, send_id=draft.send_id).subject
    return " ".join(name.split())


class UnsignedMessage(NamedTuple):
    """A composed message without its signatures."""

    subject: str
    octets: tuple[bytes, ...]
    """The message in parts."""
    signers: Sequence[Signer]
    signed: SignedParts | None
    """What its signatures cover; None without signers."""
    has_safe_lines: bool = False
    """See `ComposeResult.has_safe_lines`."""


def _compose_with_layout(request: ComposeRequest, report_part: ReportPart) -> UnsignedMessage | None:
    """Compose a bulk message with the layout of its content; None if it must be composed without one.

    Raises the Problems of `compose_unsigned`.
    """
    templates, draft, signers, _ = request
    tracking = draft.tracking
    if not draft.is_bulk or tracking is None or draft.attachments:
        return None
    layout = _layout(templates, tracking, report_part)
    if layout is None:
        return None
    subject = templates.subject
    if templates.engine != "none" and "{" in subject:
        link = unsubscribe_url(tracking.base, draft.send_id, tracking.key)
        values = {**draft.values, **dict.fromkeys(UNSUBSCRIBE_NAMES, link)}
        filled = fill_placeholders(subject, values)
        if filled is None:
            report_part("subject")
            filled = content_of(templates).render_subject(values)
        subject = filled
    subject = subject.strip()
    report_part("html" if templates.html is not None else "text")
    body = layout.fill(draft.values, send_id=draft.send_id, key=tracking.key)
    if body is None:
        return None
    head, names, fields = _bulk_head(draft, templates.engine, subject, layout.header_fields)
    if len(head) + len(body) > mime.MESSAGE_BYTES_LIMIT:
        raise mime.MessageTooLarge
    signed = SignedParts(names, fields, body_hash(body)) if signers else None
    # The lines of the body are safe: the layout is checked once, and values are encoded.
    return UnsignedMessage(subject, (head, b"\r\n", body), signers, signed, mime.has_safe_lines(head))


# The header of bulk messages -------------------------------------------------------------------------------


class _HeaderForm(NamedTuple):
    """What the headers of messages have in common."""

    closing: bytes
    """The fields after those that vary."""
    unsubscribe: tuple[bytes, ...]
    """The field `List-Unsubscribe`: what is before, between and after the id of the send and the signature of the link;
    empty if the messages have none."""
    unsubscribe_canonical: tuple[bytes, ...]
    """The same in canonical form."""
    signed: FieldsForm


def _bulk_head(draft: MessageDraft, engine: Engine, subject: str, body_fields: bytes) -> tuple[bytes, str, bytes]:
    """The header of a message, the value of `h=`, and the fields that signatures cover in canonical form.

    `body_fields` are the fields after `MIME-Version`. Raises a Problem as `_message` and `mime.header_fields` do.
    """
    unsubscribe = draft.unsubscribe
    form = None
    if draft.to and not draft.cc:
        form = _header_form(
            body_fields,
            None if unsubscribe is None else unsubscribe.base,
            draft.unsubscribe_address,
            tuple(draft.reply_to),
            tuple(draft.headers),
            draft.list_id,
            draft.feedback_id,
            tuple(draft.unsigned_headers),
        )
    if form is None:
        message = _message(draft, engine, RenderedContent(subject=subject, text=None, html=None))
        head = mime.header_fields(message).encode() + body_fields
        return head, *signed_fields(head, draft.unsigned_headers)
    sender = _from_field(draft.sender, _sender_name(draft, engine))
    to = _with_canonical(mime.address_field("To", [address_of(text) for text in draft.to]))
    subject_field = _with_canonical(mime.subject_field(subject))
    date = _date_field(draft.date)
    message_id = _with_canonical(mime.message_id_field(draft.message_id))
    fields = [sender, to, subject_field, date, message_id]
    if unsubscribe is not None:
        link = unsubscribe_url(unsubscribe.base, draft.send_id, unsubscribe.key)
        send_id, signature = draft.send_id.encode(), link[-SIGNATURE_LENGTH:].encode()
        before, between, after = form.unsubscribe
        canonical_before, canonical_between, canonical_after = form.unsubscribe_canonical
        fields.append(
            (
                b"".join((before, send_id, between, signature, after)),
                b"".join((canonical_before, send_id, canonical_between, signature, canonical_after)),
            )
        )
    head = b"".join((*[field for field, _ in fields], form.closing))
    return head, form.signed.names, form.signed.fill([canonical for _, canonical in fields])


_VARYING: Final[tuple[str, ...]] = ("from", "to", "subject", "date", "message-id", "list-unsubscribe")
"""The fields that differ between the messages of a campaign, in their order at the start of the header."""


@lru_cache(maxsize=256)
def _header_form(
    body_fields: bytes,
    unsubscribe_base: str | None,
    unsubscribe_address: str | None,
    reply_to: tuple[str, ...],
    headers: tuple[tuple[str, str], ...],
    list_id: str | None,
    feedback_id: str | None,
    unsigned: tuple[str, ...],
) -> _HeaderForm | None:
    """The form of the headers of messages with these parts of their drafts; None if there is none.

    Raises HeaderInvalid or AddressInvalid.
    """
    # Texts of the same length as an id and a signature, so that the field is folded at the same places.
    send_id, signature = token_hex(SEND_ID_LENGTH // 2), token_hex(SIGNATURE_LENGTH // 2)
    base = unsubscribe_base
    message = _message(
        MessageDraft(
            send_id=send_id,
            values={},
            sender="a@example.org",
            to=[],
            reply_to=list(reply_to),
            headers=list(headers),
            date=0,
            message_id="",
            unsubscribe=None if base is None else TrackingOptions(base=base, key=b""),
            unsubscribe_address=unsubscribe_address,
            list_id=list_id,
            feedback_id=feedback_id,
        ),
        "none",
        RenderedContent(subject="", text=None, html=None),
    )
    varying = _VARYING[:-1] if base is None else _VARYING
    unsubscribe: tuple[bytes, ...] = ()
    unsubscribe_canonical: tuple[bytes, ...] = ()
    if base is not None:
        link = unsubscribe_url(base, send_id, b"")
        (name, value), *others = message.own_headers
        field = mime.structured_field(name, value.replace(link, signed_unsubscribe_url(base, send_id, signature)))
        message = msgspec.structs.replace(message, own_headers=others)
        unsubscribe, unsubscribe_canonical = [
            tuple(re.split(f"{send_id}|{signature}".encode(), form)) for form in _with_canonical(field)
        ]
    closing = mime.closing_fields(message).encode() + body_fields
    try:
        return _HeaderForm(closing, unsubscribe, unsubscribe_canonical, FieldsForm(closing, varying, unsigned))
    except ValueError:  # The caller sets one of the fields that vary.
        return None


@lru_cache(maxsize=256)
def _from_field(sender: str, name: str | None) -> tuple[bytes, bytes]:
    """The field `From` with CRLF, and its canonical form. Raises AddressInvalid or HeaderInvalid."""
    address = address_of(sender)
    return _with_canonical(
        mime.address_field("From", [address if name is None else msgspec.structs.replace(address, name=name)])
    )


@lru_cache(maxsize=16)
def _date_field(date: int) -> tuple[bytes, bytes]:
    """The field `Date` with CRLF, and its canonical form."""
    return _with_canonical(mime.date_field(datetime.fromtimestamp(date, UTC)))


def _with_canonical(field: str) -> tuple[bytes, bytes]:
    octets = field.encode()
    return octets, canonical_field(octets)


_layouts: OrderedDict[tuple[MessageTemplates, str, bool, bool], BodyLayout | None] = OrderedDict()


def _layout(templates: MessageTemplates, tracking: TrackingOptions, report_part: ReportPart) -> BodyLayout | None:
    """The layout of bulk messages with these templates, from the cache if possible. Raises TemplateInvalid."""
    if templates.size > CONTENT_CACHED_CHARACTERS:
        return None
    key = (templates, tracking.base, tracking.clicks, tracking.opens)
    try:
        return _layouts[key]
    except KeyError:
        content = content_of(templates, report_part=report_part)
        layout = _layouts[key] = layout_of(content, tracking)
        if len(_layouts) > CONTENTS_CACHED:
            _layouts.popitem(last=False)
        return layout


def prepare(request: ComposeRequest, *, report_part: ReportPart = no_report) -> UnsignedMessage | ComposeResult:
    """Compose one message without signing it.

    `report_part` is called with the part that is processed next. Every error becomes a result with a `reason`; nothing
    is raised.
    """
    templates, draft, signers, _ = request
    try:
        composed = _compose_with_layout(request, report_part)
        if composed is not None:
            return composed
        message, subject = compose_unsigned(templates, draft, report_part=report_part)
        parts = signed_parts(message, draft.unsigned_headers) if signers else None
        return UnsignedMessage(subject, (message,), signers, parts)
    except Problem as problem:
        return ComposeResult(reason=problem.detail[:1_000])
    except MemoryError:
        return ComposeResult(reason=TemplateTooExpensive.message())
    except Exception as error:  # An internal error fails only this message.
        return _failed(error)


def signed(message: UnsignedMessage | ComposeResult, now: int) -> ComposeResult:
    """Sign a message at `now` (seconds since 1970). The result of one that could not be composed is returned unchanged.

    Raises nothing.
    """
    if isinstance(message, ComposeResult):
        return message
    try:
        signatures = b"" if message.signed is None else signatures_of(message.signed, message.signers, now=now)
        return ComposeResult(
            message=b"".join((signatures, *message.octets)),
            subject=message.subject,
            has_safe_lines=message.has_safe_lines and mime.has_safe_lines(signatures),
        )
    except MemoryError:
        return ComposeResult(reason=TemplateTooExpensive.message())
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> ComposeResult:
    """The result of a message with an internal error that is being handled."""
    reason = f"The message could not be composed: {type(error).__name__}."
    return ComposeResult(reason=reason, trace=traceback.format_exc())


_contents: OrderedDict[MessageTemplates, Content] = OrderedDict()


def content_of(templates: MessageTemplates, *, report_part: ReportPart = no_report) -> Content:
    """The compiled content; contents that many messages share are cached. Raises TemplateInvalid."""
    content = _contents.get(templates)
    if content is None:
        content = compile_content(
            subject=templates.subject,
            html=templates.html,
            text=templates.text,
            report_part=report_part,
            engine=templates.engine,
        )
        if templates.size <= CONTENT_CACHED_CHARACTERS:
            _contents[templates] = content
            while len(_contents) > CONTENTS_CACHED:
                try:
                    _contents.popitem(last=False)
                except KeyError:  # Another thread has removed it.
                    break
    return content


_addresses: dict[str, Address] = {}


def address_of(text: str) -> Address:
    """Parse an address; the result is cached, because many messages have the same sender. Raises AddressInvalid."""
    address = _addresses.get(text)
    if address is None:
        if len(_addresses) > ADDRESSES_CACHED:
            _addresses.clear()
        address = _addresses[text] = parse_address(text)
    return address


PROBLEMS: Final[dict[str, type[Problem]]] = {
    kind.code(): kind
    for kind in (
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
"""The problems that these functions raise, keyed by code: problems are sent between processes by code."""


def check_message(
    report_part: ReportPart,
    subject: str,
    html: str | None,
    text: str | None,
    values: dict[str, Any],
    send_id: str,
    attachment_octets: int = 0,
    engine: Engine = "minijinja",
) -> str:
    """Render a message as it would be sent and return its subject.

    `report_part` is called with the part that is rendered next. `send_id` is the id of the send in tracking links and
    the unsubscribe link. `attachment_octets` is the size of its attachments in base64, without line ends.

    Raises Invalid at the part that cannot be sent, or MessageTooLarge.
    """
    part: Part | None = None

    def remember_part(next_part: Part | None) -> None:
        nonlocal part
        part = next_part
        report_part(next_part)

    try:
        content = content_of(MessageTemplates(subject, html, text, engine), report_part=remember_part)
        rendered = content.render(values, send_id=send_id, report_part=remember_part)
        remember_part("subject")
        mime.check_subject(rendered.subject)
    except TemplateInvalid as error:
        raise Invalid.at(f"/{part}", error.detail, "template_invalid") from None
    except Problem as error:
        raise Invalid.at(f"/{part}", error.detail, error.code()) from None
    _require_fitting_size(rendered, attachment_octets)
    return rendered.subject


def _require_fitting_size(rendered: RenderedContent, attachment_octets: int) -> None:
    """Raises MessageTooLarge if content and attachments exceed the limit after encoding."""
    bodies = [part for part in (rendered.html, rendered.text) if part is not None]
    files = attachment_octets + attachment_octets // 76 * 2
    if 4 * sum(map(len, bodies)) * 78 // 57 + files <= mime.MESSAGE_BYTES_LIMIT:
        return  # It fits even if every character takes four octets in base64 with line ends.
    placeholder = parse_address("a@example.org")
    message = mime.Message(
        from_=placeholder,
        to=[placeholder],
        subject="",
        date=datetime.fromtimestamp(0, UTC),
        message_id="<a@example.org>",
        text=rendered.text,
        html=rendered.html,
    )
    path = "/attachments" if attachment_octets else "/html" if rendered.html is not None else "/text"
    try:
        size = len(mime.compose(message)) + files
    except mime.MessageTooLarge:
        size = mime.MESSAGE_BYTES_LIMIT + 1
    if size > mime.MESSAGE_BYTES_LIMIT:
        message_text = mime.MessageTooLarge.message()
        raise mime.MessageTooLarge(
            errors=[ProblemError(path=path, code=mime.MessageTooLarge.code(), message=message_text)]
        )


def render_subjects(report_part: ReportPart, subjects: list[tuple[str, dict[str, Any]]]) -> list[str | None]:
    """Render subjects with the values of each message; None for one that cannot be rendered."""
    return [_render_subject(report_part, subject, values) for subject, values in subjects]


def _render_subject(report_part: ReportPart, subject: str, values: dict[str, Any]) -> str | None:
    try:
        return content_of(MessageTemplates(subject), report_part=report_part).render(values, send_id="").subject
    except Problem:
        return None


def check_parts(report_part: ReportPart, parts: list[tuple[str, Part, str]], engine: Engine = "minijinja") -> None:
    """Check the syntax of templates. Each of `parts` is a JSON pointer for errors, a kind and a template.

    Raises Invalid at the first template with an error.
    """
    for path, part, source in parts:
        report_part(None)
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


def check_template(
    report_part: ReportPart,
    subject: str | None,
    builder_json: bytes | None,
    html: str | None,
    text: str | None,
    engine: Engine = "minijinja",
) -> tuple[str | None, bool, list[str]]:
    """Check a template. A builder document (`builder_json`, as JSON) is always rendered, to check it.

    Returns the html, whether it was rendered from the builder document (only if `html` is None), and the sorted names
    of the variables that the template uses, without UNSUBSCRIBE_NAMES (an empty list with the engine `none`). Raises
    Invalid with the location.
    """
    is_rendered = builder_json is not None and html is None
    report_part("html")
    if builder_json is not None:
        rendered = _render_builder_json(msgspec.json.decode(builder_json), engine)
        html = rendered if html is None else html
    parts: list[tuple[str, Part, str | None]] = [
        ("/builderJson" if is_rendered else "/html", "html", html),
        ("/text", "text", text),
        ("/subject", "subject", subject),
    ]
    for path, part, source in parts:
        if source is not None:
            report_part(part)
            check_parts(lambda _: None, [(path, part, source)], engine)
    if engine == "none":
        return html, is_rendered, []
    names = {name for source in (subject, html, text) if source is not None for name in variables(source)}
    return html, is_rendered, sorted(names - set(UNSUBSCRIBE_NAMES))


def preview(
    report_part: ReportPart,
    subject: str | None,
    html: str | None,
    text: str | None,
    values: dict[str, Any],
    unsubscribe_url: str,
    engine: Engine = "minijinja",
) -> tuple[str | None, str | None, str | None]:
    """Render subject, html and text with values; `unsubscribe_url` is the URL of unsubscribe links.

    Returns the rendered subject, html and text, in this order. The subject is None if it was None; the text is derived
    from the html if it was None.

    Raises RenderFailed, TemplateInvalid, TooManyLinks or TooManyLinksRendered.
    """
    shared_values: dict[str, Any] = dict.fromkeys(UNSUBSCRIBE_NAMES, unsubscribe_url)
    content = compile_content(
        subject=subject or "", html=html, text=text, shared_values=shared_values, report_part=report_part, engine=engine
    )
    rendered = content.render(values, send_id="preview", report_part=report_part)
    return None if subject is None else rendered.subject, rendered.html, rendered.text


def render_texts(
    report_part: ReportPart, texts: list[tuple[str, str]], values: dict[str, str], max_characters: int
) -> list[str]:
    """Render short templates as plain text. Each of `texts` is a JSON pointer for errors and a template; `values` has
    all variables that the templates can use.

    Raises Invalid at the first template that has a syntax error, uses another variable, cannot be rendered, or whose
    output has more than `max_characters`.
    """
    report_part("text")
    rendered: list[str] = []
    for path, source in texts:
        try:
            template = compile_template(source, OutputFormat.TEXT)
            unknown = next((name for name in variables(source) if name not in values), None)
            if unknown is not None:
                message = f"There is no variable `{unknown}` in this mail. It has {', '.join(sorted(values))}."
                raise Invalid.at(path, message, "unknown_variable")
            text = template.render(values)
        except Invalid:
            raise
        except Problem as error:
            raise Invalid.at(path, error.detail, error.code()) from None
        if len(text) > max_characters:
            raise Invalid.at(path, f"The text is longer than {max_characters} characters when rendered.", "too_long")
        rendered.append(text)
    return rendered


class MessageReport(msgspec.Struct, frozen=True, kw_only=True):
    """What is found in a composed message."""

    message_octets: int
    """The size without DKIM signatures."""
    html_octets: int
    content: ContentReport


def inspect_message(report_part: ReportPart, templates: Any, draft: Any) -> Any:
    """Compose a message as it would be sent, and report what receivers may object to.

    `templates` and `draft` are a MessageTemplates and a MessageDraft as built-in types (`msgspec.to_builtins`); the
    result is a MessageReport in the same form. Raises the problems of `compose_unsigned`.
    """
    message_templates = msgspec.convert(templates, MessageTemplates)
    message_draft = msgspec.convert(draft, MessageDraft)
    message, subject = compose_unsigned(message_templates, message_draft, report_part=report_part)
    content = content_of(message_templates, report_part=report_part)
    values, send_id, tracking = message_draft.values, message_draft.send_id, message_draft.tracking
    sent = content.render(values, send_id=send_id, tracking=tracking, report_part=report_part)
    untracked = tracking and msgspec.structs.replace(tracking, opens=False, clicks=False)
    rendered = content.render(values, send_id=send_id, tracking=untracked, report_part=report_part)
    report_part(None)
    html_octets = len((sent.html or "").encode("utf-8", "replace"))
    inspected = InspectedContent(
        subject=subject,
        html=rendered.html,
        text=rendered.text,
        html_octets=html_octets,
        content_ids=[attachment.content_id for attachment in message_draft.attachments if attachment.content_id],
        unsubscribe_url=rendered.unsubscribe_url,
    )
    report = MessageReport(message_octets=len(message), html_octets=html_octets, content=inspect_content(inspected))
    return msgspec.to_builtins(report)


def _render_builder_json(builder_json: dict[str, Any], engine: Engine) -> str:
    # Imported here: the MJML renderer takes memory, and most render processes never need it.
    from postern.protocols.mail.templates.builder import BuilderInvalid, render_builder

    try:
        return render_builder(builder_json, engine)
    except BuilderInvalid as invalid:
        errors = [
            ProblemError(path=f"/builderJson{error.path}", code=error.code, message=error.message)
            for error in invalid.errors
        ]
        raise Invalid(invalid.detail, errors=errors) from None
    except Problem as error:
        raise Invalid.at("/builderJson", error.detail, error.code()) from None


TASKS: Final[dict[str, Callable[..., Any]]] = {
    task.__name__: task
    for task in (check_message, render_subjects, check_parts, check_template, preview, render_texts, inspect_message)
}


def problem_of(code: str, detail: str, errors: list[ProblemError]) -> Problem:
    """Rebuild a problem that another process has raised."""
    return PROBLEMS.get(code, Unprocessable)(detail, errors=errors)
