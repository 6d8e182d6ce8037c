-- Results of TLS with recipients' mail servers, and the reports about them (RFC 8460). They belong to no project: a
-- report covers the sessions of the whole server, whose connections carry the mail of all projects.
create table tls_results (
    day date not null,
    domain text not null check (length(domain) <= 253),
    key bytea not null,
    policy_type text not null check (policy_type in ('sts', 'tlsa', 'no-policy-found')),
    policy_domain text not null,
    policy_lines text[] not null,
    policy_mx text[] not null,
    result text not null,
    sending_ip text not null,
    receiving_mx text not null,
    receiving_ip text not null,
    reason text not null,
    sessions bigint not null,
    primary key (day, domain, key)
);

create table tls_reports (
    instance_id uuid not null default '00000000-0000-0000-0000-000000000000',
    id uuid not null,
    day date not null,
    domain text not null check (length(domain) <= 253),
    status text not null default 'WAITING' check (status in ('WAITING', 'SENT', 'NOT_WANTED', 'FAILED', 'OFF')),
    sent_to text[] not null default '{}',
    refused_by text[] not null default '{}',
    note text not null default '',
    due_at timestamptz,
    attempt integer not null default 0,
    finished_at timestamptz,
    primary key (instance_id, id),
    unique (day, domain)
);
create index tls_reports_due on tls_reports (instance_id, due_at) where due_at is not null;

-- For the keys with which mail of the server itself is signed.
create index domains_verified_name on domains (domain, id) where status = 'VERIFIED';
