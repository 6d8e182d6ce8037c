-- Customers: the people who use what a project builds, how they prove who they are, and where they are signed in.

create extension if not exists btree_gin;

create table customers (
    project_id uuid not null references projects (id),
    id uuid not null,
    external_id text check (length(external_id) between 1 and 255),
    email text,
    email_key text,
    -- A keyed hash of the address, which failures are counted under: for unknown people too.
    identifier bytea,
    email_verified_at timestamptz,
    phone text,
    phone_verified_at timestamptz,
    name text,
    metadata jsonb not null default '{}',
    roles text[] not null default '{}',
    providers text[] not null default '{}',
    password_hash text,
    password_changed_at timestamptz,
    last_sign_in_at timestamptz,
    banned_at timestamptz,
    ban_reason text,
    ban_expires_at timestamptz,
    mfa_enabled_at timestamptz,
    contact_id uuid,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    search text not null generated always as (
        lower(coalesce(email, '') || ' ' || coalesce(name, '') || ' ' || coalesce(phone, '') || ' '
              || coalesce(external_id, ''))
    ) stored,
    primary key (project_id, id)
) with (fillfactor = 90);
create unique index customers_email on customers (project_id, email_key text_pattern_ops);
create unique index customers_external on customers (project_id, external_id) where external_id is not null;
create index customers_identifier on customers (project_id, identifier);
create index customers_banned on customers (project_id, id) where banned_at is not null;
create index customers_verified on customers (project_id, id) where email_verified_at is not null;
create index customers_unverified on customers (project_id, id) where email_verified_at is null;
create index customers_mfa on customers (project_id, id) where mfa_enabled_at is not null;
create index customers_providers on customers using gin (project_id, providers);
create index customers_search on customers using gin (project_id, search gin_trgm_ops);

-- How many customers there are of each sort, kept by the database itself so that nothing can forget it.
-- A few slots a sort, so that sign-ups side by side do not queue for one row.
create table customer_facets (
    project_id uuid not null,
    verified boolean not null,
    mfa boolean not null,
    providers text[] not null,
    slot int not null,
    number bigint not null,
    primary key (project_id, verified, mfa, providers, slot)
);

create function count_customers() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
        insert into customer_facets as facet (project_id, verified, mfa, providers, slot, number)
        select project_id, email_verified_at is not null, mfa_enabled_at is not null, providers,
               pg_backend_pid() % 8, count(*)
        from new_rows group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (project_id, verified, mfa, providers, slot) do update set number = facet.number + excluded.number;
    elsif tg_op = 'DELETE' then
        insert into customer_facets as facet (project_id, verified, mfa, providers, slot, number)
        select project_id, email_verified_at is not null, mfa_enabled_at is not null, providers,
               pg_backend_pid() % 8, -count(*)
        from old_rows group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (project_id, verified, mfa, providers, slot) do update set number = facet.number + excluded.number;
    else
        insert into customer_facets as facet (project_id, verified, mfa, providers, slot, number)
        select project_id, verified, mfa, providers, pg_backend_pid() % 8, sum(delta)
        from (
            select project_id, email_verified_at is not null, mfa_enabled_at is not null, providers, 1 from new_rows
            union all
            select project_id, email_verified_at is not null, mfa_enabled_at is not null, providers, -1 from old_rows
        ) as change (project_id, verified, mfa, providers, delta)
        group by 1, 2, 3, 4 having sum(delta) <> 0 order by 1, 2, 3, 4
        on conflict (project_id, verified, mfa, providers, slot) do update set number = facet.number + excluded.number;
    end if;
    return null;
end
$$;
create trigger customers_come after insert on customers
    referencing new table as new_rows for each statement execute function count_customers();
create trigger customers_change after update on customers
    referencing old table as old_rows new table as new_rows for each statement execute function count_customers();
create trigger customers_go after delete on customers
    referencing old table as old_rows for each statement execute function count_customers();

-- Rows that were merged away: their audit entries and events still belong to somebody.
create table customer_merges (
    project_id uuid not null,
    merged_id uuid not null,
    customer_id uuid not null,
    merged_at timestamptz not null,
    primary key (project_id, merged_id),
    foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade
);
create index customer_merges_customer on customer_merges (project_id, customer_id);

-- Addresses that a customer had before: whoever is erased is erased under all of them.
create table customer_former_addresses (
    project_id uuid not null,
    customer_id uuid not null,
    email text not null,
    email_key text not null,
    primary key (project_id, customer_id, email_key),
    foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade
);

