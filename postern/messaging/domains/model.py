"""Sending domains, their records and states.

A domain is VERIFIED as soon as the DKIM key that was generated for it in this project is published in its DNS. Only
the domain's owner can publish it, so it proves ownership, and it shows that signatures will verify. SPF, DMARC, the
return path and tracking are checked and reported too, but are not required: mail with an aligned DKIM signature
passes DMARC without them.
"""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from postern.kernel.http.problems import BadRequest, Conflict, Missing, Unprocessable
from postern.kernel.values import Body, Moment, Record
from postern.protocols.mail.findings import Finding

DOMAINS_PER_PROJECT = 1_000
SENDERS_PER_PROJECT = 20
"""Single senders are meant for tests, so a project needs few of them."""
MAX_WAITING_COUNT = 100_000
"""When a domain is to be deleted, its waiting messages are counted up to this number."""
CHECK_LEASE = timedelta(minutes=5)
"""How long a worker has for a check that it has claimed, before another worker may claim it."""
BLOCKLIST_CHECK_INTERVAL = timedelta(hours=6)
BLOCKLIST_RETRY_DELAY = timedelta(hours=1)
"""The delay of the next check after one in which a blocklist's result was UNKNOWN."""
PENDING_AT_MOST = timedelta(days=30)
"""A domain whose DKIM record is not published within this time becomes FAILED, and is no longer checked."""
MISSING_AT_MOST = timedelta(days=3)
"""A VERIFIED domain becomes DEGRADED when its DKIM record has been missing for this long."""
DEGRADED_AT_MOST = timedelta(days=30)
"""A DEGRADED domain becomes FAILED when its DKIM record has been missing for this long."""
KEY_ROTATION_INTERVAL = timedelta(days=180)
"""The age at which the current key is rotated automatically if the domain's records are CNAMEs into the service's
zone."""
RETIRED_KEY_KEPT_FOR = timedelta(days=7)
"""How long a retired key stays published, for mail that is still in transit, before a new key replaces it."""

DMARC_RETENTION = timedelta(days=400)
"""How long the data of DMARC reports is kept: a year and a month, to compare with the year before."""
DMARC_ROWS_PER_DOMAIN = 200_000
"""Maximum rows of DMARC data of one domain. Each row has the number of messages for a day, a host, a domain in `From`,
a receiver and a result."""
DMARC_DELETED_AT_ONCE = 10_000
"""Maximum number of rows of expired DMARC data that one check of a domain deletes."""
DMARC_REPORTS_PER_DAY = 100
"""Maximum reports of one reporter about a domain within 24 hours. Receivers send one a day, some one an hour, and large
ones one from each of their services. All senders that are not authenticated together count as one reporter."""
DMARC_ROWS_PER_REPORTER = DMARC_ROWS_PER_DOMAIN // 2
"""Maximum rows of DMARC data of one domain from one reporter, so that no reporter can use up the rows of others."""
DMARC_SOURCES_SHOWN = 100
DMARC_ORGANIZATIONS_SHOWN = 50

Status = Literal["PENDING", "VERIFIED", "DEGRADED", "FAILED"]
DnsOutcome = Literal["SEEN", "MISSING", "MISSING_TOO_LONG", "UNSURE", "CHECK_REQUESTED"]
"""What a check means for the status of a domain. SEEN: the DKIM record is published. MISSING: it is not published.
MISSING_TOO_LONG: it has been missing for longer than the status allows. UNSURE: the lookup failed. CHECK_REQUESTED: a
caller requested the check."""

