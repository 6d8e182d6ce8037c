-- Access: what can be allowed in a project, and the roles that allow it. System roles are the same everywhere and
-- have no rows; a key that a system role has is refused in any spelling.

create table access_permissions (
    project_id uuid not null references projects (id),
    id uuid not null,
    key text not null check (length(key) <= 128),
    description text,
    created_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, key)
);

create table access_roles (
    project_id uuid not null references projects (id),
    id uuid not null,
    key text not null check (upper(key) not in ('OWNER', 'ADMIN', 'MEMBER')),
    name text not null,
    description text,
    scope text not null check (scope in ('PROJECT', 'ORGANIZATION')),
    -- Whoever holds the role in the project has it in every organization.
    applies_to_all_organizations boolean not null default false,
    permissions text[] not null default '{}',
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, key)
);

-- Who has a role in the project: asked before a role is deleted.
create index customers_roles on customers using gin (project_id, roles) where roles <> '{}';

create table organizations (
    project_id uuid not null references projects (id),
    id uuid not null,
    name text not null check (length(name) between 1 and 200),
    slug text not null check (length(slug) between 1 and 100),
    external_id text check (length(external_id) between 1 and 255),
    -- DELETED is gone for everybody; the row stays until what hangs on it has been removed, chunk by chunk.
    status text not null default 'ACTIVE' check (status in ('ACTIVE', 'SUSPENDED', 'DELETED')),
    metadata jsonb not null default '{}',
    created_at timestamptz not null,
    updated_at timestamptz not null,
    due_at timestamptz,
    attempt int not null default 0,
    primary key (project_id, id),
    unique (project_id, slug)
);
create index organizations_due on organizations (project_id, due_at) where due_at is not null;
create unique index organizations_external on organizations (project_id, external_id) where external_id is not null;

create table organization_members (
    project_id uuid not null,
    id uuid not null,
    organization_id uuid not null,
    customer_id uuid not null,
    roles text[] not null check (roles <> '{}'),
    source text not null check (source in ('API', 'INVITATION', 'DOMAIN', 'SSO')),
    joined_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    -- Its only index by organization: with another one, a planner that thinks organizations small would look for
    -- a member by reading all of them.
    unique (project_id, organization_id, customer_id),
    foreign key (project_id, organization_id) references organizations (project_id, id) on delete cascade,
    foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade
);
create index organization_members_customer on organization_members (project_id, customer_id);
create index organization_members_owners on organization_members (project_id, organization_id)
    where 'OWNER' = any (roles);
create index organization_members_roles on organization_members using gin (project_id, roles)
    where roles <> '{MEMBER}';

-- A pending invitation is due when its mail has to be written, and again when it expires.
create table invitations (
    project_id uuid not null,
    id uuid not null,
    organization_id uuid not null,
    email text not null,
    email_key text not null,
    role text not null,
    status text not null check (status in ('PENDING', 'ACCEPTED', 'REVOKED', 'EXPIRED')),
    accept_url text,
    invited_by uuid,
    accepted_by uuid,
    -- Tokens are numbered; only the newest is good. Its mail is out when `mailed` has reached it.
    generation int not null default 1,
    mailed int not null default 0,
    mailed_at timestamptz,
    mail_problem text,
    life interval not null,
    sent_at timestamptz not null,
    expires_at timestamptz not null,
    accepted_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz not null,
    due_at timestamptz,
    attempt int not null default 0,
    primary key (project_id, id),
    foreign key (project_id, organization_id) references organizations (project_id, id) on delete cascade,
    foreign key (project_id, invited_by) references customers (project_id, id) on delete set null (invited_by),
    foreign key (project_id, accepted_by) references customers (project_id, id) on delete set null (accepted_by)
);
create unique index invitations_pending on invitations (project_id, organization_id, email_key)
    where status = 'PENDING';
create index invitations_newest on invitations (project_id, organization_id, id);
create index invitations_invited_by on invitations (project_id, invited_by) where invited_by is not null;
create index invitations_accepted_by on invitations (project_id, accepted_by) where accepted_by is not null;
create index invitations_role on invitations (project_id, role) where status = 'PENDING';
create index invitations_due on invitations (project_id, due_at) where due_at is not null;

create table organization_domains (
    project_id uuid not null,
    id uuid not null,
    organization_id uuid not null,
    domain text not null,
    status text not null check (status in ('PENDING', 'VERIFIED', 'FAILED', 'LAPSED')),
    token text not null,
    auto_join_enabled boolean not null default false check (not auto_join_enabled or status = 'VERIFIED'),
    verified_at timestamptz,
    last_checked_at timestamptz,
    -- Why the last look did not end well.
    reason text,
    watched_since timestamptz not null,
    -- Since when, and how many times, the record of a verified domain was looked for and not there.
    missing_since timestamptz,
    misses int not null default 0,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    due_at timestamptz,
    attempt int not null default 0,
    primary key (project_id, id),
    unique (project_id, organization_id, domain),
    foreign key (project_id, organization_id) references organizations (project_id, id) on delete cascade
);
-- A domain belongs to whoever proved it first, as long as the proof stands.
create unique index organization_domains_verified on organization_domains (project_id, domain)
    where status = 'VERIFIED';
create index organization_domains_newest on organization_domains (project_id, organization_id, id);
create index organization_domains_due on organization_domains (project_id, due_at) where due_at is not null;
