"""Reports about TLS with the mail servers of a domain (SMTP TLS Reporting, RFC 8460): records, results and format."""

import gzip
import re
import ssl
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import unquote, urlsplit

import msgspec

from postern.protocols.mail.address import Address, AddressInvalid, parse_address
from postern.protocols.mail.mime import base64_lines, rfc5322_date

RECORD_OCTETS = 4_096
"""Maximum octets of a record."""
MAX_RECIPIENTS = 4
"""How many addresses of a record get the report; RFC 8460 sets no limit."""
URL_CHARACTERS = 1_000
"""Maximum characters of an address."""
POLICY_LINES = 32
"""How many lines of a policy a report contains, and how many patterns of mail servers."""
LINE_CHARACTERS = 300
"""The characters of a line of a policy that a report contains."""

PolicyType: TypeAlias = Literal["sts", "tlsa", "no-policy-found"]
ResultType: TypeAlias = Literal[
    "success",
    "starttls-not-supported",
    "certificate-host-mismatch",
    "certificate-expired",
    "certificate-not-trusted",
    "validation-failure",
    "tlsa-invalid",
    "dnssec-invalid",
    "sts-policy-fetch-error",
    "sts-policy-invalid",
    "sts-webpki-invalid",
]
"""The result of a session: `success`, or a type of RFC 8460 §4.3. `dane-required` is left out, because no setting
requires DANE of domains that do not publish it."""

_CERTIFICATE_ERRORS: dict[int, ResultType] = {10: "certificate-expired", 62: "certificate-host-mismatch"}
"""The results of OpenSSL's verification errors (X509_V_ERR_…); all others are `certificate-not-trusted`."""
_FIELD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}=[\x21-\x3a\x3c-\x7e \t]+")


class TlsFailure(NamedTuple):
    """Why the TLS of a connection does not meet its requirements."""

    result: ResultType
    reason: str = ""
    """The value of `failure-reason-code`; empty for none."""


class TlsPolicy(msgspec.Struct, frozen=True):
    """The policy that applies to a session."""

    type: PolicyType
    domain: str
    """The domain of the policy; for DANE, the name of the mail server (RFC 7672 §2.2.3)."""
    lines: tuple[str, ...] = ()
    """The policy as text: the lines of an MTA-STS policy, or the TLSA records."""
    mx: tuple[str, ...] = ()
    """The patterns of the mail servers that an MTA-STS policy lists."""


