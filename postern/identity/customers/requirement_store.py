"""SQL of what organizations require of sign-ins, and of the rows that a sign-in with a password needs.

Reads tables of the package organizations, which depends on this one.
"""

from typing import LiteralString
from uuid import UUID

from postern.identity.customers.model import CustomerRow
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment, Record
from postern.platform.projects.model import Project


class SignInRules(Record):
    """What one organization of a customer allows, besides `requireSso` and `requireMfa`; None for no rule."""

    organization_id: UUID
    allowed_methods: list[str] | None
    session_lifetime_minutes: int | None
    session_idle_minutes: int | None


class DomainMethods(Record):
    """The sign-in methods that an organization allows to members who join by their domain."""

    allowed_methods: list[str]


class SignInRequirement(Record):
    """What the organizations of a customer require of a sign-in. Does not include the project's own settings."""

    project_id: UUID
    customer_id: UUID
    sso_organization_ids: list[UUID]
    """The organizations that require single sign-on; that of any one of them is sufficient."""
    mfa: bool
    """Whether one of the organizations requires a second factor."""
    rules: list[SignInRules]
    """Of the organizations that have any, in the order of their ids."""


class RequiredCustomer(CustomerRow):
    """A locked customer, with what the customer's organizations require of a sign-in."""

    sso_organization_ids: list[UUID]
    mfa: bool
    rules: list[SignInRules]

    @property
    def requirement(self) -> SignInRequirement:
        """What the organizations require."""
        return SignInRequirement(
            project_id=self.project_id,
            customer_id=self.id,
            sso_organization_ids=self.sso_organization_ids,
            mfa=self.mfa,
            rules=self.rules,
        )


class PasswordSignInState(Project):
    """What a sign-in with a password needs to know before it checks the password."""

    sso_organization_id: UUID | None
    """The organization that requires single sign-on for the domain of the address."""
    customer_id: UUID | None
    """The customer with this primary or secondary address."""
    customer_updated_at: Moment | None
    password_hash: str | None
    matched_verified_at: Moment | None
    """When this address of the customer was verified."""


def _requirement_columns(project_id: LiteralString, customer_id: LiteralString) -> LiteralString:
    """The columns `sso_organization_ids`, `mfa` and `rules` of the customer with these ids, which are SQL expressions.

    An organization can require single sign-on of its members and of customers with an address at a domain that it has
    verified. It can require a second factor of its members and of customers who become members by domain when they sign
    in, and has rules for them.
    """
    memberships: LiteralString = f"""select member.organization_id from organization_members member
            where member.project_id = {project_id} and member.customer_id = {customer_id}
            /*distributed and member.project_id = :project */"""
    members: LiteralString = f"""{memberships}
            union
            select domain.organization_id from customers customer
            join organization_domains domain
              on domain.project_id = customer.project_id and domain.status = 'VERIFIED'
             and domain.auto_join_enabled
             and domain.domain = substring(customer.email_key from '@([^@]+)$')
             /*distributed and domain.project_id = :project */
            where customer.project_id = {project_id} and customer.id = {customer_id}
              and customer.email_verified_at is not null
              /*distributed and customer.project_id = :project */"""
    return f"""array(
        select organization.id from organizations organization
        where organization.project_id = {project_id} and organization.status = 'ACTIVE' and organization.require_sso
          /*distributed and organization.project_id = :project */
          and organization.id in (
            {memberships}
            union
            select domain.organization_id from organization_domains domain
            where domain.project_id = {project_id} and domain.status = 'VERIFIED'
              /*distributed and domain.project_id = :project */ and domain.domain in (
                select substring(customer.email_key from '@([^@]+)$') from customers customer
                where customer.project_id = {project_id} and customer.id = {customer_id}
                  /*distributed and customer.project_id = :project */
                union
                select substring(address.email_key from '@([^@]+)$') from customer_other_addresses address
                where address.project_id = {project_id} and address.customer_id = {customer_id}
                  /*distributed and address.project_id = :project */))
        order by organization.id) as sso_organization_ids, exists (
        select from organizations organization
        where organization.project_id = {project_id} and organization.status = 'ACTIVE' and organization.require_mfa
          /*distributed and organization.project_id = :project */
          and organization.id in ({members})) as mfa, coalesce((
        select jsonb_agg(jsonb_build_object(
            'organizationId', organization.id, 'allowedMethods', organization.allowed_methods,
            'sessionLifetimeMinutes', organization.session_lifetime_minutes,
            'sessionIdleMinutes', organization.session_idle_minutes) order by organization.id)
        from organizations organization
        where organization.project_id = {project_id} and organization.status = 'ACTIVE'
          and (organization.allowed_methods is not null or organization.session_lifetime_minutes is not null
               or organization.session_idle_minutes is not null)
          /*distributed and organization.project_id = :project */
          and organization.id in ({members})), '[]') as rules"""


