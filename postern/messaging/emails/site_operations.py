"""The sites to which a project sends: their state, and operations on the messages that wait for them.

A site is a group of mail servers that are limited together: those of a provider such as Google, or of one domain. A
relay and Amazon SES are sites, too.
"""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from postern.kernel.database.statements import Jsonb, Transaction
from postern.kernel.due import Work
from postern.kernel.http.call import Call
from postern.kernel.http.listing import ListQuery, sorted_list
from postern.kernel.http.operation import get, post
from postern.kernel.http.pagination import LinkedList
from postern.kernel.http.problems import Invalid, require_found
from postern.kernel.values import NO_ID, Moment
from postern.messaging.emails import rules, site_store, store
from postern.messaging.emails.model import (
    AWAITING_ATTEMPT,
    OPERATOR,
    SITE_COUNTS_PERIOD,
    SITE_WAITING_COUNT_LIMIT,
    DeliverySite,
    DeliverySiteBounce,
    DeliverySiteSuspension,
    ListedSite,
    NewSiteBounce,
    NewSiteSuspension,
    ProjectSite,
    Send,
    SiteMissing,
    SiteName,
    SiteNotSuspended,
    SiteSearch,
    SiteState,
    SiteSuspendedByOperator,
    SiteTransport,
)
from postern.messaging.emails.outcomes import FinishedAttempt, events_of
from postern.messaging.emails.sites import scaled, sites
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events

if TYPE_CHECKING:
    from postern.world import World

BATCH = 500
"""How many waiting messages one transaction ends or releases."""
TRANSMISSION_CHECK = timedelta(seconds=15)
"""When a task looks again at messages that were in transmission."""
TASK_LEASE = timedelta(minutes=5)
RELEASED_AGAIN_AFTER = timedelta(seconds=5)
"""After this time, messages are released a second time: a worker that had not yet seen the end of the suspension may
have postponed some of them for up to an hour."""


@get("/projects/{project_id}/delivery/sites", needs="emails:read")
async def list_delivery_sites(
    call: Call,
    q: SiteSearch | None = None,
    state: SiteState | None = None,
    transport: SiteTransport | None = None,
    *,
    query: ListQuery,
) -> LinkedList[DeliverySite]:
    """The sites to which the project sends mail, with the number of waiting messages. Sites that were not used for a
    month are left out.

    A site is a group of mail servers that are limited together: those of a provider such as Google, or of one domain. A
    relay and Amazon SES are sites, too.
    """
    filters = query.filters(q, state=[state] if state else [], transport=[transport] if transport else [])
    page = await sorted_list(
        call,
        "delivery-sites",
        query,
        filters,
        site_store.SEARCH_TEXT,
        site_store.list_sites,
        site_store.count_sites,
        counted=SITE_WAITING_COUNT_LIMIT,
        since=call.now - SITE_COUNTS_PERIOD,
        now=call.now,
    )
    return page.convert_items(lambda site: _shown(call.world, site))


@get("/projects/{project_id}/delivery/sites/{site}", needs="emails:read", problems=[SiteMissing])
async def get_delivery_site(call: Call, site: SiteName) -> DeliverySite:
    """A site to which the project sends mail."""
    return await _site(call, site)


@post(
    "/projects/{project_id}/delivery/sites/{site}/suspend",
    needs="emails:write",
    problems=[SiteMissing, SiteSuspendedByOperator],
    example={"reason": "They asked us to wait until Monday.", "until": None},
)
async def suspend_delivery_site(call: Call, site: SiteName, data: NewSiteSuspension) -> DeliverySite:
    """Send no mail of this project to a site, until it is resumed or until a time.

    Messages to the site wait, and fail only if their `expiresAt` passes. The time of the suspension does not count in
    their retry period. At most two seconds later, no process begins to send further messages to the site.
    """
    if data.until is not None and data.until <= call.now:
        raise Invalid.at("/until", "The time is in the past.", "in_past")
    async with call.db.transaction() as tx:
        stored = await _lock(tx, call, site)
        if _is_suspended_by_operator(stored, call.now):
            raise SiteSuspendedByOperator
        await site_store.suspend_site(
            tx,
            project_id=call.project_id,
            id=stored.id,
            until=data.until,
            reason=rules.storable(data.reason),
            by=call.caller.actor_type,
            now=call.now,
        )
        await audit.record(
            tx,
            call,
            "delivery_site.suspended",
            "DeliverySite",
            stored.id,
            name=site,
            reason=data.reason,
            until=data.until,
        )
    return await _site(call, site)


