"""The sites to which a process sends, and how all processes share the limits of a site.

A site is a group of mail servers that receive mail for the domains of recipients and are limited together: the servers
of a provider such as Google, or those of one domain. A relay and Amazon SES are sites, too.

Each process that uses a site holds a share of its connections: a row with a lease. A share is never more than the
other processes leave, so that together they never exceed the limit. A process that dies is not counted any more when
its lease ends. The rate is divided by the number of processes. So no message waits for a lock, and a process queries
the database only when it begins to use a site, every few seconds after that, and when a site asks for less mail.

A site asks for less mail by a reply that says so, or by many deferrals in a short time. It then gets half of its
limits, and after the second time a pause, which doubles each time. When it accepts mail again, it gets back a tenth of
its limits at a time.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.kernel.config import SettingInvalid, Settings
from postern.kernel.database.statements import Jsonb
from postern.kernel.values import NO_ID, Moment, new_id
from postern.messaging.emails import rules, site_store, store
from postern.messaging.emails.model import MARKETING, DeliverySiteLimits, Postponement, Send
from postern.messaging.emails.site_store import SharedSite
from postern.protocols.mail.transports.shaping import (
    MAX_FILE_OCTETS,
    Obstacle,
    ShapingInvalid,
    ShapingTable,
    SiteControl,
    SiteKey,
    SiteLimits,
    SiteRules,
    SiteSuspension,
    shaping_table,
)

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

TICK_SECONDS = 1.0
"""How often a process that uses sites reads their states and stores its counts."""
SHARE_EVERY_SECONDS = 5.0
"""How often a process renews its shares."""
SHARE_LEASE = timedelta(seconds=15)
"""After this time, other processes get the connections of a process that died."""
USED_SECONDS = 30.0
"""A process that has had no connections and messages for a site for so long gives up its share of the site."""
MAX_SITES_IN_MEMORY = 4_000
MAX_DOMAINS_IN_MEMORY = 20_000
LEARNED_SECONDS = 60.0
"""How long the site of a domain is known before a message looks up its mail servers again."""
SEEN_EVERY = timedelta(hours=1)
"""How often the time of the last use of a site is stored."""

DECREASE = 0.5
"""A slow-down multiplies the limits of a site by this factor."""
LEAST_FACTOR = 1 / 64
"""A site never gets less than this part of its limits."""
SLOW_DOWN_EVERY = timedelta(seconds=5)
"""A site is slowed down at most once in this time, because replies to messages that were sent before the slow-down may
still arrive."""
SHORTEST_PAUSE, LONGEST_PAUSE = timedelta(seconds=15), timedelta(minutes=15)
"""The pause after the second slow-down, which doubles with each further one, and its maximum."""
RECOVERY_STEP = 0.1
"""The part of its limits that a site gets back at a time."""
RECOVERY_PERIOD = timedelta(seconds=30)
"""The time between two steps, and between the last slow-down or pause and the first step."""


class Sites:
    """The sites of a process. Implements `SiteControls` and `SiteObserver` of `transports.shaping`."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._table = read_shaping(world.settings)
        self.process_id = new_id()
        self._controls: OrderedDict[SiteKey, SiteControl] = OrderedDict()
        self._learned: OrderedDict[tuple[str, str], tuple[float, SiteControl]] = OrderedDict()
        self._ticking: asyncio.Task[None] | None = None
        self._shared_at = 0.0
        self._unevenly_divided: set[SiteKey] = set()
        """Sites of which this process or another one has too many connections until it renews its share again."""

    # What transports use.

    def of_mail_servers(self, hosts: Sequence[str], scope: str) -> SiteControl:
        """See `SiteControls`."""
        name, site_rules = self._table.for_mail_servers(hosts)
        return self._control(SiteKey(scope, name), site_rules, "direct", hosts)

    def of_relay(self, host: str, label: str, scope: str) -> SiteControl:
        """See `SiteControls`."""
        return self._control(SiteKey(scope, label), self._table.for_relay(host), "relay", [host])

    def of_ses(self, host: str, label: str, scope: str) -> SiteControl:
        """See `SiteControls`."""
        return self._control(SiteKey(scope, label), self._table.for_relay(host), "ses", [host])

    def _control(self, key: SiteKey, site_rules: SiteRules, transport: str, hosts: Sequence[str]) -> SiteControl:
        control = self._controls.get(key)
        if control is None:
            clock = asyncio.get_running_loop().time
            control = self._controls[key] = SiteControl(
                key, site_rules, self, transport=transport, hosts=hosts, clock=clock, now=self._world.clock
            )
            self._drop_old()
        self._controls.move_to_end(key)
        return control

    def _drop_old(self) -> None:
        while len(self._controls) > MAX_SITES_IN_MEMORY:
            key = next(iter(self._controls))
            if self._is_used(self._controls[key]):
                return
            del self._controls[key]

    def learn(self, tenant: str | None, domain: str, control: SiteControl) -> None:
        """See `SiteControls`."""
        key = (tenant or "", domain)
        self._learned.pop(key, None)
        self._learned[key] = (asyncio.get_running_loop().time() + LEARNED_SECONDS, control)
        if len(self._learned) > MAX_DOMAINS_IN_MEMORY:
            self._learned.popitem(last=False)

    async def get_share(self, control: SiteControl) -> None:
        """See `SiteObserver`."""
        await self._world.batcher(renew_shares)(control)
        if self._ticking is None or self._ticking.done():
            self._ticking = asyncio.create_task(self._tick_while_used())

    def throttled(self, control: SiteControl, reply: str, pause: timedelta) -> None:
        """See `SiteObserver`."""
        self._world.run_in_background(self._slow_down(control, reply, pause))

    # What the worker uses.

    def of_send(self, send: Send) -> SiteControl | None:
        """The site of a send to one recipient; None if it is not known at present."""
        if not self._learned:
            return None
        if send.test or send.cc_addresses or send.bcc_addresses or len(send.to_addresses) > 1:
            return None
        known = self._learned.get((str(send.project_id), send.recipient.rpartition("@")[2].lower()))
        if known is None or known[0] < asyncio.get_running_loop().time() or not known[1].is_shared:
            return None
        return known[1]

    def limits_of(self, transport: str, provider: str | None, hosts: Sequence[str], name: str) -> SiteLimits:
        """The limits of a stored site, without a slow-down."""
        if transport != "direct":
            return self._table.for_relay(hosts[0] if hosts else name).limits
        return self._table.for_mail_servers(hosts or [name])[1].limits

    # Sharing.

    async def _slow_down(self, control: SiteControl, reply: str, pause: timedelta) -> None:
        try:
            state = await site_store.slow_down(
                self._world.db,
                project_id=_scope_id(control),
                name=control.key.name,
                decrease=DECREASE,
                least_factor=LEAST_FACTOR,
                pause=pause,
                shortest=SHORTEST_PAUSE,
                longest=LONGEST_PAUSE,
                at_most_every=SLOW_DOWN_EVERY,
                reply=rules.storable(reply),
                now=self._world.clock(),
            )
        except (OperationalError, PoolTimeout) as error:
            log.warning("site_not_slowed_down", site=control.key.name, error=str(error).strip()[:200])
            return
        if state:
            log.info("site_slowed_down", site=control.key.name, factor=state.factor, reply=reply)
            _set_state(control, state)
            await self._renew([control])

    def apply_shared_state(self, control: SiteControl, shared: SharedSite, ends_at: Moment) -> None:
        """Apply the shared state of a site, and the share of its connections that this process has until `ends_at`.

        If the site is slow or suspended, messages that cannot be sent soon go back to the database. Idle connections
        beyond the share are closed. Waiting messages get the connections that have become free. If the connections are
        divided unevenly at present, the share is renewed at the next tick.
        """
        _set_state(control, shared)
        held = control.held
        control.processes = shared.processes
        control.set_share(shared.connections, ends_at)
        fair = (shared.allowed or 0) // shared.processes
        if shared.connections is not None and (shared.connections < held or shared.connections < fair):
            self._unevenly_divided.add(control.key)
        else:
            self._unevenly_divided.discard(control.key)

    async def _renew(self, controls: list[SiteControl]) -> None:
        try:
            await renew_shares(self._world, controls)
        except (OperationalError, PoolTimeout) as error:
            log.warning("site_shares_not_renewed", error=str(error).strip()[:200])

    async def _tick_while_used(self) -> None:
        try:
            while any(self._is_used(control) for control in self._controls.values()):
                await asyncio.sleep(TICK_SECONDS)
                try:
                    await self.update()
                except (OperationalError, PoolTimeout) as error:
                    log.warning("sites_not_updated", error=str(error).strip()[:200])
                except Exception:
                    log.exception("sites_not_updated")
        finally:
            # The next message asks for a new share, which begins the updates again.
            for control in self._controls.values():
                control.is_shared, control.connections_share = False, 0

    def _is_used(self, control: SiteControl) -> bool:
        recently = asyncio.get_running_loop().time() - control.used_at < USED_SECONDS
        return bool(recently or control.open_connections or any(control.in_memory.values()) or control.counts)

    async def update(self) -> None:
        """Store the counts, read the states, let sites recover, and renew the shares if it is time."""
        await self._store_counts()
        used = [control for control in self._controls.values() if control.is_shared and self._is_used(control)]
        for control in self._controls.values():
            if control.is_shared and not self._is_used(control):
                # The lease ends, so the next message asks for a new share.
                control.is_shared, control.connections_share = False, 0
        if not used:
            return
        now = self._world.clock()
        where: dict[str, Any] = {
            "project_id": [_scope_id(control) for control in used],
            "name": [control.key.name for control in used],
        }
        states = {
            (state.project_id, state.name): state
            for state in await site_store.shared_states(self._world.db, **where, now=now)
        }
        await _set_suspensions(self._world, used)
        changed: list[SiteControl] = []
        for control in used:
            state = states.get((_scope_id(control), control.key.name))
            if state is not None:
                _set_state(control, state)
            # A site that was deleted because it was not used is inserted again.
            if state is None or state.processes != control.processes or control.key in self._unevenly_divided:
                changed.append(control)
        await self._let_recover(used, now)
        if asyncio.get_running_loop().time() - self._shared_at >= SHARE_EVERY_SECONDS:
            self._shared_at = asyncio.get_running_loop().time()
            await self._renew(used)
        elif changed:
            await self._renew(changed)

    async def _let_recover(self, used: Iterable[SiteControl], now: Moment) -> None:
        accepting = [control for control in used if control.is_slow and control.accepted_since_check]
        for control in accepting:
            control.accepted_since_check = 0
        if accepting:
            await site_store.recover(
                self._world.db,
                project_id=[_scope_id(control) for control in accepting],
                name=[control.key.name for control in accepting],
                step=RECOVERY_STEP,
                period=RECOVERY_PERIOD,
                now=now,
            )

    async def _store_counts(self) -> None:
        rows: list[dict[str, Any]] = []
        taken: list[tuple[SiteControl, Any, Any]] = []
        for control in self._controls.values():
            if not control.counts:
                continue
            counts, replies = control.counts.copy(), control.last_replies
            taken.append((control, counts, replies))
            control.counts.clear()
            control.last_replies = {}
            rows += [
                {
                    "project_id": tenant,
                    "id": new_id(),
                    "name": control.key.name,
                    "scope": _scope_id(control),
                    "last_reply": rules.storable(replies[tenant]) if tenant in replies else None,
                    "delivered": counts[tenant, "delivered"],
                    "deferred": counts[tenant, "deferred"],
                    "bounced": counts[tenant, "bounced"],
                }
                for tenant in sorted({tenant for tenant, _ in counts} - {""})
            ]
        # A project has one row per site name, even if it uses the site both through its own relay or addresses and
        # through those that all projects share.
        by_key: dict[tuple[str, str], dict[str, Any]] = {}
        for row in rows:
            same = by_key.setdefault((row["project_id"], row["name"]), row)
            if same is not row:
                same |= {name: same[name] + row[name] for name in ("delivered", "deferred", "bounced")}
        if not by_key:
            return
        project_ids = sorted({UUID(row["project_id"]) for row in by_key.values()})
        try:
            await site_store.add_counts(
                self._world.db, project_id=project_ids, rows=Jsonb(list(by_key.values())), now=self._world.clock()
            )
        except (OperationalError, PoolTimeout):
            for control, counts, replies in taken:
                control.counts += counts
                control.last_replies = {**replies, **control.last_replies}
            raise

    async def aclose(self) -> None:
        """Store the counts, and end the shares of this process."""
        if self._ticking:
            self._ticking.cancel()
        try:
            await self._store_counts()
            await site_store.end_shares(self._world.db, process_id=self.process_id)
        except (OperationalError, PoolTimeout) as error:
            log.warning("site_shares_not_ended", error=str(error).strip()[:200])