NEXT_STATUS: Mapping[tuple[Status, DnsOutcome], Status] = {
    ("PENDING", "SEEN"): "VERIFIED",
    ("PENDING", "MISSING"): "PENDING",
    ("PENDING", "MISSING_TOO_LONG"): "FAILED",
    ("PENDING", "UNSURE"): "PENDING",
    ("PENDING", "CHECK_REQUESTED"): "PENDING",
    ("VERIFIED", "SEEN"): "VERIFIED",
    ("VERIFIED", "MISSING"): "VERIFIED",
    ("VERIFIED", "MISSING_TOO_LONG"): "DEGRADED",
    ("VERIFIED", "UNSURE"): "VERIFIED",
    ("VERIFIED", "CHECK_REQUESTED"): "VERIFIED",
    ("DEGRADED", "SEEN"): "VERIFIED",
    ("DEGRADED", "MISSING"): "DEGRADED",
    ("DEGRADED", "MISSING_TOO_LONG"): "FAILED",
    ("DEGRADED", "UNSURE"): "DEGRADED",
    ("DEGRADED", "CHECK_REQUESTED"): "DEGRADED",
    ("FAILED", "SEEN"): "VERIFIED",
    ("FAILED", "MISSING"): "FAILED",
    ("FAILED", "MISSING_TOO_LONG"): "FAILED",
    ("FAILED", "UNSURE"): "FAILED",
    ("FAILED", "CHECK_REQUESTED"): "PENDING",
}
"""The next status for every status and outcome."""

Purpose = Literal["DKIM", "DKIM_NEXT", "DKIM_ED25519", "SPF", "RETURN_PATH", "DMARC", "TRACKING", "PAGES"]
RecordStatus = Literal["PENDING", "VERIFIED", "WRONG", "UNKNOWN"]
Algorithm = Literal["rsa-sha256", "ed25519-sha256"]
Role = Literal["CURRENT", "NEXT", "RETIRED", "ED25519"]
EntryStatus = Literal["LISTED", "CLEAR", "UNKNOWN"]
SenderStatus = Literal["PENDING", "VERIFIED"]


class DomainMissing(Missing):
    """There is no such sending domain."""


class DomainInUse(Conflict):
    """A campaign or an automation sends from this domain; `errors` lists them. Change or stop those first."""


class DomainExists(Conflict):
    """This project already has this sending domain."""


class DomainHasWaitingSends(Conflict):
    """Messages wait to be sent from this domain and would fail without it. Use `force=true` to delete it anyway."""


class TooManyDomains(Unprocessable):
    """A project can have at most 1,000 sending domains. Delete one first."""


class SenderMissing(Missing):
    """There is no such single sender."""


class SenderExists(Conflict):
    """This project already has this single sender. If it is not confirmed yet, resend its confirmation mail."""


class SenderNotNeeded(Conflict):
    """The domain of this address is verified in this project, so every address at it can be used without a sender."""


class SenderVerified(Conflict):
    """This single sender is already confirmed."""


class TooManySenders(Unprocessable):
    """A project can have at most 20 single senders. Delete one, or verify a domain."""


class SenderLinkInvalid(BadRequest):
    """This link or token is unknown, expired, or replaced by a newer one. Request a new confirmation mail."""


class NextKeyUnpublished(Conflict):
    """The next DKIM key is not published in the DNS, so signatures with it would not verify. Publish it first."""


class DmarcReportOfOtherDomain(Unprocessable):
    """This report is about another domain."""


class DmarcReportOutOfPeriod(Unprocessable):
    """The period of this report is in the future, or more than 400 days ago. Reports are kept for 400 days."""


class TooManyDmarcReports(Unprocessable):
    """The sender of this report has sent 100 reports about the domain within 24 hours."""


class TooManyDmarcRows(Unprocessable):
    """A domain can have at most 200,000 rows of DMARC data from the last 400 days, half of them from one reporter."""


class NewDomain(Body):
    """A domain to send from."""

    domain: str


class NewSender(Body):
    """An address to send from."""

    email: Annotated[str, msgspec.Meta(min_length=3, max_length=320)]


