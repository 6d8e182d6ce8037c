"""A campaign on its way: complete, started, filled chunk by chunk, tested, and ended by itself."""

import asyncio
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec
import structlog
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.problems import Invalid, Problem, ProblemError
from postern.kernel.values import NO_ID, new_id
from postern.messaging.audiences import operations as audiences
from postern.messaging.campaigns import ab_test, content, store
from postern.messaging.campaigns.model import (
    AHEAD,
    CHUNK,
    SWEEP,
    TRANSITIONS,
    WATCH,
    WATCH_RETRIES,
    CampaignIncomplete,
    CampaignRow,
    VariantRow,
)
from postern.messaging.domains import operations as domains
from postern.messaging.emails import content_snapshots, frequency_cap, pre_send_check
from postern.messaging.emails.model import TRANSITIONS as SEND_STATES
from postern.messaging.emails.model import SendBody
from postern.messaging.emails.outcomes import event_of
from postern.messaging.emails.rates import reached
from postern.messaging.emails.rules import CAMPAIGN_CANCELLED
from postern.messaging.emails.transports import is_captured
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
    """Raises CampaignIncomplete listing everything that a campaign still needs."""
    faults: list[ProblemError] = []

    def lacks(path: str, message: str) -> None:
        faults.append(ProblemError(path=path, code="missing", message=message))

    if row.audience_id is None:
        lacks("/audienceId", "An audience to send to.")
    if row.domain_id is None:
        lacks("/domainId", "A sending domain.")
    if row.from_email is None:
        lacks("/fromEmail", "A from address.")
    variants = await store.variants(tx, project_id=row.project_id, campaign_id=row.id)
    if row.ab_test_enabled:
        if len(variants) < 2:
            lacks("/variants", "At least two variants to test.")
        for name in ("ab_test_sample_percent", "ab_test_metric", "ab_test_duration_minutes"):
            if getattr(row, name) is None:
                wire = "abTest" + name.removeprefix("ab_test").title().replace("_", "")
                lacks(f"/{wire}", "A setting of the A/B test.")
    elif row.template_id is None:
        lacks("/templateId", "A template.")
    for number, variant in enumerate(_competing(row, variants)):
        try:
            await content.content_of_template(tx, row, variant)
        except CampaignIncomplete as incomplete:
            if incomplete.errors:
                lacks("/templateId" if variant is None else f"/variants/{number}/templateId", incomplete.detail)
                continue
            path = "/subject" if variant is None and row.template_id else "/templateId"
            path = path if variant is None else f"/variants/{number}/templateId"
            if not any(fault.path == path for fault in faults):
                lacks(path, "A template and a subject.")
    await _check_sender(tx, world, row, lacks)
    if faults:
        raise CampaignIncomplete(errors=faults)


async def require_readable(world: "World", row: CampaignRow) -> None:
    """Raises CampaignIncomplete where the template engine cannot read the campaign's own words.

    They are checked when they are written; what reads them may have changed with the template since.
    """
    if row.status not in ("DRAFT", "SCHEDULED"):
        return
    variants = await store.variants(world.db, project_id=row.project_id, campaign_id=row.id)
    words = content.CampaignOwnContent(
        subject=row.subject,
        preview_text=row.preview_text,
        from_name=row.from_name,
        template_id=row.template_id,
        variants=[(each.subject, each.template_id) for each in variants if row.ab_test_enabled],
    )
    parts, _ = await content.template_parts(world.db, row.project_id, words)
    try:
        await check_content(world.rendering, row.project_id, parts)
    except Invalid as invalid:
        raise CampaignIncomplete(invalid.detail, errors=invalid.errors) from None


async def _check_sender(tx: Transaction, world: "World", row: CampaignRow, lacks: Any) -> None:
    if row.domain_id is None or row.from_email is None:
        return
    found = await domains.sending_domains(tx, row.project_id, [row.domain_id])
    settings = (await projects.require_project(tx, row.project_id)).settings
    try:
        name = parse_address(row.from_email).domain
    except AddressInvalid as error:
        lacks("/fromEmail", error.detail)
        return
    try:
        content.sender_of(row)
    except AddressInvalid as error:
        lacks("/fromName", error.detail)
    captured = is_captured(world, settings, test=row.is_test)
    if not found or (found[0].domain != name and not captured):
        lacks("/fromEmail", "An address at the campaign's sending domain.")
    elif not captured and not found[0].may_send:
        lacks("/domainId", "A sending domain that is verified.")


