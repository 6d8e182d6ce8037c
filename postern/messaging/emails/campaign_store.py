"""SQL statements that release and cancel the sends of a campaign in batches."""

from uuid import UUID

from postern.kernel.database.statements import Transaction, statement
from postern.kernel.values import Moment


# Makes up to `limit` held sends due and returns their ids. Held sends are the waiting sends without due_at; a send that
# a worker has claimed has a due_at: the end of the lease. The time since it was held (`updated_at`) does not count in
# its retry period.
@statement("""
    update sends set due_at = %(now)s,
        retries_since = (greatest(created_at, scheduled_at, retries_since) at time zone 'UTC'
                         + (%(now)s - updated_at)) at time zone 'UTC'
    where project_id = %(project_id)s and due_at is null and id = any (array(
        select id from sends
        where project_id = %(project_id)s and campaign_id = %(campaign_id)s and status in ('QUEUED', 'DELAYED')
          and due_at is null
        limit %(limit)s))
    returning id
""")
async def release_sends(
    tx: Transaction, *, project_id: UUID, campaign_id: UUID, now: Moment, limit: int
) -> list[UUID]: ...


# Cancels up to `limit` waiting sends that are not in transmission, and returns their ids. The new attempt number makes
# a worker that has claimed such a send give up its attempt.
@statement("""
    update sends set status = 'CANCELLED', due_at = null, site = null, attempt = attempt + 1, reason = %(reason)s,
                     updated_at = %(now)s
    where project_id = %(project_id)s and status in ('QUEUED', 'DELAYED') and handed_over is null and id = any (array(
        select id from sends
        where project_id = %(project_id)s and campaign_id = %(campaign_id)s and status in ('QUEUED', 'DELAYED')
          and handed_over is null
        limit %(limit)s))
    returning id
""")
async def cancel_sends(
    tx: Transaction, *, project_id: UUID, campaign_id: UUID, reason: str, now: Moment, limit: int
) -> list[UUID]: ...