class SenderToken(Body):
    """The token from the link in the confirmation mail."""

    token: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class Sender(Record):
    """A single sender: one address that can be used as `from` without a verified domain."""

    id: UUID
    email: str
    status: SenderStatus
    dmarc_policy: str | None
    """The DMARC policy of the address's domain: `none`, `quarantine` or `reject`; null if it has none or the lookup
    failed."""
    warnings: list[str]
    """How receivers may treat mail from this sender."""
    link_expires_at: Moment | None
    """When the link in the last confirmation mail expires (UTC); null once the sender is confirmed."""
    verified_at: Moment | None
    created_at: Moment
    updated_at: Moment


class StoredSender(Record):
    """A row of `senders`."""

    project_id: UUID
    id: UUID
    email: str
    status: SenderStatus
    dmarc_policy: str | None
    token_hash: bytes
    token_expires_at: Moment
    verified_at: Moment | None
    created_at: Moment
    updated_at: Moment


class VerifiedAddress(Record):
    """The lower-case address of a confirmed single sender."""

    project_id: UUID
    email: str


class PublicKey(Record):
    """The public part of a DKIM key."""

    selector: str
    algorithm: Algorithm
    role: Role
    public_key: str
    """Base64 as in the `p=` tag (RFC 6376 §3.6.1)."""
    since: datetime
    """When the key got its role."""


class DnsRecord(Record):
    """A DNS record to publish, with the result of the last check."""

    type: Literal["TXT", "CNAME"]
    name: str
    value: str
    purpose: Purpose
    required: bool
    """Whether the domain cannot be verified, or its name not be used, without this record."""
    status: RecordStatus = "PENDING"
    """PENDING: not published; WRONG: published with another value; UNKNOWN: the lookup failed."""
    found: list[str] = []
    """The values that are published at this name."""
    reason: str | None = None
    """Why the record is not VERIFIED."""


class RecordCheck(Record):
    """The result of a check of one record."""

    purpose: Purpose
    value: str
    status: RecordStatus
    found: list[str] = []
    reason: str | None = None


class DomainFields(Record):
    """The fields that the API shows of a row of `domains`."""

    id: UUID
    domain: str
    status: Status
    """PENDING: the DKIM record was not found yet. VERIFIED: it is published, and mail can be sent. DEGRADED: it has
    been missing for three days, so that no mail can be sent. FAILED: it has been missing for 30 days, and the periodic
    checks have ended."""
    spf_verified: bool
    dkim_verified: bool
    dmarc_verified: bool
    verified_at: Moment | None
    failing_since: Moment | None
    """Since when the DKIM record has been missing; null if it is published, and while the domain is PENDING."""
    last_checked_at: Moment | None
    findings: list[Finding]
    """The mistakes in the domain's DNS records that the last check found, and advice."""
    created_at: Moment
    updated_at: Moment


class StoredDomain(DomainFields):
    """A row of `domains`."""

    project_id: UUID
    keys: list[PublicKey]
    checks: list[RecordCheck]
    ed25519_verified: bool
    return_path_verified: bool
    tracking_verified: bool
    watched_since: Moment
    """When the checks began: at creation, or when a caller requested a check of the FAILED domain."""
    due_at: Moment | None
    """When the next check is due; None if there is none."""
    attempt: int


class Domain(DomainFields):
    """A sending domain with the DNS records to publish."""

    dkim_tokens: list[str]
    """The selectors of the current and of the next DKIM key. Publish `<token>._domainkey.<domain>` for both."""
    records: list[DnsRecord]
    next_check_at: Moment | None
    app_id: UUID  # The id of the project; its older name in the API.


class KeysOfDomain(Record):
    """The public keys of one domain."""

    keys: list[PublicKey]


class SealedKey(Record):
    """A private key as it is stored: PKCS #8, encrypted with the master key."""

    selector: str
    private_key: bytes


class BlocklistEntry(Record):
    """The status of the domain, or of an IP address that sends its mail, on one blocklist."""

    id: UUID
    list_name: str
    listed: bool
    """Whether the last check with a result, LISTED or CLEAR, found it listed."""
    status: EntryStatus
    """The result of the last check. UNKNOWN: the blocklist refused the query, failed its health check or did not
    respond."""
    codes: list[str]
    reason: str
    first_listed_at: Moment | None
    last_checked_at: Moment | None
    subject_value: str


