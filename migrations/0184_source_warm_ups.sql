-- The warm-up plan of an address from which the transport `direct` sends: its ceiling of messages on each day, for all
-- projects together.
create table source_warm_ups (
    address text primary key,
    status text not null check (status in ('SCHEDULED', 'ACTIVE', 'COMPLETED')),
    starts_on date not null,
    steps integer[] not null,
    step integer not null default 0, -- index of the ceiling of `day`
    day date not null,
    used bigint not null default 0, -- messages of `day`
    repeated integer not null default 0,
    ended_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    check (step >= 0 and step < cardinality(steps)),
    check ((status = 'COMPLETED') = (ended_at is not null))
);

-- The messages that have a place in a day's ceiling, so that none takes two when it is tried again.
create table source_places (
    address text not null references source_warm_ups (address) on delete cascade,
    day date not null,
    message_id text not null,
    primary key (address, day, message_id)
);
