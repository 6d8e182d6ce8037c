"""Domains of organizations: verification by DNS, and automatic joining."""

from typing import TYPE_CHECKING
from uuid import UUID

from msgspec.structs import replace

from postern.identity.organizations import domain_store
from postern.identity.organizations.model import (
    DOMAINS_PER_ORGANIZATION,
    NEXT_DOMAIN_STATUS,
    DomainListed,
    DomainNotProved,
    DomainReason,
    DomainTaken,
    NewOrganizationDomain,
    OrganizationDomain,
    OrganizationDomainChange,
    OrganizationDomainMissing,
    OrganizationDomainRow,
    OrganizationMissing,
    TooManyOrganizationDomains,
)
from postern.identity.organizations.operations import lock_organization, require_organization, require_sso_works_after
from postern.identity.organizations.rules import (
    domain_input,
    parse_organization_domain,
    record_name_of,
    record_value_of,
    time_until_next_check,
)
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, patch, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, newest_first
from postern.kernel.values import Moment, Removed, build_view, new_id
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.platform.projects.sso_check import SsoStillRequired
from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord
from postern.security.secrets import new_token

if TYPE_CHECKING:
    from postern.world import World

DOMAINS = "/projects/{project_id}/b2b/organizations/{organization_id}/domains"
TOKEN_LENGTH = 32


