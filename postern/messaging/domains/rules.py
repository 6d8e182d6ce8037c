"""Rules of sending domains: valid names, the DNS records to publish, key rotation, and the schedule of checks."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Literal, NamedTuple

import idna
import msgspec

from postern.kernel.config import BOUNCE_LABEL
from postern.kernel.http.problems import Invalid
from postern.kernel.values import is_loopback
from postern.messaging.domains.model import (
    DEGRADED_AT_MOST,
    KEY_ROTATION_INTERVAL,
    MISSING_AT_MOST,
    PENDING_AT_MOST,
    RETIRED_KEY_KEPT_FOR,
    DnsOutcome,
    DnsRecord,
    PublicKey,
    Purpose,
    RecordCheck,
    Role,
    Status,
)
from postern.protocols.mail.public_suffixes import is_public_suffix

LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
MAX_NAME_LENGTH = 230
"""A domain name has at most 253 octets (RFC 1035 §2.3.4). The rest is left for the names that are published below
the sending domain."""
TRACKING_LABEL = "links"


RELAY_INCLUDES = {
    "amazonaws.com": "amazonses.com",
    "brevo.com": "spf.brevo.com",
    "gmail.com": "_spf.google.com",
    "mailersend.net": "_spf.mailersend.net",
    "mailgun.org": "mailgun.org",
    "mailjet.com": "spf.mailjet.com",
    "mtasv.net": "spf.mtasv.net",
    "office365.com": "spf.protection.outlook.com",
    "postmarkapp.com": "spf.mtasv.net",
    "sendgrid.net": "sendgrid.net",
    "smtp2go.com": "spf.smtp2go.com",
    "sparkpostmail.com": "_netblocks.sparkpostmail.com",
    "zoho.com": "zoho.com",
    "zoho.eu": "zoho.eu",
}
"""The SPF `include` that each well-known relay service tells its customers to publish, by the relay's domain."""


class RecordSettings(NamedTuple):
    """The settings that the expected DNS records of sending domains depend on."""

    zone: str | None = None
    """The DNS zone of this Postern server, to which the CNAME records of sending domains point; None: the owners of the
    domains publish TXT records instead."""
    addresses: tuple[str, ...] = ()
    """The IP addresses that mail is sent from."""
    relays: tuple[str, ...] = ()
    """The hosts of the SMTP relays, used if the IP addresses are not known."""
    tracking_host: str | None = None
    """The host of tracking links, used if there is no zone."""


def parse_domain(text: str) -> str:
    """The name of a domain that can send mail, in lower-case A-labels: `bücher.example` becomes
    `xn--bcher-kva.example`. Raises Invalid for anything else, also for a public suffix such as `co.uk` and a single
    label."""
    name = text.strip().rstrip(".")
    try:
        ascii_name = idna.encode(name, uts46=True).decode().lower() if not name.isascii() else name.lower()
    except idna.IDNAError:
        raise _invalid(f"{text!r} is not a domain name.") from None
    labels = ascii_name.split(".")
    if len(ascii_name) > MAX_NAME_LENGTH or not all(LABEL.fullmatch(label) for label in labels):
        raise _invalid(f"{text!r} is not a domain name.")
    if len(labels) < 2 or labels[-1].isdigit():
        raise _invalid(f"{text!r} is not a domain name that can send mail.")
    if is_public_suffix(ascii_name):
        raise _invalid(f"{ascii_name} is a public suffix; use a domain registered under it.", "public_suffix")
    return ascii_name


def is_domain_name(host: str) -> bool:
    """Whether a host is a name of at least two labels and not an IP address."""
    return "." in host and not host.rpartition(".")[2].isdigit() and ":" not in host


def name_and_parents(domain: str) -> list[str]:
    """A domain and the domains above it, without its top-level domain: a.b.example, b.example."""
    labels = domain.split(".")
    return [".".join(labels[start:]) for start in range(max(len(labels) - 1, 1))]


def _invalid(message: str, code: str = "invalid_domain") -> Invalid:
    return Invalid.at("/domain", message, code)


def records_of(
    domain: str, keys: Sequence[PublicKey], checks: Sequence[RecordCheck], settings: RecordSettings
) -> list[DnsRecord]:
    """The DNS records to publish for a domain, with the results of the last check.

    A result of a record whose value has changed since is not used: the record is PENDING.
    """
    results = {(check.purpose, check.value): check for check in checks}
    return [
        with_check(record, results.get((record.purpose, record.value)))
        for record in _expected_records(domain, keys, settings)
    ]


def with_check(record: DnsRecord, check: RecordCheck | None) -> DnsRecord:
    """A record with the result of its last check, if there is one."""
    if check is None:
        return record
    return msgspec.structs.replace(record, status=check.status, found=check.found, reason=check.reason)


PURPOSES: Mapping[Role, Purpose] = {
    "CURRENT": "DKIM",
    "NEXT": "DKIM_NEXT",
    "RETIRED": "DKIM_NEXT",
    "ED25519": "DKIM_ED25519",
}
"""The purpose of a key's DNS record, by the role of the key.

The RETIRED and the NEXT key have the same purpose, because they take turns under one selector: the NEXT key replaces
the RETIRED one.
"""


