"""Certificates by ACME: limits, and the records of the API and of the database."""

from datetime import timedelta
from typing import Literal
from uuid import UUID

from postern.kernel.http.problems import Missing
from postern.kernel.values import Moment, Record
from postern.messaging.domains.model import DnsRecord

CERTIFICATES_LIMIT = 5_000
"""Maximum names of one instance that get a certificate. Each process that serves HTTPS has all of them in memory."""
NAMES_PER_PROJECT = 100
"""Maximum names of one project that get a certificate. A name that it no longer uses counts until its
certificate expires."""

PLAN_EVERY = timedelta(minutes=1)
"""The interval between searches for names that need a certificate."""
LEASE = timedelta(minutes=5)
"""How long a worker has for an attempt, before another worker may claim the certificate."""
ORDER_TIME = timedelta(minutes=2)
"""How long an attempt waits for the authority to process an order. A later attempt continues the order."""
ORDER_PAUSE = timedelta(seconds=30)
"""The delay before the attempt that continues an order."""
FIRST_POLL_SECONDS = 0.5
LONGEST_POLL_SECONDS = 5.0
RENEWAL_CHECK = timedelta(hours=12)
"""The interval between requests for the renewal information of a certificate (RFC 9773 §4.3)."""
RENEW_AT_SHARE = 2 / 3
"""The share of its validity after which a certificate is renewed, unless the authority suggests an earlier time."""
RENEWAL_PAUSE = timedelta(hours=1)
"""The minimum time between two certificates of a name, if clocks differ or certificates are very short-lived."""

CHECK_RETRY = timedelta(minutes=10)
"""The first delay after this server's own check of a name has failed, before anything was ordered."""
MAX_CHECK_RETRY_DELAY = timedelta(hours=1)
FIRST_RETRY = timedelta(hours=1)
"""The first delay after the authority has refused: Let's Encrypt allows five failed validations of a name per hour."""
MAX_RETRY_DELAY = timedelta(hours=24)
UNREACHABLE_RETRY = timedelta(minutes=5)
"""The delay after an attempt in which the authority could not be reached."""
REPORT_AFTER = timedelta(hours=24)
"""How long the attempts for a name must fail before projects get an event."""
REPORT_BEFORE = timedelta(days=7)
"""If a certificate expires within this time, projects get the event at the first failed renewal."""

ORDERS_WINDOW = timedelta(hours=3)
ORDERS_PER_WINDOW = 250
"""Let's Encrypt allows 300 orders of an account in three hours."""
ORDERS_PER_PROJECT = 25
"""Maximum number of new certificates of one project in three hours, so that orders remain for other projects. Renewals
are not counted."""
DOMAIN_WINDOW = timedelta(days=7)
ORDERS_PER_DOMAIN = 40
"""Let's Encrypt allows 50 certificates of a registered domain in seven days, not counting renewals."""
ORDERS_PER_NAME = 4
"""Let's Encrypt allows five certificates of the same name in seven days. If the certificates of an authority are so
short-lived that they need more orders, the limit is twice the number of orders that they need."""
ORDERS_KEPT = DOMAIN_WINDOW
"""How long orders are stored, to count them."""

PAGES_CHECK_TIME = timedelta(seconds=20)
"""How long the DNS lookups for the host name of hosted pages may take: slow servers must not hold a request."""

CertificateStatus = Literal["PENDING", "ISSUED", "RENEWING", "FAILED"]


class DomainCertificate(Record):
    """The TLS certificate of a host name of a sending domain, which this server obtains by ACME."""

    name: str
    """The host name."""
    status: CertificateStatus
    """PENDING: there is none yet; ISSUED; RENEWING: the next one has been ordered; FAILED: the last attempt failed. A
    certificate is served until `expiresAt`, also while renewals fail."""
    problem: str | None
    """Why the last attempt failed or was postponed; otherwise null."""
    issued_at: Moment | None
    """When the certificate that is served was issued (UTC); null if there is none."""
    expires_at: Moment | None
    """When the certificate that is served expires (UTC); null if there is none."""
    next_attempt_at: Moment | None
    """When the next attempt or check is made (UTC)."""


