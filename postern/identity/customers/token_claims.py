"""The claims of access tokens about the customer and the active organization: how they are read, and their limits.

docs/decisions/0060-organization-context-in-the-token.md describes the decisions; the table of claims for users is in
docs/guide/customers.md.
"""

import json
from collections.abc import Mapping
from typing import Any, LiteralString
from uuid import UUID

from psycopg.sql import SQL

from postern.identity.access import grants
from postern.kernel.values import Record

PERMISSIONS_LIMIT = 1_500
"""Maximum size of the two lists of permissions together as JSON, in bytes."""
METADATA_CLAIMS_LIMIT = 1_024
"""Maximum size of `metadata` and `org.metadata` together as JSON, in bytes."""
_TOO_MANY: LiteralString = "251"
"""So many permissions are too large for the limit: the shortest key (`a:b`) needs six bytes."""


class OrganizationClaims(Record):
    """What access tokens contain about the active organization."""

    id: UUID
    slug: str
    name: str
    roles: list[str]
    permissions: list[str]
    entitlements_version: int
    metadata: dict[str, Any] | None
    """The declared keys that the organization has; None if the project has declared none."""


class CustomerClaims(Record):
    """What access tokens contain about a customer, and what the project now requires of a sign-in."""

    roles: list[str]
    email: str | None
    email_verified: bool
    requires_sso: bool
    requires_mfa: bool
    permissions: list[str]
    """In the project. This list and that of the organization are cut off where they are too large for a token."""
    metadata: dict[str, Any] | None
    """The declared keys that the customer has; None if the project has declared none."""
    organization: OrganizationClaims | None
    """The active organization; None without one, also if the customer is no longer a member or it is suspended."""


MAY_ACTIVATE = SQL("""exists (
    select from organization_members member
    join organizations organization
      on organization.project_id = member.project_id and organization.id = member.organization_id
     and organization.status = 'ACTIVE'
    where member.project_id = s.project_id and member.organization_id = active.organization_id
      and member.customer_id = s.subject_id)""")
"""`SessionPolicy.may_activate`: members may make an ACTIVE organization active."""


def _declared_metadata(row: LiteralString, owner: LiteralString) -> LiteralString:
    """The keys of `row.metadata` that the project has declared for tokens; null if it has declared none."""
    keys: LiteralString = f"project.settings #> '{{signIn,tokenClaims,{owner}}}'"
    return f"""case when jsonb_array_length({keys}) > 0 then coalesce((
        select jsonb_object_agg(declared.key, {row}.metadata -> declared.key)
        from jsonb_array_elements_text({keys}) as declared (key) where {row}.metadata ? declared.key), '{{}}') end"""


# Read with the renewal of a session, from the snapshot of that statement. The version of the entitlements is the sum
# of the counters of the organization and the project, and of the overrides whose expiry has passed and that the worker
# has not deleted yet: deleting one increments the organization's counter.
SUBJECT = SQL(f"""(
    select jsonb_build_object(
        'roles', customer.roles, 'email', customer.email, 'emailVerified', customer.email_verified_at is not null,
        'requiresSso', coalesce((project.settings #>> '{{signIn,requireSso}}')::boolean, false),
        'requiresMfa', coalesce((project.settings #>> '{{signIn,requireMfa}}')::boolean, false),
        'permissions', {grants.permissions_in_project(_TOO_MANY)},
        'metadata', {_declared_metadata("customer", "customer")},
        'organization', (
            select jsonb_build_object(
                'id', organization.id, 'slug', organization.slug, 'name', organization.name, 'roles', member.roles,
                'permissions', {grants.permissions_in_organization(_TOO_MANY)},
                'entitlementsVersion', organization.entitlements_version
                    + coalesce((select version from entitlement_versions counter
                                where counter.project_id = organization.project_id), 0)
                    + (select count(*) from entitlement_overrides override
                       where override.project_id = organization.project_id
                         and override.organization_id = organization.id and override.expires_at <= %(now)s),
                'metadata', {_declared_metadata("organization", "organization")})
            from organization_members member
            join organizations organization
              on organization.project_id = member.project_id and organization.id = member.organization_id
             and organization.status = 'ACTIVE'
            where member.project_id = customer.project_id and member.customer_id = customer.id
              and member.organization_id = active.organization_id))
    from customers customer join projects project on project.id = customer.project_id
    where customer.project_id = s.project_id and customer.id = s.subject_id
      and (customer.banned_at is null or customer.ban_expires_at <= %(now)s))""")
