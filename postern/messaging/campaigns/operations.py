"""HTTP operations of campaigns: create, test, send, pause, cancel, choose an A/B test's winner, and list sends."""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any
from uuid import UUID

import msgspec
from psycopg.sql import SQL, Composable, Literal

from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.call import Call, LiveKeyRequired
from postern.kernel.http.listing import CountedListQuery, SubjectSearch, sorted_list
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.operation import get, patch, post
from postern.kernel.http.pagination import (
    LinkedList,
    Page,
    PageQuery,
    csv_stream,
    page_at,
    position_of,
)
from postern.kernel.http.problems import Invalid, Problem, ProblemError, require_found
from postern.kernel.http.responses import HttpResponse
from postern.kernel.limits import TooManyRequests
from postern.kernel.values import Deleted, as_id, build_view, new_id
from postern.messaging.audiences import contacts
from postern.messaging.audiences import operations as audiences
from postern.messaging.audiences.model import AudienceMissing
from postern.messaging.campaigns import content, running, store
from postern.messaging.campaigns.model import (
    UNSET,
    Campaign,
    CampaignChange,
    CampaignDetail,
    CampaignIncomplete,
    CampaignMissing,
    CampaignPreflight,
    CampaignProgress,
    CampaignRow,
    CampaignSendResult,
    CampaignSkipped,
    CampaignStateConflict,
    CampaignStats,
    CampaignStatus,
    CampaignTest,
    CampaignTestResult,
    CampaignVariant,
    ListedCampaign,
    NewCampaign,
    NewVariant,
    ProjectCampaignTotals,
    SeedListEmpty,
    VariantMissing,
    VariantRow,
    VariantStats,
    WinnerChoice,
    require_allowed,
)
from postern.messaging.domains import sending as domains
from postern.messaging.emails import operations as emails
from postern.messaging.emails.model import MARKETING, TEST_COPY_TAG, EmailLogEntry, SendStatus
from postern.messaging.emails.preflight import Preflight, preflight_content, preflight_of, sender_findings
from postern.messaging.emails.rules import from_name_template, new_send, rate
from postern.messaging.emails.sources import source_warm_ups
from postern.messaging.reputation.sending import limits_of
from postern.messaging.templates import operations as templates
from postern.messaging.templates.rules import check_content, contact_variables
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.platform.projects.quotas import PlanLimitReached
from postern.protocols.mail.address import Address, AddressInvalid, parse_address

PREFLIGHT_RECIPIENT = "recipient@example.com"
"""The recipient of a campaign's message that is checked without a contact. Nothing is sent to it."""
NOT_FOUND: list[type[Problem]] = [CampaignMissing]
CHANGE_PROBLEMS: list[type[Problem]] = [CampaignMissing, CampaignStateConflict, LiveKeyRequired]
ACTIONS_WITHOUT_SENDING = frozenset(("pause", "delete"))
"""Actions that never cause a message to be sent. A TEST key may take them on a campaign that a LIVE key has started or
scheduled. It may also cancel the campaign (`cancel_campaign`, which does not use `_lock`)."""
EXAMPLE = {"name": "Spring", "subject": "Hello {{name}}", "fromEmail": "hello@acme.example"}


Statuses = Annotated[list[CampaignStatus], msgspec.Meta(description="One or several statuses, separated by commas.")]


@get("/projects/{project_id}/campaigns", needs="campaigns:read")
async def list_campaigns(
    call: Call,
    q: SubjectSearch | None = None,
    status: Statuses | None = None,
    *,
    query: CountedListQuery,
) -> LinkedList[ListedCampaign]:
    """List the project's campaigns, newest first. All given filters must match.

    With `include=counts` each campaign has its `stats`.
    """
    with_counts = query.with_counts
    filters = query.filters(q, status=[*(status or [])])
    page = await sorted_list(
        call, "campaigns", query, filters, store.SEARCH_TEXT, store.list_campaigns, store.count_listed
    )
    stats = await _stats_of(call, page.items) if with_counts else {}
    return page.convert_items(lambda row: build_view(ListedCampaign, to_campaign(row), stats=stats.get(row.id)))


