"""The body of a bulk message, encoded once for all recipients, with slots for what differs between them.

A newsletter of 10 kB differs between its recipients in a few hundred octets: a name, and the signatures of its links.
A layout has everything else as octets that are already encoded for transmission. The message that it gives decodes to
the text and html that `Content.render` gives.

Its octets are in the canonical form of DKIM (relaxed, RFC 6376 §3.4.4): no tabs, no two spaces side by side, and no
spaces at the end of a line. So the body is hashed as it is sent. A dot at the start of a line is encoded, too, so that
SMTP needs no second one there (RFC 5321 §4.5.2).
"""

import re
import secrets
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final, NamedTuple

from postern.protocols.mail import mime
from postern.protocols.mail.dkim import canonical_body
from postern.protocols.mail.templates.content import (
    PLACEHOLDER,
    RESERVED_NAMES,
    UNSUBSCRIBE_NAMES,
    Content,
    SeparableSource,
    TrackingOptions,
    plain_text,
)
from postern.protocols.mail.templates.links import (
    CLICK,
    LINKS_LIMIT,
    SIGNATURE_LENGTH,
    TooManyLinksRendered,
    TrackedTemplate,
    click_href,
    leads_to_tracking,
    open_url,
    pixel,
    sign_links,
    signed_unsubscribe_url,
    signed_url,
    unsubscribe_url,
)
from postern.protocols.mail.templates.template import (
    CompiledTemplate,
    OutputFormat,
    TemplateInvalid,
    compile_template,
    tags_of,
)

CHARACTERS_LIMIT: Final = 100_000
"""Maximum characters of a template, and of all values of a message. Those with more are composed without a layout."""
SLOTS_LIMIT: Final = 2_000
"""Maximum slots of a template."""
TYPICAL_VALUE: Final = 20
"""The assumed octets of a value, to compare the sizes as quoted-printable and as base64."""
SEND_ID_LENGTH: Final = 36


class SendId(NamedTuple):
    """A slot for the id of the send."""


class ClickSignature(NamedTuple):
    """A slot for the signature of a tracked link."""

    url: str


class UnsubscribeSignature(NamedTuple):
    """A slot for the signature of the link for unsubscribing."""


class Value(NamedTuple):
    """A slot for the value of a variable."""

    name: str


class Fragment(NamedTuple):
    """A slot for the output of a part of the template that the template engine must render."""

    source: str


Piece = str | SendId | ClickSignature | UnsubscribeSignature | Value | Fragment


class NotSeparable(Exception):
    """The content cannot be encoded before it is rendered, or base64 is shorter than quoted-printable."""


