-- Messages about sends that were not understood, for looking at. They are deleted when they are due.
create table unrecognized_reports (
    project_id uuid not null references projects (id),
    id uuid not null,
    send_id uuid,
    source text not null check (source in ('smtp', 'api')),
    reason text not null,
    sender text not null,
    subject text not null,
    size integer not null,
    message bytea not null,
    received_at timestamptz not null,
    due_at timestamptz,
    attempt integer not null default 0,
    primary key (project_id, id)
);
create index unrecognized_reports_due on unrecognized_reports (project_id, due_at) where (due_at is not null);
