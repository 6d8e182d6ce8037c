"""XML as a stranger sends it: bounded, plain, and parsed by one parser with everything dangerous off."""

import base64
import binascii
import re
import zlib
from datetime import UTC, datetime
from xml.sax.saxutils import quoteattr

from lxml import etree

from postern.protocols.saml.trace import SamlRefusalReason, SamlTrace

MAX_MESSAGE_BYTES = 256 * 1024
MAX_DEPTH = 32
MAX_ELEMENTS = 10_000
MAX_ATTRIBUTES = 64
"""Attributes on one element."""
MAX_NAMESPACES = 64
"""Namespace declarations in scope at one place: exclusive canonicalization looks through all of them."""
MAX_ID_CHARS = 256

SAML = "urn:oasis:names:tc:SAML:2.0:assertion"
SAMLP = "urn:oasis:names:tc:SAML:2.0:protocol"
MD = "urn:oasis:names:tc:SAML:2.0:metadata"
DS = "http://www.w3.org/2000/09/xmldsig#"
EC = "http://www.w3.org/2001/10/xml-exc-c14n#"
XENC = "http://www.w3.org/2001/04/xmlenc#"
XENC11 = "http://www.w3.org/2009/xmlenc11#"
XSI = "http://www.w3.org/2001/XMLSchema-instance"

Element = etree._Element

_DECLARATION = re.compile(r"\A<\?xml\s[^<>]*?\?>")
_ENCODING = re.compile(r"""encoding\s*=\s*["']([^"']*)["']""")
_CHUNK_BYTES = 16 * 1024
_NAME = re.compile(r"\A[A-Za-z_][A-Za-z0-9_.-]*\Z")
_ABSOLUTE = re.compile(r"\A[A-Za-z][A-Za-z0-9+.-]*:[^\s]+\Z")
_MOMENT = re.compile(
    r"\A(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)\Z",
    re.ASCII,
)


def tag(namespace: str, name: str) -> str:
    """`{namespace}name`, as lxml spells it."""
    return f"{{{namespace}}}{name}"


def parse(raw: bytes, trace: SamlTrace, *, max_bytes: int = MAX_MESSAGE_BYTES) -> Element:
    """The root of a document that has no DOCTYPE, comment, CDATA section or processing instruction.

    Comments split text nodes (CVE-2017-11427) and a DOCTYPE brings entities, so neither reaches
    the parser: in XML `<` is always markup, hence a look for `<!` and `<?` finds them all.
    Depth, elements, attributes and namespaces are counted while parsing, not afterwards.
    """
    if len(raw) > max_bytes:
        raise trace.refusal("size", SamlRefusalReason.TOO_LARGE, f"{len(raw):,} bytes; at most {max_bytes:,} are read.")
    trace.passed("size", f"{len(raw):,} bytes")
    _refuse_markup(raw, trace)
    parser = plain_parser()
    try:
        root = _grow(parser, raw.removeprefix(b"\xef\xbb\xbf"), trace)
    except etree.XMLSyntaxError as error:
        # The parser has limits of its own, which a very deep document meets before ours are looked at.
        endless = error.code == etree.ErrorTypes.ERR_RESOURCE_LIMIT
        reason = SamlRefusalReason.TOO_COMPLEX if endless else SamlRefusalReason.MALFORMED
        raise trace.refusal("xml", reason, f"Not well-formed XML: {error.msg}") from None
    _refuse_equal_ids(root, trace)
    trace.passed("xml")
    return root


def parse_inside(raw: bytes, around: Element, trace: SamlTrace) -> Element:
    """The one element in `raw`, where prefixes mean what they mean at `around`.

    What is decrypted takes the place of the ciphertext (XML Encryption 1.1 §4.4), and some write it
    without the declarations that stand further out. An end tag in `raw` cannot leave the element
    that is put around it: what followed would be a second root, which is not XML.
    """
    _refuse_markup(raw, trace)
    declared = "".join(
        f" xmlns{f':{prefix}' if prefix else ''}={quoteattr(str(uri))}"
        for prefix, uri in around.nsmap.items()
        if prefix != "xml"
    )
    content = _DECLARATION.sub("", raw.decode("utf-8-sig")).strip()
    outer = parse(f"<inside{declared}>{content}</inside>".encode(), trace)
    if len(outer) != 1 or outer.text or outer[0].tail:
        raise trace.refusal("xml", SamlRefusalReason.MALFORMED, "There must be one element and nothing else.")
    return outer[0]


def plain_parser() -> "etree.XMLPullParser[etree._Element]":
    """A parser that reads no entity, no DTD, no network, and only UTF-8."""
    return etree.XMLPullParser(
        events=("start", "end", "start-ns", "end-ns"),
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        recover=False,
    )