@post(
    "/projects/{project_id}/campaigns",
    needs="campaigns:write",
    status=201,
    example=EXAMPLE,
    response_example={"status": "DRAFT", "sentAt": None},
)
async def create_campaign(call: Call, data: NewCampaign) -> Campaign:
    """Create a campaign as a DRAFT. Only the name is required; everything else can be set before it is sent.

    For an A/B test, set `abTestEnabled` and give 2 to 8 `variants` whose weights sum to 100. A variant uses the
    campaign's subject or template where it has none of its own.
    """
    await _check_content(call, data, None)
    fields = {name: getattr(data, name) for name in data.__struct_fields__ if name != "variants"}
    async with call.db.transaction() as tx:
        await _check_references(tx, call, data, fields)
        row = await store.insert_campaign(
            tx, project_id=call.project_id, id=new_id(), fields=Jsonb(fields), now=call.now
        )
        await _write_variants(tx, call, row.id, data.variants or [])
        await audit.record(tx, call, "campaign.created", "Campaign", row.id, name=row.name)
    return to_campaign(row)


@get("/projects/{project_id}/campaigns/{id}", needs="campaigns:read", problems=NOT_FOUND)
async def get_campaign(call: Call, id: UUID) -> CampaignDetail:
    """Get a campaign with its variants, statistics and live progress."""
    return await _detail(call, await require_campaign(call.db, call.project_id, id))


@patch(
    "/projects/{project_id}/campaigns/{id}",
    needs="campaigns:write",
    problems=[*CHANGE_PROBLEMS, CampaignIncomplete],
    example={"name": "Summer"},
    response_example={"status": "DRAFT", "sentAt": None},
)
async def change_campaign(call: Call, id: UUID, data: CampaignChange) -> Campaign:
    """Change a campaign that is DRAFT or SCHEDULED. Omitted fields keep their values; `variants` replaces all variants.

    A SCHEDULED campaign must stay complete: a 409 response lists what would be missing. `scheduledAt: null` makes it a
    DRAFT again. Honours `If-Match`.
    """
    await _check_content(call, data, await require_campaign(call.db, call.project_id, id))
    async with call.db.transaction() as tx:
        row = await _lock(tx, call, id, "edit")
        call.require_match(row.updated_at)
        fields = {
            name: getattr(row, name) if (value := getattr(data, name)) is UNSET else value
            for name in data.__struct_fields__
            if name != "variants"
        }
        if fields["name"] is None:
            raise Invalid.at("/name", "The name of a campaign cannot be null.")
        await _check_references(tx, call, data, fields)
        if data.variants is not UNSET:
            await store.delete_variants(tx, project_id=call.project_id, campaign_id=id)
            await _write_variants(tx, call, id, data.variants or [])
        if row.status == "SCHEDULED" and fields["scheduled_at"] is not None:
            await running.require_complete(tx, call.world, msgspec.structs.replace(row, **fields))
        unscheduled = row.status == "SCHEDULED" and fields["scheduled_at"] is None
        row = await store.update_campaign(tx, project_id=call.project_id, id=id, fields=Jsonb(fields), now=call.now)
        if unscheduled:
            row = await running.change_state(tx, row, call.now, status="DRAFT", due_at=None, interrupts_worker=True)
        await audit.record(tx, call, "campaign.updated", "Campaign", id, name=row.name)
    return to_campaign(row)


@delete_("/projects/{project_id}/campaigns/{id}", needs="campaigns:write", problems=CHANGE_PROBLEMS)
async def delete_campaign(call: Call, id: UUID) -> Deleted:
    """Delete a campaign that has not started. Honours `If-Match`."""
    async with call.db.transaction() as tx:
        row = await _lock(tx, call, id, "delete")
        call.require_match(row.updated_at)
        await store.delete_campaign(tx, project_id=call.project_id, id=id)
        await audit.record(tx, call, "campaign.deleted", "Campaign", id, name=row.name)
    return Deleted()


