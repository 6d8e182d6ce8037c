"""SQL of counted sign-in attempts. Rows of developers have the project_id NO_ID, which no project has."""

from datetime import datetime
from uuid import UUID

from postern.kernel.database.statements import Queries, statement
from postern.kernel.values import Moment, Record


class AttemptCount(Record):
    """The counts of an identifier, including the attempt that was just counted."""

    failures: int
    """Attempts from this network within the window that were not successful, or are not checked yet."""
    locked_until: Moment | None
    """When the present lock of the identifier for this network ends; None if it is not locked."""
    failures_all_networks: int
    """Failures from all networks together within the window."""


# Count an attempt from `ip_address`, a network (empty: all networks), and return the new counts.
# The count starts again at 1 once the window or the lock has ended; it does not grow during a lock.
@statement("""
    /*distributed with all_networks as materialized (
        select failures from sign_in_attempts total
        where total.project_id = %(project_id)s and total.identifier = %(identifier)s and total.ip_address = ''
          and total.since + %(window)s::interval > %(now)s
    ), counted as ( */
    insert into sign_in_attempts as counts (project_id, id, identifier, ip_address, failures, since, due_at)
    values (%(project_id)s, %(id)s, %(identifier)s, %(ip_address)s, 1, %(now)s,
            %(now)s::timestamptz + %(retention)s::interval)
    on conflict (project_id, identifier, ip_address) do update set
        failures = case when counts.locked_until > %(now)s then counts.failures
                        when counts.locked_until is not null
                             or counts.since at time zone 'UTC' + %(window)s::interval
                                <= excluded.since at time zone 'UTC' then 1
                        else counts.failures + 1 end,
        since = case when counts.locked_until > %(now)s then counts.since
                     when counts.locked_until is not null
                          or counts.since at time zone 'UTC' + %(window)s::interval
                             <= excluded.since at time zone 'UTC' then excluded.since
                     else counts.since end,
        locked_until = case when counts.locked_until > %(now)s then counts.locked_until end,
        due_at = excluded.due_at
    returning counts.failures, counts.locked_until
    /*distributed ) select counted.failures, counted.locked_until */, coalesce((
        /*single*/select total.failures from sign_in_attempts total
        where total.project_id = %(project_id)s and total.identifier = %(identifier)s and total.ip_address = ''
          and total.since + %(window)s::interval > %(now)s/*end*/ /*distributed select failures from all_networks */
    ), 0) as failures_all_networks
    /*distributed from counted */
""")
async def count_attempt(
    db: Queries,
    *,
    project_id: UUID,
    id: UUID,
    identifier: bytes,
    ip_address: str,
    now: Moment,
    window: str,
    retention: str,
) -> AttemptCount: ...


# Return the number of failures from all networks since `since`, or 0.
@statement("""
    select coalesce(sum(failures), 0)::int from sign_in_attempts
    where project_id = %(project_id)s and identifier = %(identifier)s and ip_address = '' and since > %(since)s
""")
async def count_failures(db: Queries, *, project_id: UUID, identifier: bytes, since: datetime) -> int: ...


# Lock an identifier for a network. Returns False if it is locked already.
# Each lock lasts twice as long as the previous one, from %(first)s up to %(longest)s.
@statement("""
    update sign_in_attempts set locks = locks + 1,
        locked_until =
            (%(now)s::timestamptz at time zone 'UTC'
             + least(%(first)s::interval * (1 << least(locks, 10)), %(longest)s::interval)) at time zone 'UTC'
    where project_id = %(project_id)s and identifier = %(identifier)s and ip_address = %(ip_address)s
      and (locked_until is null or locked_until <= %(now)s)
""")
async def lock_identifier(
    db: Queries, *, project_id: UUID, identifier: bytes, ip_address: str, now: Moment, first: str, longest: str
) -> bool: ...


@statement("""
    update sign_in_attempts set failures = failures - 1
    where project_id = %(project_id)s and identifier = %(identifier)s and ip_address = %(ip_address)s
      and failures > 0 and (locked_until is null or locked_until <= %(now)s)
""")
async def uncount_attempt(db: Queries, *, project_id: UUID, identifier: bytes, ip_address: str, now: Moment) -> None:
    """Subtract one from the count of a network, unless the identifier is locked."""


@statement("""
    delete from sign_in_attempts
    where project_id = %(project_id)s and identifier = %(identifier)s
      and (%(ip_address)s::text is null or ip_address = %(ip_address)s)
""")
async def delete_counts(db: Queries, *, project_id: UUID, identifier: bytes, ip_address: str | None) -> None:
    """Delete the counts and locks of an identifier for one network, or for all if `ip_address` is None."""


@statement("""
    delete from sign_in_attempts where project_id = %(project_id)s and id = any (%(ids)s)
      and (locked_until is null or locked_until <= %(now)s) and since <= %(before)s
""")
async def delete_expired(db: Queries, *, project_id: UUID, ids: list[UUID], now: Moment, before: datetime) -> None:
    """Delete the counts with these ids that are not locked and whose window began at `before` or earlier."""
