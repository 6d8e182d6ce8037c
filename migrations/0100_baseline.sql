-- The schema of version 0.1.0. It replaces the migrations 0001 to 0081 of earlier development: on a database that has
-- all of them, it is recorded as applied without running. Changes to the schema go into new migrations.

create extension if not exists btree_gin;
create extension if not exists pg_trgm;

-- ==== The instance, developers and their accounts, projects, API keys, events, the audit log ====

create table instance (
    only_one boolean default true not null,
    key_check bytea not null,
    created_at timestamptz default now() not null,
    primary key (only_one),
    check (only_one)
);

create table workers (
    id uuid not null,
    started_at timestamptz not null,
    seen_at timestamptz not null,
    primary key (id)
);

create table accounts (
    id uuid not null,
    name text not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- Whether the account came from a sign-up whose address is not proven: its projects capture all mail.
    unproven boolean default false not null,
    primary key (id),
    check ((length(name) >= 1) and (length(name) <= 200))
);
create index accounts_unproven on accounts (created_at) where unproven;

create table developers (
    id uuid not null,
    account_id uuid not null,
    email text not null,
    name text default '' not null,
    role text not null,
    password_hash text not null,
    email_verified_at timestamptz,
    mfa_enabled_at timestamptz,
    joined_at timestamptz not null,
    last_sign_in_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (id),
    check (role in ('OWNER', 'ADMIN', 'DEVELOPER', 'VIEWER')),
    foreign key (account_id) references accounts(id)
);
create unique index developers_email on developers (lower(email)) where (email_verified_at is not null);
create index developers_account on developers (account_id);
-- Exactly one owner: at most one by this index, at least one by the operations that move ownership.
create unique index developers_owner on developers (account_id) where (role = 'OWNER');
create index developers_unproven on developers (lower(email), created_at) where (email_verified_at is null);

create table developer_tokens (
    hash bytea not null,
    developer_id uuid not null,
    purpose text not null,
    email text,
    expires_at timestamptz not null,
    created_at timestamptz not null,
    primary key (hash),
    check (purpose in ('VERIFY_EMAIL', 'RESET_PASSWORD', 'INBOX')),
    foreign key (developer_id) references developers(id) on delete cascade
);
create index developer_tokens_developer on developer_tokens (developer_id, purpose);

create table projects (
    id uuid not null,
    account_id uuid not null,
    name text not null,
    settings jsonb default '{}' not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- When set, requests for the project get 404; a worker deletes its rows in chunks.
    deleted_at timestamptz,
    primary key (id),
    check ((length(name) >= 1) and (length(name) <= 200)),
    foreign key (account_id) references accounts(id)
);
create index projects_account on projects (account_id, id);

create table api_keys (
    project_id uuid not null,
    id uuid not null,
    name text not null,
    type text not null,
    environment text not null,
    hash bytea not null,
    prefix text not null,
    last_four text not null,
    permissions text[],
    ip_allow_list text[],
    expires_at timestamptz,
    last_used_at timestamptz,
    created_by uuid,
    created_at timestamptz not null,
    primary key (project_id, id),
    unique (hash),
    check (environment in ('LIVE', 'TEST')),
    check ((length(name) >= 1) and (length(name) <= 200)),
    check (type in ('SECRET', 'PUBLISHABLE')),
    foreign key (project_id) references projects(id)
);

-- No foreign key to projects: events are written in bulk on the hottest path, always beside a row that has one.
-- UUIDv7 keys keep the table in the order of time, so it can be partitioned by ranges of id.
create table events (
    project_id uuid not null,
    id uuid not null,
    type text not null,
    subject_id uuid,
    actor_type text not null,
    actor_id uuid,
    actor_label text,
    data jsonb default '{}' not null,
    occurred_at timestamptz not null,
    erased_at timestamptz,
    primary key (project_id, id)
);
create index events_subject on events (project_id, subject_id, id);

-- One hash chain per project; entries that concern the account alone are chained under the account's id.
create table audit_heads (
    chain_id uuid not null,
    seq bigint not null,
    hash bytea not null,
    primary key (chain_id)
);

create table audit_log (
    chain_id uuid not null,
    seq bigint not null,
    id uuid not null,
    account_id uuid not null,
    actor_type text not null,
    actor_id uuid,
    actor_email text,
    action text not null,
    target_type text not null,
    target_id text,
    metadata jsonb default '{}' not null,
    ip_address text,
    salt bytea not null,
    details_digest bytea not null,
    hash bytea not null,
    created_at timestamptz not null,
    primary key (chain_id, seq)
);
create index audit_log_target on audit_log (chain_id, target_id, seq);
create index audit_log_account on audit_log (account_id, id);

-- ==== E-mails, suppressions ====

create table sends (
    project_id uuid not null,
    id uuid not null,
    status text not null,
    lane smallint not null,
    test boolean default false not null,
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
    attempt int default 0 not null,
    tries int default 0 not null,
    handed_over int,
    ambiguous_attempts int default 0 not null,
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
    -- The `Date` header: when the message was first handed to a relay or server. Null before that.
    dated_at timestamptz,
    -- Outcome per recipient of a send with several: {"address": {"status", "reason", "at"}}. Null for a send
    -- to one address, whose outcome is in the columns above.
    outcomes jsonb,
    primary key (project_id, id),
    check (lane in (0, 1)),
    check (status in ('SCHEDULED', 'QUEUED', 'SENT', 'DELIVERED', 'DELAYED', 'BOUNCED', 'COMPLAINED', 'SUPPRESSED',
                      'FAILED', 'EXPIRED', 'CANCELLED')),
    foreign key (project_id) references projects(id)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.05);
-- Due sends per lane (0 transactional, 1 marketing); finished rows leave these indexes.
create index sends_due_transactional on sends (project_id, due_at) where ((lane = 0) and (due_at is not null));
create index sends_due_marketing on sends (project_id, due_at) where ((lane = 1) and (due_at is not null));
-- At most one send per campaign and contact, and per idempotency key of an automation step.
create unique index sends_campaign on sends (project_id, campaign_id, contact_id) where (campaign_id is not null);
create unique index sends_once on sends (project_id, once_key) where (once_key is not null);
create index sends_recipient on sends (project_id, lower(recipient), id) where (campaign_id is null);
-- Tracking links carry the id of the send without its project.
create index sends_id on sends (id);
-- Finds the few sends of a campaign that are waiting or failed without reading those that succeeded.
create index sends_campaign_exceptions on sends (project_id, campaign_id, status, contact_id)
    where ((campaign_id is not null) and (status not in ('SENT', 'DELIVERED')));
-- Also counts the messages to a contact within a period (frequency cap).
create index sends_contact_time on sends (project_id, contact_id, created_at) where (contact_id is not null);
create index sends_tags on sends using gin (project_id, tags) where (tags is not null);

-- The content of single sends; the sends of a campaign share a row of `contents`.
create table send_bodies (
    project_id uuid not null,
    send_id uuid not null,
    body jsonb not null,
    -- Mail that carries a one-time code or link: `body` and `message` hold it with the secret removed. The complete
    -- content is encrypted with the master key in `sealed`, which is erased when the send is settled; for a captured
    -- message it is kept for callers with the permission `customers:impersonate`.
    sealed bytea,
    primary key (project_id, send_id)
);
create index send_bodies_sealed on send_bodies (project_id, send_id) where (sealed is not null);

-- Content snapshots that all sends of a campaign share.
create table contents (
    project_id uuid not null,
    id uuid not null,
    body jsonb not null,
    -- Whether its sends may be handed over. Claiming and handing over read this row, so changing it stops all
    -- sends of a campaign at once.
    state text default 'GOING' not null,
    created_at timestamptz not null,
    primary key (project_id, id),
    check (state in ('GOING', 'HELD', 'STOPPED')),
    foreign key (project_id) references projects(id)
);

-- Substring search of single sends; those of a campaign are searched through its contacts.
create table send_search (
    project_id uuid not null,
    send_id uuid not null,
    search_text text not null,
    primary key (project_id, send_id)
);
create index send_search_text on send_search using gin (project_id, search_text gin_trgm_ops)
    with (gin_pending_list_limit=16384);

create table send_attempts (
    project_id uuid not null,
    send_id uuid not null,
    attempt int not null,
    outcome text not null,
    host text not null,
    results jsonb not null,
    dialogue text[] not null,
    duration_ms int not null,
    finished_at timestamptz not null,
    -- The DKIM-Signature fields of this attempt and the targets of its tracked links. Null where the message is not
    -- kept (campaigns) or was stored as a whole (captured).
    signatures text,
    links_base text,
    primary key (project_id, send_id, attempt),
    check (outcome in ('ACCEPTED', 'DEFERRED', 'REJECTED', 'AMBIGUOUS', 'FAILED'))
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
    project_id uuid not null,
    id uuid not null,
    address text not null,
    reason text not null,
    source text not null,
    detail text,
    send_id uuid,
    created_at timestamptz not null,
    -- Earlier reasons of the suppression, oldest first, and since when the present one holds.
    history jsonb default '[]' not null,
    updated_at timestamptz,
    primary key (project_id, id),
    unique (project_id, address),
    check (reason in ('BOUNCE', 'COMPLAINT', 'UNSUBSCRIBE', 'MANUAL')),
    foreign key (project_id) references projects(id)
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
    sealed bytea,
    primary key (project_id, id)
);
-- Delivering a message to the inbox view twice stores it once.
create unique index captured_messages_send on captured_messages (project_id, send_id);

