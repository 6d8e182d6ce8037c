-- Single addresses that a project may send from: each proved by a mail to it, without a domain that is verified.
create table senders (
    project_id uuid not null references projects (id) on delete cascade,
    id uuid not null,
    email text not null check (length(email) between 3 and 320),
    status text not null check (status in ('PENDING', 'VERIFIED')),
    -- What the domain of the address asked receivers to do with unaligned mail, when that was last looked up.
    dmarc_policy text check (dmarc_policy in ('none', 'quarantine', 'reject')),
    -- A keyed hash of the token in the last mail; the token itself is nowhere but in that mail.
    token_hash bytea not null,
    token_expires_at timestamptz not null,
    verified_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    check ((verified_at is not null) = (status = 'VERIFIED'))
);
-- Addresses that differ in case alone are one.
create unique index senders_by_address on senders (project_id, lower(email));
