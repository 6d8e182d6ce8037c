"""SQL statements that erase content and addresses of sends."""

from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement


# The ids of the sends that have the lower-case address in to, cc, bcc or the subject, and of the sends to the contacts.
# The index on send_search finds candidates. Some of them have a longer address that contains this one, so each
# candidate is compared.
@statement("""
    select id from sends
    where project_id = %(project_id)s and lower(recipient) = %(address)s and campaign_id is null
    union
    select id from sends where project_id = %(project_id)s and contact_id = any (%(contact_ids)s)
    union
    select s.id from send_search t join sends s on (s.project_id, s.id) = (t.project_id, t.send_id)
    where t.project_id = %(project_id)s and t.search_text like %(search_pattern)s
      and (lower(s.subject) ~ %(address_regex)s or exists (
          select from unnest(s.to_addresses || s.cc_addresses || s.bcc_addresses) as entry
          where lower(entry) = %(address)s or right(lower(entry), length(%(address)s) + 2) = '<' || %(address)s || '>'
      ))
""")
async def sends_to_erase(
    db: Queries, *, project_id: UUID, address: str, search_pattern: str, address_regex: str, contact_ids: list[UUID]
) -> list[UUID]: ...


@statement("""
    select send_id from send_bodies where project_id = %(project_id)s and send_id = any (%(ids)s)
    order by send_id for update
""")
async def lock_bodies(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> list[UUID]: ...


@statement("delete from send_bodies where project_id = %(project_id)s and send_id = any (%(ids)s)")
async def erase_bodies(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> None: ...


@statement("delete from send_search where project_id = %(project_id)s and send_id = any (%(ids)s)")
async def erase_search(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> None: ...


@statement("delete from send_attempts where project_id = %(project_id)s and send_id = any (%(ids)s)")
async def erase_attempts(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> None: ...


@statement("delete from send_reports where project_id = %(project_id)s and send_id = any (%(ids)s)")
async def erase_reports(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> None: ...


@statement("delete from captured_messages where project_id = %(project_id)s and send_id = any (%(ids)s)")
async def erase_captured(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> None: ...


@statement("delete from captured_messages where project_id = %(project_id)s and id = %(id)s")
async def delete_captured(tx: Transaction, *, project_id: UUID, id: UUID) -> bool: ...


# In stored responses, replaces the errors of batches and the recipients of separate messages by `erased`. Changes the
# responses to the requests of these sends, and the responses to batches that contain the address, because an e-mail
# that was not accepted has no send. Ids and statuses are not personal data and stay, so that a repeated request still
# gets its first response.
@statement("""
    with erased as materialized (
        select project_id, route, key, case
            when jsonb_typeof(response -> 'data') = 'array' then jsonb_build_object('data', array(
                select item
                    || case when item ->> 'error' is null then '{}'
                            else jsonb_build_object('error', %(erased)s::text) end
                    || case when jsonb_typeof(item -> 'messages') = 'array' then jsonb_build_object('messages', array(
                           select message || jsonb_build_object('to', %(erased)s::text)
                           from jsonb_array_elements(item -> 'messages') with ordinality as m (message, place)
                           order by place
                       )) else '{}' end
                from jsonb_array_elements(stored.response -> 'data') with ordinality as items (item, place)
                order by place
            ))
            else response || jsonb_build_object('messages', array(
                select message || jsonb_build_object('to', %(erased)s::text)
                from jsonb_array_elements(stored.response -> 'messages') with ordinality as m (message, place)
                order by place
            ))
            end as response
        from idempotency_keys as stored
        where project_id = %(project_id)s and case
            when jsonb_typeof(response -> 'data') = 'array'
                then send_ids && %(ids)s::uuid[] or lower(response::text) like %(address_pattern)s
            else send_ids && %(ids)s::uuid[] and jsonb_typeof(response -> 'messages') = 'array'
            end
        order by project_id, route, key for no key update
    )
    update idempotency_keys as stored set response = erased.response from erased
    where (stored.project_id, stored.route, stored.key) = (erased.project_id, erased.route, erased.key)
      /*distributed and stored.project_id = :project */
""")
async def erase_idempotency_responses(
    tx: Transaction, *, project_id: UUID, ids: list[UUID], address_pattern: str, erased: str
) -> None: ...


# Replaces addresses and subject by `erased`, and removes the tags that only other APIs set: those have values that an
# application chooses for a person, such as `name--value`. A send whose status is in `waiting` becomes CANCELLED; its
# new attempt number makes a worker that has claimed it give up its attempt.
@statement("""
    update sends set recipient = %(erased)s, to_addresses = array[%(erased)s], cc_addresses = null,
        bcc_addresses = null, subject = %(erased)s, reason = null,
        tags = (select array_agg(tag) from unnest(tags) as tag where tag ~ '^[A-Za-z0-9_-]+$' and tag !~ '--'),
        pending = null, outcomes = null, due_at = null, site = null,
        attempt = attempt + (status = any (%(waiting)s::text[]))::int,
        status = case when status = any (%(waiting)s::text[]) then 'CANCELLED' else status end
    where project_id = %(project_id)s and id = any (%(ids)s)
""")
async def erase_sends(
    tx: Transaction, *, project_id: UUID, ids: list[UUID], waiting: list[str], erased: str
) -> None: ...


@statement("delete from suppressions where project_id = %(project_id)s and lower(address) = lower(%(address)s)")
async def erase_suppression(tx: Transaction, *, project_id: UUID, address: str) -> None: ...


@statement("delete from soft_bounces where project_id = %(project_id)s and lower(address) = lower(%(address)s)")
async def erase_soft_bounces(tx: Transaction, *, project_id: UUID, address: str) -> None: ...