"""`SessionPolicy.subject`: CustomerClaims as JSON; null if the customer is banned."""


def context_claims(claims: CustomerClaims, issuer: str) -> dict[str, Any]:
    """The claims about permissions, organization and metadata, within their limits.

    If the lists of permissions are too large together, the larger one is null, or both, and `permissions_url` says
    where to get them. Metadata that is too large is left out, the largest value first, and listed in
    `metadata_omitted`.
    """
    organization = claims.organization
    permissions, organization_permissions = _limited_permissions(
        claims.permissions, None if organization is None else organization.permissions
    )
    metadata, organization_metadata, omitted = _limited_metadata(
        claims.metadata, None if organization is None else organization.metadata
    )
    context: dict[str, Any] = {"permissions": permissions}
    if metadata is not None:
        context["metadata"] = metadata
    if organization is not None:
        active: dict[str, Any] = {
            "id": str(organization.id),
            "slug": organization.slug,
            "name": organization.name,
            "roles": organization.roles,
            "permissions": organization_permissions,
            "entitlements_version": organization.entitlements_version,
        }
        if organization_metadata is not None:
            active["metadata"] = organization_metadata
        context["org"] = active
    if permissions is None or (organization is not None and organization_permissions is None):
        context["permissions_url"] = f"{issuer}/auth/permissions"
    if omitted:
        context["metadata_omitted"] = omitted
    return context


def _limited_permissions(
    in_project: list[str], in_organization: list[str] | None
) -> tuple[list[str] | None, list[str] | None]:
    """The two lists within PERMISSIONS_LIMIT: the larger one, or both, become None if necessary."""
    sizes = [_json_size(in_project), 0 if in_organization is None else _json_size(in_organization)]
    if sum(sizes) <= PERMISSIONS_LIMIT:
        return in_project, in_organization
    if min(sizes) > PERMISSIONS_LIMIT:
        return None, None
    return (None, in_organization) if sizes[0] > sizes[1] else (in_project, None)


def _limited_metadata(
    of_customer: dict[str, Any] | None, of_organization: dict[str, Any] | None
) -> tuple[dict[str, Any] | None, dict[str, Any] | None, list[str]]:
    """The metadata within METADATA_CLAIMS_LIMIT, and the names of the keys that were left out, sorted, within the same
    limit."""
    declared = {"metadata": of_customer, "org.metadata": of_organization}
    kept = {claim: dict(metadata) for claim, metadata in declared.items() if metadata is not None}
    values = [(claim, key, _json_size({key: value})) for claim in kept for key, value in kept[claim].items()]
    omitted: list[str] = []
    for claim, key, _ in sorted(values, key=lambda value: -value[2]):
        if sum(_json_size(metadata) for metadata in kept.values()) <= METADATA_CLAIMS_LIMIT:
            break
        del kept[claim][key]
        omitted.append(f"{claim}.{key}")
    omitted.sort()
    while _json_size(omitted) > METADATA_CLAIMS_LIMIT:
        omitted.pop()
    return kept.get("metadata"), kept.get("org.metadata"), omitted


def _json_size(value: list[str] | Mapping[str, Any]) -> int:
    """The size of a claim in bytes, in the encoding in which tokens contain it."""
    return len(json.dumps(value, separators=(",", ":")))
