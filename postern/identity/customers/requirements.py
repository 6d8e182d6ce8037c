"""What a project and its organizations require of everybody who signs in, whichever way they come.

Organizations stand above customers, so `world.hooks` says who knows what they require.
"""

from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING
from uuid import UUID

from postern.identity.customers.model import CustomerRow
from postern.identity.customers.sso_lookup import SsoEntry, sso_entry_of_organization
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Conflict, Forbidden
from postern.kernel.values import Record
from postern.platform.projects.model import Project

if TYPE_CHECKING:
    from postern.world import World


class SsoRequired(Forbidden):
    """People with this address sign in by the single sign-on of their organization, and in no other way."""

    sign_on: SsoEntry | None = None
    """Where they do, if a connection works now."""


class MfaStillRequired(Conflict):
    """A second factor is required here: the last one stays."""

    next = "Sign in with it as before. Whoever lost it asks an administrator to reset it, and sets up a new one then."


class SignInRequirement(Record):
    """What the organizations of one customer require, all together."""

    project_id: UUID
    customer_id: UUID
    sso_organization_ids: list[UUID]
    """Organizations that require single sign-on: a sign-on by a connection of any of them will do."""
    mfa: bool
    """Whether one of them requires a second factor."""


RequirementsOfCustomers = Callable[[Queries, list[UUID], list[UUID]], Awaitable[list[SignInRequirement]]]
"""What is required of customers (by project and identifier): of members, and of people at an organization's domain."""
OrganizationRequiringSso = Callable[[Queries, UUID, str], Awaitable[UUID | None]]
"""The organization that requires single sign-on of everybody with an address at a domain; none if none does."""

SECOND_FACTORS = frozenset(("totp", "recovery", "mfa"))
"""Methods of a session that make it one of several factors; `mfa` is what an identity provider says (RFC 8176)."""
VERIFIED_PASSKEY = frozenset(("hwk", "user"))
"""A passkey that asked its user for a PIN, a fingerprint or the like is two factors at once."""


async def require_no_sso(call: Call, project: Project, email_key: str | None) -> None:
    """Raises SsoRequired where everybody with such an address (None: with any) has to use single sign-on.

    Asked before anything is looked up about the person: the domain decides, and the answer is the same whether or
    not the address has an account.
    """
    domain = None if email_key is None else email_key.rpartition("@")[2]
    organization_id = None
    if domain is not None:
        organization_id = await call.db.hooks.organization_requiring_sso(call.db, call.project_id, domain)
    if organization_id is not None or project.settings.sign_in.require_sso:
        raise await _sso_required(call.db, call, organization_id, domain)


async def require_permitted(
    tx: Transaction, call: Call, project: Project, person: CustomerRow, *, sso_organization_id: UUID | None
) -> SignInRequirement:
    """Raises SsoRequired unless somebody who proved who they are may sign in this way.

    `sso_organization_id` is the organization whose connection they came by, if any. Returns what else is required.
    """
    required = await _requirement_of(tx, call.project_id, person.id)
    if not permits_sso(required, sso_organization_id, everybody=project.settings.sign_in.require_sso):
        raise await _sso_required(tx, call, next(iter(required.sso_organization_ids), None), None)
    return required


def is_multi_factor(methods: Collection[str]) -> bool:
    """Whether somebody proved themselves by more than one factor. A password and a code by mail are one."""
    return bool(SECOND_FACTORS.intersection(methods)) or VERIFIED_PASSKEY.issubset(methods)


async def requires_mfa(db: Queries, call: Call, project: Project, person: CustomerRow) -> bool:
    """Whether the project, or an organization of theirs, requires a second factor of somebody."""
    return project.settings.sign_in.require_mfa or (await _requirement_of(db, call.project_id, person.id)).mfa


def permits_sso(required: SignInRequirement, sso_organization_id: UUID | None, *, everybody: bool) -> bool:
    """Whether a session that began at that organization's connection (or at none) is enough."""
    if required.sso_organization_ids:
        return sso_organization_id in required.sso_organization_ids
    return sso_organization_id is not None or not everybody


async def requirements_all(world: "World", asked: list[tuple[UUID, UUID]]) -> list[SignInRequirement]:
    """What is required of customers (project, customer), read together for the requests that come together."""
    projects_, customers = (list(each) for each in zip(*dict.fromkeys(asked), strict=True))
    rows = await world.hooks.requirements_of_customers(world.db, projects_, customers)
    found = {(row.project_id, row.customer_id): row for row in rows}
    return [found.get(each) or _nothing(*each) for each in asked]


async def _requirement_of(db: Queries, project_id: UUID, customer_id: UUID) -> SignInRequirement:
    found = await db.hooks.requirements_of_customers(db, [project_id], [customer_id])
    return found[0] if found else _nothing(project_id, customer_id)


def _nothing(project_id: UUID, customer_id: UUID) -> SignInRequirement:
    return SignInRequirement(project_id=project_id, customer_id=customer_id, sso_organization_ids=[], mfa=False)


async def _sso_required(db: Queries, call: Call, organization_id: UUID | None, domain: str | None) -> SsoRequired:
    sign_on = await sso_entry_of_organization(db, call, organization_id, domain)
    if sign_on is None:
        problem = SsoRequired(next="Ask an administrator: the organization's single sign-on does not work now.")
        if organization_id is None:
            problem.next = "Find the connection by the address with POST …/auth/sso, and send the browser there."
    else:
        problem = SsoRequired(
            next=f"Send the browser to {sign_on.login_url} with `redirectUrl`, `codeChallenge` and `state`."
        )
    problem.sign_on = sign_on
    return problem
