-- Second factors, invitations and mail of developers, deletion in chunks, plans and usage.

alter table developers add column totp_secret bytea;
alter table developers add column totp_step bigint;

create table developer_recovery_codes (
    developer_id uuid not null references developers (id) on delete cascade,
    hash bytea not null,
    primary key (developer_id, hash)
);

-- Failed sign-ins of an address from one origin, and of an address from anywhere: a keyed hash that names nobody.
create table sign_in_failures (
    key bytea primary key,
    failures int not null,
    since timestamptz not null,
    locked_until timestamptz
);
create index sign_in_failures_age on sign_in_failures (since);

create table account_invitations (
    id uuid primary key,
    account_id uuid not null references accounts (id) on delete cascade,
    email text not null,
    role text not null check (role in ('ADMIN', 'DEVELOPER', 'VIEWER')),
    token_hash bytea not null unique,
    invited_by text not null,
    expires_at timestamptz not null,
    created_at timestamptz not null
);
create unique index account_invitations_email on account_invitations (account_id, lower(email));

-- Mail of this server to developers: sealed until it is handed over, then gone.
-- Due work is shared out by project_id; here it holds the account, or nothing but zeros for mail to nobody's account.
create table account_mails (
    project_id uuid not null,
    id uuid not null,
    sealed bytea not null,
    due_at timestamptz,
    attempt int not null default 0,
    created_at timestamptz not null,
    primary key (project_id, id)
);
create index account_mails_due on account_mails (project_id, due_at) where due_at is not null;

-- From this moment a project answers 404; its rows go in chunks.
alter table projects add column deleted_at timestamptz;

-- What is being deleted: a project, or (under the account's id) what remains of an account once its projects are gone.
create table deletions (
    project_id uuid not null,
    id uuid not null,
    account_id uuid not null,
    kind text not null check (kind in ('PROJECT', 'ACCOUNT')),
    swept_at timestamptz,
    due_at timestamptz,
    attempt int not null default 0,
    created_at timestamptz not null,
    primary key (project_id, id)
);
create index deletions_due on deletions (project_id, due_at) where due_at is not null;
create index deletions_account on deletions (account_id);
