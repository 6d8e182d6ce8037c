"""SQL statements of campaigns."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.sql import SQL, Composable

from postern.kernel.database.statements import Jsonb, Queries, Transaction, moment_text, statement, streamed_statement
from postern.kernel.values import Moment, Record
from postern.messaging.campaigns.model import CampaignRow, FilledBatch, ProjectCampaignTotals, VariantRow
from postern.messaging.emails.model import Send


class CampaignCount(Record):
    """A counter of a campaign, summed over its variants."""

    campaign_id: UUID
    measure: str
    count: int


class PostponedSend(Record):
    """Why a postponed send waits, and until when."""

    reason: str | None
    until: Moment


class VariantCount(Record):
    """The value of one counter of a variant, such as `delivered` or the status `QUEUED`."""

    variant_id: UUID
    measure: str
    count: int


# Insert a DRAFT. `fields` has its editable columns.
@statement("""
    insert into campaigns (project_id, id, status, created_at, updated_at, name, subject, from_name, from_email,
                           preview_text, scheduled_at, template_id, domain_id, audience_id, ab_test_enabled,
                           ab_test_sample_percent, ab_test_metric, ab_test_duration_minutes)
    select %(project_id)s, %(id)s, 'DRAFT', %(now)s, %(now)s, name, subject, from_name, from_email,
           preview_text, scheduled_at, template_id, domain_id, audience_id, ab_test_enabled,
           ab_test_sample_percent, ab_test_metric, ab_test_duration_minutes
    from jsonb_populate_record(null::campaigns, %(fields)s)
    returning *
""")
async def insert_campaign(
    tx: Transaction, *, project_id: UUID, id: UUID, fields: Jsonb, now: Moment
) -> CampaignRow: ...


# Set the editable columns; a SCHEDULED campaign becomes due at its new `scheduled_at`.
@statement("""
    update campaigns as c set
        (name, subject, from_name, from_email, preview_text, scheduled_at, template_id, domain_id, audience_id,
         ab_test_enabled, ab_test_sample_percent, ab_test_metric, ab_test_duration_minutes)
        = (f.name, f.subject, f.from_name, f.from_email, f.preview_text, f.scheduled_at, f.template_id, f.domain_id,
           f.audience_id, f.ab_test_enabled, f.ab_test_sample_percent, f.ab_test_metric, f.ab_test_duration_minutes),
        due_at = case when c.status = 'SCHEDULED' then f.scheduled_at else c.due_at end, updated_at = %(now)s
    from jsonb_populate_record(null::campaigns, %(fields)s) as f
    where c.project_id = %(project_id)s and c.id = %(id)s
    returning c.*
""")
async def update_campaign(
    tx: Transaction, *, project_id: UUID, id: UUID, fields: Jsonb, now: Moment
) -> CampaignRow: ...


# The text that a search in the list of campaigns compares, as in the index `campaigns_search`.
SEARCH_TEXT = SQL("lower(listed.name || ' ' || coalesce(listed.subject, ''))")


# `clause` has conditions on the campaigns `listed`, and their order.
@statement(
    "select listed.* from campaigns listed where listed.project_id = %(project_id)s and {clause} limit %(limit)s"
)
async def list_campaigns(db: Queries, *, project_id: UUID, clause: Composable, limit: int) -> list[CampaignRow]: ...


# The number of campaigns that meet the conditions of `clause`, counted up to `limit`.
@statement("""
    select count(*)::int from (
        select from campaigns listed where listed.project_id = %(project_id)s and {clause} limit %(limit)s
    ) as counted
""")
async def count_listed(db: Queries, *, project_id: UUID, clause: Composable, limit: int) -> int: ...


# The counters of several campaigns, as `variant_counts`, summed over their variants.
@statement("""
    select campaign_id, regexp_replace(measure, '^past:', '') as measure, sum(count)::bigint as count from send_counters
    where project_id = %(project_id)s and campaign_id = any (%(campaign_ids)s) group by 1, 2