class PagesDomainMissing(Missing):
    """This project has no host name for its hosted pages. Set `settings.signIn.pagesDomain` first."""


class PagesDomainStatus(Record):
    """Whether customers can open the hosted pages at the project's own host name."""

    name: str
    """The host name: `settings.signIn.pagesDomain`."""
    record: DnsRecord | None
    """The DNS record to publish, with what was found now. VERIFIED also if the name has address records of the server's
    addresses instead, or of a proxy such as a CDN through which the server answers at the name. Null if the server's
    own host is not a domain name, as on a developer's machine."""
    domain_verified: bool
    """Whether a sending domain of the project above the name is VERIFIED. Otherwise the name is not served."""
    certificate: DomainCertificate | None
    """The TLS certificate of the name. Null if this server does not obtain certificates, and while `domainVerified` is
    false."""
    in_use: bool
    """Whether links, redirects and callback URLs have the name now. A change takes up to five seconds."""


class NamedCertificate(Record):
    """A name, and the columns of its row in `certificates` that a DomainCertificate shows; None without a row."""

    name: str
    has_order: bool | None
    failures: int | None
    problem: str | None
    issued_at: Moment | None
    expires_at: Moment | None
    due_at: Moment | None


class StoredCertificate(Record):
    """A row of `certificates`."""

    account_id: UUID
    id: UUID
    name: str
    counted_for: UUID | None
    """The project for whose limit the certificate counts; None for a name of this server."""
    order_url: str | None
    """The URL of the order in progress; None if there is none."""
    order_key: bytes | None
    """The private key of the certificate that is ordered: PEM, encrypted with the master key."""
    token: str | None
    """The token of a challenge (RFC 8555 §8.3), or of this server's own check."""
    answer: str | None
    """The content that is published for `token`."""
    private_key: bytes | None
    """PEM, encrypted with the master key."""
    chain: str | None
    """PEM: the certificate that is served, then those of its issuers."""
    issued_at: Moment | None
    expires_at: Moment | None
    renew_at: Moment | None
    problem: str | None
    failures: int
    failing_since: Moment | None
    reported_at: Moment | None
    """When the projects got an event about the present series of failures; None if they got none."""
    due_at: Moment | None
    attempt: int
    created_at: Moment
    updated_at: Moment


class AcmeAccount(Record):
    """A row of `acme_accounts`."""

    id: UUID
    directory: str
    private_key: bytes
    """PEM, encrypted with the master key."""
    url: str | None
    created_at: Moment


class PublishedAnswer(Record):
    """The content that is published for the token of a challenge."""

    answer: str


class ServedName(Record):
    """The certificate of a name, without its content."""

    name: str
    account_id: UUID
    id: UUID
    issued_at: Moment


class ServedCertificate(Record):
    """The content of a certificate that is served."""

    account_id: UUID
    id: UUID
    name: str
    private_key: bytes
    chain: str
    issued_at: Moment


class OrderCounts(Record):
    """Numbers of orders, for comparison with the limits of an authority."""

    recent: int
    """Orders of the account within ORDERS_WINDOW."""
    of_domain: int
    """Orders for names of the registered domain within DOMAIN_WINDOW."""
    of_name: int
    """Orders for the name within DOMAIN_WINDOW."""
    projects: list[UUID]
    """The projects that use the name and have fewer than ORDERS_PER_PROJECT orders within ORDERS_WINDOW."""


class CertifiedName(Record):
    """A name that has a certificate."""

    name: str


class ProjectName(Record):
    """A name for tracking links or hosted pages, with a project that uses it."""

    project_id: UUID
    name: str


class DomainOfName(Record):
    """A sending domain to which a name for tracking links or hosted pages belongs."""

    project_id: UUID
    id: UUID
    domain: str
