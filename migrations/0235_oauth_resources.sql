-- The APIs of a project for which clients can ask for access tokens (RFC 8707).
create table oauth_resources (
    project_id uuid not null,
    id uuid not null,
    environment text not null,
    identifier text not null,
    name text not null,
    scopes text[] not null,
    introspection_client_id uuid,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id)
);
select place_table('oauth_resources', 'project_id');
alter table oauth_resources
    add foreign key (project_id) references projects;
create unique index oauth_resources_identifier on oauth_resources (project_id, identifier);

-- The resource for which tokens are issued; null for the provider itself.
alter table oauth_grants add column resource text;
alter table oauth_devices add column resource text;
-- The permissions that a customer has allowed the client at each resource.
alter table oauth_consents add column resource_scopes jsonb not null default '{}';
