-- Sends, what they carry, how they went, and who must not be written to.

create extension if not exists btree_gin;

create table sends (
    project_id uuid not null references projects (id),
    id uuid not null,
    status text not null check (status in ('SCHEDULED', 'QUEUED', 'SENT', 'DELIVERED', 'DELAYED', 'BOUNCED',
                                           'COMPLAINED', 'SUPPRESSED', 'FAILED', 'EXPIRED', 'CANCELLED')),
    lane smallint not null check (lane in (0, 1)),
    test boolean not null default false,
    message_id text not null,
    subject text not null,
    sender text not null,
    recipient text not null,
    to_addresses text[] not null,
    cc_addresses text[],
    bcc_addresses text[],
    contact_id uuid,
    campaign_id uuid,
    variant_id uuid,
    content_id uuid,
    once_key text,
    domain_id uuid,
    tags text[],
    pending jsonb,
    due_at timestamptz,
    attempt int not null default 0,
    tries int not null default 0,
    handed_over int,
    ambiguous_attempts int not null default 0,
    reason text,
    scheduled_at timestamptz,
    expires_at timestamptz,
    sent_at timestamptz,
    delayed_at timestamptz,
    delivered_at timestamptz,
    opened_at timestamptz,
    clicked_at timestamptz,
    human_opened_at timestamptz,
    human_clicked_at timestamptz,
    bounced_at timestamptz,
    complained_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);

-- What is due, a lane at a time: finished rows leave these indexes.
create index sends_due_transactional on sends (project_id, due_at) where lane = 0 and due_at is not null;
create index sends_due_marketing on sends (project_id, due_at) where lane = 1 and due_at is not null;
-- One send per (campaign, contact) and per key that an automation's step has: held by the database.
create unique index sends_campaign on sends (project_id, campaign_id, contact_id) where campaign_id is not null;
create unique index sends_once on sends (project_id, once_key) where once_key is not null;
create index sends_contact on sends (project_id, contact_id) where contact_id is not null;
create index sends_recipient on sends (project_id, lower(recipient), id) where campaign_id is null;
-- Tracking links name the send alone.
create index sends_id on sends (id);

-- What a message says: its own words for a single send …
create table send_bodies (
    project_id uuid not null,
    send_id uuid not null,
    body jsonb not null,
    primary key (project_id, send_id)
);

-- … or the snapshot that all sends of a campaign share.
create table contents (
    project_id uuid not null references projects (id),
    id uuid not null,
    body jsonb not null,
    -- Whether its sends may be handed over. One row stops a million of them, at once: who claims or hands over a send
    -- looks here.
    state text not null default 'GOING' check (state in ('GOING', 'HELD', 'STOPPED')),
    created_at timestamptz not null,
    primary key (project_id, id)
);

-- Searched by substring; only single sends are here: a campaign's are found through its contacts.
create table send_search (
    project_id uuid not null,
    send_id uuid not null,
    haystack text not null,
    primary key (project_id, send_id)
);
create index send_search_text on send_search using gin (project_id, haystack gin_trgm_ops)
    with (gin_pending_list_limit = 16384);

create table send_attempts (
    project_id uuid not null,
    send_id uuid not null,
    attempt int not null,
    outcome text not null check (outcome in ('ACCEPTED', 'DEFERRED', 'REJECTED', 'AMBIGUOUS', 'FAILED')),
    host text not null,
    results jsonb not null,
    dialogue text[] not null,
    duration_ms int not null,
    finished_at timestamptz not null,
    primary key (project_id, send_id, attempt)
);

create table idempotency_keys (
    project_id uuid not null,
    route text not null,
    key text not null,
    body_hash bytea not null,
    send_ids uuid[] not null,
    lease_until timestamptz not null,
    status smallint,
    response jsonb,
    created_at timestamptz not null,
    primary key (project_id, route, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

create table suppressions (
    project_id uuid not null references projects (id),
    id uuid not null,
    address text not null,
    reason text not null check (reason in ('BOUNCE', 'COMPLAINT', 'UNSUBSCRIBE', 'MANUAL')),
    source text not null,
    detail text,
    send_id uuid,
    created_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, address)
);

create table soft_bounces (
    project_id uuid not null,
    address text not null,
    times int not null,
    first_at timestamptz not null,
    last_at timestamptz not null,
    primary key (project_id, address)
);

create table captured_messages (
    project_id uuid not null,
    id uuid not null,
    send_id uuid not null,
    mail_from text not null,
    recipients text[] not null,
    sender text not null,
    subject text not null,
    size int not null,
    message bytea not null,
    captured_at timestamptz not null,
    primary key (project_id, id)
);
-- Handing a message to the inbox view twice keeps it once.
create unique index captured_messages_send on captured_messages (project_id, send_id);

-- How many sends are in each state, and how many were opened and clicked (by people; `…_touched` counts machines
-- too): kept by the triggers below, so that a
-- total never counts rows. Several rows a measure (slot), so that writers do not queue behind one another.
create table send_counters (
    project_id uuid not null,
    campaign_id uuid not null,
    variant_id uuid not null,
    measure text not null,
    slot smallint not null,
    count bigint not null,
    primary key (project_id, campaign_id, variant_id, measure, slot)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

create function count_new_sends() returns trigger language plpgsql as $$
begin
    insert into send_counters as counter (project_id, campaign_id, variant_id, measure, slot, count)
    select project_id, coalesce(campaign_id, '00000000-0000-0000-0000-000000000000'),
           coalesce(variant_id, '00000000-0000-0000-0000-000000000000'), status, pg_backend_pid() % 16, count(*)
    from new_rows group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4
    on conflict (project_id, campaign_id, variant_id, measure, slot)
    do update set count = counter.count + excluded.count;
    return null;
end $$;

create function count_changed_sends() returns trigger language plpgsql as $$
begin
    insert into send_counters as counter (project_id, campaign_id, variant_id, measure, slot, count)
    select c.project_id, coalesce(c.campaign_id, '00000000-0000-0000-0000-000000000000'),
           coalesce(c.variant_id, '00000000-0000-0000-0000-000000000000'), m.measure, pg_backend_pid() % 16, sum(m.step)
    from (select o.status as old_status, n.status as new_status, n.project_id, n.campaign_id, n.variant_id,
                 o.sent_at is null and n.sent_at is not null as sent,
                 o.delivered_at is null and n.delivered_at is not null as delivered,
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
        (case when sent then 'sent' end, 1),
        (case when delivered then 'delivered' end, 1),
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

create function count_gone_sends() returns trigger language plpgsql as $$
begin
    insert into send_counters as counter (project_id, campaign_id, variant_id, measure, slot, count)
    select project_id, coalesce(campaign_id, '00000000-0000-0000-0000-000000000000'),
           coalesce(variant_id, '00000000-0000-0000-0000-000000000000'), status, pg_backend_pid() % 16, -count(*)
    from old_rows group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4
    on conflict (project_id, campaign_id, variant_id, measure, slot)
    do update set count = counter.count + excluded.count;
    return null;
end $$;

create trigger sends_counted_new after insert on sends
    referencing new table as new_rows for each statement execute function count_new_sends();
create trigger sends_counted_changed after update on sends
    referencing old table as old_rows new table as new_rows for each statement execute function count_changed_sends();
create trigger sends_counted_gone after delete on sends
    referencing old table as old_rows for each statement execute function count_gone_sends();
