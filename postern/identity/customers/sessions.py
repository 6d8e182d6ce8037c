"""Operations of customers on their own account and sessions, and the revocation of sessions."""

import dataclasses
from uuid import UUID

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from postern.identity.access import operations as access
from postern.identity.customers import rules, store
from postern.identity.customers.authentication_levels import MULTI_FACTOR
from postern.identity.customers.model import (
    CUSTOMER,
    FRESH_SIGN_IN_AGE,
    SESSIONS_LIMIT,
    CustomerRow,
    CustomerSession,
    NotFresh,
    PersonName,
    step_up_challenge,
)
from postern.identity.customers.requirements import is_multi_factor
from postern.identity.customers.token_authentication import AuthenticatedCustomer
from postern.identity.customers.tokens import CurrentCustomer, me_of
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call, CredentialInvalid
from postern.kernel.http.operation import delete, get, patch, post
from postern.kernel.values import Body, Record, build_view
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.security import challenges, session_store
from postern.security.session_store import SessionRow
from postern.security.sessions import OwnSession, SessionMissing, own_session
from postern.web.language_tags import LanguageTag


class MyOrganizationPermissions(Record):
    """The roles and permissions of the signed-in customer in the active organization."""

    id: UUID
    roles: list[str]
    permissions: list[str]
    """Keys of all permissions in this organization, sorted: from its roles, and from project roles that apply to all
    organizations."""


class MyPermissions(Record):
    """All permissions of the signed-in customer."""

    permissions: list[str]
    """Keys of the permissions that the project roles grant, sorted."""
    organization: MyOrganizationPermissions | None
    """The active organization of the access token; null without one."""


class CurrentCustomerChange(Body):
    """Changes to a customer's own account. Omitted fields keep their values; null removes them."""

    name: PersonName | None | UnsetType = UNSET
    language: LanguageTag | None | UnsetType = UNSET
    """The language that you read. Mails and the account page are in it, if they exist in it."""


@post("/projects/{project_id}/auth/sign-out", accepts=CUSTOMER, restricted=True)
async def sign_out_customer(call: Call) -> None:
    """End this session. Its tokens are rejected from the next request on."""
    customer_id, session_id = bearer_of(call)
    async with call.db.transaction() as tx:
        if await session_store.revoke_session(
            tx, project_id=call.project_id, subject_id=customer_id, id=session_id, now=call.now
        ):
            await events.record(tx, call, "customer.signed_out", customer_id, sessionId=str(session_id))
            if (impersonation := _authenticated(call).impersonation) is not None:
                await audit.record(
                    *(tx, call, "customer.impersonation_ended", "Customer", customer_id),
                    session_id=str(session_id),
                    actor=impersonation.actor_label,
                )


@get("/projects/{project_id}/auth/me", accepts=CUSTOMER, restricted=True)
async def get_current_customer(call: Call) -> CurrentCustomer:
    """The customer that the access token belongs to."""
    return _me(call, customer_of(call))


@patch(
    "/projects/{project_id}/auth/me",
    accepts=CUSTOMER,
    restricted=True,
    example={"name": "Ada Lovelace", "language": "en"},
)
async def change_current_customer(call: Call, data: CurrentCustomerChange) -> CurrentCustomer:
    """Change your name or language. Omitted fields keep their values; null removes one. Honours `If-Match`."""
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        call.require_match(customer.updated_at)
        name = customer.name if data.name is UNSET else data.name
        language = customer.language if data.language is UNSET else data.language
        before = customer
        changed = [
            field for field, value in (("name", name), ("language", language)) if value != getattr(before, field)
        ]
        if changed:
            customer = await store.set_profile(tx, replace(customer, name=name, language=language), now=call.now)
            await events.record(tx, call, "customer.updated", customer.id, changed=changed)
            if (impersonation := _authenticated(call).impersonation) is not None:  # The event names the customer.
                await audit.record(
                    *(tx, call, "customer.updated", "Customer", customer.id),
                    changed=changed,
                    session_id=str(bearer_of(call)[1]),
                    actor=impersonation.actor_label,
                )
    return _me(call, customer)


