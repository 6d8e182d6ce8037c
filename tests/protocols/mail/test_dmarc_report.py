"""Reading aggregate reports: forms of the file, versions of the schema, and hostile input."""

import gzip
import io
import zipfile
import zlib
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.kernel.http.problems import Problem
from postern.protocols.mail.dmarc_report import (
    RECORDS_LIMIT,
    REPORT_OCTETS,
    XML_OCTETS,
    DmarcReportInvalid,
    DmarcReportTooLarge,
    DmarcRow,
    parse_report,
    read_report,
)
from tests.protocols.mail.test_html_tokens import assert_linear

RECORD = """
  <record>
    <row>
      <source_ip>192.0.2.10</source_ip>
      <count>12</count>
      <policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>fail</spf></policy_evaluated>
    </row>
    <identifiers><header_from>Example.com</header_from></identifiers>
    <auth_results>
      <dkim><domain>example.com</domain><selector>s</selector><result>pass</result></dkim>
      <spf><domain>bounces.example.com</domain><result>pass</result></spf>
    </auth_results>
  </record>
"""


def report(*records, organization="google.com", report_id="1234567890", begin=1_767_225_600, domain="example.com"):
    """A report in the form of RFC 7489 appendix C, as large receivers send it."""
    return f"""<?xml version="1.0" encoding="UTF-8" ?>
<feedback>
  <version>1.0</version>
  <report_metadata>
    <org_name>{organization}</org_name>
    <email>noreply-dmarc-support@google.com</email>
    <extra_contact_info>https://support.google.com/a/answer/2466580</extra_contact_info>
    <report_id>{report_id}</report_id>
    <date_range><begin>{begin}</begin><end>{begin + 86_399}</end></date_range>
  </report_metadata>
  <policy_published>
    <domain>{domain}</domain><adkim>r</adkim><aspf>r</aspf><p>reject</p><sp>reject</sp><pct>100</pct>
  </policy_published>
  {"".join(records or (RECORD,))}
</feedback>
""".encode()


def row(ip="192.0.2.10", count=12, disposition="none", dkim="pass", spf="fail", header_from="example.com"):
    """A record of a report."""
    return f"""<record><row><source_ip>{ip}</source_ip><count>{count}</count><policy_evaluated>
    <disposition>{disposition}</disposition><dkim>{dkim}</dkim><spf>{spf}</spf></policy_evaluated></row>
    <identifiers><header_from>{header_from}</header_from></identifiers></record>"""


def zipped(content, name="google.com!example.com.xml", method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def mailed(attachment, subtype="gzip", html=False):
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = (
        "dmarc@google.com",
        "d@example.com",
        "Report Domain: example.com",
    )
    message.set_content("This is an aggregate report.")
    if html:
        message.add_alternative("<html><p>This is an aggregate report.</p></html>", subtype="html")
    message.add_attachment(attachment, maintype="application", subtype=subtype, filename="report.xml.gz")
    return message.as_bytes()


def test_a_report_of_rfc_7489():
    read = parse_report(report())
    assert (read.organization, read.report_id, read.domain, read.policy) == (
        "google.com",
        "1234567890",
        "example.com",
        "reject",
    )
    assert (read.begins, read.ends) == (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 23, 59, 59, tzinfo=UTC))
    expected = DmarcRow(
        source_ip="192.0.2.10", header_from="example.com", disposition="NONE", dkim=True, spf=False, messages=12
    )
    assert (read.rows, read.skipped) == ([expected], 0)


def test_a_report_of_rfc_9990_has_a_namespace_and_other_elements():
    text = report(row(disposition="pass"), row(ip="2001:0DB8::1", disposition="quarantine", dkim="fail"))
    text = text.replace(b"<feedback>", b'<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0">')
    text = text.replace(
        b"<version>1.0</version>", b"<version>2.0</version><extension><x xmlns='urn:x'>1</x></extension>"
    )
    text = text.replace(
        b"<pct>100</pct>", b"<np>reject</np><testing>n</testing><discovery_method>treewalk</discovery_method>"
    )
    read = parse_report(text)
    assert [(row.source_ip, row.disposition) for row in read.rows] == [
        ("192.0.2.10", "NONE"),
        ("2001:db8::1", "QUARANTINE"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        report(),
        b"\xef\xbb\xbf" + report(),
        b"\n" + report().partition(b"?>")[2],
        report().replace(b"UTF-8", b"utf-16").decode().encode("utf-16"),
        gzip.compress(report()),
        zipped(report()),
        zipped(report(), method=zipfile.ZIP_STORED),
        mailed(gzip.compress(report())),
        mailed(zipped(report()), "zip", html=True),
        mailed(report(), "octet-stream"),
    ],
    ids=["xml", "bom", "no-declaration", "utf-16", "gzip", "zip", "stored", "mail", "mail-with-html", "mail-with-xml"],
)
def test_forms_of_a_report(content):
    assert read_report(content).rows == parse_report(report()).rows


def test_an_archive_with_a_folder_and_data_descriptors():
    file = io.BytesIO()
    file.seekable = lambda: False  # So that sizes follow the data.
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("reports/", b"")
        archive.writestr("reports/a.xml", report())
    assert read_report(file.getvalue()).rows


SKIPPED = [
    row(ip="nonsense"),
    row(ip=""),
    row(count="-1"),
    row(count="0"),
    row(count="1e3"),
    row(count="99999999999"),
    row(header_from=""),
    row(header_from="not a domain"),
    row(header_from="a" * 300),
    "<record/>",
    "<record><row/></record>",
]


