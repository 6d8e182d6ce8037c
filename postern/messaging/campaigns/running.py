"""Execution of campaigns: checks before the start, creation of sends in batches, end of the A/B test, completion."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Unpack
from uuid import UUID

import msgspec
import structlog
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.problems import Invalid, Problem, ProblemError
from postern.kernel.values import NO_ID, Moment, new_id
from postern.messaging.audiences import operations as audiences
from postern.messaging.campaigns import ab_test, content, store
from postern.messaging.campaigns.model import (
    FILL_BATCH,
    LIMITED_POLL_INTERVAL,
    MAX_QUEUED,
    POLL_INTERVAL,
    RETRY_POLL_INTERVAL,
    TRANSITIONS,
    UPDATE_BATCH,
    CampaignIncomplete,
    CampaignRow,
    CampaignStateColumns,
    VariantRow,
)
from postern.messaging.domains import sending as domains
from postern.messaging.emails import campaign_store, enqueue, pre_send_check
from postern.messaging.emails.model import TRANSITIONS as SEND_TRANSITIONS
from postern.messaging.emails.model import SendBody
from postern.messaging.emails.outcomes import event_of
from postern.messaging.emails.rules import CAMPAIGN_CANCELLED
from postern.messaging.emails.sources import source_warm_ups
from postern.messaging.emails.transports import is_captured
from postern.messaging.reputation.sending import limits_of
from postern.messaging.templates.rules import check_content
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.platform.projects.model import ProjectSettings, frequency_cap_of
from postern.platform.projects.quotas import QuotaRequest, quota_left
from postern.protocols.mail.address import AddressInvalid, parse_address

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


async def require_complete(tx: Transaction, world: "World", row: CampaignRow) -> None:
    """Raises CampaignIncomplete, whose `errors` list everything that the campaign lacks before it can be sent."""
    errors: list[ProblemError] = []

    def add_error(path: str, message: str) -> None:
        errors.append(ProblemError(path=path, code="missing", message=message))

    if row.audience_id is None:
        add_error("/audienceId", "The campaign needs an audience.")
    if row.domain_id is None:
        add_error("/domainId", "The campaign needs a sending domain.")
    if row.from_email is None:
        add_error("/fromEmail", "The campaign needs a sender address.")
    variants = await store.variants(tx, project_id=row.project_id, campaign_id=row.id)
    if row.ab_test_enabled:
        if len(variants) < 2:
            add_error("/variants", "An A/B test needs at least two variants.")
        for name in ("ab_test_sample_percent", "ab_test_metric", "ab_test_duration_minutes"):
            if getattr(row, name) is None:
                field = "abTest" + name.removeprefix("ab_test").title().replace("_", "")
                add_error(f"/{field}", f"An A/B test needs `{field}`.")
    elif row.template_id is None:
        add_error("/templateId", "The campaign needs a template.")
    for index, variant in enumerate(_variants_to_send(row, variants)):
        try:
            await content.current_content(tx, row, variant)
        except CampaignIncomplete as incomplete:
            if incomplete.errors:
                add_error("/templateId" if variant is None else f"/variants/{index}/templateId", incomplete.detail)
                continue
            path = "/subject" if variant is None and row.template_id else "/templateId"
            path = path if variant is None else f"/variants/{index}/templateId"
            if not any(error.path == path for error in errors):
                add_error(path, "The message needs a template and a subject.")
    await _check_sender(tx, world, row, add_error)
    if errors:
        raise CampaignIncomplete(errors=errors)


async def require_renderable(world: "World", row: CampaignRow) -> None:
    """Raises CampaignIncomplete if the template engine cannot render the campaign's own content.

    The content is checked when it is stored, but the template, and with it the engine, may have changed since. Does
    nothing for a campaign that has started.
    """
    if row.status not in ("DRAFT", "SCHEDULED"):
        return
    variants = await store.variants(world.db, project_id=row.project_id, campaign_id=row.id)
    own_content = content.CampaignOwnContent(
        subject=row.subject,
        preview_text=row.preview_text,
        from_name=row.from_name,
        template_id=row.template_id,
        variants=[(variant.subject, variant.template_id) for variant in variants if row.ab_test_enabled],
    )
    parts, _ = await content.template_parts(world.db, row.project_id, own_content)
    try:
        await check_content(world.rendering, row.project_id, parts)
    except Invalid as invalid:
        raise CampaignIncomplete(invalid.detail, errors=invalid.errors) from None


async def _check_sender(
    tx: Transaction, world: "World", row: CampaignRow, add_error: Callable[[str, str], None]
) -> None:
    if row.domain_id is None or row.from_email is None:
        return
    sending_domains = await domains.sending_domains(tx, row.project_id, [row.domain_id])
    settings = (await projects.require_project(tx, row.project_id)).settings
    try:
        from_domain = parse_address(row.from_email).domain
    except AddressInvalid as error:
        add_error("/fromEmail", error.detail)
        return
    try:
        content.sender_of(row)
    except AddressInvalid as error:
        add_error("/fromName", error.detail)
    captured = is_captured(world, settings, test=row.is_test)
    if not sending_domains or (sending_domains[0].domain != from_domain and not captured):
        add_error("/fromEmail", "The sender address must be at the campaign's sending domain.")
    elif not captured and not sending_domains[0].may_send:
        add_error("/domainId", "The sending domain must be verified first.")


def _variants_to_send(row: CampaignRow, variants: list[VariantRow]) -> list[VariantRow | None]:
    """The variants of an A/B test; otherwise only None, which stands for the campaign's own message."""
    return [*variants] if row.ab_test_enabled and variants else [None]