-- Sends per status, and how many were opened and clicked (by people; `…_touched` includes machines). Maintained by
-- the triggers below, so that a total never counts rows. Several rows per measure (slot), so that concurrent
-- writers do not wait for each other.
create table send_counters (
    project_id uuid not null,
    campaign_id uuid not null,
    variant_id uuid not null,
    measure text not null,
    slot smallint not null,
    count bigint not null,
    primary key (project_id, campaign_id, variant_id, measure, slot)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.01);

create function count_new_sends() returns trigger
    language plpgsql
    as $$
begin
    insert into send_counters as counter (project_id, campaign_id, variant_id, measure, slot, count)
    select project_id, coalesce(campaign_id, '00000000-0000-0000-0000-000000000000'),
           coalesce(variant_id, '00000000-0000-0000-0000-000000000000'), status, pg_backend_pid() % 16, count(*)
    from new_rows group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4
    on conflict (project_id, campaign_id, variant_id, measure, slot)
    do update set count = counter.count + excluded.count;
    return null;
end $$;

create function count_changed_sends() returns trigger
    language plpgsql
    as $$
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

create function count_gone_sends() returns trigger
    language plpgsql
    as $$
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

-- Until when the capacity of a relay with a rate limit is allocated. Each process reserves a quarter of a second
-- at a time. The operator's own relays are stored under the nil project.
create table mail_rates (
    project_id uuid not null,
    name text not null,
    next_at timestamptz not null,
    primary key (project_id, name)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.01);

-- ==== Templates ====

create table templates (
    project_id uuid not null,
    id uuid not null,
    name text not null,
    subject text,
    builder_json jsonb,
    html text,
    -- Whether `html` was rendered from the builder document, instead of written by a user.
    is_rendered boolean default false not null,
    text text,
    variables text[] default '{}' not null,
    version int default 1 not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- `minijinja` fills in placeholders; `none` sends subject, html and text as written. For a single send and for
    -- the content of a campaign, a value other than the default is in their `body`.
    engine text default 'minijinja' not null,
    primary key (project_id, id),
    constraint templates_engine_check check (engine in ('minijinja', 'none')),
    check ((length(name) >= 1) and (length(name) <= 200)),
    foreign key (project_id) references projects(id)
);

create table template_versions (
    project_id uuid not null,
    template_id uuid not null,
    version int not null,
    name text not null,
    subject text,
    builder_json jsonb,
    html text,
    text text,
    created_by text,
    created_at timestamptz not null,
    engine text default 'minijinja' not null,
    primary key (project_id, template_id, version),
    constraint template_versions_engine_check check (engine in ('minijinja', 'none')),
    foreign key (project_id, template_id) references templates(project_id, id) on delete cascade
);

-- ==== Sending domains, blocklists, senders ====

create table domains (
    project_id uuid not null,
    id uuid not null,
    domain text not null,
    status text not null,
    -- The public part of the keys; `domain_keys` holds the private part.
    keys jsonb not null,
    checks jsonb default '[]' not null,
    spf_verified boolean default false not null,
    dkim_verified boolean default false not null,
    ed25519_verified boolean default false not null,
    return_path_verified boolean default false not null,
    tracking_verified boolean default false not null,
    dmarc_verified boolean default false not null,
    verified_at timestamptz,
    -- When polling began: at creation, or with a later request to verify.
    watched_since timestamptz not null,
    -- Since when the DKIM record of a once verified domain is missing.
    failing_since timestamptz,
    last_checked_at timestamptz,
    due_at timestamptz,
    attempt int default 0 not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, domain),
    check ((verified_at is not null) or (status in ('PENDING', 'FAILED'))),
    check (((length(domain) >= 3) and (length(domain) <= 253)) and (domain = lower(domain))),
    check (status in ('PENDING', 'VERIFIED', 'DEGRADED', 'FAILED')),
    foreign key (project_id) references projects(id) on delete cascade
);
create index domains_due on domains (project_id, due_at) where (due_at is not null);

create table domain_keys (
    project_id uuid not null,
    domain_id uuid not null,
    selector text not null,
    private_key bytea not null,
    created_at timestamptz not null,
    primary key (project_id, domain_id, selector),
    foreign key (project_id, domain_id) references domains(project_id, id) on delete cascade
);

-- One row per domain: when its blocklist status is checked next.
create table blocklist_watches (
    project_id uuid not null,
    id uuid not null,
    due_at timestamptz,
    attempt int default 0 not null,
    primary key (project_id, id),
    foreign key (project_id, id) references domains(project_id, id) on delete cascade
);
create index blocklist_watches_due on blocklist_watches (project_id, due_at) where (due_at is not null);

create table blocklist_entries (
    project_id uuid not null,
    domain_id uuid not null,
    id uuid not null,
    list_name text not null,
    subject_value text not null,
    -- A check that failed changes the status and keeps the last known `listed`.
    listed boolean default false not null,
    status text default 'UNKNOWN' not null,
    codes text[] default '{}' not null,
    reason text default '' not null,
    first_listed_at timestamptz,
    last_checked_at timestamptz,
    primary key (project_id, id),
    constraint blocklist_entries_project_id_domain_id_list_name_subject_va_key unique (project_id, domain_id,
                                                                                       list_name, subject_value),
    check (listed = (first_listed_at is not null)),
    check (status in ('LISTED', 'CLEAR', 'UNKNOWN')),
    foreign key (project_id, domain_id) references domains(project_id, id) on delete cascade
);

-- Single addresses that a project may send from: each verified by a mail to it, without a verified domain.
create table senders (
    project_id uuid not null,
    id uuid not null,
    email text not null,
    status text not null,
    -- The DMARC policy of the address's domain at the last lookup.
    dmarc_policy text,
    -- A keyed hash of the token in the last mail; the token itself is not stored.
    token_hash bytea not null,
    token_expires_at timestamptz not null,
    verified_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    check ((verified_at is not null) = (status = 'VERIFIED')),
    check (dmarc_policy in ('none', 'quarantine', 'reject')),
    check ((length(email) >= 3) and (length(email) <= 320)),
    check (status in ('PENDING', 'VERIFIED')),
    foreign key (project_id) references projects(id) on delete cascade
);
-- Addresses are unique regardless of case.
create unique index senders_by_address on senders (project_id, lower(email));

-- ==== Contacts, audiences, imports ====

-- No foreign key to projects: the check per row takes a fifth of the time of an import.
-- Deleted contacts by a digest of their address: an erasure finds the mail that was sent to them.
create table former_contacts (
    project_id uuid not null,
    id uuid not null,
    digest bytea not null,
    primary key (project_id, id),
    foreign key (project_id) references projects(id)
);
create index former_contacts_digest on former_contacts (project_id, digest);

create table contacts (
    project_id uuid not null,
    id uuid not null,
    email text not null,
    -- The normalized address for lookups: lower case, domain in one spelling (IDNA).
    email_key text not null,
    attributes jsonb default '{}' not null,
    unsubscribed boolean default false not null,
    unsubscribed_at timestamptz,
    last_opened_at timestamptz,
    last_clicked_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    check (jsonb_typeof(attributes) = 'object')
);
create unique index contacts_email on contacts (project_id, email_key);
create index contacts_unsubscribed on contacts (project_id, id) where unsubscribed;

create table audiences (
    project_id uuid not null,
    id uuid not null,
    name text not null,
    type text not null,
    rules jsonb,
    -- Changes with the rules, so that compiled rules can be cached between requests.
    rules_id uuid,
    -- Audiences that other rules refer to are evaluated first: one more than the highest level among them.
    level int default 0 not null,
    depends_on uuid[] default '{}'::uuid[] not null,
    watches_engagement boolean default false not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- When rules that depend on the time are evaluated next.
    due_at timestamptz,
    attempt int default 0 not null,
    primary key (project_id, id),
    check ((type = 'DYNAMIC') = (rules is not null)),
    check ((length(name) >= 1) and (length(name) <= 200)),
    check (type in ('STATIC', 'DYNAMIC')),
    foreign key (project_id) references projects(id)
);
create index audiences_due on audiences (project_id, due_at) where (due_at is not null);
create index audiences_dynamic on audiences (project_id, level, id) where (type = 'DYNAMIC');

