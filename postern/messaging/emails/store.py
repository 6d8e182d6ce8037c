"""SQL of sends, their bodies, attempts, suppressions and idempotency keys."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from psycopg.sql import Composable

from postern.kernel.database.statements import Jsonb, Queries, Transaction, moment_text, statement, streamed_statement
from postern.kernel.values import Moment, Record
from postern.messaging.emails.model import (
    SUPPRESSION_STRENGTH,
    CapturedMail,
    ContentOptions,
    ContentState,
    FirstEngagement,
    IdempotencyKey,
    IdempotencyRow,
    Postponement,
    ProviderMessage,
    Send,
    SendAttempt,
    SendBody,
    SendReport,
    Suppression,
    SuppressionEntry,
    TrackedSend,
    TransmittedParts,
)
from postern.platform.projects.archive import ArchivedRow


class BodySize(Record):
    """The approximate size in octets of the content of a send, or of content that many sends share."""

    id: UUID
    size: int


class StoredBody(Record):
    """The content of one send."""

    send_id: UUID
    body: SendBody
    sealed: bytes | None
    """The complete content, encrypted, if it has one-time secrets and the send is not settled yet."""
    object_octets: int | None
    """The size of the object that has the content, and `body` the rest of it; see `emails.contents`. None if `body` has
    it all."""


class StoredContent(Record):
    """Content that many sends share."""

    id: UUID
    body: SendBody
    state: ContentState


class ClaimedKey(Record):
    """An idempotency key that this request has claimed."""

    project_id: UUID
    route: str
    key: str


class SuppressedAddress(Record):
    """A suppressed address with the reason."""

    address: str
    reason: str


class SettledSend(Record):
    """A send whose state was stored after an attempt. Sends of which a later attempt has begun are not among them."""

    id: UUID
    status: str


class PreSendState(Record):
    """The result of the check right before transmission, for the latest attempt of a send."""

    id: UUID
    may_go: bool
    """Whether the send may be transmitted."""


class StateById(Record):
    """The state of shared content (`GOING`, `HELD`, `STOPPED`), or of a contact (`SUBSCRIBED`, `UNSUBSCRIBED`)."""

    id: UUID
    state: str


class ContactCount(Record):
    """The number of messages to a contact."""

    id: UUID
    count: int


class LeasedTimes(Record):
    """A leased time span in which a process can send; `begin_seconds` is the time until it begins."""

    begin_seconds: float


class SendCounter(Record):
    """The value of a counter, such as the number of sends with a status."""

    measure: str
    count: int


class InsertedSend(Record):
    """What the statement that inserts a send finds out about its recipients."""

    id: UUID
    contact_id: UUID | None
    """The contact that the send is addressed to, if there is one."""
    suppressed: dict[str, str] | None
    """The suppressed ones among `suppressible`, each with the reason; None without any."""


class AttemptRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A row of the attempt log for `settle`; fields that are None are left out of its JSON."""

    project_id: UUID
    send_id: UUID
    attempt: int
    always: bool | None = None
    """True for a row that is stored even if a later attempt of the send has begun."""
    outcome: str
    transport: str | None = None
    host: str
    results: list[dict[str, Any]]
    dialogue: list[str]
    duration_ms: int
    provider_id: str | None = None
    signatures: str | None = None
    links_base: str | None = None
    unsubscribe_domain: str | None = None


INSERTED_FIELDS = (
    *("project_id", "id", "status", "test", "message_id", "subject", "sender", "recipient", "to_addresses"),
    *("cc_addresses", "bcc_addresses", "domain_id", "tags", "due_at", "attempt", "scheduled_at"),
    *("expires_at", "created_at"),
)
"""The fields of a new send that `insert_sends` stores unchanged."""


# Insert transactional sends, their search texts, and those bodies that are not null. `project_id`: all projects that
# occur in `rows`. The contact of a send is the one with the address key `recipient_key`. A send with `attempt` 1 is
# inserted as claimed by this process and marked "transmission begun, reply unknown" (`handed_over`), because this
# process transmits it immediately; other sends have `attempt` 0. `suppressible` are the addresses, in lower case, to
# look up in the suppression list; null for a send that this process does not transmit.
# All rows are passed as one JSON value, because that is far cheaper to encode than a dozen arrays. `lane` 0 is
# TRANSACTIONAL. `attempt` is the number of the latest attempt, `tries` the number of attempts that count as tries, and
# `dated_at` the time in the `Date` header; it is known from the start only if the first attempt begins at once.
# The list of projects is in a subselect, so that PostgreSQL does not plan the statement again for each batch.
@statement("""
    with v as materialized (
        select v.*,
            (select c.id from contacts c where c.project_id = v.project_id and c.email_key = v.recipient_key
                /*distributed and c.project_id = any (%(project_id)s) */)
                as contact_id,
            (select jsonb_object_agg(p.address, p.reason) from suppressions p
             where p.project_id = v.project_id and p.address = any (v.suppressible)
                /*distributed and p.project_id = any (%(project_id)s) */) as suppressed
        from jsonb_to_recordset(%(rows)s) as v (
            project_id uuid, id uuid, status text, test bool, message_id text, subject text, sender text,
            recipient text, recipient_key text, to_addresses text[], cc_addresses text[], bcc_addresses text[],
            suppressible text[], domain_id uuid, tags text[], due_at timestamptz, attempt int, scheduled_at timestamptz,
            expires_at timestamptz, created_at timestamptz, body jsonb, sealed text, search_text text)
        where v.project_id = any ((select %(project_id)s::uuid[])::uuid[])
    ), bodies as (
        insert into send_bodies (project_id, send_id, body, sealed)
        select project_id, id, body, decode(sealed, 'base64') from v where body is not null
    ), searches as (
        insert into send_search (project_id, send_id, search_text) select project_id, id, search_text from v
    ), inserted as (
        insert into sends (project_id, id, status, lane, test, message_id, subject, sender, recipient, to_addresses,
                           cc_addresses, bcc_addresses, domain_id, contact_id, tags, due_at, attempt, tries,
                           handed_over, scheduled_at, expires_at, created_at, updated_at, dated_at)
        select project_id, id, status, 0, test, message_id, subject, sender, recipient, to_addresses, cc_addresses,
               bcc_addresses, domain_id, contact_id, tags, due_at, attempt, 0, nullif(attempt, 0), scheduled_at,
               expires_at, created_at, created_at, case when attempt > 0 then created_at end
        from v
    )
    select id, contact_id, suppressed from v
""")
async def insert_sends(tx: Transaction, *, project_id: list[UUID], rows: Jsonb) -> list[InsertedSend]: ...


# Look up what `insert_sends` looks up, for the rows of one project.
@statement("""
    select v.id,
        (select c.id from contacts c where c.project_id = %(project_id)s and c.email_key = v.recipient_key)
            as contact_id,
        (select jsonb_object_agg(p.address, p.reason) from suppressions p
         where p.project_id = %(project_id)s and p.address = any (v.suppressible)) as suppressed
    from jsonb_to_recordset(%(rows)s) as v (id uuid, recipient_key text, suppressible text[])
""")
async def facts_of_recipients(tx: Transaction, *, project_id: UUID, rows: Jsonb) -> list[InsertedSend]: ...


