"""Functions for features that send mail: get the limits of domains, and count bounces, complaints and messages."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.values import Moment
from postern.messaging.reputation import store
from postern.messaging.reputation.model import EVALUATION_DELAY, DomainLimit, ReputationState


class MailFailure(msgspec.Struct, frozen=True, kw_only=True):
    """A message with a hard bounce, or one that a recipient reported as spam."""

    project_id: UUID
    domain_id: UUID
    at: Moment
    """When the message was transmitted."""
    bounced: int = 0
    complained: int = 0


async def limits_of(db: Queries, project_id: UUID) -> dict[UUID, DomainLimit]:
    """The present limits of the marketing mail of a project's domains, keyed by domain id; only of limited domains."""
    return {limit.domain_id: limit for limit in await store.limits(db, project_id=project_id)}


class LimitStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a domain by its rates, and the ceiling of its warm-up plan today."""

    state: ReputationState = "HEALTHY"
    reason: str | None = None
    ceiling: int | None = None
    """None without an active warm-up plan."""


async def limit_status(db: Queries, project_id: UUID, domain_id: UUID) -> LimitStatus:
    """The state of a domain by its rates, and the ceiling of its warm-up plan today."""
    reputation = await store.get_reputation(db, project_id=project_id, id=domain_id)
    plan = await store.get_warm_up(db, project_id=project_id, id=domain_id)
    return LimitStatus(
        state=reputation.state if reputation else "HEALTHY",
        reason=reputation.reason if reputation else None,
        ceiling=plan.ceiling if plan and plan.status == "ACTIVE" else None,
    )


async def count_failures(tx: Transaction, failures: Sequence[MailFailure], now: Moment) -> None:
    """Count one or more bounces and complaints, and make the evaluation of their domains due in EVALUATION_DELAY.

    The caller passes each bounce and each complaint only once.
    """
    project_ids = sorted({failure.project_id for failure in failures})
    await store.count_failures(
        tx,
        project_id=project_ids,
        rows=Jsonb([msgspec.structs.asdict(failure) for failure in failures]),
        now=now,
        soon=Moment.of(now + EVALUATION_DELAY),
    )
    for project_id in project_ids:
        tx.mark_due("domain_reputations", project_id)


async def count_transactional(tx: Transaction, sent: Sequence[tuple[UUID, UUID]], now: Moment) -> None:
    """Count one or more sent transactional messages, given as pairs of project and domain id, for today's ceilings of
    the warm-up plans of their domains."""
    await store.add_used(
        tx,
        project_id=sorted({project_id for project_id, _ in sent}),
        project_ids=[project_id for project_id, _ in sent],
        domain_ids=[domain_id for _, domain_id in sent],
        day=now.date(),
    )