-- No foreign keys: members come and go by the million in one statement, and a check per row would take longer
-- than the change itself. Deleting a contact or an audience deletes its rows here in the same transaction.
create table audience_members (
    project_id uuid not null,
    audience_id uuid not null,
    contact_id uuid not null,
    joined_at timestamptz not null,
    primary key (project_id, audience_id, contact_id)
);
create index audience_members_contact on audience_members (project_id, contact_id);

create table contact_imports (
    project_id uuid not null,
    id uuid not null,
    status text not null,
    mode text not null,
    bytes bigint default 0 not null,
    -- Where the next batch begins; moved in the transaction that imports a batch.
    "position" bigint default 0 not null,
    line bigint default 1 not null,
    rows bigint default 0 not null,
    created bigint default 0 not null,
    updated bigint default 0 not null,
    skipped bigint default 0 not null,
    failed bigint default 0 not null,
    errors jsonb default '[]' not null,
    actor_type text not null,
    actor_id uuid,
    actor_label text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    finished_at timestamptz,
    due_at timestamptz,
    attempt int default 0 not null,
    -- How the file is read: detected during the upload, shown to the user, used by the worker. Rows without
    -- `charset` were uploaded by an earlier version; the worker reads their header itself.
    charset text,
    charset_from text,
    delimiter text,
    columns jsonb default '[]' not null,
    primary key (project_id, id),
    check (charset_from in ('BOM', 'DECLARED', 'DETECTED')),
    check (mode in ('upsert', 'skip')),
    check (status in ('UPLOADING', 'PENDING', 'RUNNING', 'COMPLETED', 'FAILED')),
    foreign key (project_id) references projects(id)
);
create index contact_imports_due on contact_imports (project_id, due_at) where (due_at is not null);

-- The file of an import in pieces, as received; a piece is deleted when it has been read.
create table contact_import_pieces (
    project_id uuid not null,
    import_id uuid not null,
    starts_at bigint not null,
    data bytea not null,
    primary key (project_id, import_id, starts_at),
    foreign key (project_id, import_id) references contact_imports(project_id, id) on delete cascade
);

-- Parses an ISO 8601 date, or date and time (UTC without an offset); null if the attribute is none.
-- Never raises; postern/messaging/audiences/rules.py has the same pattern.
create function attribute_moment(value jsonb) returns timestamptz
    language plpgsql immutable parallel safe
    as $_$
declare
    written text := value #>> '{}';
    year int;
begin
    if jsonb_typeof(value) is distinct from 'string' or length(written) > 40 or written !~
        ('^(?!0000)\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|[12]\d))'
         '([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?(Z|[+-](0\d|1[0-3]):[0-5]\d)?)?$')
    then
        return null;
    end if;
    year := substr(written, 1, 4)::int;
    if substr(written, 6, 5) = '02-29' and not (year % 4 = 0 and (year % 100 <> 0 or year % 400 = 0))
        or substr(written, 6, 5) = '02-30'
    then
        return null;
    end if;
    if length(written) = 10 then
        return (written || ' 00:00Z')::timestamptz;
    elsif written ~ '(Z|[+-]\d\d:\d\d)$' then
        return written::timestamptz;
    end if;
    return (written || 'Z')::timestamptz;
end
$_$;

-- The `number`th id after `first` (a UUIDv7): rows that one statement inserts get consecutive ids
-- (RFC 9562 §6.2 method 1, a counter in the last 32 bits).
create function id_after(first uuid, number bigint) returns uuid
    language sql immutable parallel safe
    as $$
    select encode(substring(uuid_send(first) from 1 for 12) || substring(int8send(number) from 5 for 4), 'hex')::uuid
$$;

-- Digests of addresses whose contact had unsubscribed when it was deleted or changed its address: a new contact
-- with such an address is unsubscribed until it is subscribed again explicitly.
create table unsubscribed_addresses (
    project_id uuid not null,
    digest bytea not null,
    created_at timestamptz not null,
    primary key (project_id, digest)
);

-- The type of each contact attribute: how a CSV cell is read, and how an export writes it.
create table contact_attributes (
    project_id uuid not null,
    id uuid not null,
    name text not null,
    type text not null,
    inferred boolean not null,
    description text default '' not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, name),
    check (length(description) <= 500),
    check ((length(name) >= 1) and (length(name) <= 100)),
    check (type in ('string', 'number', 'boolean', 'date', 'list')),
    foreign key (project_id) references projects(id)
);

-- ==== Tracking ====

create table tracking_hits (
    project_id uuid not null,
    id uuid not null,
    send_id uuid not null,
    kind text not null,
    url text,
    verdict text not null,
    reason text,
    ip_address text not null,
    user_agent text not null,
    occurred_at timestamptz not null,
    primary key (project_id, id),
    check (kind in ('OPEN', 'CLICK', 'UNSUBSCRIBE')),
    check (verdict in ('human', 'machine', 'proxy'))
);
create index tracking_hits_send on tracking_hits (project_id, send_id, id);

-- ==== Webhooks ====

create table webhooks (
    project_id uuid not null,
    id uuid not null,
    url text not null,
    events text[] not null,
    description text default '' not null,
    active boolean default true not null,
    sealed_secret bytea not null,
    previous_sealed_secret bytea,
    previous_secret_expires_at timestamptz,
    -- Failed attempts since the last successful one, and the time of the first.
    failures int default 0 not null,
    failing_since timestamptz,
    disabled_at timestamptz,
    disabled_reason text,
    -- Due once a day: old deliveries are deleted.
    due_at timestamptz,
    attempt int default 0 not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    foreign key (project_id) references projects(id)
);
create index webhooks_due on webhooks (project_id, due_at) where (due_at is not null);

