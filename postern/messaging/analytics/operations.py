"""HTTP operations of statistics. Their cost does not grow with the number of sends, because they read counters."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.operation import get
from postern.kernel.http.pagination import csv_stream
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import NO_ID, QueryString, as_id
from postern.messaging.analytics import store
from postern.messaging.analytics.model import (
    AutomationTotals,
    ByDomainItem,
    CampaignTotals,
    ContactTotals,
    Day,
    Days,
    ProjectSummary,
    SendTotals,
    TimeSeriesItem,
    Zone,
)
from postern.messaging.analytics.rules import read_period
from postern.messaging.automations import operations as automations
from postern.messaging.campaigns import operations as campaigns
from postern.messaging.domains import sending as domains
from postern.messaging.emails.rules import rate, share
from postern.platform.projects import operations as projects

CampaignId = Annotated[str, msgspec.Meta(max_length=36, description="Only the sends of this campaign.")]
UNKNOWN_CAMPAIGN = UUID(int=2**128 - 1)
"""An id without counters. The counters of the whole project have the nil UUID as their campaign id, so a request for
the nil UUID must be mapped to this one."""
MEASURES = ("sent", "delivered", "opened", "clicked", "bounced", "complained", "failed")


class StatisticsQuery(QueryString):
    """The period of the statistics, as dates in `timezone`, and the campaign to which they are restricted."""

    from_: Day | None = None
    to: Day | None = None
    timezone: Zone = "UTC"
    campaign_id: CampaignId | None = None


@get("/projects/{project_id}/analytics", needs="analytics:read", reads_replica=True)
async def get_analytics(call: Call, days: Days | None = None) -> ProjectSummary:
    """Get a summary of the project's contacts, sends, campaigns and automations.

    `days` restricts the sends to this number of past days. Rates are from 0 to 1. Open, click and complaint rates are
    shares of `sent`, the messages that a mail server accepted. The bounce rate is `bounced` / (`sent` + `bounced`).
    Opens and clicks by machines are counted separately.
    """
    project = await projects.require_project(call.db, call.project_id)
    counts = await _sums(call, days)
    last_30_days = await _sums(call, 30)
    runs = await automations.totals(call.db, call.project_id)
    campaign_counts = await campaigns.totals(call.db, call.project_id)
    return ProjectSummary(
        project_id=project.id,
        project_name=project.name,
        contacts=await _contacts(call),
        sends=_send_totals(counts, last_30_days),
        campaigns=CampaignTotals(total=campaign_counts.total, sent=campaign_counts.sent),
        automations=AutomationTotals(
            total_runs=runs.total_runs,
            completed=runs.completed,
            failed=runs.failed,
            success_rate=share(runs.completed, runs.completed + runs.failed),
        ),
    )


@get("/projects/{project_id}/analytics/time-series", needs="analytics:read", reads_replica=True)
async def get_analytics_time_series(call: Call, query: StatisticsQuery) -> list[TimeSeriesItem]:
    """List the statistics of each day, oldest first; days without activity are included.

    `from` and `to` are dates in `timezone`, by default the last 30 days. `campaignId` restricts the
    statistics to one campaign.
    """
    return await _series(call, query)


@get("/projects/{project_id}/analytics/by-domain", needs="analytics:read", reads_replica=True)
async def get_analytics_by_domain(call: Call, query: StatisticsQuery) -> list[ByDomainItem]:
    """List the statistics of each sending domain, newest domain first. The parameters are those of the time series."""
    period = read_period(call.now, query.from_, query.to, query.timezone)
    rows = await store.domains(
        call.db,
        project_id=call.project_id,
        begins=period.begins,
        ends=period.ends,
        campaign_id=_campaign_filter(query.campaign_id),
    )
    counts = {row.domain_id: counts_of(row) for row in rows}
    return [
        _to_domain_item(domain, counts.get(domain.id, {}))
        for domain in await domains.domains_of_project(call.db, call.project_id)
    ]


@get("/projects/{project_id}/analytics/export", needs="analytics:read", media_types=["text/csv"], reads_replica=True)
async def export_analytics(call: Call, query: StatisticsQuery) -> HttpResponse:
    """Export the time series as CSV."""
    items = await _series(call, query)

    async def lines() -> AsyncIterator[list[list[Any]]]:
        yield [[item.date.isoformat(), *(getattr(item, measure) for measure in MEASURES)] for item in items]

    headers = {"Content-Disposition": 'attachment; filename="analytics.csv"'}
    return HttpResponse(csv_stream(["date", *MEASURES], lines()), media_type="text/csv", headers=headers)


def _campaign_filter(text: str | None) -> UUID | None:
    """The campaign id of a filter; None without a filter. An invalid id matches no campaign.

    `as_id` returns NO_ID for text that is not a UUID. NO_ID is also the campaign id of the counters of the whole
    project, so UNKNOWN_CAMPAIGN replaces it.
    """
    if not text:
        return None
    campaign_id = as_id(text)
    return UNKNOWN_CAMPAIGN if campaign_id == NO_ID else campaign_id


async def _sums(call: Call, days: int | None) -> dict[str, int]:
    """The sums of the project's send counters in the last `days` days, or of all time."""
    since = call.now - timedelta(days=days) if days else None
    return counts_of(await store.totals(call.db, project_id=call.project_id, since=since))