def _competing(row: CampaignRow, variants: list[VariantRow]) -> list[VariantRow | None]:
    return [*variants] if row.ab_test_enabled and variants else [None]


async def start(tx: Transaction, world: "World", row: CampaignRow, now: Moment) -> CampaignRow:
    """Fix the words and the audience, and let filling begin. The row is complete, and locked by the caller.

    Raises PlanLimitReached where the account's plan does not allow an e-mail to everybody in the audience.
    """
    assert row.audience_id is not None
    await _require_allowance(tx, world, row, row.audience_id, now)
    settings = (await projects.require_project(tx, row.project_id)).settings
    variants = await store.variants(tx, project_id=row.project_id, campaign_id=row.id)
    content_id = None
    for variant in _competing(row, variants):
        made = await _snapshot(tx, row, variant, settings, now)
        content_id = content_id or made
        if variant is not None:
            await store.keep_content(tx, project_id=row.project_id, id=variant.id, content_id=made)
    testing = row.ab_test_enabled and bool(variants)
    moved = await change_state(
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
    return moved


async def _require_allowance(tx: Transaction, world: "World", row: CampaignRow, audience_id: UUID, now: Moment) -> None:
    if row.is_test:
        return
    left = await quota_left(tx, world, QuotaRequest("emails", 1, now, project_id=row.project_id))
    if left is None:
        return
    # Counted no further than it takes to know that there are too many.
    # Other campaigns that have started will still make theirs; the account is locked, so none starts meanwhile.
    promised = await store.count_promised(tx, project_id=row.project_id)
    room = max(left.number - promised, 0)
    count = await store.count_members(tx, project_id=row.project_id, audience_id=audience_id, limit=room + 1)
    if count > room:
        raise left.refusal


async def _snapshot(
    tx: Transaction, row: CampaignRow, variant: VariantRow | None, settings: ProjectSettings, now: Moment
) -> UUID:
    body: SendBody = content.snapshot(row, await content.content_of_template(tx, row, variant), settings)
    content_id = new_id()
    await content_snapshots.insert_snapshot(tx, row.project_id, content_id, body, now)
    return content_id


async def pause(tx: Transaction, row: CampaignRow, now: Moment) -> CampaignRow:
    """Hold the campaign's words, and with them all its sends; nothing is due until it is resumed."""
    await content_snapshots.hold_campaign(tx, row.project_id, await _content_ids(tx, row))
    await store.record_pause(tx, project_id=row.project_id, id=row.id, now=now)
    return await change_state(tx, row, now, status="PAUSED", due_at=None, paused_from=row.status, overtakes=True)


async def resume(tx: Transaction, row: CampaignRow, now: Moment) -> CampaignRow:
    """Let the campaign's words go again; what was held is released by the campaign's own work."""
    await content_snapshots.release(tx, row.project_id, await _content_ids(tx, row))
    await store.record_resume(tx, project_id=row.project_id, id=row.id, now=now)
    status = row.paused_from or "SENDING"
    return await change_state(tx, row, now, status=status, due_at=now, paused_from=None, releasing=True, overtakes=True)


async def cancel(tx: Transaction, row: CampaignRow, now: Moment) -> CampaignRow:
    """Stop the campaign's words for good; what is waiting is withdrawn by the campaign's own work."""
    await content_snapshots.stop_campaign(tx, row.project_id, await _content_ids(tx, row))
    return await change_state(tx, row, now, status="CANCELLED", due_at=now, overtakes=True)


async def cancel_retries(tx: Transaction, row: CampaignRow, now: Moment) -> None:
    """Stop what a campaign that has been sent is still retrying: the first of them now, others when they are due."""
    await content_snapshots.stop_campaign(tx, row.project_id, await _content_ids(tx, row))
    await store.cancel_sends(
        tx, project_id=row.project_id, campaign_id=row.id, reason=CAMPAIGN_CANCELLED, now=now, limit=SWEEP
    )


async def until_stopped(world: "World", row: CampaignRow, now: Moment) -> None:
    """Return when nothing more of a paused or cancelled campaign leaves, which is half a second later at most."""
    try:
        await pre_send_check.until_stopped(world, row.project_id, await _content_ids(world.db, row), now)
    except (OperationalError, PoolTimeout):  # The change is committed: the caller must not be told that it failed.
        await asyncio.sleep(pre_send_check.FRESH_SECONDS_AT_MOST)


async def _content_ids(db: Queries, row: CampaignRow) -> list[UUID]:
    variants = await store.variants(db, project_id=row.project_id, campaign_id=row.id)
    return sorted({each for each in (row.content_id, *(variant.content_id for variant in variants)) if each})


async def change_state(
    tx: Transaction, row: CampaignRow, now: Moment, *, status: str, overtakes: bool = False, **changed: Any
) -> CampaignRow:
    """Bring a campaign to another state, along the table; columns that are not named stay.

    `overtakes`: whoever works on it at this moment stops, and does not say when it is due next.
    """
    assert status == row.status or status in TRANSITIONS[row.status], f"{row.status} does not lead to {status}"
    new = msgspec.structs.replace(row, status=status, attempt=row.attempt + overtakes, **changed)
    return await store.change_state(tx, new, now=now)


async def run(world: "World", row: CampaignRow) -> None:
    """What a campaign that is due needs next: its start, another chunk, the end of its test, or its own end."""
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
        await _withdraw(world, row)
    else:
        await _reschedule(world, row, None)


async def _release(world: "World", row: CampaignRow) -> bool:
    """Make due, a chunk at a time, what was held while the campaign was paused. False if it is not ours any more."""
    while True:
        async with world.db.transaction() as tx:
            locked = await _is_still(tx, row)
            if locked is None:
                return False
            now = world.clock()
            released = await store.release_sends(
                tx, project_id=row.project_id, campaign_id=row.id, now=now, limit=SWEEP
            )
            tx.makes_due("sends")
            if len(released) < SWEEP:
                await change_state(tx, locked, now, status=row.status, due_at=locked.due_at, releasing=False)
                return True


async def _withdraw(world: "World", row: CampaignRow) -> None:
    """Write CANCELLED, a chunk at a time, on what a cancelled campaign has waiting.

    What is in hand at this moment, or was handed over without a reply, is left to whoever claims it next.
    """
    swept = SWEEP
    while swept == SWEEP:
        async with world.db.transaction() as tx:
            if await _is_still(tx, row) is None:
                return
            cancelled = await store.cancel_sends(
                tx,
                project_id=row.project_id,
                campaign_id=row.id,
                reason=CAMPAIGN_CANCELLED,
                now=world.clock(),
                limit=SWEEP,
            )
            swept = len(cancelled)
    await _forget_leavers(world, row)
    await _reschedule(world, row, None)


async def _forget_leavers(world: "World", row: CampaignRow) -> None:
    swept = SWEEP
    while swept == SWEEP:
        which: dict[str, Any] = {"project_id": row.project_id, "campaign_id": row.id, "limit": SWEEP}
        swept = len(await store.forget_leavers(world.db, **which))
        swept = max(swept, len(await store.forget_sample(world.db, **which)))


async def refresh_audience(world: "World", row: CampaignRow, now: Moment) -> None:
    """Choose anew who belongs to an audience whose rules look at the clock, right before a campaign starts.

    Nothing happens for a campaign that does not start now.
    """
    later = row.status == "DRAFT" and row.scheduled_at is not None and row.scheduled_at > now
    if row.audience_id is not None and row.status in ("DRAFT", "SCHEDULED") and not later:
        await audiences.refresh(world.db, row.project_id, row.audience_id, now)


async def _start_scheduled(world: "World", row: CampaignRow) -> None:
    now = world.clock()
    unreadable: CampaignIncomplete | None = None
    try:
        await require_readable(world, row)
    except CampaignIncomplete as incomplete:
        unreadable = incomplete
    await refresh_audience(world, row, now)
    async with world.db.transaction() as tx:
        locked = await _is_still(tx, row)
        if locked is None:
            return
        try:
            if unreadable is not None:
                raise unreadable
            await require_complete(tx, world, locked)
            await start(tx, world, locked, now)
        except Problem as problem:
            missing = "; ".join(f"{fault.path}: {fault.message}" for fault in problem.errors)
            reason = f"It could not start: {missing or problem.detail}"[:1_000]
            await change_state(tx, locked, now, status="FAILED", due_at=None, reason=reason)
            event = events.make_event(row.project_id, "campaign.failed", row.id, now, name=row.name, reason=reason)
            await events.record_all(tx, [event])
        tx.makes_due("campaigns")


async def _is_still(tx: Transaction, row: CampaignRow) -> CampaignRow | None:
    """The row, locked, if it is still ours to work on: paused, cancelled or overtaken campaigns are not."""
    locked = await store.lock_campaign(tx, project_id=row.project_id, id=row.id)
    if locked is None or locked.attempt != row.attempt or locked.status != row.status:
        return None
    return locked


async def _fill(world: "World", row: CampaignRow) -> None:
    """Turn chunks of contacts into sends, never far ahead of the workers that send them."""
    if row.status == "TESTING" and row.ab_test_sample_size is None and not await _choose_sample(world, row):
        return
    while True:
        counts = await counts_of(world, row)
        if counts.get("QUEUED", 0) >= AHEAD:
            await _start_later(world, row, WATCH)
            return
        async with world.db.transaction() as tx:
            locked = await _is_still(tx, row)
            if locked is None:
                return
            done = await _fill_chunk(tx, world, locked)
            tx.makes_due("sends")
        if done:
            await _start_later(world, row, timedelta())
            return


async def _choose_sample(world: "World", row: CampaignRow) -> bool:
    """Choose who is in the test, once, before the first of them gets anything. False if there is nothing to test.

    An audience with fewer contacts than variants is not tested: all get the first variant at once.
    """
    async with world.db.transaction() as tx:
        locked = await _is_still(tx, row)
        if locked is None or locked.audience_id is None or locked.started_at is None:
            return False
        variants = await store.variants(tx, project_id=row.project_id, campaign_id=row.id)
        which: dict[str, Any] = {
            "project_id": row.project_id,
            "audience_id": locked.audience_id,
            "started_at": locked.started_at,
        }
        eligible = await store.count_eligible(tx, **which)
        size = ab_test.sample_size(eligible, locked.ab_test_sample_percent or 100, len(variants))
        locked = await store.set_sample_size(tx, project_id=row.project_id, id=row.id, size=size)
        if size:
            parts = ab_test.allocate(size, [each.weight for each in variants])
            ranges: list[dict[str, Any]] = []
            low = 0
            for each, part in zip(variants, parts, strict=True):
                ranges.append({"variant_id": each.id, "low": low, "high": low + part})
                low += part
            await store.insert_sample(tx, id=row.id, ranges=Jsonb(ranges), **which)
            return True
        now = world.clock()
        reason = f"There is nothing to test with {eligible} contacts and {len(variants)} variants."
        evidence = {"winnerId": str(variants[0].id), "decidedBy": "too_small", "reason": reason}
        await continue_with_winner(tx, locked, variants[0], evidence, now)
        told: dict[str, Any] = {"name": row.name, **evidence}
        await events.record_all(tx, [events.make_event(row.project_id, "campaign.tested", row.id, now, **told)])
        tx.makes_due("campaigns")
    return False


async def _fill_chunk(tx: Transaction, world: "World", row: CampaignRow) -> bool:
    """One chunk and the cursor behind it, in one transaction; True when everybody is through."""
    assert row.audience_id is not None
    assert row.started_at is not None
    variants = await store.variants(tx, project_id=row.project_id, campaign_id=row.id)
    testing = row.status == "TESTING"
    host = parse_address(row.from_email or "").domain
    cap = frequency_cap_of((await projects.require_project(tx, row.project_id)).settings)
    now = world.clock()
    await frequency_cap.lock_contacts(tx, row.project_id)
    chunk = await store.fill_sends(
        tx,
        project_id=row.project_id,
        id=row.id,
        audience_id=row.audience_id,
        cursor=row.cursor or NO_ID,
        started_at=row.started_at,
        limit=CHUNK,
        testing=testing,
        host=host,
        sender=content.sender_of(row),
        test=row.is_test,
        domain_id=row.domain_id,
        contents=Jsonb(_contents(row, variants, await _subjects(tx, row, variants))),
        cap=cap,
        cap_since=now - frequency_cap.PERIOD,
        cap_reason=frequency_cap.reason_of(cap),
        now=now,
    )
    if chunk.capped:
        await _record_capped(tx, row, chunk.capped, cap, now)
    done = chunk.seen < CHUNK
    await store.advance(
        tx,
        project_id=row.project_id,
        id=row.id,
        cursor=chunk.last,
        filled=done,
        seen=chunk.made + chunk.unsubscribed + chunk.suppressed + len(chunk.capped),
        unsubscribed=chunk.unsubscribed,
        suppressed=chunk.suppressed,
        capped=len(chunk.capped),
    )
    return done


async def _record_capped(tx: Transaction, row: CampaignRow, ids: list[UUID], cap: int, now: Moment) -> None:
    """Record events for sends that the frequency cap kept back."""
    reason = frequency_cap.reason_of(cap)
    sends = await store.sends_by_id(tx, project_id=row.project_id, ids=ids)
    await events.record_all(tx, [event_of(send, "email.suppressed", now, reason=reason) for send in sends])
    log.info("mail_capped", project=str(row.project_id), campaign=str(row.id), messages=len(ids), reason=reason)


async def _subjects(tx: Transaction, row: CampaignRow, variants: list[VariantRow]) -> dict[UUID, str]:
    ids = [each for each in [row.content_id, *(variant.content_id for variant in variants)] if each]
    return await content_snapshots.subjects(tx, row.project_id, ids)


def _contents(row: CampaignRow, variants: list[VariantRow], subjects: dict[UUID, str]) -> list[dict[str, Any]]:
    """What contacts get: in a test the words of each variant, otherwise those of the winner or of the campaign."""
    if row.status != "TESTING":
        winner = next((each for each in variants if each.is_winner), None) if row.ab_test_started_at else None
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
        {"variant_id": each.id, "content_id": each.content_id, "subject": subjects[each.content_id]}
        for each in variants
        if each.content_id is not None
    ]


