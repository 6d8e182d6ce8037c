-- Addresses whose contact had unsubscribed when it was deleted or got another address, under a digest: a contact that is
-- made with such an address is unsubscribed, until somebody subscribes it again.
create table unsubscribed_addresses (
    project_id uuid not null,
    digest bytea not null,
    created_at timestamptz not null,
    primary key (project_id, digest)
);
