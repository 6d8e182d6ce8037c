"""Parsing untrusted XML: size and complexity limits, no DTD, entities, comments or processing instructions."""

import base64
import binascii
import re
import zlib
from datetime import UTC, datetime
from xml.sax.saxutils import quoteattr

from lxml import etree

from postern.protocols.saml.trace import SamlRejectionReason, SamlTrace

MAX_MESSAGE_BYTES = 256 * 1024
MAX_DEPTH = 32
MAX_ELEMENTS = 10_000
MAX_ATTRIBUTES = 64
"""Attributes of one element."""
MAX_NAMESPACES = 64
"""Namespace declarations in scope at one element: exclusive canonicalization searches all of them."""
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
_NCNAME = re.compile(r"\A[A-Za-z_][A-Za-z0-9_.-]*\Z")
_ABSOLUTE_URI = re.compile(r"\A[A-Za-z][A-Za-z0-9+.-]*:[^\s]+\Z")
_DATETIME = re.compile(
    r"\A(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)\Z",
    re.ASCII,
)


def tag(namespace: str, name: str) -> str:
    """A qualified name in lxml's notation: `{namespace}name`."""
    return f"{{{namespace}}}{name}"


def parse(raw: bytes, trace: SamlTrace, *, max_bytes: int = MAX_MESSAGE_BYTES) -> Element:
    """Parse an untrusted document and return its root. Raises SamlRejected, and records the checks in `trace`.

    Rejects a document that is larger than `max_bytes`, is not UTF-8, has a DOCTYPE, comment, CDATA section or
    processing instruction, exceeds a limit of depth, elements, attributes or namespaces, declares a namespace URI that
    is not absolute, or has two elements with the same ID.
    """
    if len(raw) > max_bytes:
        raise trace.rejection("size", SamlRejectionReason.TOO_LARGE, f"{len(raw):,} bytes; the limit is {max_bytes:,}.")
    trace.passed("size", f"{len(raw):,} bytes")
    # Comments split text nodes (CVE-2017-11427), and a DOCTYPE can declare entities: both are rejected before parsing.
    _reject_markup(raw, trace)
    parser = _new_parser()
    try:
        root = _feed_parser(parser, raw.removeprefix(b"\xef\xbb\xbf"), trace)
    except etree.XMLSyntaxError as error:
        # libxml2 has its own depth limit, which a very deep document reaches before MAX_DEPTH is checked.
        over_limit = error.code == etree.ErrorTypes.ERR_RESOURCE_LIMIT
        reason = SamlRejectionReason.TOO_COMPLEX if over_limit else SamlRejectionReason.MALFORMED
        raise trace.rejection("xml", reason, f"Not well-formed XML: {error.msg}") from None
    _reject_duplicate_ids(root, trace)
    trace.passed("xml")
    return root


def parse_fragment(raw: bytes, context: Element, trace: SamlTrace) -> Element:
    """Parse the single element in `raw` with the namespace declarations in scope at `context`.

    A decrypted element replaces its ciphertext (XML Encryption 1.1 §4.4), and some implementations omit namespace
    declarations of its ancestors. Raises SamlRejected as `parse` does, and for anything else than one element.
    """
    _reject_markup(raw, trace)
    # The element is parsed inside a `wrapper` element, which declares the namespaces. An end tag in `raw` cannot close
    # the wrapper early: a second root element would follow, which is not well-formed.
    declarations = "".join(
        f" xmlns{f':{prefix}' if prefix else ''}={quoteattr(str(uri))}"
        for prefix, uri in context.nsmap.items()
        if prefix != "xml"
    )
    content = _DECLARATION.sub("", raw.decode("utf-8-sig")).strip()
    wrapper = parse(f"<wrapper{declarations}>{content}</wrapper>".encode(), trace)
    if len(wrapper) != 1 or wrapper.text or wrapper[0].tail:
        raise trace.rejection(
            "xml", SamlRejectionReason.MALFORMED, "The decrypted content is not a single XML element."
        )
    return wrapper[0]


def _new_parser() -> "etree.XMLPullParser[etree._Element]":
    """A parser with entities, DTDs, network access and encodings other than UTF-8 disabled."""
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


