"""Records that ask for reports about TLS, and the form of reports (RFC 8460)."""

import email
import email.policy
import gzip
import json
from datetime import UTC, date, datetime

import pytest

from postern.protocols.mail.address import parse_address
from postern.protocols.mail.mime import message_problem
from postern.protocols.mail.tls_report import (
    MAX_RECIPIENTS,
    TlsReport,
    TlsResult,
    compose_report,
    encode_report,
    mail_recipient,
    report_addresses,
)

VALID_RECORDS = {
    "v=TLSRPTv1; rua=mailto:reports@b.test": ["mailto:reports@b.test"],
    "v=TLSRPTv1;rua=https://reporting.b.test/v1/tlsrpt": ["https://reporting.b.test/v1/tlsrpt"],
    "v=TLSRPTv1; rua=mailto:a@b.test,https://b.test/x ;": ["mailto:a@b.test", "https://b.test/x"],
    "v=TLSRPTv1; ext=1; rua=mailto:a@b.test": ["mailto:a@b.test"],
    "v=TLSRPTv1 ; rua=mailto:a%2Bb@b.test?subject=x": ["mailto:a%2Bb@b.test?subject=x"],
    "v=TLSRPTv1; rua=ftp://b.test/,mailto:a@b.test": ["mailto:a@b.test"],
    "v=TLSRPTv1; rua=mailto:a@b.test,mailto:A@B.test,mailto:%61@b.test,mailto:a@b.test?x,https://b.test/": [
        "mailto:a@b.test",
        "https://b.test/",
    ],
    "v=TLSRPTv1; rua=" + ",".join(f"mailto:a{n}@b.test" for n in range(9)): [
        f"mailto:a{n}@b.test" for n in range(MAX_RECIPIENTS)
    ],
}


@pytest.mark.parametrize(("record", "addresses"), VALID_RECORDS.items())
def test_a_valid_record_says_where_reports_are_sent(record, addresses):
    assert report_addresses(["v=spf1 -all", record]) == addresses


INVALID_RECORDS = {
    "other version": ["v=TLSRPTv2; rua=mailto:a@b.test"],
    "no address": ["v=TLSRPTv1;"],
    "two records": ["v=TLSRPTv1; rua=mailto:a@b.test"] * 2,
    "two fields": ["v=TLSRPTv1; rua=mailto:a@b.test; rua=mailto:b@b.test"],
    "http": ["v=TLSRPTv1; rua=http://b.test/"],
    "no mail address": ["v=TLSRPTv1; rua=mailto:nobody"],
    "header injection": ["v=TLSRPTv1; rua=mailto:a%0d%0aBcc:%20b@b.test"],
    "non-ascii address": ["v=TLSRPTv1; rua=mailto:%C3%A9@b.test"],
    "credentials": ["v=TLSRPTv1; rua=https://user:secret@b.test/"],
    "exclamation mark": ["v=TLSRPTv1; rua=mailto:a@b.test!10m"],
    "malformed field": ["v=TLSRPTv1; rua=mailto:a@b.test; =x"],
    "malformed url": ["v=TLSRPTv1; rua=https://[b.test/"],
    "too long": ["v=TLSRPTv1; rua=mailto:a@b.test," + " " * 5_000 + "mailto:b@b.test"],
    "control characters": ["v=TLSRPTv1; rua=mailto:a@b.test\n; x=1"],
}


@pytest.mark.parametrize("records", INVALID_RECORDS.values(), ids=INVALID_RECORDS)
def test_an_invalid_record_asks_for_no_reports(records):
    assert report_addresses(records) == []


def test_a_mail_address_loses_its_header_fields():
    assert mail_recipient("mailto:a%2Bb@b.test?bcc=c@b.test").spec == "a+b@b.test"


def result(result="success", sessions=1, **more):
    values = {
        "policy_type": "sts",
        "policy_domain": "company-y.example",
        "policy_lines": [
            "version: STSv1",
            "mode: testing",
            "mx: *.mail.company-y.example",
            "max_age: 86400",
        ],
        "policy_mx": ["*.mail.company-y.example"],
        "sending_ip": "",
        "receiving_mx": "",
        "receiving_ip": "",
        "reason": "",
    }
    return TlsResult(**{**values, **more}, result=result, sessions=sessions)


