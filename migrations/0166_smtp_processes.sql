-- What the SMTP servers of running processes have counted, for the metrics, which another process shows.
create table smtp_processes (
    id uuid primary key,
    seen_at timestamptz not null,
    counters jsonb not null
);
