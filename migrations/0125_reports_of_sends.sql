-- Reports about sends that arrive after their attempts: late bounces, complaints, delays and deliveries.
create table send_reports (
    project_id uuid not null,
    id uuid not null,
    send_id uuid not null,
    kind text not null check (kind in ('DELIVERED', 'DELAYED', 'BOUNCED', 'COMPLAINED')),
    recipient text not null,
    source text not null,
    type text,
    code integer not null,
    enhanced_code text not null,
    text text not null,
    host text not null,
    feedback_type text,
    changed boolean not null,
    times integer not null default 1,
    occurred_at timestamptz not null,
    received_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, send_id, kind, recipient, source)
);

-- Whether reports are among the failures. If so, only a delivery ends the row: that a relay accepts a message does not.
alter table soft_bounces add column reported boolean not null default false;

-- `sent` and `delivered` no longer count a message that bounced later, so that no message counts as both sent and
-- bounced. A message that bounced and was sent again on request counts as before: it bounced earlier than it was sent.
create or replace function count_changed_sends() returns trigger language plpgsql as $$
begin
    insert into send_counters as counter (project_id, campaign_id, variant_id, measure, slot, count)
    select c.project_id, coalesce(c.campaign_id, '00000000-0000-0000-0000-000000000000'),
           coalesce(c.variant_id, '00000000-0000-0000-0000-000000000000'), m.measure, pg_backend_pid() % 16, sum(m.step)
    from (select o.status as old_status, n.status as new_status, n.project_id, n.campaign_id, n.variant_id,
                 (n.sent_at is not null and (n.bounced_at is null or n.bounced_at < n.sent_at))::int
                     - (o.sent_at is not null and (o.bounced_at is null or o.bounced_at < o.sent_at))::int as sent,
                 (n.delivered_at is not null and (n.bounced_at is null or n.bounced_at < n.delivered_at))::int
                     - (o.delivered_at is not null and (o.bounced_at is null or o.bounced_at < o.delivered_at))::int
                     as delivered,
                 o.human_opened_at is null and n.human_opened_at is not null as opened,
                 o.human_clicked_at is null and n.human_clicked_at is not null as clicked,
                 o.opened_at is null and n.opened_at is not null as open_touched,
                 o.clicked_at is null and n.clicked_at is not null as click_touched,
                 o.bounced_at is null and n.bounced_at is not null as bounced,
                 o.complained_at is null and n.complained_at is not null as complained
          from old_rows o join new_rows n using (project_id, id)
          where (o.status, o.sent_at, o.delivered_at, o.opened_at, o.clicked_at, o.human_opened_at, o.human_clicked_at,
                 o.bounced_at, o.complained_at)
                is distinct from
                (n.status, n.sent_at, n.delivered_at, n.opened_at, n.clicked_at, n.human_opened_at, n.human_clicked_at,
                 n.bounced_at, n.complained_at)
    ) as c
    cross join lateral (values
        (case when old_status <> new_status then old_status end, -1),
        (case when old_status <> new_status then new_status end, 1),
        (case when sent <> 0 then 'sent' end, sent),
        (case when delivered <> 0 then 'delivered' end, delivered),
        (case when opened then 'opened' end, 1),
        (case when clicked then 'clicked' end, 1),
        (case when open_touched then 'open_touched' end, 1),
        (case when click_touched then 'click_touched' end, 1),
        (case when bounced then 'bounced' end, 1),
        (case when complained then 'complained' end, 1)
    ) as m (measure, step)
    where m.measure is not null
    group by 1, 2, 3, 4, 5 having sum(m.step) <> 0 order by 1, 2, 3, 4
    on conflict (project_id, campaign_id, variant_id, measure, slot)
    do update set count = counter.count + excluded.count;
    return null;
end $$;