async def start(tx: Transaction, world: "World", row: CampaignRow, now: Moment) -> CampaignRow:
    """Start a campaign: take the content snapshots, make it due now and record `campaign.started`.

    The caller has locked the row and checked it (`require_complete`). Raises PlanLimitReached if the account's plan
    does not allow an e-mail to every contact of the audience; this is not checked if a TEST key started the campaign.
    """
    assert row.audience_id is not None
    await _require_quota(tx, world, row, row.audience_id, now)
    settings = (await projects.require_project(tx, row.project_id)).settings
    variants = await store.variants(tx, project_id=row.project_id, campaign_id=row.id)
    content_id = None
    for variant in _variants_to_send(row, variants):
        snapshot_id = await _insert_snapshot(tx, row, variant, settings, now)
        content_id = content_id or snapshot_id
        if variant is not None:
            await store.set_variant_content(tx, project_id=row.project_id, id=variant.id, content_id=snapshot_id)
    testing = row.ab_test_enabled and bool(variants)
    started = await change_state(
        tx,
        row,
        now,
        status="TESTING" if testing else "SENDING",
        due_at=now,
        started_at=now,
        content_id=content_id,
        expected=await audiences.count_members(tx, row.project_id, row.audience_id),
        ab_test_started_at=now if testing else None,
        cursor=None,
        filled=False,
    )
    event = events.make_event(row.project_id, "campaign.started", row.id, now, name=row.name, testing=testing)
    await events.record_all(tx, [event])
    return started


async def _require_quota(tx: Transaction, world: "World", row: CampaignRow, audience_id: UUID, now: Moment) -> None:
    """Raises PlanLimitReached if the account's plan does not allow an e-mail to every contact of the audience."""
    if row.is_test:
        return
    quota = await quota_left(tx, world, QuotaRequest("emails", 1, now, project_id=row.project_id))
    if quota is None:
        return
    # Campaigns that have started will create more sends, which use the quota too. quota_left has locked the account, so
    # no other campaign can start before this transaction ends.
    pending = await store.count_pending(tx, project_id=row.project_id)
    available = max(quota.number - pending, 0)
    # The limit stops the count as soon as it exceeds the quota.
    count = await store.count_subscribed_members(
        tx, project_id=row.project_id, audience_id=audience_id, limit=available + 1
    )
    if count > available:
        raise quota.refusal


async def _insert_snapshot(
    tx: Transaction, row: CampaignRow, variant: VariantRow | None, settings: ProjectSettings, now: Moment
) -> UUID:
    body: SendBody = content.snapshot(row, await content.current_content(tx, row, variant), settings)
    content_id = new_id()
    await enqueue.insert_content(tx, row.project_id, content_id, body, now)
    return content_id


async def pause(tx: Transaction, row: CampaignRow, now: Moment) -> CampaignRow:
    """Hold the campaign's content snapshots and thereby all its sends until the campaign is resumed."""
    await enqueue.hold_content(tx, row.project_id, await _content_ids(tx, row))
    await store.record_pause(tx, project_id=row.project_id, id=row.id, now=now)
    return await change_state(
        tx, row, now, status="PAUSED", due_at=None, paused_from=row.status, interrupts_worker=True
    )


