-- Devices that ask to be signed in with a code that the customer enters in a browser (RFC 8628). When the customer
-- allows it, a row of oauth_grants with the same id is inserted, whose code is the device code.
create table oauth_devices (
    project_id uuid not null,
    id uuid not null,
    client_id uuid not null,
    scopes text[] not null,
    user_code text not null,
    code_hash bytea not null,
    interval_seconds integer not null,
    polled_at timestamptz,
    denied_at timestamptz,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    due_at timestamptz,
    attempt integer not null default 0,
    primary key (project_id, id)
);
select place_table('oauth_devices', 'project_id');
alter table oauth_devices
    add foreign key (project_id, client_id) references oauth_clients(project_id, id) on delete cascade;
create unique index oauth_devices_user_code on oauth_devices (project_id, user_code);
create index oauth_devices_due on oauth_devices (project_id, due_at) where due_at is not null;
create index oauth_devices_client on oauth_devices (project_id, client_id);