-- The payload is read from the event's row, so an erasure there covers deliveries too.
create table webhook_deliveries (
    project_id uuid not null,
    id uuid not null,
    webhook_id uuid not null,
    event_id uuid not null,
    event text not null,
    status text default 'PENDING' not null,
    due_at timestamptz,
    attempt int default 0 not null,
    -- Requests in the present retry schedule (a replay starts a new one), and in total.
    tried int default 0 not null,
    attempts int default 0 not null,
    response_status int,
    response_body text,
    response_ms double precision,
    error_message text,
    created_at timestamptz not null,
    attempted_at timestamptz,
    delivered_at timestamptz,
    primary key (project_id, id),
    check ((status = 'PENDING') = (due_at is not null)),
    check (status in ('PENDING', 'SUCCEEDED', 'FAILED')),
    foreign key (project_id, webhook_id) references webhooks(project_id, id) on delete cascade
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
create index webhook_deliveries_due on webhook_deliveries (project_id, webhook_id, due_at) where (due_at is not null);
create index webhook_deliveries_list on webhook_deliveries (project_id, webhook_id, id);
-- The responses of endpoints are deleted when the event they received is erased.
create index webhook_deliveries_said on webhook_deliveries (project_id, event_id) where (response_body <> '');

-- ==== Customers, their credentials, sessions and providers ====

create table customers (
    project_id uuid not null,
    id uuid not null,
    external_id text,
    email text,
    email_key text,
    -- A keyed hash of the address, under which failed attempts are counted; unknown addresses have one as well.
    identifier bytea,
    email_verified_at timestamptz,
    phone text,
    phone_verified_at timestamptz,
    name text,
    metadata jsonb default '{}' not null,
    roles text[] default '{}' not null,
    providers text[] default '{}' not null,
    password_hash text,
    password_changed_at timestamptz,
    last_sign_in_at timestamptz,
    banned_at timestamptz,
    ban_reason text,
    ban_expires_at timestamptz,
    mfa_enabled_at timestamptz,
    contact_id uuid,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    search text generated always as (lower(((((((COALESCE(email, '') || ' ') || COALESCE(name,
        '')) || ' ') || COALESCE(phone, '')) || ' ') || COALESCE(external_id, '')))) stored not null,
    primary key (project_id, id),
    check ((length(external_id) >= 1) and (length(external_id) <= 255)),
    foreign key (project_id) references projects(id)
) with (fillfactor=90);
create unique index customers_email on customers (project_id, email_key text_pattern_ops);
create unique index customers_external on customers (project_id, external_id) where (external_id is not null);
create index customers_identifier on customers (project_id, identifier);
create index customers_banned on customers (project_id, id) where (banned_at is not null);
create index customers_verified on customers (project_id, id) where (email_verified_at is not null);
create index customers_unverified on customers (project_id, id) where (email_verified_at is null);
create index customers_mfa on customers (project_id, id) where (mfa_enabled_at is not null);
create index customers_providers on customers using gin (project_id, providers);
create index customers_search on customers using gin (project_id, search gin_trgm_ops);
-- Finds the customers with a role before it is deleted.
create index customers_roles on customers using gin (project_id, roles) where (roles <> '{}');
-- The algorithms and costs among a project's imported password hashes: refusing a password takes as long as
-- the slowest of them.
create index customers_imported_hashes on customers (project_id, "substring"(password_hash,
    '^\$[^$]+\$(?:v=\d+\$)?[^$]+')) where (password_hash !~~ '$argon2id$v=19$m=19456,t=2,p=1$%');

-- Customers per combination of filters, maintained by a trigger. Several rows per combination (slot), so that
-- concurrent sign-ups do not wait for one row.
create table customer_facets (
    project_id uuid not null,
    verified boolean not null,
    mfa boolean not null,
    providers text[] not null,
    slot int not null,
    number bigint not null,
    primary key (project_id, verified, mfa, providers, slot)
);

create function count_customers() returns trigger
    language plpgsql
    as $$
begin
    if tg_op = 'INSERT' then
        insert into customer_facets as facet (project_id, verified, mfa, providers, slot, number)
        select project_id, email_verified_at is not null, mfa_enabled_at is not null, providers,
               pg_backend_pid() % 8, count(*)
        from new_rows group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (project_id, verified, mfa, providers, slot) do update set number = facet.number + excluded.number;
    elsif tg_op = 'DELETE' then
        insert into customer_facets as facet (project_id, verified, mfa, providers, slot, number)
        select project_id, email_verified_at is not null, mfa_enabled_at is not null, providers,
               pg_backend_pid() % 8, -count(*)
        from old_rows group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (project_id, verified, mfa, providers, slot) do update set number = facet.number + excluded.number;
    else
        insert into customer_facets as facet (project_id, verified, mfa, providers, slot, number)
        select project_id, verified, mfa, providers, pg_backend_pid() % 8, sum(delta)
        from (
            select project_id, email_verified_at is not null, mfa_enabled_at is not null, providers, 1 from new_rows
            union all
            select project_id, email_verified_at is not null, mfa_enabled_at is not null, providers, -1 from old_rows
        ) as change (project_id, verified, mfa, providers, delta)
        group by 1, 2, 3, 4 having sum(delta) <> 0 order by 1, 2, 3, 4
        on conflict (project_id, verified, mfa, providers, slot) do update set number = facet.number + excluded.number;
    end if;
    return null;
end
$$;

create trigger customers_come after insert on customers
    referencing new table as new_rows for each statement execute function count_customers();

create trigger customers_change after update on customers
    referencing old table as old_rows new table as new_rows for each statement execute function count_customers();

create trigger customers_go after delete on customers
    referencing old table as old_rows for each statement execute function count_customers();

-- Ids of merged customers: their audit entries and events belong to the customer that remains.
create table customer_merges (
    project_id uuid not null,
    merged_id uuid not null,
    customer_id uuid not null,
    merged_at timestamptz not null,
    primary key (project_id, merged_id),
    foreign key (project_id, customer_id) references customers(project_id, id) on delete cascade
);
create index customer_merges_customer on customer_merges (project_id, customer_id);

-- Former addresses of a customer: an erasure covers all of them.
create table customer_former_addresses (
    project_id uuid not null,
    customer_id uuid not null,
    email text not null,
    email_key text not null,
    primary key (project_id, customer_id, email_key),
    foreign key (project_id, customer_id) references customers(project_id, id) on delete cascade
);

create table customer_identities (
    project_id uuid not null,
    id uuid not null,
    customer_id uuid not null,
    provider text not null,
    issuer text not null,
    subject text not null,
    created_at timestamptz not null,
    -- The address at the provider. If it changes there and was the customer's primary address, that changes too.
    email_key text,
    primary key (project_id, id),
    unique (project_id, provider, issuer, subject),
    foreign key (project_id, customer_id) references customers(project_id, id) on delete cascade
);
create index customer_identities_customer on customer_identities (project_id, customer_id);

create table sessions (
    project_id uuid constraint customer_sessions_project_id_not_null not null,
    id uuid constraint customer_sessions_id_not_null not null,
    subject_id uuid constraint customer_sessions_customer_id_not_null not null,
    -- Refresh tokens are numbered; only the latest is valid.
    generation int default 1 constraint customer_sessions_generation_not_null not null,
    rotated_at timestamptz,
    methods text[] constraint customer_sessions_methods_not_null not null,
    authenticated_at timestamptz constraint customer_sessions_authenticated_at_not_null not null,
    user_agent text constraint customer_sessions_user_agent_not_null not null,
    ip_address text constraint customer_sessions_ip_address_not_null not null,
    created_at timestamptz constraint customer_sessions_created_at_not_null not null,
    last_used_at timestamptz constraint customer_sessions_last_used_at_not_null not null,
    expires_at timestamptz constraint customer_sessions_expires_at_not_null not null,
    idle_expires_at timestamptz constraint customer_sessions_idle_expires_at_not_null not null,
    revoked_at timestamptz,
    due_at timestamptz,
    attempt int default 0 constraint customer_sessions_attempt_not_null not null,
    -- The organization through whose SSO connection the session began; null otherwise.
    sso_organization_id uuid,
    access_hash bytea,
    access_expires_at timestamptz,
    customer_id uuid generated always as (
case
    when (project_id <> '00000000-0000-0000-0000-000000000000'::uuid) then subject_id
    else null::uuid
end) stored,
    developer_id uuid generated always as (
case
    when (project_id = '00000000-0000-0000-0000-000000000000'::uuid) then subject_id
    else null::uuid
end) stored,
    primary key (project_id, id),
    constraint sessions_customer_fkey foreign key (project_id, customer_id)
        references customers(project_id, id) on delete cascade,
    constraint sessions_developer_fkey foreign key (developer_id) references developers(id) on delete cascade
) with (fillfactor=80);
create index sessions_customer on sessions (project_id, customer_id) where (customer_id is not null);
create index sessions_developer on sessions (developer_id) where (developer_id is not null);
create unique index sessions_access on sessions (access_hash) where (access_hash is not null);
create index sessions_due on sessions (project_id, due_at) where (due_at is not null);
create index sessions_subject on sessions (project_id, subject_id, id);

create table customer_signing_keys (
    project_id uuid not null,
    id uuid not null,
    public_key bytea not null,
    private_key bytea not null,
    active_at timestamptz not null,
    retired_at timestamptz,
    created_at timestamptz not null,
    primary key (project_id, id),
    foreign key (project_id) references projects(id)
);

-- Failed attempts per identifier (of a known or unknown person) and network; the empty network counts all.
create table sign_in_attempts (
    project_id uuid constraint customer_failures_project_id_not_null not null,
    id uuid constraint customer_failures_id_not_null not null,
    identifier bytea constraint customer_failures_identifier_not_null not null,
    ip_address text constraint customer_failures_ip_address_not_null not null,
    failures int constraint customer_failures_failures_not_null not null,
    locks int default 0 constraint customer_failures_locks_not_null not null,
    locked_until timestamptz,
    since timestamptz constraint customer_failures_since_not_null not null,
    due_at timestamptz,
    attempt int default 0 constraint customer_failures_attempt_not_null not null,
    primary key (project_id, id),
    unique (project_id, identifier, ip_address)
);
create index sign_in_attempts_due on sign_in_attempts (project_id, due_at) where (due_at is not null);
create index sign_in_attempts_locked on sign_in_attempts (project_id, locked_until) where (locked_until is not null);

-- Challenges: a code, a link, a second factor, a passkey, or a response of an identity provider that is expected.
create table challenges (
    project_id uuid constraint customer_challenges_project_id_not_null not null,
    id uuid constraint customer_challenges_id_not_null not null,
    purpose text constraint customer_challenges_purpose_not_null not null,
    subject_id uuid,
    identifier bytea,
    secret_hash bytea constraint customer_challenges_secret_hash_not_null not null,
    tries int default 0 constraint customer_challenges_tries_not_null not null,
    data bytea constraint customer_challenges_data_not_null not null,
    expires_at timestamptz constraint customer_challenges_expires_at_not_null not null,
    created_at timestamptz constraint customer_challenges_created_at_not_null not null,
    due_at timestamptz,
    attempt int default 0 constraint customer_challenges_attempt_not_null not null,
    primary key (project_id, id)
);
create index challenges_due on challenges (project_id, due_at) where (due_at is not null);
create index challenges_identifier on challenges (project_id, identifier, purpose);
create index challenges_subject on challenges (project_id, subject_id, purpose);

create table second_factors (
    project_id uuid constraint customer_totp_project_id_not_null not null,
    subject_id uuid constraint customer_totp_customer_id_not_null not null,
    secret bytea constraint customer_totp_secret_not_null not null,
    confirmed_at timestamptz,
    used_step bigint default 0 constraint customer_totp_used_step_not_null not null,
    created_at timestamptz constraint customer_totp_created_at_not_null not null,
    customer_id uuid generated always as (
case
    when (project_id <> '00000000-0000-0000-0000-000000000000'::uuid) then subject_id
    else null::uuid
end) stored,
    developer_id uuid generated always as (
case
    when (project_id = '00000000-0000-0000-0000-000000000000'::uuid) then subject_id
    else null::uuid
end) stored,
    primary key (project_id, subject_id),
    foreign key (developer_id) references developers(id) on delete cascade,
    foreign key (project_id, customer_id) references customers(project_id, id) on delete cascade
);
create index second_factors_customer on second_factors (project_id, customer_id) where (customer_id is not null);
create index second_factors_developer on second_factors (developer_id) where (developer_id is not null);

create table recovery_codes (
    project_id uuid constraint customer_recovery_codes_project_id_not_null not null,
    subject_id uuid constraint customer_recovery_codes_customer_id_not_null not null,
    hash bytea constraint customer_recovery_codes_hash_not_null not null,
    customer_id uuid generated always as (
case
    when (project_id <> '00000000-0000-0000-0000-000000000000'::uuid) then subject_id
    else null::uuid
end) stored,
    developer_id uuid generated always as (
case
    when (project_id = '00000000-0000-0000-0000-000000000000'::uuid) then subject_id
    else null::uuid
end) stored,
    primary key (project_id, subject_id, hash),
    foreign key (developer_id) references developers(id) on delete cascade,
    foreign key (project_id, customer_id) references customers(project_id, id) on delete cascade
);
create index recovery_codes_customer on recovery_codes (project_id, customer_id) where (customer_id is not null);
create index recovery_codes_developer on recovery_codes (developer_id) where (developer_id is not null);

create table passkeys (
    project_id uuid constraint customer_passkeys_project_id_not_null not null,
    id uuid constraint customer_passkeys_id_not_null not null,
    subject_id uuid constraint customer_passkeys_customer_id_not_null not null,
    credential_id bytea constraint customer_passkeys_credential_id_not_null not null,
    public_key bytea constraint customer_passkeys_public_key_not_null not null,
    sign_count bigint constraint customer_passkeys_sign_count_not_null not null,
    backed_up boolean constraint customer_passkeys_backed_up_not_null not null,
    name text constraint customer_passkeys_name_not_null not null,
    created_at timestamptz constraint customer_passkeys_created_at_not_null not null,
    last_used_at timestamptz,
    user_handle bytea,
    customer_id uuid generated always as (
case
    when (project_id <> '00000000-0000-0000-0000-000000000000'::uuid) then subject_id
    else null::uuid
end) stored,
    developer_id uuid generated always as (
case
    when (project_id = '00000000-0000-0000-0000-000000000000'::uuid) then subject_id
    else null::uuid
end) stored,
    primary key (project_id, id),
    unique (project_id, credential_id),
    foreign key (developer_id) references developers(id) on delete cascade,
    foreign key (project_id, customer_id) references customers(project_id, id) on delete cascade
);
create index passkeys_customer on passkeys (project_id, customer_id) where (customer_id is not null);
create index passkeys_developer on passkeys (developer_id) where (developer_id is not null);
create index passkeys_subject on passkeys (project_id, subject_id);

create table customer_providers (
    project_id uuid not null,
    key text not null,
    kind text not null,
    name text not null,
    issuer text not null,
    client_id text not null,
    client_secret bytea,
    options jsonb default '{}' not null,
    enabled boolean not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, key),
    foreign key (project_id) references projects(id)
);

