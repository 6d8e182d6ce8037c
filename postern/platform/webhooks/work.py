"""Background work: deliveries. Each endpoint has a queue of its own, so that a slow one does not delay others."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Transaction
from postern.kernel.due import Work, one_by_one
from postern.kernel.values import to_json
from postern.platform.events import operations as events
from postern.platform.events.model import Event, EventContact
from postern.platform.webhooks import rules, store
from postern.platform.webhooks.model import (
    DELIVERIES_KEPT,
    RESPONSE_BYTES,
    TIDY_EVERY,
    DeliveryVerdict,
    DueDelivery,
    ExpiredDeliveries,
    WebhookInUse,
)
from postern.platform.webhooks.operations import signed_headers

if TYPE_CHECKING:
    from postern.world import World

LEASE = timedelta(seconds=60)
SHARE_SECONDS = 20.0
"""Seconds after which a batch starts no further request. With the 15 s timeout of one request, this is within LEASE."""
SETTLE_SECONDS = 0.5
"""Seconds that a result waits to be stored together with others."""
AT_ONCE = 10
"""Concurrent requests to one endpoint from one worker."""
AT_ONCE_WHILE_FAILING = 1
FORGOTTEN_AT_ONCE = 10_000


async def deliver(world: "World", jobs: list[DueDelivery]) -> None:
    """Attempt the due deliveries of one subscription."""
    project_id, webhook_id = jobs[0].project_id, jobs[0].webhook_id
    webhook = await store.webhook_in_use(world.db, project_id=project_id, id=webhook_id)
    if webhook is None:
        return
    event_rows = await events.with_ids(world.db, project_id, [job.event_id for job in jobs])
    contacts = await events.contacts_of(world.db, project_id, event_rows)
    batch = _SubscriptionBatch(world, webhook, {event.id: event for event in event_rows}, contacts)
    waiting = iter(sorted(jobs, key=lambda job: job.id))
    side_by_side = AT_ONCE if webhook.failures < rules.GIVEN_UP_FAILURES else AT_ONCE_WHILE_FAILING
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(side_by_side, len(jobs))):
                group.create_task(batch.work(waiting))
    finally:
        await batch.settle()


@dataclass
class _SubscriptionBatch:
    """A batch of deliveries of one subscription."""

    world: "World"
    webhook: WebhookInUse
    events: dict[UUID, Event]
    contacts: dict[UUID, EventContact]
    """The contacts that the events concern, keyed by event id."""
    gone: bool = False
    done: list[tuple[DueDelivery, DeliveryVerdict]] = field(default_factory=list[tuple[DueDelivery, DeliveryVerdict]])
    began: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    settled: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    async def work(self, waiting: Iterator[DueDelivery]) -> None:
        clock = asyncio.get_running_loop().time
        for job in waiting:
            verdict = self._skip_request(job, clock() - self.began) or await self._try(job)
            self.gone = self.gone or verdict.gone
            self.done.append((job, verdict))
            if clock() - self.settled > SETTLE_SECONDS:
                await self.settle()

    def _skip_request(self, job: DueDelivery, elapsed_seconds: float) -> DeliveryVerdict | None:
        if self.gone or not self.webhook.active:
            return DeliveryVerdict("FAILED", tried=False, error_message="The subscription is inactive.")
        if job.event_id not in self.events:
            return DeliveryVerdict("FAILED", tried=False, error_message="The event no longer exists.")
        if elapsed_seconds > SHARE_SECONDS:
            return DeliveryVerdict("PENDING", self.world.clock(), tried=False)
        return None

    async def _try(self, job: DueDelivery) -> DeliveryVerdict:
        body = to_json(rules.payload_of(self.events[job.event_id], self.contacts.get(job.event_id)))
        headers = signed_headers(self.world.secrets, self.webhook, job.event_id, self.world.clock(), body)
        outcome = await self.world.outbound.post(self.webhook.url, body, headers=headers, keep=RESPONSE_BYTES)
        return rules.judge(outcome, job.tried + 1, self.world.clock(), self.world.random.random())

    async def settle(self) -> None:
        """Store the results of the deliveries, and the failures of the subscription."""
        done, self.done = self.done, []
        self.settled = asyncio.get_running_loop().time()
        if not done:
            return
        now, verdicts = self.world.clock(), [verdict for _, verdict in done]
        async with self.world.db.transaction() as tx:
            await store.settle(
                tx,
                verdicts,
                project_id=self.webhook.project_id,
                id=[job.id for job, _ in done],
                attempt=[job.attempt for job, _ in done],
                now=now,
            )
            await _record_result(tx, self.webhook, verdicts, now)


async def _record_result(tx: Transaction, webhook: WebhookInUse, verdicts: list[DeliveryVerdict], now: Moment) -> None:
    """Count successive failures, and deactivate the subscription if there are too many."""
    which = {"project_id": webhook.project_id, "id": webhook.id}
    if any(verdict.status == "SUCCEEDED" for verdict in verdicts):
        await store.record_success(tx, **which)
        return
    failures = sum(verdict.tried for verdict in verdicts)
    failing = await store.record_failures(tx, **which, failures=failures, now=now) if failures else None
    if failing is None:
        return
    gone = any(verdict.gone for verdict in verdicts)
    reason = rules.reason_to_give_up(gone=gone, **msgspec.structs.asdict(failing), now=now)
    if reason and await store.switch_off(tx, **which, reason=reason, now=now):
        disabled_event = events.make_event(
            webhook.project_id, "webhook.disabled", webhook.id, now, url=webhook.url, reason=reason
        )
        await events.record_all(tx, [disabled_event])


async def delete_expired(world: "World", webhook: ExpiredDeliveries) -> None:
    """Delete expired deliveries, and schedule the next time."""
    now = world.clock()
    while await store.delete_expired(
        world.db,
        project_id=webhook.project_id,
        webhook_id=webhook.id,
        before=now - DELIVERIES_KEPT,
        limit=FORGOTTEN_AT_ONCE,
    ):
        pass
    await store.expired_deliveries(
        world.db, project_id=webhook.project_id, id=webhook.id, attempt=webhook.attempt, due_at=now + TIDY_EVERY
    )


WORK = [
    Work(
        name="webhooks",
        table="webhook_deliveries",
        kind=DueDelivery,
        lease=LEASE,
        do=deliver,
        claim_size=100,
        max_claims=200,
        group_column="webhook_id",
    ),
    Work(
        name="webhook-tidying",
        table="webhooks",
        kind=ExpiredDeliveries,
        lease=timedelta(minutes=10),
        do=one_by_one(delete_expired),
    ),
]
