-- Single sign-on: connections of organizations to their identity providers, and who came by them.

create table sso_connections (
    project_id uuid not null,
    id uuid not null,
    organization_id uuid not null,
    name text not null check (length(name) between 1 and 200),
    domain text not null,
    status text not null check (status in ('DRAFT', 'ACTIVE', 'INACTIVE')),
    idp_entity_id text check (length(idp_entity_id) <= 1024),
    idp_sso_url text,
    idp_sso_binding text not null default 'REDIRECT' check (idp_sso_binding in ('REDIRECT', 'POST')),
    idp_slo_url text,
    idp_slo_binding text not null default 'REDIRECT' check (idp_slo_binding in ('REDIRECT', 'POST')),
    -- Where answers to logout requests go, if not where requests go.
    idp_slo_response_url text,
    idp_certificate text[] not null default '{}',
    idp_metadata_url text,
    options jsonb not null default '{}',
    -- When a test sign-on last came through with exactly these settings.
    tested_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- When certificates have to be looked at again.
    due_at timestamptz,
    attempt int not null default 0,
    primary key (project_id, id),
    foreign key (project_id, organization_id) references organizations (project_id, id) on delete cascade
);
create index sso_connections_newest on sso_connections (project_id, organization_id, id);
-- The public addresses name the connection alone.
create index sso_connections_id on sso_connections (id);
create unique index sso_connections_domain on sso_connections (project_id, domain) where status = 'ACTIVE';
create index sso_connections_due on sso_connections (project_id, due_at) where due_at is not null;

-- Metadata that has an address, looked at again and again so that certificates roll over by themselves.
create table sso_metadata (
    project_id uuid not null,
    -- The connection's own.
    id uuid not null,
    -- When it last came through, and when it was last asked for.
    read_at timestamptz not null,
    looked_at timestamptz not null,
    -- Why it does not come through, since when, and whether that was told.
    problem text,
    failing_since timestamptz,
    told boolean not null default false,
    due_at timestamptz,
    attempt int not null default 0,
    primary key (project_id, id),
    foreign key (project_id, id) references sso_connections (project_id, id) on delete cascade
);
create index sso_metadata_due on sso_metadata (project_id, due_at) where due_at is not null;

-- Our own keys: the one that signs, the one that signs next (its certificate is published already), and the one
-- before, which only opens what was encrypted for it. Private keys are sealed.
create table sso_keys (
    project_id uuid not null,
    id uuid not null,
    connection_id uuid not null,
    place text not null check (place in ('CURRENT', 'NEXT', 'PREVIOUS')),
    certificate text not null,
    private_key bytea not null,
    not_after timestamptz not null,
    created_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, connection_id, place) deferrable initially deferred,
    foreign key (project_id, connection_id) references sso_connections (project_id, id) on delete cascade
);

-- What we asked an identity provider, from which browser; one answer is taken.
create table sso_requests (
    project_id uuid not null,
    id uuid not null,
    connection_id uuid not null,
    kind text not null check (kind in ('SIGN_ON', 'TEST', 'LOGOUT')),
    message_id text not null,
    browser bytea not null,
    redirect_url text,
    state text not null default '',
    code_challenge text,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    answered_at timestamptz,
    due_at timestamptz,
    attempt int not null default 0,
    primary key (project_id, id),
    unique (project_id, connection_id, message_id),
    foreign key (project_id, connection_id) references sso_connections (project_id, id) on delete cascade
);
create index sso_requests_browser on sso_requests (project_id, connection_id, browser) where answered_at is null;
create index sso_requests_due on sso_requests (project_id, due_at) where due_at is not null;

-- Every assertion that was taken: what refuses it a second time, and leads from a logout to the sessions it ends.
create table sso_sign_ons (
    project_id uuid not null,
    id uuid not null,
    connection_id uuid not null,
    issuer text not null,
    assertion_id text not null,
    customer_id uuid,
    name_id text,
    name_id_format text,
    session_index text,
    -- The customer's session that it became.
    session_id uuid,
    created_at timestamptz not null,
    due_at timestamptz,
    attempt int not null default 0,
    primary key (project_id, id),
    unique (project_id, connection_id, issuer, assertion_id),
    foreign key (project_id, connection_id) references sso_connections (project_id, id) on delete cascade,
    -- Erasing somebody does not make their assertion good again.
    foreign key (project_id, customer_id) references customers (project_id, id) on delete set null (customer_id)
);
create index sso_sign_ons_customer on sso_sign_ons (project_id, customer_id) where customer_id is not null;
create index sso_sign_ons_name on sso_sign_ons (project_id, connection_id, name_id) where name_id is not null;
create index sso_sign_ons_session on sso_sign_ons (project_id, session_id) where session_id is not null;
create index sso_sign_ons_due on sso_sign_ons (project_id, due_at) where due_at is not null;

-- How sign-ons went, step by step: the page that an administrator reads.
create table sso_traces (
    project_id uuid not null,
    id uuid not null,
    connection_id uuid not null,
    kind text not null check (kind in ('SIGN_ON', 'TEST', 'LOGOUT')),
    outcome text not null check (outcome in ('ACCEPTED', 'REFUSED')),
    reason text,
    detail text,
    steps jsonb not null,
    profile jsonb,
    customer_id uuid,
    created_at timestamptz not null,
    due_at timestamptz,
    attempt int not null default 0,
    primary key (project_id, id),
    foreign key (project_id, connection_id) references sso_connections (project_id, id) on delete cascade,
    foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade
);
create index sso_traces_newest on sso_traces (project_id, connection_id, id);
create index sso_traces_customer on sso_traces (project_id, customer_id) where customer_id is not null;
create index sso_traces_due on sso_traces (project_id, due_at) where due_at is not null;
