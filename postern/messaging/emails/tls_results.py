"""The results of TLS connections to recipients' mail servers, counted for the reports to their domains (RFC 8460).

Each process counts in memory and adds its counters to the database every few seconds, so that a connection costs no
statement. A process that is killed loses the counts of these seconds.
"""

import asyncio
import hashlib
from collections import Counter
from datetime import date, datetime, time, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING

import msgspec
import structlog
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.kernel.database.statements import Jsonb
from postern.kernel.values import Moment, new_id
from postern.messaging.emails import tls_report_store as store
from postern.messaging.emails.tls_report_store import CountedResult
from postern.protocols.mail.tls_report import TlsSession

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

FLUSH_SECONDS = 5.0
"""How often a process adds its counters to the database."""
MAX_COUNTERS = 20_000
"""How many counters a process keeps in memory; sessions that would need more are not counted."""
MAX_RESULTS_PER_DAY = 200
"""How many different results of a domain are counted per day, by policy, servers and kind of failure."""
LONGEST_DELAY = timedelta(hours=4)
"""Reports about a day are sent at a random time within this time after it (RFC 8460 §4.1)."""


class TlsResults:
    """The counters of a process."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._counters: Counter[tuple[date, TlsSession]] = Counter()
        self._flushing: asyncio.Task[None] | None = None

    def record(self, session: TlsSession) -> None:
        """Count a session for the current day (UTC), and make sure that the counters are added to the database soon.

        Beyond MAX_COUNTERS different results, further ones are not counted.
        """
        key = (self._world.clock().date(), self._with_public_address(session))
        if key not in self._counters and len(self._counters) >= MAX_COUNTERS:
            return
        self._counters[key] += 1
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush_periodically())

    def _with_public_address(self, session: TlsSession) -> TlsSession:
        """The session with the public address of this server if its own one is private, because of NAT."""
        if not session.sending_ip or ip_address(session.sending_ip).is_global:
            return session
        version = ip_address(session.sending_ip).version
        known = self._world.settings.known_sending_addresses
        public = next((address for address in known if ip_address(address).version == version), session.sending_ip)
        return msgspec.structs.replace(session, sending_ip=public)

    async def _flush_periodically(self) -> None:
        while self._counters:
            await asyncio.sleep(FLUSH_SECONDS)
            try:
                await self.flush()
            except (OperationalError, PoolTimeout) as error:
                log.warning("tls_results_wait", counters=len(self._counters), error=str(error).strip()[:200])
            except Exception:  # Later results must not fail for the same reason.
                log.exception("tls_results_dropped")

    async def flush(self) -> None:
        """Add the counters to the database. Keeps them, and raises the error, if it cannot be reached."""
        counters, self._counters = self._counters, Counter()
        try:
            await self._store(counters)
        except (OperationalError, PoolTimeout, asyncio.CancelledError):
            self._counters.update(counters)
            raise

    async def _store(self, counters: Counter[tuple[date, TlsSession]]) -> None:
        rows = [_counted(day, session, sessions) for (day, session), sessions in counters.items()]
        if not rows:
            return
        pairs = sorted({(row.day, row.domain) for row in rows})
        async with self._world.db.transaction() as tx:
            await store.add_results(tx, rows=Jsonb(rows), limit=MAX_RESULTS_PER_DAY)
            await store.add_reports(
                tx,
                ids=[new_id() for _ in pairs],
                days=[day for day, _ in pairs],
                domains=[domain for _, domain in pairs],
                due_at=[self._due_at(day) for day, _ in pairs],
            )

    def _due_at(self, day: date) -> Moment:
        """When the report about a day is sent: between a minute and LONGEST_DELAY after its end."""
        end = datetime.combine(day + timedelta(days=1), time(), self._world.clock().tzinfo)
        minute = timedelta(minutes=1)
        return Moment.of(end + minute + (LONGEST_DELAY - minute) * self._world.random.random())

    async def aclose(self) -> None:
        """Add the last counters to the database."""
        if self._flushing is not None:
            self._flushing.cancel()
            await asyncio.gather(self._flushing, return_exceptions=True)
        try:
            await self.flush()
        except (OperationalError, PoolTimeout) as error:
            log.warning("tls_results_lost", counters=len(self._counters), error=str(error).strip()[:200])


def _counted(day: date, session: TlsSession, sessions: int) -> CountedResult:
    policy = session.policy
    key = hashlib.sha256(msgspec.json.encode(session)).hexdigest()
    return CountedResult(
        day=day,
        domain=session.domain,
        key=key,
        policy_type=policy.type,
        policy_domain=policy.domain,
        policy_lines=list(policy.lines),
        policy_mx=list(policy.mx),
        result=session.result,
        sending_ip=session.sending_ip,
        receiving_mx=session.receiving_mx,
        receiving_ip=session.receiving_ip,
        reason=session.reason,
        sessions=sessions,
    )


def tls_results(world: "World") -> TlsResults:
    """The counters of this process, created on first use."""
    return world.resources[TlsResults]
