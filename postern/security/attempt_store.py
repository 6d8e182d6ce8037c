"""SQL of counted attempts. Rows of developers have the project_id NO_ID, which no project has."""

from datetime import datetime
from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, statement
from postern.kernel.values import Record


class AttemptCount(Record):
    """The counts after an attempt was added."""

    failures: int
    locked_until: Moment | None
    everywhere: int
    """Failures of this identifier from all networks within the window."""


# Counting starts again at 1 when the window, or a lock, has ended.
@statement("""
    insert into sign_in_attempts as f (project_id, id, identifier, ip_address, failures, since, due_at)
    values (%(project_id)s, %(id)s, %(identifier)s, %(ip_address)s, 1, %(now)s,
            %(now)s::timestamptz + %(kept)s::interval)
    on conflict (project_id, identifier, ip_address) do update set
        failures = case when f.locked_until > %(now)s then f.failures
                        when f.locked_until is not null or f.since + %(window)s::interval <= %(now)s then 1
                        else f.failures + 1 end,
        since = case when f.locked_until > %(now)s then f.since
                     when f.locked_until is not null or f.since + %(window)s::interval <= %(now)s then %(now)s
                     else f.since end,
        locked_until = case when f.locked_until > %(now)s then f.locked_until end,
        due_at = %(now)s::timestamptz + %(kept)s::interval
    returning f.failures, f.locked_until, coalesce((
        select e.failures from sign_in_attempts e
        where e.project_id = %(project_id)s and e.identifier = %(identifier)s and e.ip_address = ''
          and e.since + %(window)s::interval > %(now)s), 0) as everywhere
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
    kept: str,
) -> AttemptCount: ...


@statement("""
    select coalesce(sum(failures), 0)::int from sign_in_attempts
    where project_id = %(project_id)s and identifier = %(identifier)s and ip_address = '' and since > %(since)s
""")
async def count_failures(db: Queries, *, project_id: UUID, identifier: bytes, since: datetime) -> int: ...


# Each lock lasts twice as long as the one before, up to %(most)s.
@statement("""
    update sign_in_attempts set locks = locks + 1,
        locked_until = %(now)s::timestamptz + least(%(first)s::interval * (1 << least(locks, 10)), %(most)s::interval)
    where project_id = %(project_id)s and identifier = %(identifier)s and ip_address = %(ip_address)s
      and (locked_until is null or locked_until <= %(now)s)
""")
async def lock_identifier(
    db: Queries, *, project_id: UUID, identifier: bytes, ip_address: str, now: Moment, first: str, most: str
) -> bool: ...


@statement("""
    update sign_in_attempts set failures = failures - 1
    where project_id = %(project_id)s and identifier = %(identifier)s and ip_address = %(ip_address)s
      and failures > 0 and (locked_until is null or locked_until <= %(now)s)
""")
async def take_back(db: Queries, *, project_id: UUID, identifier: bytes, ip_address: str, now: Moment) -> None: ...


@statement("""
    delete from sign_in_attempts
    where project_id = %(project_id)s and identifier = %(identifier)s
      and (%(ip_address)s::text is null or ip_address = %(ip_address)s)
""")
async def clear(db: Queries, *, project_id: UUID, identifier: bytes, ip_address: str | None) -> None: ...


@statement("""
    delete from sign_in_attempts where project_id = %(project_id)s and id = any (%(ids)s)
      and (locked_until is null or locked_until <= %(now)s) and since <= %(before)s
""")
async def delete_expired(db: Queries, *, project_id: UUID, ids: list[UUID], now: Moment, before: datetime) -> None: ...