async def resume(tx: Transaction, row: CampaignRow, now: Moment) -> CampaignRow:
    """Release the campaign's content snapshots; its background work then makes the held sends due."""
    await enqueue.release_content(tx, row.project_id, await _content_ids(tx, row))
    await store.record_resume(tx, project_id=row.project_id, id=row.id, now=now)
    status = row.paused_from or "SENDING"
    return await change_state(
        tx, row, now, status=status, due_at=now, paused_from=None, releasing=True, interrupts_worker=True
    )


async def cancel(tx: Transaction, row: CampaignRow, now: Moment) -> CampaignRow:
    """Stop the campaign's content snapshots for good; its background work then cancels the waiting sends."""
    await enqueue.stop_content(tx, row.project_id, await _content_ids(tx, row))
    return await change_state(tx, row, now, status="CANCELLED", due_at=now, interrupts_worker=True)


async def cancel_retries(tx: Transaction, row: CampaignRow, now: Moment) -> None:
    """Stop the retries of a SENT campaign: no waiting send is transmitted any more.

    Up to UPDATE_BATCH waiting sends become CANCELLED now, the others when a worker claims them.
    """
    await enqueue.stop_content(tx, row.project_id, await _content_ids(tx, row))
    await campaign_store.cancel_sends(
        tx, project_id=row.project_id, campaign_id=row.id, reason=CAMPAIGN_CANCELLED, now=now, limit=UPDATE_BATCH
    )


async def wait_until_stopped(world: "World", row: CampaignRow, now: Moment) -> None:
    """Wait, at most half a second, until no worker begins to send messages of a paused or cancelled campaign.

    `now` is the time of the pause or cancellation, whose transaction must be committed. Messages that are being
    transmitted may still arrive.
    """
    try:
        await pre_send_check.wait_until_stopped(world, row.project_id, await _content_ids(world.db, row), now)
    except (OperationalError, PoolTimeout):  # The change is committed, so the response must not report a failure.
        await asyncio.sleep(pre_send_check.MAX_FRESH_SECONDS)


async def _content_ids(db: Queries, row: CampaignRow) -> list[UUID]:
    variants = await store.variants(db, project_id=row.project_id, campaign_id=row.id)
    content_ids = (row.content_id, *(variant.content_id for variant in variants))
    return sorted({content_id for content_id in content_ids if content_id})


async def change_state(
    tx: Transaction,
    row: CampaignRow,
    now: Moment,
    *,
    status: str,
    interrupts_worker: bool = False,
    **changed: Unpack[CampaignStateColumns],
) -> CampaignRow:
    """Change the status, as TRANSITIONS allows, and the given columns; returns the new row.

    With `interrupts_worker`, a worker that is processing the campaign stops, and the `due_at` given here is kept.
    """
    assert status == row.status or status in TRANSITIONS[row.status], f"{row.status} does not lead to {status}"
    new = msgspec.structs.replace(row, status=status, attempt=row.attempt + interrupts_worker, **changed)
    return await store.change_state(tx, new, now=now)


async def run(world: "World", row: CampaignRow) -> None:
    """Do the next step of a campaign that is due: start it, create sends, end its A/B test, or end the campaign."""
    if row.status == "SCHEDULED":
        await _start_scheduled(world, row)
    elif row.status in ("TESTING", "SENDING"):
        if row.releasing and not await _release(world, row):
            return
        if not row.filled:
            await _fill(world, row)
        elif row.status == "TESTING":
            await _end_test(world, row)
        else:
            await _end(world, row)
    elif row.status == "CANCELLED":
        await _cancel_waiting(world, row)
    else:
        await _reschedule(world, row, None)


async def _release(world: "World", row: CampaignRow) -> bool:
    """Make held sends due again in batches. Returns False if another process has changed the campaign's state."""
    while True:
        async with world.db.transaction() as tx:
            locked = await _lock_unchanged(tx, row)
            if locked is None:
                return False
            now = world.clock()
            released = await campaign_store.release_sends(
                tx, project_id=row.project_id, campaign_id=row.id, now=now, limit=UPDATE_BATCH
            )
            tx.mark_due("sends", row.project_id)
            if len(released) < UPDATE_BATCH:
                await change_state(tx, locked, now, status=row.status, due_at=locked.due_at, releasing=False)
                return True


