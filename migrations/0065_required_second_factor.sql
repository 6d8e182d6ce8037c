-- Organizations that require a second factor of their people.

alter table organizations add column require_mfa boolean not null default false;