""")
async def campaign_counts(db: Queries, *, project_id: UUID, campaign_ids: list[UUID]) -> list[CampaignCount]: ...


@statement("select * from campaigns where project_id = %(project_id)s and id = %(id)s")
async def get_campaign(db: Queries, *, project_id: UUID, id: UUID) -> CampaignRow | None: ...


# Lock the campaign (for update) and return it, or None if there is none.
@statement("select * from campaigns where project_id = %(project_id)s and id = %(id)s for update")
async def lock_campaign(tx: Transaction, *, project_id: UUID, id: UUID) -> CampaignRow | None: ...


@statement("delete from campaigns where project_id = %(project_id)s and id = %(id)s")
async def delete_campaign(tx: Transaction, *, project_id: UUID, id: UUID) -> bool: ...


# How many campaigns a project has, and how many of them are SENT.
@statement("""
    select count(*)::int as total, (count(*) filter (where status = 'SENT'))::int as sent from campaigns
    where project_id = %(project_id)s
""")
async def totals(db: Queries, *, project_id: UUID) -> ProjectCampaignTotals: ...


# Write the columns that change with the status (`CampaignStateColumns`) and `attempt` from `row`. `releasing` is true
# while the sends that a pause held become due again; `evidence` has how the winner of the A/B test was chosen.
@statement("""
    update campaigns set status = %(status)s, due_at = %(due_at)s, started_at = %(started_at)s,
        paused_from = %(paused_from)s, releasing = %(releasing)s, content_id = %(content_id)s,
        expected = %(expected)s, cursor = %(cursor)s, filled = %(filled)s, attempt = %(attempt)s,
        ab_test_started_at = %(ab_test_started_at)s, evidence = %(evidence)s, sent_at = %(sent_at)s,
        reason = %(reason)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def change_state(tx: Transaction, row: CampaignRow, *, now: Moment) -> CampaignRow: ...


# Store whether a TEST key starts the campaign.
@statement("""
    update campaigns set is_test = %(is_test)s where project_id = %(project_id)s and id = %(id)s returning *
""")
async def set_is_test(tx: Transaction, *, project_id: UUID, id: UUID, is_test: bool) -> CampaignRow: ...


# Set the next due time; returns False if attempt or status has changed since the campaign was claimed.
@statement("""
    update campaigns set due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s and status = %(status)s
""")
async def reschedule(
    db: Queries, *, project_id: UUID, id: UUID, attempt: int, status: str, due_at: datetime | None
) -> bool: ...


# Store the last contact of a batch as the cursor and whether all contacts are processed (`filled`), and add the
# numbers of the batch to the counters.
@statement("""
    update campaigns set cursor = coalesce(%(last_contact_id)s, cursor), filled = %(filled)s,
        seen = seen + %(queued)s + %(unsubscribed)s + %(suppressed)s + cardinality(%(capped)s::uuid[]),
        skipped_unsubscribed = skipped_unsubscribed + %(unsubscribed)s,
        skipped_suppressed = skipped_suppressed + %(suppressed)s,
        skipped_frequency_cap = skipped_frequency_cap + cardinality(%(capped)s::uuid[])
    where project_id = %(project_id)s and id = %(id)s
""")
async def advance(tx: Transaction, batch: FilledBatch, *, project_id: UUID, id: UUID, filled: bool) -> None: ...


# How many members of an audience are not unsubscribed; stops counting at `limit`.
@statement("""
    select count(*)::int from (
        select from audience_members m join contacts c on c.project_id = m.project_id and c.id = m.contact_id
        where m.project_id = %(project_id)s and m.audience_id = %(audience_id)s and not c.unsubscribed
        limit %(limit)s
    ) as counted
""")
async def count_subscribed_members(tx: Queries, *, project_id: UUID, audience_id: UUID, limit: int) -> int: ...


# How many contacts can get the campaign: members at its start that are neither unsubscribed nor suppressed.
@statement("""
    select count(*)::int from audience_members m
    join contacts c on c.project_id = m.project_id and c.id = m.contact_id
    where m.project_id = %(project_id)s and m.audience_id = %(audience_id)s and m.joined_at <= %(started_at)s
      and not c.unsubscribed
      and not exists (select from suppressions s where s.project_id = c.project_id and s.address = lower(c.email))
""")
async def count_eligible(tx: Transaction, *, project_id: UUID, audience_id: UUID, started_at: Moment) -> int: ...