@get("/projects/{project_id}/auth/permissions", accepts=CUSTOMER, restricted=True)
async def list_my_permissions(call: Call) -> MyPermissions:
    """All your permissions: in the project, and in the active organization of the access token.

    The claim `permissions_url` of an access token has the URL of this operation if a list of permissions is too large
    for the token. `organization` is null without an active organization, if you are no longer a member of it, and while
    it is suspended.
    """
    customer_id, _ = bearer_of(call)
    organization_id = active_organization(call)
    granted = await access.granted_permissions(call.db, call.project_id, customer_id, organization_id)
    organization = None
    if organization_id is not None and granted.organization_roles is not None:
        organization = MyOrganizationPermissions(
            id=organization_id,
            roles=granted.organization_roles,
            permissions=granted.organization_permissions or [],
        )
    return MyPermissions(permissions=granted.permissions, organization=organization)


@get("/projects/{project_id}/auth/sessions", accepts=CUSTOMER, restricted=True)
async def list_my_sessions(call: Call) -> list[OwnSession]:
    """Your sessions, newest first."""
    customer_id, session_id = bearer_of(call)
    rows = await session_store.live_sessions(
        call.db, project_id=call.project_id, subject_ids=[customer_id], now=call.now, limit=SESSIONS_LIMIT
    )
    return [own_session(row, session_id) for row in rows]


@delete("/projects/{project_id}/auth/sessions/{session_id}", accepts=CUSTOMER, problems=[SessionMissing])
async def revoke_my_session(call: Call, session_id: UUID) -> None:
    """End one of your sessions."""
    customer_id, _ = bearer_of(call)
    async with call.db.transaction() as tx:
        await end_session(tx, call, customer_id, session_id)


@post("/projects/{project_id}/auth/sessions/revoke-others", accepts=CUSTOMER)
async def revoke_my_other_sessions(call: Call) -> None:
    """End all your sessions except this one."""
    customer_id, session_id = bearer_of(call)
    async with call.db.transaction() as tx:
        await end_sessions(tx, call, customer_id, except_session_id=session_id)


async def end_session(tx: Transaction, call: Call, customer_id: UUID, session_id: UUID) -> None:
    """End a session of a customer and record `customer.session_revoked`.

    Raises SessionMissing if the customer has no such session, or it has ended.
    """
    if not await session_store.revoke_session(
        tx, project_id=call.project_id, subject_id=customer_id, id=session_id, now=call.now
    ):
        raise SessionMissing
    await events.record(tx, call, "customer.session_revoked", customer_id, sessionId=str(session_id))


async def end_sessions(tx: Transaction, call: Call, customer_id: UUID, *, except_session_id: UUID | None = None) -> int:
    """End all sessions of a customer except `except_session_id`, and record `customer.session_revoked` for each.

    Also deletes the customer's open challenges: pending sign-ins, and codes and links that were mailed. Returns how
    many sessions ended.
    """
    ended = await session_store.revoke_all(
        tx, project_id=call.project_id, subject_id=customer_id, except_id=except_session_id, now=call.now
    )
    await challenges.revoke(tx, call.project_id, customer_id)
    for session_id in ended:
        await events.record(tx, call, "customer.session_revoked", customer_id, sessionId=str(session_id))
    return len(ended)


