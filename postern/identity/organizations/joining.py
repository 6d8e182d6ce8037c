"""Automatic joining of the organization that has verified the domain of a customer's address."""

from uuid import UUID

import structlog

from postern.identity.customers.model import CustomerMissing, CustomerOwnsOrganizations
from postern.identity.customers.operations import lock_customer
from postern.identity.organizations import invitation_store, store
from postern.identity.organizations.members import join, join_without_call
from postern.identity.organizations.model import (
    DomainJoin,
    DomainJoinRequest,
    JoinReason,
    MemberRow,
    OrganizationMissing,
    OrganizationSuspended,
    TooManyOrganizationMembers,
)
from postern.identity.organizations.rules import domain_of, is_mailbox_provider_domain
from postern.identity.organizations.store import JoinCandidate
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call, Caller
from postern.kernel.http.operation import post
from postern.kernel.http.problems import Invalid, ProblemError
from postern.kernel.values import as_id, new_id
from postern.platform.audit import operations as audit
from postern.platform.events import operations as event_operations
from postern.platform.events.model import EventRow

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)
DOMAIN_JOIN_ROLES = ["MEMBER"]


@post(
    "/projects/{project_id}/b2b/domain-join",
    needs="organizations:write",
    problems=(CustomerMissing, TooManyOrganizationMembers),
    example={"customerId": "019b1f3a-5f0e-7cc0-a2f4-0c2f6a1f9d11"},
)
async def join_by_domain(call: Call, data: DomainJoinRequest) -> DomainJoin:
    """Add a customer to the organization that has verified the domain of the customer's verified address.

    `reason` is one of JOINED, ALREADY_MEMBER, EMAIL_NOT_VERIFIED, NO_MATCHING_DOMAIN, AUTO_JOIN_DISABLED,
    PUBLIC_DOMAIN, ORGANIZATION_SUSPENDED, MEMBER_REMOVED (until the customer is invited or added again) or
    CUSTOMER_BANNED. Subdomains of a verified domain do not match.
    """
    customer_id = as_id(data.customer_id)
    async with call.db.transaction() as tx:
        await lock_customer(tx, call, customer_id)  # Prevents concurrent erasure and merging.
        [candidate] = await store.join_candidates(
            tx, project_id=call.project_id, customer_ids=[customer_id], now=call.now
        )
        reason = reason_of(candidate)
        organization_id = candidate.organization_id
        if reason == "JOINED" and organization_id is not None:
            if await join(tx, call, organization_id, customer_id, DOMAIN_JOIN_ROLES, "DOMAIN"):
                await audit.record(
                    tx, call, "member.added", "Organization", organization_id, customerId=customer_id, source="DOMAIN"
                )
            else:
                reason = "ALREADY_MEMBER"
    domain = domain_of(candidate.email_key) if candidate.email_key else None
    return DomainJoin(joined=reason == "JOINED", organization_id=organization_id, domain=domain, reason=reason)


def reason_of(candidate: JoinCandidate) -> JoinReason:
    """The reason why a candidate cannot join by domain, or JOINED if the candidate can."""
    if candidate.is_banned:
        return "CUSTOMER_BANNED"
    if candidate.email_key is None or not candidate.email_verified:
        return "EMAIL_NOT_VERIFIED"
    if candidate.organization_id is None:
        return "PUBLIC_DOMAIN" if is_mailbox_provider_domain(domain_of(candidate.email_key)) else "NO_MATCHING_DOMAIN"
    if candidate.is_member:
        return "ALREADY_MEMBER"
    if candidate.organization_suspended:
        return "ORGANIZATION_SUSPENDED"
    if candidate.was_removed:
        return "MEMBER_REMOVED"
    return "JOINED" if candidate.auto_join_enabled else "AUTO_JOIN_DISABLED"


async def on_sign_ins(tx: Transaction, sign_ins: list[EventRow]) -> None:
    """Let customers join by domain when they sign in, in the transaction that records the sign-ins."""
    for event in sign_ins:
        if event.subject_id is not None:
            await join_at_sign_in(tx, event, event.subject_id)