# Assign eligible contacts, ordered by a hash (random but reproducible), to the variants of an A/B test.
# `ranges` is a list of {variant_id, low, high}: the variant gets the contacts at the positions low to high - 1.
@statement("""
    insert into campaign_samples (project_id, campaign_id, contact_id, variant_id)
    select %(project_id)s::uuid, %(id)s::uuid, ordered.id, variant.variant_id from (
        select c.id, row_number() over (order by md5(%(id)s::uuid::text || c.id::text), c.id) - 1 as hash_rank
        from audience_members m
        join contacts c on c.project_id = m.project_id and c.id = m.contact_id
        where m.project_id = %(project_id)s and m.audience_id = %(audience_id)s and m.joined_at <= %(started_at)s
          and not c.unsubscribed
          and not exists (select from suppressions s where s.project_id = c.project_id and s.address = lower(c.email))
    ) as ordered
    join jsonb_to_recordset(%(ranges)s) as variant (variant_id uuid, low int, high int)
      on ordered.hash_rank >= variant.low and ordered.hash_rank < variant.high
    on conflict do nothing
""")
async def insert_sample(
    tx: Transaction, *, project_id: UUID, id: UUID, audience_id: UUID, started_at: Moment, ranges: Jsonb
) -> None: ...


@statement("""
    update campaigns set ab_test_sample_size = %(size)s where project_id = %(project_id)s and id = %(id)s returning *
""")
async def set_sample_size(tx: Transaction, *, project_id: UUID, id: UUID, size: int) -> CampaignRow: ...


# Remove up to `limit` contacts from the sample of an A/B test; returns their ids.
@statement("""
    delete from campaign_samples where project_id = %(project_id)s and /*single*/ctid = any (array(
        select ctid from campaign_samples
        where project_id = %(project_id)s and campaign_id = %(campaign_id)s limit %(limit)s))/*end*/
        /*distributed campaign_id = %(campaign_id)s and contact_id in (
        select contact_id from campaign_samples
        where project_id = %(project_id)s and campaign_id = %(campaign_id)s limit %(limit)s) */
    returning contact_id
""")
async def delete_sample(db: Queries, *, project_id: UUID, campaign_id: UUID, limit: int) -> list[UUID]: ...


# Store when the campaign was paused.
@statement("update campaigns set paused_at = %(now)s where project_id = %(project_id)s and id = %(id)s")
async def record_pause(tx: Transaction, *, project_id: UUID, id: UUID, now: Moment) -> None: ...


# End a pause. The time that an A/B test was paused is added to its duration.
@statement("""
    update campaigns set paused_at = null, ab_test_paused = ab_test_paused + case
        when paused_from = 'TESTING' and paused_at is not null then %(now)s::timestamptz - paused_at
        else interval '0' end
    where project_id = %(project_id)s and id = %(id)s
""")
async def record_resume(tx: Transaction, *, project_id: UUID, id: UUID, now: Moment) -> None: ...


# Estimate how many sends the started campaigns of the project's account still have to create: their audience sizes at
# the start, less the contacts processed so far. Campaigns that a TEST key started are excluded.
@statement("""
    select coalesce(sum(greatest(c.expected - c.seen, 0)), 0)::bigint from campaigns c
    where c.project_id in (
            select p.id from projects p
            where p.account_id = (select account_id from projects where id = %(project_id)s))
      and c.status in ('SENDING', 'TESTING', 'PAUSED') and not c.is_test
      and (not c.filled or c.ab_test_started_at is not null)
""")
async def count_pending(tx: Transaction, *, project_id: UUID) -> int: ...


