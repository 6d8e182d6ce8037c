-- Automations, their versions, the runs of contacts through them, and what each step did.

create table automations (
    project_id uuid not null references projects (id),
    id uuid not null,
    name text not null check (length(name) between 1 and 200),
    trigger jsonb not null,
    steps jsonb not null,
    active boolean not null default false,
    version int not null default 1,
    -- What starts it, spelled out for the look that every event takes.
    starts_on text not null,
    starts_on_audience uuid,
    once boolean not null,
    -- Events that a step of any version waits for.
    waits_for text[] not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id)
);

-- A run keeps the steps it began with.
create table automation_versions (
    project_id uuid not null,
    automation_id uuid not null,
    version int not null,
    steps jsonb not null,
    created_at timestamptz not null,
    primary key (project_id, automation_id, version),
    foreign key (project_id, automation_id) references automations (project_id, id) on delete cascade
);

create table automation_runs (
    project_id uuid not null,
    id uuid not null,
    automation_id uuid not null,
    version int not null,
    contact_id uuid not null,
    once boolean not null,
    trigger_event_id uuid not null,
    status text not null default 'RUNNING'
        check (status in ('RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED')),
    current_step int not null default 0,
    -- When the current step began to wait; null while it has not begun.
    entered_at timestamptz,
    waiting_for text,
    -- The event that ended the wait; null if it has not come.
    event_id uuid,
    -- Whether the current step speaks to the network: such runs are work of their own.
    calls boolean not null default false,
    tried int not null default 0,
    due_at timestamptz,
    attempt int not null default 0,
    error text,
    started_at timestamptz not null,
    finished_at timestamptz,
    primary key (project_id, id),
    foreign key (project_id, automation_id) references automations (project_id, id) on delete cascade,
    check ((status in ('RUNNING', 'WAITING')) = (due_at is not null))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
create index automation_runs_due on automation_runs (project_id, due_at) where due_at is not null and not calls;
create index automation_runs_calls on automation_runs (project_id, due_at) where due_at is not null and calls;
create index automation_runs_waiting on automation_runs (project_id, contact_id, waiting_for) where waiting_for is not null;
create index automation_runs_list on automation_runs (project_id, automation_id, id);
create index automation_runs_contact on automation_runs (project_id, contact_id, id);
-- Held by the database: once means once, and nobody is in the same automation twice at a time.
create unique index automation_runs_once on automation_runs (project_id, automation_id, contact_id) where once;
create unique index automation_runs_current on automation_runs (project_id, automation_id, contact_id)
    where status in ('RUNNING', 'WAITING');

-- No step is visited twice, so this is also what makes each happen once.
create table automation_run_steps (
    project_id uuid not null,
    run_id uuid not null,
    step int not null,
    type text not null,
    outcome text not null,
    detail jsonb not null default '{}',
    started_at timestamptz not null,
    finished_at timestamptz not null,
    primary key (project_id, run_id, step),
    foreign key (project_id, run_id) references automation_runs (project_id, id) on delete cascade
);

-- Totals that never count rows; several rows a measure, so that writers do not queue behind one another.
create table automation_counters (
    project_id uuid not null,
    automation_id uuid not null,
    measure text not null,
    slot smallint not null,
    count bigint not null,
    primary key (project_id, automation_id, measure, slot),
    foreign key (project_id, automation_id) references automations (project_id, id) on delete cascade
);

-- Requests that sent custom events, so that a repeated one records nothing again.
create table event_keys (
    project_id uuid not null references projects (id),
    key text not null,
    body_hash bytea not null,
    event_id uuid not null,
    created_at timestamptz not null,
    primary key (project_id, key)
);
create index event_keys_age on event_keys (created_at);