@post(
    "/projects/{project_id}/campaigns/{id}/send",
    needs="campaigns:send",
    problems=[*CHANGE_PROBLEMS, CampaignIncomplete, PlanLimitReached],
)
async def send_campaign(call: Call, id: UUID) -> CampaignSendResult:
    """Send a campaign: now, or at `scheduledAt` if that is in the future.

    The audience and the content are fixed when the campaign starts. An audience with rules that depend on the current
    time is evaluated again at the start. Contacts that have unsubscribed or are suppressed are skipped and counted. A
    409 response lists everything that is missing. No contact gets the same campaign twice, even if it is sent twice. If
    a TEST key sends the campaign, its messages are only captured in the inbox. The response is 403 if the
    account's plan does not allow an e-mail to every contact of the audience.
    """
    stored = await require_campaign(call.db, call.project_id, id)
    await running.require_renderable(call.world, stored)
    await running.refresh_audience(call.world, stored, call.now)
    async with call.db.transaction() as tx:
        await _lock(tx, call, id, "send")
        is_test = call.caller.environment == "TEST"
        row = await store.set_is_test(tx, project_id=call.project_id, id=id, is_test=is_test)
        await running.require_complete(tx, call.world, row)
        if row.scheduled_at is not None and row.scheduled_at > call.now:
            row = await running.change_state(tx, row, call.now, status="SCHEDULED", due_at=row.scheduled_at)
            await events.record(tx, call, "campaign.scheduled", id, name=row.name, scheduledAt=row.scheduled_at)
        else:
            row = await running.start(tx, call.world, row, call.now)
        await audit.record(tx, call, "campaign.sent", "Campaign", id, name=row.name)
        tx.mark_due("campaigns", call.project_id)
    return CampaignSendResult()


@post(
    "/projects/{project_id}/campaigns/{id}/cancel",
    needs="campaigns:send",
    problems=CHANGE_PROBLEMS,
    response_example={"status": "CANCELLED", "sentAt": None},
)
async def cancel_campaign(call: Call, id: UUID) -> Campaign:
    """Stop a campaign for good. Messages that no server has accepted yet are not sent.

    This takes effect at once, whatever the size of the campaign: after the response, only messages that were being
    transmitted at that moment still arrive. The waiting sends become CANCELLED within seconds.
    Cancelling a SENT campaign stops the retries of its deferred messages; the campaign stays SENT.
    """
    async with call.db.transaction() as tx:
        row = require_found(await store.lock_campaign(tx, project_id=call.project_id, id=id), CampaignMissing)
        if row.status == "SENT" and await running.is_retrying(tx, row):
            await running.cancel_retries(tx, row, call.now)
        else:
            require_allowed("cancel", row.status)
            row = await running.cancel(tx, row, call.now)
        await events.record(tx, call, "campaign.cancelled", id, name=row.name)
        await audit.record(tx, call, "campaign.cancelled", "Campaign", id, name=row.name)
        tx.mark_due("campaigns", call.project_id)
    await running.wait_until_stopped(call.world, row, call.now)
    return to_campaign(row)


@post(
    "/projects/{project_id}/campaigns/{id}/pause",
    needs="campaigns:send",
    problems=CHANGE_PROBLEMS,
    response_example={"status": "PAUSED", "sentAt": None},
)
async def pause_campaign(call: Call, id: UUID) -> Campaign:
    """Pause a campaign: no message is sent until it is resumed. No contact is skipped or gets the message twice.

    This takes effect at once, whatever the size of the campaign: after the response, only messages that were being
    transmitted at that moment still arrive.
    """
    async with call.db.transaction() as tx:
        row = await _lock(tx, call, id, "pause")
        row = await running.pause(tx, row, call.now)
        await events.record(tx, call, "campaign.paused", id, name=row.name)
        await audit.record(tx, call, "campaign.paused", "Campaign", id, name=row.name)
    await running.wait_until_stopped(call.world, row, call.now)
    return to_campaign(row)


@post(
    "/projects/{project_id}/campaigns/{id}/resume",
    needs="campaigns:send",
    problems=CHANGE_PROBLEMS,
    response_example={"status": "SENDING", "sentAt": None},
)
async def resume_campaign(call: Call, id: UUID) -> Campaign:
    """Resume a paused campaign where it stopped."""
    async with call.db.transaction() as tx:
        row = await _lock(tx, call, id, "resume")
        row = await running.resume(tx, row, call.now)
        await events.record(tx, call, "campaign.resumed", id, name=row.name)
        await audit.record(tx, call, "campaign.resumed", "Campaign", id, name=row.name)
        tx.mark_due("campaigns", call.project_id)
    return to_campaign(row)


