"""Sending domains, their records and states.

A domain is VERIFIED as soon as the DNS shows the DKIM key that was made for it in this project: nobody but
its owner can publish that key, so it proves ownership and that signatures will verify, in one. SPF, DMARC,
the return path and tracking are looked at too and told, but do not hold a domain back: mail with an aligned
DKIM signature passes DMARC without them.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.http.problems import BadRequest, Conflict, Missing, Unprocessable
from postern.kernel.values import Body, Record

DOMAINS_PER_PROJECT = 1_000
SENDERS_PER_PROJECT = 20
"""Single senders of a project: they are for trying things out."""
WAITING_COUNTED = 100_000
"""How far the messages that wait for a domain are counted before it is deleted."""
LOOK_LEASE = timedelta(minutes=5)
BLOCKLISTS_REFRESHED_EVERY = timedelta(hours=6)
BLOCKLISTS_PUT_OFF = timedelta(hours=1)
"""When a list that said nothing usable is asked again."""
PENDING_AT_MOST = timedelta(days=30)
"""How long a domain may stay unpublished before nobody looks for it any more."""
MISSING_AT_MOST = timedelta(days=3)
"""How long the record of a verified domain may be missing before the domain is degraded."""
DEGRADED_AT_MOST = timedelta(days=30)
KEY_SIGNS_FOR = timedelta(days=180)
"""After how long the next key takes over by itself, where records are aliases into the service's zone."""
KEY_LINGERS = timedelta(days=7)
"""How long a retired key stays published for mail on its way, before a new one takes its place."""

Status = Literal["PENDING", "VERIFIED", "DEGRADED", "FAILED"]
Sign = Literal["SEEN", "MISSING", "MISSING_TOO_LONG", "UNSURE", "ASKED_AGAIN"]
"""What happens to a domain: its DKIM record was seen, was missing, has been missing for longer than its state
allows, could not be looked up, or its owner asked for another look."""

NEXT_STATUS: Mapping[tuple[Status, Sign], Status] = {
    ("PENDING", "SEEN"): "VERIFIED",
    ("PENDING", "MISSING"): "PENDING",
    ("PENDING", "MISSING_TOO_LONG"): "FAILED",
    ("PENDING", "UNSURE"): "PENDING",
    ("PENDING", "ASKED_AGAIN"): "PENDING",
    ("VERIFIED", "SEEN"): "VERIFIED",
    ("VERIFIED", "MISSING"): "VERIFIED",
    ("VERIFIED", "MISSING_TOO_LONG"): "DEGRADED",
    ("VERIFIED", "UNSURE"): "VERIFIED",
    ("VERIFIED", "ASKED_AGAIN"): "VERIFIED",
    ("DEGRADED", "SEEN"): "VERIFIED",
    ("DEGRADED", "MISSING"): "DEGRADED",
    ("DEGRADED", "MISSING_TOO_LONG"): "FAILED",
    ("DEGRADED", "UNSURE"): "DEGRADED",
    ("DEGRADED", "ASKED_AGAIN"): "DEGRADED",
    ("FAILED", "SEEN"): "VERIFIED",
    ("FAILED", "MISSING"): "FAILED",
    ("FAILED", "MISSING_TOO_LONG"): "FAILED",
    ("FAILED", "UNSURE"): "FAILED",
    ("FAILED", "ASKED_AGAIN"): "PENDING",
}
"""Every state with everything that can happen in it."""

Purpose = Literal["DKIM", "DKIM_NEXT", "DKIM_ED25519", "SPF", "RETURN_PATH", "DMARC", "TRACKING"]
RecordStatus = Literal["PENDING", "VERIFIED", "WRONG", "UNKNOWN"]
Algorithm = Literal["rsa-sha256", "ed25519-sha256"]
Role = Literal["CURRENT", "NEXT", "RETIRED", "ED25519"]
Standing = Literal["LISTED", "CLEAR", "UNKNOWN"]
SenderStatus = Literal["PENDING", "VERIFIED"]


class DomainMissing(Missing):
    """There is no such sending domain."""


class DomainInUse(Conflict):
    """A campaign or an automation sends from this domain; `errors` lists them. Change or stop those first."""


class DomainExists(Conflict):
    """This project already has that sending domain."""


class DomainHasWaitingSends(Conflict):
    """Messages wait to be sent from this domain, and would fail without it; `force=true` deletes it all the same."""


class TooManyDomains(Unprocessable):
    """A project has at most 1,000 sending domains; delete some first."""


class SenderMissing(Missing):
    """There is no such single sender."""


class SenderExists(Conflict):
    """This project already has that single sender; have its mail sent again if it was not confirmed."""


class SenderNotNeeded(Conflict):
    """The domain of this address is a verified sending domain of this project: any address at it may be used."""