async def _cancel_waiting(world: "World", row: CampaignRow) -> None:
    """Set the waiting sends of a cancelled campaign to CANCELLED in batches.

    Sends that were transmitted without a reply are left to the worker that claims them next.
    """
    updated = UPDATE_BATCH
    while updated == UPDATE_BATCH:
        async with world.db.transaction() as tx:
            if await _lock_unchanged(tx, row) is None:
                return
            cancelled = await campaign_store.cancel_sends(
                tx,
                project_id=row.project_id,
                campaign_id=row.id,
                reason=CAMPAIGN_CANCELLED,
                now=world.clock(),
                limit=UPDATE_BATCH,
            )
            updated = len(cancelled)
    await _delete_leavers_and_sample(world, row)
    await _reschedule(world, row, None)


async def _delete_leavers_and_sample(world: "World", row: CampaignRow) -> None:
    """Delete the rows of `campaign_leavers` and `campaign_samples` of an ended campaign, in batches."""
    deleted = UPDATE_BATCH
    while deleted == UPDATE_BATCH:
        batch: dict[str, Any] = {"project_id": row.project_id, "campaign_id": row.id, "limit": UPDATE_BATCH}
        deleted = len(await store.delete_leavers(world.db, **batch))
        deleted = max(deleted, len(await store.delete_sample(world.db, **batch)))


async def refresh_audience(world: "World", row: CampaignRow, now: Moment) -> None:
    """Re-evaluate an audience with rules that depend on the current time, right before its campaign starts.

    Does nothing for a campaign that does not start now.
    """
    starts_later = row.status == "DRAFT" and row.scheduled_at is not None and row.scheduled_at > now
    if row.audience_id is not None and row.status in ("DRAFT", "SCHEDULED") and not starts_later:
        await audiences.refresh(world.db, row.project_id, row.audience_id, now)


async def _start_scheduled(world: "World", row: CampaignRow) -> None:
    now = world.clock()
    render_problem: CampaignIncomplete | None = None
    try:
        await require_renderable(world, row)
    except CampaignIncomplete as incomplete:
        render_problem = incomplete
    await refresh_audience(world, row, now)
    async with world.db.transaction() as tx:
        locked = await _lock_unchanged(tx, row)
        if locked is None:
            return
        try:
            if render_problem is not None:
                raise render_problem
            await require_complete(tx, world, locked)
            await start(tx, world, locked, now)
        except Problem as problem:
            errors = "; ".join(f"{error.path}: {error.message}" for error in problem.errors)
            reason = f"The campaign could not start: {errors or problem.detail}"[:1_000]
            await change_state(tx, locked, now, status="FAILED", due_at=None, reason=reason)
            event = events.make_event(row.project_id, "campaign.failed", row.id, now, name=row.name, reason=reason)
            await events.record_all(tx, [event])
        tx.mark_due("campaigns", row.project_id)


async def _lock_unchanged(tx: Transaction, row: CampaignRow) -> CampaignRow | None:
    """Lock and return the row (for update); None if its status or attempt has changed since `row` was read."""
    locked = await store.lock_campaign(tx, project_id=row.project_id, id=row.id)
    if locked is None or locked.attempt != row.attempt or locked.status != row.status:
        return None
    return locked


async def _fill(world: "World", row: CampaignRow) -> None:
    """Create sends in batches, with at most about MAX_QUEUED of them waiting for their first attempt."""
    if row.status == "TESTING" and row.ab_test_sample_size is None and not await _choose_sample(world, row):
        return
    while True:
        counts = await counts_of(world, row)
        if counts.get("QUEUED", 0) >= MAX_QUEUED:
            await _reschedule_in(world, row, await _poll_interval(world, row))
            return
        async with world.db.transaction() as tx:
            locked = await _lock_unchanged(tx, row)
            if locked is None:
                return
            done = await _fill_batch(tx, world, locked)
            tx.mark_due("sends", row.project_id)
        if done:
            await _reschedule_in(world, row, timedelta())
            return


