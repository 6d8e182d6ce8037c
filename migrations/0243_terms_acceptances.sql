-- Which versions of a project's terms a customer has accepted, when, and from where.
create table terms_acceptances (
    project_id uuid not null,
    customer_id uuid not null,
    version text not null,
    accepted_at timestamptz not null,
    ip_address text not null,
    user_agent text not null,
    primary key (project_id, customer_id, version)
);
select place_table('terms_acceptances', 'project_id');
alter table terms_acceptances
    add foreign key (project_id, customer_id) references customers(project_id, id) on delete cascade;
