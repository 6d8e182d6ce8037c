"""Who may sign up, and what a project and its organizations require of a sign-in by any method.

The packages organizations and sso depend on this one, so this one cannot import them. It calls them through `hooks`
(`world.Hooks`), whose types are the callables below.
"""

from collections.abc import Awaitable, Callable, Collection
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from postern.identity.customers import provider_store, requirement_store
from postern.identity.customers.model import SSO_PROVIDERS, CustomerRow
from postern.identity.customers.requirement_store import SignInRequirement
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Conflict, Forbidden
from postern.kernel.values import Moment, Record
from postern.platform.projects.model import Project
from postern.security import passkeys

if TYPE_CHECKING:
    from postern.world import World


class SsoChoice(Record):
    """A single sign-on connection as a sign-in page shows it: its name, and the URL at which a browser starts a sign-in
    with it."""

    name: str
    login_url: str


class SsoEntry(SsoChoice):
    """The single sign-on connection for an address."""

    choices: list[SsoChoice] = []
    """If the organization has several connections and none of them is for the domain of the address: all of them, so
    that the person can choose. Otherwise empty."""


class SsoRequired(Forbidden):
    """People with this address can sign in only through the single sign-on of their organization."""

    sign_on: SsoEntry | None = None
    """The single sign-on connection to sign in with; null if none is active."""


class SignInMethodNotAllowed(Forbidden):
    """An organization that you belong to does not allow this sign-in method. `next` has those that are allowed."""


class MfaStillRequired(Conflict):
    """A second factor is required, so the last one cannot be removed."""

    next = "If it is lost, ask an administrator to reset it; the next sign-in then sets up a new one."


# The code is part of the public API.
class LastSignInMethod(Conflict, code="last_sign_in_method"):
    """This is the only sign-in method of the account: set a password or add another method first."""


SsoEntryOfAddress = Callable[[Call, str], Awaitable[SsoEntry | None]]
"""Takes an e-mail address; returns the single sign-on connection for its domain, or None."""
HasActiveSso = Callable[[Call], Awaitable[bool]]
"""Whether the project has an active single sign-on connection."""
HasWorkingSsoAccount = Callable[[Queries, UUID, UUID], Awaitable[bool]]
"""Takes the ids of a project and a customer; returns whether the customer can sign in now with a linked account of a
single sign-on connection."""
SsoEntryOfOrganization = Callable[[Queries, Call, UUID, str | None], Awaitable[SsoEntry | None]]
"""Takes the id of an organization, and a domain or None; returns a single sign-on connection of the organization by
which members can sign in now, preferably the one for the domain, or None."""
IsInvited = Callable[[Queries, UUID, str, Moment], Awaitable[bool]]
"""Takes the id of a project, an address as its `email_key` (`CustomerRow.email_key`) and the time; returns whether the
address has an invitation in the project that can be accepted now."""

SECOND_FACTORS = frozenset(("totp", "recovery", "mfa"))
"""Authentication methods (`amr`) that make a sign-in multi-factor. `mfa` (RFC 8176) is recorded for a single sign-on
that counts as multi-factor (`sso.rules.is_multi_factor`)."""
VERIFIED_PASSKEY = frozenset(("hwk", "user"))
"""The methods of a sign-in by a passkey that verified the user (by a PIN or biometrics), which is two factors at once.
A passkey that only tested the user's presence is recorded as `hwk` alone (`passkeys.VerifiedAssertion.methods`).

RFC 8176 defines `user` as a test of presence and has no value for user verification. Postern itself records these
values, and does not take them from identity providers, so `user` always means verification here."""


async def is_sign_up_open(db: Queries, call: Call, project: Project, email_key: str) -> bool:
    """Whether an address without an account may sign up: the project has sign-up open, or the address is invited."""
    return project.settings.sign_in.sign_up or await db.hooks.is_invited(db, call.project_id, email_key, call.now)


async def reject_if_sso_required(call: Call, project: Project, email_key: str | None) -> None:
    """Raise SsoRequired if an organization requires single sign-on for the address, or the project for all customers.

    If `email_key` is None, only the project's setting counts. Call this before the customer is looked up: only the
    domain of the address matters, so that the response does not reveal whether the address has an account.
    """
    domain = None if email_key is None else email_key.rpartition("@")[2]
    organization_id = None
    if domain is not None:
        organization_id = await requirement_store.organization_requiring_sso(
            call.db, project_id=call.project_id, domain=domain
        )
    await reject_for_organization(call, project, organization_id, domain)


