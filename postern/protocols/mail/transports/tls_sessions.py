"""The results of TLS with recipients' mail servers, for reports to their domains (RFC 8460)."""

from collections.abc import Callable
from typing import TypeAlias

from postern.protocols.mail.dane import usable_records
from postern.protocols.mail.dns import TlsaRecord
from postern.protocols.mail.mta_sts import StsPolicy
from postern.protocols.mail.tls_report import LINE_CHARACTERS, POLICY_LINES, TlsFailure, TlsPolicy, TlsSession
from postern.protocols.mail.transports.mx import MailHost, MailRoute

ReportSession: TypeAlias = Callable[[TlsSession], object]
"""Gets the result of each session; it must return at once."""

NOT_LISTED = TlsFailure("validation-failure", "mx-not-in-sts-policy")
"""RFC 8460 has no type for a mail server that the MTA-STS policy does not list."""


def session_result(
    route: MailRoute, host: MailHost, failure: TlsFailure | None, *, sending_ip: str = "", receiving_ip: str = ""
) -> TlsSession:
    """The result of a session with a mail server. Without a failure, it is a success, unless the server has TLSA
    records and none of them is usable."""
    if failure is None and host.tlsa and not usable_records(host.tlsa):
        failure = TlsFailure("tlsa-invalid")
    return TlsSession(
        domain=route.domain,
        policy=_policy_of(route, host),
        result=failure.result if failure else "success",
        # Successful sessions are only counted (RFC 8460 §4.4).
        sending_ip=sending_ip if failure else "",
        receiving_mx=host.name if failure else "",
        receiving_ip=receiving_ip if failure else "",
        reason=failure.reason if failure else "",
    )


def tlsa_lookup_failure(domain: str, host: str) -> TlsSession:
    """The result of a mail server that cannot be used because its TLSA records could not be looked up."""
    return TlsSession(domain=domain, policy=TlsPolicy("tlsa", host), result="dnssec-invalid", receiving_mx=host)


def policy_failure(domain: str, failure: TlsFailure) -> TlsSession:
    """The result of an attempt to get the MTA-STS policy of a domain."""
    return TlsSession(domain=domain, policy=TlsPolicy("sts", domain), result=failure.result, reason=failure.reason)


def _policy_of(route: MailRoute, host: MailHost) -> TlsPolicy:
    """The policy that applies to a mail server: DANE takes precedence over MTA-STS (RFC 8461 §2)."""
    if host.tlsa:
        return TlsPolicy("tlsa", host.name, tuple(map(_tlsa_line, host.tlsa[:POLICY_LINES])))
    if route.policy:
        lines = tuple(line[:LINE_CHARACTERS] for line in _sts_lines(route.policy))
        return TlsPolicy("sts", route.domain, lines, route.policy.mx[:POLICY_LINES])
    return TlsPolicy("no-policy-found", route.domain)


def _tlsa_line(record: TlsaRecord) -> str:
    text = f"{record.usage} {record.selector} {record.matching_type} {record.data.hex()}"
    return text[:LINE_CHARACTERS]


def _sts_lines(policy: StsPolicy) -> list[str]:
    patterns = [f"mx: {pattern}" for pattern in policy.mx[:POLICY_LINES]]
    return ["version: STSv1", f"mode: {policy.mode}", *patterns, f"max_age: {policy.max_age}"]