@post(
    "/projects/{project_id}/delivery/sites/{site}/resume",
    needs="emails:write",
    problems=[SiteMissing, SiteNotSuspended, SiteSuspendedByOperator],
)
async def resume_delivery_site(call: Call, site: SiteName) -> DeliverySite:
    """End this project's suspension of a site. Its waiting messages are sent as the limits of the site allow.

    A suspension by the operator of the server stays.
    """
    async with call.db.transaction() as tx:
        stored = await _lock(tx, call, site)
        if _is_suspended_by_operator(stored, call.now):
            raise SiteSuspendedByOperator
        if stored.suspended_at is None:
            raise SiteNotSuspended
        await resume(tx, stored, call.now)
        await audit.record(tx, call, "delivery_site.resumed", "DeliverySite", stored.id, name=site)
    return await _site(call, site)


@post(
    "/projects/{project_id}/delivery/sites/{site}/bounce",
    needs="emails:write",
    problems=[SiteMissing],
    example={"reason": "The provider has blocked our address."},
)
async def bounce_delivery_site(call: Call, site: SiteName, data: NewSiteBounce) -> DeliverySite:
    """Give up the messages of this project that wait for a site. They become FAILED with the reason, in the background;
    `bounce` shows the progress.

    Messages that were accepted after this request are not given up, nor are those that were not tried yet. No address
    is suppressed, and the messages do not count as bounces. Each can be retried.
    """
    async with call.db.transaction() as tx:
        stored = await _lock(tx, call, site)
        await bounce(tx, stored, rules.storable(data.reason), call.now)
        await audit.record(tx, call, "delivery_site.bounced", "DeliverySite", stored.id, name=site, reason=data.reason)
    return await _site(call, site)


async def resume(tx: Transaction, site: ProjectSite, now: Moment) -> None:
    """End a project's suspension of a site, and release the messages that wait for it."""
    await site_store.resume_site(tx, project_id=site.project_id, id=site.id, now=now)
    tx.mark_due("project_sites", site.project_id)


async def bounce(tx: Transaction, site: ProjectSite, reason: str, now: Moment) -> None:
    """Begin to give up the messages of a project that wait for a site."""
    await site_store.begin_bounce(tx, project_id=site.project_id, id=site.id, reason=reason, now=now)
    tx.mark_due("project_sites", site.project_id)


def _is_suspended_by_operator(site: ProjectSite, now: Moment) -> bool:
    return (
        site.suspended_by == OPERATOR
        and site.suspended_at is not None
        and (site.suspended_until is None or site.suspended_until > now)
    )


async def _lock(tx: Transaction, call: Call, name: str) -> ProjectSite:
    return require_found(await site_store.lock_site(tx, project_id=call.project_id, name=name), SiteMissing)


async def suspension_of(call: Call, name: str) -> DeliverySiteSuspension | None:
    """The suspension of a site of the project; None if it has none."""
    try:
        return (await _site(call, name)).suspension
    except SiteMissing:
        return None


async def _site(call: Call, name: str) -> DeliverySite:
    rows = await site_store.list_sites(
        call.db,
        project_id=call.project_id,
        clause=site_store.named(name),
        limit=1,
        counted=SITE_WAITING_COUNT_LIMIT,
        since=call.now - SITE_COUNTS_PERIOD,
        now=call.now,
    )
    return _shown(call.world, require_found(rows[0] if rows else None, SiteMissing))


def _shown(world: "World", site: ListedSite) -> DeliverySite:
    limits = sites(world).limits_of(site.transport, site.provider, site.hosts, site.name)
    return DeliverySite(
        name=site.name,
        transport=site.transport,
        provider=site.provider,
        hosts=site.hosts,
        state=site.state,
        suspension=_suspension(site),
        limits=scaled(limits, site.factor),
        default_limits=scaled(limits, 1.0),
        throttled_until=site.throttled_until,
        last_reply=site.last_reply,
        last_reply_at=site.last_reply_at,
        waiting=site.waiting,
        oldest_waiting_at=site.oldest_waiting_at,
        delivered=site.delivered,
        deferred=site.deferred,
        bounced=site.bounced_count,
        bounce=DeliverySiteBounce(
            reason=site.task_reason or "",
            failed=site.bounced,
            started_at=site.bounce_started_at,
            ended_at=site.bounce_ended_at,
        )
        if site.bounce_started_at
        else None,
        created_at=site.created_at,
        updated_at=site.updated_at,
    )


