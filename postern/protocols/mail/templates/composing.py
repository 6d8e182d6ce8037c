"""From words and values to a signed message.

Rendering, composing and signing are the largest part of what a message costs, nothing in them waits for anybody, and
what they read was written by strangers: all of it runs in render processes (`mail/rendering.py`).
"""

import traceback
from collections import OrderedDict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec

from postern.kernel.http.problems import Problem, Unprocessable
from postern.protocols.mail import mime
from postern.protocols.mail.address import Address, parse_address
from postern.protocols.mail.dkim import Signer, sign
from postern.protocols.mail.templates.content import (
    Content,
    Reached,
    TrackingOptions,
    compile_content,
    nowhere,
    unsubscribe_url,
)
from postern.protocols.mail.templates.template import Engine

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


def compose_all(orders: Sequence[ComposeRequest], *, now: int) -> list[ComposeResult]:
    """Make messages here, signed at `now` (seconds since 1970); what is wrong with one of them is that one's reason."""
    return [compose(order, now) for order in orders]


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
