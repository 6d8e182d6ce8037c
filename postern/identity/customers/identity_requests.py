"""Requests to link an account at a provider to a customer who is already linked to another account there.

A sign-in adds a request if the account at the provider has the customer's address, but another subject than the account
that is linked. An administrator approves or rejects the request; approval unlinks the account that was linked before.
"""

from uuid import UUID

from msgspec.structs import replace

from postern.identity.customers import store
from postern.identity.customers.identities import ExternalIdentity, IdentityTaken, link_identity, record_linked_identity
from postern.identity.customers.model import IdentityRequest
from postern.identity.customers.operations import lock_customer
from postern.kernel.http.call import Call
from postern.kernel.http.operation import get, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, newest_first
from postern.kernel.http.problems import Conflict, Invalid, Missing, require_found
from postern.kernel.values import new_id
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects

MAX_REQUESTS_PER_CUSTOMER = 20
"""Maximum number of requests per customer and provider, including decided ones."""
STATUSES = ("PENDING", "APPROVED", "REJECTED")


class IdentityRequestMissing(Missing):
    """There is no such request to link an account."""


class IdentityRequestDecided(Conflict):
    """This request was already approved or rejected."""


@get("/projects/{project_id}/identity-requests", needs="customers:read")
async def list_identity_requests(
    call: Call, status: str | None = None, limit: ListLimit = 100, cursor: Cursor | None = None
) -> LinkedList[IdentityRequest]:
    """Requests to link an account, newest first; `status` filters by PENDING, APPROVED or REJECTED."""
    status_filter = status.upper() if status else None
    if status_filter is not None and status_filter not in STATUSES:
        raise Invalid.at("query/status", f"Status is one of {', '.join(STATUSES)}.", "unknown_status")
    scope = f"identity_requests|{status_filter or ''}"
    page = await newest_first(call, scope, cursor, limit, store.identity_requests, status=status_filter)
    return page.convert_items(_request_view)


@post(
    "/projects/{project_id}/identity-requests/{id}/approve",
    needs="customers:write",
    problems=[IdentityRequestMissing, IdentityRequestDecided, IdentityTaken],
)
async def approve_identity_request(call: Call, id: UUID) -> IdentityRequest:
    """Link the account to the customer, and unlink the account of the same provider that was linked before.

    The customer is notified by mail, unless the project has switched this notice off.
    """
    async with call.db.transaction() as tx:
        row = require_found(await store.identity_request(tx, project_id=call.project_id, id=id), IdentityRequestMissing)
        customer = await lock_customer(tx, call, row.customer_id)
        if not await store.decide_identity_request(
            tx, project_id=call.project_id, id=id, status="APPROVED", now=call.now
        ):
            raise IdentityRequestDecided
        identity = ExternalIdentity(
            provider=row.provider,
            issuer=row.issuer,
            subject=row.subject,
            email=row.email,
            email_verified=False,
            name=row.name,
        )
        await store.delete_identities_at_issuer(
            tx, project_id=call.project_id, customer_id=customer.id, provider=row.provider, issuer=row.issuer
        )
        customer = await link_identity(tx, call, customer, identity)
        await record_linked_identity(tx, call, await projects.require_project(tx, call.project_id), customer, identity)
        await audit.record(tx, call, "customer.identity_approved", "Customer", customer.id, provider=row.provider)
        row = await store.identity_request(tx, project_id=call.project_id, id=id)
        assert row is not None
    return _request_view(row)


@post(
    "/projects/{project_id}/identity-requests/{id}/reject",
    needs="customers:write",
    problems=[IdentityRequestMissing, IdentityRequestDecided],
)
async def reject_identity_request(call: Call, id: UUID) -> IdentityRequest:
    """Reject the request. Later sign-ins with the account are refused and add no new request."""
    async with call.db.transaction() as tx:
        if await store.identity_request(tx, project_id=call.project_id, id=id) is None:
            raise IdentityRequestMissing
        if not await store.decide_identity_request(
            tx, project_id=call.project_id, id=id, status="REJECTED", now=call.now
        ):
            raise IdentityRequestDecided
        row = await store.identity_request(tx, project_id=call.project_id, id=id)
        assert row is not None
        await audit.record(tx, call, "customer.identity_rejected", "Customer", row.customer_id, provider=row.provider)
    return _request_view(row)


async def request_identity(
    call: Call, customer_id: UUID, identity: ExternalIdentity, connection_id: UUID | None = None
) -> None:
    """Add a request to link an account to a customer, and record `customer.identity_held`.

    Nothing happens if the customer has a request for this account or `MAX_REQUESTS_PER_CUSTOMER` requests. Commits in a
    separate transaction, because the transaction of the refused sign-in is rolled back. Raises CustomerMissing.
    """
    held = IdentityRequest(
        id=new_id(),
        customer_id=customer_id,
        provider=identity.provider,
        connection_id=connection_id,
        issuer=identity.issuer,
        subject=identity.subject,
        email=identity.email,
        name=identity.name[:200] if identity.name else None,
        status="PENDING",
        created_at=call.now,
        decided_at=None,
    )
    async with call.db.transaction() as tx:
        await lock_customer(tx, call, customer_id)
        if await store.insert_identity_request(
            tx, held, project_id=call.project_id, max_requests=MAX_REQUESTS_PER_CUSTOMER
        ):
            await events.record(tx, call, "customer.identity_held", customer_id, provider=identity.provider)


def _request_view(row: IdentityRequest) -> IdentityRequest:
    """The request as the API returns it. For a single sign-on connection, the stored issuer is
    `<connection id> <entity id>`; the API returns only the entity id."""
    return replace(row, issuer=row.issuer.partition(" ")[2]) if row.connection_id else row