-- Queued mails to customers; the content is encrypted because it holds codes and addresses.
create table customer_mails (
    project_id uuid not null,
    id uuid not null,
    customer_id uuid,
    sealed bytea not null,
    created_at timestamptz not null,
    due_at timestamptz,
    attempt int default 0 not null,
    primary key (project_id, id),
    foreign key (project_id, customer_id) references customers(project_id, id) on delete cascade
);
create index customer_mails_customer on customer_mails (project_id, customer_id);
create index customer_mails_due on customer_mails (project_id, due_at) where (due_at is not null);

-- Further addresses that sign a customer in. An address is the primary address of one customer
-- (customers.email_key) or is in this table, never both: the transaction that inserts here deletes the merged row.
create table customer_other_addresses (
    project_id uuid not null,
    email_key text not null,
    customer_id uuid not null,
    email text not null,
    -- The same keyed hash as customers.identifier: failed attempts at this address are counted under it.
    identifier bytea not null,
    verified_at timestamptz,
    created_at timestamptz not null,
    primary key (project_id, email_key),
    foreign key (project_id, customer_id) references customers(project_id, id) on delete cascade
);
create index customer_other_addresses_customer on customer_other_addresses (project_id, customer_id);

create table customer_identity_requests (
    project_id uuid not null,
    id uuid not null,
    customer_id uuid not null,
    provider text not null,
    issuer text not null,
    subject text not null,
    connection_id uuid,
    email text,
    name text,
    status text not null,
    created_at timestamptz not null,
    decided_at timestamptz,
    primary key (project_id, id),
    constraint customer_identity_requests_project_id_customer_id_provider__key unique (project_id, customer_id,
                                                                                       provider, issuer, subject),
    check (status in ('PENDING', 'APPROVED', 'REJECTED')),
    foreign key (project_id, customer_id) references customers(project_id, id) on delete cascade
);
create index customer_identity_requests_newest on customer_identity_requests (project_id, status, id);

-- ==== Permissions, roles, organizations ====

create table access_permissions (
    project_id uuid not null,
    id uuid not null,
    key text not null,
    description text,
    created_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, key),
    check (length(key) <= 128),
    foreign key (project_id) references projects(id)
);

create table access_roles (
    project_id uuid not null,
    id uuid not null,
    key text not null,
    name text not null,
    description text,
    scope text not null,
    -- A role of scope PROJECT applies in every organization.
    applies_to_all_organizations boolean default false not null,
    permissions text[] default '{}' not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, key),
    check (upper(key) not in ('OWNER', 'ADMIN', 'MEMBER')),
    check (scope in ('PROJECT', 'ORGANIZATION')),
    foreign key (project_id) references projects(id)
);

create table organizations (
    project_id uuid not null,
    id uuid not null,
    name text not null,
    slug text not null,
    external_id text,
    -- DELETED organizations answer 404; the row is kept until its dependent rows are deleted, in chunks.
    status text default 'ACTIVE' not null,
    metadata jsonb default '{}' not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    due_at timestamptz,
    attempt int default 0 not null,
    require_sso boolean default false not null,
    require_mfa boolean default false not null,
    primary key (project_id, id),
    unique (project_id, slug),
    check ((length(external_id) >= 1) and (length(external_id) <= 255)),
    check ((length(name) >= 1) and (length(name) <= 200)),
    check ((length(slug) >= 1) and (length(slug) <= 100)),
    check (status in ('ACTIVE', 'SUSPENDED', 'DELETED')),
    foreign key (project_id) references projects(id)
);
create index organizations_due on organizations (project_id, due_at) where (due_at is not null);
create unique index organizations_external on organizations (project_id, external_id) where (external_id is not null);

create table organization_members (
    project_id uuid not null,
    id uuid not null,
    organization_id uuid not null,
    customer_id uuid not null,
    roles text[] not null,
    source text not null,
    joined_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, organization_id, customer_id),
    check (roles <> '{}'),
    check (source in ('API', 'INVITATION', 'DOMAIN', 'SSO')),
    foreign key (project_id, customer_id) references customers(project_id, id) on delete cascade,
    foreign key (project_id, organization_id) references organizations(project_id, id) on delete cascade
);
create index organization_members_customer on organization_members (project_id, customer_id);
create index organization_members_owners on organization_members (project_id, organization_id)
    where ('OWNER' = any (roles));
create index organization_members_roles on organization_members using gin (project_id, roles)
    where (roles <> '{MEMBER}');

-- A pending invitation is due when its mail has to be sent, and again when it expires.
create table invitations (
    project_id uuid not null,
    id uuid not null,
    organization_id uuid not null,
    email text not null,
    email_key text not null,
    role text not null,
    status text not null,
    accept_url text,
    invited_by uuid,
    accepted_by uuid,
    -- Tokens are numbered; only the latest is valid. Its mail was sent when `mailed` equals its number.
    generation int default 1 not null,
    mailed int default 0 not null,
    mailed_at timestamptz,
    mail_problem text,
    life interval not null,
    sent_at timestamptz not null,
    expires_at timestamptz not null,
    accepted_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz not null,
    due_at timestamptz,
    attempt int default 0 not null,
    primary key (project_id, id),
    check (status in ('PENDING', 'ACCEPTED', 'REVOKED', 'EXPIRED')),
    foreign key (project_id, accepted_by) references customers(project_id, id) on delete set null (accepted_by),
    foreign key (project_id, invited_by) references customers(project_id, id) on delete set null (invited_by),
    foreign key (project_id, organization_id) references organizations(project_id, id) on delete cascade
);
create unique index invitations_pending on invitations (project_id, organization_id, email_key)
    where (status = 'PENDING');
