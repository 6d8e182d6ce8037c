-- Every hit on a pixel or a link, with what we make of it.

create table tracking_hits (
    project_id uuid not null,
    id uuid not null,
    send_id uuid not null,
    kind text not null check (kind in ('OPEN', 'CLICK', 'UNSUBSCRIBE')),
    url text,
    verdict text not null check (verdict in ('human', 'machine', 'proxy')),
    reason text,
    ip_address text not null,
    user_agent text not null,
    occurred_at timestamptz not null,
    primary key (project_id, id)
);
create index tracking_hits_send on tracking_hits (project_id, send_id, id);
