-- Contacts, audiences, who belongs to which, and imports.

-- No foreign key to projects, as with events: a check per row takes a fifth of the time of an import.
-- Contacts that were deleted, under a digest of their address: what was sent to them is found when the person is erased.
create table former_contacts (
    project_id uuid not null references projects (id),
    id uuid not null,
    digest bytea not null,
    primary key (project_id, id)
);
create index former_contacts_digest on former_contacts (project_id, digest);

create table contacts (
    project_id uuid not null,
    id uuid not null,
    email text not null,
    -- The address as lookups compare it: no letter case, one spelling of the domain.
    email_key text not null,
    attributes jsonb not null default '{}' check (jsonb_typeof(attributes) = 'object'),
    unsubscribed boolean not null default false,
    unsubscribed_at timestamptz,
    last_opened_at timestamptz,
    last_clicked_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id)
);
create unique index contacts_email on contacts (project_id, email_key);
create index contacts_unsubscribed on contacts (project_id, id) where unsubscribed;

create table audiences (
    project_id uuid not null references projects (id),
    id uuid not null,
    name text not null check (length(name) between 1 and 200),
    type text not null check (type in ('STATIC', 'DYNAMIC')),
    rules jsonb,
    -- Changes with the rules, so that compiled rules can be kept between requests.
    rules_id uuid,
    -- An audience whose rules name others is looked at after them: one level above the highest.
    level int not null default 0,
    depends_on uuid[] not null default '{}',
    watches_engagement boolean not null default false,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- Rules that look at the clock are looked at again when due.
    due_at timestamptz,
    attempt int not null default 0,
    primary key (project_id, id),
    check ((type = 'DYNAMIC') = (rules is not null))
);
create index audiences_due on audiences (project_id, due_at) where due_at is not null;
create index audiences_dynamic on audiences (project_id, level, id) where type = 'DYNAMIC';

-- No foreign keys: members come and go by the million in one statement, and a check per row would take longer
-- than the change itself. Whoever deletes a contact or an audience deletes its rows here in the same transaction.
create table audience_members (
    project_id uuid not null,
    audience_id uuid not null,
    contact_id uuid not null,
    joined_at timestamptz not null,
    primary key (project_id, audience_id, contact_id)
);
create index audience_members_contact on audience_members (project_id, contact_id);

create table contact_imports (
    project_id uuid not null references projects (id),
    id uuid not null,
    status text not null check (status in ('UPLOADING', 'PENDING', 'RUNNING', 'COMPLETED', 'FAILED')),
    mode text not null check (mode in ('upsert', 'skip')),
    bytes bigint not null default 0,
    -- Where the next batch begins: all before it is done, in the transaction that moved it.
    position bigint not null default 0,
    line bigint not null default 1,
    rows bigint not null default 0,
    created bigint not null default 0,
    updated bigint not null default 0,
    skipped bigint not null default 0,
    failed bigint not null default 0,
    errors jsonb not null default '[]',
    actor_type text not null,
    actor_id uuid,
    actor_label text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    finished_at timestamptz,
    due_at timestamptz,
    attempt int not null default 0,
    primary key (project_id, id)
);
create index contact_imports_due on contact_imports (project_id, due_at) where due_at is not null;

-- The file of an import, in the pieces in which it came; a piece goes when it has been read.
create table contact_import_pieces (
    project_id uuid not null,
    import_id uuid not null,
    starts_at bigint not null,
    data bytea not null,
    primary key (project_id, import_id, starts_at),
    foreign key (project_id, import_id) references contact_imports (project_id, id) on delete cascade
);
alter table contact_import_pieces alter column data set storage external;

-- The moment that an attribute spells, or null: an ISO 8601 date, or date and time; UTC unless it says otherwise.
-- Never raises, whatever the attribute holds; postern/audiences/rules.py has the same pattern.
create function attribute_moment(value jsonb) returns timestamptz
language plpgsql immutable parallel safe as $$
declare
    written text := value #>> '{}';
    year int;
begin
    if jsonb_typeof(value) is distinct from 'string' or length(written) > 40 or written !~
        ('^(?!0000)\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|[12]\d))'
         '([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?(Z|[+-](0\d|1[0-3]):[0-5]\d)?)?$')
    then
        return null;
    end if;
    year := substr(written, 1, 4)::int;
    if substr(written, 6, 5) = '02-29' and not (year % 4 = 0 and (year % 100 <> 0 or year % 400 = 0))
        or substr(written, 6, 5) = '02-30'
    then
        return null;
    end if;
    if length(written) = 10 then
        return (written || ' 00:00Z')::timestamptz;
    elsif written ~ '(Z|[+-]\d\d:\d\d)$' then
        return written::timestamptz;
    end if;
    return (written || 'Z')::timestamptz;
end
$$;

-- The `number`th of the ids that follow `first` (a UUIDv7): rows that a statement makes in bulk get ids that lie
-- together, in one range that is theirs alone (RFC 9562 §6.2 method 1, a counter in the last 32 bits).
create function id_after(first uuid, number bigint) returns uuid
language sql immutable parallel safe as $$
    select encode(substring(uuid_send(first) from 1 for 12) || substring(int8send(number) from 5 for 4), 'hex')::uuid
$$;