create index invitations_newest on invitations (project_id, organization_id, id);
create index invitations_invited_by on invitations (project_id, invited_by) where (invited_by is not null);
create index invitations_accepted_by on invitations (project_id, accepted_by) where (accepted_by is not null);
create index invitations_role on invitations (project_id, role) where (status = 'PENDING');
create index invitations_due on invitations (project_id, due_at) where (due_at is not null);
create index invitations_address on invitations (project_id, email_key) where (status = 'PENDING');

create table organization_domains (
    project_id uuid not null,
    id uuid not null,
    organization_id uuid not null,
    domain text not null,
    status text not null,
    token text not null,
    auto_join_enabled boolean default false not null,
    verified_at timestamptz,
    last_checked_at timestamptz,
    -- Why the last check failed.
    reason text,
    watched_since timestamptz not null,
    -- Since when, and in how many checks, the record of a verified domain has been missing.
    missing_since timestamptz,
    misses int default 0 not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    due_at timestamptz,
    attempt int default 0 not null,
    primary key (project_id, id),
    unique (project_id, organization_id, domain),
    check ((not auto_join_enabled) or (status = 'VERIFIED')),
    check (status in ('PENDING', 'VERIFIED', 'FAILED', 'LAPSED')),
    foreign key (project_id, organization_id) references organizations(project_id, id) on delete cascade
);
-- A domain belongs to the organization that verified it first, as long as it stays verified.
create unique index organization_domains_verified on organization_domains (project_id, domain)
    where (status = 'VERIFIED');
create index organization_domains_newest on organization_domains (project_id, organization_id, id);
create index organization_domains_due on organization_domains (project_id, due_at) where (due_at is not null);

-- Customers who left or were removed do not join again by domain or single sign-on until invited or added.
create table organization_removals (
    project_id uuid not null,
    organization_id uuid not null,
    customer_id uuid not null,
    removed_at timestamptz not null,
    primary key (project_id, organization_id, customer_id),
    foreign key (project_id, customer_id) references customers(project_id, id) on delete cascade,
    foreign key (project_id, organization_id) references organizations(project_id, id) on delete cascade
);
create index organization_removals_customer on organization_removals (project_id, customer_id);

-- ==== Campaigns ====

create table campaigns (
    project_id uuid not null,
    id uuid not null,
    name text not null,
    subject text,
    from_name text,
    from_email text,
    preview_text text,
    status text not null,
    scheduled_at timestamptz,
    sent_at timestamptz,
    template_id uuid,
    domain_id uuid,
    audience_id uuid,
    ab_test_enabled boolean default false not null,
    ab_test_sample_percent int,
    ab_test_metric text,
    ab_test_duration_minutes int,
    ab_test_started_at timestamptz,
    evidence jsonb,
    -- Progress of creating sends: `started_at` fixes the audience, `cursor` is the last contact that has a send,
    -- `filled` says that the present part (the sample, or all other contacts) is complete.
    started_at timestamptz,
    paused_from text,
    -- After a resume: held sends are being made due again, in chunks.
    releasing boolean default false not null,
    -- Started with a TEST key: its mail is captured in the inbox view.
    is_test boolean default false not null,
    content_id uuid,
    cursor uuid,
    filled boolean default false not null,
    expected bigint default 0 not null,
    seen bigint default 0 not null,
    skipped_unsubscribed bigint default 0 not null,
    skipped_suppressed bigint default 0 not null,
    reason text,
    due_at timestamptz,
    attempt int default 0 not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- Contacts skipped because of the frequency cap.
    skipped_frequency_cap bigint default 0 not null,
    -- Contacts in the sample; null until it is chosen.
    ab_test_sample_size int,
    -- Since when the campaign is paused, and for how long its A/B test has been paused in total.
    paused_at timestamptz,
    ab_test_paused interval default '00:00:00' not null,
    primary key (project_id, id),
    check ((ab_test_duration_minutes >= 15) and (ab_test_duration_minutes <= 10080)),
    check (ab_test_metric in ('OPEN_RATE', 'CLICK_RATE')),
    check ((ab_test_sample_percent >= 5) and (ab_test_sample_percent <= 100)),
    check ((length(name) >= 1) and (length(name) <= 200)),
    check (status in ('DRAFT', 'SCHEDULED', 'TESTING', 'SENDING', 'PAUSED', 'SENT', 'CANCELLED', 'FAILED')),
    constraint used_by_a_campaign
        check (((status <> 'SCHEDULED') or (((template_id is not null) or ab_test_enabled)
            and (domain_id is not null))) and ((status not in ('SCHEDULED', 'TESTING', 'SENDING',
                                                               'PAUSED')) or (audience_id is not null))),
    foreign key (project_id, audience_id) references audiences(project_id, id) on delete set null (audience_id),
    foreign key (project_id, domain_id) references domains(project_id, id) on delete set null (domain_id),
    foreign key (project_id) references projects(id),
    foreign key (project_id, template_id) references templates(project_id, id) on delete set null (template_id)
);
create index campaigns_due on campaigns (project_id, due_at) where (due_at is not null);
create index campaigns_template on campaigns (project_id, template_id);
create index campaigns_audience on campaigns (project_id, audience_id);
create index campaigns_domain on campaigns (project_id, domain_id);
create index campaigns_under_way on campaigns (project_id, audience_id)
    where (status in ('TESTING', 'SENDING', 'PAUSED'));

-- Contacts who left the audience after the start, before their send was created: the audience is fixed at the start.
create table campaign_leavers (
    project_id uuid not null,
    campaign_id uuid not null,
    contact_id uuid not null,
    primary key (project_id, campaign_id, contact_id)
);

create function keep_campaign_leavers() returns trigger
    language plpgsql
    as $$
begin
    insert into campaign_leavers (project_id, campaign_id, contact_id)
    select gone.project_id, campaign.id, gone.contact_id
    from old_rows gone join campaigns campaign
        on (campaign.project_id, campaign.audience_id) = (gone.project_id, gone.audience_id)
    where campaign.status in ('TESTING', 'SENDING', 'PAUSED') and gone.joined_at <= campaign.started_at
      and not (campaign.filled and coalesce(campaign.paused_from, campaign.status) = 'SENDING')
    on conflict do nothing;
    return null;
end $$;

create trigger audience_members_left after delete on audience_members
    referencing old table as old_rows for each statement execute function keep_campaign_leavers();

create table campaign_variants (
    project_id uuid not null,
    id uuid not null,
    campaign_id uuid not null,
    "position" int not null,
    name text not null,
    subject text,
    template_id uuid,
    weight int not null,
    is_winner boolean default false not null,
    content_id uuid,
    created_at timestamptz not null,
    primary key (project_id, id),
    check ((weight >= 1) and (weight <= 100)),
    foreign key (project_id, campaign_id) references campaigns(project_id, id) on delete cascade,
    foreign key (project_id, template_id) references templates(project_id, id) on delete set null (template_id)
);
create index campaign_variants_campaign on campaign_variants (project_id, campaign_id, "position");

-- A variant without a template would send the campaign's content: refused while the campaign is scheduled.
create function keep_template_of_variant() returns trigger
    language plpgsql
    as $$
begin
    if exists (select from campaigns c
               where (c.project_id, c.id) = (new.project_id, new.campaign_id) and c.status = 'SCHEDULED') then
        raise check_violation using constraint = 'used_by_a_campaign', message = 'A scheduled campaign uses it.';
    end if;
    return new;
end $$;

create trigger campaign_variants_template before update of template_id on campaign_variants
    for each row when (((old.template_id is not null) and (new.template_id is null)))
        execute function keep_template_of_variant();

-- A stable number from 0 to 9,999 per campaign and contact; `salt` separates uses.
create function campaign_bucket(salt text, campaign_id uuid, contact_id uuid) returns int
    language sql immutable parallel safe
    as $$
    select (('x' || substr(md5(salt || campaign_id::text || contact_id::text), 1, 7))::bit(28)::int % 10000)
$$;

-- UUIDv7 (RFC 9562 §5.7), for servers before PostgreSQL 18.
create function new_send_id() returns uuid
    language sql parallel safe
    as $$
    select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing
        substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
        52, 1), 53, 1), 'hex')::uuid
$$;

-- Which contact gets which variant in an A/B test: chosen once, when the test begins.
create table campaign_samples (
    project_id uuid not null,
    campaign_id uuid not null,
    contact_id uuid not null,
    variant_id uuid not null,
    primary key (project_id, campaign_id, contact_id)
);

-- ==== Automations ====

create table automations (
    project_id uuid not null,
    id uuid not null,
    name text not null,
    trigger jsonb not null,
    steps jsonb not null,
    active boolean default false not null,
    version int default 1 not null,
    -- The trigger, in columns of its own for the lookup by each event.
    starts_on text not null,
    starts_on_audience uuid,
    once boolean not null,
    -- Event types that a step of any version waits for.
    waits_for text[] not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- Most runs of this automation that one contact may start within an hour.
    max_runs_per_hour int default 1 not null,
    -- Whether the automation may be active although contacts can loop through it.
    allow_loops boolean default false not null,
    primary key (project_id, id),
    check ((max_runs_per_hour >= 1) and (max_runs_per_hour <= 1000)),
    check ((length(name) >= 1) and (length(name) <= 200)),
    foreign key (project_id) references projects(id)
);

