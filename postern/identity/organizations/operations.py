"""HTTP operations on organizations, and functions for other features."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from msgspec import UNSET, Meta
from msgspec.structs import replace

from postern.identity.customers.rules import merged_metadata
from postern.identity.organizations import domain_store, store
from postern.identity.organizations.model import (
    NewOrganization,
    Organization,
    OrganizationChange,
    OrganizationExternalIdTaken,
    OrganizationMissing,
    OrganizationRef,
    OwnersLockedOut,
    SlugTaken,
    Status,
)
from postern.identity.organizations.rules import slug_candidates, slug_of
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.listing import ListQuery, sorted_list
from postern.kernel.http.operation import delete, get, patch, post
from postern.kernel.http.pagination import LinkedList
from postern.kernel.http.problems import require_found
from postern.kernel.values import build_view, fields_set, new_id
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.platform.projects.sso_check import SsoNotReady, SsoStillRequired, sso_works

ORGANIZATIONS = "/projects/{project_id}/b2b/organizations"
OrganizationSearch = Annotated[
    str, Meta(max_length=300, description="Part of name, slug or external id, in any letter case.")
]
ACME = {"name": "Acme Ltd", "externalId": "customer-17", "metadata": {"tier": "gold"}}


@get(ORGANIZATIONS, needs="organizations:read")
async def list_organizations(
    call: Call,
    external_id: str | None = None,
    q: OrganizationSearch | None = None,
    status: Status | None = None,
    *,
    query: ListQuery,
) -> LinkedList[Organization]:
    """List the project's organizations, newest first. All given filters must match."""
    filters = query.filters(q, status=[status] if status else [])
    name, external_id = f"organizations|{external_id or ''}", external_id or None
    return await sorted_list(
        call,
        name,
        query,
        filters,
        store.SEARCH_TEXT,
        partial(store.list_organizations, now=call.now),
        store.count_listed,
        external_id=external_id,
    )


@post(
    ORGANIZATIONS,
    needs="organizations:write",
    status=201,
    problems=(SlugTaken, OrganizationExternalIdTaken),
    example=ACME,
)
async def create_organization(call: Call, data: NewOrganization) -> Organization:
    """Create an organization. It has no members yet.

    Without `slug`, one is derived from the name, with a number if another organization has it. A `slug` or `externalId`
    that another organization has returns 409.
    """
    async with call.db.transaction() as tx:
        return await add_organization(tx, call, data)


async def add_organization(tx: Transaction, call: Call, data: NewOrganization) -> Organization:
    """Create an organization in an open transaction. Raises SlugTaken and OrganizationExternalIdTaken."""
    row = await _insert(tx, call, data)
    await events.record(tx, call, "organization.created", row.id, name=row.name, externalId=row.external_id)
    await audit.record(tx, call, "organization.created", "Organization", row.id, name=row.name)
    return row


async def id_of_external_id(db: Queries, call: Call, external_id: str) -> UUID | None:
    """The id of the organization with this external id; None if there is none."""
    return await store.id_of_external_id(db, project_id=call.project_id, external_id=external_id)


async def _insert(tx: Transaction, call: Call, data: NewOrganization) -> Organization:
    """Insert an organization. Raises SlugTaken or OrganizationExternalIdTaken if another organization has the requested
    slug or external id; a slug that is derived from the name gets a suffix instead."""
    metadata = merged_metadata({}, data.metadata)
    for slug in slug_candidates(data.slug or slug_of(data.name)):
        new = replace(data, slug=slug, metadata=metadata)
        row = await store.insert_organization(
            tx, new, project_id=call.project_id, id=new_id(), created_at=call.now, updated_at=call.now
        )
        if row is not None:
            return row
        await _require_not_taken(tx, call, None, external_id=data.external_id, slug=data.slug)
    raise SlugTaken  # Never reached: `slug_candidates` does not end.


@get(f"{ORGANIZATIONS}/{{id}}", needs="organizations:read", problems=(OrganizationMissing,))
async def get_organization(call: Call, id: UUID) -> Organization:
    """Get an organization with its number of members and of pending invitations."""
    return await require_organization(call.db, call, id)


