-- What happened to sends and contacts, summed in quarters of an hour: statistics never count rows.
-- Kept by statement triggers, in the transaction of the change, so that they equal a recount at any time.
-- Quarters, because that is what the world's time zones differ by. Several rows (slot) against queues of writers;
-- those of times that are over are put together now and then.
--
-- A row is one campaign's, or of everything (campaign zero); of a quarter, or of all times (bucket -infinity). So an
-- answer about a project reads as few rows whether it has one campaign or a thousand.

create table send_rollups (
    project_id uuid not null,
    campaign_id uuid not null,
    bucket timestamptz not null,
    domain_id uuid not null,
    slot smallint not null,
    accepted bigint not null default 0,
    sent bigint not null default 0,
    delivered bigint not null default 0,
    opened bigint not null default 0,
    clicked bigint not null default 0,
    open_touched bigint not null default 0,
    click_touched bigint not null default 0,
    bounced bigint not null default 0,
    complained bigint not null default 0,
    failed bigint not null default 0,
    primary key (project_id, campaign_id, bucket, domain_id, slot)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

create index send_rollups_loose on send_rollups (bucket) where slot <> 0 and bucket > '-infinity';

create table contact_rollups (
    project_id uuid not null,
    day date not null,
    measure text not null,
    slot smallint not null,
    count bigint not null,
    primary key (project_id, day, measure, slot)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

create function roll_up_new_sends() returns trigger language plpgsql as $$
begin
    insert into send_rollups as rollup (project_id, campaign_id, bucket, domain_id, slot, accepted)
    select c.project_id, place.campaign_id, place.bucket, c.domain_id, pg_backend_pid() % 16, sum(c.accepted)
    from (select project_id, campaign_id, coalesce(domain_id, '00000000-0000-0000-0000-000000000000'::uuid) as domain_id,
                 date_bin('15 minutes', created_at, 'epoch') as bucket, count(*) as accepted
          from new_rows where not test and not coalesce('campaign-test' = any (tags), false)
          group by 1, 2, 3, 4
    ) as c
    cross join lateral (values
        ('00000000-0000-0000-0000-000000000000'::uuid, timestamptz '-infinity'),
        ('00000000-0000-0000-0000-000000000000'::uuid, c.bucket),
        (c.campaign_id, c.bucket)
    ) as place (campaign_id, bucket)
    where place.campaign_id is not null
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (project_id, campaign_id, bucket, domain_id, slot)
    do update set accepted = rollup.accepted + excluded.accepted;
    return null;
end $$;

create function roll_up_changed_sends() returns trigger language plpgsql as $$
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
        cross join lateral (values
            ('sent', case when o.sent_at is null then n.sent_at end, 1),
            ('delivered', case when o.delivered_at is null then n.delivered_at end, 1),
            ('opened', case when o.human_opened_at is null then n.human_opened_at end, 1),
            ('clicked', case when o.human_clicked_at is null then n.human_clicked_at end, 1),
            ('open_touched', case when o.opened_at is null then n.opened_at end, 1),
            ('click_touched', case when o.clicked_at is null then n.clicked_at end, 1),
            ('bounced', case when o.bounced_at is null then n.bounced_at end, 1),
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

create trigger sends_rolled_up_new after insert on sends
    referencing new table as new_rows for each statement execute function roll_up_new_sends();
create trigger sends_rolled_up_changed after update on sends
    referencing old table as old_rows new table as new_rows for each statement execute function roll_up_changed_sends();

create function roll_up_contacts() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
        insert into contact_rollups as rollup (project_id, day, measure, slot, count)
        select project_id, (created_at at time zone 'UTC')::date, m.measure, pg_backend_pid() % 16, sum(m.step)
        from new_rows cross join lateral (values ('total', 1), ('unsubscribed', unsubscribed::int)) as m (measure, step)
        where m.step <> 0 group by 1, 2, 3 order by 1, 2, 3
        on conflict (project_id, day, measure, slot) do update set count = rollup.count + excluded.count;
    elsif tg_op = 'DELETE' then
        insert into contact_rollups as rollup (project_id, day, measure, slot, count)
        select project_id, (created_at at time zone 'UTC')::date, m.measure, pg_backend_pid() % 16, -sum(m.step)
        from old_rows cross join lateral (values ('total', 1), ('unsubscribed', unsubscribed::int)) as m (measure, step)
        where m.step <> 0 group by 1, 2, 3 order by 1, 2, 3
        on conflict (project_id, day, measure, slot) do update set count = rollup.count + excluded.count;
    else
        insert into contact_rollups as rollup (project_id, day, measure, slot, count)
        select n.project_id, (n.created_at at time zone 'UTC')::date, 'unsubscribed', pg_backend_pid() % 16,
               sum(n.unsubscribed::int - o.unsubscribed::int)
        from old_rows o join new_rows n using (project_id, id)
        where o.unsubscribed <> n.unsubscribed group by 1, 2 order by 1, 2
        on conflict (project_id, day, measure, slot) do update set count = rollup.count + excluded.count;
    end if;
    return null;
end $$;

create trigger contacts_rolled_up_new after insert on contacts
    referencing new table as new_rows for each statement execute function roll_up_contacts();
create trigger contacts_rolled_up_changed after update on contacts
    referencing old table as old_rows new table as new_rows for each statement execute function roll_up_contacts();
create trigger contacts_rolled_up_gone after delete on contacts
    referencing old table as old_rows for each statement execute function roll_up_contacts();
