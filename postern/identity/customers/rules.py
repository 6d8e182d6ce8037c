"""Rules of customers that need no database: addresses, bans, metadata, and the SQL condition of list filters."""

import re
from typing import Any
from uuid import UUID

import msgspec
from psycopg.sql import SQL, Composable, Literal

from postern.identity.customers.model import (
    LOCAL_PROVIDERS,
    CustomerMetadataTooLarge,
    CustomerRow,
    MethodOff,
    RequiredTerms,
)
from postern.identity.hooks.model import METADATA_LIMIT
from postern.kernel.http.call import Call, Caller
from postern.kernel.http.problems import Invalid
from postern.kernel.values import NO_ID, Moment, as_id
from postern.messaging.certificates.pages_domains import pages_url
from postern.platform.projects.model import Project, SignInMethod, SignInSettings
from postern.protocols.mail.address import (
    AddressInvalid,
    normalize_part,
    parse_address,
    parsed_address_key,
    without_subaddress,
)
from postern.security.secrets import Secrets

PROVIDER = re.compile(r"^[A-Z][A-Z0-9_]{0,39}$")
COMMON_ENDINGS = (".com", ".org", ".net", ".io", ".co", ".de", ".uk", ".fr", ".eu", ".edu", ".example")
"""Common ends of addresses. The trigram index on `customers.search` finds too many rows for them."""
TRIGRAM = 3
"""The trigram index cannot serve search texts shorter than this; they match the beginning of addresses instead."""


def read_email(text: str, path: str = "/email") -> tuple[str, str]:
    """The address as it is stored, and the key that makes it unique in a project. Raises Invalid at `path`."""
    try:
        address = parse_address(text)
    except AddressInvalid as error:
        raise Invalid.at(path, error.detail, "invalid_address") from None
    if address.name:
        raise Invalid.at(path, "Send the bare address, without a name.", "invalid_address")
    return address.spec, parsed_address_key(address)


def address_hash(secrets: Secrets, project_id: UUID, email_key: str) -> bytes:
    """A keyed hash of an address without its subaddress, which does not reveal the address.

    It is the `identifier` of challenges that are mailed to the address, and of attempts to sign in with it.
    """
    return secrets.digest("customer-identifier", f"{project_id}|{without_subaddress(email_key)}")


def is_banned(customer: CustomerRow, now: Moment) -> bool:
    """Whether the customer is banned now; a ban ends at `ban_expires_at`, if set."""
    return customer.banned_at is not None and (customer.ban_expires_at is None or customer.ban_expires_at > now)


def may_clear_attempts(customer: CustomerRow) -> bool:
    """Whether a successful sign-in clears earlier failed attempts.

    Not while the address is unverified: anybody can sign up with `ada+me@…`, whose attempts count together with those
    of `ada@…`.
    """
    return customer.identifier is None or customer.email_verified_at is not None


def require_method(project: Project, method: SignInMethod) -> None:
    """Raises MethodOff unless the sign-in method is switched on in the project."""
    if method not in project.settings.sign_in.methods:
        raise MethodOff


def require_redirect(project: Project, url: str) -> str:
    """Return the URL. Raises Invalid unless exactly this URL is among the project's `redirectUrls`."""
    if url not in project.settings.sign_in.redirect_urls:
        raise Invalid.at("/redirectUrl", "This URL is not among the project's `redirectUrls`.", "not_allowed")
    return url


def provider_return_url(call: Call) -> str:
    """Where a browser returns to the project's OpenID provider after a sign-in on the hosted pages."""
    return f"{pages_url(call.world, call.project_id)}/oauth/continue"


def account_return_url(call: Call) -> str:
    """Where a browser returns to the account pages after a sign-in on the hosted pages."""
    return f"{pages_url(call.world, call.project_id)}/auth/pages/account/signed-in"


def account_link_url(call: Call) -> str:
    """Where a browser returns to the account pages from a provider, to connect an account there."""
    return f"{pages_url(call.world, call.project_id)}/auth/pages/account/connected"