async def _choose_sample(world: "World", row: CampaignRow) -> bool:
    """Choose the contacts of an A/B test before its first send.

    Returns False if the campaign's state has changed, or if the audience has fewer contacts than variants. In the
    second case there is no test: all contacts get the first variant.
    """
    async with world.db.transaction() as tx:
        locked = await _lock_unchanged(tx, row)
        if locked is None or locked.audience_id is None or locked.started_at is None:
            return False
        variants = await store.variants(tx, project_id=row.project_id, campaign_id=row.id)
        audience_filter: dict[str, Any] = {
            "project_id": row.project_id,
            "audience_id": locked.audience_id,
            "started_at": locked.started_at,
        }
        eligible = await store.count_eligible(tx, **audience_filter)
        size = ab_test.sample_size(eligible, locked.ab_test_sample_percent or 100, len(variants))
        locked = await store.set_sample_size(tx, project_id=row.project_id, id=row.id, size=size)
        if size:
            shares = ab_test.allocate(size, [variant.weight for variant in variants])
            ranges: list[dict[str, Any]] = []
            low = 0
            for variant, share in zip(variants, shares, strict=True):
                ranges.append({"variant_id": variant.id, "low": low, "high": low + share})
                low += share
            await store.insert_sample(tx, id=row.id, ranges=Jsonb(ranges), **audience_filter)
            return True
        now = world.clock()
        reason = f"There was no test: the audience has {eligible} contacts for {len(variants)} variants."
        decision = {"winnerId": str(variants[0].id), "decidedBy": "too_small", "reason": reason}
        await continue_with_winner(tx, locked, variants[0], decision, now)
        event_data: dict[str, Any] = {"name": row.name, **decision}
        await events.record_all(tx, [events.make_event(row.project_id, "campaign.tested", row.id, now, **event_data)])
        tx.mark_due("campaigns", row.project_id)
    return False


async def _fill_batch(tx: Transaction, world: "World", row: CampaignRow) -> bool:
    """Create the sends of the next contacts and advance the cursor; returns True after the last contact."""
    assert row.audience_id is not None
    assert row.started_at is not None
    variants = await store.variants(tx, project_id=row.project_id, campaign_id=row.id)
    testing = row.status == "TESTING"
    host = parse_address(row.from_email or "").domain
    cap = frequency_cap_of((await projects.require_project(tx, row.project_id)).settings)
    now = world.clock()
    await enqueue.lock_frequency_cap(tx, row.project_id)
    batch = await store.fill_sends(
        tx,
        msgspec.structs.replace(row, cursor=row.cursor or NO_ID),
        limit=FILL_BATCH,
        testing=testing,
        host=host,
        sender=content.sender_of(row),
        contents=Jsonb(_contents(row, variants, await _subjects(tx, row, variants))),
        cap=cap,
        cap_since=now - enqueue.CAP_PERIOD,
        cap_reason=enqueue.cap_reason(cap),
        now=now,
    )
    if batch.capped:
        await _record_capped(tx, row, batch.capped, cap, now)
    done = batch.seen < FILL_BATCH
    await store.advance(tx, batch, project_id=row.project_id, id=row.id, filled=done)
    return done


async def _record_capped(tx: Transaction, row: CampaignRow, ids: list[UUID], cap: int, now: Moment) -> None:
    """Record the event `email.suppressed` for sends that the frequency cap suppressed."""
    reason = enqueue.cap_reason(cap)
    sends = await store.sends_by_id(tx, project_id=row.project_id, ids=ids)
    await events.record_all(tx, [event_of(send, "email.suppressed", now, reason=reason) for send in sends])
    log.info("mail_capped", project=str(row.project_id), campaign=str(row.id), messages=len(ids), reason=reason)


async def _subjects(tx: Transaction, row: CampaignRow, variants: list[VariantRow]) -> dict[UUID, str]:
    """The subjects of the campaign's content snapshots, keyed by their ids."""
    content_ids = (row.content_id, *(variant.content_id for variant in variants))
    return await enqueue.content_subjects(tx, row.project_id, [content_id for content_id in content_ids if content_id])


def _contents(row: CampaignRow, variants: list[VariantRow], subjects: dict[UUID, str]) -> list[dict[str, Any]]:
    """The content to send: in an A/B test that of every variant, otherwise that of the winner or of the campaign."""
    if row.status != "TESTING":
        winner = next((variant for variant in variants if variant.is_winner), None) if row.ab_test_started_at else None
        content_id = winner.content_id if winner else row.content_id
        assert content_id is not None
        return [
            {
                "variant_id": winner.id if winner else None,
                "content_id": content_id,
                "subject": subjects[content_id],
            }
        ]
    return [
        {"variant_id": variant.id, "content_id": variant.content_id, "subject": subjects[variant.content_id]}
        for variant in variants
        if variant.content_id is not None
    ]


