-- An address belongs to the one developer who proved it. Until then any number of sign-ups may name it, none of which
-- can do anything that lasts.

-- Accounts that the operator's console made count as proven.
update developers set email_verified_at = created_at
where email_verified_at is null and email ~ '^developer-[0-9a-f]{8}@example\.com$';

drop index developers_email;
create unique index developers_email on developers (lower(email)) where email_verified_at is not null;
create index developers_unproven on developers (lower(email), created_at) where email_verified_at is null;

-- Whether the account came from a sign-up whose address is not proven: its projects capture all mail.
alter table accounts add column unproven boolean not null default false;
create index accounts_unproven on accounts (created_at) where unproven;