-- A run keeps the version that it began with.
create table automation_versions (
    project_id uuid not null,
    automation_id uuid not null,
    version int not null,
    steps jsonb not null,
    created_at timestamptz not null,
    primary key (project_id, automation_id, version),
    foreign key (project_id, automation_id) references automations(project_id, id) on delete cascade
);

create table automation_runs (
    project_id uuid not null,
    id uuid not null,
    automation_id uuid not null,
    version int not null,
    contact_id uuid not null,
    once boolean not null,
    trigger_event_id uuid not null,
    status text default 'RUNNING' not null,
    current_step int default 0 not null,
    -- When the current step began to wait; null before that.
    entered_at timestamptz,
    waiting_for text,
    -- The event that ended the wait; null until then.
    event_id uuid,
    -- Whether the current step makes a network request: a separate kind of work claims such runs.
    calls boolean default false not null,
    tried int default 0 not null,
    due_at timestamptz,
    attempt int default 0 not null,
    error text,
    started_at timestamptz not null,
    finished_at timestamptz,
    primary key (project_id, id),
    check ((status in ('RUNNING', 'WAITING')) = (due_at is not null)),
    check (status in ('RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED')),
    foreign key (project_id, automation_id) references automations(project_id, id) on delete cascade
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02);
create index automation_runs_due on automation_runs (project_id, due_at) where ((due_at is not null) and (not calls));
create index automation_runs_calls on automation_runs (project_id, due_at) where ((due_at is not null) and calls);
create index automation_runs_waiting on automation_runs (project_id, contact_id, waiting_for)
    where (waiting_for is not null);
create index automation_runs_list on automation_runs (project_id, automation_id, id);
-- At most one run ever (`once`), and at most one current run per contact and automation.
create unique index automation_runs_once on automation_runs (project_id, automation_id, contact_id) where once;
create unique index automation_runs_current on automation_runs (project_id, automation_id, contact_id)
    where (status in ('RUNNING', 'WAITING'));
-- Also counts the recent runs of one contact in one automation.
create index automation_runs_recent on automation_runs (project_id, contact_id, automation_id, started_at);

-- A run visits no step twice, so the key also ensures that each step has its effect once.
create table automation_run_steps (
    project_id uuid not null,
    run_id uuid not null,
    step int not null,
    type text not null,
    outcome text not null,
    detail jsonb default '{}' not null,
    started_at timestamptz not null,
    finished_at timestamptz not null,
    primary key (project_id, run_id, step),
    foreign key (project_id, run_id) references automation_runs(project_id, id) on delete cascade
);

-- Totals without counting rows; several rows per measure (slot), so that writers do not wait for each other.
create table automation_counters (
    project_id uuid not null,
    automation_id uuid not null,
    measure text not null,
    slot smallint not null,
    count bigint not null,
    primary key (project_id, automation_id, measure, slot),
    foreign key (project_id, automation_id) references automations(project_id, id) on delete cascade
);

-- Idempotency keys of requests that sent custom events.
create table event_keys (
    project_id uuid not null,
    key text not null,
    body_hash bytea not null,
    event_id uuid not null,
    created_at timestamptz not null,
    primary key (project_id, key),
    foreign key (project_id) references projects(id)
);
create index event_keys_age on event_keys (created_at);

-- Ends the runs of a deleted contact that are still open at the end of the transaction: an erasure deletes contacts
-- without recording an event that would end them.
create function end_runs_of_deleted_contact() returns trigger
    language plpgsql
    as $$
begin
    with ended as (
        update automation_runs set status = 'CANCELLED', due_at = null, waiting_for = null, calls = false,
            entered_at = null, attempt = attempt + 1, error = 'The contact was deleted.', finished_at = now()
        where project_id = old.project_id and contact_id = old.id and status in ('RUNNING', 'WAITING')
        returning project_id, automation_id
    )
    insert into automation_counters as counter (project_id, automation_id, measure, slot, count)
    select project_id, automation_id, 'CANCELLED', 0, count(*) from ended group by 1, 2
    on conflict (project_id, automation_id, measure, slot) do update set count = counter.count + excluded.count;
    return null;
end $$;

-- ==== Single sign-on ====

create table sso_connections (
    project_id uuid not null,
    id uuid not null,
    organization_id uuid not null,
    name text not null,
    domain text not null,
    status text not null,
    idp_entity_id text,
    idp_sso_url text,
    idp_sso_binding text default 'REDIRECT' not null,
    idp_slo_url text,
    idp_slo_binding text default 'REDIRECT' not null,
    -- Where responses to logout requests are sent, if not to the same URL as requests.
    idp_slo_response_url text,
    idp_certificate text[] default '{}' not null,
    idp_metadata_url text,
    options jsonb default '{}' not null,
    -- When a test sign-in last succeeded with exactly these settings.
    tested_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- When the expiry of certificates is checked next.
    due_at timestamptz,
    attempt int default 0 not null,
    primary key (project_id, id),
    check (length(idp_entity_id) <= 1024),
    check (idp_slo_binding in ('REDIRECT', 'POST')),
    check (idp_sso_binding in ('REDIRECT', 'POST')),
    check ((length(name) >= 1) and (length(name) <= 200)),
    check (status in ('DRAFT', 'ACTIVE', 'INACTIVE')),
    foreign key (project_id, organization_id) references organizations(project_id, id) on delete cascade
);
create index sso_connections_newest on sso_connections (project_id, organization_id, id);
-- Public URLs carry the id of the connection without its project.
create index sso_connections_id on sso_connections (id);
create unique index sso_connections_domain on sso_connections (project_id, domain) where (status = 'ACTIVE');
create index sso_connections_due on sso_connections (project_id, due_at) where (due_at is not null);

-- Metadata with a URL, fetched regularly so that certificate rollover needs no manual step.
create table sso_metadata (
    project_id uuid not null,
    -- The connection's own.
    id uuid not null,
    -- When it was last fetched successfully, and when the last fetch was tried.
    read_at timestamptz not null,
    looked_at timestamptz not null,
    -- Why fetching fails, since when, and whether that was reported.
    problem text,
    failing_since timestamptz,
    told boolean default false not null,
    due_at timestamptz,
    attempt int default 0 not null,
    primary key (project_id, id),
    foreign key (project_id, id) references sso_connections(project_id, id) on delete cascade
);
create index sso_metadata_due on sso_metadata (project_id, due_at) where (due_at is not null);

-- Keys of this service provider: the current signing key, the next one (its certificate is published already), and
-- the previous one, which only decrypts. Private keys are encrypted with the master key.
create table sso_keys (
    project_id uuid not null,
    id uuid not null,
    connection_id uuid not null,
    place text not null,
    certificate text not null,
    private_key bytea not null,
    not_after timestamptz not null,
    created_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, connection_id, place) deferrable initially deferred,
    check (place in ('CURRENT', 'NEXT', 'PREVIOUS')),
    foreign key (project_id, connection_id) references sso_connections(project_id, id) on delete cascade
);

-- Requests to identity providers and the browser that made them; one response is accepted.
create table sso_requests (
    project_id uuid not null,
    id uuid not null,
    connection_id uuid not null,
    kind text not null,
    message_id text not null,
    browser bytea not null,
    redirect_url text,
    state text default '' not null,
    code_challenge text,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    answered_at timestamptz,
    due_at timestamptz,
    attempt int default 0 not null,
    primary key (project_id, id),
    unique (project_id, connection_id, message_id),
    check (kind in ('SIGN_ON', 'TEST', 'LOGOUT', 'PROVIDER_LOGOUT')),
    foreign key (project_id, connection_id) references sso_connections(project_id, id) on delete cascade
);
create index sso_requests_browser on sso_requests (project_id, connection_id, browser) where (answered_at is null);
create index sso_requests_due on sso_requests (project_id, due_at) where (due_at is not null);

-- Accepted assertions: prevents replay, and finds the sessions that a logout request ends.
create table sso_sign_ons (
    project_id uuid not null,
    id uuid not null,
    connection_id uuid not null,
    issuer text not null,
    assertion_id text not null,
    customer_id uuid,
    name_id text,
    name_id_format text,
    session_index text,
    -- The session that it started.
    session_id uuid,
    created_at timestamptz not null,
    due_at timestamptz,
    attempt int default 0 not null,
    primary key (project_id, id),
    unique (project_id, connection_id, issuer, assertion_id),
    foreign key (project_id, connection_id) references sso_connections(project_id, id) on delete cascade,
    foreign key (project_id, customer_id) references customers(project_id, id) on delete set null (customer_id)
);
create index sso_sign_ons_customer on sso_sign_ons (project_id, customer_id) where (customer_id is not null);
create index sso_sign_ons_name on sso_sign_ons (project_id, connection_id, name_id) where (name_id is not null);
create index sso_sign_ons_session on sso_sign_ons (project_id, session_id) where (session_id is not null);
create index sso_sign_ons_due on sso_sign_ons (project_id, due_at) where (due_at is not null);