@pytest.mark.parametrize("record", SKIPPED)
def test_invalid_records_are_skipped_and_counted(record):
    read = parse_report(report(RECORD, record))
    assert (len(read.rows), read.skipped) == (1, 1)


def test_unusual_values_are_read():
    read = parse_report(report(row(ip="::ffff:192.0.2.1"), row(ip="fe80::1%eth0"), row(disposition="x", dkim="PASS")))
    assert [row.source_ip for row in read.rows] == ["192.0.2.1", "fe80::1", "192.0.2.10"]
    assert (read.rows[2].disposition, read.rows[2].dkim) == ("NONE", True)


INVALID = [
    b"",
    b"hello",
    b"<",
    b"<html><p>x</p></html>",
    b"<feedback/>",
    report()[:-20],
    report().replace(b"<org_name>google.com</org_name>", b""),
    report().replace(b"1234567890", b"x" * 256),
    report().replace(b"<domain>example.com</domain>", b"<domain>not a domain</domain>", 1),
    report().replace(b"1767225600", b"yesterday"),
    report().replace(b"1767225600", b"9" * 11),
    report().replace(b"1767225600", b"1999999999"),
    b"\x1f\x8b",
    gzip.compress(report())[:-30],
    b"\x1f\x8b" + b"x" * 100,
    b"PK\x03\x04",
    zipped(report())[:60],
    zipped(b""),
    zipped(b"hello"),
    mailed(b"hello"),
    b"Content-Type: multipart/mixed; boundary=x\n\n--x",
    b"Content-Type: text/plain; charset=nonsense\n\nhello",
    b"Content-Type: multipart/mixed; boundary*=b; boundary*0=c\n\n--b\n\nx\n--b--",
]


@pytest.mark.parametrize("content", INVALID, ids=range(len(INVALID)))
def test_what_is_no_report_is_refused(content):
    with pytest.raises(DmarcReportInvalid):
        read_report(content)


ENTITIES = b'<!DOCTYPE feedback [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>'
EXTERNAL = b'<!DOCTYPE feedback [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("declaration", [ENTITIES, EXTERNAL, b'<!DOCTYPE feedback SYSTEM "http://127.0.0.1/">'])
def test_document_types_and_entities_are_refused(declaration):
    text = report().replace(b"<feedback>", declaration + b"<feedback>", 1).replace(b"google.com<", b"&a;<", 1)
    with pytest.raises(DmarcReportInvalid, match="document type"):
        read_report(text)
    with pytest.raises(DmarcReportInvalid):
        read_report(text.replace(b"UTF-8", b"utf-16").decode().encode("utf-16"))


def test_decompression_bombs_are_bounded():
    bomb = zlib.compressobj(wbits=31)
    compressed = b"".join(bomb.compress(b" " * 1_000_000) for _ in range(200)) + bomb.flush()
    assert len(compressed) < 250_000
    with pytest.raises(DmarcReportTooLarge):
        read_report(compressed)
    with pytest.raises(DmarcReportTooLarge):
        read_report(zipped(b" " * (XML_OCTETS + 1)))
    with pytest.raises(DmarcReportTooLarge):
        read_report(b"<" + b" " * REPORT_OCTETS)
    with pytest.raises(DmarcReportTooLarge):
        read_report(mailed(compressed))


def test_a_report_in_a_forwarded_message_is_read():
    forward = EmailMessage()
    forward["From"], forward["To"], forward["Subject"] = "ada@example.com", "d@example.com", "Fwd: Report"
    forward.set_content("For you.")
    forward.add_attachment(message_from_bytes(mailed(gzip.compress(report()))))
    assert read_report(forward.as_bytes()).organization == "google.com"


@pytest.mark.parametrize("piece", [";", '";', "a*0*=x; ", "boundary=x;"])
def test_the_parameters_of_a_content_type_take_linear_time(piece):
    """A megabyte of semicolons took a quarter of a minute."""

    def read(parameters: str) -> None:
        with pytest.raises(DmarcReportInvalid):
            read_report(f"Content-Type: multipart/mixed; {parameters}\n\nx".encode())

    assert_linear(read, *(piece * (size // len(piece)) for size in (125_000, 1_000_000)))


def test_many_records_and_deep_elements_are_bounded():
    assert len(parse_report(report(*[row()] * 5_000)).rows) == 5_000
    with pytest.raises(DmarcReportTooLarge):
        parse_report(report(*[row()] * (RECORDS_LIMIT + 1)))
    for hostile in ("<a>" * 30 + "</a>" * 30, "<a/>" * 10_000, f"<record>{'<a/>' * 10_000}</record>"):
        with pytest.raises(DmarcReportTooLarge):
            parse_report(report(hostile))


def test_a_message_with_deeply_nested_parts_is_refused():
    for depth, lines in ((2_000, 1), (11, 1_000_000), (10, 100_000)):
        head = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(depth))
        with pytest.raises(DmarcReportInvalid):
            read_report(head.encode() + b"\nhello" * lines)


@given(st.binary(max_size=300))
def test_any_octets_are_a_report_or_a_problem(content):
    for prefix in (b"", b"<", b"\x1f\x8b\x08", b"PK\x03\x04", b"Content-Type: multipart/mixed; boundary=x\n\n--x\n"):
        with pytest.raises(Problem):
            read_report(prefix + content)


@given(st.text(alphabet="<>/abcrowundtsp &;0123456789.\"'="))
def test_any_xml_inside_a_report_is_bounded(text):
    try:
        parse_report(report(text))
    except Problem:
        pass
