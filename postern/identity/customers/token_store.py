"""SQL of access tokens: their customers, and what they contain."""

from typing import LiteralString
from uuid import UUID

from psycopg.sql import SQL

from postern.identity.access import grants
from postern.identity.customers.model import CustomerRow
from postern.kernel.database.statements import Queries, statement
from postern.kernel.values import Moment
from postern.security.session_store import SessionImpersonation


class TokenBearer(CustomerRow):
    """The customer of an access token, with the session and key of the token."""

    session_id: UUID
    session_test: bool
    """Whether the session began with a TEST key."""
    session_impersonation: SessionImpersonation | None
    key_id: UUID


MAX_PERMISSIONS_READ: LiteralString = "251"
"""How many permissions are read at most. A list of this length exceeds `tokens.PERMISSIONS_LIMIT` in any case, because
the shortest key (`a:b`) takes six bytes in JSON."""

MAY_ACTIVATE = SQL("""exists (
    select from organization_members member
    join organizations organization
      on organization.project_id = member.project_id and organization.id = member.organization_id
     and organization.status = 'ACTIVE'
    where member.project_id = s.project_id and member.organization_id = active.organization_id
      and member.customer_id = s.subject_id
      /*distributed and member.project_id = :project and organization.project_id = :project */)""")
"""`SessionPolicy.may_activate`: members may make an ACTIVE organization active. The statements that contain it have
the rows `s` (the session) and `active` (with the id of the organization)."""


def _declared_metadata(row: LiteralString, owner: LiteralString) -> LiteralString:
    """An SQL expression: the entries of `row.metadata` whose keys the project has declared for tokens; null if it has
    declared none."""
    keys: LiteralString = f"project.settings #> '{{signIn,tokenClaims,{owner}}}'"
    return f"""case when jsonb_array_length({keys}) > 0 then coalesce((
        select jsonb_object_agg(declared.key, {row}.metadata -> declared.key)
        from jsonb_array_elements_text({keys}) as declared (key) where {row}.metadata ? declared.key), '{{}}') end"""


# A part of the statement that renews a session. `entitlementsVersion` is the sum of three numbers: the counter of the
# organization, the counter of the project, and the number of overrides that have expired but are not deleted yet. When
# the worker deletes such an override, it increments the organization's counter, so the sum does not change.
SUBJECT = SQL(f"""(
    select jsonb_build_object(
        'roles', customer.roles, 'email', customer.email, 'emailVerified', customer.email_verified_at is not null,
        'requiresSso', coalesce((project.settings #>> '{{signIn,requireSso}}')::boolean, false),
        'requiresMfa', coalesce((project.settings #>> '{{signIn,requireMfa}}')::boolean, false),
        'hooks', coalesce(project.settings #> '{{signIn,hooks}}', '[]'),
        'permissions', {grants.permissions_in_project(MAX_PERMISSIONS_READ)},
        'metadata', {_declared_metadata("customer", "customer")},
        'organization', (
            select jsonb_build_object(
                'id', organization.id, 'slug', organization.slug, 'name', organization.name, 'roles', member.roles,
                'permissions', {grants.permissions_in_organization(MAX_PERMISSIONS_READ)},
                'entitlementsVersion', organization.entitlements_version
                    + coalesce((select version from entitlement_versions counter
                                where counter.project_id = organization.project_id
                                    /*distributed and counter.project_id = :project */), 0)
                    + (select count(*) from entitlement_overrides override
                       where override.project_id = organization.project_id
                         and override.organization_id = organization.id and override.expires_at <= %(now)s
                         /*distributed and override.project_id = :project */),
                'metadata', {_declared_metadata("organization", "organization")})
            from organization_members member
            join organizations organization
              on organization.project_id = member.project_id and organization.id = member.organization_id
             and organization.status = 'ACTIVE'
            where member.project_id = customer.project_id and member.customer_id = customer.id
              and member.organization_id = active.organization_id
              /*distributed and member.project_id = :project and organization.project_id = :project */))
    from customers customer join projects project on project.id = customer.project_id
    where customer.project_id = s.project_id and customer.id = s.subject_id
      and (customer.banned_at is null or customer.ban_expires_at <= %(now)s)
      /*distributed and customer.project_id = :project */)""")
"""`SessionPolicy.subject`: `tokens.CustomerClaims` as JSON; null if the customer is banned. The rows `s` and `active`
are as for `MAY_ACTIVATE`."""


FIRST_ORGANIZATION = SQL("""(
    with member as materialized (
        select member.organization_id from organization_members member
        join organizations organization
          on organization.project_id = member.project_id and organization.id = member.organization_id
         and organization.status = 'ACTIVE'
        where member.project_id = s.project_id and member.customer_id = s.subject_id
            /*distributed and member.project_id = :project and organization.project_id = :project */
    )
    select organization_id from member
    where organization_id = s.sso_organization_id
       or organization_id = (
           select recent.organization_id from sessions recent
           where recent.project_id = s.project_id and recent.subject_id = s.subject_id and recent.id <> s.id
               /*distributed and recent.project_id = :project */
           order by recent.id desc limit 1)
       or (select count(*) from member) = 1
    order by organization_id = s.sso_organization_id desc nulls last limit 1)""")
"""`SessionPolicy.first_organization`: the organization whose single sign-on was used; else the customer's only
organization; else that of the customer's most recent session; else null. Only ACTIVE organizations of which the
customer is a member count."""


# `project_ids`, `session_ids` and `key_ids` are parallel lists. Omits tokens whose session or key has ended, or whose
# customer is banned.
# `offset 0` makes PostgreSQL search each row by its primary key. Otherwise it may join all customers with all their
# sessions, because it knows neither the number of tokens nor the project. The lists are in subselects, so that it does
# not plan the statement again for each of their lengths.
@statement("""
    select c.*, s.id as session_id, s.test as session_test, s.impersonation as session_impersonation,
           tokens.key_id
    from unnest((select %(project_ids)s::uuid[]), (select %(session_ids)s::uuid[]), (select %(key_ids)s::uuid[]))
         as tokens (project_id, id, key_id)
    cross join lateral (
        select project_id, id, subject_id, test, impersonation from sessions
        where project_id = tokens.project_id and id = tokens.id
          and revoked_at is null and expires_at > %(now)s and idle_expires_at > %(now)s
          /*distributed and project_id = any (%(project_ids)s) */ offset 0) as s
    cross join lateral (
        select * from customers
        where project_id = s.project_id and id = s.subject_id
          and (banned_at is null or ban_expires_at <= %(now)s)
          /*distributed and project_id = any (%(project_ids)s) */ offset 0) as c
    where exists (
        select from customer_signing_keys
        where project_id = tokens.project_id and id = tokens.key_id
          and (retired_at is null or retired_at > %(now)s)
          /*distributed and project_id = any (%(project_ids)s) */ offset 0)
""")
async def token_bearers(
    db: Queries, *, project_ids: list[UUID], session_ids: list[UUID], key_ids: list[UUID], now: Moment
) -> list[TokenBearer]: ...


# At most 1,000 IP addresses from which the customer with this e-mail address began sessions.
@statement("""
    select distinct ip_address from sessions
    where project_id = %(project_id)s and impersonation is null and subject_id = (
        select id from customers where project_id = %(project_id)s and email_key = %(email_key)s
        union all
        select customer_id from customer_other_addresses
        where project_id = %(project_id)s and email_key = %(email_key)s
        limit 1)
    limit 1000
""")
async def session_ip_addresses(db: Queries, *, project_id: UUID, email_key: str) -> list[str]: ...
