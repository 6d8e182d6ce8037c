-- Count changed sends without joining their old and new rows, and for both tables of counters in one pass.
--
-- Each counter is a sum over sends, so it changes by the sum over the new rows minus the sum over the old rows. Most
-- updates change nothing that is counted (a claim, the mark before transmission): in `changed`, their rows cancel out.
--
-- `counted` is read by the last insert, so that counters are locked before rollups, as when sends are inserted.

create or replace function count_changed_sends() returns trigger language plpgsql as $$
begin
    with changed as materialized (
        select project_id, campaign_id, variant_id, domain_id, is_test, status, failed_at, sent_at, delivered_at,
               opened_at, clicked_at, human_opened_at, human_clicked_at, bounced_at, complained_at,
               sum(step)::int as step
        from (
            select 1 as step, project_id, campaign_id, variant_id, domain_id, status, opened_at, clicked_at,
                   human_opened_at, human_clicked_at, bounced_at, complained_at,
                   test or coalesce('campaign-test' = any (tags), false) as is_test,
                   case when status in ('FAILED', 'EXPIRED', 'SUPPRESSED') then updated_at end as failed_at,
                   case when bounced_at is null or bounced_at < sent_at then sent_at end as sent_at,
                   case when bounced_at is null or bounced_at < delivered_at then delivered_at end as delivered_at
            from new_rows
            union all
            select -1, project_id, campaign_id, variant_id, domain_id, status, opened_at, clicked_at,
                   human_opened_at, human_clicked_at, bounced_at, complained_at,
                   test or coalesce('campaign-test' = any (tags), false),
                   case when status in ('FAILED', 'EXPIRED', 'SUPPRESSED') then updated_at end,
                   case when bounced_at is null or bounced_at < sent_at then sent_at end,
                   case when bounced_at is null or bounced_at < delivered_at then delivered_at end
            from old_rows
        ) as s
        group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 having sum(step) <> 0
    ), counted as (
        insert into send_counters as counter (project_id, campaign_id, variant_id, measure, slot, count)
        select c.project_id, coalesce(c.campaign_id, '00000000-0000-0000-0000-000000000000'),
               coalesce(c.variant_id, '00000000-0000-0000-0000-000000000000'), m.measure, pg_backend_pid() % 16,
               sum(c.step)
        from changed c cross join lateral (values
            (c.status, true),
            ('sent', c.sent_at is not null),
            ('delivered', c.delivered_at is not null),
            ('opened', c.human_opened_at is not null),
            ('clicked', c.human_clicked_at is not null),
            ('open_touched', c.opened_at is not null),
            ('click_touched', c.clicked_at is not null),
            ('bounced', c.bounced_at is not null),
            ('complained', c.complained_at is not null)
        ) as m (measure, holds)
        where m.holds
        group by 1, 2, 3, 4, 5 having sum(c.step) <> 0 order by 1, 2, 3, 4
        on conflict (project_id, campaign_id, variant_id, measure, slot)
        do update set count = counter.count + excluded.count
        returning 1
    )
    insert into send_rollups as rollup (project_id, campaign_id, bucket, domain_id, slot, sent, delivered, opened,
                                        clicked, open_touched, click_touched, bounced, complained, failed)
    select c.project_id, place.campaign_id, place.bucket, c.domain_id, pg_backend_pid() % 16,
           coalesce(sum(c.step) filter (where c.measure = 'sent'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'delivered'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'opened'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'clicked'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'open_touched'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'click_touched'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'bounced'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'complained'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'failed'), 0)
    from (
        select r.project_id, r.campaign_id,
               coalesce(r.domain_id, '00000000-0000-0000-0000-000000000000'::uuid) as domain_id, m.measure,
               date_bin('15 minutes', m.at, 'epoch') as bucket, sum(r.step)::int as step
        from changed r cross join lateral (values
            ('sent', r.sent_at),
            ('delivered', r.delivered_at),
            ('opened', r.human_opened_at),
            ('clicked', r.human_clicked_at),
            ('open_touched', r.opened_at),
            ('click_touched', r.clicked_at),
            ('bounced', r.bounced_at),
            ('complained', r.complained_at),
            ('failed', r.failed_at)
        ) as m (measure, at)
        where not r.is_test and m.at is not null
        group by 1, 2, 3, 4, 5 having sum(r.step) <> 0
    ) as c
    cross join lateral (values
        ('00000000-0000-0000-0000-000000000000'::uuid, timestamptz '-infinity'),
        ('00000000-0000-0000-0000-000000000000'::uuid, c.bucket),
        (c.campaign_id, c.bucket)
    ) as place (campaign_id, bucket)
    where place.campaign_id is not null and (select count(*) from counted) >= 0
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (project_id, campaign_id, bucket, domain_id, slot) do update set
        sent = rollup.sent + excluded.sent,
        delivered = rollup.delivered + excluded.delivered,
        opened = rollup.opened + excluded.opened,
        clicked = rollup.clicked + excluded.clicked,
        open_touched = rollup.open_touched + excluded.open_touched,
        click_touched = rollup.click_touched + excluded.click_touched,
        bounced = rollup.bounced + excluded.bounced,
        complained = rollup.complained + excluded.complained,
        failed = rollup.failed + excluded.failed;
    return null;
end $$;

drop trigger sends_rolled_up_changed on sends;
drop function roll_up_changed_sends();
