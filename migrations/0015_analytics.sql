-- What happened to sends and contacts, summed in quarters of an hour: statistics never count rows.
-- Kept by statement triggers, in the transaction of the change, so that they equal a recount at any time.
-- Quarters, because that is what the world's time zones differ by. Several rows (slot) against queues of writers.

create table send_rollups (
    project_id uuid not null,
    bucket timestamptz not null,
    domain_id uuid not null,
    campaign_id uuid not null,
    measure text not null,
    slot smallint not null,
    count bigint not null,
    primary key (project_id, bucket, domain_id, campaign_id, measure, slot)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
create index send_rollups_campaign on send_rollups (project_id, campaign_id, bucket)
    where campaign_id <> '00000000-0000-0000-0000-000000000000';

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
    insert into send_rollups as rollup (project_id, bucket, domain_id, campaign_id, measure, slot, count)
    select project_id, date_bin('15 minutes', created_at, 'epoch'),
           coalesce(domain_id, '00000000-0000-0000-0000-000000000000'),
           coalesce(campaign_id, '00000000-0000-0000-0000-000000000000'), 'accepted', pg_backend_pid() % 16, count(*)
    from new_rows where not test and not coalesce('campaign-test' = any (tags), false) group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (project_id, bucket, domain_id, campaign_id, measure, slot)
    do update set count = rollup.count + excluded.count;
    return null;
end $$;

create function roll_up_changed_sends() returns trigger language plpgsql as $$
begin
    insert into send_rollups as rollup (project_id, bucket, domain_id, campaign_id, measure, slot, count)
    select c.project_id, date_bin('15 minutes', m.at, 'epoch'),
           coalesce(c.domain_id, '00000000-0000-0000-0000-000000000000'),
           coalesce(c.campaign_id, '00000000-0000-0000-0000-000000000000'), m.measure, pg_backend_pid() % 16,
           sum(m.step)
    from (select o.status as old_status, n.status as new_status, o.updated_at as old_updated_at,
                 n.updated_at as new_updated_at, n.project_id, n.domain_id, n.campaign_id,
                 case when o.sent_at is null then n.sent_at end as sent_at,
                 case when o.delivered_at is null then n.delivered_at end as delivered_at,
                 case when o.opened_at is null then n.opened_at end as opened_at,
                 case when o.clicked_at is null then n.clicked_at end as clicked_at,
                 case when o.human_opened_at is null then n.human_opened_at end as human_opened_at,
                 case when o.human_clicked_at is null then n.human_clicked_at end as human_clicked_at,
                 case when o.bounced_at is null then n.bounced_at end as bounced_at,
                 case when o.complained_at is null then n.complained_at end as complained_at
          from old_rows o join new_rows n using (project_id, id)
          where not n.test and not coalesce('campaign-test' = any (n.tags), false)
            and (o.status, o.sent_at, o.delivered_at, o.opened_at, o.clicked_at, o.human_opened_at, o.human_clicked_at,
                 o.bounced_at, o.complained_at)
                is distinct from
                (n.status, n.sent_at, n.delivered_at, n.opened_at, n.clicked_at, n.human_opened_at, n.human_clicked_at,
                 n.bounced_at, n.complained_at)
    ) as c
    cross join lateral (values
        ('sent', sent_at, 1),
        ('delivered', delivered_at, 1),
        ('open_touched', opened_at, 1),
        ('click_touched', clicked_at, 1),
        ('opened', human_opened_at, 1),
        ('clicked', human_clicked_at, 1),
        ('bounced', bounced_at, 1),
        ('complained', complained_at, 1),
        ('failed', case when old_status <> new_status and new_status in ('FAILED', 'EXPIRED', 'SUPPRESSED')
                        then new_updated_at end, 1),
        ('failed', case when old_status <> new_status and old_status in ('FAILED', 'EXPIRED', 'SUPPRESSED')
                        then old_updated_at end, -1)
    ) as m (measure, at, step)
    where m.at is not null
    group by 1, 2, 3, 4, 5 having sum(m.step) <> 0 order by 1, 2, 3, 4, 5
    on conflict (project_id, bucket, domain_id, campaign_id, measure, slot)
    do update set count = rollup.count + excluded.count;
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