def counts_of(sums: store.SendSums) -> dict[str, int]:
    """The sums of the counters, keyed by the name of the counter."""
    return {measure: getattr(sums, measure) for measure in store.SendSums.__struct_fields__}


async def _series(call: Call, query: StatisticsQuery) -> list[TimeSeriesItem]:
    period = read_period(call.now, query.from_, query.to, query.timezone)
    days = period.days()
    rows = await store.days(
        call.db,
        project_id=call.project_id,
        midnights=period.midnights(days),
        begins=period.begins,
        ends=period.ends,
        campaign_id=_campaign_filter(query.campaign_id),
    )
    counts_by_number = {row.day: counts_of(row) for row in rows}  # Days are numbered from 1 (`store.DaySums`).
    return [
        TimeSeriesItem(date=day, **{measure: counts_by_number.get(number, {}).get(measure, 0) for measure in MEASURES})
        for number, day in enumerate(days, start=1)
    ]


async def _contacts(call: Call) -> ContactTotals:
    month_ago = (call.now - timedelta(days=30)).date()
    all_time = {row.measure: row.count for row in await store.contacts(call.db, project_id=call.project_id, since=None)}
    recent = {
        row.measure: row.count for row in await store.contacts(call.db, project_id=call.project_id, since=month_ago)
    }
    total, unsubscribed = all_time.get("total", 0), all_time.get("unsubscribed", 0)
    return ContactTotals(
        total=total,
        unsubscribed=unsubscribed,
        unsubscribe_rate=share(unsubscribed, total),
        new_last30_days=recent.get("total", 0),
    )


def _send_totals(counts: dict[str, int], last_30_days: dict[str, int]) -> SendTotals:
    # `accepted` counts the sends that Postern accepted from the project, sent or not. `opened_by_any` counts the
    # messages that a person or a machine opened, `opened` those that a person opened; the difference counts those that
    # only machines opened. It is negative if a period begins between a machine's open and a person's. Clicks are
    # counted likewise.
    return SendTotals(
        total=counts.get("accepted", 0),
        **{measure: counts.get(measure, 0) for measure in MEASURES},
        machine_opened=max(0, counts.get("opened_by_any", 0) - counts.get("opened", 0)),
        machine_clicked=max(0, counts.get("clicked_by_any", 0) - counts.get("clicked", 0)),
        last30_days=last_30_days.get("accepted", 0),
        open_rate=rate(counts, "opened"),
        click_rate=rate(counts, "clicked"),
        bounce_rate=rate(counts, "bounced"),
        complaint_rate=rate(counts, "complained"),
    )


def _to_domain_item(domain: domains.SendingDomain, counts: dict[str, int]) -> ByDomainItem:
    return ByDomainItem(
        domain=domain.domain,
        domain_id=domain.id,
        status=domain.status,
        total=counts.get("accepted", 0),
        delivered=counts.get("delivered", 0),
        bounced=counts.get("bounced", 0),
        complained=counts.get("complained", 0),
        opened=counts.get("opened", 0),
        clicked=counts.get("clicked", 0),
        bounce_rate=rate(counts, "bounced"),
        complaint_rate=rate(counts, "complained"),
        open_rate=rate(counts, "opened"),
    )