@patch(
    f"{ORGANIZATIONS}/{{id}}",
    needs="organizations:write",
    problems=(
        OrganizationMissing,
        SlugTaken,
        OrganizationExternalIdTaken,
        SsoNotReady,
        SsoStillRequired,
        OwnersLockedOut,
    ),
    example={"status": "SUSPENDED"},
)
async def change_organization(call: Call, id: UUID, data: OrganizationChange) -> Organization:
    """Change an organization. Omitted fields keep their values; `metadata` is merged (null removes a key).

    With `status: SUSPENDED` the organization accepts no invitations or members, and grants no permissions. Its data is
    kept; set `ACTIVE` to end the suspension.

    With `requireSso` its members, and customers with an address at one of its verified domains, can sign in only by its
    single sign-on (403 `sso_required`). `requireSso` requires a working connection (409). Sessions that were not
    started by single sign-on end when their access token expires.

    With `requireMfa` its members must sign in with a second factor. Members without one must set up an authenticator
    app first (`mfaEnrollmentRequired`), and sessions without one end when their access token expires. Neither
    requirement applies while the organization is suspended. Honours `If-Match`.

    With `allowedMethods` its members can sign in only by these methods (403 `sign_in_method_not_allowed`), and with
    `sessionLifetimeMinutes` and `sessionIdleMinutes` their sessions end earlier. If an OWNER exists and none could sign
    in, the response is 409, unless `allowLockOut` is set.
    """
    async with call.db.transaction() as tx:
        if data.require_sso is True or data.status == "SUSPENDED" or isinstance(data.allowed_methods, list):
            # Not a quota: serialises changes that require single sign-on, or may disable its last working connection.
            await tx.lock_quota("required sso", call.project_id)
        row = await lock_organization(tx, call, id)
        call.require_match(row.updated_at)
        changes = fields_set(data)
        del changes["allow_lock_out"]
        new = replace(row, **changes)
        await _require_not_taken(tx, call, id, external_id=new.external_id, slug=new.slug)
        if data.metadata is not UNSET:
            new = replace(new, metadata=merged_metadata(row.metadata, data.metadata))
        if new.require_sso and not row.require_sso and not await sso_works(tx, call.project_id, id):
            raise SsoNotReady
        if new.allowed_methods is not None:
            new = replace(new, allowed_methods=list(dict.fromkeys(new.allowed_methods)))
        if new.allowed_methods != row.allowed_methods or (new.require_sso and not row.require_sso):
            await _require_usable_methods(tx, call, new, allow_lock_out=data.allow_lock_out)
        # Suspending the organization disables its connections, which may be the last ones of the project that work.
        async with require_sso_works_after(tx, call, None):
            await store.update_organization(tx, new, now=call.now)
        details: dict[str, Any] = {"name": new.name, "status": new.status}
        details |= {"requireSso": new.require_sso, "requireMfa": new.require_mfa, "allowedMethods": new.allowed_methods}
        details |= {"sessionLifetimeMinutes": new.session_lifetime_minutes}
        details |= {"sessionIdleMinutes": new.session_idle_minutes}
        await events.record(tx, call, "organization.updated", id, **details)
        await audit.record(tx, call, "organization.updated", "Organization", id, **details)
        return await require_organization(tx, call, id)


@delete(f"{ORGANIZATIONS}/{{id}}", needs="organizations:write", problems=(OrganizationMissing, SsoStillRequired))
async def delete_organization(call: Call, id: UUID) -> Organization:
    """Delete an organization with its members, invitations, domains, connections and entitlements.

    Returns the deleted record. The organization is gone at once, and its slug, external id and domains can be reused;
    the rows of a large one are deleted in the background. The customers stay. Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        # Not for a quota: this lock serialises the changes that may disable the last working connection.
        await tx.lock_quota("required sso", call.project_id)
        call.require_match((await lock_organization(tx, call, id)).updated_at)
        row = await require_organization(tx, call, id)
        async with require_sso_works_after(tx, call, None):
            await store.mark_deleted(tx, project_id=call.project_id, id=id, now=call.now)
        await domain_store.delete_domains_of_organization(tx, project_id=call.project_id, organization_id=id)
        tx.mark_due("organizations", call.project_id)
        await events.record(tx, call, "organization.deleted", id, name=row.name, externalId=row.external_id)
        await audit.record(tx, call, "organization.deleted", "Organization", id, name=row.name)
    return row


async def require_organization(db: Queries, call: Call, id: UUID) -> Organization:
    """An organization of the call's project with its counts of members and invitations. Raises OrganizationMissing."""
    return require_found(
        await store.get_organization(db, project_id=call.project_id, id=id, now=call.now), OrganizationMissing
    )


