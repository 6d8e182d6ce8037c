-- Images for e-mails, which are public under a random token.
create table assets (
    project_id uuid not null references projects (id),
    id uuid not null,
    token text not null,
    name text not null,
    content_type text not null check (content_type in ('image/png', 'image/jpeg', 'image/gif', 'image/webp')),
    size integer not null,
    width integer not null,
    height integer not null,
    sha256 bytea not null,
    content bytea not null,
    created_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, sha256)
);
-- Images are compressed already.
alter table assets alter column content set storage external;
create unique index assets_token on assets (token);
