-- Access: what can be allowed in a project, and the roles that allow it. System roles are the same everywhere and
-- have no rows; a key that a system role has is refused in any spelling.

create table access_permissions (
    project_id uuid not null references projects (id),
    id uuid not null,
    key text not null check (length(key) <= 128),
    description text,
    created_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, key)
);

create table access_roles (
    project_id uuid not null references projects (id),
    id uuid not null,
    key text not null check (upper(key) not in ('OWNER', 'ADMIN', 'MEMBER')),
    name text not null,
    description text,
    scope text not null check (scope in ('PROJECT', 'ORGANIZATION')),
    -- Whoever holds the role in the project has it in every organization.
    applies_to_all_organizations boolean not null default false,
    permissions text[] not null default '{}',
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, key)
);
