-- Where the provider tells a client that a session has ended (OpenID Connect Back-Channel Logout 1.0).
alter table oauth_clients add column backchannel_logout_uri text;

-- Notices to clients that a session has ended; a row is deleted when the client has received it, or after the last
-- attempt.
create table oauth_logouts (
    project_id uuid not null,
    id uuid not null,
    client_id uuid not null,
    customer_id uuid not null,
    session_id uuid not null,
    tried integer not null default 0,
    created_at timestamptz not null,
    due_at timestamptz,
    attempt integer not null default 0,
    primary key (project_id, id)
);
select place_table('oauth_logouts', 'project_id');
alter table oauth_logouts
    add foreign key (project_id, client_id) references oauth_clients(project_id, id) on delete cascade;
create index oauth_logouts_due on oauth_logouts (project_id, due_at) where due_at is not null;
create index oauth_logouts_client on oauth_logouts (project_id, client_id);