async def _end_test(world: "World", row: CampaignRow) -> None:
    """Choose the winner if the duration of the test has passed; otherwise reschedule the campaign to its end."""
    now = world.clock()
    ends_at = test_ends_at(row) or now
    if now < ends_at:
        await _reschedule_in(world, row, ends_at - now)
        return
    async with world.db.transaction() as tx:
        locked = await _lock_unchanged(tx, row)
        if locked is None:
            return
        variants = await store.variants(tx, project_id=row.project_id, campaign_id=row.id)
        decision = await decide_test(tx, locked, variants)
        winner = next(variant for variant in variants if str(variant.id) == decision["winnerId"])
        await continue_with_winner(tx, locked, winner, decision, now)
        event_data: dict[str, Any] = {"name": row.name, "winnerId": winner.id, "decidedBy": decision["decidedBy"]}
        await events.record_all(tx, [events.make_event(row.project_id, "campaign.tested", row.id, now, **event_data)])
        tx.mark_due("campaigns", row.project_id)


def test_ends_at(row: CampaignRow) -> Moment | None:
    """When the A/B test ends: its start, plus its duration, plus the time that the campaign was paused."""
    if row.ab_test_started_at is None:
        return None
    return Moment.of(row.ab_test_started_at + timedelta(minutes=row.ab_test_duration_minutes or 0) + row.ab_test_paused)


async def sample_warnings(db: Queries, row: CampaignRow, variants: list[VariantRow]) -> list[ProblemError]:
    """A warning if the sample of the campaign's A/B test is too small for a decisive result; otherwise an empty list.

    Before the start, the sample size is estimated from the current audience.
    """
    if not row.ab_test_enabled or len(variants) < 2 or row.ab_test_sample_percent is None or row.evidence is not None:
        return []
    size = row.ab_test_sample_size
    if size is None:
        if row.audience_id is None:
            return []
        # The limit stops the count of a large audience as soon as the sample would be large enough.
        enough = ab_test.MIN_SENT_PER_VARIANT * 100 // min(variant.weight for variant in variants) + 1
        limit = enough * 100 // row.ab_test_sample_percent + len(variants)
        eligible = await store.count_subscribed_members(
            db, project_id=row.project_id, audience_id=row.audience_id, limit=limit
        )
        size = ab_test.sample_size(eligible, row.ab_test_sample_percent, len(variants))
    if size == 0:
        message = "The audience has fewer contacts than variants: all contacts would get the first variant, untested."
        return [ProblemError(path="/audienceId", code="sample_too_small", message=message)]
    minimum = ab_test.MIN_SENT_PER_VARIANT
    shares = zip(variants, ab_test.allocate(size, [variant.weight for variant in variants]), strict=True)
    too_small = [f"“{variant.name}” gets {share}" for variant, share in shares if share < minimum]
    if not too_small:
        return []
    message = (
        f"The sample has {size} contacts, of which {', '.join(too_small)}. With fewer than {minimum} for each variant "
        "the test cannot decide: the variant with the highest rate would win without being clearly better."
    )
    return [ProblemError(path="/abTestSamplePercent", code="sample_too_small", message=message)]


async def decide_test(tx: Transaction, row: CampaignRow, variants: list[VariantRow]) -> dict[str, Any]:
    """Choose the winner of the A/B test by its results so far; returns the decision (see `ab_test.choose_winner`)."""
    counts: dict[UUID, dict[str, int]] = {}
    for counter in await store.variant_counts(tx, project_id=row.project_id, campaign_id=row.id):
        counts.setdefault(counter.variant_id, {})[counter.measure] = counter.count
    results = [
        ab_test.VariantCounts(
            variant_id=variant.id,
            sent=counts.get(variant.id, {}).get("sent", 0),
            opened=counts.get(variant.id, {}).get("opened", 0),
            clicked=counts.get(variant.id, {}).get("clicked", 0),
        )
        for variant in variants
    ]
    return ab_test.choose_winner(results, row.ab_test_metric or "OPEN_RATE")


async def continue_with_winner(
    tx: Transaction, row: CampaignRow, winner: VariantRow, decision: dict[str, Any], now: Moment
) -> CampaignRow:
    """End the A/B test: mark the winner, store the decision, and send the winner to the rest of the audience."""
    await store.mark_winner(tx, project_id=row.project_id, campaign_id=row.id, id=winner.id)
    return await change_state(
        tx,
        row,
        now,
        status="SENDING",
        due_at=now,
        content_id=winner.content_id,
        cursor=None,
        filled=False,
        evidence=decision,
        interrupts_worker=True,
    )