ORGANIZATION_REQUIRING_SSO: LiteralString = """
    select organization.id from organization_domains domain
    join organizations organization
      on organization.project_id = domain.project_id and organization.id = domain.organization_id
     and organization.status = 'ACTIVE' and organization.require_sso
    where domain.project_id = %(project_id)s and domain.domain = %(domain)s and domain.status = 'VERIFIED'"""


# The sign-in requirements of customers. `project_ids` and `customer_ids` are parallel lists. They are in subselects,
# because PostgreSQL otherwise plans the statement again for each list, which takes longer than its execution.
@statement(
    "select pair.project_id, pair.customer_id, "
    + _requirement_columns("pair.project_id", "pair.customer_id")
    + """
    from unnest((select %(project_ids)s::uuid[]), (select %(customer_ids)s::uuid[])) as pair (project_id, customer_id)
"""
)
async def requirements(
    db: Queries, *, project_ids: list[UUID], customer_ids: list[UUID]
) -> list[SignInRequirement]: ...


# The sign-in methods that ACTIVE organizations allow to whoever joins them by a verified domain.
@statement("""
    select organization.allowed_methods from organization_domains domain
    join organizations organization
      on organization.project_id = domain.project_id and organization.id = domain.organization_id
     and organization.status = 'ACTIVE' and organization.allowed_methods is not null
    where domain.project_id = %(project_id)s and domain.domain = %(domain)s and domain.status = 'VERIFIED'
      and domain.auto_join_enabled
""")
async def methods_of_domain(db: Queries, *, project_id: UUID, domain: str) -> list[DomainMethods]: ...


# The id of the ACTIVE organization that has verified a domain and requires single sign-on, or None.
@statement(ORGANIZATION_REQUIRING_SSO)
async def organization_requiring_sso(db: Queries, *, project_id: UUID, domain: str) -> UUID | None: ...


# The project, unless it is deleted, with the customer who has this primary or secondary address, if there is one.
@statement(
    "select project.*, ("
    + ORGANIZATION_REQUIRING_SSO
    + """) as sso_organization_id,
        holder.customer_id, holder.customer_updated_at, holder.password_hash, holder.matched_verified_at
    from projects project left join lateral (
        select c.id as customer_id, c.updated_at as customer_updated_at, c.password_hash,
               c.email_verified_at as matched_verified_at
        from customers c where c.project_id = project.id and c.email_key = %(email_key)s
            /*distributed and c.project_id = :project */
        union all
        select c.id, c.updated_at, c.password_hash, o.verified_at
        from customer_other_addresses o join customers c on c.project_id = o.project_id and c.id = o.customer_id
        where o.project_id = project.id and o.email_key = %(email_key)s
            /*distributed and o.project_id = :project */
        limit 1
    ) as holder on true
    where project.id = %(project_id)s and project.deleted_at is null
"""
)
async def password_sign_in_state(
    db: Queries, *, project_id: UUID, domain: str, email_key: str
) -> PasswordSignInState | None: ...


# Lock a customer whose password was checked, and record the sign-in, unless a second factor is required or the sign-in
# may be `pending` for another reason. None if the password has changed. If this waits for the lock, the requirement may
# be that of the customer's row before.
@statement(
    "with required as materialized (select "
    + _requirement_columns("%(project_id)s", "%(id)s")
    + """)
    update customers c set last_sign_in_at =
        case when c.mfa_enabled_at is null and not required.mfa and not %(pending)s then %(now)s
             else c.last_sign_in_at end
    from required where c.project_id = %(project_id)s and c.id = %(id)s and c.password_hash = %(password_hash)s
    returning c.*, required.sso_organization_ids, required.mfa, required.rules
"""
)
async def record_password_sign_in(
    tx: Transaction, *, project_id: UUID, id: UUID, password_hash: str, pending: bool, now: Moment
) -> RequiredCustomer | None: ...
