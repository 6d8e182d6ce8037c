-- Webhook subscriptions and what was delivered to them.

create table webhooks (
    project_id uuid not null references projects (id),
    id uuid not null,
    url text not null,
    events text[] not null,
    description text not null default '',
    active boolean not null default true,
    sealed_secret bytea not null,
    previous_sealed_secret bytea,
    previous_secret_expires_at timestamptz,
    -- Attempts that failed since the last one that succeeded, and when the first of them was.
    failures int not null default 0,
    failing_since timestamptz,
    disabled_at timestamptz,
    disabled_reason text,
    -- Once a day the subscription is due: its old deliveries are forgotten.
    due_at timestamptz,
    attempt int not null default 0,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id)
);
create index webhooks_due on webhooks (project_id, due_at) where due_at is not null;

-- The payload is the event's own row: what is erased there is erased here.
create table webhook_deliveries (
    project_id uuid not null,
    id uuid not null,
    webhook_id uuid not null,
    event_id uuid not null,
    event text not null,
    status text not null default 'PENDING' check (status in ('PENDING', 'SUCCEEDED', 'FAILED')),
    due_at timestamptz,
    attempt int not null default 0,
    -- Requests made in the present round of the schedule (a replay begins a new one), and in all rounds.
    tried int not null default 0,
    attempts int not null default 0,
    response_status int,
    response_body text,
    response_ms double precision,
    error_message text,
    created_at timestamptz not null,
    attempted_at timestamptz,
    delivered_at timestamptz,
    primary key (project_id, id),
    foreign key (project_id, webhook_id) references webhooks (project_id, id) on delete cascade,
    check ((status = 'PENDING') = (due_at is not null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
create index webhook_deliveries_due on webhook_deliveries (project_id, webhook_id, due_at) where due_at is not null;
create index webhook_deliveries_list on webhook_deliveries (project_id, webhook_id, id);
-- What an endpoint said goes when the event it was told of is erased.
create index webhook_deliveries_said on webhook_deliveries (project_id, event_id) where response_body <> '';