class TlsSession(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one session, or of one attempt to get a policy."""

    domain: str
    """The domain of the recipients, which gets the report."""
    policy: TlsPolicy
    result: ResultType
    sending_ip: str = ""
    receiving_mx: str = ""
    receiving_ip: str = ""
    reason: str = ""


class TlsResult(msgspec.Struct, frozen=True, kw_only=True):
    """How many sessions of a day had the same result."""

    policy_type: PolicyType
    policy_domain: str
    policy_lines: list[str]
    policy_mx: list[str]
    result: ResultType
    sending_ip: str
    receiving_mx: str
    receiving_ip: str
    reason: str
    sessions: int


class TlsReport(msgspec.Struct, frozen=True, kw_only=True):
    """A report about one domain and one day (UTC)."""

    id: str
    domain: str
    day: date
    submitter: str
    """The domain of the reporting mail system, which is that of `contact` (RFC 8460 §5.3)."""
    contact: str
    """An e-mail address for questions about the report."""
    results: Sequence[TlsResult]

    @property
    def filename(self) -> str:
        """The name of its file (RFC 8460 §5.1)."""
        begin = datetime.combine(self.day, time(), UTC)
        end = begin + timedelta(days=1, seconds=-1)
        stamps = f"{int(begin.timestamp())}!{int(end.timestamp())}"
        return f"{self.submitter}!{self.domain}!{stamps}!{self.id[:8]}.json.gz"


def tls_failure_of(error: Exception) -> TlsFailure:
    """The reason for which a TLS handshake failed, in the terms of RFC 8460."""
    if isinstance(error, ssl.SSLCertVerificationError):
        result = _CERTIFICATE_ERRORS.get(error.verify_code, "certificate-not-trusted")
        return TlsFailure(result, f"X509_V_ERR_{error.verify_code}")
    if isinstance(error, ssl.SSLError) and error.reason:
        return TlsFailure("validation-failure", error.reason[:100])
    return TlsFailure("validation-failure", type(error).__name__)


def report_addresses(records: Iterable[str]) -> list[str]:
    """The addresses for reports from the TXT records of `_smtp._tls.<domain>`, at most MAX_RECIPIENTS; empty if there
    is not exactly one record, or if it is not valid (RFC 8460 §3). Each begins with `mailto:` or `https:`."""
    candidates = [record for record in records if re.match(r"v=TLSRPTv1[ \t]*;", record)]
    if len(candidates) != 1 or len(candidates[0]) > RECORD_OCTETS:
        return []
    fields = [part.strip(" \t") for part in candidates[0].split(";")[1:]]
    if fields[-1] == "":
        fields.pop()
    listed = [field.removeprefix("rua=") for field in fields if field.startswith("rua=")]
    if len(listed) != 1 or not all(map(_FIELD.fullmatch, fields)):
        return []
    uris = [uri.strip(" \t") for uri in listed[0].split(",")]
    addresses = {_without_variants(uri): uri for uri in reversed(uris) if _is_address(uri)}
    return list(reversed(addresses.values()))[:MAX_RECIPIENTS]


def _without_variants(address: str) -> str:
    """A key that is equal for all spellings of a mailbox, so that it gets only one report."""
    return f"mailto:{mail_recipient(address).spec.lower()}" if address.startswith("mailto:") else address


def mail_recipient(address: str) -> Address:
    """The recipient of a `mailto:` address; its header fields are ignored. Raises AddressInvalid."""
    return parse_address(unquote(address.removeprefix("mailto:").partition("?")[0]))


def _is_address(text: str) -> bool:
    if len(text) > URL_CHARACTERS or re.search(r"[\s!]", text):
        return False
    try:
        if text.startswith("mailto:"):
            return mail_recipient(text).spec.isascii()
        parts = urlsplit(text)
        return parts.scheme == "https" and bool(parts.hostname) and not parts.username
    except (AddressInvalid, ValueError):
        return False


def encode_report(report: TlsReport) -> bytes:
    """The report as compressed JSON (RFC 8460 §4.4). The same report always gives the same octets."""
    groups: dict[tuple[str, str, tuple[str, ...], tuple[str, ...]], list[TlsResult]] = {}
    for result in report.results:
        key = (result.policy_type, result.policy_domain, tuple(result.policy_lines), tuple(result.policy_mx))
        groups.setdefault(key, []).append(result)
    begin = report.day.isoformat()
    document = {
        "organization-name": report.submitter,
        "date-range": {"start-datetime": f"{begin}T00:00:00Z", "end-datetime": f"{begin}T23:59:59Z"},
        "contact-info": report.contact,
        "report-id": report.id,
        "policies": [_policy_document(results) for results in groups.values()],
    }
    return gzip.compress(msgspec.json.encode(document), mtime=0)


def _policy_document(results: Sequence[TlsResult]) -> dict[str, Any]:
    """What a report says about the sessions under one policy."""
    first = results[0]
    failures = [result for result in results if result.result != "success"]
    policy: dict[str, Any] = {"policy-type": first.policy_type, "policy-domain": first.policy_domain}
    if first.policy_lines:
        policy["policy-string"] = first.policy_lines
    if first.policy_mx:
        policy["mx-host"] = first.policy_mx
    document: dict[str, Any] = {
        "policy": policy,
        "summary": {
            "total-successful-session-count": sum(result.sessions for result in results if result.result == "success"),
            "total-failure-session-count": sum(result.sessions for result in failures),
        },
    }
    if failures:
        document["failure-details"] = [_failure_document(result) for result in failures]
    return document


def _failure_document(result: TlsResult) -> dict[str, Any]:
    optional = {
        "sending-mta-ip": result.sending_ip,
        "receiving-mx-hostname": result.receiving_mx,
        "receiving-ip": result.receiving_ip,
        "failure-reason-code": result.reason,
    }
    return {
        "result-type": result.result,
        **{name: value for name, value in optional.items() if value},
        "failed-session-count": result.sessions,
    }


def compose_report(report: TlsReport, content: bytes, sender: Address, recipient: Address, now: datetime) -> bytes:
    """The report as a message (RFC 8460 §5.3), with `content` from `encode_report`; not signed yet.

    It has `TLS-Required: No` (RFC 8689 §5), because it must arrive even if TLS with the domain fails (RFC 8460 §3).
    """
    boundary = f"=_{report.id}"
    lines = [
        f"From: {sender.spec}",
        f"To: {recipient.spec}",
        f"Subject: Report Domain: {report.domain}",
        f" Submitter: {report.submitter}",
        f" Report-ID: <{report.id}@{sender.domain}>",
        f"Date: {rfc5322_date(now)}",
        f"Message-ID: <{report.id}@{sender.domain}>",
        "Auto-Submitted: auto-generated",
        "TLS-Required: No",
        f"TLS-Report-Domain: {report.domain}",
        f"TLS-Report-Submitter: {report.submitter}",
        "MIME-Version: 1.0",
        f'Content-Type: multipart/report; report-type="tlsrpt";\r\n boundary="{boundary}"',
        "",
        f"--{boundary}",
        "Content-Type: text/plain; charset=us-ascii",
        "Content-Transfer-Encoding: 7bit",
        "",
        f"This is an aggregate report of {report.submitter} about TLS with the mail servers of",
        f"{report.domain} on {report.day} (UTC).",
        "",
        f"--{boundary}",
        "Content-Type: application/tlsrpt+gzip",
        "Content-Transfer-Encoding: base64",
        f'Content-Disposition: attachment;\r\n filename="{report.filename}"',
        "",
    ]
    head = "\r\n".join(lines).encode("ascii") + b"\r\n"
    return head + base64_lines(content).rstrip(b"\r\n") + f"\r\n--{boundary}--\r\n".encode()
