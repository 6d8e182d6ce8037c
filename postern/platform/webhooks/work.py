"""Background work of webhooks: send deliveries, and delete expired ones.

The deliveries of each subscription are claimed separately, so that a slow endpoint does not delay others.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Transaction
from postern.kernel.due import Work, for_each_row
from postern.kernel.values import Moment, to_json
from postern.platform.events import operations as events
from postern.platform.webhooks import rules, store
from postern.platform.webhooks.model import (
    CLEANUP_INTERVAL,
    DELIVERY_RETENTION,
    RESPONSE_BYTES,
    DeliveryVerdict,
    DueDelivery,
    WebhookCleanup,
    WebhookForDelivery,
)
from postern.platform.webhooks.operations import payloads_of, signed_headers

if TYPE_CHECKING:
    from postern.world import World

LEASE = timedelta(seconds=60)
BATCH_SECONDS = 20.0
"""Seconds after which a batch starts no further request. A request takes at most 15 s, so the batch ends within
LEASE."""
STORE_INTERVAL_SECONDS = 0.5
"""Seconds that a result waits to be stored together with others."""
CONCURRENT_REQUESTS = 10
"""Maximum number of concurrent requests of one subscription in one worker."""
CONCURRENT_REQUESTS_WHILE_FAILING = 1
"""The same after DEACTIVATE_FAILURES successive failures. The subscription is deactivated only if the first of them is
also at least DEACTIVATE_AFTER ago; until then, requests go on."""
DELETIONS_PER_STATEMENT = 10_000


async def deliver(world: "World", jobs: list[DueDelivery]) -> None:
    """Attempt the due deliveries `jobs`, all of one subscription, and store the results.

    Deliveries for which BATCH_SECONDS do not suffice become due again at once.
    """
    project_id, webhook_id = jobs[0].project_id, jobs[0].webhook_id
    webhook = await store.webhook_for_delivery(world.db, project_id=project_id, id=webhook_id)
    if webhook is None:
        return
    event_rows = await events.with_ids(world.db, project_id, [job.event_id for job in jobs])
    batch = _SubscriptionBatch(world, webhook, await payloads_of(world, project_id, webhook.format, event_rows))
    waiting = iter(sorted(jobs, key=lambda job: job.id))
    concurrency = (
        CONCURRENT_REQUESTS if webhook.failures < rules.DEACTIVATE_FAILURES else CONCURRENT_REQUESTS_WHILE_FAILING
    )
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(jobs))):
                group.create_task(batch.work(waiting))
    finally:
        await batch.store_results()


@dataclass
class _SubscriptionBatch:
    """A batch of deliveries of one subscription."""

    world: "World"
    webhook: WebhookForDelivery
    payloads: dict[UUID, dict[str, Any]]
    """The bodies, keyed by event id."""
    gone: bool = False
    """Whether the endpoint has responded with 410 Gone."""
    results: list[tuple[DueDelivery, DeliveryVerdict]] = field(
        default_factory=list[tuple[DueDelivery, DeliveryVerdict]]
    )
    started_at: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    """When the batch began, in seconds of the event loop's clock, like `stored_at`."""
    stored_at: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    """When results were last stored."""

    async def work(self, waiting: Iterator[DueDelivery]) -> None:
        """Attempt deliveries from `waiting`, which concurrent calls share, until none is left."""
        clock = asyncio.get_running_loop().time
        for job in waiting:
            verdict = self._result_without_request(job, clock() - self.started_at) or await self._send(job)
            self.gone = self.gone or verdict.gone
            self.results.append((job, verdict))
            if clock() - self.stored_at > STORE_INTERVAL_SECONDS:
                await self.store_results()

    def _result_without_request(self, job: DueDelivery, elapsed_seconds: float) -> DeliveryVerdict | None:
        """The result of a delivery that needs no request now; None if a request is needed."""
        if self.gone or not self.webhook.active:
            return DeliveryVerdict("FAILED", attempted=False, error_message="The subscription is inactive.")
        if job.event_id not in self.payloads:
            return DeliveryVerdict("FAILED", attempted=False, error_message="The event no longer exists.")
        if elapsed_seconds > BATCH_SECONDS:
            return DeliveryVerdict("PENDING", self.world.clock(), attempted=False)
        return None

    async def _send(self, job: DueDelivery) -> DeliveryVerdict:
        body = to_json(self.payloads[job.event_id])
        headers = signed_headers(self.world.secrets, self.webhook, job.event_id, self.world.clock(), body)
        outcome = await self.world.outbound.post(self.webhook.url, body, headers=headers, keep=RESPONSE_BYTES)
        return rules.attempt_result(outcome, job.tried + 1, self.world.clock(), self.world.random.random())

    async def store_results(self) -> None:
        """Store the results that were not stored yet, and update the subscription's count of successive failures."""
        results, self.results = self.results, []
        self.stored_at = asyncio.get_running_loop().time()
        if not results:
            return
        now, verdicts = self.world.clock(), [verdict for _, verdict in results]
        async with self.world.db.transaction() as tx:
            await store.record_results(
                tx,
                verdicts,
                project_id=self.webhook.project_id,
                id=[job.id for job, _ in results],
                # `attempt` is the number of claims of the row, which fences off other workers; `tried` counts requests.
                attempt=[job.attempt for job, _ in results],
                now=now,
            )
            await _update_subscription(tx, self.webhook, verdicts, now)


async def _update_subscription(
    tx: Transaction, webhook: WebhookForDelivery, verdicts: list[DeliveryVerdict], now: Moment
) -> None:
    """Update the count of successive failures. If there are too many, deactivate the subscription and record the event
    `webhook.disabled`."""
    webhook_key = {"project_id": webhook.project_id, "id": webhook.id}
    if any(verdict.status == "SUCCEEDED" for verdict in verdicts):
        await store.record_success(tx, **webhook_key)
        return
    failures = sum(verdict.attempted for verdict in verdicts)
    state = await store.record_failures(tx, **webhook_key, failures=failures, now=now) if failures else None
    if state is None:
        return
    gone = any(verdict.gone for verdict in verdicts)
    reason = rules.deactivation_reason(gone=gone, **msgspec.structs.asdict(state), now=now)
    if reason and await store.deactivate(tx, **webhook_key, reason=reason, now=now):
        disabled_event = events.make_event(
            webhook.project_id, "webhook.disabled", webhook.id, now, url=webhook.url, reason=reason
        )
        await events.record_all(tx, [disabled_event])


async def delete_expired(world: "World", webhook: WebhookCleanup) -> None:
    """Delete the expired deliveries of a subscription, and schedule the next deletion."""
    now = world.clock()
    while await store.delete_expired(
        world.db,
        project_id=webhook.project_id,
        webhook_id=webhook.id,
        before=now - DELIVERY_RETENTION,
        limit=DELETIONS_PER_STATEMENT,
    ):
        pass
    await store.schedule_cleanup(
        world.db, project_id=webhook.project_id, id=webhook.id, attempt=webhook.attempt, due_at=now + CLEANUP_INTERVAL
    )


WORK = [
    Work(
        name="webhooks",
        table="webhook_deliveries",
        row_type=DueDelivery,
        lease=LEASE,
        do=deliver,
        claim_size=100,
        max_claims=200,
        group_column="webhook_id",
    ),
    Work(
        name="webhooks.retention",
        table="webhooks",
        row_type=WebhookCleanup,
        lease=timedelta(minutes=10),
        do=for_each_row(delete_expired),
    ),
]
