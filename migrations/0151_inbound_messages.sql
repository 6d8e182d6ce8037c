-- Received messages. What the columns do not have is read from `message`, the octets as they arrived.
create table inbound_messages (
    project_id uuid not null references projects (id),
    id uuid not null,
    source text not null check (source in ('smtp', 'api')),
    sender text not null,
    recipients jsonb not null,
    addresses text[] not null,
    client_ip text,
    client_name text,
    from_name text not null,
    from_email text not null,
    to_addresses jsonb not null,
    subject text not null,
    message_id text,
    send_id uuid,
    size integer not null,
    attachments integer not null,
    automatic boolean not null,
    authentication jsonb not null,
    hints jsonb not null,
    fingerprint bytea not null,
    message bytea not null,
    received_at timestamptz not null,
    primary key (project_id, id),
    -- The same message again, from a client that did not get the reply to the first one, is not stored again.
    unique (project_id, fingerprint)
);
create index inbound_messages_by_sender on inbound_messages (project_id, lower(from_email), id);
create index inbound_messages_by_send on inbound_messages (project_id, send_id, id) where send_id is not null;
create index inbound_messages_by_time on inbound_messages (project_id, received_at);

-- How much of each project is stored.
create table inbound_usage (
    project_id uuid primary key references projects (id),
    messages bigint not null,
    octets bigint not null
);

create function count_inserted_inbound_messages() returns trigger language plpgsql as $$
begin
    insert into inbound_usage as usage (project_id, messages, octets)
    select project_id, count(*), sum(size) from new_rows group by project_id order by project_id
    on conflict (project_id) do update
        set messages = usage.messages + excluded.messages, octets = usage.octets + excluded.octets;
    return null;
end $$;

create function count_deleted_inbound_messages() returns trigger language plpgsql as $$
begin
    update inbound_usage as usage set messages = usage.messages - d.messages, octets = usage.octets - d.octets
    from (select project_id, count(*) as messages, sum(size) as octets from old_rows group by project_id) as d
    where usage.project_id = d.project_id;
    return null;
end $$;

create trigger count_inserted after insert on inbound_messages
    referencing new table as new_rows for each statement execute function count_inserted_inbound_messages();
create trigger count_deleted after delete on inbound_messages
    referencing old table as old_rows for each statement execute function count_deleted_inbound_messages();
