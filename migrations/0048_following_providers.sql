----- What a provider called an account's address last, and who was removed from an organization.

-- Where it changes there and was the customer's primary address, the customer's follows.
alter table customer_identities add column email_key text;

-- Who was removed (or left) is not joined again by domain or single sign-on until somebody invites or adds them.
create table organization_removals (
    project_id uuid not null,
    organization_id uuid not null,
    customer_id uuid not null,
    removed_at timestamptz not null,
    primary key (project_id, organization_id, customer_id),
    foreign key (project_id, organization_id) references organizations (project_id, id) on delete cascade,
    foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade
);
create index organization_removals_customer on organization_removals (project_id, customer_id);