async def end_sessions_of_organization(tx: Transaction, call: Call, customer_id: UUID, organization_id: UUID) -> int:
    """End the sessions of a customer in which an organization is active, or that began with its single sign-on.

    Records `customer.session_revoked` for each, and deletes the customer's open challenges, as `end_sessions` does.
    Returns how many sessions ended.
    """
    ended = await session_store.revoke_for_organization(
        tx, project_id=call.project_id, subject_id=customer_id, organization_id=organization_id, now=call.now
    )
    await challenges.revoke(tx, call.project_id, customer_id)
    for session_id in ended:
        await events.record(
            tx, call, "customer.session_revoked", customer_id, sessionId=str(session_id), reason="DEPROVISIONED"
        )
    return len(ended)


def _me(call: Call, customer: CustomerRow) -> CurrentCustomer:
    impersonation = _authenticated(call).impersonation
    actor = None if impersonation is None else impersonation.actor_label
    return me_of(customer, active_organization(call), impersonated_by=actor)


def bearer_of(call: Call) -> tuple[UUID, UUID]:
    """The ids of the calling customer and of their session."""
    assert call.caller.actor_id is not None
    assert call.caller.credential_id is not None
    return call.caller.actor_id, call.caller.credential_id


def call_of_customer(call: Call, customer: CustomerRow, session_id: UUID, organization_id: UUID | None) -> Call:
    """The call as if this customer had sent it with the access token of a session, for pages whose cookie names the
    session. The caller has checked that the session is live and the customer not banned."""
    caller = rules.caller_for(call, customer.id, session_id=session_id)
    # Who acts as a customer has tokens only, and no session of a browser.
    loaded = AuthenticatedCustomer(customer, organization_id, impersonation=None)
    return dataclasses.replace(call, caller=dataclasses.replace(caller, acts_on_itself=True, loaded=loaded))


def customer_of(call: Call) -> CustomerRow:
    """The calling customer, as read when the request was authenticated."""
    return _authenticated(call).customer


def active_organization(call: Call) -> UUID | None:
    """The id of the active organization in the calling customer's access token."""
    return _authenticated(call).organization_id


def _authenticated(call: Call) -> AuthenticatedCustomer:
    assert isinstance(call.caller.loaded, AuthenticatedCustomer)
    return call.caller.loaded


async def lock_calling_customer(tx: Transaction, call: Call) -> CustomerRow:
    """Lock the rows of the calling customer and of their session (for update), and return the customer.

    Raises CredentialInvalid if, since the request was authenticated, the session has ended or a ban has begun.
    """
    customer_id, session_id = bearer_of(call)
    customer = await store.lock_customer(tx, project_id=call.project_id, id=customer_id)
    session = await session_store.lock_session(tx, project_id=call.project_id, id=session_id)
    if customer is None or session is None or not session.is_live(call.now) or rules.is_banned(customer, call.now):
        raise CredentialInvalid
    return customer


async def require_fresh(tx: Transaction, call: Call) -> None:
    """Raise NotFresh unless the caller has authenticated within the last hour (FRESH_SIGN_IN_AGE), with the second
    factor if it is on: a session that began without it, on a remembered device, must step up first."""
    customer_id, session_id = bearer_of(call)
    session = await session_store.lock_session(tx, project_id=call.project_id, id=session_id)
    if session is None:
        raise NotFresh
    is_strong = is_multi_factor(session.methods)
    if not is_strong:
        customer = await store.get_customer(tx, project_id=call.project_id, id=customer_id)
        is_strong = customer is None or customer.mfa_enabled_at is None
    if not is_strong:
        problem = NotFresh()
        problem.challenge = step_up_challenge(int(FRESH_SIGN_IN_AGE.total_seconds()), MULTI_FACTOR)
        raise problem
    if call.now - session.authenticated_at > FRESH_SIGN_IN_AGE:
        raise NotFresh


def session_view(row: SessionRow) -> CustomerSession:
    """A session as the API returns it to developers."""
    impersonation = row.impersonation
    return build_view(
        CustomerSession,
        row,
        expires_at=row.idle_expires_at,
        impersonation_reason=None if impersonation is None else impersonation.reason,
        impersonated_by=None if impersonation is None else impersonation.actor_label,
    )