@post(
    "/projects/{project_id}/campaigns/{id}/ab-test/cancel",
    needs="campaigns:send",
    problems=CHANGE_PROBLEMS,
    response_example={"status": "SENDING", "sentAt": None, "abTestEnabled": True},
)
async def cancel_ab_test(call: Call, id: UUID) -> Campaign:
    """End an A/B test without comparing its results: the first variant wins, and the rest of the audience gets it."""
    async with call.db.transaction() as tx:
        row = await _lock(tx, call, id, "cancel_test")
        first = (await store.variants(tx, project_id=call.project_id, campaign_id=id))[0]
        decision = {"winnerId": str(first.id), "decidedBy": "cancelled", "reason": "The test was cancelled."}
        row = await running.continue_with_winner(tx, row, first, decision, call.now)
        # The event says that the A/B test has ended.
        await events.record(tx, call, "campaign.tested", id, name=row.name, **decision)
        await audit.record(tx, call, "campaign.ab_test_cancelled", "Campaign", id, name=row.name)
        tx.mark_due("campaigns", call.project_id)
    return to_campaign(row)


@post(
    "/projects/{project_id}/campaigns/{id}/ab-test/select-winner",
    needs="campaigns:send",
    problems=[*CHANGE_PROBLEMS, VariantMissing],
    example={"variantId": "0199f1a2-7c00-7000-8000-000000000000"},
    response_example={"status": "SENDING", "sentAt": None, "abTestEnabled": True},
)
async def select_ab_test_winner(call: Call, id: UUID, data: WinnerChoice) -> Campaign:
    """End an A/B test with the given winner: the rest of the audience gets this variant."""
    async with call.db.transaction() as tx:
        row = await _lock(tx, call, id, "select_winner")
        variants = await store.variants(tx, project_id=call.project_id, campaign_id=id)
        winner = next((variant for variant in variants if variant.id == as_id(data.variant_id)), None)
        if winner is None:
            raise VariantMissing
        decision = await running.decide_test(tx, row, variants)
        decision |= {"winnerId": str(winner.id), "decidedBy": "hand", "reason": "The winner was chosen manually."}
        row = await running.continue_with_winner(tx, row, winner, decision, call.now)
        await events.record(tx, call, "campaign.tested", id, name=row.name, winnerId=winner.id, decidedBy="hand")
        await audit.record(tx, call, "campaign.winner_selected", "Campaign", id, name=row.name, variant=winner.name)
        tx.mark_due("campaigns", call.project_id)
    return to_campaign(row)


@post(
    "/projects/{project_id}/campaigns/{id}/test",
    needs="campaigns:send",
    problems=[*NOT_FOUND, CampaignIncomplete, *emails.SEND_PROBLEMS],
    example={"to": "ada@example.com"},
)
async def test_campaign(call: Call, id: UUID, data: CampaignTest) -> CampaignTestResult:
    """Send one rendered copy with `[Test]` before its subject. It does not count in the campaign's statistics."""
    row = await require_campaign(call.db, call.project_id, id)
    return CampaignTestResult(success=True, sent=await _send_tests(call, row, [("/to", data.to)]))