REPORT = TlsReport(
    id="5065427c-23d3-47ca-b6e0-946ea0e8c4be",
    domain="company-y.example",
    day=date(2016, 4, 1),
    submitter="company-x.example",
    contact="sts-reporting@company-x.example",
    results=[
        result(sessions=5326),
        result(
            "certificate-expired",
            100,
            sending_ip="2001:db8:abcd:12::1",
            receiving_mx="mx1.mail.company-y.example",
        ),
        result(
            "starttls-not-supported",
            200,
            sending_ip="2001:db8:abcd:13::1",
            receiving_mx="mx2.mail.company-y.example",
            receiving_ip="203.0.113.56",
        ),
        result(
            "validation-failure",
            3,
            sending_ip="198.51.100.62",
            receiving_ip="203.0.113.58",
            receiving_mx="mx-backup.mail.company-y.example",
            reason="X509_V_ERR_PROXY_PATH_LENGTH_EXCEEDED",
        ),
    ],
)


def test_a_report_has_the_form_of_the_rfc():
    """The example of RFC 8460, Appendix B."""
    assert json.loads(gzip.decompress(encode_report(REPORT))) == {
        "organization-name": "company-x.example",
        "date-range": {"start-datetime": "2016-04-01T00:00:00Z", "end-datetime": "2016-04-01T23:59:59Z"},
        "contact-info": "sts-reporting@company-x.example",
        "report-id": "5065427c-23d3-47ca-b6e0-946ea0e8c4be",
        "policies": [
            {
                "policy": {
                    "policy-type": "sts",
                    "policy-string": [
                        "version: STSv1",
                        "mode: testing",
                        "mx: *.mail.company-y.example",
                        "max_age: 86400",
                    ],
                    "policy-domain": "company-y.example",
                    "mx-host": ["*.mail.company-y.example"],
                },
                "summary": {"total-successful-session-count": 5326, "total-failure-session-count": 303},
                "failure-details": [
                    {
                        "result-type": "certificate-expired",
                        "sending-mta-ip": "2001:db8:abcd:12::1",
                        "receiving-mx-hostname": "mx1.mail.company-y.example",
                        "failed-session-count": 100,
                    },
                    {
                        "result-type": "starttls-not-supported",
                        "sending-mta-ip": "2001:db8:abcd:13::1",
                        "receiving-mx-hostname": "mx2.mail.company-y.example",
                        "receiving-ip": "203.0.113.56",
                        "failed-session-count": 200,
                    },
                    {
                        "result-type": "validation-failure",
                        "sending-mta-ip": "198.51.100.62",
                        "receiving-ip": "203.0.113.58",
                        "receiving-mx-hostname": "mx-backup.mail.company-y.example",
                        "failed-session-count": 3,
                        "failure-reason-code": "X509_V_ERR_PROXY_PATH_LENGTH_EXCEEDED",
                    },
                ],
            }
        ],
    }


def test_the_mail_with_a_report_has_the_form_of_the_rfc():
    sender, recipient = parse_address("postmaster@company-x.example"), parse_address("tls@company-y.example")
    content = encode_report(REPORT)
    raw = compose_report(REPORT, content, sender, recipient, datetime(2016, 4, 2, 1, tzinfo=UTC))
    assert message_problem(raw) is None
    message = email.message_from_bytes(raw, policy=email.policy.default)
    assert not message.defects
    assert message.get_content_type() == "multipart/report"
    assert message.get_param("report-type") == "tlsrpt"
    assert (message["TLS-Report-Domain"], message["TLS-Report-Submitter"]) == ("company-y.example", "company-x.example")
    assert message["TLS-Required"] == "No"
    assert message["Subject"] == (
        "Report Domain: company-y.example Submitter: company-x.example "
        "Report-ID: <5065427c-23d3-47ca-b6e0-946ea0e8c4be@company-x.example>"
    )
    text, report = message.iter_parts()
    assert text.get_content_type() == "text/plain"
    assert report.get_content_type() == "application/tlsrpt+gzip"
    assert report.get_filename() == "company-x.example!company-y.example!1459468800!1459555199!5065427c.json.gz"
    assert report.get_content() == content