class BodyLayout:
    """The body of the messages of one content with one set of tracking options."""

    def __init__(self, source: SeparableSource, tracking: TrackingOptions) -> None:
        """Raises NotSeparable."""
        self._tracking = tracking
        self._unsubscribe_placeholder = source.unsubscribe_placeholder
        self._octets: list[bytes] = []
        """The encoded body; each slot is an empty entry, whose index is in one of the lists below."""
        self._send_ids: list[int] = []
        self._clicks: dict[bytes, list[int]] = {}
        """Indexes by the signed form of the URL."""
        self._links = 0
        """Tracked links outside of fragments."""
        self._unsubscribes: list[int] = []
        self._values: list[tuple[int, str, bool]] = []
        """Index, name of the variable, and whether it is in the html."""
        self._fragments: list[_Fragments] = []
        opening, between, closing = mime.text_frame(source.text is not None, source.html is not None)
        head, _, rest = (opening + mime.QUOTED_PRINTABLE).partition(b"\r\n\r\n")
        self.header_fields = head + b"\r\n"
        """The MIME header fields of the message after `MIME-Version`."""
        self._octets.append(rest)
        if source.text is not None:
            pieces = list(_text_pieces(source, tracking))
            self._add_part(pieces, _Fragments(OutputFormat.TEXT, None), is_multipart=bool(closing))
        if source.html is not None:
            if closing:
                self._octets.append(between + mime.QUOTED_PRINTABLE)
            pieces = list(_html_pieces(source.html, source, tracking))
            self._add_part(pieces, _Fragments(OutputFormat.HTML, source.html), is_multipart=bool(closing))
        self._octets.append(closing)
        sample = b"".join(self._octets)
        if canonical_body(sample) != sample or not mime.has_safe_lines(sample):
            raise NotSeparable

    def _add_part(self, pieces: list[Piece], fragments: "_Fragments", *, is_multipart: bool) -> None:
        """Append the encoded text or html. Raises NotSeparable."""
        writer = _QuotedPrintableWriter()
        unencoded = 0
        for piece in pieces:
            if isinstance(piece, str):
                writer.write(piece)
                unencoded += len(piece.encode("utf-8", "replace"))
                continue
            if isinstance(piece, SendId | ClickSignature | UnsubscribeSignature):
                writer.reserve(SEND_ID_LENGTH if isinstance(piece, SendId) else SIGNATURE_LENGTH)
            else:
                writer.break_line()
            index = len(self._octets) + 1
            self._octets += (writer.take(), b"")
            if isinstance(piece, SendId):
                self._send_ids.append(index)
            elif isinstance(piece, ClickSignature):
                self._clicks.setdefault(signed_url(piece.url), []).append(index)
                self._links += 1
            elif isinstance(piece, UnsubscribeSignature):
                self._unsubscribes.append(index)
            elif isinstance(piece, Value):
                self._values.append((index, piece.name, fragments.kind is OutputFormat.HTML))
            else:
                fragments.add(index, piece.source)
        if not fragments.is_empty:
            fragments.compile()
            self._fragments.append(fragments)
        # The line end before a boundary belongs to the boundary. A text that is the whole message ends with a line end.
        if is_multipart or not writer.is_at_line_start or pieces[-1] == "":
            writer.end_line()
        self._octets.append(writer.take())
        slots = sum(not isinstance(piece, str) for piece in pieces)
        if writer.octets + slots * TYPICAL_VALUE > mime.base64_size(unencoded + slots * TYPICAL_VALUE):
            raise NotSeparable

    def fill(self, values: Mapping[str, Any], *, send_id: str, key: bytes) -> bytes | None:
        """The body for one recipient; None if it must be composed without a layout.

        `key` signs the links. Raises RenderFailed or TooManyLinksRendered.
        """
        if len(send_id) != SEND_ID_LENGTH:
            return None
        octets = self._octets.copy()
        size = 0
        for index, name, is_html in self._values:
            value = values.get(name)
            text = "" if value is None else plain_text(value)
            if text is None or _CHANGED.search(text):
                return None
            size += len(text)
            octets[index] = _encoded_value(_escaped(text) if is_html else text)
        for fragments in self._fragments:
            outputs = self._render(fragments, values, send_id, key)
            if any(_CHANGED.search(output) for output in outputs):
                return None
            size += sum(map(len, outputs))
            for index, output in zip(fragments.indexes, outputs, strict=True):
                octets[index] = _encoded_value(output)
        if size > CHARACTERS_LIMIT:
            return None
        encoded_id = send_id.encode()
        for index in self._send_ids:
            octets[index] = encoded_id
        if self._clicks:
            signatures = sign_links(key, CLICK, send_id, tuple(self._clicks))
            for indexes, signature in zip(self._clicks.values(), signatures, strict=True):
                for index in indexes:
                    octets[index] = signature
        if self._unsubscribes:
            link = unsubscribe_url(self._tracking.base, send_id, key)
            signature = link[-SIGNATURE_LENGTH:].encode()
            for index in self._unsubscribes:
                octets[index] = signature
        return b"".join(octets)

    def _render(self, fragments: "_Fragments", values: Mapping[str, Any], send_id: str, key: bytes) -> list[str]:
        """The outputs of the fragments of one part, with the links in them rewritten."""
        tracking = self._tracking
        link = unsubscribe_url(tracking.base, send_id, key)
        outputs = fragments.render({**values, **dict.fromkeys(UNSUBSCRIBE_NAMES, link)})
        tracked = fragments.tracked
        if tracked is not None:
            links = self._links + sum(output.count(tracked.marker) for output in outputs) // 2
            if links > LINKS_LIMIT:
                raise TooManyLinksRendered
            return [
                tracked.rewrite(
                    output,
                    base=tracking.base,
                    send_id=send_id,
                    key=key,
                    clicks=tracking.clicks,
                    opens=tracking.opens,
                    unsubscribe=link,
                )
                for output in outputs
            ]
        placeholder = self._unsubscribe_placeholder
        return [output.replace(placeholder, link) for output in outputs] if placeholder else outputs