def _reject_markup(raw: bytes, trace: SamlTrace) -> None:
    """Reject bytes that are not UTF-8, and markup other than elements. In XML `<` always starts markup, so searching
    for `<!` and `<?` finds all of it."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise trace.rejection("markup", SamlRejectionReason.NOT_UTF8, "The document is not UTF-8.") from None
    if declaration := _DECLARATION.match(text):
        encoding = _ENCODING.search(declaration[0])
        if encoding and encoding[1].lower() not in {"utf-8", "us-ascii"}:
            raise trace.rejection(
                "markup",
                SamlRejectionReason.NOT_UTF8,
                f"The document declares the encoding {encoding[1]!r} instead of UTF-8.",
            )
    start = declaration.end() if declaration else 0
    if (position := text.find("<!", start)) >= 0:
        if text[position : position + 9].upper() == "<!DOCTYPE":
            raise trace.rejection(
                "markup", SamlRejectionReason.DOCTYPE, "The document has a DOCTYPE, which is not accepted."
            )
        detail = "The document has a comment or CDATA section, which is not accepted."
        raise trace.rejection("markup", SamlRejectionReason.FORBIDDEN_MARKUP, detail)
    if text.find("<?", start) >= 0:
        detail = "The document has a processing instruction, which is not accepted."
        raise trace.rejection("markup", SamlRejectionReason.FORBIDDEN_MARKUP, detail)
    trace.passed("markup")


def _feed_parser(parser: "etree.XMLPullParser[etree._Element]", raw: bytes, trace: SamlTrace) -> Element:
    """Parse in chunks, and reject a document as soon as it exceeds a limit."""
    depth = elements = namespaces = 0
    for start in range(0, len(raw) or 1, _CHUNK_BYTES):
        parser.feed(raw[start : start + _CHUNK_BYTES])
        for event, content in parser.read_events():
            if event == "end":
                depth -= 1
            elif event == "end-ns":
                namespaces -= 1
            elif event == "start-ns":
                namespaces += 1
                uri = str(content[1])
                # libxml2 aborts canonicalization at a relative namespace URI, so the digest would cover nothing.
                if uri and not _ABSOLUTE_URI.match(uri):
                    raise trace.rejection("xml", SamlRejectionReason.MALFORMED, "A namespace URI is not absolute.")
            else:
                depth, elements = depth + 1, elements + 1
                if len(content.attrib) > MAX_ATTRIBUTES:
                    raise trace.rejection(
                        "xml", SamlRejectionReason.TOO_COMPLEX, f"An element has more than {MAX_ATTRIBUTES} attributes."
                    )
            if depth > MAX_DEPTH or elements > MAX_ELEMENTS or namespaces > MAX_NAMESPACES:
                limits = f"{MAX_DEPTH} levels, {MAX_ELEMENTS:,} elements, {MAX_NAMESPACES} namespaces"
                raise trace.rejection(
                    "xml", SamlRejectionReason.TOO_COMPLEX, f"The document exceeds the limits: {limits}."
                )
    return parser.close()


def _reject_duplicate_ids(root: Element, trace: SamlTrace) -> None:
    """Reject duplicate values of `id` attributes, in any letter case, so that signature references are unambiguous."""
    seen_ids: set[str] = set()
    for element in root.iter():
        for name, value in element.attrib.items():
            if str(name).rpartition("}")[2].lower() != "id":
                continue
            if value in seen_ids:
                raise trace.rejection("xml", SamlRejectionReason.DUPLICATE_ID, "Two elements have the same ID.")
            seen_ids.add(str(value))


def identifier(element: Element) -> str | None:
    """The element's `ID` attribute if it is a valid NCName of at most 256 ASCII characters, else None."""
    value = element.get("ID")
    return value if value and len(value) <= MAX_ID_CHARS and _NCNAME.match(value) else None


def children(element: Element, namespace: str, name: str) -> list[Element]:
    """The direct children with this qualified name. Elements that are read are always looked up in this way, so that an
    element elsewhere in the document cannot take their place."""
    return element.findall(tag(namespace, name))


def text_of(element: Element) -> str | None:
    """The element's stripped text; None if it is empty or the element has child elements."""
    return None if len(element) or not (element.text or "").strip() else (element.text or "").strip()


def parse_datetime(text: str | None) -> datetime | None:
    """Parse an xs:dateTime with a time zone, to the microsecond (SAML core §1.3.3); returns it in UTC.

    Returns None for any other text, and for years before 1970 or after 9000.
    """
    match = _DATETIME.match(text.strip()) if text else None
    if not match:
        return None
    year, month, day, hour, minute, second = (int(match[n]) for n in range(1, 7))
    if not 1970 <= year <= 9000:
        return None
    try:
        zone = datetime.strptime(match[8], "%z").tzinfo
        microseconds = int((match[7] or "0").ljust(6, "0")[:6])
        return datetime(year, month, day, hour, minute, second, microseconds, zone).astimezone(UTC)
    except ValueError:
        return None


def decode_base64(value: str | bytes, trace: SamlTrace) -> bytes:
    """Decode a base64 form field or parameter; white space is ignored (RFC 2045 §6.8). Raises SamlRejected if the value
    is too large or not base64."""
    if len(value) > MAX_MESSAGE_BYTES * 2:
        raise trace.rejection(
            "size", SamlRejectionReason.TOO_LARGE, f"{len(value):,} characters; the limit for a message is 256 KB."
        )
    try:
        encoded = b"".join((value.encode("ascii") if isinstance(value, str) else value).split())
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise trace.rejection("base64", SamlRejectionReason.NOT_BASE64, "The message is not base64.") from None


def inflate(compressed: bytes, trace: SamlTrace) -> bytes:
    """Decompress a DEFLATE message (SAML bindings §3.4.4.1) up to 256 KB. Raises SamlRejected."""
    decompressor = zlib.decompressobj(-15)
    try:
        raw = decompressor.decompress(compressed, MAX_MESSAGE_BYTES + 1)
    except zlib.error:
        raise trace.rejection("deflate", SamlRejectionReason.NOT_DEFLATED, "The message is not DEFLATE data.") from None
    if len(raw) > MAX_MESSAGE_BYTES:
        raise trace.rejection(
            "size", SamlRejectionReason.TOO_LARGE, f"Decompressed, more than {MAX_MESSAGE_BYTES:,} bytes."
        )
    if not decompressor.eof:
        raise trace.rejection("deflate", SamlRejectionReason.NOT_DEFLATED, "The DEFLATE data is truncated.")
    return raw
