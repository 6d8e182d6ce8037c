-- The key to which a code or the refresh tokens of a grant are bound (RFC 9449): its thumbprint; null for none.
alter table oauth_grants add column dpop_jkt text;
-- Whether the client gets only access tokens that are bound to a key.
alter table oauth_clients add column require_dpop boolean not null default false;

-- JWTs of clients that were accepted, until they expire, because each one works once: proofs of a key (RFC 9449) and
-- client assertions (RFC 7523). The id is a hash of who has signed it, and of its `jti`.
create table oauth_used_jwts (
    project_id uuid not null,
    id uuid not null,
    expires_at timestamptz not null,
    due_at timestamptz,
    attempt integer not null default 0,
    primary key (project_id, id)
);
select place_table('oauth_used_jwts', 'project_id');
alter table oauth_used_jwts
    add foreign key (project_id) references projects;
create index oauth_used_jwts_due on oauth_used_jwts (project_id, due_at) where due_at is not null;
