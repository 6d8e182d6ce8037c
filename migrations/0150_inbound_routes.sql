-- Routes: which addresses receive mail for a project. Without a local part, a route is for every address of its domain.
create table inbound_routes (
    project_id uuid not null references projects (id),
    id uuid not null,
    domain_id uuid not null,
    name text not null,
    domain text not null,
    local_part text,
    active boolean not null,
    mx_status text not null check (mx_status in ('PENDING', 'VERIFIED', 'WRONG', 'UNKNOWN')),
    mx_found text[] not null,
    mx_reason text,
    mx_checked_at timestamptz not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique nulls not distinct (project_id, domain, local_part),
    foreign key (project_id, domain_id) references domains (project_id, id) on delete cascade
);
-- Recipients are looked up in the routes of all projects.
create index inbound_routes_by_domain on inbound_routes (domain);
