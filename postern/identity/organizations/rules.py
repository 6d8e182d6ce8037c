"""Pure functions for organizations: slugs, domains, state transitions and tokens."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID

from postern.identity.organizations.model import (
    MAX_MISSING,
    MAX_PENDING,
    MISSES_TO_LAPSE,
    SLUG_LIMIT,
    DomainInput,
    DomainStatus,
)
from postern.kernel.http.problems import Invalid
from postern.kernel.values import NO_ID
from postern.messaging.domains.rules import parse_domain
from postern.protocols.mail.mailbox_providers import mailbox_provider_domains
from postern.protocols.mail.public_suffixes import registered_name
from postern.security.secrets import Secrets, new_token

RECORD_LABEL = "_postern-verification"
RECORD_PREFIX = "postern-verification="
MAX_DOMAIN_LENGTH = 253 - len(RECORD_LABEL) - 1
NUMBERED_SLUGS_END = 5
"""The numbers from 2 to below this one are tried before random suffixes."""
SUFFIX_LENGTH = 8
"""Characters of the random suffix of a slug."""
MAILBOX_BRANDS = frozenset(
    ("gmail", "gmx", "googlemail", "hotmail", "protonmail", "rocketmail", "yahoo", "yandex", "ymail")
)
"""Names of mailbox providers that have domains under many public suffixes."""

ASCII_FORMS = {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h", "ŧ": "t"}
"""Latin letters that Unicode does not decompose into a base letter and a mark; casefold() turns `ß` into `ss`."""


def slug_of(name: str) -> str:
    """Derive a slug: `Müller & Söhne` becomes `muller-sohne`. A name without Latin letters or digits becomes
    `organization`."""
    folded = "".join(ASCII_FORMS.get(letter, letter) for letter in name.casefold())
    ascii_text = unicodedata.normalize("NFKD", folded).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_text)[:SLUG_LIMIT].strip("-") or "organization"


def slug_candidates(slug: str) -> Iterator[str]:
    """Candidates for a unique slug, without end: the slug itself, then with small numbers, then with random
    suffixes."""
    yield slug
    for number in range(2, NUMBERED_SLUGS_END):
        yield f"{slug[: SLUG_LIMIT - 2].rstrip('-')}-{number}"
    while True:
        suffix = new_token(SUFFIX_LENGTH).lower()
        yield f"{slug[: SLUG_LIMIT - SUFFIX_LENGTH - 1].rstrip('-')}-{suffix}"


def is_mailbox_provider_domain(domain: str) -> bool:
    """Whether a domain, or one above it, belongs to a public mailbox provider, where anyone can get an address."""
    labels = domain.split(".")
    if any(".".join(labels[start:]) in mailbox_provider_domains() for start in range(len(labels) - 1)):
        return True
    return registered_name(domain) in MAILBOX_BRANDS


def parse_organization_domain(text: str) -> str:
    """The domain in lower-case A-labels. Raises Invalid if it is malformed or too long, a public suffix, or belongs to
    a public mailbox provider."""
    domain = parse_domain(text)  # Rejects malformed names and public suffixes.
    if len(domain) > MAX_DOMAIN_LENGTH:
        raise Invalid.at(
            "/domain",
            "The domain is too long: the name of its verification record would exceed 253 characters.",
            "invalid_domain",
        )
    if is_mailbox_provider_domain(domain):
        message = (
            f"Anyone can get an address at {domain}, so no organization can claim it. Use a domain of the company."
        )
        raise Invalid.at("/domain", message, "public_mailbox_provider")
    return domain


def record_value_of(token: str) -> str:
    """The value of the TXT record that verifies a domain."""
    return RECORD_PREFIX + token


def record_name_of(domain: str) -> str:
    """The name of the TXT record that verifies a domain."""
    return f"{RECORD_LABEL}.{domain}"


def domain_of(email: str) -> str:
    """The domain of an e-mail address, in lower case."""
    return email.rpartition("@")[2].lower()


def domain_input(
    status: DomainStatus,
    *,
    record_exists: bool | None,
    watched_since: datetime,
    missing_since: datetime,
    misses: int,
    now: datetime,
) -> DomainInput:
    """What a DNS check of a domain with `status` means for NEXT_DOMAIN_STATUS. `record_exists` is None if the
    check failed (no answer).

    `misses` counts successive checks of a VERIFIED domain without the record, this one included; the first was at
    `missing_since`. In any other status, a missing record is MISSING_TOO_LONG once MAX_PENDING has passed since
    `watched_since`, the start of the current series of checks.
    """
    if record_exists is None:
        return "UNSURE"
    if record_exists:
        return "SEEN"
    if status == "VERIFIED":
        too_long = misses >= MISSES_TO_LAPSE and now - missing_since >= MAX_MISSING
    else:
        too_long = now - watched_since >= MAX_PENDING
    return "MISSING_TOO_LONG" if too_long else "MISSING"


def time_until_next_check(status: DomainStatus, *, watched_since: datetime, now: datetime) -> timedelta | None:
    """Time until the next check; None for a FAILED domain, which is not checked.

    A PENDING domain is checked every minute for ten minutes from `watched_since`, every ten minutes for three hours,
    then hourly. VERIFIED and LAPSED domains are checked daily.
    """
    if status == "FAILED":
        return None
    if status != "PENDING":
        return timedelta(days=1)
    age = now - watched_since
    if age < timedelta(minutes=10):
        return timedelta(minutes=1)
    return timedelta(minutes=10) if age < timedelta(minutes=10 + 180) else timedelta(hours=1)


def invitation_token(secrets: Secrets, project_id: UUID, id: UUID, generation: int) -> str:
    """The token in the mail of an invitation: its id, and a signature over the project, the id and `generation`.

    Resending the invitation increases its generation, so that earlier tokens are not valid.
    """
    return f"{id.hex}.{secrets.sign('invitation', f'{project_id}|{id}|{generation}'.encode())}"


def read_invitation_token(token: str) -> UUID:
    """The invitation id in a token, not verified; NO_ID if the token is malformed."""
    id_text = token.partition(".")[0]
    return UUID(id_text) if re.fullmatch(r"[0-9a-f]{32}", id_text) else NO_ID


def is_current_token(secrets: Secrets, token: str, project_id: UUID, id: UUID, generation: int) -> bool:
    """Whether `token` is signed for this invitation and `generation`. Resending an invitation increases its generation,
    so that earlier tokens are invalid."""
    signature = token.partition(".")[2]
    return secrets.verify("invitation", f"{project_id}|{id}|{generation}".encode(), signature)
