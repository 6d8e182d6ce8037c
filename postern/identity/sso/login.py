"""From a genuine assertion to a customer: who that is, whether they may come in, and what they are in the organization.

One transaction decides, so two copies of an assertion make one sign-on, and a refusal leaves nothing behind.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from postern.identity.access import operations as access
from postern.identity.customers.identities import (
    AccountNotLinked,
    ExternalIdentity,
    IdentityConflict,
    IdentityHeld,
    find_or_create_customer,
)
from postern.identity.customers.identity_requests import request_identity
from postern.identity.customers.model import CustomerRow, CustomerSignUpClosed, SignInBlocked
from postern.identity.customers.providers import issue_grant
from postern.identity.customers.rules import read_email
from postern.identity.organizations.domains import owner_of_domain
from postern.identity.organizations.members import admit, give_roles, roles_in, was_removed
from postern.identity.organizations.model import TooManyOrganizationMembers
from postern.identity.organizations.rules import domain_of
from postern.identity.sso import rules, store
from postern.identity.sso.model import SIGN_ON_KEPT, SKEW_MAX_SECONDS, LoginRefusal, RequestRow
from postern.identity.sso.rules import SsoProfile
from postern.identity.sso.store import ConnectionWithOrganization
from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Invalid
from postern.kernel.values import Record, as_id, new_id
from postern.platform.events import operations as events
from postern.platform.events.model import Event, EventRange
from postern.platform.projects import operations as projects
from postern.platform.projects.quotas import PlanLimitReached
from postern.protocols.saml.response import SamlLogin
from postern.protocols.saml.trace import SsoTraceStep

SKEW = timedelta(seconds=SKEW_MAX_SECONDS)
FOLLOWED = frozenset(("customer.signed_in", "customer.deleted", "organization.deleted"))
VIA = "sso:"
"""How the event of a sign-in names the sign-on that led to it."""


class SignOnRefused(Exception):
    """The assertion is genuine, but nobody comes in by it."""

    def __init__(self, trouble: LoginRefusal, detail: str) -> None:
        super().__init__(detail)
        self.trouble = trouble
        self.detail = detail


class JudgedLogin(Record):
    """What a sign-on says, judged: the profile, and every rule that was held against it."""

    profile: SsoProfile
    email_verified: bool
    steps: list[SsoTraceStep]
    refusal: tuple[LoginRefusal, str] | None


class LoginResult(Record):
    """Somebody who may come in, and the code that the app makes a session of."""

    customer_id: UUID
    code: str


async def judge(
    db: Queries, call: Call, row: ConnectionWithOrganization, found: SamlLogin, *, test: bool
) -> JudgedLogin:
    """Hold a sign-on against the rules of its connection, all of them, without changing anything."""
    profile = rules.profile_of(found, row.options.attribute_mapping)
    email_verified = False
    try:
        email, key = read_email(profile.email or "")
        email_verified = await owner_of_domain(db, call.project_id, domain_of(key)) == row.organization_id
    except Invalid:
        email = None
    profile = replace(profile, email=email)
    checks = rules.checks_of(
        row,
        profile,
        domain_verified=row.domain_verified,
        suspended=row.organization_status != "ACTIVE",
        email_verified=email_verified,
        test=test,
    )
    refused = next((check for check in checks if check.trouble is not None), None)
    return JudgedLogin(
        profile=profile,
        email_verified=email_verified,
        steps=[SsoTraceStep(step=check.step, ok=check.trouble is None, detail=check.detail) for check in checks],
        refusal=(refused.trouble, refused.detail) if refused and refused.trouble else None,
    )


async def accept_login(
    call: Call, row: ConnectionWithOrganization, found: SamlLogin, asked: RequestRow | None, known: JudgedLogin
) -> LoginResult:
    """Let somebody in: recognise or make the customer, put them into the organization, leave a code for the app.

    Raises SignOnRefused, and then nothing has changed.
    """
    if known.refusal is not None:
        raise SignOnRefused(*known.refusal)
    try:
        try:
            return await _sign_in(call, row, found, asked, known)
        except AccountNotLinked:
            # Another sign-on may have made this person a moment ago; then the second look finds them.
            return await _sign_in(call, row, found, asked, known)
    except AccountNotLinked as problem:
        raise SignOnRefused(LoginRefusal.ACCOUNT_NOT_LINKED, problem.detail) from None
    except IdentityHeld as problem:
        await request_identity(call, problem.customer_id, _external_identity(row, known), row.id)
        raise SignOnRefused(LoginRefusal.IDENTITY_HELD, problem.detail) from None
    except IdentityConflict as problem:
        raise SignOnRefused(LoginRefusal.IDENTITY_CONFLICT, problem.detail) from None
    except CustomerSignUpClosed:
        raise SignOnRefused(LoginRefusal.SIGN_UP_CLOSED, "This connection makes no customers.") from None
    except PlanLimitReached as problem:
        raise SignOnRefused(LoginRefusal.SIGN_UP_CLOSED, problem.detail) from None
    except SignInBlocked as problem:
        raise SignOnRefused(LoginRefusal.SIGN_IN_BLOCKED, problem.detail) from None
    except TooManyOrganizationMembers as problem:
        raise SignOnRefused(LoginRefusal.TOO_MANY_MEMBERS, problem.detail) from None


async def consume_assertion_id(
    tx: Transaction, call: Call, row: ConnectionWithOrganization, found: SamlLogin, asked: RequestRow | None
) -> UUID:
    """Take an assertion, once, as the answer to its request, once. Raises SignOnRefused for every other copy."""
    sign_on_id = new_id()
    first = await store.insert_assertion_id(
        tx,
        project_id=call.project_id,
        id=sign_on_id,
        connection_id=row.id,
        issuer=found.issuer,
        assertion_id=found.assertion_id,
        until=Moment.of(found.not_on_or_after) + SKEW,
        now=call.now,
    )
    if not first or (
        asked is not None and not await store.answer_request(tx, project_id=call.project_id, id=asked.id, now=call.now)
    ):
        raise SignOnRefused(LoginRefusal.REPLAYED, "This assertion was used before.")
    return sign_on_id


async def follow_customers_in_bulk(tx: Transaction, written: EventRange) -> None:
    """React to events recorded by the thousand: people come in and go one by one, and so do organizations."""
    assert not FOLLOWED & set(written.types)


async def follow_customers(tx: Transaction, found: list[Event]) -> None:
    """React to sign-ins that a sign-on led to: a logout elsewhere then finds the session. Erased people leave, and a
    deleted organization signs nobody on.

    Of somebody erased, the assertion's own identifier stays as long as it could be used again.
    """
    for event in found:
        if event.type == "organization.deleted" and event.subject_id:
            # The rows go later; another organization may prove the domain and serve it at once.
            gone, now = [event.subject_id], event.occurred_at
            await store.switch_off(tx, project_id=event.project_id, organization_ids=gone, now=now)
        if event.type == "customer.deleted" and event.subject_id:
            await store.erase_people(tx, project_id=event.project_id, customer_ids=[event.subject_id])
            await store.forget_traces_naming(tx, project_id=event.project_id, customer_ids=[event.subject_id])
        via = event.data.get("via")
        if event.type == "customer.signed_in" and event.subject_id and isinstance(via, str) and via.startswith(VIA):
            await store.set_session(
                tx,
                project_id=event.project_id,
                id=as_id(via.removeprefix(VIA)),
                customer_id=event.subject_id,
                session_id=as_id(event.data["sessionId"]),
            )


async def _sign_in(
    call: Call, row: ConnectionWithOrganization, found: SamlLogin, asked: RequestRow | None, known: JudgedLogin
) -> LoginResult:
    project = await projects.require_project(call.db, call.project_id)
    profile = known.profile
    options = row.options
    async with call.db.transaction() as tx:
        sign_on_id = await consume_assertion_id(tx, call, row, found, asked)
        person = await find_or_create_customer(
            tx,
            call,
            project,
            _external_identity(row, known),
            may_sign_up=options.create_customers,
            hold=options.on_new_subject == "HOLD",
        )
        if person.is_banned(call.now):
            raise SignInBlocked
        roles = await _add_to_organization(tx, call, row, person, profile)
        await store.set_customer(
            tx,
            project_id=call.project_id,
            id=sign_on_id,
            customer_id=person.id,
            name_id=found.name_id,
            name_id_format=found.format,
            session_index=found.session_index,
            until=call.now + SIGN_ON_KEPT,
        )
        said: dict[str, Any] = {"organizationId": str(row.organization_id), "customerId": str(person.id)}
        await events.record(tx, call, "sso.signed_in", row.id, **said, roles=roles)
        challenge = asked.code_challenge if asked else None
        ends = found.session_not_on_or_after
        # The session here ends with the one there at the latest (SAML profiles §4.1.4.3).
        until = Moment.of(ends + timedelta(seconds=row.options.clock_skew_seconds)) if ends else None
        code = await issue_grant(
            tx,
            call,
            person,
            challenge,
            methods=["fed", "mfa"] if rules.is_multi_factor(row, found) else ["fed"],
            via=f"{VIA}{sign_on_id}",
            until=until,
            sso_organization_id=row.organization_id,
        )
    return LoginResult(customer_id=person.id, code=code)


def _external_identity(row: ConnectionWithOrganization, known: JudgedLogin) -> ExternalIdentity:
    """What the identity provider says about the person who signed on."""
    profile = known.profile
    return ExternalIdentity(
        provider="SAML",
        issuer=issuer_of(row),
        subject=profile.subject or "",
        email=profile.email,
        email_verified=known.email_verified,
        name=profile.name,
    )


async def _add_to_organization(
    tx: Transaction, call: Call, row: ConnectionWithOrganization, person: CustomerRow, profile: SsoProfile
) -> list[str]:
    """Make the person a member, and let the roles that groups give follow the groups. Returns the roles."""
    held = await roles_in(tx, call, row.organization_id, person.id)
    known = await access.role_keys(tx, call.project_id, "ORGANIZATION")
    roles = rules.roles_for(
        held,
        profile.groups,
        default_roles=row.options.default_roles,
        group_roles=row.options.group_roles,
        known=known,
    )
    if held is None:
        here = row.organization_id
        if await was_removed(tx, call, here, person.id):
            return []  # They sign in, but become no member again until somebody invites or adds them.
        await admit(tx, call.project_id, here, person.id, roles, "SSO", call.now, call.caller)
        return roles
    if sorted(roles) == sorted(held):
        return held
    return await give_roles(tx, call, row.organization_id, person.id, roles)


def issuer_of(row: ConnectionWithOrganization) -> str:
    """What a person's subject is unique under: the provider as this connection knows it.

    An entity id alone is no proof: whoever sets up another connection can write the same one there.
    """
    return f"{row.id} {row.idp_entity_id}"
