"""SQL of webhooks."""

from datetime import datetime
from typing import LiteralString
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment
from postern.platform.webhooks.model import (
    DeliveryRow,
    DeliveryVerdict,
    FailureState,
    StoredWebhook,
    Webhook,
    WebhookForDelivery,
    WebhookSubscription,
)


@statement("insert into webhooks {row} returning *, project_id as app_id")
async def insert_webhook(tx: Transaction, webhook: StoredWebhook) -> Webhook: ...


@statement("""
    select *, project_id as app_id from webhooks
    where project_id = %(project_id)s and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def webhooks(db: Queries, *, project_id: UUID, before: UUID | None, limit: int) -> list[Webhook]: ...


@statement("select *, project_id as app_id from webhooks where project_id = %(project_id)s and id = %(id)s")
async def webhook(db: Queries, *, project_id: UUID, id: UUID) -> Webhook | None: ...


# Lock a subscription for no key update.
@statement("""
    select *, project_id as app_id from webhooks where project_id = %(project_id)s and id = %(id)s for no key update
""")
async def lock_webhook(tx: Transaction, *, project_id: UUID, id: UUID) -> Webhook | None: ...


@statement("select * from webhooks where project_id = %(project_id)s and id = %(id)s")
async def webhook_for_delivery(db: Queries, *, project_id: UUID, id: UUID) -> WebhookForDelivery | None: ...


@statement("select count(*)::int from webhooks where project_id = %(project_id)s")
async def count_webhooks(tx: Transaction, *, project_id: UUID) -> int: ...


# Store `url`, `events`, `description` and `active` of `webhook`. If it is active, the time and reason of a deactivation
# are removed.
@statement("""
    update webhooks set url = %(url)s, events = %(events)s, description = %(description)s, active = %(active)s,
        failures = case when %(reset_failures)s then 0 else failures end,
        failing_since = case when %(reset_failures)s then null else failing_since end,
        disabled_at = case when %(active)s then null else disabled_at end,
        disabled_reason = case when %(active)s then null else disabled_reason end,
        updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *, project_id as app_id
""")
async def change_webhook(
    tx: Transaction, webhook: Webhook, *, project_id: UUID, reset_failures: bool, now: Moment
) -> Webhook: ...


# Store a new secret; the current one stays valid until `expires_at`. Returns None if there is no such webhook.
@statement("""
    update webhooks set sealed_secret = %(sealed_secret)s, previous_sealed_secret = sealed_secret,
        previous_secret_expires_at = %(expires_at)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *, project_id as app_id
""")
async def rotate_secret(
    tx: Transaction, *, project_id: UUID, id: UUID, sealed_secret: bytes, expires_at: datetime, now: Moment
) -> Webhook | None: ...


@statement("""
    delete from webhooks where project_id = %(project_id)s and id = %(id)s returning *, project_id as app_id
""")
async def delete_webhook(tx: Transaction, *, project_id: UUID, id: UUID) -> Webhook | None: ...


HAS_SUBSCRIPTIONS: LiteralString = "exists (select from webhooks where project_id = any (%(project_id)s) and active)"
"""Whether one of the projects has an active subscription."""


# The active subscriptions of projects.
@statement("select project_id, id, events from webhooks where project_id = any (%(project_id)s) and active")
async def subscriptions(tx: Transaction, *, project_id: list[UUID]) -> list[WebhookSubscription]: ...


# Insert deliveries that are due at `at`. The parameters are parallel lists.
@statement("""
    insert into webhook_deliveries (project_id, id, webhook_id, event_id, event, due_at, created_at)
    select project_id, id, webhook_id, event_id, event, at, at
    from unnest(%(project_id)s::uuid[], %(id)s::uuid[], %(webhook_id)s::uuid[], %(event_id)s::uuid[],
                %(event)s::text[], %(at)s::timestamptz[]) as delivery (project_id, id, webhook_id, event_id, event, at)
""")
async def insert_deliveries(
    tx: Transaction,
    *,
    project_id: list[UUID],
    id: list[UUID],
    webhook_id: list[UUID],
    event_id: list[UUID],
    event: list[str],
    at: list[Moment],
) -> None: ...


# Insert a delivery for each event in a range of ids and each subscription to its type. The parallel lists `webhook_id`
# and `event` say which subscription gets which type.
@statement("""
    insert into webhook_deliveries (project_id, id, webhook_id, event_id, event, due_at, created_at)
    select e.project_id, id_after(%(delivery_id)s::uuid, row_number() over (order by e.id)), match.webhook_id, e.id,
           e.type, e.occurred_at, e.occurred_at
    from events e join unnest(%(webhook_id)s::uuid[], %(event)s::text[]) as match (webhook_id, event)
      on match.event = e.type
    where e.project_id = %(project_id)s and e.id > %(first_id)s and e.id <= %(last_id)s
""")
async def insert_deliveries_of_range(
    tx: Transaction,
    *,
    project_id: UUID,
    first_id: UUID,
    last_id: UUID,
    delivery_id: UUID,
    webhook_id: list[UUID],
    event: list[str],
) -> None: ...


# Store the results of attempts; `verdicts`, `id` and `attempt` are parallel lists. A delivery that was claimed or
# replayed since is not changed. MATERIALIZED: see decision 0106.
@statement("""
    with verdict as materialized (
        select %(project_id)s::uuid as project_id, *
        from unnest(%(id)s::uuid[], %(attempt)s::int[], %(status)s::text[], %(due_at)s::timestamptz[],
                    %(attempted)s::bool[], %(response_status)s::int[], %(response_body)s::text[],
                    %(response_ms)s::float8[], %(error_message)s::text[])
            as v (id, attempt, status, due_at, attempted, response_status, response_body, response_ms, error_message)
    )
    update webhook_deliveries as delivery set
        status = verdict.status, due_at = verdict.due_at,
        tried = delivery.tried + verdict.attempted::int, attempts = delivery.attempts + verdict.attempted::int,
        attempted_at = case when verdict.attempted then %(now)s else delivery.attempted_at end,
        delivered_at = case when verdict.status = 'SUCCEEDED' then %(now)s else delivery.delivered_at end,
        response_status = case when verdict.attempted then verdict.response_status else delivery.response_status end,
        response_body = case when verdict.attempted then verdict.response_body else delivery.response_body end,
        response_ms = case when verdict.attempted then verdict.response_ms else delivery.response_ms end,
        error_message = case when verdict.attempted or verdict.status = 'FAILED' then verdict.error_message
                             else delivery.error_message end
    from verdict
    where (delivery.project_id, delivery.id, delivery.attempt) = (verdict.project_id, verdict.id, verdict.attempt)
      /*distributed and delivery.project_id = :project */
""")
async def record_results(
    tx: Transaction,
    verdicts: list[DeliveryVerdict],
    *,
    project_id: UUID,
    id: list[UUID],
    attempt: list[int],
    now: Moment,
) -> None: ...


@statement("""
    update webhooks set failures = 0, failing_since = null
    where project_id = %(project_id)s and id = %(id)s and failures > 0
""")
async def record_success(tx: Transaction, *, project_id: UUID, id: UUID) -> None: ...


# Add a number of successive failures; returns the new state, or None if the subscription was deleted.
@statement("""
    update webhooks set failures = failures + %(failures)s, failing_since = coalesce(failing_since, %(now)s)
    where project_id = %(project_id)s and id = %(id)s
    returning failures, failing_since
""")
async def record_failures(
    tx: Transaction, *, project_id: UUID, id: UUID, failures: int, now: Moment
) -> FailureState | None: ...


# Deactivate a subscription. Returns False if it is inactive already.
@statement("""
    update webhooks set active = false, disabled_at = %(now)s, disabled_reason = %(reason)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s and active
""")
async def deactivate(tx: Transaction, *, project_id: UUID, id: UUID, reason: str, now: Moment) -> bool: ...


@statement("""
    select *, webhook_id as subscription_id, due_at as next_attempt_at from webhook_deliveries
    where project_id = %(project_id)s and webhook_id = %(webhook_id)s
      and (%(before)s::uuid is null or id < %(before)s)
      and (%(statuses)s::text[] is null or status = any (%(statuses)s))
      and (%(events)s::text[] is null or event = any (%(events)s))
    order by id desc limit %(limit)s
""")
async def deliveries(
    db: Queries,
    *,
    project_id: UUID,
    webhook_id: UUID,
    before: UUID | None,
    statuses: list[str] | None,
    events: list[str] | None,
    limit: int,
) -> list[DeliveryRow]: ...


@statement("""
    select *, webhook_id as subscription_id, due_at as next_attempt_at from webhook_deliveries
    where project_id = %(project_id)s and webhook_id = %(webhook_id)s and id = %(id)s
""")
async def delivery(db: Queries, *, project_id: UUID, webhook_id: UUID, id: UUID) -> DeliveryRow | None: ...


# Make a delivery due now with a new series of attempts; returns False if it does not exist. The attempt number
# increases, so that the result of an attempt in progress is ignored.
@statement("""
    update webhook_deliveries set status = 'PENDING', due_at = %(now)s, tried = 0, attempt = attempt + 1,
        delivered_at = null
    where project_id = %(project_id)s and webhook_id = %(webhook_id)s and id = %(id)s
""")
async def replay(tx: Transaction, *, project_id: UUID, webhook_id: UUID, id: UUID, now: Moment) -> bool: ...


# Make deliveries of a status and period due now with a new series of attempts, oldest first; returns how many.
# Deliveries that are due already are not changed.
@statement("""
    with picked as materialized (
        select id from webhook_deliveries
        where project_id = %(project_id)s and webhook_id = %(webhook_id)s and status = %(status)s
          and created_at >= %(since)s and created_at < %(until)s
          and (due_at is null or due_at > %(now)s)
        order by id limit %(limit)s for update
    ), replayed as (
        update webhook_deliveries as record set status = 'PENDING', due_at = %(now)s, tried = 0,
            attempt = attempt + 1, delivered_at = null
        from picked where record.project_id = %(project_id)s and record.id = picked.id
        returning 1
    )
    select count(*)::int from replayed
""")
async def replay_many(
    tx: Transaction,
    *,
    project_id: UUID,
    webhook_id: UUID,
    status: str,
    since: datetime,
    until: datetime,
    now: Moment,
    limit: int,
) -> int: ...


# Of the `limit` oldest deliveries of a subscription, delete those created before `before`; returns how many.
@statement("""
    with oldest as (
        select id, created_at from webhook_deliveries
        where project_id = %(project_id)s and webhook_id = %(webhook_id)s order by id limit %(limit)s
    ), deleted as (
        delete from webhook_deliveries as record using oldest
        where record.project_id = %(project_id)s and record.id = oldest.id and oldest.created_at < %(before)s
        returning 1
    )
    select count(*)::int from deleted
""")
async def delete_expired(tx: Queries, *, project_id: UUID, webhook_id: UUID, before: datetime, limit: int) -> int: ...


# Clear the stored response bodies of all deliveries of the events of records.
@statement("""
    update webhook_deliveries as delivery set response_body = '' from events
    where events.project_id = %(project_id)s and events.subject_id = any (%(subject_ids)s)
      and delivery.project_id = %(project_id)s and delivery.event_id = events.id and delivery.response_body <> ''
""")
async def erase_responses(tx: Transaction, *, project_id: UUID, subject_ids: list[UUID]) -> None: ...


# Schedule the next deletion of expired deliveries; returns False if another worker has claimed the row.
@statement("""
    update webhooks set due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s
""")
async def schedule_cleanup(tx: Queries, *, project_id: UUID, id: UUID, attempt: int, due_at: datetime) -> bool: ...
