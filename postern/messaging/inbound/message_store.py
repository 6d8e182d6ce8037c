"""SQL statements of received messages."""

from datetime import datetime
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment
from postern.messaging.inbound.model import ExpiredInbound, InboundRow, InboundRowWithMessage


# Insert a message; returns False if the project has it already.
@statement("insert into inbound_messages {row} on conflict (project_id, fingerprint) do nothing")
async def insert_message(tx: Transaction, row: InboundRowWithMessage) -> bool: ...


# Insert messages, except those that their project has already; returns the ids of the inserted messages.
@statement("""
    insert into inbound_messages (
        project_id, id, source, sender, recipients, addresses, client_ip, client_name, from_name, from_email,
        to_addresses, subject, message_id, send_id, size, attachments, automatic, authentication, hints, fingerprint,
        message, received_at)
    select project_id, id, source, sender, recipients, array(select jsonb_array_elements_text(addresses)), client_ip,
           client_name, from_name, from_email, to_addresses, subject, message_id, send_id, size, attachments, automatic,
           authentication, hints, fingerprint, message, received_at
    from unnest(
        %(project_id)s::uuid[], %(id)s::uuid[], %(source)s::text[], %(sender)s::text[], %(recipients)s::jsonb[],
        %(addresses)s::jsonb[], %(client_ip)s::text[], %(client_name)s::text[], %(from_name)s::text[],
        %(from_email)s::text[], %(to_addresses)s::jsonb[], %(subject)s::text[], %(message_id)s::text[],
        %(send_id)s::uuid[], %(size)s::int[], %(attachments)s::int[], %(automatic)s::bool[],
        %(authentication)s::jsonb[], %(hints)s::jsonb[], %(fingerprint)s::bytea[], %(message)s::bytea[],
        %(received_at)s::timestamptz[]
    ) as v (
        project_id, id, source, sender, recipients, addresses, client_ip, client_name, from_name, from_email,
        to_addresses, subject, message_id, send_id, size, attachments, automatic, authentication, hints, fingerprint,
        message, received_at)
    order by project_id, fingerprint
    on conflict (project_id, fingerprint) do nothing
    returning id
""")
async def insert_messages(tx: Transaction, rows: list[InboundRowWithMessage]) -> list[UUID]: ...


@statement("select id from inbound_messages where project_id = %(project_id)s and fingerprint = %(fingerprint)s")
async def id_with_fingerprint(db: Queries, *, project_id: UUID, fingerprint: bytes) -> UUID | None: ...


# Messages, newest first. Filters that are null match all; `recipient` and `sender` are in lower case.
@statement("""
    select id, source, recipients, subject, message_id, send_id, size, automatic, hints, received_at, project_id,
           sender, addresses, client_ip, client_name, from_name, from_email, to_addresses, attachments, authentication
    from inbound_messages
    where project_id = %(project_id)s and (%(before)s::uuid is null or id < %(before)s)
      and (%(recipient)s::text is null or addresses @> array[%(recipient)s::text])
      and (%(sender)s::text is null or lower(from_email) = %(sender)s)
      and (%(route)s::jsonb is null or recipients @> %(route)s::jsonb)
      and (%(send_id)s::uuid is null or send_id = %(send_id)s)
      and (%(since)s::timestamptz is null or received_at >= %(since)s)
      and (%(until)s::timestamptz is null or received_at < %(until)s)
    order by id desc limit %(limit)s
""")
async def messages(
    db: Queries,
    *,
    project_id: UUID,
    before: UUID | None,
    limit: int,
    recipient: str | None,
    sender: str | None,
    route: str | None,
    send_id: UUID | None,
    since: datetime | None,
    until: datetime | None,
) -> list[InboundRow]: ...


@statement("select * from inbound_messages where project_id = %(project_id)s and id = %(id)s")
async def message(db: Queries, *, project_id: UUID, id: UUID) -> InboundRowWithMessage | None: ...


@statement("select message from inbound_messages where project_id = %(project_id)s and id = %(id)s")
async def content(db: Queries, *, project_id: UUID, id: UUID) -> bytes | None: ...


@statement("delete from inbound_messages where project_id = %(project_id)s and id = any (%(ids)s)")
async def delete_messages(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> bool: ...


# The ids of the messages whose first address in From is `address` (in lower case), and of the replies to these sends.
@statement("""
    select id from inbound_messages
    where project_id = %(project_id)s and (lower(from_email) = %(address)s or send_id = any (%(send_ids)s))
""")
async def messages_of(tx: Transaction, *, project_id: UUID, address: str, send_ids: list[UUID]) -> list[UUID]: ...


# Messages whose retention period has ended: the oldest `limit` of each project. `default_days` is the retention period
# of projects that have not set one.
@statement("""
    /*single*/select expired.project_id, expired.id from projects p
    cross join lateral (
        select m.project_id, m.id from inbound_messages m
        where m.project_id = p.id
          and m.received_at < %(now)s::timestamptz
              - make_interval(days => coalesce((p.settings ->> 'inboundRetentionDays')::int, %(default_days)s))
        order by m.received_at limit %(limit)s
    ) as expired
    order by expired.project_id, expired.id/*end*/
    /*distributed select m.project_id, m.id from inbound_messages m join projects p on p.id = m.project_id
    where m.received_at < %(now)s::timestamptz
        - make_interval(days => coalesce((p.settings ->> 'inboundRetentionDays')::int, %(default_days)s))
    order by m.project_id, m.id limit %(limit)s */
""")
async def expired_messages(db: Queries, *, now: Moment, default_days: int, limit: int) -> list[ExpiredInbound]: ...