async def lock_organization(tx: Transaction, call: Call, id: UUID) -> Organization:
    """Lock an organization of the call's project for update. Its counts are 0. Raises OrganizationMissing."""
    return require_found(await store.lock_organization(tx, project_id=call.project_id, id=id), OrganizationMissing)


async def advance_entitlements_version(tx: Transaction, project_id: UUID, id: UUID, steps: int = 1) -> None:
    """Record that the entitlements of an organization have changed, in the transaction that changes them: adds `steps`
    to its counter. Lock the organization before the rows that change."""
    await store.advance_entitlements_version(tx, project_id=project_id, id=id, steps=steps)


async def lock_organization_of_work(tx: Transaction, project_id: UUID, id: UUID) -> bool:
    """Lock an organization for update, for background work, which has no call. Returns False if there is none."""
    return await store.lock_organization(tx, project_id=project_id, id=id) is not None


@asynccontextmanager
async def require_sso_works_after(tx: Transaction, call: Call, organization_id: UUID | None) -> AsyncIterator[None]:
    """A context manager around a change that may disable a connection. Raises SsoStillRequired at the end of the block
    if single sign-on is required, and worked before the change, but does not work after it.

    Checks the project's requirement and, unless `organization_id` is None, the organization's; it also requires single
    sign-on if it allows no other method. Call
    `tx.lock_quota("required sso", project_id)` before taking other locks: it serialises such changes.
    """
    project = await projects.require_project(tx, call.project_id)
    # The organizations that require single sign-on; None stands for the project.
    required_by: list[UUID | None] = [None] if project.settings.sign_in.require_sso else []
    if organization_id is not None:
        organization = await require_organization(tx, call, organization_id)
        sso_only = organization.require_sso or organization.allowed_methods == ["SSO"]
        required_by += [organization_id] if sso_only and organization.status == "ACTIVE" else []
    worked_before = [scope_id for scope_id in required_by if await sso_works(tx, call.project_id, scope_id)]
    yield
    for scope_id in worked_before:
        if not await sso_works(tx, call.project_id, scope_id):
            raise SsoStillRequired


def ref_of(row: Organization) -> OrganizationRef:
    """The id, name and slug of an organization, as other responses contain them."""
    return build_view(OrganizationRef, row)


async def _require_usable_methods(tx: Transaction, call: Call, row: Organization, *, allow_lock_out: bool) -> None:
    """Raise SsoNotReady if an organization allows nothing but single sign-on, and has no connection that works.

    Unless `allow_lock_out`, raise OwnersLockedOut if no OWNER could sign in by one of its allowed methods.
    """
    allowed = row.allowed_methods
    if allowed is None:
        return
    works = "SSO" in allowed and await sso_works(tx, call.project_id, row.id)
    if allowed == ["SSO"] and not works:
        raise SsoNotReady
    if works or allow_lock_out:
        return
    settings = (await projects.require_project(tx, call.project_id)).settings.sign_in
    usable = [method for method in allowed if method == "SOCIAL" or method in settings.methods]
    if row.require_sso or settings.require_sso:
        usable = []  # All other methods are refused, even if they are allowed.
    owners = await store.owners_sign_in(tx, project_id=call.project_id, organization_id=row.id, methods=list(usable))
    if owners.has_owners and not owners.one_can:
        raise OwnersLockedOut


async def _require_not_taken(
    db: Queries, call: Call, id: UUID | None, *, external_id: str | None, slug: str | None
) -> None:
    """Raise SlugTaken or OrganizationExternalIdTaken if an organization other than `id` has the slug or external
    id."""
    if external_id is not None:
        holder_id = await store.id_of_external_id(db, project_id=call.project_id, external_id=external_id)
        if holder_id not in (None, id):
            raise OrganizationExternalIdTaken
    if slug is not None:
        holder_id = await store.id_of_slug(db, project_id=call.project_id, slug=slug)
        if holder_id not in (None, id):
            raise SlugTaken