async def on_merges_and_deletions(tx: Transaction, events: list[EventRow]) -> None:
    """React to merges and deletions of customers, in the transaction that records them.

    A merge moves the memberships to the surviving customer. A deletion transfers ownership and deletes invitations; it
    raises the problems of `transfer_ownership`.
    """
    for event in events:
        if event.subject_id is None:
            continue
        if event.type == "customer.linked":
            ids = {"survivor_id": event.subject_id, "loser_id": as_id(event.data["mergedCustomerId"])}
            await store.merge_memberships(tx, project_id=event.project_id, now=event.occurred_at, **ids)
            await store.move_memberships(tx, project_id=event.project_id, now=event.occurred_at, **ids)
        else:
            await transfer_ownership(tx, event)
            await invitation_store.delete_invitations_to_customers(
                tx, project_id=event.project_id, customer_ids=[event.subject_id]
            )


async def transfer_ownership(tx: Transaction, event: EventRow) -> None:
    """Make another customer OWNER of the organizations of which an erased customer is the last OWNER.

    `event.data["ownershipTransferredTo"]` is the id of the new owner. If the erased customer is the last OWNER of an
    organization, raises CustomerOwnsOrganizations if the id is missing, and Invalid if it is not the id of another
    customer of the project.
    """
    assert event.subject_id is not None
    customer_key = {"project_id": event.project_id, "customer_id": event.subject_id}
    owned = await store.lock_owned_organizations(tx, **customer_key)
    solely_owned = (
        await store.solely_owned_organizations(tx, **customer_key, ids=[row.id for row in owned]) if owned else []
    )
    if not solely_owned:
        return
    new_owner_text = event.data.get("ownershipTransferredTo")
    if new_owner_text is None:
        message = f"This customer is the last OWNER of {', '.join(row.name for row in solely_owned)[:1_000]}."
        errors = [
            ProblemError(path="query/transferOwnershipTo", code="last_owner", message=f"{row.name} ({row.id})")
            for row in solely_owned
        ]
        raise CustomerOwnsOrganizations(
            message,
            errors=errors,
            next="Set the query parameter `transferOwnershipTo` to another customer, who becomes OWNER; or delete the "
            "organizations first.",
        )
    new_owner_id = as_id(new_owner_text)
    locked_id = await store.lock_customer_shared(tx, project_id=event.project_id, id=new_owner_id)
    if new_owner_id == event.subject_id or locked_id is None:
        raise Invalid.at(
            "query/transferOwnershipTo",
            "`transferOwnershipTo` must be the id of another customer of this project.",
            "unknown_customer",
        )
    for row in solely_owned:
        owner = MemberRow(
            project_id=event.project_id,
            id=new_id(),
            organization_id=row.id,
            customer_id=new_owner_id,
            roles=["OWNER"],
            source="API",
            joined_at=event.occurred_at,
            updated_at=event.occurred_at,
        )
        await store.make_owner(tx, owner)
        ownership_event = event_operations.make_event(
            event.project_id,
            "organization.updated",
            row.id,
            event.occurred_at,
            actor_type=event.actor_type,
            actor_id=event.actor_id,
            actor_label=event.actor_label,
            test=event.test,
            customerId=str(new_owner_id),
            roles=["OWNER"],
        )
        await event_operations.record_all(tx, [ownership_event])


async def join_at_sign_in(tx: Transaction, sign_in: EventRow, customer_id: UUID) -> UUID | None:
    """Add a customer to the organization that has verified the domain of the customer's address, if `reason_of` allows
    it. Returns the id of the organization, or None if the customer was not added.

    `sign_in` is the event of the sign-in. Raises no problem, so that joining never prevents the sign-in.
    """
    project_id, now = sign_in.project_id, sign_in.occurred_at
    candidates = await store.join_candidates(tx, project_id=project_id, customer_ids=[customer_id], now=now)
    if not candidates or reason_of(candidates[0]) != "JOINED" or candidates[0].organization_id is None:
        return None
    organization_id = candidates[0].organization_id
    environment = "TEST" if sign_in.test else "LIVE"
    caller = Caller(kind="customer", actor_type="CUSTOMER", actor_id=customer_id, environment=environment)
    try:
        joined = await join_without_call(
            tx, project_id, organization_id, customer_id, DOMAIN_JOIN_ROLES, "DOMAIN", now, caller
        )
    except (OrganizationMissing, OrganizationSuspended, TooManyOrganizationMembers) as problem:
        log.warning("not_joined_by_domain", project=str(project_id), problem=problem.code())
        return None
    return organization_id if joined else None