_CHANGED = re.compile("[\x00\r]")
"""Characters that are removed or replaced, depending on what is beside them."""


def layout_of(content: Content, tracking: TrackingOptions) -> BodyLayout | None:
    """The layout of a content's messages; None if there is none, so that they must be composed one by one."""
    source = content.separable_source(tracking)
    if source is None or (source.text is None and source.html is None):
        return None
    try:
        return BodyLayout(source, tracking)
    except NotSeparable:
        return None


# Pieces of templates ---------------------------------------------------------------------------------------


class _Fragments:
    """The fragments of one part, which are rendered together: they can read what earlier ones have assigned."""

    def __init__(self, kind: OutputFormat, tracked: TrackedTemplate | None) -> None:
        self.kind = kind
        self.tracked = tracked
        self.indexes: list[int] = []
        """The indexes of the slots."""
        self._sources: list[str] = []
        self._separator = f"\ue006{secrets.token_hex(8)}\ue006"
        self._template: CompiledTemplate | None = None

    @property
    def is_empty(self) -> bool:
        return not self.indexes

    def add(self, index: int, source: str) -> None:
        self.indexes.append(index)
        self._sources.append(source)

    def compile(self) -> None:
        """Raises NotSeparable."""
        try:
            self._template = compile_template(self._separator.join(self._sources), self.kind)
        except TemplateInvalid:
            raise NotSeparable from None

    def render(self, values: Mapping[str, Any]) -> list[str]:
        """The output of each fragment. Raises RenderFailed."""
        assert self._template is not None
        return self._template.render(values).split(self._separator)


def _text_pieces(source: SeparableSource, tracking: TrackingOptions) -> Iterator[Piece]:
    """The pieces of the text. Raises NotSeparable."""
    link = _unsubscribe_link(tracking, OutputFormat.TEXT)
    for piece in _split(source.text or "", source):
        if isinstance(piece, Value) and piece.name in UNSUBSCRIBE_NAMES:
            yield from link
        elif isinstance(piece, str) and source.unsubscribe_placeholder:
            for position, text in enumerate(piece.split(source.unsubscribe_placeholder)):
                yield from (link if position else ())
                yield text
        else:
            yield piece


def _html_pieces(tracked: TrackedTemplate, source: SeparableSource, tracking: TrackingOptions) -> Iterator[Piece]:
    """The pieces of the html, with its links as `TrackedTemplate.rewrite` makes them. Raises NotSeparable."""
    link = _unsubscribe_link(tracking, OutputFormat.HTML)
    for piece in _split(tracked.source, source, tracked):
        if isinstance(piece, Value) and piece.name in UNSUBSCRIBE_NAMES:
            yield from link
        elif isinstance(piece, Fragment) and (written := _UNSUBSCRIBE_LINK.search(piece.source)):
            # A link with this URL stays as it was rendered.
            if piece.source != f"{tracked.marker}{written[0]}{tracked.marker}":
                yield piece
            else:
                yield from (written[1], *link, written[1])
        elif isinstance(piece, str):
            for position, text in enumerate(piece.split(tracked.marker)):
                yield from (_link_pieces(text, tracked, tracking) if position % 2 else (text,))
        else:
            yield piece


_UNSUBSCRIBE_LINK = re.compile(rf"H([\"'])\{{\{{ *(?:{'|'.join(UNSUBSCRIBE_NAMES)}) *\}}\}}\1")


