-- Contents of sent e-mails can be objects of a store (POSTERN_CONTENT_STORE) instead of rows. A row is here before the
-- object is, and until the object is deleted, so that no object is forgotten: WAITING until the content is moved (an
-- object may have been begun), STORED, and DELETED until the object is deleted, too. It has no foreign key, because it
-- outlives its project.
create table content_objects (
    project_id uuid not null,
    id uuid not null,
    state text not null default 'WAITING' check (state in ('WAITING', 'STORED', 'DELETED')),
    due_at timestamptz,
    attempt integer not null default 0,
    primary key (project_id, id)
);
select place_table('content_objects', 'project_id');
create index content_objects_due on content_objects (project_id, due_at) where due_at is not null;

-- The size of the object that has the content; null while the row has it. This follows place_table, because Citus places
-- no table after it has changed one in the same transaction.
alter table send_bodies add column object_octets integer;

-- Until when the contents were looked through for large ones, and since when the store has its marker. One row.
create table content_state (
    id smallint primary key,
    scanned_until timestamptz,
    marked_at timestamptz
);

-- Whatever deletes a content has its object deleted. An object that is perhaps being written is deleted when no worker
-- can be writing it any more. Contents of half the size from which on they are moved (16 KiB) have no object: without
-- this condition, the trigger takes longer than the deletion of the row.
create function delete_content_object() returns trigger language plpgsql as $$
begin
    update content_objects as o
    set state = 'DELETED', attempt = o.attempt + 1,
        due_at = case when o.state = 'STORED' then now() else now() + interval '15 minutes' end
    where (o.project_id, o.id) = (old.project_id, old.send_id) and o.state <> 'DELETED';
    return null;
end $$;
create trigger content_deleted after delete on send_bodies
    for each row when (old.object_octets is not null or pg_column_size(old.body) >= 8192)
    execute function delete_content_object();