class SenderVerified(Conflict):
    """This single sender is confirmed already."""


class TooManySenders(Unprocessable):
    """A project has at most 20 single senders; delete some, or verify a domain."""


class SenderLinkInvalid(BadRequest):
    """This link or token is unknown, too old, or replaced by a newer one; have the mail sent again."""


class NextKeyUnpublished(Conflict):
    """The next DKIM key is not seen in the DNS, so signatures with it would not verify."""


class NewDomain(Body):
    """A domain to send from."""

    domain: str


class NewSender(Body):
    """An address to send from."""

    email: Annotated[str, msgspec.Meta(min_length=3, max_length=320)]


class SenderToken(Body):
    """The token in the link of the mail."""

    token: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class Sender(Record):
    """A single sender: one address that may be used as `from` without a verified domain."""

    id: UUID
    email: str
    status: SenderStatus
    dmarc_policy: str | None
    """What the domain of the address asks receivers to do with mail that it did not sign: `none`, `quarantine` or
    `reject`; null where it asks for nothing or the DNS did not say."""
    warnings: list[str]
    """What to expect of mail from it."""
    link_expires_at: Moment | None
    """Until when the link in the last mail works (UTC); null once it is confirmed."""
    verified_at: Moment | None
    created_at: Moment
    updated_at: Moment


class StoredSender(Record):
    """The row of a single sender."""

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
    """An address that a project may send from, in lower case."""

    project_id: UUID
    email: str


class PublicKey(Record):
    """What the world may know of a DKIM key."""

    selector: str
    algorithm: Algorithm
    role: Role
    public_key: str
    """Base64 as in the `p=` tag (RFC 6376 §3.6.1)."""
    since: datetime
    """When it took its role."""


class DnsRecord(Record):
    """A record to publish, and what the DNS was last seen to say there."""

    type: Literal["TXT", "CNAME"]
    name: str
    value: str
    purpose: Purpose
    required: bool
    """Whether the domain stays unverified without it."""
    status: RecordStatus = "PENDING"
    """PENDING: not there; WRONG: something else is there; UNKNOWN: the DNS gave no usable answer."""
    found: list[str] = []
    """What is there, if anything."""
    reason: str | None = None


class RecordCheck(Record):
    """What one look found for one record."""

    purpose: Purpose
    value: str
    status: RecordStatus
    found: list[str] = []
    reason: str | None = None


class StoredDomain(Record):
    """The row of a domain."""

    project_id: UUID
    id: UUID
    domain: str
    status: Status
    keys: list[PublicKey]
    checks: list[RecordCheck]
    spf_verified: bool
    dkim_verified: bool
    ed25519_verified: bool
    return_path_verified: bool
    tracking_verified: bool
    dmarc_verified: bool
    verified_at: Moment | None
    watched_since: Moment
    failing_since: Moment | None
    last_checked_at: Moment | None
    due_at: Moment | None
    attempt: int
    created_at: Moment
    updated_at: Moment


class Domain(Record):
    """A sending domain as callers see it."""

    id: UUID
    domain: str
    status: Status
    dkim_tokens: list[str]
    """Two selectors, the current and the next: publish `<token>._domainkey.<domain>` for both."""
    spf_verified: bool
    dkim_verified: bool
    dmarc_verified: bool
    records: list[DnsRecord]
    verified_at: Moment | None
    failing_since: Moment | None
    last_checked_at: Moment | None
    next_check_at: Moment | None
    app_id: UUID
    created_at: Moment
    updated_at: Moment


class KeysOfDomain(Record):
    """The public keys of one domain."""

    keys: list[PublicKey]


class SealedKey(Record):
    """A private key at rest: PKCS #8, encrypted under the master key."""

    selector: str
    private_key: bytes


class BlocklistEntry(Record):
    """The standing of the domain, or of an address its mail leaves from, on one blocklist."""

    id: UUID
    list_name: str
    listed: bool
    """Whether the last answer that meant something said so."""
    status: Standing
    """What the last answer meant; UNKNOWN when the list refused, failed its health check or did not answer."""
    codes: list[str]
    reason: str
    first_listed_at: Moment | None
    last_checked_at: Moment | None
    subject_value: str


class BlocklistWatch(Record):
    """A due row: the standing of one domain is to be looked at."""

    project_id: UUID
    id: UUID
    attempt: int


class SendingDomain(Record):
    """What sending needs to know of a domain."""

    project_id: UUID
    id: UUID
    domain: str
    status: Status
    keys: list[PublicKey]
    dkim_verified: bool
    ed25519_verified: bool
    return_path_verified: bool
    tracking_verified: bool
    updated_at: Moment

    @property
    def may_send(self) -> bool:
        """Whether mail may leave in its name."""
        return self.status == "VERIFIED"
