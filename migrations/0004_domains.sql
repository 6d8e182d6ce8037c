-- Sending domains: their keys, what their DNS was last seen to say, and their standing on blocklists.

create table domains (
    project_id uuid not null references projects (id) on delete cascade,
    id uuid not null,
    domain text not null check (length(domain) between 3 and 253 and domain = lower(domain)),
    status text not null check (status in ('PENDING', 'VERIFIED', 'DEGRADED', 'FAILED')),
    -- What is public of the keys; `domain_keys` holds the rest.
    keys jsonb not null,
    checks jsonb not null default '[]',
    spf_verified boolean not null default false,
    dkim_verified boolean not null default false,
    ed25519_verified boolean not null default false,
    return_path_verified boolean not null default false,
    tracking_verified boolean not null default false,
    dmarc_verified boolean not null default false,
    verified_at timestamptz,
    -- When polling began: at creation, or when somebody asked again after it had ended.
    watched_since timestamptz not null,
    -- Since when the DKIM record of a once verified domain is missing.
    failing_since timestamptz,
    last_checked_at timestamptz,
    due_at timestamptz,
    attempt integer not null default 0,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, domain),
    check ((verified_at is not null) or status in ('PENDING', 'FAILED'))
);
create index domains_due on domains (project_id, due_at) where due_at is not null;

create table domain_keys (
    project_id uuid not null,
    domain_id uuid not null,
    selector text not null,
    private_key bytea not null,
    created_at timestamptz not null,
    primary key (project_id, domain_id, selector),
    foreign key (project_id, domain_id) references domains (project_id, id) on delete cascade
);

-- One row per domain: when its standing on blocklists is next looked at.
create table blocklist_watches (
    project_id uuid not null,
    id uuid not null,
    due_at timestamptz,
    attempt integer not null default 0,
    primary key (project_id, id),
    foreign key (project_id, id) references domains (project_id, id) on delete cascade
);
create index blocklist_watches_due on blocklist_watches (project_id, due_at) where due_at is not null;

create table blocklist_entries (
    project_id uuid not null,
    domain_id uuid not null,
    id uuid not null,
    list_name text not null,
    subject_value text not null,
    -- An answer that means nothing changes the status and leaves `listed` as it was last known.
    listed boolean not null default false,
    status text not null default 'UNKNOWN' check (status in ('LISTED', 'CLEAR', 'UNKNOWN')),
    codes text[] not null default '{}',
    reason text not null default '',
    first_listed_at timestamptz,
    last_checked_at timestamptz,
    primary key (project_id, id),
    unique (project_id, domain_id, list_name, subject_value),
    foreign key (project_id, domain_id) references domains (project_id, id) on delete cascade,
    check (listed = (first_listed_at is not null))
);
