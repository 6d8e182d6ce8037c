"""Sign-in of a customer by a valid assertion or ID token: checks, the customer, and roles in the organization.

Everything happens in one transaction, so that an assertion can be used only once and a refused sign-on changes
nothing.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from postern.identity.access import operations as access
from postern.identity.customers.challenge_payloads import SignInContext
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
from postern.identity.customers.rules import is_banned, read_email
from postern.identity.organizations.domains import owner_of_domain
from postern.identity.organizations.members import join_without_call, replace_roles, roles_in, was_removed
from postern.identity.organizations.model import TooManyOrganizationMembers
from postern.identity.organizations.rules import domain_of
from postern.identity.sso import rules, store
from postern.identity.sso.model import (
    SIGN_ON_RETENTION,
    SKEW_MAX_SECONDS,
    LoginRefusal,
    ProvenSignOn,
    RequestRow,
    SsoProfile,
)
from postern.identity.sso.store import ConnectionWithOrganization
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Invalid
from postern.kernel.values import Moment, Record, as_id, new_id
from postern.platform.events import operations as events
from postern.platform.events.model import EventRow
from postern.platform.projects import operations as projects
from postern.platform.projects.quotas import PlanLimitReached
from postern.protocols.saml.trace import SsoTraceStep

SKEW = timedelta(seconds=SKEW_MAX_SECONDS)
VIA_PREFIX = "sso:"
"""Prefix of `via` in events of sign-ins by single sign-on; the id of the sign-on follows."""


class SignOnRefused(Exception):
    """The sign-on is refused although the assertion is valid."""

    def __init__(self, reason: LoginRefusal, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class CheckedLogin(Record):
    """The profile in an assertion and the results of all checks. `refusal` is the first failed check, or None."""

    profile: SsoProfile
    email_verified: bool
    steps: list[SsoTraceStep]
    refusal: tuple[LoginRefusal, str] | None


class LoginResult(Record):
    """The customer, and the code that the app exchanges for a session."""

    customer_id: UUID
    code: str


async def check_login(
    db: Queries, call: Call, row: ConnectionWithOrganization, sign_on: ProvenSignOn, *, test: bool
) -> CheckedLogin:
    """Evaluate all checks of a sign-on with a valid assertion or ID token. Changes nothing. With `test`, the connection
    need not be active."""
    profile = sign_on.profile
    email_verified = False
    try:
        email, email_key = read_email(profile.email or "")
        is_own_domain = await owner_of_domain(db, call.project_id, domain_of(email_key)) == row.organization_id
        email_verified = is_own_domain and not sign_on.email_denied
    except Invalid:
        email = None
    profile = replace(profile, email=email)
    checks = rules.checks_of(
        row,
        sign_on,
        profile,
        domain_verified=row.domain_verified,
        suspended=row.organization_status != "ACTIVE",
        email_verified=email_verified,
        test=test,
    )
    failed_check = next((check for check in checks if check.refusal is not None), None)
    return CheckedLogin(
        profile=profile,
        email_verified=email_verified,
        steps=[SsoTraceStep(step=check.step, ok=check.refusal is None, detail=check.detail) for check in checks],
        refusal=(failed_check.refusal, failed_check.detail) if failed_check and failed_check.refusal else None,
    )


async def accept_login(
    call: Call,
    row: ConnectionWithOrganization,
    sign_on: ProvenSignOn,
    request_row: RequestRow | None,
    checked_login: CheckedLogin,
) -> LoginResult:
    """Find or create the customer, update the membership, record `sso.signed_in`, and create a code for the app.

    Raises SignOnRefused if a check failed or the customer cannot sign in. In that case nothing changes, except that an
    identity which an administrator must approve (`onNewSubject` is HOLD) is stored as an identity request.
    """
    if checked_login.refusal is not None:
        raise SignOnRefused(*checked_login.refusal)
    try:
        try:
            return await _sign_in(call, row, sign_on, request_row, checked_login)
        except AccountNotLinked:
            # A concurrent sign-on may have created the customer; the second attempt then finds that customer.
            return await _sign_in(call, row, sign_on, request_row, checked_login)
    except AccountNotLinked as problem:
        raise SignOnRefused(LoginRefusal.ACCOUNT_NOT_LINKED, problem.detail) from None
    except IdentityHeld as problem:
        await request_identity(call, problem.customer_id, _external_identity(row, checked_login), row.id)
        raise SignOnRefused(LoginRefusal.IDENTITY_HELD, problem.detail) from None
    except IdentityConflict as problem:
        raise SignOnRefused(LoginRefusal.IDENTITY_CONFLICT, problem.detail) from None
    except CustomerSignUpClosed:
        raise SignOnRefused(LoginRefusal.SIGN_UP_CLOSED, "This connection does not create customers.") from None
    except PlanLimitReached as problem:
        raise SignOnRefused(LoginRefusal.SIGN_UP_CLOSED, problem.detail) from None
    except SignInBlocked as problem:
        raise SignOnRefused(LoginRefusal.SIGN_IN_BLOCKED, problem.detail) from None
    except TooManyOrganizationMembers as problem:
        raise SignOnRefused(LoginRefusal.TOO_MANY_MEMBERS, problem.detail) from None


async def consume_assertion_id(
    tx: Transaction, call: Call, row: ConnectionWithOrganization, sign_on: ProvenSignOn, request_row: RequestRow | None
) -> UUID:
    """Store a sign-on, which marks the assertion as used, and mark the request as answered. Returns the id of the
    sign-on. Raises SignOnRefused if the assertion was used or the request was answered before."""
    sign_on_id = new_id()
    is_first_use = await store.insert_assertion_id(
        tx,
        project_id=call.project_id,
        id=sign_on_id,
        connection_id=row.id,
        issuer=sign_on.issuer,
        assertion_id=sign_on.message_id,
        created_at=call.now,
        due_at=Moment.of(sign_on.not_on_or_after) + SKEW,
    )
    if not is_first_use or (
        request_row is not None
        and not await store.mark_request_answered(tx, project_id=call.project_id, id=request_row.id, now=call.now)
    ):
        raise SignOnRefused(LoginRefusal.REPLAYED, "This assertion has been used before.")
    return sign_on_id


async def on_sign_ins(tx: Transaction, sign_ins: list[EventRow]) -> None:
    """Store the session of each sign-in by single sign-on in the row of its sign-on, where single logout finds it. Runs
    in the transaction that records the sign-ins."""
    for event in sign_ins:
        via = event.data.get("via")
        if event.subject_id and isinstance(via, str) and via.startswith(VIA_PREFIX):
            await store.set_session(
                tx,
                project_id=event.project_id,
                id=as_id(via.removeprefix(VIA_PREFIX)),
                customer_id=event.subject_id,
                session_id=as_id(event.data["sessionId"]),
            )


async def on_deletions(tx: Transaction, deletions: list[EventRow]) -> None:
    """React to deletions of customers and organizations, in the transaction that records them.

    When a customer is deleted, erases the customer from sign-ons and deletes traces (recorded checks of SAML
    messages) with the customer's address. When an organization is deleted, deactivates its connections.

    Assertion ids of erased customers are kept until the assertions expire, to prevent replay.
    """
    for event in deletions:
        if event.type == "organization.deleted" and event.subject_id:
            # The rows are deleted later, but another organization may verify and use the domain at once.
            organization_ids, now = [event.subject_id], event.occurred_at
            await store.deactivate_connections(
                tx, project_id=event.project_id, organization_ids=organization_ids, now=now
            )
        if event.type == "customer.deleted" and event.subject_id:
            await store.erase_customers(tx, project_id=event.project_id, customer_ids=[event.subject_id])
            await store.delete_traces_mentioning(tx, project_id=event.project_id, customer_ids=[event.subject_id])


async def _sign_in(
    call: Call,
    row: ConnectionWithOrganization,
    sign_on: ProvenSignOn,
    request_row: RequestRow | None,
    checked_login: CheckedLogin,
) -> LoginResult:
    project = await projects.require_project(call.db, call.project_id)
    profile = checked_login.profile
    options = row.options
    async with call.db.transaction() as tx:
        sign_on_id = await consume_assertion_id(tx, call, row, sign_on, request_row)
        customer = await find_or_create_customer(
            tx,
            call,
            project,
            _external_identity(row, checked_login),
            may_sign_up=options.create_customers,
            hold=options.on_new_subject == "HOLD",
        )
        if is_banned(customer, call.now):
            raise SignInBlocked
        roles = await _add_to_organization(tx, call, row, customer, profile)
        await store.set_customer(
            tx,
            project_id=call.project_id,
            id=sign_on_id,
            customer_id=customer.id,
            name_id=sign_on.name_id,
            name_id_format=sign_on.name_id_format,
            session_index=sign_on.session_index,
            logout_hint=sign_on.logout_hint,
            until=call.now + SIGN_ON_RETENTION,
        )
        details: dict[str, Any] = {"organizationId": str(row.organization_id), "customerId": str(customer.id)}
        await events.record(tx, call, "sso.signed_in", row.id, **details, roles=roles)
        code_challenge = request_row.code_challenge if request_row else None
        code = await issue_grant(
            tx,
            call,
            customer,
            code_challenge,
            methods=["fed", "mfa"] if sign_on.multi_factor else ["fed"],
            context=SignInContext(
                via=f"{VIA_PREFIX}{sign_on_id}",
                until=None if sign_on.session_end is None else sign_on.session_end.timestamp(),
                sso_organization_id=row.organization_id,
            ),
        )
    return LoginResult(customer_id=customer.id, code=code)


def _external_identity(row: ConnectionWithOrganization, checked_login: CheckedLogin) -> ExternalIdentity:
    """The identity of the user at the identity provider."""
    profile = checked_login.profile
    return ExternalIdentity(
        provider="SAML" if row.kind == "SAML" else "SSO_OIDC",
        issuer=issuer_of(row),
        subject=profile.subject or "",
        email=profile.email,
        email_verified=checked_login.email_verified,
        name=profile.name,
    )


async def _add_to_organization(
    tx: Transaction, call: Call, row: ConnectionWithOrganization, customer: CustomerRow, profile: SsoProfile
) -> list[str]:
    """Add the customer as member, or update the roles that depend on groups. Returns the member's roles; empty if the
    customer was removed from the organization, and so is not added."""
    current_roles = await roles_in(tx, call, row.organization_id, customer.id)
    role_keys = await access.role_keys(tx, call.project_id, "ORGANIZATION")
    roles = rules.roles_after_sign_on(
        current_roles,
        profile.groups,
        default_roles=row.options.default_roles,
        group_roles=row.options.group_roles,
        existing_roles=role_keys,
    )
    if current_roles is None:
        organization_id = row.organization_id
        if await was_removed(tx, call, organization_id, customer.id):
            return []  # A removed member can sign in, but becomes a member again only by invitation or addition.
        await join_without_call(tx, call.project_id, organization_id, customer.id, roles, "SSO", call.now, call.caller)
        return roles
    if sorted(roles) == sorted(current_roles):
        return current_roles
    return await replace_roles(tx, call, row.organization_id, customer.id, roles)


def issuer_of(row: ConnectionWithOrganization) -> str:
    """The `issuer` of external identities from a connection: the id of the connection and the entity id or issuer of
    the identity provider, because another connection can have the same one.
    """
    return f"{row.id} {row.idp_entity_id}"