async def reject_for_organization(
    call: Call, project: Project, organization_id: UUID | None, domain: str | None
) -> None:
    """Like `reject_if_sso_required`, if the caller has read `organization_id`, the organization that requires single
    sign-on for addresses at `domain`."""
    if organization_id is not None or project.settings.sign_in.require_sso:
        raise await _sso_required(call.db, call, organization_id, domain)


async def check_sso_requirement(
    tx: Transaction,
    call: Call,
    project: Project,
    customer: CustomerRow,
    *,
    sso_organization_id: UUID | None,
    required: SignInRequirement | None = None,
) -> SignInRequirement:
    """Check that a sign-in meets the requirement of single sign-on, and return all requirements of the customer's
    organizations; the caller must check the second factor. `required` are these requirements, if they were read
    already.

    `sso_organization_id` is the organization whose single sign-on the customer has used, or None. Raises SsoRequired
    in two cases: organizations require single sign-on, and `sso_organization_id` is not one of them; or only the
    project requires it, and `sso_organization_id` is None.
    """
    if required is None:
        required = await requirement_of(tx, call.project_id, customer.id)
    if not meets_sso_requirement(
        required, sso_organization_id, project_requires_sso=project.settings.sign_in.require_sso
    ):
        raise await _sso_required(tx, call, next(iter(required.sso_organization_ids), None), None)
    return required


def is_multi_factor(methods: Collection[str]) -> bool:
    """Whether a sign-in used more than one factor. A password and a mailed code together count as one."""
    return bool(SECOND_FACTORS.intersection(methods)) or VERIFIED_PASSKEY.issubset(methods)


async def requires_mfa(db: Queries, call: Call, project: Project, customer: CustomerRow) -> bool:
    """Whether the project or an organization of the customer requires a second factor."""
    return project.settings.sign_in.require_mfa or (await requirement_of(db, call.project_id, customer.id)).mfa


async def require_another_sign_in_method(
    tx: Transaction, call: Call, project: Project, customer: CustomerRow, provider: str
) -> None:
    """Raise LastSignInMethod if the customer has no sign-in method other than `provider`.

    `provider` is the key of a sign-in provider, or PASSKEY. Methods and providers that the project has switched off do
    not count, nor do accounts of single sign-on connections with which nobody can sign in now.
    """
    if not await _has_another_sign_in_method(tx, call, project, customer, provider):
        raise LastSignInMethod


METHODS_OF_AMR: dict[str, str] = {"pwd": "PASSWORD", "otp": "EMAIL_CODE", "link": "EMAIL_LINK", "hwk": "PASSKEY"}
"""The sign-in method that each value of `amr` stands for; `fed` is SSO or SOCIAL, and others are second factors."""


def meets_rules(required: SignInRequirement, methods: Collection[str], sso_organization_id: UUID | None) -> bool:
    """Whether all organizations of a customer allow one of the methods (`amr`) of a sign-in. That of any organization
    that allows SSO counts as SSO in all of them, as with `requireSso`."""
    restricting = [rules for rules in required.rules if rules.allowed_methods is not None]
    used = {METHODS_OF_AMR[method] for method in methods if method in METHODS_OF_AMR}
    if "fed" in methods and sso_organization_id is None:
        used.add("SOCIAL")
    if sso_organization_id in {
        rules.organization_id for rules in restricting if "SSO" in (rules.allowed_methods or [])
    }:
        used.add("SSO")
    return all(used.intersection(rules.allowed_methods or []) for rules in restricting)


def check_rules(required: SignInRequirement, methods: Collection[str], sso_organization_id: UUID | None) -> None:
    """Raise SignInMethodNotAllowed if an organization of the customer does not allow the methods of a sign-in. Call
    this after the customer has proved who they are, because the response reveals what organizations allow."""
    if meets_rules(required, methods, sso_organization_id):
        return
    allowed_lists = [rules.allowed_methods for rules in required.rules if rules.allowed_methods is not None]
    allowed = [method for method in allowed_lists[0] if all(method in others for others in allowed_lists)]
    listed = ", ".join(allowed)
    next_step = (
        f"Sign in by one of: {listed}."
        if allowed
        else "Ask an administrator: the organizations of this account allow no sign-in method in common."
    )
    raise SignInMethodNotAllowed(next=next_step)


