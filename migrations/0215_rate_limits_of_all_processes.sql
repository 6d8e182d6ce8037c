-- Rate limits as all processes together have used them. Unlogged: after a crash of the database, all limits begin anew.
-- A row belongs to no project: limits are also kept by address, by session and so on, and the key is a hash of what the
-- limit counts, so that no address is stored.
create unlogged table rate_limits (
    key bytea primary key,
    quota double precision not null,
    per_second double precision not null,
    taken double precision not null,
    balance double precision not null,
    demand double precision not null,
    used_at timestamptz not null
);

create index rate_limits_used_at on rate_limits (used_at);
