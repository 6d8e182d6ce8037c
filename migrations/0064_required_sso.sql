-- Organizations that have their people sign in by single sign-on alone.

alter table organizations add column require_sso boolean not null default false;

-- The organization whose connection began a session; null where it began in another way.
alter table customer_sessions add column sso_organization_id uuid;