def merged_metadata(metadata: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Metadata with a change merged in at the top level; null removes a key. Raises CustomerMetadataTooLarge."""
    merged = {key: value for key, value in {**metadata, **change}.items() if value is not None}
    if len(msgspec.json.encode(merged)) > METADATA_LIMIT:
        raise CustomerMetadataTooLarge.of_value("/metadata")
    return merged


def read_provider_filter(provider: str | None) -> str | None:
    """The `provider` filter in upper case; None if it is empty. Raises Invalid if it cannot be a provider's key."""
    if not provider:
        return None
    if not PROVIDER.match(provider.upper()):
        raise Invalid.at("query/provider", f"Name a provider by its key, such as {LOCAL_PROVIDERS[0]} or GOOGLE.")
    return provider.upper()


def filter_condition(q: str | None, status: str | None, provider: str | None, now: Moment) -> Composable:
    """The SQL condition of the filters of customer lists, for a statement that reads `customers c`.

    `q` is the search text. None and blank values do not filter. `provider` was read by `read_provider_filter`.
    """
    parts: list[Composable] = [SQL("true")]
    if q and not q.isspace():
        parts.append(_matches(q))
    if status:
        parts.append(_has_status(status, now))
    if provider:
        parts.append(SQL("c.providers @> array[{}]::text[]").format(Literal(provider)))
    return SQL(" and ").join(parts)


def _matches(q: str) -> Composable:
    if (customer_id := as_id(q.strip())) != NO_ID:
        return SQL("c.id = {}").format(Literal(customer_id))
    text = q.strip()
    if len(text) < TRIGRAM:
        return SQL("c.email_key like {}").format(_pattern(normalize_part(text), anywhere=False))
    # PostgreSQL lower-cases the search text as it did the column: Python's lower() differs for some languages.
    indexed_part = _rarest_part(text)
    matches = SQL("c.search like lower({})").format(_pattern(indexed_part))
    if indexed_part != text:
        matches += SQL(" and strpos(c.search, lower({})) > 0").format(_literal(text))
    return matches


def _rarest_part(text: str) -> str:
    """The part of the search text to look up in the index: domains and common ends of addresses match too many rows."""
    part = text
    if "@" in text:
        part = text.partition("@")[0]
    elif text.lower().endswith(COMMON_ENDINGS):
        part = text.rpartition(".")[0]
    return part if len(part) > TRIGRAM else text


def _pattern(text: str, *, anywhere: bool = True) -> Literal:
    """A LIKE pattern for values that contain the text or, without `anywhere`, begin with it."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return _literal(f"{'%' if anywhere else ''}{escaped}%")


def _literal(text: str) -> Literal:
    """A literal with percent signs doubled, because psycopg reads `%` in a statement as a placeholder."""
    return Literal(text.replace("%", "%%"))


def _has_status(status: str, now: Moment) -> Composable:
    banned = SQL("(c.banned_at is not null and (c.ban_expires_at is null or c.ban_expires_at > {}))")
    by_status: dict[str, Composable] = {
        "banned": banned.format(Literal(now)),
        "active": SQL("not ") + banned.format(Literal(now)),
        "verified": SQL("c.email_verified_at is not null"),
        "unverified": SQL("c.email_verified_at is null"),
        "mfa": SQL("c.mfa_enabled_at is not null"),
        "locked": SQL(
            "exists (select from sign_in_attempts f where f.project_id = c.project_id"
            " /*distributed and f.project_id = :project */"
            " and f.identifier in (c.identifier, uuid_send(c.id)) and f.locked_until > {})"
        ).format(Literal(now)),
    }
    return by_status[status]


def caller_for(call: Call, customer_id: UUID | None, *, session_id: UUID | None = None) -> Caller:
    """A customer as the caller of a call without an access token: they have proved in another way who they are.

    The environment is that of the call's caller.
    """
    return Caller(
        kind="customer",
        actor_type="CUSTOMER",
        actor_id=customer_id,
        project_id=call.project_id,
        environment=call.caller.environment,
        credential_id=session_id,
    )


def current_terms(settings: SignInSettings) -> RequiredTerms | None:
    """The current version of the project's terms, with their links; None if it has none."""
    if settings.terms_version is None:
        return None
    return RequiredTerms(version=settings.terms_version, terms_url=settings.terms_url, privacy_url=settings.privacy_url)


def required_terms(settings: SignInSettings) -> RequiredTerms | None:
    """The terms that customers must accept to sign in; None if they need not accept any."""
    return current_terms(settings) if settings.require_terms else None