def _expected_records(domain: str, keys: Sequence[PublicKey], settings: RecordSettings) -> list[DnsRecord]:
    zone = settings.zone
    records = [_dkim(domain, key, zone) for key in keys]
    if zone:
        bounce = f"{BOUNCE_LABEL}.{domain}"
        records.append(_record("CNAME", bounce, f"{BOUNCE_LABEL}.{zone}", "RETURN_PATH"))
    else:
        records.append(_record("TXT", domain, spf_value(settings), "SPF"))
    records.append(_record("TXT", f"_dmarc.{domain}", "v=DMARC1; p=none;", "DMARC"))
    tracking_host = f"{TRACKING_LABEL}.{zone}" if zone else settings.tracking_host
    if tracking_host:
        records.append(_record("CNAME", f"{TRACKING_LABEL}.{domain}", tracking_host, "TRACKING"))
    return records


def _dkim(domain: str, key: PublicKey, zone: str | None) -> DnsRecord:
    name, purpose = f"{key.selector}._domainkey.{domain}", PURPOSES[key.role]
    if zone:
        return _record("CNAME", name, dkim_target(key, zone), purpose)
    return _record("TXT", name, dkim_value(key), purpose)


def _record(type: Literal["TXT", "CNAME"], name: str, value: str, purpose: Purpose) -> DnsRecord:
    return DnsRecord(type=type, name=name, value=value, purpose=purpose, required=purpose == "DKIM")


def rotate(keys: Sequence[PublicKey], now: datetime) -> list[PublicKey]:
    """The keys after a rotation: NEXT becomes CURRENT, and CURRENT becomes RETIRED but stays published.

    Changes nothing in the database. Call `may_rotate` before.
    """
    roles: Mapping[Role, Role] = {"NEXT": "CURRENT", "CURRENT": "RETIRED"}
    return [msgspec.structs.replace(key, role=roles[key.role], since=now) if key.role in roles else key for key in keys]


def may_rotate(keys: Sequence[PublicKey]) -> bool:
    """Whether there is a NEXT key; there is none until the RETIRED key is replaced."""
    return any(key.role == "NEXT" for key in keys)


def rotation_is_due(keys: Sequence[PublicKey], now: datetime) -> bool:
    """Whether the CURRENT key has reached the age KEY_ROTATION_INTERVAL, and there is a NEXT key."""
    return may_rotate(keys) and any(key.role == "CURRENT" and now - key.since >= KEY_ROTATION_INTERVAL for key in keys)


def replaceable_key(keys: Sequence[PublicKey], now: datetime) -> PublicKey | None:
    """The RETIRED key, once it has been published for RETIRED_KEY_KEPT_FOR and can be replaced; otherwise None."""
    return next((key for key in keys if key.role == "RETIRED" and now - key.since >= RETIRED_KEY_KEPT_FOR), None)


def dkim_target(key: PublicKey, zone: str) -> str:
    """The name of a key's TXT record in the service's zone. Selectors are unique among all domains."""
    return f"{key.selector}.dkim.{zone}"


def dkim_value(key: PublicKey) -> str:
    """The value of a key's TXT record (RFC 6376 §3.6.1, RFC 8463 §4)."""
    key_type = "rsa" if key.algorithm == "rsa-sha256" else "ed25519"
    return f"v=DKIM1; k={key_type}; p={key.public_key}"


def spf_value(settings: RecordSettings) -> str:
    """The SPF record (RFC 7208) to publish, with the terms of `spf_terms` or, if there are none, `a mx`."""
    return f"v=spf1 {' '.join(spf_terms(settings)) or 'a mx'} ~all"


def spf_terms(settings: RecordSettings) -> list[str]:
    """The SPF mechanisms that authorise the sending addresses, or the relays if no addresses are configured.

    Empty if neither are configured; relays on a loopback address are omitted.

    A well-known relay gets its documented `include`. Any other relay gets `a:` with its host, which is right for a
    relay that delivers from its own address.
    """
    if settings.addresses:
        return [_ip_term(address) for address in settings.addresses]
    return list(dict.fromkeys(_relay_term(host) for host in settings.relays if not is_loopback(host)))


def _relay_term(host: str) -> str:
    for suffix, include in RELAY_INCLUDES.items():
        if host == suffix or host.endswith(f".{suffix}"):
            return f"include:{include}"
    try:
        ip_address(host)
    except ValueError:
        return f"a:{host}"
    return _ip_term(host)


def _ip_term(address: str) -> str:
    return f"ip{6 if ':' in address else 4}:{address}"


def dns_outcome(
    status: Status, *, is_published: bool | None, watched_since: datetime, failing_since: datetime | None, now: datetime
) -> DnsOutcome:
    """What a DNS check means for the status of a domain.

    `is_published`: whether the DKIM record is published; None if the lookup failed. For the times, see StoredDomain.
    """
    if is_published is None:
        return "UNSURE"
    if is_published:
        return "SEEN"
    since, limit = {
        "PENDING": (watched_since, PENDING_AT_MOST),
        "VERIFIED": (failing_since or now, MISSING_AT_MOST),
        "DEGRADED": (failing_since or now, DEGRADED_AT_MOST),
        "FAILED": (now, PENDING_AT_MOST),
    }[status]
    return "MISSING_TOO_LONG" if now - since >= limit else "MISSING"


def next_check_in(
    status: Status, *, watched_since: datetime, failing_since: datetime | None, now: datetime
) -> timedelta | None:
    """The time until the next check; None for a FAILED domain, which is not checked.

    A PENDING domain is checked every minute for ten minutes, every ten minutes for three hours, then hourly. Any other
    domain is checked daily, or hourly while its record is missing.
    """
    if status == "FAILED":
        return None
    if status != "PENDING":
        return timedelta(days=1) if failing_since is None else timedelta(hours=1)
    age = now - watched_since
    if age < timedelta(minutes=10):
        return timedelta(minutes=1)
    return timedelta(minutes=10) if age < timedelta(minutes=10 + 180) else timedelta(hours=1)
