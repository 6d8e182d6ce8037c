-- Up to when the messages of a relay with a rate have been given their times. All processes take theirs from here, a
-- quarter of a second's at a time. The operator's own relays stand under the project that no one has.
create table mail_rates (
    project_id uuid not null,
    name text not null,
    next_at timestamptz not null,
    primary key (project_id, name)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
