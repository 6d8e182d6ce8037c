"""HTTP operations of routes of received mail, and the check of their MX records."""

from typing import TYPE_CHECKING
from uuid import UUID

import msgspec
from msgspec.structs import replace

from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, patch, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, newest_first
from postern.kernel.http.problems import Invalid, require_found
from postern.kernel.values import Deleted, Moment, build_view, fields_set, new_id
from postern.messaging.domains import sending
from postern.messaging.domains.model import RecordStatus, SendingDomain
from postern.messaging.domains.rules import name_and_parents
from postern.messaging.inbound import route_store as store
from postern.messaging.inbound.model import (
    ROUTES_PER_PROJECT,
    InboundDomainNotVerified,
    InboundRoute,
    InboundRouteChange,
    InboundRouteExists,
    InboundRouteMissing,
    MxCheck,
    MxRecord,
    NewInboundRoute,
    StoredRoute,
    TooManyInboundRoutes,
)
from postern.platform.audit import operations as audit
from postern.protocols.mail.address import AddressInvalid, parse_address, parse_domain_name
from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord

if TYPE_CHECKING:
    from postern.world import World

EVERY_ADDRESS = "*"
"""The local part in the address of a route that is for every address of a domain."""
MX_PRIORITY = 10
FOUND_LIMIT = 10
"""Maximum number of published mail servers that are stored with a result; further ones are omitted."""