create table customer_identities (
    project_id uuid not null,
    id uuid not null,
    customer_id uuid not null,
    provider text not null,
    issuer text not null,
    subject text not null,
    created_at timestamptz not null,
    primary key (project_id, id),
    foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade,
    unique (project_id, provider, issuer, subject)
);
create index customer_identities_customer on customer_identities (project_id, customer_id);

create table customer_sessions (
    project_id uuid not null,
    id uuid not null,
    customer_id uuid not null,
    -- Refresh tokens are numbered; only the newest is good.
    generation int not null default 1,
    rotated_at timestamptz,
    methods text[] not null,
    authenticated_at timestamptz not null,
    user_agent text not null,
    ip_address text not null,
    created_at timestamptz not null,
    last_used_at timestamptz not null,
    expires_at timestamptz not null,
    idle_expires_at timestamptz not null,
    revoked_at timestamptz,
    due_at timestamptz,
    attempt int not null default 0,
    primary key (project_id, id),
    foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade
) with (fillfactor = 80);
create index customer_sessions_customer on customer_sessions (project_id, customer_id, id);
create index customer_sessions_due on customer_sessions (project_id, due_at) where due_at is not null;

create table customer_signing_keys (
    project_id uuid not null references projects (id),
    id uuid not null,
    public_key bytea not null,
    private_key bytea not null,
    active_at timestamptz not null,
    retired_at timestamptz,
    created_at timestamptz not null,
    primary key (project_id, id)
);

-- Failed proofs of one person (known or not) from one address; the empty address counts all of them.
create table customer_failures (
    project_id uuid not null,
    id uuid not null,
    identifier bytea not null,
    ip_address text not null,
    failures int not null,
    locks int not null default 0,
    locked_until timestamptz,
    since timestamptz not null,
    due_at timestamptz,
    attempt int not null default 0,
    primary key (project_id, id),
    unique (project_id, identifier, ip_address)
);
create index customer_failures_due on customer_failures (project_id, due_at) where due_at is not null;
create index customer_failures_locked on customer_failures (project_id, locked_until) where locked_until is not null;

-- What somebody has to answer to prove something: a code, a link, a second factor, a passkey, a provider's answer.
create table customer_challenges (
    project_id uuid not null,
    id uuid not null,
    purpose text not null,
    customer_id uuid,
    identifier bytea,
    secret_hash bytea not null,
    tries int not null default 0,
    data bytea not null,
    expires_at timestamptz not null,
    created_at timestamptz not null,
    due_at timestamptz,
    attempt int not null default 0,
    primary key (project_id, id),
    foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade
);
create index customer_challenges_customer on customer_challenges (project_id, customer_id, purpose);
create index customer_challenges_identifier on customer_challenges (project_id, identifier, purpose);
create index customer_challenges_due on customer_challenges (project_id, due_at) where due_at is not null;

create table customer_totp (
    project_id uuid not null,
    customer_id uuid not null,
    secret bytea not null,
    confirmed_at timestamptz,
    used_step bigint not null default 0,
    created_at timestamptz not null,
    primary key (project_id, customer_id),
    foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade
);

create table customer_recovery_codes (
    project_id uuid not null,
    customer_id uuid not null,
    hash bytea not null,
    primary key (project_id, customer_id, hash),
    foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade
);

create table customer_passkeys (
    project_id uuid not null,
    id uuid not null,
    customer_id uuid not null,
    credential_id bytea not null,
    public_key bytea not null,
    sign_count bigint not null,
    backed_up boolean not null,
    name text not null,
    created_at timestamptz not null,
    last_used_at timestamptz,
    primary key (project_id, id),
    foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade,
    unique (project_id, credential_id)
);
create index customer_passkeys_customer on customer_passkeys (project_id, customer_id);

create table customer_providers (
    project_id uuid not null references projects (id),
    key text not null,
    kind text not null,
    name text not null,
    issuer text not null,
    client_id text not null,
    client_secret bytea,
    options jsonb not null default '{}',
    enabled boolean not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, key)
);

-- A letter to be written: what goes into it is sealed, because codes and addresses are in it.
create table customer_letters (
    project_id uuid not null,
    id uuid not null,
    customer_id uuid,
    sealed bytea not null,
    created_at timestamptz not null,
    due_at timestamptz,
    attempt int not null default 0,
    primary key (project_id, id),
    foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade
);
create index customer_letters_due on customer_letters (project_id, due_at) where due_at is not null;
create index customer_letters_customer on customer_letters (project_id, customer_id);
