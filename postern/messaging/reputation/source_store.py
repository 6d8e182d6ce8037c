"""SQL statements of the warm-up plans of source addresses (IP addresses from which the server sends).

The plans belong to the server and not to a project. The table `source_places` has the reservations, see
`source_warm_up.py`.
"""

from datetime import date

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Record
from postern.messaging.reputation.model import SourceWarmUp


class SourceReservation(Record):
    """A reservation: a message that counts towards the ceiling of an address on a day."""

    address: str
    message_id: str


@statement("select * from source_warm_ups order by address")
async def source_warm_ups(db: Queries) -> list[SourceWarmUp]: ...


# The plans of these addresses, locked for update; sorted to avoid deadlocks.
@statement("select * from source_warm_ups where address = any (%(addresses)s) order by address for update")
async def lock_source_warm_ups(tx: Transaction, *, addresses: list[str]) -> list[SourceWarmUp]: ...


@statement("insert into source_warm_ups {row} on conflict do nothing")
async def insert_source_warm_up(tx: Transaction, warm_up: SourceWarmUp) -> None: ...


# Store a plan and its progress.
@statement("""
    update source_warm_ups set status = %(status)s, starts_on = %(starts_on)s, steps = %(steps)s::int[],
        step = %(step)s, day = %(day)s, used = %(used)s, repeated = %(repeated)s, ended_at = %(ended_at)s,
        updated_at = %(updated_at)s
    where address = %(address)s
""")
async def update_source_warm_up(tx: Transaction, warm_up: SourceWarmUp) -> None: ...


# Which of these messages have a reservation at one of these addresses; `days` are the days of the plans of `addresses`,
# in the same order.
@statement("""
    select p.address, p.message_id from unnest(%(addresses)s::text[], %(days)s::date[]) as v (address, day)
    join source_places p on (p.address, p.day) = (v.address, v.day)
    where p.message_id = any (%(message_ids)s)
""")
async def source_reservations(
    tx: Transaction, *, addresses: list[str], days: list[date], message_ids: list[str]
) -> list[SourceReservation]: ...


@statement("""
    insert into source_places (address, day, message_id)
    select * from unnest(%(addresses)s::text[], %(days)s::date[], %(message_ids)s::text[])
    on conflict do nothing
""")
async def insert_source_reservations(
    tx: Transaction, *, addresses: list[str], days: list[date], message_ids: list[str]
) -> None: ...


# Delete up to `limit` reservations of days before `before`.
@statement("""
    delete from source_places where ctid = any (array(
        select ctid from source_places where address = %(address)s and day < %(before)s limit %(limit)s))
""")
async def delete_expired_source_reservations(tx: Transaction, *, address: str, before: date, limit: int) -> None: ...
