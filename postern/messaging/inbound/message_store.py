"""SQL statements of received messages."""

from datetime import datetime
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment
from postern.messaging.content_store.model import ContentCandidate, ContentDocument
from postern.messaging.inbound.model import (
    ExpiredInbound,
    InboundRow,
    InboundRowWithMessage,
    StoredInbound,
    StoredMessage,
)


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
async def message(db: Queries, *, project_id: UUID, id: UUID) -> StoredInbound | None: ...


@statement("select message, object_octets from inbound_messages where project_id = %(project_id)s and id = %(id)s")
async def content(db: Queries, *, project_id: UUID, id: UUID) -> StoredMessage | None: ...


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


# Contents that are moved to the store of objects. See `MovedContents`.


@statement("""
    /*single*/
    select oldest.id from projects p
    cross join lateral (
        select m.id from inbound_messages m
        where m.project_id = p.id and m.id >= %(first_id)s order by m.id limit 1
    ) as oldest order by oldest.id limit 1
    /*end*/
    /*distributed select id from inbound_messages where id >= %(first_id)s order by id limit 1 */
""")
async def oldest_message(db: Queries, *, first_id: UUID) -> UUID | None:
    """The id of the oldest message from `first_id` on; None if there is none."""


# pg_column_size is the size as it is stored, compressed; it does not read the message.
@statement("""
    insert into content_objects (project_id, id, kind, due_at)
    select m.project_id, m.id, 'received', %(now)s from projects p join inbound_messages m on m.project_id = p.id
    where m.id >= %(first_id)s and m.id < %(end_id)s and m.object_octets is null
      and pg_column_size(m.message) >= %(octets)s
    on conflict (project_id, id) do nothing
""")
async def insert_objects(tx: Transaction, *, first_id: UUID, end_id: UUID, octets: int, now: Moment) -> bool: ...


@statement("""
    select id, size as octets, object_octets is null as may_move from inbound_messages
    where project_id = %(project_id)s and id = any (%(ids)s)
""")
async def candidates(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[ContentCandidate]: ...


@statement("""
    select id, message as document from inbound_messages
    where project_id = %(project_id)s and id = any (%(ids)s) and object_octets is null
""")
async def documents(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[ContentDocument]: ...


@statement("""
    select o.id from content_objects o
    join unnest(%(ids)s::uuid[], %(attempts)s::int[]) as v (id, attempt) on (v.id, v.attempt) = (o.id, o.attempt)
    join inbound_messages m on (m.project_id, m.id) = (o.project_id, o.id)
    where o.project_id = %(project_id)s and o.state = 'WAITING' and m.object_octets is null
    order by o.id for update of o, m skip locked
""")
async def lock_to_move(tx: Transaction, *, project_id: UUID, ids: list[UUID], attempts: list[int]) -> list[UUID]: ...


@statement("""
    update inbound_messages m set object_octets = v.octets, message = ''
    from unnest(%(ids)s::uuid[], %(octets)s::int[]) as v (id, octets)
    where m.project_id = %(project_id)s and m.id = v.id
""")
async def replace_messages(tx: Transaction, *, project_id: UUID, ids: list[UUID], octets: list[int]) -> None:
    """Replace messages by the sizes of their objects. Lock them before."""
