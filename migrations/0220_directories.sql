-- Directories of organizations, which provision users and groups by SCIM 2.0 (RFC 7643, RFC 7644).
create table directory_connections (
    project_id uuid not null,
    id uuid not null,
    organization_id uuid not null,
    name text not null check (length(name) between 1 and 200),
    status text not null check (status in ('ACTIVE', 'DISABLED', 'DELETED')),
    default_roles text[] not null check (default_roles <> '{}'),
    group_roles jsonb not null default '{}',
    allow_other_domains boolean not null default false,
    last_synced_at timestamptz,
    -- The number of users, which is too high by those whose customers were erased.
    stored_user_count integer not null default 0,
    -- The customers that the directory has created, also those whose users are deleted.
    created_count integer not null default 0,
    -- The last user whose roles were computed anew after a change of the roles; null if no such work is pending.
    roles_through uuid,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    due_at timestamptz,
    attempt integer not null default 0,
    primary key (project_id, id)
);
select place_table('directory_connections', 'project_id');
alter table directory_connections
    add foreign key (project_id, organization_id) references organizations (project_id, id) on delete cascade;
create index directory_connections_newest on directory_connections (project_id, organization_id, id);
create index directory_connections_due on directory_connections (project_id, due_at) where due_at is not null;

-- Bearer tokens of directories. Of a token, only a keyed hash is stored.
create table directory_tokens (
    project_id uuid not null,
    id uuid not null,
    connection_id uuid not null,
    hash bytea not null,
    created_at timestamptz not null,
    -- When the token ends, because another one has replaced it; null for the newest one.
    expires_at timestamptz,
    last_used_at timestamptz,
    primary key (project_id, id)
);
select place_table('directory_tokens', 'project_id');
alter table directory_tokens
    add foreign key (project_id, connection_id) references directory_connections (project_id, id) on delete cascade;
create index directory_tokens_hash on directory_tokens (hash);
create index directory_tokens_connection on directory_tokens (project_id, connection_id, id);

-- Requests of directories that were refused.
create table directory_errors (
    project_id uuid not null,
    id uuid not null,
    connection_id uuid not null,
    method text not null,
    path text not null,
    status integer not null,
    scim_type text,
    detail text not null,
    occurred_at timestamptz not null,
    -- When the row is deleted.
    due_at timestamptz,
    attempt integer not null default 0,
    primary key (project_id, id)
);
select place_table('directory_errors', 'project_id');
alter table directory_errors
    add foreign key (project_id, connection_id) references directory_connections (project_id, id) on delete cascade;
create index directory_errors_connection on directory_errors (project_id, connection_id, id);
create index directory_errors_due on directory_errors (project_id, due_at) where due_at is not null;

-- Users that directories have provisioned. The customer of an inactive one is not a member of the organization.
create table directory_users (
    project_id uuid not null,
    id uuid not null,
    connection_id uuid not null,
    customer_id uuid not null,
    external_id text,
    user_name text not null,
    user_name_key text not null,
    display_name text,
    active boolean not null,
    email_keys text[] not null,
    attributes jsonb not null,
    -- The roles of the member that the directory has added, and takes away again.
    roles text[] not null default '{}',
    version integer not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, connection_id, user_name_key),
    unique (project_id, connection_id, customer_id)
);
select place_table('directory_users', 'project_id');
alter table directory_users
    add foreign key (project_id, connection_id) references directory_connections (project_id, id) on delete cascade,
    add foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade;
create unique index directory_users_external on directory_users (project_id, connection_id, external_id)
    where external_id is not null;
create index directory_users_newest on directory_users (project_id, connection_id, id);
create index directory_users_changed on directory_users (project_id, connection_id, updated_at);
create index directory_users_customer on directory_users (project_id, customer_id);
create index directory_users_emails on directory_users using gin (project_id, email_keys);

create table directory_groups (
    project_id uuid not null,
    id uuid not null,
    connection_id uuid not null,
    external_id text,
    display_name text not null,
    display_name_key text not null,
    version integer not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, connection_id, display_name_key)
);
select place_table('directory_groups', 'project_id');
alter table directory_groups
    add foreign key (project_id, connection_id) references directory_connections (project_id, id) on delete cascade;
create unique index directory_groups_external on directory_groups (project_id, connection_id, external_id)
    where external_id is not null;
create index directory_groups_newest on directory_groups (project_id, connection_id, id);

create table directory_group_members (
    project_id uuid not null,
    group_id uuid not null,
    user_id uuid not null,
    added_at timestamptz not null,
    primary key (project_id, group_id, user_id)
);
select place_table('directory_group_members', 'project_id');
alter table directory_group_members
    add foreign key (project_id, group_id) references directory_groups (project_id, id) on delete cascade,
    add foreign key (project_id, user_id) references directory_users (project_id, id) on delete cascade;
create index directory_group_members_user on directory_group_members (project_id, user_id);
