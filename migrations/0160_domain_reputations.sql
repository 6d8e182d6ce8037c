-- How receivers treat the mail of a sending domain. A domain without bounces and complaints has no row.
create table domain_reputations (
    project_id uuid not null,
    id uuid not null, -- of the domain
    state text not null default 'HEALTHY' check (state in ('HEALTHY', 'WARNING', 'HELD')),
    since timestamptz not null,
    reason text,
    held_until timestamptz, -- when the marketing mail that waits becomes due on its own
    releasing timestamptz, -- marketing mail that waits until this time is to be made due
    counted_from timestamptz, -- of the last release; mail that was transmitted before it does not count
    uncounted_messages bigint not null default 0, -- of the hour of the last release
    uncounted_bounced bigint not null default 0,
    uncounted_complained bigint not null default 0,
    due_at timestamptz,
    attempt integer not null default 0,
    primary key (project_id, id),
    foreign key (project_id, id) references domains (project_id, id) on delete cascade,
    check ((state = 'HELD') = (held_until is not null))
);
create index domain_reputations_due on domain_reputations (project_id, due_at) where due_at is not null;
create index domain_reputations_held on domain_reputations (project_id) where state = 'HELD';

-- Messages with a hard bounce, and with a complaint, by the hour of their transmission.
create table reputation_counters (
    project_id uuid not null,
    domain_id uuid not null,
    hour timestamptz not null,
    slot smallint not null,
    bounced bigint not null,
    complained bigint not null,
    primary key (project_id, domain_id, hour, slot),
    foreign key (project_id, domain_id) references domains (project_id, id) on delete cascade
) with (fillfactor = 50);
