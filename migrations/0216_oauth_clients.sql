-- Clients of projects as OpenID providers: apps that sign customers in with their account at the project.
create table oauth_clients (
    project_id uuid not null,
    id uuid not null,
    environment text not null,
    name text not null,
    type text not null,
    first_party boolean not null,
    secret_hash bytea,
    secret_last_four text,
    previous_secret_hash bytea,
    previous_secret_expires_at timestamptz,
    redirect_uris text[] not null,
    post_logout_redirect_uris text[] not null,
    grant_types text[] not null,
    scopes text[] not null,
    website_url text,
    privacy_url text,
    terms_url text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id)
);
select place_table('oauth_clients', 'project_id');
alter table oauth_clients
    add foreign key (project_id) references projects;

-- What customers have allowed clients.
create table oauth_consents (
    project_id uuid not null,
    customer_id uuid not null,
    client_id uuid not null,
    scopes text[] not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, customer_id, client_id)
);
select place_table('oauth_consents', 'project_id');
alter table oauth_consents
    add foreign key (project_id, client_id) references oauth_clients(project_id, id) on delete cascade,
    add foreign key (project_id, customer_id) references customers(project_id, id) on delete cascade;
create index oauth_consents_client on oauth_consents (project_id, client_id);

-- Authorizations: the code that a client exchanges, and the refresh tokens that follow from it. A code works once
-- (code_used_at); `generation` is the number of the current refresh token, 0 for none.
create table oauth_grants (
    project_id uuid not null,
    id uuid not null,
    client_id uuid not null,
    customer_id uuid not null,
    session_id uuid not null,
    scopes text[] not null,
    redirect_uri text not null,
    nonce text,
    code_hash bytea not null,
    code_challenge text not null,
    code_expires_at timestamptz not null,
    code_used_at timestamptz,
    generation integer not null default 0,
    rotated_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    due_at timestamptz,
    attempt integer not null default 0,
    primary key (project_id, id)
);
select place_table('oauth_grants', 'project_id');
alter table oauth_grants
    add foreign key (project_id, client_id) references oauth_clients(project_id, id) on delete cascade,
    add foreign key (project_id, customer_id) references customers(project_id, id) on delete cascade;
create index oauth_grants_due on oauth_grants (project_id, due_at) where due_at is not null;
create index oauth_grants_customer on oauth_grants (project_id, customer_id, client_id);
create index oauth_grants_client on oauth_grants (project_id, client_id);
