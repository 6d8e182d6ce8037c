"""SQL of the instance itself: its master key's check value, the heartbeats of its workers and SMTP processes, and
counts of reports."""

from typing import Any
from uuid import UUID

from postern.kernel.database.statements import Jsonb, Queries, statement
from postern.kernel.limits import RateUse, SharedRate
from postern.kernel.values import Moment, Record


class SmtpProcess(Record):
    """A running process with SMTP servers."""

    id: UUID
    counters: dict[str, dict[str, Any]]
    """The counters of each port, keyed by the name of the port and by that of the counter."""


class ReportCount(Record):
    """How many reports of a kind (bounces, complaints and others about sent mail) could not be processed so far."""

    kind: str
    reports: int


# Store the check value of the master key if the database has none. Returns the stored value, which belongs to another
# master key if it differs.
@statement("""
    insert into instance (key_check) values (%(key_check)s) on conflict (only_one) do update set only_one = true
    returning key_check
""")
async def claim_instance(db: Queries, *, key_check: bytes) -> bytes: ...


# Record that a worker is alive; the first call registers it.
@statement("""
    insert into workers (id, started_at, seen_at) values (%(id)s, %(now)s, %(now)s)
    on conflict (id) do update set seen_at = %(now)s
""")
async def heartbeat(db: Queries, *, id: UUID, now: Moment) -> None: ...


# Delete a worker, and all workers whose last heartbeat was before `before`.
@statement("delete from workers where id = %(id)s or seen_at < %(before)s")
async def remove_worker(db: Queries, *, id: UUID, before: Moment) -> None: ...


# The number of workers with a heartbeat since `since`.
@statement("select count(*)::int from workers where seen_at >= %(since)s")
async def count_workers(db: Queries, *, since: Moment) -> int: ...


# Whether the server refuses to write, as a standby does.
@statement("select 1 where current_setting('transaction_read_only')::boolean")
async def is_read_only(db: Queries) -> bool: ...


# The time of the latest heartbeat of any worker; None if no worker is registered.
@statement("select max(seen_at) as seen_at from workers")
async def last_heartbeat(db: Queries) -> Moment | None: ...


# Store the counters of a process with SMTP servers; the first call registers it.
@statement("""
    insert into smtp_processes (id, seen_at, counters) values (%(id)s, %(now)s, %(counters)s)
    on conflict (id) do update set seen_at = %(now)s, counters = %(counters)s
""")
async def record_smtp_counters(db: Queries, *, id: UUID, now: Moment, counters: Jsonb) -> None: ...


# Delete a process with SMTP servers, and all that were last seen before `before`.
@statement("delete from smtp_processes where id = %(id)s or seen_at < %(before)s")
async def remove_smtp_process(db: Queries, *, id: UUID, before: Moment) -> None: ...


# Merge the pending entries of a GIN index into its tree, unless another process does so, or this user does not own it.
# On Citus, the indexes of its servers are not reached.
@statement("""
    select gin_clean_pending_list(c.oid)
    from pg_class c
    where c.relname = %(index)s::text and c.relnamespace = current_schema()::regnamespace
        and pg_has_role(c.relowner, 'USAGE') and pg_try_advisory_xact_lock(hashtextextended('pending entries', 0))
""")
async def merge_pending_entries(db: Queries, *, index: str) -> None: ...


# The numbers of reports that could not be processed, by kind.
@statement("select kind, reports from report_counts order by kind")
async def report_counts(db: Queries) -> list[ReportCount]: ...


# The processes with SMTP servers that were seen since `since`.
@statement("select id, counters from smtp_processes where seen_at >= %(since)s order by id")
async def smtp_processes(db: Queries, *, since: Moment) -> list[SmtpProcess]: ...


# Record when the database was backed up.
@statement("update instance set backed_up_at = %(now)s")
async def record_backup(db: Queries, *, now: Moment) -> None: ...


# The numbers of the long migrations that are not finished.
@statement("select number from migration_progress where finished_at is null order by number")
async def unfinished_migrations(db: Queries) -> list[int]: ...


# What tells this database from those of other servers, also of standbys and copies, and from the other databases of its
# server.
@statement("""
    select (select system_identifier::text from pg_control_system()) || ' ' || oid || ' ' || pg_postmaster_start_time()
        as identity
    from pg_database
    where datname = current_database()
""")
async def database_identity(db: Queries) -> str: ...


# Subtract what a process has granted from the rate limits that all processes have together, and return these. A limit
# is overdrawn by its quota at most, so that it is available again after its window at the latest.
@statement("""
    insert into rate_limits as r (key, quota, per_second, taken, balance, demand, used_at)
    select u.key, u.quota, u.per_second, u.taken, greatest(u.quota - u.taken, -u.quota), u.demand, clock_timestamp()
    from unnest(%(key)s::bytea[], %(quota)s::float8[], %(per_second)s::float8[], %(taken)s::float8[],
                %(demand)s::float8[]) as u (key, quota, per_second, taken, demand)
    order by u.key
    on conflict (key) do update set
        quota = excluded.quota,
        per_second = excluded.per_second,
        taken = excluded.taken,
        balance = greatest(
            least(excluded.quota,
                  r.balance + extract(epoch from excluded.used_at - r.used_at) * excluded.per_second) - excluded.taken,
            -excluded.quota),
        demand = r.demand * exp(greatest(-extract(epoch from excluded.used_at - r.used_at) / %(demand_seconds)s, -100))
                 + excluded.demand,
        used_at = excluded.used_at
    returning key, balance, demand
""")
async def exchange_rates(db: Queries, uses: list[RateUse], *, demand_seconds: float) -> list[SharedRate]: ...


# Delete at most `limit` rate limits that are complete again.
@statement("""
    delete from rate_limits where key in (
        select key from rate_limits
        where used_at < clock_timestamp() - interval '1 hour'
          and balance + extract(epoch from clock_timestamp() - used_at) * per_second >= quota
        order by used_at limit %(limit)s for update skip locked
    )
""")
async def delete_complete_rates(db: Queries, *, limit: int) -> None: ...
