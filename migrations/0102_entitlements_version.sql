-- The version of an organization's entitlements is the sum of these two counters and of the overrides that have expired
-- but are not deleted yet; see docs/decisions/0060-organization-context-in-the-token.md.
alter table organizations add column entitlements_version bigint not null default 0;

create table entitlement_versions (
    project_id uuid primary key references projects (id),
    version bigint not null
);
