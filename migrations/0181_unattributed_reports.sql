-- Reports about mail that name no e-mail of this server, and notifications that cannot be read: the newest are kept for
-- the operator to look at. They belong to no project.
create table unattributed_reports (
    instance_id uuid not null default '00000000-0000-0000-0000-000000000000',
    id uuid not null,
    kind text not null check (kind in ('complaint', 'delivery', 'ses')),
    reason text not null,
    sender text not null,
    subject text not null,
    size integer not null,
    message bytea not null,
    received_at timestamptz not null,
    due_at timestamptz,
    attempt integer not null default 0,
    primary key (instance_id, id)
);
create index unattributed_reports_due on unattributed_reports (instance_id, due_at) where due_at is not null;

-- How many reports could not be processed so far, also those that are kept for a project, for the metrics.
create table report_counts (
    kind text primary key check (kind in ('complaint', 'delivery', 'ses', 'unrecognized', 'dmarc')),
    reports bigint not null
);
