-- A later migration calls it for each new table with a column of projects, before it adds foreign keys and triggers: see
-- README.md. In a database that Citus distributes, it distributes the empty table; in others it does nothing.
create function place_table(new_table regclass, tenant_column text) returns void language plpgsql as $$
declare
    beside regclass;
begin
    if to_regclass('pg_catalog.pg_dist_partition') is null then
        return;
    end if;
    execute 'select min(logicalrelid::oid)::regclass from pg_catalog.pg_dist_partition where partmethod = ''h'''
        into beside;
    if beside is null then
        return;
    end if;
    execute format('set local citus.multi_shard_modify_mode = sequential; '
                   'set local citus.enable_unsafe_triggers = on; '
                   'select create_distributed_table(%L::regclass, %L, colocate_with => %L)',
                   new_table, tenant_column, beside);
end $$;
