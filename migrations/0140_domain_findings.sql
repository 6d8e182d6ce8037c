-- The mistakes in the DNS records of a domain that its last check found.
alter table domains add column findings jsonb not null default '[]';
