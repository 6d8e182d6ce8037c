-- MTA-STS policies of recipients' domains (RFC 8461). They belong to no project: all projects send to the same domains.
create table mta_sts_policies (
    domain text primary key check (length(domain) <= 253),
    policy_id text not null,
    mode text not null check (mode in ('enforce', 'testing', 'none')),
    mx text[] not null,
    max_age integer not null,
    fetched_at timestamptz not null,
    expires_at timestamptz not null
);
create index mta_sts_policies_expiry on mta_sts_policies (expires_at);