-- The steps of single sign-on attempts, for the diagnostics page of an administrator.
create table sso_traces (
    project_id uuid not null,
    id uuid not null,
    connection_id uuid not null,
    kind text not null,
    outcome text not null,
    reason text,
    detail text,
    steps jsonb not null,
    profile jsonb,
    customer_id uuid,
    created_at timestamptz not null,
    due_at timestamptz,
    attempt int default 0 not null,
    primary key (project_id, id),
    check (kind in ('SIGN_ON', 'TEST', 'LOGOUT')),
    check (outcome in ('ACCEPTED', 'REFUSED')),
    foreign key (project_id, connection_id) references sso_connections(project_id, id) on delete cascade,
    foreign key (project_id, customer_id) references customers(project_id, id) on delete cascade
);
create index sso_traces_newest on sso_traces (project_id, connection_id, id);
create index sso_traces_customer on sso_traces (project_id, customer_id) where (customer_id is not null);
create index sso_traces_due on sso_traces (project_id, due_at) where (due_at is not null);

-- ==== Features, plans, entitlements ====

create table features (
    project_id uuid not null,
    id uuid not null,
    key text not null,
    name text not null,
    type text not null,
    default_enabled boolean default false not null,
    -- Null means unlimited, here and below.
    default_limit bigint,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, key),
    check ((type = 'LIMIT') or (default_limit is null)),
    check (default_limit >= 0),
    check (length(key) <= 64),
    check (type in ('BOOLEAN', 'LIMIT')),
    foreign key (project_id) references projects(id)
);

create table plans (
    project_id uuid not null,
    id uuid not null,
    key text not null,
    name text not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, key),
    check (length(key) <= 64),
    foreign key (project_id) references projects(id)
);

create table plan_features (
    project_id uuid not null,
    plan_id uuid not null,
    feature_id uuid not null,
    enabled boolean not null,
    max_amount bigint,
    primary key (project_id, plan_id, feature_id),
    check (max_amount >= 0),
    foreign key (project_id, feature_id) references features(project_id, id) on delete cascade,
    foreign key (project_id, plan_id) references plans(project_id, id) on delete cascade
);
create index plan_features_feature on plan_features (project_id, feature_id);

create table organization_plans (
    project_id uuid not null,
    organization_id uuid not null,
    plan_id uuid not null,
    since timestamptz not null,
    primary key (project_id, organization_id),
    foreign key (project_id, organization_id) references organizations(project_id, id) on delete cascade,
    foreign key (project_id, plan_id) references plans(project_id, id)
);
create index organization_plans_plan on organization_plans (project_id, plan_id);

-- Overrides of single organizations. Due when one expires, to record an event; reads check the expiry themselves.
create table entitlement_overrides (
    project_id uuid not null,
    id uuid not null,
    organization_id uuid not null,
    feature_id uuid not null,
    enabled boolean not null,
    max_amount bigint,
    reason text,
    expires_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    due_at timestamptz,
    attempt int default 0 not null,
    primary key (project_id, id),
    unique (project_id, organization_id, feature_id),
    check (max_amount >= 0),
    foreign key (project_id, feature_id) references features(project_id, id) on delete cascade,
    foreign key (project_id, organization_id) references organizations(project_id, id) on delete cascade
);
create index entitlement_overrides_feature on entitlement_overrides (project_id, feature_id);
create index entitlement_overrides_due on entitlement_overrides (project_id, due_at) where (due_at is not null);

-- ==== Account members, account mail, deletion, billing, usage ====

create table account_invitations (
    id uuid not null,
    account_id uuid not null,
    email text not null,
    role text not null,
    token_hash bytea not null,
    invited_by text not null,
    inviter_id uuid not null,
    expires_at timestamptz not null,
    created_at timestamptz not null,
    primary key (id),
    unique (token_hash),
    check (role in ('ADMIN', 'DEVELOPER', 'VIEWER')),
    foreign key (account_id) references accounts(id) on delete cascade,
    foreign key (inviter_id) references developers(id) on delete cascade
);
create unique index account_invitations_email on account_invitations (account_id, lower(email));
create index account_invitations_inviter on account_invitations (inviter_id);

-- Mail of this server to developers: encrypted until it is handed over, then deleted. `account_id` is the nil UUID
-- for mail to an address without an account.
create table account_mails (
    account_id uuid not null,
    id uuid not null,
    sealed bytea not null,
    due_at timestamptz,
    attempt int default 0 not null,
    created_at timestamptz not null,
    primary key (account_id, id)
);
create index account_mails_due on account_mails (account_id, due_at) where (due_at is not null);

-- Deletions in progress: of a project, or of an account (`target_id`) once its projects are deleted.
create table deletions (
    target_id uuid not null,
    id uuid not null,
    account_id uuid not null,
    kind text not null,
    swept_at timestamptz,
    due_at timestamptz,
    attempt int default 0 not null,
    created_at timestamptz not null,
    primary key (target_id, id),
    check (kind in ('PROJECT', 'ACCOUNT'))
);
create index deletions_due on deletions (target_id, due_at) where (due_at is not null);
create index deletions_account on deletions (account_id);

-- The plan and the payment status of an account.
create table billing_accounts (
    account_id uuid not null,
    id uuid not null,
    provider text not null,
    plan text default 'free' not null,
    billing_cycle text,
    status text default 'none' not null,
    current_period_end timestamptz,
    b2b_enhanced boolean default false not null,
    customer_ref text,
    closing boolean default false not null,
    version int default 0 not null,
    due_at timestamptz,
    attempt int default 0 not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (account_id, id),
    check (billing_cycle in ('monthly', 'yearly')),
    check (plan in ('free', 'pro')),
    check (status in ('none', 'active', 'past_due', 'cancelled'))
);
create unique index billing_accounts_account on billing_accounts (account_id);
create unique index billing_accounts_customer on billing_accounts (customer_ref) where (customer_ref is not null);
create index billing_accounts_due on billing_accounts (account_id, due_at) where (due_at is not null);

-- Webhook events of the payment provider that were processed, so that a repeated one has no second effect.
create table billing_events (
    id text not null,
    type text not null,
    received_at timestamptz not null,
    primary key (id)
);
create index billing_events_age on billing_events (received_at);

-- LIVE e-mails that a project accepted per calendar month (UTC); several rows (slot), so that writers do not wait.
create table email_usage (
    project_id uuid not null,
    month date not null,
    slot smallint not null,
    emails bigint not null,
    primary key (project_id, month, slot)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.01);

create function count_email_usage() returns trigger
    language plpgsql
    as $$
begin
    insert into email_usage as usage (project_id, month, slot, emails)
    select project_id, date_trunc('month', created_at at time zone 'UTC')::date, pg_backend_pid() % 16, count(*)
    from new_rows where not test group by 1, 2 order by 1, 2
    on conflict (project_id, month, slot) do update set emails = usage.emails + excluded.emails;
    return null;
end $$;

create trigger sends_used after insert on sends referencing new table as new_rows for each statement
    execute function count_email_usage();

-- ==== Statistics ====

create table send_rollups (
    project_id uuid not null,
    campaign_id uuid not null,
    bucket timestamptz not null,
    domain_id uuid not null,
    slot smallint not null,
    accepted bigint default 0 not null,
    sent bigint default 0 not null,
    delivered bigint default 0 not null,
    opened bigint default 0 not null,
    clicked bigint default 0 not null,
    open_touched bigint default 0 not null,
    click_touched bigint default 0 not null,
    bounced bigint default 0 not null,
    complained bigint default 0 not null,
    failed bigint default 0 not null,
    primary key (project_id, campaign_id, bucket, domain_id, slot)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.02);
create index send_rollups_loose on send_rollups (bucket) where ((slot <> 0) and (bucket > '-infinity'::timestamptz));

create table contact_rollups (
    project_id uuid not null,
    day date not null,
    measure text not null,
    slot smallint not null,
    count bigint not null,
    primary key (project_id, day, measure, slot)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.02);

create function roll_up_new_sends() returns trigger
    language plpgsql
    as $$
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

create function roll_up_changed_sends() returns trigger
    language plpgsql
    as $$
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

create function roll_up_contacts() returns trigger
    language plpgsql
    as $$
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

create constraint trigger contacts_deleted after delete on contacts deferrable initially deferred
    for each row execute function end_runs_of_deleted_contact();

-- Foreign keys between tables that refer to each other, and storage settings.
alter table contact_import_pieces alter column data set storage external;