def _suspension(site: ListedSite) -> DeliverySiteSuspension | None:
    if site.suspension_by is None:
        return None
    if site.suspended_at and (site.suspended_by == OPERATOR or site.suspension_by == "PROJECT"):
        return DeliverySiteSuspension(
            by=site.suspension_by,
            reason=site.suspension_reason or "",
            since=site.suspended_at,
            until=site.suspended_until,
        )
    if site.operator_suspended_at:
        return DeliverySiteSuspension(
            by="OPERATOR",
            reason=site.operator_reason or "",
            since=site.operator_suspended_at,
            until=site.operator_suspended_until,
        )
    return None


# Background work on the messages that wait for a site ---------------------------------------------------


async def run_site_tasks(world: "World", tasks: list[ProjectSite]) -> None:
    """Release or give up the messages that wait for sites of one project."""
    for task in tasks:
        await (_release(world, task) if task.task == "RELEASE" else _give_up(world, task))


async def _release(world: "World", task: ProjectSite) -> None:
    after, now = NO_ID, world.clock()
    while True:
        async with world.db.transaction() as tx:
            released = await site_store.release(
                tx,
                project_id=task.project_id,
                site=task.name,
                statuses=[*AWAITING_ATTEMPT],
                after=after,
                limit=BATCH,
                now=now,
            )
            if not released:
                again_at = (task.task_until or now) + RELEASED_AGAIN_AFTER
                await _store_progress(tx, task, 0, again_at if now < again_at else None, now)
                return
            tx.mark_due("sends", task.project_id)
        after = max(released)


async def _give_up(world: "World", task: ProjectSite) -> None:
    until = task.task_until or world.clock()
    where: dict[str, Any] = {
        "project_id": task.project_id,
        "site": task.name,
        "statuses": [*AWAITING_ATTEMPT],
        "until": until,
    }
    while True:
        now = world.clock()
        async with world.db.transaction() as tx:
            waiting = await site_store.lock_waiting(tx, **where, limit=BATCH)
            if waiting:
                await _fail(tx, waiting, task, now)
                await _store_progress(tx, task, len(waiting), Moment.of(now + TASK_LEASE), now)
            else:
                # Messages in transmission may be deferred, and then wait again.
                in_transmission = await site_store.has_waiting(tx, **where)
                due_at = Moment.of(now + TRANSMISSION_CHECK) if in_transmission else None
                await _store_progress(tx, task, 0, due_at, now)
                return


async def _fail(tx: Transaction, waiting: list[Send], task: ProjectSite, now: Moment) -> None:
    reason = f"The messages that waited for {task.name} were given up: {task.task_reason or ''}"
    send_outcome = rules.failed(reason)
    rows = [
        {
            "project_id": send.project_id,
            "id": send.id,
            # An earlier attempt may have reached other recipients.
            "status": "SENT" if send.sent_at else send_outcome.status,
            "outcomes": send.outcomes,
            "reason": reason,
            "sent_at": send.sent_at,
            "delivered_at": send.delivered_at,
            "delayed_at": send.delayed_at,
            "begins_attempt": True,
        }
        for send in waiting
    ]
    rows_without_nulls = [{name: value for name, value in row.items() if value is not None} for row in rows]
    await store.store_reported(tx, project_id=[task.project_id], rows=Jsonb(rows_without_nulls), now=now)
    await store.erase_secrets(tx, project_id=[task.project_id], ids=[send.id for send in waiting])
    ended = [FinishedAttempt(send=send, send_outcome=send_outcome) for send in waiting if not send.sent_at]
    await events.record_all(tx, [event for attempt in ended for event in events_of(attempt, now)])


async def _store_progress(tx: Transaction, task: ProjectSite, bounced: int, due_at: Moment | None, now: Moment) -> None:
    await site_store.store_progress(
        tx, project_id=task.project_id, id=task.id, attempt=task.attempt, bounced=bounced, due_at=due_at, now=now
    )


SITE_TASKS = Work(
    name="site_tasks",
    table="project_sites",
    row_type=ProjectSite,
    lease=TASK_LEASE,
    do=run_site_tasks,
    claim_size=10,
)