# Create sends for the next contacts, after `campaign.cursor`, that were in the audience at the campaign's start.
# Contacts that joined later are excluded; those that left since (campaign_leavers) are included. Unsubscribed and
# suppressed contacts are only counted. A contact that has a send of this campaign gets no second one. A contact that
# has reached the frequency cap (`cap` marketing sends, which have lane 1, since `cap_since`) gets a SUPPRESSED send; a
# campaign started by a TEST key ignores the cap. With `testing`, only contacts of the A/B test's sample are
# processed, otherwise only the others. `contents` is a list of {variant_id, content_id, subject}.
# Project and campaign are columns of `members`, so that only rows of these contacts are read, see decision 0106.
@statement("""
    with listed as materialized (
        (select m.contact_id from audience_members m
         where m.project_id = %(project_id)s and m.audience_id = %(audience_id)s
           and m.contact_id > %(cursor)s and m.joined_at <= %(started_at)s and not %(testing)s
         order by m.contact_id limit %(limit)s)
        union
        (select l.contact_id from campaign_leavers l
         where l.project_id = %(project_id)s and l.campaign_id = %(id)s and l.contact_id > %(cursor)s
           and not %(testing)s
         order by l.contact_id limit %(limit)s)
        union
        (select sample.contact_id from campaign_samples sample
         where %(testing)s and sample.project_id = %(project_id)s and sample.campaign_id = %(id)s
           and sample.contact_id > %(cursor)s
         order by sample.contact_id limit %(limit)s)
        order by contact_id limit %(limit)s
    ), members as materialized (
        select %(project_id)s::uuid as project_id, %(id)s::uuid as campaign_id, contact_id from listed
    ), chosen as materialized (
        select members.project_id, members.contact_id, sample.variant_id from members left join campaign_samples sample
            on (sample.project_id, sample.campaign_id, sample.contact_id)
               = (members.project_id, members.campaign_id, members.contact_id)
               /*distributed and sample.project_id = :project */
        where (sample.contact_id is not null) = %(testing)s
    ), recipients as materialized (
        select c.id, c.email, c.unsubscribed, chosen.variant_id, s.address is not null as suppressed,
               not %(is_test)s and recent.count >= %(cap)s as capped
        from chosen join contacts c on (c.project_id, c.id) = (chosen.project_id, chosen.contact_id)
            /*distributed and c.project_id = :project */
        left join suppressions s on (s.project_id, s.address) = (c.project_id, lower(c.email))
            /*distributed and s.project_id = :project */
        cross join lateral (
            select count(*) as count from sends earlier
            where earlier.project_id = c.project_id and earlier.contact_id = c.id
              and earlier.created_at > %(cap_since)s /*distributed and earlier.project_id = :project */
              and earlier.lane = 1 and not earlier.test
              and earlier.status not in ('SUPPRESSED', 'FAILED', 'CANCELLED', 'EXPIRED')
        ) as recent
    ), inserted as (
        insert into sends (project_id, id, status, lane, test, message_id, subject, sender, recipient, to_addresses,
                           contact_id, campaign_id, variant_id, content_id, domain_id, due_at, reason, created_at,
                           updated_at)
        select %(project_id)s, new_send.id, case when recipients.capped then 'SUPPRESSED' else 'QUEUED' end, 1,
               %(is_test)s, '<' || new_send.id || '@' || %(host)s || '>', content.subject, %(sender)s,
               recipients.email, array[recipients.email],
               recipients.id, %(id)s, content.variant_id, content.content_id, %(domain_id)s,
               case when not recipients.capped then %(now)s::timestamptz end,
               case when recipients.capped then %(cap_reason)s end, %(now)s, %(now)s
        from recipients
        cross join lateral (select new_send_id() as id where recipients.id is not null) as new_send
        join jsonb_to_recordset(%(contents)s) as content (variant_id uuid, content_id uuid, subject text)
             on not %(testing)s or content.variant_id = recipients.variant_id
        where not recipients.unsubscribed and not recipients.suppressed
        on conflict (project_id, campaign_id, contact_id) where campaign_id is not null do nothing
        returning id, status
    )
    select (select count(*) from members)::int as seen,
           (select max(contact_id::text)::uuid from members) as last_contact_id,
           (select count(*) from inserted where status = 'QUEUED')::int as queued,
           array(select id from inserted where status = 'SUPPRESSED') as capped,
           (select count(*) from recipients where unsubscribed)::int as unsubscribed,
           (select count(*) from recipients where suppressed and not unsubscribed)::int as suppressed
""")
async def fill_sends(
    tx: Transaction,
    campaign: CampaignRow,
    *,
    limit: int,
    testing: bool,
    host: str,
    sender: str,
    contents: Jsonb,
    cap: int,
    cap_since: datetime,
    cap_reason: str,
    now: Moment,
) -> FilledBatch: ...


