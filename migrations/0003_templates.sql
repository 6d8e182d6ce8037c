-- Stored words.

create table templates (
    project_id uuid not null references projects (id),
    id uuid not null,
    name text not null check (length(name) between 1 and 200),
    subject text,
    builder_json jsonb,
    html text,
    -- Whether html is what the builder document renders to, and not somebody's own.
    is_rendered boolean not null default false,
    text text,
    variables text[] not null default '{}',
    version int not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id)
);

create table template_versions (
    project_id uuid not null,
    template_id uuid not null,
    version int not null,
    name text not null,
    subject text,
    builder_json jsonb,
    html text,
    text text,
    created_by text,
    created_at timestamptz not null,
    primary key (project_id, template_id, version),
    foreign key (project_id, template_id) references templates (project_id, id) on delete cascade
);