async def _end_test(world: "World", row: CampaignRow) -> None:
    """When the time of a test is over, choose the winner and go on with it."""
    now = world.clock()
    ends = test_ends_at(row) or now
    if now < ends:
        await _start_later(world, row, ends - now)
        return
    async with world.db.transaction() as tx:
        locked = await _is_still(tx, row)
        if locked is None:
            return
        variants = await store.variants(tx, project_id=row.project_id, campaign_id=row.id)
        evidence = await evidence_of(tx, locked, variants)
        winner = next(each for each in variants if str(each.id) == evidence["winnerId"])
        await continue_with_winner(tx, locked, winner, evidence, now)
        told: dict[str, Any] = {"name": row.name, "winnerId": winner.id, "decidedBy": evidence["decidedBy"]}
        await events.record_all(tx, [events.make_event(row.project_id, "campaign.tested", row.id, now, **told)])
        tx.makes_due("campaigns")


def test_ends_at(row: CampaignRow) -> Moment | None:
    """When the test of a campaign is over: its duration after its start, and as much later as it was paused."""
    if row.ab_test_started_at is None:
        return None
    return Moment.of(row.ab_test_started_at + timedelta(minutes=row.ab_test_duration_minutes or 0) + row.ab_test_paused)


async def sample_warnings(db: Queries, row: CampaignRow, variants: list[VariantRow]) -> list[ProblemError]:
    """What will keep the test of a campaign from being decisive; counted no further than that takes."""
    if not row.ab_test_enabled or len(variants) < 2 or row.ab_test_sample_percent is None or row.evidence is not None:
        return []
    size = row.ab_test_sample_size
    if size is None:
        if row.audience_id is None:
            return []
        enough = ab_test.ENOUGH_EACH * 100 // min(each.weight for each in variants) + 1
        limit = enough * 100 // row.ab_test_sample_percent + len(variants)
        eligible = await store.count_members(db, project_id=row.project_id, audience_id=row.audience_id, limit=limit)
        size = ab_test.sample_size(eligible, row.ab_test_sample_percent, len(variants))
    if size == 0:
        message = "The audience has fewer contacts than there are variants: all would get the first variant, untested."
        return [ProblemError(path="/audienceId", code="sample_too_small", message=message)]
    parts = ab_test.allocate(size, [each.weight for each in variants])
    few = [
        f"“{each.name}” gets {part}" for each, part in zip(variants, parts, strict=True) if part < ab_test.ENOUGH_EACH
    ]
    if not few:
        return []
    message = (
        f"The sample has {size} contacts, of which {', '.join(few)}. Below {ab_test.ENOUGH_EACH} for each variant the "
        "test cannot decide: the leader would win without being clearly better."
    )
    return [ProblemError(path="/abTestSamplePercent", code="sample_too_small", message=message)]