async def _end(world: "World", row: CampaignRow) -> None:
    """Set the campaign to SENT once every send was attempted at least once, even if some are retried later.

    It becomes FAILED if no server accepted any message and no send is retried.
    """
    counts = await counts_of(world, row)
    accepted = counts.get("sent", 0)
    if not_attempted(counts) or (retrying(counts) and not accepted):
        delay = await _poll_interval(world, row) if not_attempted(counts) else RETRY_POLL_INTERVAL
        await _reschedule_in(world, row, delay)
        return
    await _delete_leavers_and_sample(world, row)
    now = world.clock()
    async with world.db.transaction() as tx:
        locked = await _lock_unchanged(tx, row)
        if locked is None:
            return
        event_data: dict[str, Any] = {"name": row.name, "total": total(counts)}
        failed = sum(counts.get(status, 0) for status in ("FAILED", "EXPIRED", "BOUNCED"))
        if failed and not accepted:
            reason = f"No message was accepted: {failed} of {total(counts)} failed."
            example = await store.failure_reason(tx, project_id=row.project_id, campaign_id=row.id)
            reason += f" The reason of one of them: {example}" if example else ""
            await change_state(tx, locked, now, status="FAILED", due_at=None, reason=reason[:1_000])
            event_data["reason"] = reason[:1_000]
        else:
            await change_state(tx, locked, now, status="SENT", due_at=None, sent_at=now)
            event_data["retrying"] = retrying(counts)
        name = "campaign.failed" if "reason" in event_data else "campaign.sent"
        await events.record_all(tx, [events.make_event(row.project_id, name, row.id, now, **event_data)])


async def _poll_interval(world: "World", row: CampaignRow) -> timedelta:
    """How long to wait until the counters are read again while sends wait for their first attempt."""
    warms_up = source_warm_ups(world).warms_up(row.project_id)
    is_limited = warms_up or row.domain_id in await limits_of(world.db, row.project_id)
    return LIMITED_POLL_INTERVAL if is_limited else POLL_INTERVAL


async def _reschedule_in(world: "World", row: CampaignRow, delay: timedelta) -> None:
    await _reschedule(world, row, world.clock() + delay)


async def _reschedule(world: "World", row: CampaignRow, due_at: datetime | None) -> None:
    """Set when a worker processes the campaign next (None: not again), unless its state has changed since."""
    await store.reschedule(
        world.db, project_id=row.project_id, id=row.id, attempt=row.attempt, status=row.status, due_at=due_at
    )


async def counts_of(world: "World", row: CampaignRow) -> dict[str, int]:
    """The campaign's counters (statuses, and measures such as `opened`) by name, summed over its variants."""
    counts: dict[str, int] = {}
    for counter in await store.variant_counts(world.db, project_id=row.project_id, campaign_id=row.id):
        counts[counter.measure] = counts.get(counter.measure, 0) + counter.count
    return counts


async def is_retrying(tx: Transaction, row: CampaignRow) -> bool:
    """Whether some of the campaign's sends were deferred and are retried."""
    counts = await store.variant_counts(tx, project_id=row.project_id, campaign_id=row.id)
    return any(counter.measure == "DELAYED" and counter.count > 0 for counter in counts)


def waiting(counts: dict[str, int]) -> int:
    """Sends that no server has accepted or rejected yet, including those that are retried."""
    return not_attempted(counts) + retrying(counts)


def not_attempted(counts: dict[str, int]) -> int:
    """Sends that were not attempted yet."""
    return sum(counts.get(status, 0) for status in ("SCHEDULED", "QUEUED"))


def retrying(counts: dict[str, int]) -> int:
    """Sends that were deferred and are retried."""
    return counts.get("DELAYED", 0)


def reached_servers(counts: dict[str, int]) -> int:
    """Sends that a server has accepted or permanently rejected (bounces)."""
    return sum(counts.get(status, 0) for status in ("SENT", "DELIVERED", "BOUNCED", "COMPLAINED"))


def total(counts: dict[str, int]) -> int:
    """All sends, whatever their status."""
    return sum(counts.get(status, 0) for status in SEND_TRANSITIONS)