def _link_pieces(marked: str, tracked: TrackedTemplate, tracking: TrackingOptions) -> Iterator[Piece]:
    """The pieces in place of what is between two markers; see `TrackedTemplate.rewrite`."""
    kind, content = marked[:1], marked[1:]
    if kind == "P":
        if tracking.opens:
            before, after = pixel(open_url(tracking.base, _HERE)).split(_HERE)
            yield from (before, SendId(), after)
    elif kind == "U":
        before, between, after = escape(signed_unsubscribe_url(tracking.base, _HERE, _HERE)).split(_HERE)
        yield from (f'"{before}', SendId(), between, UnsubscribeSignature(), f'{after}"')
    elif kind == "L":
        url, encoded, written = tracked.targets[int(content)]
        if tracking.clicks and not leads_to_tracking(url, tracking.base):
            before, between, after = click_href(tracking.base, _HERE, encoded, _HERE).split(_HERE)
            yield from (f'"{before}', SendId(), between, ClickSignature(url), f'{after}"')
        else:
            yield written
    else:
        raise NotSeparable


_HERE: Final = "\ue007"
"""Stands for a slot in a URL: a private-use character, which no URL has."""


def _unsubscribe_link(tracking: TrackingOptions, kind: OutputFormat) -> tuple[Piece, ...]:
    """The variable `unsubscribe_url` as it is rendered."""
    url = signed_unsubscribe_url(tracking.base, _HERE, _HERE)
    before, between, after = (_escaped(url) if kind is OutputFormat.HTML else url).split(_HERE)
    return before, SendId(), between, UnsubscribeSignature(), after


def _split(template: str, source: SeparableSource, tracked: TrackedTemplate | None = None) -> Iterator[Piece]:
    """Split a template into texts, values and fragments. Raises NotSeparable."""
    if len(template) > CHARACTERS_LIMIT:
        raise NotSeparable
    at = 0
    for start, end, slot in _slots(template, tracked) if source.engine != "none" else ():
        yield _normalized(template[at:start])
        yield slot
        at = end
    yield _normalized(template[at:])


def _normalized(text: str) -> str:
    """A text with its line ends as LF, and without NUL. Raises NotSeparable."""
    if text.endswith("\r"):  # What follows may be a LF.
        raise NotSeparable
    return text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")


def _slots(template: str, tracked: TrackedTemplate | None) -> list[tuple[int, int, Value | Fragment]]:
    """The values and fragments of a template, each with its start and end. Raises NotSeparable."""
    slots: list[tuple[int, int, Value | Fragment]] = []
    depth = start = 0
    has_assignments = False
    for tag in tags_of(template):
        if tag.text[2] in "-+" or tag.text[-3] in "-+":  # It changes the text beside it.
            raise NotSeparable
        if not depth:
            start = tag.start
        keyword = tag.tokens[0].text if tag.tokens and tag.text.startswith("{%") else ""
        if keyword == "set":
            has_assignments = True
            if any(name in tag.text for name in UNSUBSCRIBE_NAMES):
                raise NotSeparable
        depth += {"if": 1, "for": 1, "endif": -1, "endfor": -1}.get(keyword, 0)
        if depth:
            continue
        if len(slots) >= SLOTS_LIMIT:
            raise NotSeparable
        text = template[start : tag.end]
        variable = PLACEHOLDER.fullmatch(text)
        is_value = variable is not None and variable[1] not in RESERVED_NAMES
        slots.append((start, tag.end, Value(variable[1]) if variable is not None and is_value else Fragment(text)))
    if has_assignments:  # A variable may have been assigned.
        slots = [(start, end, Fragment(template[start:end])) for start, end, _ in slots]
    return slots if tracked is None else _with_links(template, tracked, slots)