def _refuse_markup(raw: bytes, trace: SamlTrace) -> None:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise trace.refusal("markup", SamlRefusalReason.NOT_UTF8, "The document is not UTF-8.") from None
    if declaration := _DECLARATION.match(text):
        encoding = _ENCODING.search(declaration[0])
        if encoding and encoding[1].lower() not in {"utf-8", "us-ascii"}:
            raise trace.refusal(
                "markup", SamlRefusalReason.NOT_UTF8, f"The document says it is {encoding[1]!r}, not UTF-8."
            )
    start = declaration.end() if declaration else 0
    if (at := text.find("<!", start)) >= 0:
        if text[at : at + 9].upper() == "<!DOCTYPE":
            raise trace.refusal("markup", SamlRefusalReason.DOCTYPE, "A DOCTYPE is never read.")
        raise trace.refusal("markup", SamlRefusalReason.FORBIDDEN_MARKUP, "Comments and CDATA sections are never read.")
    if text.find("<?", start) >= 0:
        raise trace.refusal("markup", SamlRefusalReason.FORBIDDEN_MARKUP, "Processing instructions are never read.")
    trace.passed("markup")


def _grow(parser: "etree.XMLPullParser[etree._Element]", raw: bytes, trace: SamlTrace) -> Element:
    depth = elements = namespaces = 0
    for start in range(0, len(raw) or 1, _CHUNK_BYTES):
        parser.feed(raw[start : start + _CHUNK_BYTES])
        for event, what in parser.read_events():
            if event == "end":
                depth -= 1
            elif event == "end-ns":
                namespaces -= 1
            elif event == "start-ns":
                namespaces += 1
                uri = str(what[1])
                # libxml2 stops canonicalizing at a relative namespace name, and would sign nothing.
                if uri and not _ABSOLUTE.match(uri):
                    raise trace.refusal("xml", SamlRefusalReason.MALFORMED, "A namespace name is not an absolute URI.")
            else:
                depth, elements = depth + 1, elements + 1
                if len(what.attrib) > MAX_ATTRIBUTES:
                    raise trace.refusal("xml", SamlRefusalReason.TOO_COMPLEX, f"More than {MAX_ATTRIBUTES} attributes.")
            if depth > MAX_DEPTH or elements > MAX_ELEMENTS or namespaces > MAX_NAMESPACES:
                limits = f"{MAX_DEPTH} levels, {MAX_ELEMENTS:,} elements, {MAX_NAMESPACES} namespaces"
                raise trace.refusal("xml", SamlRefusalReason.TOO_COMPLEX, f"More than we read: {limits}.")
    return parser.close()


def _refuse_equal_ids(root: Element, trace: SamlTrace) -> None:
    """Refuse two equal identifiers, however they are spelled: what a signature points at is one element."""
    seen: set[str] = set()
    for element in root.iter():
        for name, value in element.attrib.items():
            if str(name).rpartition("}")[2].lower() != "id":
                continue
            if value in seen:
                raise trace.refusal("xml", SamlRefusalReason.DUPLICATE_ID, "Two elements have the same identifier.")
            seen.add(str(value))


def identifier(element: Element) -> str | None:
    """The element's own `ID`, if it is a plain name."""
    found = element.get("ID")
    return found if found and len(found) <= MAX_ID_CHARS and _NAME.match(found) else None


def children(element: Element, namespace: str, name: str) -> list[Element]:
    """The direct children of that name: nothing here ever searches deeper."""
    return element.findall(tag(namespace, name))


def text_of(element: Element) -> str | None:
    """The element's text without surrounding white space; none if it holds elements or nothing."""
    return None if len(element) or not (element.text or "").strip() else (element.text or "").strip()


def moment(text: str | None) -> datetime | None:
    """An xs:dateTime with its zone, to the microsecond; none if it is anything else (SAML core §1.3.3)."""
    found = _MOMENT.match(text.strip()) if text else None
    if not found:
        return None
    year, month, day, hour, minute, second = (int(found[n]) for n in range(1, 7))
    if not 1970 <= year <= 9000:
        return None
    try:
        zone = datetime.strptime(found[8], "%z").tzinfo
        micros = int((found[7] or "0").ljust(6, "0")[:6])
        return datetime(year, month, day, hour, minute, second, micros, zone).astimezone(UTC)
    except ValueError:
        return None


def decode_base64(value: str | bytes, trace: SamlTrace) -> bytes:
    """The bytes of a base64 form field; white space is allowed (RFC 2045 §6.8)."""
    if len(value) > MAX_MESSAGE_BYTES * 2:
        raise trace.refusal(
            "size", SamlRefusalReason.TOO_LARGE, f"{len(value):,} characters; the message may have 256 KB."
        )
    try:
        packed = b"".join((value.encode("ascii") if isinstance(value, str) else value).split())
        return base64.b64decode(packed, validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise trace.refusal("base64", SamlRefusalReason.NOT_BASE64, "The message is not base64.") from None


def inflate(packed: bytes, trace: SamlTrace) -> bytes:
    """The bytes of a DEFLATE message (SAML bindings §3.4.4.1), never more than the limit."""
    unpacker = zlib.decompressobj(-15)
    try:
        raw = unpacker.decompress(packed, MAX_MESSAGE_BYTES + 1)
    except zlib.error:
        raise trace.refusal("deflate", SamlRefusalReason.NOT_DEFLATED, "The message is not DEFLATE.") from None
    if len(raw) > MAX_MESSAGE_BYTES:
        raise trace.refusal("size", SamlRefusalReason.TOO_LARGE, f"Unpacked, more than {MAX_MESSAGE_BYTES:,} bytes.")
    if not unpacker.eof:
        raise trace.refusal("deflate", SamlRefusalReason.NOT_DEFLATED, "The message breaks off.")
    return raw
