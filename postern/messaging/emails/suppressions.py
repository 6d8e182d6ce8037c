"""The suppression list: addresses that get no mail because they bounced, complained, unsubscribed or were added."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Annotated, Any
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Jsonb, Queries, Transaction, like_pattern
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, post
from postern.kernel.http.pagination import Page, PageQuery, csv_stream, numbered_page
from postern.kernel.http.problems import Conflict, Invalid, require_found
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import Body, Record, new_id
from postern.messaging.emails import store
from postern.messaging.emails.model import (
    SUPPRESSIONS_BULK_LIMIT,
    ReachedRecipient,
    Suppression,
    SuppressionEntry,
    SuppressionMissing,
    SuppressionReason,
)
from postern.platform.audit import operations as audit
from postern.platform.events.model import EventRange, EventRow
from postern.protocols.mail.address import AddressInvalid, parse_address

AddressText = Annotated[str, msgspec.Meta(min_length=3, max_length=320)]


class AlreadySuppressed(Conflict):
    """This address is already suppressed for this or a stronger reason."""


class NewSuppression(Body):
    """An address to suppress."""

    address: AddressText
    reason: SuppressionReason = "MANUAL"
    detail: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None


class NewSuppressions(Body):
    """Several addresses to suppress."""

    addresses: Annotated[list[AddressText], msgspec.Meta(min_length=1, max_length=SUPPRESSIONS_BULK_LIMIT)]
    reason: SuppressionReason = "MANUAL"


class SuppressionBulkResult(Record):
    """The result of a bulk addition."""

    added: int
    skipped: int
    """Addresses that are invalid, repeated, or already suppressed for this or a stronger reason."""
    upgraded: int
    """How many of `added` were suppressed for a weaker reason before."""


@get("/projects/{project_id}/suppressions", needs="emails:read")
async def list_suppressions(
    call: Call,
    reason: SuppressionReason | None = None,
    q: Annotated[str, msgspec.Meta(max_length=320)] | None = None,
    *,
    page: PageQuery,
) -> Page[Suppression]:
    """The suppressed addresses with their reasons, newest first. `q` filters by part of the address."""
    return await page_of_suppressions(call, [reason] if reason else None, q or "", page=page)


async def page_of_suppressions(
    call: Call, reasons: list[SuppressionReason] | None, q: str = "", *, page: PageQuery
) -> Page[Suppression]:
    """One page of the addresses that are suppressed for one of `reasons` (None: for any), newest first."""
    return await numbered_page(
        call,
        suppressions_scope(reasons, q),
        page,
        store.count_suppressions,
        store.suppressions,
        project_id=call.project_id,
        reasons=reasons or None,
        pattern=like_pattern(q) if q else None,
    )


def suppressions_scope(reasons: Sequence[SuppressionReason] | None, q: str = "") -> str:
    """The scope of a cursor: it is valid for the same filters only."""
    return f"suppressions|{','.join(reasons or [])}|{q}"


@get("/projects/{project_id}/suppressions/export", needs="emails:read", media_types=["text/csv"], reads_replica=True)
async def export_suppressions(
    call: Call,
    reason: SuppressionReason | None = None,
    q: Annotated[str, msgspec.Meta(max_length=320)] | None = None,
) -> HttpResponse:
    """The suppressed addresses as CSV, newest first, with the filters of the list."""
    pattern = like_pattern(q) if q else None
    reasons: list[str] | None = [reason] if reason else None

    async def csv_rows() -> AsyncIterator[list[tuple[Any, ...]]]:
        async with call.db.transaction() as tx:
            async for rows in store.stream_suppressions(
                tx, project_id=call.project_id, reasons=reasons, pattern=pattern
            ):
                yield rows

    header = ["address", "reason", "source", "detail", "sendId", "createdAt", "id"]
    headers = {"Content-Disposition": 'attachment; filename="suppressions.csv"'}
    return HttpResponse(csv_stream(header, csv_rows()), media_type="text/csv", headers=headers)


@post(
    "/projects/{project_id}/suppressions",
    needs="emails:write",
    status=201,
    problems=[AlreadySuppressed],
    example={"address": "ada@example.com", "reason": "MANUAL"},
)
async def add_suppression(call: Call, data: NewSuppression) -> Suppression:
    """Suppress an address, so that it gets no more mail.

    A stronger reason replaces a weaker one, which stays in `history`. From weakest to strongest the reasons are
    UNSUBSCRIBE, MANUAL, BOUNCE and COMPLAINT. A weaker or equal reason is a 409.
    """
    address = _address("/address", data.address)
    async with call.db.transaction() as tx:
        added = await suppress(tx, call, [address], data.reason, source="api", detail=data.detail)
        if not added:
            raise AlreadySuppressed
        await audit.record(tx, call, "suppression.created", "Suppression", added[0].id, reason=data.reason)
    return added[0]


@post(
    "/projects/{project_id}/suppressions/bulk",
    needs="emails:write",
    example={"addresses": ["ada@example.com", "bob@example.com"]},
)
async def add_suppressions_in_bulk(call: Call, data: NewSuppressions) -> SuppressionBulkResult:
    """Suppress up to 1,000 addresses.

    Addresses that are invalid, repeated, or already suppressed for this or a stronger reason are skipped. `upgraded`
    counts the added addresses that were suppressed for a weaker reason before.
    """
    addresses: list[str] = []
    for text in data.addresses:
        try:
            addresses.append(parse_address(text).spec.lower())
        except AddressInvalid:
            continue
    async with call.db.transaction() as tx:
        added = await suppress(tx, call, sorted(set(addresses)), data.reason, source="api", detail=None)
        await audit.record(tx, call, "suppression.bulk_created", "Suppression", None, added=len(added))
    upgraded = sum(1 for suppression in added if suppression.history)
    return SuppressionBulkResult(added=len(added), skipped=len(data.addresses) - len(added), upgraded=upgraded)


@get("/projects/{project_id}/suppressions/{address}", needs="emails:read", problems=[SuppressionMissing])
async def get_suppression(call: Call, address: str) -> Suppression:
    """The suppression of an address, with its reason."""
    return require_found(
        await store.suppression(call.db, project_id=call.project_id, address=address.lower()), SuppressionMissing
    )


@delete("/projects/{project_id}/suppressions/{address}", needs="emails:write", problems=[SuppressionMissing])
async def remove_suppression(call: Call, address: str) -> Suppression:
    """Remove an address from the suppression list. Returns the removed suppression.

    The count of soft bounces of the address begins again at zero.
    """
    async with call.db.transaction() as tx:
        removed = require_found(
            await store.delete_suppression(tx, project_id=call.project_id, address=address.lower()), SuppressionMissing
        )
        reached = ReachedRecipient(project_id=call.project_id, address=address.lower(), delivered=True)
        await store.delete_soft_bounces(tx, project_id=[call.project_id], reached=Jsonb([reached]))
        await audit.record(tx, call, "suppression.deleted", "Suppression", removed.id, reason=removed.reason)
    return removed


async def address_of_suppression(db: Queries, project_id: UUID, id: UUID) -> str:
    """The address of the suppression with this id. Raises SuppressionMissing."""
    return require_found(await store.suppressed_address(db, project_id=project_id, id=id), SuppressionMissing)


async def follow_contacts(tx: Transaction, contact_events: list[EventRow]) -> None:
    """Subscriber of contact events: delete the UNSUBSCRIBE suppressions of contacts that were subscribed again.

    Suppressions for other reasons stay.
    """
    for event in contact_events:
        if event.data.get("unsubscribed") is False:
            address = str(event.data["email"]).lower()
            await store.delete_unsubscribe_suppressions(tx, project_id=event.project_id, addresses=[address])


async def follow_contacts_in_bulk(tx: Transaction, written: EventRange) -> None:
    """Subscriber of contact events of bulk changes. Does nothing, because these never subscribe contacts again."""


async def suppressed_addresses(db: Queries, project_id: UUID, addresses: Iterable[str]) -> dict[str, str]:
    """The addresses in lower case that are suppressed, each with the reason."""
    keys = sorted({address.lower() for address in addresses})
    rows = await store.suppressed_among(db, project_id=project_id, addresses=keys) if keys else []
    return {row.address: row.reason for row in rows}


async def suppress(
    tx: Transaction,
    call: Call,
    addresses: list[str],
    reason: SuppressionReason,
    *,
    source: str,
    detail: str | None,
) -> list[Suppression]:
    """Suppress lower-case addresses in an open transaction.

    `addresses` must be distinct. Returns the suppressions of the addresses that were not suppressed, or only for a
    weaker reason; the other addresses do not change. `source` and `detail` are stored. Does not write the audit log.
    """
    entries = [
        SuppressionEntry(
            project_id=call.project_id,
            id=new_id(),
            address=address,
            reason=reason,
            source=source,
            detail=detail,
            created_at=call.now,
        )
        for address in addresses
    ]
    return await store.suppress(tx, entries)


def _address(path: str, text: str) -> str:
    try:
        return parse_address(text).spec.lower()
    except AddressInvalid as error:
        raise Invalid.at(path, error.detail, "address_invalid") from None