create or replace function roll_up_changed_sends() returns trigger language plpgsql as $$
begin
    insert into send_rollups as rollup (project_id, campaign_id, bucket, domain_id, slot, sent, delivered, opened,
                                        clicked, open_touched, click_touched, bounced, complained, failed)
    select c.project_id, place.campaign_id, place.bucket, c.domain_id, pg_backend_pid() % 16, sum(c.sent),
           sum(c.delivered), sum(c.opened), sum(c.clicked), sum(c.open_touched), sum(c.click_touched), sum(c.bounced),
           sum(c.complained), sum(c.failed)
    from (
        select n.project_id, n.campaign_id, coalesce(n.domain_id, '00000000-0000-0000-0000-000000000000'::uuid) as domain_id,
               date_bin('15 minutes', m.at, 'epoch') as bucket,
               coalesce(sum(m.step) filter (where m.measure = 'sent'), 0) as sent,
               coalesce(sum(m.step) filter (where m.measure = 'delivered'), 0) as delivered,
               coalesce(sum(m.step) filter (where m.measure = 'opened'), 0) as opened,
               coalesce(sum(m.step) filter (where m.measure = 'clicked'), 0) as clicked,
               coalesce(sum(m.step) filter (where m.measure = 'open_touched'), 0) as open_touched,
               coalesce(sum(m.step) filter (where m.measure = 'click_touched'), 0) as click_touched,
               coalesce(sum(m.step) filter (where m.measure = 'bounced'), 0) as bounced,
               coalesce(sum(m.step) filter (where m.measure = 'complained'), 0) as complained,
               coalesce(sum(m.step) filter (where m.measure = 'failed'), 0) as failed
        from old_rows o join new_rows n using (project_id, id)
        cross join lateral (select
            case when o.bounced_at is null or o.bounced_at < o.sent_at then o.sent_at end as old_sent,
            case when n.bounced_at is null or n.bounced_at < n.sent_at then n.sent_at end as new_sent,
            case when o.bounced_at is null or o.bounced_at < o.delivered_at then o.delivered_at end as old_delivered,
            case when n.bounced_at is null or n.bounced_at < n.delivered_at then n.delivered_at end as new_delivered
        ) as t
        cross join lateral (values
            ('sent', case when t.old_sent is distinct from t.new_sent then t.new_sent end, 1),
            ('sent', case when t.old_sent is distinct from t.new_sent then t.old_sent end, -1),
            ('delivered', case when t.old_delivered is distinct from t.new_delivered then t.new_delivered end, 1),
            ('delivered', case when t.old_delivered is distinct from t.new_delivered then t.old_delivered end, -1),
            ('opened', case when o.human_opened_at is null then n.human_opened_at end, 1),
            ('clicked', case when o.human_clicked_at is null then n.human_clicked_at end, 1),
            ('open_touched', case when o.opened_at is null then n.opened_at end, 1),
            ('click_touched', case when o.clicked_at is null then n.clicked_at end, 1),
            ('bounced', case when o.bounced_at is distinct from n.bounced_at then n.bounced_at end, 1),
            ('bounced', case when o.bounced_at is distinct from n.bounced_at then o.bounced_at end, -1),
            ('complained', case when o.complained_at is null then n.complained_at end, 1),
            ('failed', case when o.status <> n.status and n.status in ('FAILED', 'EXPIRED', 'SUPPRESSED')
                            then n.updated_at end, 1),
            ('failed', case when o.status <> n.status and o.status in ('FAILED', 'EXPIRED', 'SUPPRESSED')
                            then o.updated_at end, -1)
        ) as m (measure, at, step)
        where not n.test and not coalesce('campaign-test' = any (n.tags), false) and m.at is not null
          and (o.status, o.sent_at, o.delivered_at, o.opened_at, o.clicked_at, o.human_opened_at, o.human_clicked_at,
               o.bounced_at, o.complained_at)
              is distinct from
              (n.status, n.sent_at, n.delivered_at, n.opened_at, n.clicked_at, n.human_opened_at, n.human_clicked_at,
               n.bounced_at, n.complained_at)
        group by 1, 2, 3, 4
    ) as c
    cross join lateral (values
        ('00000000-0000-0000-0000-000000000000'::uuid, timestamptz '-infinity'),
        ('00000000-0000-0000-0000-000000000000'::uuid, c.bucket),
        (c.campaign_id, c.bucket)
    ) as place (campaign_id, bucket)
    where place.campaign_id is not null
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
