"""Aggregate reports of DMARC (RFC 9990, RFC 7489 appendix C): what receivers saw of mail with a domain in `From`.

Reports come from strangers, so everything in them is limited: the size before and after decompression, the number and
depth of elements, the number of records, and the length of texts. The XML is parsed without DTD, entities and network.
Namespaces and unknown elements are ignored, because reports of different versions and senders differ in them.
"""

import ipaddress
import re
import struct
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, Literal

from lxml import etree

from postern.kernel.http.problems import ContentTooLarge, Unprocessable
from postern.kernel.values import Record
from postern.protocols.mail.findings import readable, shorten
from postern.protocols.mail.received import read_message

REPORT_OCTETS: Final = 10_000_000
"""The largest report as it arrives: a file, or a message with one."""
XML_OCTETS: Final = 20_000_000
"""The largest report after decompression."""
RECORDS_LIMIT: Final = 20_000
"""Records of one report."""
XML_DEPTH: Final = 16
ELEMENTS_PER_RECORD: Final = 80
"""Elements of one record, on average. With six DKIM signatures, a record has about 50."""
FORWARDED_LIMIT: Final = 3
"""Depth of nested messages that are searched for a report."""
ZIP_ENTRIES_LIMIT: Final = 5
"""Entries of a zip file that are searched for a report."""
REPORT_ID_CHARACTERS: Final = 255
MESSAGES_LIMIT: Final = 2**31 - 1
"""Messages of one record."""
_CHUNK_OCTETS: Final = 64 * 1024

Element = etree._Element
Disposition = Literal["NONE", "QUARANTINE", "REJECT"]


class DmarcReportInvalid(Unprocessable):
    """This is not a DMARC aggregate report. Send its XML, a gzip or zip file with the XML, or an e-mail with one of
    these attached."""


class DmarcReportTooLarge(ContentTooLarge):
    """A report can have at most 10 MB, 20 MB after decompression, and 20,000 records."""


class DmarcRow(Record):
    """Messages that one host sent with the same results."""

    source_ip: str
    """In canonical form."""
    header_from: str
    """The domain in `From`, in lower case."""
    disposition: Disposition
    """What the receiver did with the messages."""
    dkim: bool
    """Whether an aligned DKIM signature passed."""
    spf: bool
    """Whether SPF passed for an aligned domain."""
    messages: int


class DmarcReport(Record):
    """One aggregate report."""

    organization: str
    """The receiver that made the report."""
    report_id: str
    """Unique together with the organization."""
    email: str
    begins: datetime
    ends: datetime
    domain: str
    """The domain whose policy was applied, in lower case."""
    policy: str
    """The policy that the receiver found: `none`, `quarantine` or `reject`."""
    rows: list[DmarcRow]
    skipped: int
    """The number of records that were left out because they have no valid address, domain or number of messages."""


def read_report(content: bytes) -> DmarcReport:
    """Read a report: XML, a gzip or zip file with it, or a message (RFC 5322) with one of these attached.

    Raises DmarcReportInvalid or DmarcReportTooLarge. Takes up to some seconds for the largest reports.
    """
    if len(content) > REPORT_OCTETS:
        raise DmarcReportTooLarge
    if is_report_file(content):
        return parse_report(_xml_of(content))
    last_error = DmarcReportInvalid("Neither the content nor one of its attachments is a DMARC report.")
    for part in _attachments(content):
        if is_report_file(part):
            try:
                return parse_report(_xml_of(part))
            except DmarcReportInvalid as error:  # It may be the text of the message in HTML.
                last_error = error
    raise last_error


def is_report_file(content: bytes) -> bool:
    """Whether the content begins like a gzip file, a zip file or XML."""
    return content.startswith((_GZIP, _ZIP)) or content[:100].lstrip(_XML_BLANKS)[:1] == b"<"


_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
_XML_BLANKS: Final = b"\xef\xbb\xbf\xfe\xff\0 \t\r\n"


# Files and messages ------------------------------------------------------------------------------------------