@get(DOMAINS, needs="organizations:read", problems=(OrganizationMissing,))
async def list_organization_domains(
    call: Call, organization_id: UUID, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[OrganizationDomain]:
    """List the domains of an organization, newest first, each with its TXT record and the result of the last check."""
    await require_organization(call.db, call, organization_id)
    scope = f"organization_domains|{organization_id}"
    page = await newest_first(call, scope, cursor, limit, domain_store.list_domains, organization_id=organization_id)
    return page.convert_items(_as_view)


@post(
    DOMAINS,
    needs="organizations:write",
    status=201,
    problems=(OrganizationMissing, DomainListed, DomainTaken, TooManyOrganizationDomains),
    example={"domain": "acme.example"},
    response_example={"status": "PENDING", "verifiedAt": None, "autoJoinEnabled": False, "lastCheckedAt": None},
)
async def add_organization_domain(call: Call, organization_id: UUID, data: NewOrganizationDomain) -> OrganizationDomain:
    """Add a domain that the organization owns.

    Publish `record` as a TXT record at `recordName`. The record is checked every minute for ten minutes, every ten
    minutes for three hours, then hourly for 30 days; `verify` checks it immediately. Public suffixes and public mailbox
    providers return 400; a domain that another organization of the project has verified returns 409.
    """
    domain = parse_organization_domain(data.domain)
    async with call.db.transaction() as tx:
        await lock_organization(tx, call, organization_id)
        await _require_not_taken(tx, call.project_id, organization_id, domain)
        domain_count = await domain_store.count_domains(tx, project_id=call.project_id, organization_id=organization_id)
        if domain_count >= DOMAINS_PER_ORGANIZATION:
            raise TooManyOrganizationDomains
        row = await domain_store.insert_domain(
            tx,
            project_id=call.project_id,
            id=new_id(),
            organization_id=organization_id,
            domain=domain,
            token=new_token(TOKEN_LENGTH),
            now=call.now,
        )
        if row is None:  # The organization has this domain already.
            raise DomainListed
        tx.mark_due("organization_domains", call.project_id)
        await audit.record(tx, call, "organization_domain.created", "OrganizationDomain", row.id, domain=domain)
    return _as_view(row)


@post(
    f"{DOMAINS}/{{domain_id}}/verify",
    needs="organizations:write",
    problems=(OrganizationDomainMissing, DomainTaken),
)
async def verify_organization_domain(call: Call, organization_id: UUID, domain_id: UUID) -> OrganizationDomain:
    """Check the TXT record of a domain now, instead of waiting for the periodic check.

    A missing record is not an error: `status` and `reason` give the result. For a FAILED domain the periodic checks
    start again. Returns 409 if the record exists, but another organization has verified the domain.
    """
    row = await _require_domain(call.db, call, organization_id, domain_id)
    record_exists = await check_domain(call.world, row, fresh=True)
    async with call.db.transaction() as tx:
        await domain_store.lock_domain_name(tx, project_id=call.project_id, domain=row.domain)
        row = await _lock_domain(tx, call, organization_id, domain_id)
        if record_exists:
            await _require_not_taken(tx, call.project_id, organization_id, row.domain)
        row, event = await record_check(tx, row, record_exists, call.now, requested=True)
        if event:
            await events.record(tx, call, event, organization_id, domain=row.domain, domainId=str(domain_id))
        await audit.record(tx, call, "organization_domain.checked", "OrganizationDomain", domain_id, status=row.status)
    return _as_view(row)


@patch(
    f"{DOMAINS}/{{domain_id}}",
    needs="organizations:write",
    problems=(OrganizationDomainMissing, DomainNotProved),
    example={"autoJoinEnabled": True},
)
async def change_organization_domain(
    call: Call, organization_id: UUID, domain_id: UUID, data: OrganizationDomainChange
) -> OrganizationDomain:
    """Set whether customers with a verified address at exactly this domain join when they sign in.

    Enabling it requires a VERIFIED domain (409). Disabling it does not remove members. Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        row = await _lock_domain(tx, call, organization_id, domain_id)
        call.require_match(row.updated_at)
        if data.auto_join_enabled and row.status != "VERIFIED":
            raise DomainNotProved
        row = await domain_store.set_auto_join(
            tx, project_id=call.project_id, id=domain_id, enabled=data.auto_join_enabled, now=call.now
        )
        enabled = row.auto_join_enabled
        await audit.record(
            tx, call, "organization_domain.updated", "OrganizationDomain", domain_id, autoJoinEnabled=enabled
        )
    return _as_view(row)


@delete(f"{DOMAINS}/{{domain_id}}", needs="organizations:write", problems=(OrganizationDomainMissing, SsoStillRequired))
async def remove_organization_domain(call: Call, organization_id: UUID, domain_id: UUID) -> Removed:
    """Remove a domain from an organization. Members stay, but the domain no longer allows joining or single sign-on.

    Returns 409 if single sign-on is required and the only working connection uses the domain. Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        # Not for a quota: this lock serialises the changes that may disable the last working connection.
        await tx.lock_quota("required sso", call.project_id)
        row = await _lock_domain(tx, call, organization_id, domain_id)
        call.require_match(row.updated_at)
        # Raises SsoStillRequired at the end of the block.
        async with require_sso_works_after(tx, call, organization_id):
            await domain_store.delete_domain(tx, project_id=call.project_id, id=domain_id)
        await audit.record(tx, call, "organization_domain.deleted", "OrganizationDomain", domain_id, domain=row.domain)
    return Removed()


async def owner_of_domain(db: Queries, project_id: UUID, domain: str) -> UUID | None:
    """The id of the organization for which exactly this domain (A-labels, any case) is VERIFIED, or None."""
    row = await domain_store.get_verified_domain(db, project_id=project_id, domain=domain.rstrip(".").lower())
    return row.organization_id if row else None


async def check_domain(world: "World", row: OrganizationDomainRow, *, fresh: bool = False) -> bool | None:
    """Whether the TXT record of a domain exists, possibly beside other TXT records; None if the DNS lookup failed.

    With `fresh`, the authoritative servers are queried, because caches may lack a record that was just published. If
    the operator configured DNS servers, only those are queried, even with `fresh`.
    """
    resolver = world.resolver
    name = record_name_of(row.domain)
    try:
        if fresh and not world.settings.dns:
            resolver = await resolver.authoritative(name)
        records = await resolver.txt(name)
    except NoSuchRecord:
        return False
    except DnsUnavailable:
        return None
    return record_value_of(row.token) in (text.strip() for text in records)


async def record_check(
    tx: Transaction, row: OrganizationDomainRow, record_exists: bool | None, now: Moment, *, requested: bool = False
) -> tuple[OrganizationDomainRow, str | None]:
    """Store the result of a check in the locked row of a domain. Returns the new row, and the type of the event that
    the caller must record, or None.

    `record_exists` is None if the DNS lookup failed. With `requested`, the periodic checks of a FAILED domain start
    again. Automatic joining is switched off unless the new status is VERIFIED. A domain that lapses gets a new token:
    the value of the old TXT record is public, so the next registrant of the domain could publish it.
    """
    status, watched_since = row.status, row.watched_since
    if requested and NEXT_DOMAIN_STATUS[status, "CHECK_REQUESTED"] != status:
        status, watched_since = NEXT_DOMAIN_STATUS[status, "CHECK_REQUESTED"], now
    missing_since = None if record_exists else row.missing_since
    misses = 0 if record_exists else row.misses
    if status == "VERIFIED" and record_exists is False:
        missing_since, misses = missing_since or now, misses + 1
    check = domain_input(
        status,
        record_exists=record_exists,
        watched_since=watched_since,
        missing_since=missing_since or now,
        misses=misses,
        now=now,
    )
    new_status = NEXT_DOMAIN_STATUS[status, check]
    lapsed = new_status == "LAPSED" and row.status != "LAPSED"
    if lapsed:
        watched_since = now
    wait = time_until_next_check(new_status, watched_since=watched_since, now=now)
    checked_row = replace(
        row,
        status=new_status,
        token=new_token(TOKEN_LENGTH) if lapsed else row.token,
        auto_join_enabled=row.auto_join_enabled and new_status == "VERIFIED",
        verified_at=now if new_status == "VERIFIED" and row.status != "VERIFIED" else row.verified_at,
        reason=_reason(record_exists),
        watched_since=watched_since,
        missing_since=missing_since,
        misses=misses,
        due_at=now + wait if wait else None,
    )
    new_row = await domain_store.record_check(tx, checked_row, now=now)
    return new_row, EVENT_TYPES.get(new_status) if new_status != row.status else None


EVENT_TYPES = {"VERIFIED": "organization.domain_verified", "LAPSED": "organization.domain_lapsed"}
"""Type of the event for each new status; PENDING and FAILED have none."""


async def record_check_of_taken_domain(
    tx: Transaction, row: OrganizationDomainRow, now: Moment
) -> OrganizationDomainRow:
    """Store the result of a check that found the TXT record of a domain that another organization has verified.

    The status stays, and the check does not count as a miss. The row must be locked. Returns the new row.
    """
    wait = time_until_next_check(row.status, watched_since=row.watched_since, now=now)
    checked_row = replace(row, reason="VERIFIED_BY_ANOTHER_ORGANIZATION", due_at=now + wait if wait else None)
    return await domain_store.record_check(tx, checked_row, now=now)


async def is_verified_by_another(db: Queries, project_id: UUID, organization_id: UUID, domain: str) -> bool:
    """Whether an organization other than `organization_id` has verified the domain."""
    return await owner_of_domain(db, project_id, domain) not in (None, organization_id)


async def _require_not_taken(db: Queries, project_id: UUID, organization_id: UUID, domain: str) -> None:
    if await is_verified_by_another(db, project_id, organization_id, domain):
        raise DomainTaken


async def _require_domain(db: Queries, call: Call, organization_id: UUID, id: UUID) -> OrganizationDomainRow:
    row = await domain_store.get_domain(db, project_id=call.project_id, organization_id=organization_id, id=id)
    if row is None:
        raise OrganizationDomainMissing
    return row


async def _lock_domain(tx: Transaction, call: Call, organization_id: UUID, id: UUID) -> OrganizationDomainRow:
    row = await domain_store.lock_domain(tx, project_id=call.project_id, id=id)
    if row is None or row.organization_id != organization_id:
        raise OrganizationDomainMissing
    return row


def _reason(record_exists: bool | None) -> DomainReason | None:
    if record_exists:
        return None
    return "DNS_UNAVAILABLE" if record_exists is None else "RECORD_NOT_FOUND"


def _as_view(row: OrganizationDomainRow) -> OrganizationDomain:
    return build_view(
        OrganizationDomain,
        row,
        record_name=record_name_of(row.domain),
        record=record_value_of(row.token),
        next_check_at=row.due_at,
    )
