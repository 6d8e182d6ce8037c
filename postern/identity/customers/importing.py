"""Add a customer from another system: with password hash, second factor, passkeys, accounts at providers, addresses."""

import base64
import binascii
import re
from typing import Annotated, Any

import msgspec
import psycopg
from msgspec.structs import replace

from postern.identity.customers import provider_store, rules, store
from postern.identity.customers.identities import ExternalIdentity, link_identity
from postern.identity.customers.imported_hashes import check_hash, import_hash
from postern.identity.customers.model import (
    ROLES_LIMIT,
    CustomerBan,
    CustomerEmailTaken,
    CustomerRow,
    EmailText,
    ExternalId,
    ExternalIdTaken,
    NewCustomer,
    PersonName,
    Phone,
    RoleKey,
    Url,
)
from postern.identity.customers.operations import add_customer, add_identity, add_other_address
from postern.identity.customers.passkeys import relying_party
from postern.identity.customers.providers import ProviderKey
from postern.identity.customers.social import ISSUERS
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Conflict, Invalid, Problem, ProblemError
from postern.kernel.values import Body, Moment, Timestamp
from postern.platform.events import operations as events
from postern.platform.projects.model import Project
from postern.platform.projects.quotas import require_quota
from postern.security import passkeys, second_factor
from postern.security.passkeys import PASSKEYS_LIMIT, ImportedPasskey
from postern.web.language_tags import LanguageTag

IMPORTED = "IMPORT"
"""The method in `customer.signed_up` of customers from another system."""
OTHER_EMAILS_LIMIT = 20
IDENTITIES_LIMIT = 20
TOTP_BYTES = range(10, 65)
"""Accepted sizes of a TOTP secret. Older systems use 80 bits, although RFC 4226 §4 requires 128."""
_MICROSOFT_TENANT = re.compile(r"https://login\.microsoftonline\.com/[0-9a-f-]{36}/v2\.0")
SECOND_FACTOR_TAKEN = "A second factor is on already."


class ImportedEmail(Body):
    """A secondary address, which can be used to sign in."""

    email: EmailText
    verified: bool = False


class ImportedIdentity(Body):
    """An account at a sign-in provider."""

    provider: ProviderKey
    """The key of the provider, such as `GOOGLE`."""
    subject: Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
    """The id of the account at the provider: the claim `sub` of its ID tokens; at GitHub the numeric id."""
    issuer: Url | None = None
    """Default: the issuer of the provider. Microsoft needs that of the account's tenant."""


class ImportedCustomer(Body):
    """A customer from another system. `externalUserId` is the customer's id there: a customer with this id is left
    unchanged, so that an import can be repeated."""

    external_user_id: ExternalId
    email: EmailText | None = None
    email_verified: bool = False
    other_emails: Annotated[list[ImportedEmail], msgspec.Meta(max_length=OTHER_EMAILS_LIMIT)] = []
    name: PersonName | None = None
    language: LanguageTag | None = None
    """The language that the customer reads."""
    phone: Phone | None = None
    phone_verified: bool = False
    password_hash: Annotated[str, msgspec.Meta(min_length=20, max_length=1_000)] | None = None
    metadata: dict[str, Any] = {}
    roles: Annotated[list[RoleKey], msgspec.Meta(max_length=ROLES_LIMIT)] = []
    created_at: Timestamp | None = None
    """When the account was created in the other system. Default: now."""
    ban: CustomerBan | None = None
    """The customer is banned from signing in."""
    totp_secret: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    """The secret of an authenticator app in base32, for codes of six digits by SHA-1 every 30 seconds."""
    passkeys: Annotated[list[ImportedPasskey], msgspec.Meta(max_length=PASSKEYS_LIMIT)] = []
    """Passkeys that were created for the domain of this project."""
    identities: Annotated[list[ImportedIdentity], msgspec.Meta(max_length=IDENTITIES_LIMIT)] = []


async def stored_hash(row: ImportedCustomer, *, dry_run: bool) -> str | None:
    """The password hash to store for a row, or None. With `dry_run` it is only checked. Raises HashRefused, Invalid."""
    if row.password_hash is None:
        return None
    if row.email is None:
        raise Invalid.at("/email", "A password needs an address to sign in with.", "required")
    return check_hash(row.password_hash) if dry_run else await import_hash(row.password_hash)


