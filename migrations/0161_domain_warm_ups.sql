-- The warm-up plan of a sending domain: its ceiling of messages on each day.
create table domain_warm_ups (
    project_id uuid not null,
    id uuid not null, -- of the domain
    status text not null check (status in ('SCHEDULED', 'ACTIVE', 'COMPLETED', 'CANCELLED')),
    starts_on date not null,
    steps integer[] not null,
    step integer not null default 0, -- index of the ceiling of `day`
    day date not null,
    used bigint not null default 0, -- messages of `day`
    repeated integer not null default 0,
    ended_at timestamptz,
    releasing timestamptz, -- marketing mail that waits until this time is to be made due
    due_at timestamptz,
    attempt integer not null default 0,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    foreign key (project_id, id) references domains (project_id, id) on delete cascade,
    check (step >= 0 and step < cardinality(steps)),
    check ((status in ('COMPLETED', 'CANCELLED')) = (ended_at is not null))
);
create index domain_warm_ups_due on domain_warm_ups (project_id, due_at) where due_at is not null;
create index domain_warm_ups_active on domain_warm_ups (project_id) where status in ('SCHEDULED', 'ACTIVE');

-- The marketing messages that have a place in a day's ceiling, so that none takes two when it is tried again.
create table warm_up_places (
    project_id uuid not null,
    domain_id uuid not null,
    day date not null,
    send_id uuid not null,
    primary key (project_id, domain_id, day, send_id),
    foreign key (project_id, domain_id) references domains (project_id, id) on delete cascade
);