@post(
    "/projects/{project_id}/campaigns/{id}/preflight",
    needs="campaigns:send",
    problems=[*NOT_FOUND, CampaignIncomplete, VariantMissing, TooManyRequests, *emails.RENDER_PROBLEMS],
    example={"email": "ada@example.com"},
)
async def preflight_campaign(call: Call, id: UUID, data: CampaignPreflight) -> Preflight:
    """Say what large providers would object to in a campaign's message, without sending it.

    The message is composed as it would be sent to a contact; see `POST /projects/{projectId}/emails/preflight`.
    """
    row = await require_campaign(call.db, call.project_id, id)
    variant = await _variant(call, row, data.variant_id)
    message = await content.current_content(call.db, row, variant)
    address = data.email or PREFLIGHT_RECIPIENT
    try:
        recipient = parse_address(address)
        sender = parse_address(content.sender_of(row))
    except AddressInvalid as error:
        raise Invalid.at("/email" if data.email else "/fromEmail", error.detail, "address_invalid") from None
    contact = await contacts.contact_of(call.db, call.project_id, address) if data.email else None
    settings = (await projects.require_project(call.db, call.project_id)).settings
    body = msgspec.structs.replace(
        content.snapshot(row, message, settings),
        variables=contact_variables(address, contact.attributes if contact else {}),
    )
    send = new_send(call.project_id, sender, recipient.spec, call.now)
    send = msgspec.structs.replace(send, to_addresses=[recipient.spec], lane=MARKETING)
    result = await preflight_content(call, send, body, is_marketing=True, check_links=data.check_links)
    findings = [*result.findings, *await sender_findings(call, sender, is_marketing=True)]
    return preflight_of(findings, result.report, result.opened)


async def _variant(call: Call, row: CampaignRow, id: str | None) -> VariantRow | None:
    """A variant of a campaign; None if `id` is None. Raises VariantMissing."""
    if id is None:
        return None
    variants = await store.variants(call.db, project_id=call.project_id, campaign_id=row.id)
    return require_found(next((variant for variant in variants if variant.id == as_id(id)), None), VariantMissing)


@post(
    "/projects/{project_id}/campaigns/{id}/test-seed-list",
    needs="campaigns:send",
    problems=[*NOT_FOUND, CampaignIncomplete, SeedListEmpty, *emails.SEND_PROBLEMS],
)
async def test_campaign_with_seed_list(call: Call, id: UUID) -> CampaignTestResult:
    """Send a test copy to every address of the project's seed list."""
    row = await require_campaign(call.db, call.project_id, id)
    seeds = (await projects.require_project(call.db, call.project_id)).settings.seed_list
    if not seeds:
        raise SeedListEmpty
    recipients = [(f"/settings/seedList/{index}", address) for index, address in enumerate(seeds)]
    return CampaignTestResult(success=True, sent=await _send_tests(call, row, recipients))


@post(
    "/projects/{project_id}/campaigns/{id}/duplicate",
    needs="campaigns:write",
    status=201,
    problems=NOT_FOUND,
    response_example={"name": "Copy of Spring", "status": "DRAFT", "sentAt": None},
)
async def duplicate_campaign(call: Call, id: UUID) -> Campaign:
    """Create a new DRAFT with the same content, audience and variants."""
    async with call.db.transaction() as tx:
        row = require_found(await store.get_campaign(tx, project_id=call.project_id, id=id), CampaignMissing)
        fields = {name: getattr(row, name) for name in NewCampaign.__struct_fields__ if name != "variants"}
        fields |= {"name": f"Copy of {row.name}"[:200], "scheduled_at": None}
        copy = await store.insert_campaign(
            tx, project_id=call.project_id, id=new_id(), fields=Jsonb(fields), now=call.now
        )
        for variant in await store.variants(tx, project_id=call.project_id, campaign_id=id):
            variant_copy = msgspec.structs.replace(
                variant, id=new_id(), campaign_id=copy.id, is_winner=False, content_id=None, created_at=call.now
            )
            await store.insert_variant(tx, variant_copy)
        await audit.record(tx, call, "campaign.duplicated", "Campaign", copy.id, source=id)
    return to_campaign(copy)


@get("/projects/{project_id}/campaigns/{id}/sends", needs="campaigns:read", problems=NOT_FOUND)
async def list_campaign_sends(
    call: Call, id: UUID, status: list[SendStatus] | None = None, *, page: PageQuery
) -> Page[EmailLogEntry]:
    """List the sends of a campaign, one for each contact. Filter by `status` (one or several, comma-separated)."""
    await require_campaign(call.db, call.project_id, id)
    statuses: list[str] = [*(status or [])]
    scope = f"campaign-sends|{id}|{','.join(statuses)}"
    position = position_of(call, scope, page)
    total = await emails.count_sends(call.db, call.project_id, statuses, id)
    rows = await store.sends(
        call.db,
        project_id=call.project_id,
        campaign_id=id,
        status=_status_filter(statuses),
        after=position.after,
        limit=page.limit + 1,
        offset=position.offset,
    )
    sends = page_at(call, scope, rows, total, position, page.limit, key=lambda row: row.contact_id)
    return sends.convert_items(emails.entry_of)