# The sends with these ids, in no particular order.
@statement("select * from sends where project_id = %(project_id)s and id = any (%(ids)s)")
async def sends_by_id(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> list[Send]: ...


@statement("insert into campaign_variants {row}")
async def insert_variant(tx: Transaction, variant: VariantRow) -> None: ...


# Delete all variants of a campaign.
@statement("delete from campaign_variants where project_id = %(project_id)s and campaign_id = %(campaign_id)s")
async def delete_variants(tx: Transaction, *, project_id: UUID, campaign_id: UUID) -> None: ...


# The variants of a campaign, in the order of the request that set them.
@statement("""
    select * from campaign_variants where project_id = %(project_id)s and campaign_id = %(campaign_id)s
    order by position
""")
async def variants(db: Queries, *, project_id: UUID, campaign_id: UUID) -> list[VariantRow]: ...


# Store the id of a variant's content snapshot.
@statement("""
    update campaign_variants set content_id = %(content_id)s where project_id = %(project_id)s and id = %(id)s
""")
async def set_variant_content(tx: Transaction, *, project_id: UUID, id: UUID, content_id: UUID) -> None: ...


# Mark one variant as the winner, and no other.
@statement("""
    update campaign_variants set is_winner = (id = %(id)s)
    where project_id = %(project_id)s and campaign_id = %(campaign_id)s
""")
async def mark_winner(tx: Transaction, *, project_id: UUID, campaign_id: UUID, id: UUID) -> None: ...


# The counters of a campaign by variant: numbers of sends by status, opens, clicks and so on. The status of sends that
# were deleted with the log has `past:` before it.
@statement("""
    select variant_id, regexp_replace(measure, '^past:', '') as measure, sum(count)::bigint as count from send_counters
    where project_id = %(project_id)s and campaign_id = %(campaign_id)s group by 1, 2
""")
async def variant_counts(db: Queries, *, project_id: UUID, campaign_id: UUID) -> list[VariantCount]: ...


# Why and until when any one of the campaign's postponed sends waits; None if there is none. A send is postponed by a
# limit of its sending domain or by the warm-up of an address of the server.
@statement("""
    select reason, due_at as until from sends
    where project_id = %(project_id)s and campaign_id = %(campaign_id)s and status in ('QUEUED', 'DELAYED')
      and due_at = scheduled_at and due_at > %(now)s
    limit 1
""")
async def postponed_send(db: Queries, *, project_id: UUID, campaign_id: UUID, now: Moment) -> PostponedSend | None: ...


# The reason of any one failed, expired or bounced send; None if there is none.
@statement("""
    select reason from sends
    where project_id = %(project_id)s and campaign_id = %(campaign_id)s and status in ('FAILED', 'EXPIRED', 'BOUNCED')
      and reason is not null
    limit 1
""")
async def failure_reason(tx: Transaction, *, project_id: UUID, campaign_id: UUID) -> str | None: ...


# Delete up to `limit` rows of `campaign_leavers`, the contacts that left the audience after the campaign's start;
# returns the contacts' ids.
@statement("""
    delete from campaign_leavers where project_id = %(project_id)s and /*single*/ctid = any (array(
        select ctid from campaign_leavers
        where project_id = %(project_id)s and campaign_id = %(campaign_id)s limit %(limit)s))/*end*/
        /*distributed campaign_id = %(campaign_id)s and contact_id in (
        select contact_id from campaign_leavers
        where project_id = %(project_id)s and campaign_id = %(campaign_id)s limit %(limit)s) */
    returning contact_id
""")
async def delete_leavers(db: Queries, *, project_id: UUID, campaign_id: UUID, limit: int) -> list[UUID]: ...


# A page of a campaign's sends, ordered by contact id. `status` is an SQL condition. The inner query finds the page with
# an index-only scan, so that only the rows of the page are fetched.
@statement("""
    select s.* from (
        select contact_id from sends
        where project_id = %(project_id)s and campaign_id = %(campaign_id)s and {status}
          and (%(after)s::uuid is null or contact_id > %(after)s)
        order by contact_id limit %(limit)s offset %(offset)s
    ) as page
    join sends s on (s.project_id, s.campaign_id, s.contact_id) = (%(project_id)s, %(campaign_id)s, page.contact_id)
    order by page.contact_id
""")
async def sends(
    db: Queries,
    *,
    project_id: UUID,
    campaign_id: UUID,
    status: Composable,
    after: UUID | None,
    limit: int,
    offset: int,
) -> list[Send]: ...


# The cells of the CSV export of a campaign's sends, ordered by contact id. `status` is an SQL condition.
@streamed_statement(
    "select id::text, recipient, status, subject, variant_id::text, reason, "
    + ", ".join(
        [
            moment_text("sent_at"),
            moment_text("delivered_at"),
            moment_text("opened_at"),
            moment_text("clicked_at"),
            moment_text("bounced_at"),
            moment_text("complained_at"),
        ]
    )
    + """ from sends where project_id = %(project_id)s and campaign_id = %(campaign_id)s and {status}
    order by contact_id
    """
)
def all_sends(
    tx: Transaction, *, project_id: UUID, campaign_id: UUID, status: Composable
) -> AsyncIterator[list[tuple[Any, ...]]]: ...
