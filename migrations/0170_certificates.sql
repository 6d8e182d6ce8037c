-- Accounts of this instance at certificate authorities (RFC 8555). They belong to no project.
create table acme_accounts (
    id uuid primary key,
    directory text not null unique,
    private_key bytea not null,
    -- Null until the authority has the account.
    url text,
    created_at timestamptz not null
);

-- Certificates of this server's own names and of tracking names: one for each account and name, whatever number of
-- projects use the name.
create table certificates (
    account_id uuid not null references acme_accounts (id),
    id uuid not null,
    name text not null check (length(name) <= 253 and name = lower(name)),
    -- The order that is in progress, with the key that it is for.
    order_url text,
    order_key bytea,
    -- What is published at /.well-known/acme-challenge/ while there is an order, or before one to test the path.
    token text,
    answer text,
    -- The certificate that is served.
    private_key bytea,
    chain text,
    issued_at timestamptz,
    expires_at timestamptz,
    renew_at timestamptz,
    -- Why there is no certificate, or no new one.
    problem text,
    failures integer not null default 0,
    failing_since timestamptz,
    reported_at timestamptz,
    due_at timestamptz,
    attempt integer not null default 0,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (account_id, id),
    unique (account_id, name),
    check ((order_url is null) = (order_key is null)),
    check ((token is null) = (answer is null)),
    check ((chain is null) = (private_key is null) and (chain is null) = (issued_at is null)
        and (chain is null) = (expires_at is null) and (chain is null) = (renew_at is null))
);
create index certificates_due on certificates (account_id, due_at) where due_at is not null;
create index certificates_token on certificates (token) where token is not null;
create index certificates_name on certificates (name) where chain is not null;

-- Orders of the last days, which the limits of certificate authorities count.
create table certificate_orders (
    account_id uuid not null references acme_accounts (id),
    id uuid not null,
    name text not null,
    registered_domain text not null,
    ordered_at timestamptz not null,
    primary key (account_id, id)
);
create index certificate_orders_time on certificate_orders (account_id, ordered_at);
create index certificate_orders_domain on certificate_orders (account_id, registered_domain, ordered_at);

create index domains_with_tracking on domains (project_id, id) where tracking_verified;
create index projects_with_tracking on projects (id) where settings ->> 'trackingDomain' is not null;