async def evidence_of(tx: Transaction, row: CampaignRow, variants: list[VariantRow]) -> dict[str, Any]:
    """What the test has shown so far, and whom it favours."""
    counts: dict[UUID, dict[str, int]] = {}
    for each in await store.variant_counts(tx, project_id=row.project_id, campaign_id=row.id):
        counts.setdefault(each.variant_id, {})[each.measure] = each.count
    shown = [
        ab_test.VariantCounts(
            variant_id=each.id,
            delivered=reached(counts.get(each.id, {})),
            opened=counts.get(each.id, {}).get("opened", 0),
            clicked=counts.get(each.id, {}).get("clicked", 0),
        )
        for each in variants
    ]
    return ab_test.choose_winner(shown, row.ab_test_metric or "OPEN_RATE")


async def continue_with_winner(
    tx: Transaction, row: CampaignRow, winner: VariantRow, evidence: dict[str, Any], now: Moment
) -> CampaignRow:
    """End the test: everybody who is left gets the winner's words."""
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
        evidence=evidence,
        overtakes=True,
    )


async def _end(world: "World", row: CampaignRow) -> None:
    """A campaign is SENT when each of its sends was tried once, whatever is retried after that.

    It is FAILED when none was accepted by any server and nothing is retried any more.
    """
    counts = await counts_of(world, row)
    left_house = counts.get("sent", 0)
    if untried(counts) or (retrying(counts) and not left_house):
        await _start_later(world, row, WATCH if untried(counts) else WATCH_RETRIES)
        return
    await _forget_leavers(world, row)
    now = world.clock()
    async with world.db.transaction() as tx:
        locked = await _is_still(tx, row)
        if locked is None:
            return
        told: dict[str, Any] = {"name": row.name, "total": total(counts)}
        failed = sum(counts.get(status, 0) for status in ("FAILED", "EXPIRED", "BOUNCED"))
        if failed and not left_house:
            reason = f"No message was accepted: {failed} of {total(counts)} failed."
            example = await store.failure(tx, project_id=row.project_id, campaign_id=row.id)
            reason += f" One of them: {example}" if example else ""
            await change_state(tx, locked, now, status="FAILED", due_at=None, reason=reason[:1_000])
            told["reason"] = reason[:1_000]
        else:
            await change_state(tx, locked, now, status="SENT", due_at=None, sent_at=now)
            told["retrying"] = retrying(counts)
        name = "campaign.failed" if "reason" in told else "campaign.sent"
        await events.record_all(tx, [events.make_event(row.project_id, name, row.id, now, **told)])