# Insert one send as `insert_sends` does.
@statement(
    """
    insert into sends (project_id, id, status, lane, test, message_id, subject, sender, recipient, to_addresses,
                       cc_addresses, bcc_addresses, domain_id, contact_id, tags, due_at, attempt, tries, handed_over,
                       scheduled_at, expires_at, created_at, updated_at, dated_at)
    values (%(project_id)s, %(id)s, %(status)s, 0, %(test)s, %(message_id)s, %(subject)s, %(sender)s, %(recipient)s,
            %(to_addresses)s, %(cc_addresses)s, %(bcc_addresses)s, %(domain_id)s, %(contact_id)s, %(tags)s, %(due_at)s,
            %(attempt)s, 0, nullif(%(attempt)s, 0), %(scheduled_at)s, %(expires_at)s, %(created_at)s, %(created_at)s,
            case when %(attempt)s > 0 then %(created_at)s::timestamptz end)
""",
    partial=True,
)
async def insert_send(tx: Transaction, send: Send) -> None: ...


@statement("""
    insert into send_search (project_id, send_id, search_text) values (%(project_id)s, %(send_id)s, %(search_text)s)
""")
async def insert_search(tx: Transaction, *, project_id: UUID, send_id: UUID, search_text: str) -> None: ...


# Insert the large body of a send. In `insert_sends`, PostgreSQL would write it to a file and read it several times.
@statement("""
    insert into send_bodies (project_id, send_id, body, sealed)
    values (%(project_id)s, %(send_id)s, %(body)s, %(sealed)s)
""")
async def insert_large_body(
    tx: Transaction, *, project_id: UUID, send_id: UUID, body: Jsonb, sealed: bytes | None
) -> None: ...


@statement("""
    with bodies as (
        insert into send_bodies (project_id, send_id, body)
        select * from unnest(%(project_id)s::uuid[], %(id)s::uuid[], %(body)s::jsonb[])
    )
    insert into send_search (project_id, send_id, search_text)
    select * from unnest(%(project_id)s::uuid[], %(id)s::uuid[], %(search_text)s::text[])
""")
async def insert_bodies(
    tx: Transaction, *, project_id: list[UUID], id: list[UUID], body: list[Jsonb], search_text: list[str]
) -> None: ...


# Insert idempotency keys and return those that were new or older than `window`. Other keys are left out and unchanged.
@statement("""
    /*distributed with claimed as ( */
    insert into idempotency_keys as existing (project_id, route, key, body_hash, send_ids, lease_until, status,
                                              response, created_at)
    select project_id, route, key, body_hash, array(select jsonb_array_elements_text(send_ids)::uuid),
           now() + %(lease)s::interval, status, response, now()
    from unnest(%(project_id)s::uuid[], %(route)s::text[], %(key)s::text[], %(body_hash)s::bytea[],
                %(send_ids)s::jsonb[], %(status)s::smallint[], %(response)s::jsonb[])
         as v (project_id, route, key, body_hash, send_ids, status, response)
    order by project_id, route, key
    on conflict (project_id, route, key) do update
        set body_hash = excluded.body_hash, send_ids = excluded.send_ids, lease_until = excluded.lease_until,
            status = excluded.status, response = excluded.response, created_at = excluded.created_at
        where existing.created_at at time zone 'UTC' + %(window)s::interval
              <= excluded.created_at at time zone 'UTC'
    returning project_id, route, key
    /*distributed ) select project_id, route, key from claimed */
""")
async def claim_keys(
    tx: Transaction, keys: list[IdempotencyKey], *, lease: timedelta, window: timedelta
) -> list[ClaimedKey]: ...


@statement("""
    select route, key, body_hash, send_ids, lease_until, status, response,
           status is null and lease_until > now() as is_running
    from idempotency_keys
    where project_id = %(project_id)s and route = %(route)s and key = %(key)s
      and created_at > now() - %(window)s::interval
""")
async def get_key(db: Queries, *, project_id: UUID, route: str, key: str, window: timedelta) -> IdempotencyRow | None:
    """The row of a key that was claimed within `window`."""


@statement("""
    update idempotency_keys as k set status = v.status, response = v.response
    from unnest(%(project_id)s::uuid[], %(route)s::text[], %(key)s::text[], %(status)s::smallint[],
                %(response)s::jsonb[]) as v (project_id, route, key, status, response)
    where (k.project_id, k.route, k.key) = (v.project_id, v.route, v.key) and k.status is null
        /*distributed and k.project_id = any (%(project_id)s) */
""")
async def finish_keys(db: Queries, keys: list[IdempotencyKey]) -> None:
    """Store status and response of keys that have none yet."""


# Delete up to `limit` keys that are older than `window`; False if there are none.
@statement("""
    delete from idempotency_keys where /*single*/ ctid = any (array(
        select ctid from idempotency_keys where created_at <= now() - %(window)s::interval limit %(limit)s
    )) /*end*/ /*distributed created_at <= now() - %(window)s::interval */
""")
async def delete_expired_keys(db: Queries, *, window: timedelta, limit: int) -> bool: ...


@statement("select * from sends where project_id = %(project_id)s and id = %(id)s")
async def get_send(db: Queries, *, project_id: UUID, id: UUID) -> Send | None: ...