async def renew_shares(world: "World", controls: list[SiteControl]) -> list[None]:
    """Get this process's shares of the limits of sites, or renew them. The result has one None per site."""
    process = sites(world)
    ordered = sorted({control.key: control for control in controls}.values(), key=lambda control: control.key)
    scopes, names = [_scope_id(control) for control in ordered], [control.key.name for control in ordered]
    now = world.clock()
    rows = [
        {
            "project_id": scope,
            "name": control.key.name,
            "transport": control.transport,
            "provider": control.rules.provider,
            "hosts": control.hosts,
        }
        for scope, control in zip(scopes, ordered, strict=True)
    ]
    async with world.db.transaction() as tx:
        await site_store.upsert_sites(
            tx, project_id=sorted(set(scopes)), rows=Jsonb(rows), now=now, seen_every=SEEN_EVERY
        )
        await site_store.lock_sites(tx, project_id=scopes, name=names)
        shares = await site_store.divide_connections(
            tx,
            project_id=scopes,
            name=names,
            total=[control.rules.limits.connections for control in ordered],
            held=[control.held for control in ordered],
            process_id=process.process_id,
            lease=SHARE_LEASE,
            now=now,
        )
    by_key = {(share.project_id, share.name): share for share in shares}
    await _set_suspensions(world, ordered)
    for scope, control in zip(scopes, ordered, strict=True):
        process.apply_shared_state(control, by_key[scope, control.key.name], now + SHARE_LEASE)
    return [None] * len(controls)