async def add_imported_customer(
    tx: Transaction, call: Call, project: Project, row: ImportedCustomer, password_hash: str | None
) -> tuple[CustomerRow, bool]:
    """Add the customer of a row. Returns the customer, and False if there was one with this external id already.

    Raises a Problem that names the location of the value in the row. The caller undoes the transaction then.
    """
    existing = await store.find_by_external_id(tx, project_id=call.project_id, external_id=row.external_user_id)
    if existing is not None:
        return existing, False
    await require_quota(tx, call, "customers")
    data = NewCustomer(
        email=row.email,
        email_verified=row.email_verified,
        name=row.name,
        language=row.language,
        phone=row.phone,
        phone_verified=row.phone_verified,
        external_user_id=row.external_user_id,
        metadata=row.metadata,
        roles=row.roles,
    )
    created_at = _read_creation(call, row.created_at)
    try:
        async with tx.savepoint():
            customer = await add_customer(tx, call, data, password_hash, created_at=created_at, method=IMPORTED)
    except (CustomerEmailTaken, ExternalIdTaken) as problem:
        # A concurrent request may have imported the same row; the insert has waited for it.
        existing = await store.find_by_external_id(tx, project_id=call.project_id, external_id=row.external_user_id)
        if existing is not None:
            return existing, False
        raise _at(problem, "/email") from None
    for index, other in enumerate(row.other_emails):
        await _add_email(tx, call, customer, other, f"/otherEmails/{index}/email")
    for index, identity in enumerate(row.identities):
        customer = await _add_identity(tx, call, customer, identity, f"/identities/{index}")
    if row.totp_secret is not None:
        customer = await _add_totp(tx, call, customer, row.totp_secret)
    for index, passkey in enumerate(row.passkeys):
        party = relying_party(call, project)
        await passkeys.add_imported(tx, call, customer.subject, party, passkey, f"/passkeys/{index}")
    if row.passkeys:
        customer = await add_identity(tx, call, customer, "PASSKEY")
    if row.ban is not None:
        customer = await _ban(tx, call, customer, row.ban)
    return customer, True


def _read_creation(call: Call, created_at: Timestamp | None) -> Moment | None:
    if created_at is not None and created_at > call.now:
        raise Invalid.at("/createdAt", "This time is in the future.")
    return None if created_at is None else Moment.of(created_at)


async def _add_email(tx: Transaction, call: Call, customer: CustomerRow, other: ImportedEmail, path: str) -> None:
    """Add a secondary address. Raises CustomerEmailTaken if a customer has it."""
    address, key = rules.read_email(other.email, path)
    try:
        async with tx.savepoint():
            await add_other_address(tx, call, customer.id, address, key, call.now if other.verified else None)
    except psycopg.errors.UniqueViolation:
        raise _at(CustomerEmailTaken(), path) from None
    # Checked after the insert, as `insert_customer` does in the opposite case.
    holder = await store.find_by_email(tx, project_id=call.project_id, email_key=key)
    if holder is not None and (holder.id != customer.id or holder.email_key == key):
        raise _at(CustomerEmailTaken(), path)


async def _add_identity(
    tx: Transaction, call: Call, customer: CustomerRow, identity: ImportedIdentity, path: str
) -> CustomerRow:
    provider = await provider_store.provider(tx, project_id=call.project_id, key=identity.provider)
    kind = identity.provider if provider is None else provider.kind
    expected = ISSUERS.get(kind) if provider is None else provider.issuer
    if expected is None:
        raise Invalid.at(f"{path}/provider", "Add this sign-in provider to the project first.", "provider_missing")
    issuer = identity.issuer or expected
    if kind == "MICROSOFT" and not _MICROSOFT_TENANT.fullmatch(issuer):
        raise Invalid.at(f"{path}/issuer", "Send the issuer of the tenant, which is in the ID tokens.", "required")
    if kind != "MICROSOFT" and issuer != expected:
        # It would not be found at a sign-in, or be that of another sign-in method, such as an organization's own.
        raise Invalid.at(f"{path}/issuer", f"The issuer of this provider is `{expected}`.")
    account = ExternalIdentity(provider=identity.provider, issuer=issuer, subject=identity.subject)
    try:
        return await link_identity(tx, call, customer, account)
    except Conflict as problem:
        raise _at(problem, path) from None


async def _add_totp(tx: Transaction, call: Call, customer: CustomerRow, text: str) -> CustomerRow:
    plain = "".join(text.split()).upper().rstrip("=")
    try:
        secret = base64.b32decode(plain + "=" * (-len(plain) % 8))
    except (binascii.Error, ValueError):
        raise Invalid.at("/totpSecret", "Expected a secret in base32.") from None
    if len(secret) not in TOTP_BYTES:
        raise Invalid.at("/totpSecret", f"A secret has {TOTP_BYTES[0]} to {TOTP_BYTES[-1]} bytes.")
    if not await second_factor.add_imported(tx, call, customer.subject, secret):
        raise Invalid.at("/totpSecret", SECOND_FACTOR_TAKEN)
    return await store.set_mfa(tx, project_id=call.project_id, id=customer.id, mfa_enabled_at=call.now, now=call.now)


async def _ban(tx: Transaction, call: Call, customer: CustomerRow, ban: CustomerBan) -> CustomerRow:
    """Ban a new customer, unless the end of the ban has passed."""
    if ban.expires_at is not None and ban.expires_at <= call.now:
        return customer
    until = None if ban.expires_at is None else Moment.of(ban.expires_at)
    banned = replace(customer, banned_at=call.now, ban_reason=ban.reason, ban_expires_at=until)
    customer = await store.set_ban(tx, banned, now=call.now)
    await events.record(tx, call, "customer.banned", customer.id, reason=ban.reason)
    return customer


def _at(problem: Problem, path: str) -> Problem:
    """The problem with a location."""
    problem.errors = [ProblemError(path=path, code=problem.code(), message=problem.detail)]
    return problem
