-- Destinations of mail (sites) and the limits that all processes share for each.
-- project_id is 00000000-0000-0000-0000-000000000000 for sites that all projects share, otherwise the project whose own
-- relays or addresses are used.
create table mail_sites (
    project_id uuid not null,
    name text not null check (length(name) between 1 and 300),
    transport text not null check (transport in ('direct', 'relay')),
    provider text,
    hosts text[] not null,
    factor double precision not null default 1 check (factor > 0 and factor <= 1),
    strikes integer not null default 0,
    slowed_at timestamptz,
    recovered_at timestamptz,
    throttled_until timestamptz,
    last_reply text,
    last_reply_at timestamptz,
    suspended_at timestamptz,
    suspended_until timestamptz,
    suspension_reason text,
    seen_at timestamptz not null,
    primary key (project_id, name)
);
create index mail_sites_seen on mail_sites (seen_at);

-- The share of a site's connections that each process holds, until expires_at.
create table mail_site_shares (
    project_id uuid not null,
    name text not null,
    process_id uuid not null,
    connections integer not null,
    expires_at timestamptz not null,
    primary key (project_id, name, process_id),
    foreign key (project_id, name) references mail_sites (project_id, name) on delete cascade
);

-- The sites to which a project sends. `scope` is the project_id of the row of mail_sites. `task` is work on the messages
-- that wait for the site: those up to `task_until` are released, or end as failed.
create table project_sites (
    project_id uuid not null references projects (id) on delete cascade,
    id uuid not null,
    name text not null,
    scope uuid not null,
    last_reply text,
    last_reply_at timestamptz,
    suspended_at timestamptz,
    suspended_until timestamptz,
    suspension_reason text,
    suspended_by text,
    task text check (task in ('BOUNCE', 'RELEASE')),
    task_until timestamptz,
    task_reason text,
    bounced integer not null default 0,
    bounce_started_at timestamptz,
    bounce_ended_at timestamptz,
    due_at timestamptz,
    attempt integer not null default 0,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, name)
);
create index project_sites_due on project_sites (project_id, due_at) where due_at is not null;
create index project_sites_name on project_sites (name);
create index project_sites_updated on project_sites (updated_at);

-- Results at each site by hour.
create table project_site_counts (
    project_id uuid not null references projects (id) on delete cascade,
    name text not null,
    hour timestamptz not null,
    delivered bigint not null,
    deferred bigint not null,
    bounced bigint not null,
    primary key (project_id, name, hour)
);
create index project_site_counts_hour on project_site_counts (hour);