async def _set_suspensions(world: "World", controls: Sequence[SiteControl]) -> None:
    """Read which projects have suspended these sites."""
    names = sorted({control.key.name for control in controls})
    by_name: dict[str, dict[str, SiteSuspension]] = {}
    for row in await site_store.suspensions_of_projects(world.db, name=names, now=world.clock()):
        suspension = SiteSuspension(row.suspended_until, row.suspension_reason or "")
        by_name.setdefault(row.name, {})[str(row.project_id)] = suspension
    for control in controls:
        control.suspensions = by_name.get(control.key.name, {})


def _set_state(control: SiteControl, state: SharedSite) -> None:
    control.factor, control.throttled_until = state.factor, state.throttled_until
    control.suspension = (
        SiteSuspension(state.suspended_until, state.suspension_reason) if state.suspension_reason is not None else None
    )
    if control.is_slow or control.suspension:
        control.shed()


def _scope_id(control: SiteControl) -> UUID:
    return UUID(control.key.scope) if control.key.scope else NO_ID


async def postpone_sends(world: "World", sends: list[Send]) -> list[Send]:
    """Return the claimed sends that can be delivered now, and postpone those whose sites cannot take them. All are of
    one project.

    A site that is slow, paused or suspended must not occupy the worker: this is checked before anything is loaded, and
    one statement postpones all sends that a site cannot take at present.
    """
    known = sites(world)
    deliverable: list[Send] = []
    postponed: list[Postponement] = []
    counted: Counter[tuple[SiteKey, bool]] = Counter()
    now = world.clock()
    for send in sends:
        control = known.of_send(send)
        if control is None or (send.expires_at is not None and send.expires_at <= now):
            deliverable.append(send)
            continue
        bulk = send.lane == MARKETING
        obstacle = control.obstacle(str(send.project_id), bulk=bulk)
        if obstacle is None and control.in_memory[bulk] + counted[control.key, bulk] < control.max_in_memory:
            counted[control.key, bulk] += 1
            deliverable.append(send)
            continue
        if obstacle is None:
            text = f"The messages before this one are sent to {control.key.name} first."
            obstacle = Obstacle(control.cause_of_delay, text, control.retry_delay(bulk=bulk))
        if rules.retry_period_is_over(send, obstacle.cause, now):
            deliverable.append(send)  # The attempt delivers it or gives it up.
            continue
        due_at = now + max(obstacle.delay, timedelta(seconds=1))
        if send.expires_at is not None:
            # The last attempt is shortly before it expires.
            due_at = max(now + timedelta(seconds=1), min(due_at, send.expires_at - rules.NO_SERVER_DELAY))
        postponed.append(
            Postponement(
                id=send.id,
                attempt=send.attempt,
                due_at=Moment.of(due_at),
                retries_since=rules.retries_since_after(send, obstacle.cause, due_at - now),
                site=control.key.name,
                waits_for=obstacle.cause.value,
                reason=obstacle.text,
            )
        )
    if postponed:
        await store.postpone(world.db, postponed, project_id=sends[0].project_id, now=now)
    return deliverable


