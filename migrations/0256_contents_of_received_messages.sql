-- Received messages can be objects of the store of contents, too (POSTERN_CONTENT_STORE).
alter table content_objects add column kind text not null default 'emails';

-- The size of the object that has the message; null while the row has it.
alter table inbound_messages add column object_octets integer;

-- Whatever deletes a received message has its object deleted, as delete_content_object() does for sent e-mails. Messages
-- of half the size from which on they are moved (16 KiB) have no object.
create function delete_received_object() returns trigger language plpgsql as $$
begin
    update content_objects as o
    set state = 'DELETED', attempt = o.attempt + 1,
        due_at = case when o.state = 'STORED' then now() else now() + interval '15 minutes' end
    where (o.project_id, o.id) = (old.project_id, old.id) and o.state <> 'DELETED';
    return null;
end $$;
create trigger content_deleted after delete on inbound_messages
    for each row when (old.object_octets is not null or pg_column_size(old.message) >= 8192)
    execute function delete_received_object();