def _attachments(content: bytes, depth: int = 0) -> Iterator[bytes]:
    """The decoded parts of a message, and of messages that are attached to it."""
    for part in read_message(content).parts:
        yield part.content
        if part.content_type == "message/rfc822" and depth < FORWARDED_LIMIT:
            yield from _attachments(part.content, depth + 1)


def _xml_of(content: bytes) -> bytes:
    """The XML of a report file."""
    try:
        if content.startswith(_GZIP):
            return _inflate(content, wbits=31)[0]
        return _unzip(content) if content.startswith(_ZIP) else content
    except (zlib.error, struct.error):
        raise DmarcReportInvalid("The compressed file is damaged.") from None


def _inflate(content: bytes, *, wbits: int) -> tuple[bytes, bytes]:
    """The decompressed content, and what follows it. Raises zlib.error or DmarcReportTooLarge."""
    decompressor = zlib.decompressobj(wbits)
    xml = decompressor.decompress(content, XML_OCTETS + 1)
    if len(xml) > XML_OCTETS:
        raise DmarcReportTooLarge
    if not decompressor.eof:
        raise zlib.error("incomplete")
    return xml, decompressor.unused_data


_LOCAL_HEADER: Final = struct.Struct("<4sHHHHHLLLHH")
"""Signature, version, flags, method, time, date, CRC, compressed size, size, length of name, length of extra field."""
_ENCRYPTED, _STORED, _DEFLATED = 1, 0, 8


def _unzip(content: bytes) -> bytes:
    """The first non-empty file of a zip archive.

    Local headers are read one after the other: the central directory of a hostile archive may have millions of entries.
    """
    for _ in range(ZIP_ENTRIES_LIMIT):
        if not content.startswith(_ZIP):
            break
        _, _, flags, method, _, _, _, packed, _, name_length, extra_length = _LOCAL_HEADER.unpack_from(content)
        data = content[_LOCAL_HEADER.size + name_length + extra_length :]
        if flags & _ENCRYPTED or method not in (_STORED, _DEFLATED):
            break
        xml, content = _inflate(data, wbits=-15) if method == _DEFLATED else (data[:packed], data[packed:])
        if xml:
            return xml
        content = content[max(0, content.find(_ZIP)) :]  # A data descriptor may precede it.
    raise DmarcReportInvalid("The zip file has no readable file.")


# XML ---------------------------------------------------------------------------------------------------------


def parse_report(xml: bytes) -> DmarcReport:
    """Parse the XML of a report. Raises DmarcReportInvalid or DmarcReportTooLarge."""
    if len(xml) > XML_OCTETS:
        raise DmarcReportTooLarge
    # In UTF-16, the characters of a declaration are separated by NUL.
    if re.search(rb"<!\s*(?:DOCTYPE|ENTITY)", xml.replace(b"\0", b""), re.IGNORECASE):
        raise DmarcReportInvalid("A report must not have a document type declaration.")
    reader = _ReportReader()
    try:
        return reader.read(xml)
    except etree.XMLSyntaxError as error:
        raise DmarcReportInvalid(f"The XML of the report is not well-formed: {shorten(error.msg or '')}") from None