class BlocklistWatch(Record):
    """A row of `blocklist_watches`: the schedule of a domain's blocklist checks."""

    project_id: UUID
    id: UUID
    attempt: int


class SendingDomain(Record):
    """The columns of a domain that are needed to send mail from it."""

    project_id: UUID
    id: UUID
    domain: str
    status: Status
    may_send: bool
    """Whether mail can be sent from this domain: only while its status is VERIFIED."""
    keys: list[PublicKey]
    dkim_verified: bool
    ed25519_verified: bool
    return_path_verified: bool
    tracking_verified: bool
    updated_at: Moment
    warms_up: bool = False
    """Whether the domain has an active warm-up plan, which counts its messages. Only the function
    `sending_domains_all` looks this up; other functions return False."""


DmarcDays = Annotated[
    int, msgspec.Meta(ge=1, le=DMARC_RETENTION.days, description="The number of past days in UTC, including today.")
]


class DmarcCounts(Record):
    """Messages by their results, as receivers reported them."""

    messages: int
    """All messages."""
    aligned: int
    """Messages that passed DMARC: DKIM or SPF passed for an aligned domain."""
    dkim_aligned: int
    """Messages for which DKIM passed for an aligned domain."""
    spf_aligned: int
    """Messages for which SPF passed for an aligned domain."""
    quarantined: int
    """Messages that receivers put into the spam folder because of the policy."""
    rejected: int
    """Messages that receivers rejected because of the policy."""


class DmarcDay(DmarcCounts):
    """The messages of one day."""

    day: date
    """The day in UTC on which the period of the report began."""


class DmarcSource(DmarcCounts):
    """The messages of one host."""

    source_ip: str
    """The IP address of the host."""
    last_day: date
    """The last day with messages."""


class DmarcOrganization(DmarcCounts):
    """The messages that one receiver reported."""

    organization: str
    """The name of the receiver, as in its reports."""
    reporter: str | None
    """The domain for which its e-mails were authenticated: anyone can write any other name into a report. Null for
    reports that the project added itself."""
    last_day: date
    """The last day with messages."""


class DmarcSummary(Record):
    """What receivers reported about the mail of a domain."""

    domain: str
    totals: DmarcCounts
    """The sums over all days, hosts and receivers."""
    days: list[DmarcDay]
    """Oldest first; days without messages are included."""
    sources: list[DmarcSource]
    """The 100 hosts with the most messages."""
    organizations: list[DmarcOrganization]
    """The 50 receivers that reported the most messages."""
    unauthenticated: int
    """Reports that arrived by e-mail from senders that could not be authenticated. They are not counted."""


class DmarcRowCounts(Record):
    """Rows of DMARC data of a domain."""

    total: int
    of_reporter: int


class StoredDmarcReport(Record):
    """A row of `dmarc_reports`."""

    project_id: UUID
    domain_id: UUID
    counted: bool
    """Whether the numbers of the report were added to those of the domain: only if its sender is authenticated."""
    reporter: str
    """The domain for which the e-mail with the report was authenticated; empty if it was not, and if the project added
    the report itself."""
    organization: str
    report_id: str
    email: str
    begins: Moment
    ends: Moment
    policy_domain: str
    policy: str
    messages: int
    received_at: Moment


class DmarcReportResult(Record):
    """A report that was read."""

    organization: str
    """The receiver that made the report."""
    report_id: str
    """The id that the receiver gave the report."""
    begins: Moment
    """The beginning of the period of the report (UTC)."""
    ends: Moment
    """The end of the period of the report (UTC)."""
    messages: int
    """Messages of the domain in the report."""
    skipped: int
    """Records that were not counted: those of other domains, and invalid ones."""
    duplicate: bool
    """Whether nothing was added, because the domain already has this report."""
