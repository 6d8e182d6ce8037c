-- Hooks: URLs of a project that are called before a sign-up, before tokens are issued, or to ask the system from which a
-- project moves. `settings.signIn.hooks` of the project lists the kinds that are on, so that nothing else is read in
-- projects without hooks.
create table sign_in_hooks (
    project_id uuid not null,
    kind text not null check (kind in ('BEFORE_SIGN_UP', 'BEFORE_TOKEN', 'MIGRATION')),
    id uuid not null,
    url text not null,
    active boolean not null,
    on_failure text not null check (on_failure in ('CONTINUE', 'REFUSE')),
    timeout_ms integer not null,
    sealed_secret bytea not null,
    previous_sealed_secret bytea,
    previous_secret_expires_at timestamptz,
    failures integer not null default 0,
    failing_since timestamptz,
    retry_at timestamptz,
    recent_failures jsonb not null default '[]',
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, kind)
);
select place_table('sign_in_hooks', 'project_id');
alter table sign_in_hooks add foreign key (project_id) references projects(id) on delete cascade;