def session_limits(required: SignInRequirement) -> tuple[timedelta | None, timedelta | None]:
    """How long sessions of a customer last after the sign-in and without use: the shortest of all organizations of the
    customer, or None for no limit."""
    lifetimes = [rules.session_lifetime_minutes for rules in required.rules if rules.session_lifetime_minutes]
    idle_times = [rules.session_idle_minutes for rules in required.rules if rules.session_idle_minutes]
    return (
        timedelta(minutes=min(lifetimes)) if lifetimes else None,
        timedelta(minutes=min(idle_times)) if idle_times else None,
    )


def meets_sso_requirement(
    required: SignInRequirement, sso_organization_id: UUID | None, *, project_requires_sso: bool
) -> bool:
    """Whether a session that began with the single sign-on of the organization `sso_organization_id`, or with another
    method if it is None, meets the requirement of single sign-on."""
    if required.sso_organization_ids:
        return sso_organization_id in required.sso_organization_ids
    return sso_organization_id is not None or not project_requires_sso


async def read_requirements(world: "World", subjects: list[tuple[UUID, UUID]]) -> list[SignInRequirement]:
    """The requirements for customers, in the order of `subjects` (pairs of project id and customer id).

    They are read in one statement. A customer without requirements gets a SignInRequirement that requires nothing.
    `subjects` must not be empty (ValueError).
    """
    project_ids, customer_ids = (list(ids) for ids in zip(*dict.fromkeys(subjects), strict=True))
    rows = await requirement_store.requirements(world.db, project_ids=project_ids, customer_ids=customer_ids)
    requirements = {(row.project_id, row.customer_id): row for row in rows}
    return [requirements.get(subject) or _no_requirement(*subject) for subject in subjects]


async def requirement_of(db: Queries, project_id: UUID, customer_id: UUID) -> SignInRequirement:
    """The requirements for a customer, read with `db`: in a transaction, `read_requirements` cannot be used."""
    requirements = await requirement_store.requirements(db, project_ids=[project_id], customer_ids=[customer_id])
    return requirements[0] if requirements else _no_requirement(project_id, customer_id)


def _no_requirement(project_id: UUID, customer_id: UUID) -> SignInRequirement:
    return SignInRequirement(
        project_id=project_id, customer_id=customer_id, sso_organization_ids=[], mfa=False, rules=[]
    )


async def _sso_required(db: Queries, call: Call, organization_id: UUID | None, domain: str | None) -> SsoRequired:
    connection = None
    if organization_id is not None:
        connection = await db.hooks.sso_entry_of_organization(db, call, organization_id, domain)
    if connection is not None:
        next_step = f"Send the browser to {connection.login_url} with `redirectUrl`, `codeChallenge` and `state`."
    elif organization_id is not None:
        next_step = "Ask an administrator: the organization has no single sign-on connection that can be used now."
    else:
        next_step = "Look up the address with POST …/auth/sso, and send the browser to the returned `loginUrl`."
    problem = SsoRequired(next=next_step)
    problem.sign_on = connection
    return problem


async def _has_another_sign_in_method(
    tx: Transaction, call: Call, project: Project, customer: CustomerRow, provider: str
) -> bool:
    methods = set(project.settings.sign_in.methods)
    if customer.password_hash is not None and "PASSWORD" in methods:
        return True
    if customer.email is not None and {"EMAIL_CODE", "EMAIL_LINK"} & methods:
        return True
    if provider != "PASSKEY" and "PASSKEY" in methods and await passkeys.passkeys_of(tx, customer.subject):
        return True
    if set(SSO_PROVIDERS) & set(customer.providers) and await tx.hooks.has_working_sso_account(
        tx, call.project_id, customer.id
    ):
        return True
    enabled = {row.key for row in await provider_store.providers(tx, project_id=call.project_id) if row.enabled}
    return not enabled.isdisjoint(set(customer.providers) - {provider})
