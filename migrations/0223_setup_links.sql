-- Links with which an administrator of an organization sets up its domain, single sign-on and directory, without an
-- account. Of the token, and of the browser that has opened the link, only keyed hashes are stored.
create table setup_links (
    project_id uuid not null,
    id uuid not null,
    organization_id uuid not null,
    steps text[] not null check (steps <> '{}' and steps <@ array['DOMAIN', 'SSO', 'SCIM']),
    assignable_roles text[] not null,
    email text,
    test boolean not null,
    token_hash bytea not null,
    browser_hash bytea,
    -- The provider that the administrator has chosen, and what the links of the organization have created.
    provider text,
    sso_connection_id uuid,
    directory_connection_id uuid,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    opened_at timestamptz,
    last_used_at timestamptz,
    completed_at timestamptz,
    revoked_at timestamptz,
    primary key (project_id, id)
);
select place_table('setup_links', 'project_id');
alter table setup_links
    add foreign key (project_id, organization_id) references organizations (project_id, id) on delete cascade;
create index setup_links_newest on setup_links (project_id, organization_id, id);
