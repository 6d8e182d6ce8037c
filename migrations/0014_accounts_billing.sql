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
    inviter_id uuid not null references developers (id) on delete cascade,
    expires_at timestamptz not null,
    created_at timestamptz not null
);
create unique index account_invitations_email on account_invitations (account_id, lower(email));
create index account_invitations_inviter on account_invitations (inviter_id);

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

-- What an account has booked; project_id is the account, as due work is shared out by it.
create table billing_accounts (
    project_id uuid not null,
    id uuid not null,
    provider text not null,
    plan text not null default 'free' check (plan in ('free', 'pro')),
    billing_cycle text check (billing_cycle in ('monthly', 'yearly')),
    status text not null default 'none' check (status in ('none', 'active', 'past_due', 'cancelled')),
    current_period_end timestamptz,
    b2b_enhanced boolean not null default false,
    customer_ref text,
    closing boolean not null default false,
    version int not null default 0,
    due_at timestamptz,
    attempt int not null default 0,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id)
);
create unique index billing_accounts_account on billing_accounts (project_id);
create unique index billing_accounts_customer on billing_accounts (customer_ref) where customer_ref is not null;
create index billing_accounts_due on billing_accounts (project_id, due_at) where due_at is not null;

-- Signals of the payment provider that were taken, so that one told twice counts once.
create table billing_events (
    id text primary key,
    type text not null,
    received_at timestamptz not null
);
create index billing_events_age on billing_events (received_at);

-- How many live e-mails a project accepted in a calendar month (UTC); several rows, so that writers do not queue.
create table email_usage (
    project_id uuid not null,
    month date not null,
    slot smallint not null,
    emails bigint not null,
    primary key (project_id, month, slot)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

create function count_email_usage() returns trigger language plpgsql as $$
begin
    insert into email_usage as usage (project_id, month, slot, emails)
    select project_id, date_trunc('month', created_at at time zone 'UTC')::date, pg_backend_pid() % 16, count(*)
    from new_rows where not test group by 1, 2 order by 1, 2
    on conflict (project_id, month, slot) do update set emails = usage.emails + excluded.emails;
    return null;
end $$;
create trigger sends_used after insert on sends
    referencing new table as new_rows for each statement execute function count_email_usage();