def scaled(limits: SiteLimits, factor: float) -> DeliverySiteLimits:
    """The limits multiplied by `factor`, above 0 and at most 1. At least one connection remains."""
    per_minute = limits.messages_per_minute
    return DeliverySiteLimits(
        connections=limits.connections and max(1, int(limits.connections * factor)),
        messages_per_connection=limits.messages_per_connection,
        messages_per_minute=per_minute and round(per_minute * factor, 3),
    )


def read_shaping(settings: Settings) -> ShapingTable:
    """The limits of sites, from the package and POSTERN_SHAPING_FILE. Raises SettingInvalid."""
    return _read_shaping(settings.shaping_file)


def _read_shaping(path: Path | None) -> ShapingTable:
    if path is None:
        return _default_table()
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_OCTETS + 1)
        if len(content) > MAX_FILE_OCTETS:
            raise ShapingInvalid(f"it has more than {MAX_FILE_OCTETS:,} octets.")
        return shaping_table(content.decode())
    except OSError as error:
        raise SettingInvalid(f"POSTERN_SHAPING_FILE={str(path)!r} cannot be read: {error.strerror}.") from None
    except ValueError as error:  # A ShapingInvalid or UnicodeDecodeError is one.
        raise SettingInvalid(f"POSTERN_SHAPING_FILE={str(path)!r}: {error}") from None


@lru_cache(maxsize=1)
def _default_table() -> ShapingTable:
    return shaping_table()


def sites(world: "World") -> Sites:
    """The sites of this process, created on first use."""
    return world.resources[Sites]
