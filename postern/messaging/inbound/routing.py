"""Lookup of the routes for the address of a recipient."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from postern.kernel.database.statements import Queries
from postern.messaging.domains.rules import name_and_parents
from postern.messaging.inbound import route_store as store
from postern.messaging.inbound.model import STORED_OCTETS_PER_PROJECT, RouteCandidate

if TYPE_CHECKING:
    from postern.world import World

_NEEDLESSLY_QUOTED = re.compile(r'"[A-Za-z0-9!#$%&\'*+/=?^_`{|}~.-]+"')


class RouteMatch(NamedTuple):
    """The route of a project for a recipient."""

    project_id: UUID
    route_id: UUID
    tag: str | None
    """The part of the local part after `+`; None if there is none."""
    is_full: bool
    """Whether the project can store no more messages."""


async def routes_of(db: Queries, address: str) -> list[RouteMatch]:
    """The active routes for an address (with its domain in A-labels), at most one of each project."""
    (matches,) = await _routes_of_all(db, [address])
    return matches


async def routes_of_each(world: "World", addresses: list[str]) -> list[list[RouteMatch]]:
    """Like `routes_of`, for several addresses; the results are in the order of the addresses."""
    return await _routes_of_all(world.db, addresses)


async def _routes_of_all(db: Queries, addresses: list[str]) -> list[list[RouteMatch]]:
    parts = [address.rpartition("@") for address in addresses]
    local_parts_of_each = [local_parts_of(local_part) for local_part, _, _ in parts]
    domains = sorted({domain.lower() for local_part, _, domain in parts if local_part})
    candidates = await store.candidates(
        db,
        domains=domains,
        names=sorted({name for domain in domains for name in name_and_parents(domain)}),
        local_parts=sorted({local_part for local_parts in local_parts_of_each for local_part in local_parts}),
        stored_limit=STORED_OCTETS_PER_PROJECT,
    )
    return [
        [
            RouteMatch(route.project_id, route.id, local_parts[0].partition("+")[2] or None, route.is_full)
            for route in most_specific(_matching(candidates, domain.lower(), local_parts), local_parts)
            if route.active
        ]
        if local_part
        else []
        for (local_part, _, domain), local_parts in zip(parts, local_parts_of_each, strict=True)
    ]


def _matching(candidates: Iterable[RouteCandidate], domain: str, local_parts: list[str]) -> list[RouteCandidate]:
    return [
        route
        for route in candidates
        if route.domain == domain and (route.local_part is None or route.local_part in local_parts)
    ]


async def receives_mail_for(db: Queries, domain: str) -> bool:
    """Whether this server receives mail for addresses of a domain (A-labels) by a route."""
    return await store.has_route(db, domain=domain.lower(), names=name_and_parents(domain.lower()))


def local_parts_of(local_part: str) -> list[str]:
    """The local parts to look up for an address, the most specific first: with its tag, then without. In lower case."""
    quoted = _NEEDLESSLY_QUOTED.fullmatch(local_part)
    whole = (local_part[1:-1] if quoted else local_part).lower()
    return list(dict.fromkeys((whole, whole.partition("+")[0] or whole)))


def most_specific(candidates: Iterable[RouteCandidate], local_parts: list[str]) -> list[RouteCandidate]:
    """The most specific route of each project: for the address with its tag, without it, or for the whole domain."""

    def rank(route: RouteCandidate) -> int:
        return len(local_parts) if route.local_part is None else local_parts.index(route.local_part)

    best: dict[UUID, RouteCandidate] = {}
    for route in sorted(candidates, key=rank):
        best.setdefault(route.project_id, route)
    return list(best.values())