@statement("select * from sends where project_id = %(project_id)s and id = any (%(ids)s)")
async def sends_by_id(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[Send]: ...


# Locked in the order of the ids, so that concurrent transactions do not deadlock.
@statement("""
    select * from sends where project_id = any (%(project_id)s) and id = any (%(ids)s)
    order by project_id, id for update
""")
async def lock_sends(tx: Transaction, *, project_id: list[UUID], ids: list[UUID]) -> list[Send]: ...


@statement("select * from sends where project_id = %(project_id)s and id = %(id)s for update")
async def lock_send(tx: Transaction, *, project_id: UUID, id: UUID) -> Send | None:
    """The row of a send, locked `for update`; None if there is none with this id."""


# One page of the log of sends, newest first. `where` is a condition on `sends s`.
@statement("""
    select s.* from sends s
    where s.project_id = %(project_id)s and s.id in (
        select s.id from sends s where s.project_id = %(project_id)s and {where}
        order by s.id desc limit %(limit)s offset %(offset)s
    ) order by s.id desc
""")
async def list_log(db: Queries, *, project_id: UUID, where: Composable, limit: int, offset: int) -> list[Send]: ...


# The number of sends that meet the condition `where`, as for `list_log`.
@statement("select count(*)::int from sends s where s.project_id = %(project_id)s and {where}")
async def count_log(db: Queries, *, project_id: UUID, where: Composable) -> int: ...


# Like `count_log`, but counts no more than `limit`. It reads the rows in the order of the log, in which rows of the
# same time are adjacent; in another order, it might read almost all rows before those of the time in the condition.
@statement("""
    select count(*)::int from (
        select from sends s where s.project_id = %(project_id)s and {where} order by s.id desc limit %(limit)s
    ) as counted
""")
async def count_log_up_to(db: Queries, *, project_id: UUID, where: Composable, limit: int) -> int: ...


# The ids of sends whose search text, or whose contact's address `c.email_key`, meets a condition: up to `limit` each.
@statement("""
    (select send_id from send_search where project_id = %(project_id)s and {text_matches} limit %(limit)s)
    union all
    (select o.id from contacts c join sends o on (o.project_id, o.contact_id) = (c.project_id, c.id)
     where c.project_id = %(project_id)s and {address_matches} and o.campaign_id is not null limit %(limit)s)
""")
async def ids_containing(
    db: Queries, *, project_id: UUID, text_matches: Composable, address_matches: Composable, limit: int
) -> list[UUID]: ...


# The cells of the CSV export of the log.
@streamed_statement(
    "select s.id::text, "
    + moment_text("s.created_at")
    + """, s.status, s.sender, array_to_string(s.to_addresses, ', '), array_to_string(s.cc_addresses, ', '),
        array_to_string(s.bcc_addresses, ', '), s.subject, s.message_id, array_to_string(s.tags, ', '),
        s.campaign_id::text, s.contact_id::text, s.reason, """
    + ", ".join(
        [
            moment_text("s.scheduled_at"),
            moment_text("s.sent_at"),
            moment_text("s.delivered_at"),
            moment_text("s.opened_at"),
            moment_text("s.clicked_at"),
            moment_text("s.bounced_at"),
            moment_text("s.complained_at"),
        ]
    )
    + " from sends s where s.project_id = %(project_id)s and {where} order by s.id desc"
)
def stream_log(tx: Transaction, *, project_id: UUID, where: Composable) -> AsyncIterator[list[tuple[Any, ...]]]: ...


# The counters of a campaign, or their sums over the whole project if `campaign_id` is None.
@statement("""
    select measure, sum(count)::bigint as count from send_counters
    where project_id = %(project_id)s and (%(campaign_id)s::uuid is null or campaign_id = %(campaign_id)s)
    group by measure
""")
async def counters(db: Queries, *, project_id: UUID, campaign_id: UUID | None) -> list[SendCounter]: ...


@statement("""
    select send_id, body, sealed, object_octets from send_bodies
    where project_id = %(project_id)s and send_id = any (%(ids)s)
""")
async def bodies(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[StoredBody]: ...


@statement("""
    update send_bodies set sealed = null
    where project_id = any (%(project_id)s) and send_id = any (%(ids)s) and sealed is not null
""")
async def erase_secrets(tx: Transaction, *, project_id: list[UUID], ids: list[UUID]) -> None:
    """Erase the encrypted content, with the one-time secrets, of these sends. `project_id`: their projects."""


# Erase the one-time secrets of up to `limit` settled sends; False if there are none.
# Normally the code that settles a send erases its secrets. This erases those that remained, for example after a crash.
@statement("""
    with settled as (
        select b.project_id, b.send_id from send_bodies b
        join sends s on (s.project_id, s.id) = (b.project_id, b.send_id)
        where b.sealed is not null and s.due_at is null limit %(limit)s
    )
    update send_bodies b set sealed = null from settled
    where (b.project_id, b.send_id) = (settled.project_id, settled.send_id)
""")
async def erase_settled_secrets(db: Queries, *, limit: int) -> bool: ...


# The approximate size of the bodies of sends, and of contents that many sends share. pg_column_size of a compressed
# value is its compressed size. Concatenating `{}` decompresses the value, which is cheaper than a conversion to text.
@statement("""
    select send_id as id, pg_column_size(
        case when pg_column_compression(body) is null then body else body || '{}' end) as size
    from send_bodies where project_id = %(project_id)s and send_id = any (%(ids)s)
    union all
    select id, pg_column_size(case when pg_column_compression(body) is null then body else body || '{}' end)
    from contents where project_id = %(project_id)s and id = any (%(content_ids)s)
""")
async def body_sizes(db: Queries, *, project_id: UUID, ids: list[UUID], content_ids: list[UUID]) -> list[BodySize]: ...


# The options of a send that are stored with its content; None if that is no longer stored.
@statement("""
    select coalesce(body ->> 'engine', 'minijinja') as engine,
           coalesce((body ->> 'require_tls')::boolean, false) as require_tls
    from (
        select body from send_bodies where project_id = %(project_id)s and send_id = %(send_id)s
        union all
        select body from contents where project_id = %(project_id)s and id = %(content_id)s
        limit 1
    ) as content
""")
async def content_options(
    db: Queries, *, project_id: UUID, send_id: UUID, content_id: UUID | None
) -> ContentOptions | None: ...


@statement("select id, body, state from contents where project_id = %(project_id)s and id = any (%(ids)s)")
async def get_contents(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[StoredContent]: ...


@statement("insert into contents {row}")
async def insert_content(tx: Transaction, *, project_id: UUID, id: UUID, body: Jsonb, created_at: Moment) -> None: ...


@statement("update contents set state = %(state)s where project_id = %(project_id)s and id = any (%(ids)s)")
async def set_content_state(tx: Transaction, *, project_id: UUID, ids: list[UUID], state: str) -> None: ...


# Whether a marketing send of these contents may be in transmission. While a worker has claimed a send, the due_at of
# the send is the end of the lease, which lies between `now` and `until`. handed_over equals the number of the current
# attempt from the check before transmission until the attempt is settled.
@statement("""
    select from sends
    where project_id = %(project_id)s and lane = 1 and due_at between %(now)s and %(until)s
      and content_id = any (%(content_ids)s) and handed_over = attempt
    limit 1
""")
async def has_unsettled_transmissions(
    db: Queries, *, project_id: UUID, content_ids: list[UUID], now: Moment, until: Moment
) -> bool: ...


# Remove due_at of sends whose content is still held; sends whose content was released in the meantime become due now.
# The share lock on the content makes a concurrent release wait, so that the release finds every send that is held here.
# The attempts transmitted nothing, so the marks "transmission begun, reply unknown" (handed_over) and the times of the
# first transmission (dated_at) that they set are removed. The parallel lists `project_id`, `ids` and `attempts` name
# these attempts.
@statement("""
    with held as materialized (
        select project_id, id from contents
        where project_id = any (%(project_id)s) and state = 'HELD' and id = any (%(content_ids)s)
        order by project_id, id for share
    )
    update sends as s set
        due_at = case when exists (select from held where (held.project_id, held.id) = (s.project_id, s.content_id))
                      then null else %(now)s::timestamptz end,
        updated_at = %(now)s, -- `campaign_store.release_sends` counts the pause from this time.
        handed_over = nullif(s.handed_over, v.attempt),
        dated_at = case when s.tries > 0 or s.ambiguous_attempts > 0 then s.dated_at end
    from unnest(%(project_id)s::uuid[], %(ids)s::uuid[], %(attempts)s::int[]) as v (project_id, id, attempt)
    where (s.project_id, s.id, s.attempt) = (v.project_id, v.id, v.attempt)
        /*distributed and s.project_id = any (%(project_id)s) */
""")
async def hold_sends(
    db: Queries, *, project_id: list[UUID], content_ids: list[UUID], ids: list[UUID], attempts: list[int], now: Moment
) -> None: ...


# Let claimed sends wait without an attempt to deliver them. Leaves out claims that are not the latest of their send.
# The sends must not be in transmission.
@statement("""
    with v as materialized (
        select %(project_id)s::uuid as project_id, *
        from unnest(%(id)s::uuid[], %(attempt)s::int[], %(due_at)s::timestamptz[], %(scheduled_at)s::timestamptz[],
                    %(retries_since)s::timestamptz[], %(site)s::text[], %(waits_for)s::text[], %(reason)s::text[])
            as v (id, attempt, due_at, scheduled_at, retries_since, site, waits_for, reason)
    )
    update sends as s set due_at = v.due_at, scheduled_at = coalesce(v.scheduled_at, s.scheduled_at),
        retries_since = coalesce(v.retries_since, s.retries_since), site = v.site, waits_for = v.waits_for,
        reason = v.reason, updated_at = %(now)s
    from v where (s.project_id, s.id, s.attempt) = (v.project_id, v.id, v.attempt)
        /*distributed and s.project_id = %(project_id)s */
""")
async def postpone(db: Queries, sends: list[Postponement], *, project_id: UUID, now: Moment) -> None: ...


# Until when the marketing mail of a domain is held because of its reputation; None if it is not held. The share lock
# makes a concurrent release wait for the end of the transaction, so that it finds every send that was postponed in it.
@statement("""
    select held_until from domain_reputations
    where project_id = %(project_id)s and id = %(domain_id)s and state = 'HELD' for share
""")
async def lock_hold(tx: Transaction, *, project_id: UUID, domain_id: UUID) -> Moment | None: ...


# Make up to `limit` sends of a domain due that wait until exactly `due_at`; returns whether there were any.
@statement("""
    update sends set due_at = %(now)s, scheduled_at = %(now)s
    where project_id = %(project_id)s and lane = 1 and due_at = %(due_at)s and id = any (array(
        select id from sends
        where project_id = %(project_id)s and lane = 1 and due_at = %(due_at)s and domain_id = %(domain_id)s
        limit %(limit)s))
""")
async def release_postponed(
    tx: Transaction, *, project_id: UUID, domain_id: UUID, due_at: Moment, limit: int, now: Moment
) -> bool: ...


# Whether each send may be transmitted. Leaves out attempts that are not the latest of their send, and those whose lease
# was not renewed and ends before `until`: then another worker may claim the send and transmit it, too.
# The subqueries check the state of shared content, then whether the contact exists and is subscribed, then the
# suppression list, where the reason UNSUBSCRIBE counts only if `skip_unsubscribed` is set. They are in the SELECT list,
# so that no query plan joins whole tables for the few hundred rows.
# `mark`: mark the send as "transmission begun, reply unknown" if it may be transmitted. `unsettled_attempt`: the number
# of an earlier attempt that was marked, but whose reply was not stored; `check_interrupted` records it as AMBIGUOUS
# with the text `lost_reply`. Few sends have one, and with an INSERT Citus divides the statement into steps (decision
# 0171).
# `array(select …)`: see `settle`.
_CHECK: LiteralString = """
    with requested as materialized (
        select * from jsonb_to_recordset(%(rows)s) as v (
            project_id uuid, id uuid, attempt int, content_id uuid, contact_id uuid, addresses text[],
            skip_unsubscribed bool, mark bool, unsettled_attempt int, dated_at timestamptz)
        where project_id = any (array(select unnest(%(project_id)s::uuid[])))
    ), checked as materialized (
        select r.*,
            (r.content_id is null or exists (
                select from contents c where (c.project_id, c.id) = (r.project_id, r.content_id) and c.state = 'GOING'
                /*distributed and c.project_id = any (%(project_id)s) */))
            and (r.contact_id is null or exists (
                select from contacts c
                where (c.project_id, c.id) = (r.project_id, r.contact_id) and not c.unsubscribed
                /*distributed and c.project_id = any (%(project_id)s) */))
            and not exists (
                select from suppressions p where p.project_id = r.project_id and p.address = any (r.addresses)
                                             and (r.skip_unsubscribed or p.reason <> 'UNSUBSCRIBE')
                /*distributed and p.project_id = any (%(project_id)s) */)
            as may_go
        from requested r
    ), marked as (
        update sends as s set handed_over = v.attempt, dated_at = coalesce(s.dated_at, v.dated_at),
                              ambiguous_attempts = s.ambiguous_attempts
                                  + (v.unsettled_attempt is not null and s.handed_over is distinct from v.attempt)::int
        from checked as v
        where (s.project_id, s.id, s.attempt) = (v.project_id, v.id, v.attempt) and s.due_at > %(until)s
              and v.mark and v.may_go
              /*distributed and s.project_id = any (%(project_id)s) */
        returning s.project_id, s.id, v.unsettled_attempt
    )
"""
_RECORD: LiteralString = """    , recorded as (
        insert into send_attempts (project_id, send_id, attempt, outcome, host, results, dialogue, duration_ms,
                                   finished_at)
        select project_id, id, unsettled_attempt, 'AMBIGUOUS', '', '[]', array[%(lost_reply)s::text], 0,
               %(now)s::timestamptz
        from marked where unsettled_attempt is not null
        on conflict do nothing
    )
"""
_STATES: LiteralString = """    select id, true as may_go from marked
    union all
    select v.id, v.may_go from checked as v
    join sends s on (s.project_id, s.id, s.attempt) = (v.project_id, v.id, v.attempt)
    where not (v.mark and v.may_go) and s.due_at > %(until)s
        /*distributed and s.project_id = any (%(project_id)s) */
"""


@statement(_CHECK + _STATES)
async def check_before_sending(
    db: Queries, *, project_id: list[UUID], rows: Jsonb, until: datetime
) -> list[PreSendState]: ...


@statement(_CHECK + _RECORD + _STATES)
async def check_interrupted(
    db: Queries, *, project_id: list[UUID], rows: Jsonb, lost_reply: str, now: Moment, until: datetime
) -> list[PreSendState]: ...


# The states of shared contents and of contacts; deleted contacts are left out. MATERIALIZED: see decision 0106.
@statement("""
    with contact as materialized (
        select %(project_id)s::uuid as project_id, id from unnest(%(contact_ids)s::uuid[]) as v (id)
    )
    select id, state from contents where project_id = %(project_id)s and id = any (%(content_ids)s)
    union all
    select c.id, case when c.unsubscribed then 'UNSUBSCRIBED' else 'SUBSCRIBED' end
    from contacts c join contact on (c.project_id, c.id) = (contact.project_id, contact.id)
        /*distributed and c.project_id = %(project_id)s */
""")
async def states_of(
    db: Queries, *, project_id: UUID, content_ids: list[UUID], contact_ids: list[UUID]
) -> list[StateById]: ...


# Increase the counter `measure` of a campaign and variant by 1 for each element of the parallel lists; elements may
# occur several times. Used for recipients that are skipped right before delivery.
@statement("""
    insert into send_counters as counter (project_id, campaign_id, variant_id, measure, slot, count)
    select project_id, campaign_id, coalesce(variant_id, '00000000-0000-0000-0000-000000000000'), measure,
           pg_backend_pid() %% 16, count(*)
    from unnest(%(project_id)s::uuid[], %(campaign_id)s::uuid[], %(variant_id)s::uuid[], %(measure)s::text[])
         as v (project_id, campaign_id, variant_id, measure)
    group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4
    on conflict (project_id, campaign_id, variant_id, measure, slot)
    do update set count = counter.count + excluded.count
""")
async def count_skipped(
    tx: Transaction,
    *,
    project_id: list[UUID],
    campaign_id: list[UUID],
    variant_id: list[UUID | None],
    measure: list[str],
) -> None: ...


# Store the state of sends after an attempt; returns the sends whose attempt is still the latest. Others do not change.
# `allowed`: the transitions `FROM TO` that are applied; with any other transition, the send keeps its status.
# `attempts`: rows of the attempt log. A row of a send that does not change is left out, unless it is `always` stored;
# rows that are stored already do not change. In a distributed database, the caller stores them by `log_attempts`: with
# an INSERT Citus would divide the statement into steps (decision 0171).
# MATERIALIZED keeps the condition on the project away from `sends`, see decision 0106. `array(select …)` hides the
# number of projects from the planner: otherwise a plan for these values would seem cheaper than one for all values, and
# it would plan the statement for each batch.
@statement("""
    with v as materialized (
        select * from jsonb_to_recordset(%(rows)s) as v (
            project_id uuid, id uuid, attempt int, status text, due_at timestamptz, tries int, pending jsonb, site text,
            waits_for text, retries_since timestamptz, outcomes jsonb, reason text, ambiguous int, subject text,
            dated_at timestamptz, sent_at timestamptz, delivered_at timestamptz, delayed_at timestamptz,
            bounced_at timestamptz, complained_at timestamptz)
        where project_id = any (array(select unnest(%(project_id)s::uuid[])))
    ), settled as (
        update sends as s set
            status = case when s.status || ' ' || v.status = any (%(allowed)s::text[]) then v.status else s.status end,
            outcomes = case when v.outcomes is null then s.outcomes else coalesce(s.outcomes, '{}') || v.outcomes end,
            due_at = v.due_at, tries = v.tries, pending = v.pending, site = v.site,
            retries_since = coalesce(v.retries_since, s.retries_since),
            waits_for = v.waits_for, reason = v.reason, handed_over = null,
            ambiguous_attempts = s.ambiguous_attempts + v.ambiguous
                + (s.handed_over is not null and s.handed_over < v.attempt)::int,
            subject = coalesce(v.subject, s.subject),
            dated_at = case when v.tries > 0 then coalesce(s.dated_at, v.dated_at) end,
            sent_at = coalesce(s.sent_at, v.sent_at), delivered_at = coalesce(s.delivered_at, v.delivered_at),
            delayed_at = coalesce(s.delayed_at, v.delayed_at), bounced_at = coalesce(s.bounced_at, v.bounced_at),
            complained_at = coalesce(s.complained_at, v.complained_at), updated_at = %(now)s
        from v where (s.project_id, s.id, s.attempt) = (v.project_id, v.id, v.attempt)
            /*distributed and s.project_id = any (%(project_id)s) */
        returning s.id, s.status
    )/*single*/, logged as (
        insert into send_attempts (project_id, send_id, attempt, outcome, host, results, dialogue, duration_ms,
                                   finished_at, signatures, links_base, unsubscribe_domain, transport, provider_id)
        select project_id, send_id, attempt, outcome, host, results, dialogue, duration_ms, %(now)s, signatures,
               links_base, unsubscribe_domain, transport, provider_id
        from jsonb_to_recordset(%(attempts)s) as v (
            project_id uuid, send_id uuid, attempt int, always bool, outcome text, host text, results jsonb,
            dialogue text[], duration_ms int, signatures text, links_base text, unsubscribe_domain text, transport text,
            provider_id text)
        where project_id = any (array(select unnest(%(project_id)s::uuid[])))
          and (always or send_id in (select id from settled))
        on conflict do nothing
    )/*end*/
    select id, status from settled
""")
async def settle(
    tx: Transaction, *, project_id: list[UUID], rows: Jsonb, attempts: Jsonb, allowed: list[str], now: Moment
) -> list[SettledSend]: ...


# Store rows of the attempt log as `settle` does.
@statement("""
    insert into send_attempts (project_id, send_id, attempt, outcome, host, results, dialogue, duration_ms,
                               finished_at, signatures, links_base, unsubscribe_domain, transport, provider_id)
    select project_id, send_id, attempt, outcome, host, results, dialogue, duration_ms, %(now)s, signatures,
           links_base, unsubscribe_domain, transport, provider_id
    from jsonb_to_recordset(%(attempts)s) as v (
        project_id uuid, send_id uuid, attempt int, outcome text, host text, results jsonb, dialogue text[],
        duration_ms int, signatures text, links_base text, unsubscribe_domain text, transport text, provider_id text)
    where project_id = any (%(project_id)s)
    on conflict do nothing
""")
async def log_attempts(tx: Transaction, *, project_id: list[UUID], attempts: Jsonb, now: Moment) -> None: ...


@statement(
    """
    insert into send_attempts (project_id, send_id, attempt, outcome, host, results, dialogue, duration_ms, finished_at,
                               signatures, links_base, unsubscribe_domain, transport, provider_id)
    values (%(project_id)s, %(send_id)s, %(attempt)s, %(outcome)s, %(host)s, %(results)s, %(dialogue)s, %(duration_ms)s,
            %(now)s, %(signatures)s, %(links_base)s, %(unsubscribe_domain)s, %(transport)s, %(provider_id)s)
    on conflict do nothing
""",
    partial=True,
)
async def log_attempt(tx: Transaction, attempt: AttemptRow, *, now: Moment) -> None:
    """Store one row as `log_attempts` does."""


# Store the state of sends that reports have changed. The caller has locked their rows. `begins_attempt` ends the lease
# of a worker that has claimed the send, so that it does not transmit the message again.
@statement("""
    with v as materialized (
        select * from jsonb_to_recordset(%(rows)s) as v (
            project_id uuid, id uuid, status text, outcomes jsonb, reason text, due_at timestamptz, sent_at timestamptz,
            delivered_at timestamptz, delayed_at timestamptz, bounced_at timestamptz, complained_at timestamptz,
            begins_attempt bool)
        where project_id = any (%(project_id)s)
    )
    update sends as s set
        status = v.status, outcomes = v.outcomes, reason = v.reason, due_at = v.due_at, sent_at = v.sent_at,
        delivered_at = v.delivered_at, delayed_at = v.delayed_at, bounced_at = v.bounced_at,
        complained_at = v.complained_at, attempt = s.attempt + v.begins_attempt::int, updated_at = %(now)s,
        site = case when v.due_at is null then null else s.site end
    from v where (s.project_id, s.id) = (v.project_id, v.id)
        /*distributed and s.project_id = any (%(project_id)s) */
""")
async def store_reported(tx: Transaction, *, project_id: list[UUID], rows: Jsonb, now: Moment) -> None: ...


# Insert reports; one that is stored already gets the new text and is counted. Each may occur only once in `rows`.
@statement("""
    insert into send_reports as existing (project_id, id, send_id, kind, recipient, source, type, code, enhanced_code,
                                          text, host, feedback_type, changed, occurred_at, received_at)
    select project_id, id, send_id, kind, recipient, source, type, code, enhanced_code, text, host, feedback_type,
           changed, occurred_at, %(now)s
    from jsonb_to_recordset(%(rows)s) as v (
        project_id uuid, id uuid, send_id uuid, kind text, recipient text, source text, type text, code int,
        enhanced_code text, text text, host text, feedback_type text, changed bool, occurred_at timestamptz)
    where project_id = any (%(project_id)s)
    order by project_id, send_id, kind, recipient, source
    on conflict (project_id, send_id, kind, recipient, source) do update set
        times = existing.times + 1, type = excluded.type, code = excluded.code,
        enhanced_code = excluded.enhanced_code, text = excluded.text, host = excluded.host,
        feedback_type = excluded.feedback_type, changed = existing.changed or excluded.changed,
        received_at = excluded.received_at
""")
async def insert_reports(tx: Transaction, *, project_id: list[UUID], rows: Jsonb, now: Moment) -> None: ...


@statement("""
    select id, kind, recipient, source, type, code, enhanced_code, text, host, feedback_type, changed, times,
           occurred_at, received_at
    from send_reports where project_id = %(project_id)s and send_id = %(send_id)s order by id
""")
async def reports(db: Queries, *, project_id: UUID, send_id: UUID) -> list[SendReport]: ...


@statement("""
    select attempt, outcome, transport, host, results, dialogue, duration_ms, finished_at from send_attempts
    where project_id = %(project_id)s and send_id = %(send_id)s order by attempt
""")
async def attempts(db: Queries, *, project_id: UUID, send_id: UUID) -> list[SendAttempt]: ...


# DKIM signatures and links base of the last accepted attempt, because the recipient has the message of that attempt. If
# no attempt was accepted, those of the last attempt; None if no attempt stored them.
@statement("""
    select signatures, links_base, unsubscribe_domain from send_attempts
    where project_id = %(project_id)s and send_id = %(send_id)s and signatures is not null and links_base is not null
    order by outcome = 'ACCEPTED' desc, attempt desc limit 1
""")
async def transmitted_parts(db: Queries, *, project_id: UUID, send_id: UUID) -> TransmittedParts | None: ...


# A worker that has claimed the send but not transmitted it keeps its attempt only until another worker claims the send,
# which begins a new attempt.
@statement("""
    update sends set due_at = %(now)s, updated_at = %(now)s,
        retries_since = case when waits_for = 'SITE_SUSPENDED' and due_at > %(now)s
                             then (retries_since at time zone 'UTC' - (due_at - %(now)s)) at time zone 'UTC'
                             else retries_since end
    where project_id = %(project_id)s and id = %(id)s and handed_over is null
    returning *
""")
async def bring_forward(tx: Transaction, *, project_id: UUID, id: UUID, now: Moment) -> Send | None:
    """Make a send due now, whatever its status, and return it. The number of the attempt does not change.

    Returns None if the send may be in transmission, or if there is none with this id. The caller must check the status
    before: a settled send would be due again.
    """


# Store status, times, reason and tries of `send` and begin a new attempt, which invalidates the current one.
@statement("""
    update sends set status = %(status)s, due_at = %(due_at)s, scheduled_at = %(scheduled_at)s, attempt = attempt + 1,
                     handed_over = null, reason = %(reason)s, tries = %(tries)s, pending = null, site = null,
                     waits_for = null, retries_since = null,
                     sent_at = %(sent_at)s, delivered_at = %(delivered_at)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def change_schedule(tx: Transaction, send: Send, *, now: Moment) -> Send: ...


# The parallel lists name attempts. A renewal that arrives after the attempt was settled must not change the due_at of
# the next attempt. A send that another transaction is changing is left to the next renewal: waiting for it with other
# sends locked could be a deadlock with a transaction that settles them in another order.
@statement("""
    with renewed as materialized (
        select s.project_id, s.id
        from unnest((select %(project_id)s::uuid[]), (select %(id)s::uuid[]), (select %(attempt)s::int[]))
            as v (project_id, id, attempt)
        join sends s on (s.project_id, s.id, s.attempt) = (v.project_id, v.id, v.attempt)
        where s.due_at < %(until)s
          /*distributed and s.project_id = any (%(project_id)s) */
        for no key update of s skip locked
    )
    update sends as s set due_at = %(until)s from renewed as r where (s.project_id, s.id) = (r.project_id, r.id)
        /*distributed and s.project_id = any (%(project_id)s) */
""")
async def renew_leases(
    db: Queries, *, project_id: list[UUID], id: list[UUID], attempt: list[int], until: datetime
) -> None: ...


@statement("""
    select address, reason from suppressions where project_id = %(project_id)s and address = any (%(addresses)s)
""")
async def suppressed_among(db: Queries, *, project_id: UUID, addresses: list[str]) -> list[SuppressedAddress]: ...


# Uses the clock of the database, which all processes share.
@statement("""
    /*single*/insert into mail_rates as existing (project_id, name, next_at)
    values (%(project_id)s, %(name)s, clock_timestamp() + %(span)s::interval)
    on conflict (project_id, name) do update
        set next_at = greatest(existing.next_at, clock_timestamp()) + %(span)s::interval
        where existing.next_at < clock_timestamp() + %(ahead)s::interval
    returning greatest(extract(epoch from next_at - %(span)s::interval - clock_timestamp()), 0)::float8
        as begin_seconds/*end*/
    /*distributed with clock as materialized (
        select clock_timestamp() as at
    ), leased as (
        insert into mail_rates as existing (project_id, name, next_at)
        select %(project_id)s::uuid, %(name)s, at + %(span)s::interval from clock
        on conflict (project_id, name) do update
            set next_at = (greatest(existing.next_at at time zone 'UTC',
                                    excluded.next_at at time zone 'UTC' - %(span)s::interval)
                           + %(span)s::interval) at time zone 'UTC'
            where existing.next_at at time zone 'UTC'
                  < excluded.next_at at time zone 'UTC' - %(span)s::interval + %(ahead)s::interval
        returning next_at
    )
    select greatest(extract(epoch from next_at - %(span)s::interval - at), 0)::float8 as begin_seconds
    from leased cross join clock */
""")
async def lease_times(
    db: Queries, *, project_id: UUID, name: str, span: timedelta, ahead: timedelta
) -> LeasedTimes | None:
    """Lease the next free time span of the rate limit `name`; None if it would begin more than `ahead` from now."""


_STRENGTH: LiteralString = "array['" + "','".join(SUPPRESSION_STRENGTH) + "']"


# Add suppressions; returns those that are new or got a stronger reason.
# A stronger reason replaces a weaker one, and the weaker one is added to the history. Each address may occur only once.
@statement(f"""
    insert into suppressions as existing (project_id, id, address, reason, source, detail, send_id, created_at)
    select * from unnest(%(project_id)s::uuid[], %(id)s::uuid[], %(address)s::text[], %(reason)s::text[],
                         %(source)s::text[], %(detail)s::text[], %(send_id)s::uuid[], %(created_at)s::timestamptz[])
    on conflict (project_id, address) do update set
        reason = excluded.reason, source = excluded.source, detail = excluded.detail, send_id = excluded.send_id,
        updated_at = excluded.created_at,
        history = existing.history || replaced_suppression(
            existing.reason, existing.source, existing.detail, existing.send_id,
            coalesce(existing.updated_at, existing.created_at))
    where array_position({_STRENGTH}, excluded.reason) > array_position({_STRENGTH}, existing.reason)
    returning id, address, reason, source, detail, send_id, history, created_at,
              coalesce(updated_at, created_at) as updated_at
""")
async def suppress(tx: Transaction, added: list[SuppressionEntry]) -> list[Suppression]: ...


@statement("""
    delete from suppressions where project_id = %(project_id)s and address = %(address)s
    returning id, address, reason, source, detail, send_id, history, created_at,
              coalesce(updated_at, created_at) as updated_at
""")
async def delete_suppression(tx: Transaction, *, project_id: UUID, address: str) -> Suppression | None: ...


@statement("""
    delete from suppressions
    where project_id = %(project_id)s and address = any (%(addresses)s::text[]) and reason = 'UNSUBSCRIBE'
""")
async def delete_unsubscribe_suppressions(tx: Transaction, *, project_id: UUID, addresses: list[str]) -> None: ...


@statement("""
    select id, address, reason, source, detail, send_id, history, created_at,
           coalesce(updated_at, created_at) as updated_at
    from suppressions
    where project_id = %(project_id)s and address = %(address)s
""")
async def suppression(db: Queries, *, project_id: UUID, address: str) -> Suppression | None: ...


@statement("select address from suppressions where project_id = %(project_id)s and id = %(id)s")
async def suppressed_address(db: Queries, *, project_id: UUID, id: UUID) -> str | None: ...


@statement("""
    select id, address, reason, source, detail, send_id, history, created_at,
           coalesce(updated_at, created_at) as updated_at
    from suppressions
    where project_id = %(project_id)s and (%(reasons)s::text[] is null or reason = any (%(reasons)s::text[]))
      and (%(pattern)s::text is null or address like %(pattern)s) and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s offset %(offset)s
""")
async def suppressions(
    db: Queries,
    *,
    project_id: UUID,
    reasons: list[str] | None,
    pattern: str | None,
    before: UUID | None,
    limit: int,
    offset: int,
) -> list[Suppression]: ...


# The cells of the CSV export of the suppressions.
@streamed_statement(
    "select address, reason, source, detail, send_id::text, "
    + moment_text("created_at")
    + """, id::text from suppressions
    where project_id = %(project_id)s and (%(reasons)s::text[] is null or reason = any (%(reasons)s::text[]))
      and (%(pattern)s::text is null or address like %(pattern)s)
    order by id desc
    """
)
def stream_suppressions(
    tx: Transaction, *, project_id: UUID, reasons: list[str] | None, pattern: str | None
) -> AsyncIterator[list[tuple[Any, ...]]]: ...


@statement("""
    select count(*)::int from suppressions
    where project_id = %(project_id)s and (%(reasons)s::text[] is null or reason = any (%(reasons)s::text[]))
      and (%(pattern)s::text is null or address like %(pattern)s)
""")
async def count_suppressions(
    db: Queries, *, project_id: UUID, reasons: list[str] | None, pattern: str | None
) -> int: ...


# Count a soft bounce; returns one value: whether there are now `times` of them, spread over at least `span`.
# `reported`: the failure is known from a report, and not from the reply of a server. If reports are among the failures,
# the count begins again when the last failure is more than `gap` ago, because successes are not always reported.
@statement("""
    insert into soft_bounces as existing (project_id, address, times, first_at, last_at, reported)
    values (%(project_id)s, %(address)s, 1, %(now)s, %(now)s, %(reported)s)
    on conflict (project_id, address) do update set
        times = case when existing.reported and existing.last_at at time zone 'UTC' + %(gap)s::interval
                          < excluded.last_at at time zone 'UTC' then 1
                     else existing.times + 1 end,
        first_at = case when existing.reported and existing.last_at at time zone 'UTC' + %(gap)s::interval
                          < excluded.last_at at time zone 'UTC' then %(now)s
                        else existing.first_at end,
        last_at = %(now)s, reported = existing.reported or excluded.reported
    returning times >= %(times)s and last_at - first_at >= %(span)s::interval
""")
async def count_soft_bounce(
    tx: Transaction,
    *,
    project_id: UUID,
    address: str,
    times: int,
    span: timedelta,
    gap: timedelta,
    reported: bool,
    now: Moment,
) -> list[bool]: ...


# Delete the counts of soft bounces of addresses that got a message: `reached` are ReachedRecipients. If only a relay
# accepted the message, counts with reported failures stay.
@statement("""
    delete from soft_bounces as s
    using jsonb_to_recordset(%(reached)s) as v (project_id uuid, address text, delivered bool)
    where s.project_id = any (array(select unnest(%(project_id)s::uuid[])))
        and (s.project_id, s.address) = (v.project_id, v.address) and (v.delivered or not s.reported)
        /*distributed and s.project_id = any (%(project_id)s) */
""")
async def delete_soft_bounces(tx: Transaction, *, project_id: list[UUID], reached: Jsonb) -> None: ...


@statement("""
    insert into captured_messages (project_id, id, send_id, mail_from, recipients, sender, subject, size, message,
                                   sealed, captured_at)
    select project_id, id, send_id, mail_from, array(select jsonb_array_elements_text(recipients)), sender, subject,
           length(message), message, sealed, captured_at
    from unnest(%(project_id)s::uuid[], %(id)s::uuid[], %(send_id)s::uuid[], %(mail_from)s::text[],
                %(recipients)s::jsonb[], %(sender)s::text[], %(subject)s::text[], %(message)s::bytea[],
                %(sealed)s::bytea[], %(captured_at)s::timestamptz[])
         as v (project_id, id, send_id, mail_from, recipients, sender, subject, message, sealed, captured_at)
    on conflict (project_id, send_id) do nothing
""")
async def capture(db: Queries, messages: list[CapturedMail]) -> None:
    """Store captured messages; a send that already has one is left unchanged."""


@statement("""
    select message from captured_messages where project_id = %(project_id)s and send_id = %(send_id)s
    order by id desc limit 1
""")
async def captured_message(db: Queries, *, project_id: UUID, send_id: UUID) -> bytes | None: ...


# Sends of any project.
@statement("""
    select project_id, id, recipient, subject, sender, message_id, to_addresses, tags, test, contact_id, campaign_id,
           variant_id, domain_id, delivered_at, sent_at, opened_at, clicked_at, human_opened_at, human_clicked_at
    from sends where id = any (%(ids)s)
""")
async def tracked_sends(db: Queries, *, ids: list[UUID]) -> list[TrackedSend]: ...


# The sends of these projects that have an attempt with one of these ids of a provider.
@statement("""
    select distinct project_id, send_id, provider_id from send_attempts
    where provider_id = any (%(provider_ids)s) and provider_id is not null and project_id = any (%(project_id)s)
""")
async def sends_with_provider_ids(
    db: Queries, *, project_id: list[UUID], provider_ids: list[str]
) -> list[ProviderMessage]: ...


# Store the times that are not None in the parallel lists, for sends that have no such time yet. Returns the times that
# the sends had before; other transactions that mark the same sends wait, so that only one of them finds no time.
@statement("""
    with v as (
        select * from unnest(%(project_id)s::uuid[], %(id)s::uuid[], %(opened_at)s::timestamptz[],
                             %(clicked_at)s::timestamptz[], %(human_opened_at)s::timestamptz[],
                             %(human_clicked_at)s::timestamptz[])
            as v (project_id, id, opened_at, clicked_at, human_opened_at, human_clicked_at)
    ), before as materialized (
        select s.project_id, s.id, s.opened_at, s.clicked_at, s.human_opened_at, s.human_clicked_at
        from sends s join v on (s.project_id, s.id) = (v.project_id, v.id)
          /*distributed and s.project_id = any (%(project_id)s) */
        order by s.project_id, s.id for no key update of s
    ), marked as (
        update sends as s set
            opened_at = coalesce(b.opened_at, v.opened_at), clicked_at = coalesce(b.clicked_at, v.clicked_at),
            human_opened_at = coalesce(b.human_opened_at, v.human_opened_at),
            human_clicked_at = coalesce(b.human_clicked_at, v.human_clicked_at)
        from before b join v on (b.project_id, b.id) = (v.project_id, v.id)
        where (s.project_id, s.id) = (b.project_id, b.id)
          /*distributed and s.project_id = any (%(project_id)s) */
    )
    select id, opened_at, clicked_at, human_opened_at, human_clicked_at from before
""")
async def mark_engaged(
    tx: Transaction,
    *,
    project_id: list[UUID],
    id: list[UUID],
    opened_at: list[Moment | None],
    clicked_at: list[Moment | None],
    human_opened_at: list[Moment | None],
    human_clicked_at: list[Moment | None],
) -> list[FirstEngagement]: ...


# Insert sends and return their ids, except those whose `once_key` was used before. Only the columns below are stored:
# not, for example, tags, further recipients and the times of a schedule.
@statement(
    """
    insert into sends (project_id, id, status, lane, test, message_id, subject, sender, recipient, to_addresses,
                       contact_id, domain_id, once_key, due_at, reason, created_at, updated_at)
    select project_id, id, status, lane, test, message_id, subject, sender, recipient, array[recipient], contact_id,
           domain_id, once_key, due_at, reason, created_at, created_at
    from unnest(%(project_id)s::uuid[], %(id)s::uuid[], %(status)s::text[], %(lane)s::int[], %(test)s::bool[],
                %(once_key)s::text[], %(contact_id)s::uuid[], %(message_id)s::text[], %(subject)s::text[],
                %(sender)s::text[], %(recipient)s::text[], %(domain_id)s::uuid[], %(due_at)s::timestamptz[],
                %(reason)s::text[], %(created_at)s::timestamptz[])
        as v (project_id, id, status, lane, test, once_key, contact_id, message_id, subject, sender, recipient,
              domain_id, due_at, reason, created_at)
    on conflict (project_id, once_key) where once_key is not null do nothing
    returning id
""",
    partial=True,
)
async def insert_once(tx: Transaction, sends: list[Send]) -> list[UUID]: ...


# Take the advisory lock of the project's frequency cap until the transaction ends. The result has no meaning.
# Call this before counting the messages of contacts, so that concurrent transactions do not exceed the cap together.
@statement("""
    select pg_advisory_xact_lock(hashtextextended('frequency-cap:' || %(project_id)s::text, 0))::text
""")
async def lock_frequency_cap(tx: Transaction, *, project_id: UUID) -> str: ...


# The number of marketing messages to each contact after `since`, as the frequency cap counts them. MATERIALIZED: see
# decision 0106.
@statement("""
    with contact as materialized (
        select %(project_id)s::uuid as project_id, id from unnest(%(contact_ids)s::uuid[]) as v (id)
    )
    select contact.id, recent.count from contact
    cross join lateral (
        select count(*)::int as count from sends s
        where s.project_id = contact.project_id and s.contact_id = contact.id and s.created_at > %(since)s
          /*distributed and s.project_id = %(project_id)s */
          and s.lane = 1 and not s.test and s.status not in ('SUPPRESSED', 'FAILED', 'CANCELLED', 'EXPIRED')
    ) as recent
""")
async def count_recent_marketing(
    tx: Transaction, *, project_id: UUID, contact_ids: list[UUID], since: datetime
) -> list[ContactCount]: ...


WITH_RETENTION: LiteralString = """
    with retention as (
        select p.id as project_id,
               %(now)s::timestamptz - make_interval(days => coalesce((p.settings ->> 'retentionDays')::int,
                                                                     %(default_days)s::int)) as since
        from projects p
    ),
"""
"""Since when the content of each project is kept."""

BEFORE_RETENTION: LiteralString = """
    at time zone 'UTC' < %(now)s::timestamptz at time zone 'UTC'
    - make_interval(days => coalesce((p.settings ->> 'retentionDays')::int, %(default_days)s::int))
"""
"""The condition on a time that the content of the project `p` is not kept any more, in a distributed database."""


# Delete up to `limit` expired bodies per project, in a distributed database all; False if there are none. Bodies of
# waiting sends stay.
# The ids of sends are UUIDv7, so the oldest body of a project comes first in the order of the primary key.
@statement(
    "/*single*/"
    + WITH_RETENTION
    + """
    expired as (
        select s.project_id, s.id from retention
        cross join lateral (
            select b.project_id, b.send_id as id from send_bodies b
            where b.project_id = retention.project_id order by b.send_id limit %(limit)s
        ) as b
        join sends s on (s.project_id, s.id) = (b.project_id, b.id)
        where s.created_at < retention.since and s.due_at is null
    )
    delete from send_bodies b using expired where (b.project_id, b.send_id) = (expired.project_id, expired.id)
    /*end*/
    /*distributed delete from send_bodies b using sends s, projects p
    where s.project_id = b.project_id and s.id = b.send_id and p.id = b.project_id and s.due_at is null
      and s.created_at """
    + BEFORE_RETENTION
    + "*/"
)
async def delete_expired_bodies(db: Queries, *, now: Moment, default_days: int, limit: int) -> bool: ...


# The oldest `limit` sends before `before` that wait for nothing, in projects that delete their log. Those of campaigns
# that have not ended stay, because they tell which contacts have got the campaign.
@statement("""
    select s.id from sends s
    where s.project_id = %(project_id)s and s.id < %(end_id)s and s.created_at < %(before)s and s.due_at is null
      and not exists (
          select from campaigns c
          where c.project_id = %(project_id)s and c.id = s.campaign_id
            and c.status not in ('SENT', 'CANCELLED', 'FAILED')
      )
    order by s.id limit %(limit)s
""")
async def expired_sends(db: Queries, *, project_id: UUID, before: Moment, end_id: UUID, limit: int) -> list[UUID]: ...


# Sends with their attempts as rows of the archive, in order of their ids.
@statement("""
    select r.id, r.created_at as at, row_to_json(r)::text as document from (
        select s.id, s.status, s.test, s.message_id, s.subject, s.sender, s.recipient, s.to_addresses,
               s.cc_addresses, s.bcc_addresses, s.contact_id, s.campaign_id, s.variant_id, s.domain_id,
               s.tags, s.reason, s.ambiguous_attempts, s.outcomes, s.site, s.scheduled_at, s.sent_at,
               s.delivered_at, s.opened_at, s.clicked_at, s.human_opened_at, s.human_clicked_at,
               s.bounced_at, s.complained_at, s.created_at, s.updated_at, (
            select json_agg(json_build_object(
                'attempt', a.attempt, 'outcome', a.outcome, 'transport', a.transport, 'host', a.host,
                'results', a.results, 'dialogue', a.dialogue, 'duration_ms', a.duration_ms,
                'finished_at', a.finished_at) order by a.attempt)
            from send_attempts a where a.project_id = %(project_id)s and a.send_id = s.id
        ) as attempts
        from sends s where s.project_id = %(project_id)s and s.id = any (%(ids)s)
    ) r order by r.id
""")
async def archived_sends(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[ArchivedRow]: ...


# Delete sends that wait for nothing, and return the ids of those deleted. The counters of campaigns keep their numbers
# by status, with `past:` before it; those of the log (without `past:`) are counters of what it still has.
@statement("""
    with deleted as (
        delete from sends where project_id = %(project_id)s and id = any (%(ids)s) and due_at is null
        returning project_id, id, campaign_id, variant_id, status
    ),
    counted as (
        insert into send_counters as counter (project_id, campaign_id, variant_id, measure, slot, count)
        select project_id, campaign_id, coalesce(variant_id, '00000000-0000-0000-0000-000000000000'),
               'past:' || status, pg_backend_pid() %% 16, count(*)
        from deleted where campaign_id is not null group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4
        on conflict (project_id, campaign_id, variant_id, measure, slot)
        do update set count = counter.count + excluded.count
    )
    select id from deleted
""")
async def delete_sends(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> list[UUID]: ...


# Delete up to `limit` expired captured messages per project, in a distributed database all; False if there are none.
@statement(
    "/*single*/"
    + WITH_RETENTION
    + """
    expired as (
        select c.project_id, c.id from retention
        cross join lateral (
            select c.project_id, c.id from captured_messages c
            where c.project_id = retention.project_id and c.captured_at < retention.since order by c.id limit %(limit)s
        ) as c
    )
    delete from captured_messages c using expired where (c.project_id, c.id) = (expired.project_id, expired.id)
    /*end*/
    /*distributed delete from captured_messages c using projects p
    where p.id = c.project_id and c.captured_at """
    + BEFORE_RETENTION
    + "*/"
)
async def delete_expired_captured(db: Queries, *, now: Moment, default_days: int, limit: int) -> bool: ...