@get("/projects/{project_id}/inbound/routes", needs="inbound:read")
async def list_inbound_routes(
    call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[InboundRoute]:
    """List the routes of received mail, newest first."""
    page = await newest_first(call, "inbound-routes", cursor, limit, store.routes)
    return page.convert_items(lambda row: _to_route(call.world, row))


@post(
    "/projects/{project_id}/inbound/routes",
    needs="inbound:write",
    status=201,
    problems=[InboundDomainNotVerified, InboundRouteExists, TooManyInboundRoutes],
    example={"address": "support@reply.example.com"},
)
async def create_inbound_route(call: Call, data: NewInboundRoute) -> InboundRoute:
    """Receive mail for an address, or for every address of a domain with `*@` and its name.

    The domain must be a verified sending domain of the project, or below one. Publish the MX record in `record`, so
    that mail reaches this server. An address has precedence over its whole domain, and case does not matter. Mail to an
    address with a tag, such as `support+42@…`, goes to the route of the address without it, unless there is one with
    the tag. A project can have at most 1,000 routes.
    """
    local_part, domain = _parse(data.address)
    owner = await _verified_domain(call, domain)
    check = await _check_mx(call.world, domain)
    row = StoredRoute(
        project_id=call.project_id,
        id=new_id(),
        domain_id=owner.id,
        name=data.name or _address(local_part, domain),
        domain=domain,
        local_part=local_part,
        active=data.active,
        created_at=call.now,
        updated_at=call.now,
        **msgspec.structs.asdict(check),
    )
    async with call.db.transaction() as tx:
        await tx.lock_quota("inbound routes", call.project_id)
        if await store.count_routes(tx, project_id=call.project_id) >= ROUTES_PER_PROJECT:
            raise TooManyInboundRoutes
        if not await sending.sending_domains(tx, call.project_id, [owner.id]):
            raise InboundDomainNotVerified
        inserted = await store.insert_route(tx, row)
        if inserted is None:
            raise InboundRouteExists
        address = _address(local_part, domain)
        await audit.record(tx, call, "inbound_route.created", "InboundRoute", row.id, address=address)
    return _to_route(call.world, inserted)


@get("/projects/{project_id}/inbound/routes/{id}", needs="inbound:read", problems=[InboundRouteMissing])
async def get_inbound_route(call: Call, id: UUID) -> InboundRoute:
    """Get a route with its MX record."""
    row = require_found(await store.route(call.db, project_id=call.project_id, id=id), InboundRouteMissing)
    return _to_route(call.world, row)


@patch(
    "/projects/{project_id}/inbound/routes/{id}",
    needs="inbound:write",
    problems=[InboundRouteMissing],
    example={"active": False},
)
async def change_inbound_route(call: Call, id: UUID, data: InboundRouteChange) -> InboundRoute:
    """Change the name of a route, or stop and start receiving mail. Honours `If-Match`."""
    async with call.db.transaction() as tx:
        row = require_found(await store.lock_route(tx, project_id=call.project_id, id=id), InboundRouteMissing)
        call.require_match(row.updated_at)
        row = await store.change_route(tx, replace(row, **fields_set(data), updated_at=call.now))
        address = _address(row.local_part, row.domain)
        await audit.record(tx, call, "inbound_route.updated", "InboundRoute", id, address=address, active=row.active)
    return _to_route(call.world, row)


@post("/projects/{project_id}/inbound/routes/{id}/verify", needs="inbound:write", problems=[InboundRouteMissing])
async def verify_inbound_route(call: Call, id: UUID) -> InboundRoute:
    """Look up the MX record of a route now. Mail that arrives is received whatever the result is."""
    row = require_found(await store.route(call.db, project_id=call.project_id, id=id), InboundRouteMissing)
    check = await _check_mx(call.world, row.domain)
    stored = await store.store_check(call.db, check, project_id=call.project_id, id=id)
    return _to_route(call.world, require_found(stored, InboundRouteMissing))


@delete("/projects/{project_id}/inbound/routes/{id}", needs="inbound:write", problems=[InboundRouteMissing])
async def delete_inbound_route(call: Call, id: UUID) -> Deleted:
    """Delete a route. Mail for it is refused from then on; messages that were received stay. Honours `If-Match`."""
    async with call.db.transaction() as tx:
        row = require_found(await store.delete_route(tx, project_id=call.project_id, id=id), InboundRouteMissing)
        call.require_match(row.updated_at)
        address = _address(row.local_part, row.domain)
        await audit.record(tx, call, "inbound_route.deleted", "InboundRoute", id, address=address)
    return Deleted()


def _parse(text: str) -> tuple[str | None, str]:
    """Local part (None for every address) and domain of a route, both in lower case. Raises Invalid."""
    local_part, _, domain = text.strip().rpartition("@")
    try:
        if local_part == EVERY_ADDRESS:
            return None, parse_domain_name(domain)
        address = parse_address(text)
    except AddressInvalid as error:
        raise Invalid.at("/address", str(error), "invalid_address") from None
    if address.name or EVERY_ADDRESS in address.spec:
        message = "Write an address without a name, such as support@reply.example.com, or *@ and a domain."
        raise Invalid.at("/address", message, "invalid_address")
    return address.local.lower(), address.domain.lower()


def _address(local_part: str | None, domain: str) -> str:
    return f"{local_part or EVERY_ADDRESS}@{domain}"


async def _verified_domain(call: Call, domain: str) -> SendingDomain:
    """The verified sending domain of the project with this name, or the nearest one above it. Raises
    InboundDomainNotVerified."""
    sending_domains = await sending.sending_domains_all(
        call.world, [(call.project_id, name) for name in name_and_parents(domain)]
    )
    nearest = next((candidate for candidate in sending_domains if candidate is not None and candidate.may_send), None)
    if nearest is None:
        raise InboundDomainNotVerified
    return nearest


async def _check_mx(world: "World", domain: str) -> MxCheck:
    """Look up the MX records of a domain."""
    name, now = world.settings.mx_name, world.clock()
    try:
        records = await world.resolver.mail_exchangers(domain)
    except NoSuchRecord:
        return _mx_result(now, "PENDING", reason=f"There is no MX record for {domain}.")
    except DnsUnavailable as error:
        return _mx_result(now, "UNKNOWN", reason=str(error))
    hosts = [exchanger.host for exchanger in records.exchangers]
    if name in hosts:
        return _mx_result(now, "VERIFIED", hosts)
    return _mx_result(now, "WRONG", hosts, f"None of the MX records for {domain} has the name {name}.")


def _mx_result(now: Moment, status: RecordStatus, hosts: list[str] | None = None, reason: str | None = None) -> MxCheck:
    return MxCheck(mx_status=status, mx_found=(hosts or [])[:FOUND_LIMIT], mx_reason=reason, mx_checked_at=now)


def _to_route(world: "World", row: StoredRoute) -> InboundRoute:
    record = MxRecord(
        type="MX",
        name=row.domain,
        value=world.settings.mx_name,
        priority=MX_PRIORITY,
        status=row.mx_status,
        found=row.mx_found,
        reason=row.mx_reason,
        checked_at=row.mx_checked_at,
    )
    return build_view(InboundRoute, row, address=_address(row.local_part, row.domain), record=record)