class _ReportReader:
    """Reads a report element by element, and drops each record when it is read."""

    def __init__(self) -> None:
        self._depth = self._elements = self._records = self._skipped = 0
        self._rows: list[DmarcRow] = []
        self._sections: dict[str, dict[str, str]] = {}

    def read(self, xml: bytes) -> DmarcReport:
        parser: etree.XMLPullParser[Element] = etree.XMLPullParser(
            events=("start", "end"),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            dtd_validation=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        for start in range(0, len(xml), _CHUNK_OCTETS):
            parser.feed(xml[start : start + _CHUNK_OCTETS])
            self._process(parser)
        root = parser.close()
        self._process(parser)
        if _name(root) != "feedback":
            raise DmarcReportInvalid("The root element of the XML is not `feedback`.")
        return self._report()

    def _process(self, parser: "etree.XMLPullParser[Element]") -> None:
        for event, element in parser.read_events():
            if not isinstance(element, Element):
                continue
            if event == "start":
                self._depth += 1
                self._elements += 1
                if self._depth > XML_DEPTH or self._elements > ELEMENTS_PER_RECORD * (self._records + 10):
                    raise DmarcReportTooLarge("The report has too many or too deeply nested elements.")
                continue
            self._depth -= 1
            name = _name(element)
            if self._depth == 1 and name == "record":
                self._add(element)
            elif self._depth == 1 and name in ("report_metadata", "policy_published"):
                self._sections.setdefault(name, _texts(element))
            if self._depth == 1:
                element.clear(keep_tail=False)

    def _add(self, element: Element) -> None:
        self._records += 1
        if self._records > RECORDS_LIMIT:
            raise DmarcReportTooLarge
        row = _row(element)
        if row is None:
            self._skipped += 1
        else:
            self._rows.append(row)

    def _report(self) -> DmarcReport:
        metadata, published = self._sections.get("report_metadata", {}), self._sections.get("policy_published", {})
        organization, report_id = metadata.get("org_name", ""), metadata.get("report_id", "")
        domain = _domain(published.get("domain", ""))
        if not organization or not report_id or len(report_id) > REPORT_ID_CHARACTERS or domain is None:
            raise DmarcReportInvalid("The report has no organization, no id or no domain.")
        begins, ends = _moment(metadata.get("begin", "")), _moment(metadata.get("end", ""))
        if begins is None or ends is None or begins > ends:
            raise DmarcReportInvalid("The report has no valid period.")
        return DmarcReport(
            organization=shorten(organization),
            report_id=readable(report_id),
            email=shorten(metadata.get("email", "")),
            begins=begins,
            ends=ends,
            domain=domain,
            policy=shorten(published.get("p", "").lower())[:20],
            rows=self._rows,
            skipped=self._skipped,
        )


def _name(element: Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _texts(element: Element) -> dict[str, str]:
    """The texts of all elements below, by name; of several with the same name, the first."""
    texts: dict[str, str] = {}
    for child in element.iter():
        texts.setdefault(_name(child), (child.text or "").strip()[:1_000])
    return texts


def _row(record: Element) -> DmarcRow | None:
    """A record; None if it has no valid address, domain or number."""
    sections = {_name(child): _texts(child) for child in record}
    row, identifiers = sections.get("row", {}), sections.get("identifiers", {})
    try:
        address = ipaddress.ip_address(row.get("source_ip", "").partition("%")[0])  # Without an IPv6 zone id.
    except ValueError:
        return None
    domain = _domain(identifiers.get("header_from", ""))
    count = row.get("count", "")
    if domain is None or not _COUNT.fullmatch(count) or not 0 < int(count) <= MESSAGES_LIMIT:
        return None
    return DmarcRow(
        source_ip=str(getattr(address, "ipv4_mapped", None) or address),
        header_from=domain,
        disposition=_DISPOSITIONS.get(row.get("disposition", "").lower(), "NONE"),
        dkim=row.get("dkim", "").lower() == "pass",
        spf=row.get("spf", "").lower() == "pass",
        messages=int(count),
    )


_COUNT = re.compile(r"[0-9]{1,10}")
_DISPOSITIONS: Final[dict[str, Disposition]] = {"quarantine": "QUARANTINE", "reject": "REJECT"}
"""RFC 9990 also has `pass`, which is no different from `none`."""


def _domain(text: str) -> str | None:
    """A domain in lower case without the final dot; None if the text is not a domain."""
    name = text.rstrip(".").lower()
    return name if _DOMAIN.fullmatch(name) else None


_DOMAIN = re.compile(r"(?=.{1,253}$)[\w-]{1,63}(?:\.[\w-]{1,63})*")


def _moment(text: str) -> datetime | None:
    """A time in seconds since 1970; None if it is not between 1971 and 2999."""
    if not re.fullmatch(r"[0-9]{8,11}", text):
        return None
    seconds = int(text)
    return datetime.fromtimestamp(seconds, UTC) if 31_536_000 <= seconds < 32_500_000_000 else None