@get(
    "/projects/{project_id}/campaigns/{id}/sends/export",
    needs="campaigns:read",
    problems=NOT_FOUND,
    media_types=["text/csv"],
    reads_replica=True,
)
async def export_campaign_sends(call: Call, id: UUID, status: list[SendStatus] | None = None) -> HttpResponse:
    """Export the sends of a campaign as CSV. Filter by `status` (one or several, comma-separated)."""
    await require_campaign(call.db, call.project_id, id)
    status_filter = _status_filter([*(status or [])])
    header = ["id", "email", "status", "subject", "variantId", "reason", "sentAt", "deliveredAt", "openedAt"]
    header += ["clickedAt", "bouncedAt", "complainedAt"]

    async def lines() -> AsyncIterator[list[tuple[Any, ...]]]:
        async with call.db.transaction() as tx:
            async for rows in store.all_sends(tx, project_id=call.project_id, campaign_id=id, status=status_filter):
                yield rows

    headers = {"Content-Disposition": f'attachment; filename="campaign-{id}.csv"'}
    return HttpResponse(csv_stream(header, lines()), media_type="text/csv", headers=headers)


async def require_campaign(db: Queries, project_id: UUID, id: UUID) -> CampaignRow:
    """The row of a campaign. Raises CampaignMissing."""
    return require_found(await store.get_campaign(db, project_id=project_id, id=id), CampaignMissing)


async def totals(db: Queries, project_id: UUID) -> ProjectCampaignTotals:
    """How many campaigns a project has, and how many of them are SENT."""
    return await store.totals(db, project_id=project_id)


def to_campaign(row: CampaignRow) -> Campaign:
    """Convert a row to a response body."""
    return build_view(Campaign, row, app_id=row.project_id)


def _status_filter(statuses: list[str]) -> Composable:
    return SQL("status = any({})").format(Literal(statuses)) if statuses else SQL("true")


async def _lock(tx: Transaction, call: Call, id: UUID, action: str) -> CampaignRow:
    """Lock the campaign (for update).

    Raises CampaignMissing, CampaignStateConflict if the campaign's status does not allow the action, or LiveKeyRequired
    if the caller has a TEST key, a LIVE key has started or scheduled the campaign, and the action may cause messages to
    be sent.
    """
    row = require_found(await store.lock_campaign(tx, project_id=call.project_id, id=id), CampaignMissing)
    require_allowed(action, row.status)
    if row.status != "DRAFT" and not row.is_test and action not in ACTIONS_WITHOUT_SENDING:
        call.require_live("change, send or resume a campaign that a LIVE key has started or scheduled")
    return row


async def _check_content(call: Call, data: NewCampaign | CampaignChange, stored: CampaignRow | None) -> None:
    """Raises Invalid for content that could not be sent to any contact.

    Checks that the weights of the variants sum to 100, that the templates are valid, and that an e-mail header can
    contain the sender name. `stored` is the campaign that `data` changes; None for a new one.
    """
    variants = data.variants if data.variants is not UNSET else None
    if variants and (weights := sum(variant.weight for variant in variants)) != 100:
        raise Invalid.at("/variants", f"The weights of the variants must sum to 100; they sum to {weights}.", "weights")
    subject, preview_text, from_name = (
        None if (value := getattr(data, name)) is UNSET else value for name in ("subject", "preview_text", "from_name")
    )
    if stored is not None and data.template_id is not UNSET:
        # The new template may have another engine, which must be able to render the stored content too.
        subject = stored.subject if data.subject is UNSET else subject
        preview_text = stored.preview_text if data.preview_text is UNSET else preview_text
        from_name = stored.from_name if data.from_name is UNSET else from_name
    template_id = stored.template_id if stored is not None and data.template_id is UNSET else data.template_id
    parts, shared_parts_can_have_tags = await content.template_parts(
        call.db,
        call.project_id,
        content.CampaignOwnContent(
            subject=subject,
            preview_text=preview_text,
            from_name=from_name,
            template_id=None if template_id is UNSET else template_id,
            variants=[(variant.subject, variant.template_id) for variant in variants or []],
        ),
    )
    # A sender name that is a template is checked as one. Any other sender name must be valid in a header field.
    is_template = shared_parts_can_have_tags and from_name_template(from_name) is not None
    if from_name and not is_template:
        try:
            parse_address(str(Address(name=from_name.strip(), local="a", domain="b", spec="a@b")))
        except AddressInvalid as error:
            raise Invalid.at("/fromName", error.detail, "name_invalid") from None
    await check_content(call.world.rendering, call.project_id, parts)