async def _start_later(world: "World", row: CampaignRow, after: timedelta) -> None:
    due_at = world.clock() + after
    await _reschedule(world, row, due_at)


async def _reschedule(world: "World", row: CampaignRow, due_at: datetime | None) -> None:
    await store.reschedule(
        world.db, project_id=row.project_id, id=row.id, attempt=row.attempt, status=row.status, due_at=due_at
    )


async def counts_of(world: "World", row: CampaignRow) -> dict[str, int]:
    """The campaign's counters."""
    counts: dict[str, int] = {}
    for each in await store.variant_counts(world.db, project_id=row.project_id, campaign_id=row.id):
        counts[each.measure] = counts.get(each.measure, 0) + each.count
    return counts


async def is_retrying(tx: Transaction, row: CampaignRow) -> bool:
    """Whether some of the campaign's sends are tried again later."""
    counts = await store.variant_counts(tx, project_id=row.project_id, campaign_id=row.id)
    return any(each.measure == "DELAYED" and each.count > 0 for each in counts)


def waiting(counts: dict[str, int]) -> int:
    """Sends that are still to be handed over, those that are tried again included."""
    return untried(counts) + retrying(counts)


def untried(counts: dict[str, int]) -> int:
    """Sends that have not been tried yet."""
    return sum(counts.get(status, 0) for status in ("SCHEDULED", "QUEUED"))


def retrying(counts: dict[str, int]) -> int:
    """Sends that were tried, and are tried again later."""
    return counts.get("DELAYED", 0)


def handed_over(counts: dict[str, int]) -> int:
    """Sends that a server took, or refused for the recipient: not those that failed, expired or were suppressed."""
    return sum(counts.get(status, 0) for status in ("SENT", "DELIVERED", "BOUNCED", "COMPLAINED"))


def total(counts: dict[str, int]) -> int:
    """All sends there are."""
    return sum(counts.get(status, 0) for status in SEND_STATES)