def _with_links(
    template: str, tracked: TrackedTemplate, slots: list[tuple[int, int, Value | Fragment]]
) -> list[tuple[int, int, Value | Fragment]]:
    """Join the slots in a link's URL, and the markers around it, to one fragment."""
    markers = [match.span() for match in re.finditer(re.escape(tracked.marker), template)]
    joined: list[tuple[int, int, Value | Fragment]] = []
    index = 0
    for (start, opened), (_, end) in zip(markers[::2], markers[1::2], strict=True):
        if template[opened] != "H":
            continue
        while index < len(slots) and slots[index][1] <= start:
            joined.append(slots[index])
            index += 1
        if index < len(slots) and slots[index][0] <= start:  # The link is in a block, which is one fragment already.
            continue
        while index < len(slots) and slots[index][0] < end:
            index += 1
        joined.append((start, end, Fragment(template[start:end])))
    return joined + slots[index:]


# Encoding --------------------------------------------------------------------------------------------------

_ESCAPES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;", "/": "&#x2f;"}
_ESCAPE_TABLE: Final = str.maketrans(_ESCAPES)
_ESCAPED = re.compile(f"[{''.join(_ESCAPES)}]")


def _escaped(text: str) -> str:
    """A value in html, as the template engine writes it."""
    return text.translate(_ESCAPE_TABLE) if _ESCAPED.search(text) else text


_LINE_OCTETS: Final = mime.LINE_OCTETS - 1
"""Octets of a line without the `=` of a soft line break."""
_UNENCODED_LINE = re.compile(rb"(?!From |\.)[!-<>-~]+(?: [!-<>-~]+)*")
_UNITS: Final = [bytes([octet]) if 33 <= octet <= 126 and octet != 61 else b"=%02X" % octet for octet in range(256)]


def _encoded_value(text: str) -> bytes:
    """A value as quoted-printable, in lines of its own that end with soft line breaks; empty for an empty value."""
    octets = text.encode("utf-8", "replace")
    if len(octets) <= _LINE_OCTETS and _UNENCODED_LINE.fullmatch(octets):
        return octets + b"=\r\n"
    writer = _QuotedPrintableWriter()
    writer.write(text)
    writer.break_line()
    return writer.take()


class _QuotedPrintableWriter:
    """Writes quoted-printable (RFC 2045 §6.7) in the canonical form of DKIM, with room for slots."""

    def __init__(self) -> None:
        self.octets = 0
        """The octets that were taken so far."""
        self._buffer = bytearray()
        self._length = 0
        """Octets of the current line."""
        self._ends_with_space = False

    @property
    def is_at_line_start(self) -> bool:
        """Whether the current line is empty."""
        return not self._length

    def write(self, text: str) -> None:
        """Write a text with LF line ends."""
        content = text.encode("utf-8", "replace")
        for position, octet in enumerate(content):
            if octet == 10:
                self.end_line()
                continue
            is_space = octet == 32 and not self._ends_with_space
            unit = b" " if is_space else _UNITS[octet]
            self.reserve(len(unit))
            if octet == 70 and self._length == 1 and content.startswith(b"From ", position):
                unit, self._length = b"=46", 3
            elif octet == 46 and self._length == 1:
                unit, self._length = b"=2E", 3
            self._buffer += unit
            self._ends_with_space = is_space

    def reserve(self, length: int) -> None:
        """Leave room for a slot of this length, or for octets that are written next."""
        if self._length + length > _LINE_OCTETS:
            self.break_line()
        self._length += length
        self._ends_with_space = False

    def break_line(self) -> None:
        """End the current line with a soft line break, unless it is empty."""
        if self._length:
            self._buffer += b"=\r\n"
        self._length, self._ends_with_space = 0, False

    def end_line(self) -> None:
        """End the current line. A space at its end is encoded."""
        if self._ends_with_space:
            self._buffer[-1:] = b"=20" if self._length + 2 <= _LINE_OCTETS else b"=\r\n=20"
        self._buffer += b"\r\n"
        self._length, self._ends_with_space = 0, False

    def take(self) -> bytes:
        """What was written since the last call."""
        taken = bytes(self._buffer)
        self._buffer.clear()
        self.octets += len(taken)
        return taken