async def _check_references(tx: Transaction, call: Call, data: Any, fields: dict[str, Any]) -> None:
    """Raises Invalid if the body refers to a template, domain or audience that the project does not have.

    Replaces ids and the sender's address in `fields` by their parsed form.
    """
    references = ("template_id", "domain_id", "audience_id")
    for name in references:
        if isinstance(fields[name], str):
            fields[name] = as_id(fields[name])
    changed = {name for name in references if getattr(data, name) not in (None, UNSET)}
    if "template_id" in changed:
        await _require_template(tx, call, "/templateId", fields["template_id"])
    if "domain_id" in changed and not await domains.sending_domains(tx, call.project_id, [fields["domain_id"]]):
        raise Invalid.at("/domainId", "There is no such sending domain in this project.", "domain_missing")
    if "audience_id" in changed:
        try:
            await audiences.require_audience(tx, call.project_id, fields["audience_id"])
        except AudienceMissing:
            raise Invalid.at("/audienceId", "There is no such audience in this project.", "audience_missing") from None
    if data.from_email not in (None, UNSET):
        try:
            fields["from_email"] = parse_address(data.from_email).spec
        except AddressInvalid as error:
            raise Invalid.at("/fromEmail", error.detail, "address_invalid") from None
    for index, variant in enumerate([] if data.variants in (None, UNSET) else data.variants):
        if variant.template_id is not None:
            await _require_template(tx, call, f"/variants/{index}/templateId", as_id(variant.template_id))


async def _require_template(tx: Transaction, call: Call, path: str, id: UUID) -> None:
    if await templates.get_content(tx, call.project_id, id) is None:
        raise Invalid.at(path, "There is no such template in this project.", "template_missing")


async def _write_variants(tx: Transaction, call: Call, campaign_id: UUID, variants: list[NewVariant]) -> None:
    for position, variant in enumerate(variants):
        row = VariantRow(
            project_id=call.project_id,
            id=new_id(),
            campaign_id=campaign_id,
            position=position,
            name=variant.name,
            subject=variant.subject,
            template_id=as_id(variant.template_id) if variant.template_id is not None else None,
            weight=variant.weight,
            created_at=call.now,
        )
        await store.insert_variant(tx, row)


async def _detail(call: Call, row: CampaignRow) -> CampaignDetail:
    counts: dict[UUID, dict[str, int]] = {}
    totals: dict[str, int] = {}
    for counter in await store.variant_counts(call.db, project_id=call.project_id, campaign_id=row.id):
        counts.setdefault(counter.variant_id, {})[counter.measure] = counter.count
        totals[counter.measure] = totals.get(counter.measure, 0) + counter.count
    variants = await store.variants(call.db, project_id=call.project_id, campaign_id=row.id)
    campaign = to_campaign(row)
    return CampaignDetail(
        **{name: getattr(campaign, name) for name in Campaign.__struct_fields__},
        variants=[_to_variant(variant, counts.get(variant.id, {})) for variant in variants],
        stats=_stats(row, totals),
        progress=_progress(call, row, totals, await _postponed_send(call, row)),
        evidence=row.evidence,
        ab_test_ends_at=None if row.status == "PAUSED" else running.test_ends_at(row),
        warnings=await running.sample_warnings(call.db, row, variants),
    )


