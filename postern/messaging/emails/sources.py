"""The IP addresses from which the transport `direct` sends, and the warm-up plans of those that are new."""

from datetime import date
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import parse_qs
from uuid import UUID

import msgspec

from postern.kernel.config import DOMAIN, SettingInvalid, Settings
from postern.kernel.database.statements import Queries
from postern.kernel.values import Moment, Record
from postern.messaging.reputation import rules, source_warm_up
from postern.messaging.reputation.model import SourceWarmUp, WarmUpStatus
from postern.messaging.reputation.source_warm_up import DeclaredWarmUp, SourceGrant, SourceRequest, declared_warm_up
from postern.protocols.mail.transports.direct import MAX_SOURCES, Lane, Source, select_sources

if TYPE_CHECKING:
    from postern.world import World


def parse_sources(text: str | None) -> list[Source]:
    """Parse the IP addresses of POSTERN_SOURCES: `address=name?lane=…&project=…`, separated by spaces. Raises
    SettingInvalid."""
    sources = [_parse_source(part) for part in (text or "").split()]
    if len(sources) > MAX_SOURCES:
        raise SettingInvalid(f"POSTERN_SOURCES has more than {MAX_SOURCES} addresses.")
    return sources


SOURCE_OPTIONS = frozenset({"lane", "project", "warm-up", "days", "start"})


def _source_options(text: str) -> dict[str, str]:
    return {option: values[-1] for option, values in parse_qs(text.partition("?")[2], keep_blank_values=True).items()}


def _parse_source(text: str) -> Source:
    address, _, rest = text.partition("=")
    name = rest.partition("?")[0]
    options = _source_options(text)
    try:
        address = str(ip_address(address))
        tenant = str(UUID(options["project"])) if "project" in options else None
    except ValueError:
        address, tenant = "", None
    lanes: dict[str | None, Lane | None] = {
        None: None,
        "transactional": "transactional",
        "marketing": "marketing",
    }
    lane = options.get("lane")
    if not address or not DOMAIN.fullmatch(name) or "." not in name or options.keys() - SOURCE_OPTIONS:
        raise SettingInvalid(
            f"POSTERN_SOURCES: {text!r}: expected address=name, such as 203.0.113.5=mx1.example.com, perhaps with "
            "?lane=transactional|marketing, &project=<id> and &warm-up=<messages per day>."
        )
    if lane not in lanes:
        raise SettingInvalid(f"POSTERN_SOURCES: lane={lane} is not one of transactional, marketing.")
    return Source(address=address, name=name.lower(), lane=lanes[lane], tenant=tenant)


def parse_warm_ups(text: str | None) -> dict[str, DeclaredWarmUp]:
    """The warm-up plans in POSTERN_SOURCES, by address. Raises SettingInvalid."""
    plans: dict[str, DeclaredWarmUp] = {}
    for part in (text or "").split():
        address, options = _parse_source(part).address, _source_options(part)
        try:
            plan = declared_warm_up(options)
        except ValueError as error:
            raise SettingInvalid(f"POSTERN_SOURCES: {part!r}: {error}") from None
        if plan and plans.setdefault(address, plan) != plan:
            raise SettingInvalid(f"POSTERN_SOURCES: {address} has two different warm-up plans.")
    return plans


class SourceWarmUps:
    """The warm-up plans of the IP addresses from which this process sends."""

    def __init__(self, world: "World") -> None:
        self._sources = parse_sources(world.settings.sources)
        self.declared = parse_warm_ups(world.settings.sources)
        self.is_stored = False
        """Whether this process has stored the declared plans."""
        self.warming = frozenset(self.declared)
        """The addresses whose plan may not have ended."""

    def pool(self, tenant: str | None, *, bulk: bool) -> tuple[str, ...]:
        """The addresses for the mail of a project (`tenant`), for its marketing mail if `bulk`."""
        selected = select_sources(self._sources, tenant=tenant, bulk=bulk)
        return tuple(dict.fromkeys(source.address for source in selected))

    def warms_up(self, project_id: UUID) -> bool:
        """Whether marketing mail of a project may leave from an address that is warming up."""
        return bool(self.warming) and not self.warming.isdisjoint(self.pool(str(project_id), bulk=True))

    async def aclose(self) -> None:
        """Does nothing: there are no connections."""


def source_warm_ups(world: "World") -> SourceWarmUps:
    """The plans of this process, created on first use."""
    return world.resources[SourceWarmUps]


async def grant_sources(world: "World", requests: list[SourceRequest]) -> list[SourceGrant]:
    """Choose the IP addresses from which messages are sent, in one transaction, and count them for the daily ceilings.

    Returns a grant for each request, in order: the addresses or, if all have reached their ceilings, the time until
    which the message waits. The pool of each message must contain an address that is warming up.
    """
    plans = source_warm_ups(world)
    async with world.db.transaction() as tx:
        if not plans.is_stored:
            await source_warm_up.declare(tx, plans.declared, world.clock())
        grants, rows = await source_warm_up.reserve_sources(
            tx, requests, plans.warming, world.clock(), world.random.random
        )
    plans.is_stored = True
    plans.warming -= {row.address for row in rows if row.status == "COMPLETED"}
    return grants


class SourceState(Record):
    """An IP address from which `direct` sends, and its warm-up plan if it has one."""

    address: str
    name: str | None
    """Its host name; null if the address is not in POSTERN_SOURCES of this machine but has a plan."""
    lane: str | None = None
    project_id: str | None = None
    status: WarmUpStatus | None = None
    """SCHEDULED, ACTIVE or COMPLETED; null without a plan."""
    starts_on: date | None = None
    steps: list[int] | None = None
    step: int | None = None
    """The number of today's step, from 1."""
    ceiling: int | None = None
    """How many messages may leave from the address today; null unless ACTIVE."""
    used: int | None = None
    """How many messages count towards the ceiling of today so far; null unless ACTIVE."""
    repeated_days: int | None = None
    """Days that did not count: nothing was sent, or the address was on a blocklist."""
    next_day_at: Moment | None = None
    last_day: date | None = None
    """The day of the last step, if no day is repeated; null unless ACTIVE or SCHEDULED."""
    ended_at: Moment | None = None


async def source_states(db: Queries, settings: Settings, now: Moment) -> list[SourceState]:
    """The addresses of POSTERN_SOURCES, and those of other machines with a plan. Raises SettingInvalid."""
    stored = {row.address: row for row in await source_warm_up.warm_ups(db, now)}
    declared = parse_warm_ups(settings.sources)
    states: list[SourceState] = []
    for source in parse_sources(settings.sources):
        plan = declared.get(source.address)
        row = source_warm_up.row_of(source.address, plan, stored.get(source.address), now) if plan else None
        states.append(_state(source.address, source, row))
    known = {source.address for source in states}
    return [*states, *(_state(address, None, row) for address, row in stored.items() if address not in known)]


def _state(address: str, source: Source | None, row: SourceWarmUp | None) -> SourceState:
    state = SourceState(
        address=address,
        name=source.name if source else None,
        lane=source.lane if source else None,
        project_id=source.tenant if source else None,
    )
    if row is None:
        return state
    return msgspec.structs.replace(
        state,
        status=row.status,
        starts_on=row.starts_on,
        steps=row.steps,
        step=row.step + 1,
        ceiling=row.ceiling if row.status == "ACTIVE" else None,
        used=row.used if row.status == "ACTIVE" else None,
        repeated_days=row.repeated,
        next_day_at=rules.next_day_at(row),
        last_day=rules.last_day(row),
        ended_at=row.ended_at,
    )
