-- The instance, developer accounts, projects, keys, what happened and who changed what.

create extension if not exists pg_trgm;

create table instance (
    only_one boolean primary key default true check (only_one),
    key_check bytea not null,
    created_at timestamptz not null default now()
);

create table workers (
    id uuid primary key,
    started_at timestamptz not null,
    seen_at timestamptz not null
);

create table accounts (
    id uuid primary key,
    name text not null check (length(name) between 1 and 200),
    created_at timestamptz not null,
    updated_at timestamptz not null
);

create table developers (
    id uuid primary key,
    account_id uuid not null references accounts (id),
    email text not null,
    name text not null default '',
    role text not null check (role in ('OWNER', 'ADMIN', 'DEVELOPER', 'VIEWER')),
    password_hash text not null,
    email_verified_at timestamptz,
    mfa_enabled_at timestamptz,
    joined_at timestamptz not null,
    last_sign_in_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create unique index developers_email on developers (lower(email));
create index developers_account on developers (account_id);
-- Exactly one owner: at most one by this index, at least one by the operations that move ownership.
create unique index developers_owner on developers (account_id) where role = 'OWNER';

create table developer_sessions (
    id uuid primary key,
    developer_id uuid not null references developers (id) on delete cascade,
    access_hash bytea not null unique,
    access_expires_at timestamptz not null,
    refresh_hash bytea not null unique,
    previous_refresh_hash bytea,
    rotated_at timestamptz,
    expires_at timestamptz not null,
    revoked_at timestamptz,
    ip_address text not null default '',
    user_agent text not null default '',
    created_at timestamptz not null
);
create index developer_sessions_developer on developer_sessions (developer_id);
create index developer_sessions_previous on developer_sessions (previous_refresh_hash)
    where previous_refresh_hash is not null;

create table developer_tokens (
    hash bytea primary key,
    developer_id uuid not null references developers (id) on delete cascade,
    purpose text not null check (purpose in ('VERIFY_EMAIL', 'RESET_PASSWORD', 'INBOX')),
    email text,
    expires_at timestamptz not null,
    created_at timestamptz not null
);
create index developer_tokens_developer on developer_tokens (developer_id, purpose);

create table projects (
    id uuid primary key,
    account_id uuid not null references accounts (id),
    name text not null check (length(name) between 1 and 200),
    settings jsonb not null default '{}',
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create index projects_account on projects (account_id, id);

create table api_keys (
    project_id uuid not null references projects (id),
    id uuid not null,
    name text not null check (length(name) between 1 and 200),
    type text not null check (type in ('SECRET', 'PUBLISHABLE')),
    environment text not null check (environment in ('LIVE', 'TEST')),
    hash bytea not null unique,
    prefix text not null,
    last_four text not null,
    permissions text[],
    ip_allow_list text[],
    expires_at timestamptz,
    last_used_at timestamptz,
    created_by uuid,
    created_at timestamptz not null,
    primary key (project_id, id)
);

-- No foreign key to projects: events are written in bulk on the hottest path, always beside a row that has one.
-- UUIDv7 keys keep the table in the order of time, ready to be partitioned by ranges of id.
create table events (
    project_id uuid not null,
    id uuid not null,
    type text not null,
    subject_id uuid,
    actor_type text not null,
    actor_id uuid,
    actor_label text,
    data jsonb not null default '{}',
    occurred_at timestamptz not null,
    erased_at timestamptz,
    primary key (project_id, id)
);
create index events_subject on events (project_id, subject_id, id);

-- One hash chain per project; what concerns the account alone is chained under the account's id.
create table audit_heads (
    chain_id uuid primary key,
    seq bigint not null,
    hash bytea not null
);

create table audit_log (
    chain_id uuid not null,
    seq bigint not null,
    id uuid not null,
    account_id uuid not null,
    actor_type text not null,
    actor_id uuid,
    actor_email text,
    action text not null,
    target_type text not null,
    target_id text,
    metadata jsonb not null default '{}',
    ip_address text,
    salt bytea not null,
    details_digest bytea not null,
    hash bytea not null,
    created_at timestamptz not null,
    primary key (chain_id, seq)
);
create index audit_log_target on audit_log (chain_id, target_id, seq);
create index audit_log_account on audit_log (account_id, id);