def _to_variant(row: VariantRow, counts: dict[str, int]) -> CampaignVariant:
    names = set(CampaignVariant.__struct_fields__) - {"stats"}
    return CampaignVariant(
        **{name: getattr(row, name) for name in names},
        stats=VariantStats(
            sent=counts.get("sent", 0),
            opened=counts.get("opened", 0),
            clicked=counts.get("clicked", 0),
            open_rate=rate(counts, "opened"),
            click_rate=rate(counts, "clicked"),
        ),
    )


async def _stats_of(call: Call, rows: Sequence[CampaignRow]) -> dict[UUID, CampaignStats]:
    """The statistics of campaigns, keyed by id."""
    counts: dict[UUID, dict[str, int]] = {row.id: {} for row in rows}
    for counter in await store.campaign_counts(call.db, project_id=call.project_id, campaign_ids=[*counts]):
        counts[counter.campaign_id][counter.measure] = counter.count
    return {row.id: _stats(row, counts[row.id]) for row in rows}


def _stats(row: CampaignRow, counts: dict[str, int]) -> CampaignStats:
    return CampaignStats(
        total=running.total(counts),
        sent=counts.get("sent", 0),
        delivered=counts.get("delivered", 0),
        opened=counts.get("opened", 0),
        clicked=counts.get("clicked", 0),
        bounced=counts.get("bounced", 0),
        complained=counts.get("complained", 0),
        # A contact over the frequency cap has a SUPPRESSED send, but counts as skipped and not as failed.
        failed=sum(counts.get(status, 0) for status in ("FAILED", "EXPIRED", "SUPPRESSED")) - row.skipped_frequency_cap,
    )


async def _postponed_send(call: Call, row: CampaignRow) -> store.PostponedSend | None:
    """A send of the campaign that waits because of a limit or warm-up; None if there is none."""
    warms_up = source_warm_ups(call.world).warms_up(call.project_id)
    if not warms_up and row.domain_id not in await limits_of(call.db, call.project_id):
        return None
    return await store.postponed_send(call.db, project_id=call.project_id, campaign_id=row.id, now=call.now)


def _progress(
    call: Call, row: CampaignRow, counts: dict[str, int], postponed: store.PostponedSend | None
) -> CampaignProgress:
    waiting = running.waiting(counts)
    reached_servers = running.reached_servers(counts)
    ended = row.sent_at or call.now
    seconds = (ended - row.started_at).total_seconds() if row.started_at else 0.0
    return CampaignProgress(
        expected=row.expected,
        audience=row.seen,
        waiting=waiting,
        retrying=running.retrying(counts),
        handed_over=reached_servers,
        skipped=CampaignSkipped(
            unsubscribed=row.skipped_unsubscribed + counts.get("skipped_unsubscribed", 0),
            suppressed=row.skipped_suppressed + counts.get("skipped_suppressed", 0),
            deleted=counts.get("skipped_deleted", 0),
            frequency_cap=row.skipped_frequency_cap,
        ),
        per_second=round(reached_servers / seconds, 1) if seconds > 0 else 0.0,
        waiting_reason=postponed and postponed.reason,
        waiting_until=postponed and postponed.until,
    )


async def _send_tests(call: Call, row: CampaignRow, recipients: list[tuple[str, str]]) -> int:
    """Send a test copy to each recipient (JSON pointer, address); returns the number of copies.

    All addresses are checked before the first copy is sent. Raises Invalid with the JSON pointer of an invalid address.
    """
    for path, address in recipients:
        try:
            parse_address(address)
        except AddressInvalid as error:
            raise Invalid(
                error.detail, errors=[ProblemError(path=path, code="address_invalid", message=error.detail)]
            ) from None
    message = await content.current_content(call.db, row, None)
    for _, address in recipients:
        contact = await contacts.contact_of(call.db, call.project_id, address)
        variables = contact_variables(address, contact.attributes if contact else {})
        await emails.send_copy(
            call,
            to=address,
            from_=content.sender_of(row),
            subject=f"[Test] {message.subject}",
            html=message.html,
            text=message.text,
            variables=variables,
            tags=[TEST_COPY_TAG],
            from_name=from_name_template(row.from_name),
            engine=message.engine,
        )
    return len(recipients)
