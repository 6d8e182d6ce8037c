-- The type of each attribute of a project's contacts: how a cell of a CSV file is read, and how an export writes it.
create table contact_attributes (
    project_id uuid not null references projects (id),
    id uuid not null,
    name text not null check (length(name) between 1 and 100),
    type text not null check (type in ('string', 'number', 'boolean', 'date', 'list')),
    inferred boolean not null,
    description text not null default '' check (length(description) <= 500),
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, name)
);
