----- Accounts at a provider that wait for an administrator before they become a customer's.

create table customer_identity_requests (
    project_id uuid not null,
    id uuid not null,
    customer_id uuid not null,
    provider text not null,
    issuer text not null,
    subject text not null,
    connection_id uuid,
    email text,
    name text,
    status text not null check (status in ('PENDING', 'APPROVED', 'REJECTED')),
    created_at timestamptz not null,
    decided_at timestamptz,
    primary key (project_id, id),
    foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade,
    unique (project_id, customer_id, provider, issuer, subject)
);
create index customer_identity_requests_newest on customer_identity_requests (project_id, status, id);
