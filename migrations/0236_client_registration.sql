-- Clients that have registered themselves (RFC 7591), and until when each one is kept without being used.
alter table oauth_clients add column self_registered boolean not null default false;

create table oauth_registrations (
    project_id uuid not null,
    id uuid not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    due_at timestamptz,
    attempt integer not null default 0,
    primary key (project_id, id)
);
select place_table('oauth_registrations', 'project_id');
alter table oauth_registrations
    add foreign key (project_id, id) references oauth_clients(project_id, id) on delete cascade;
create index oauth_registrations_due on oauth_registrations (project_id, due_at) where due_at is not null;
