-- No run outlives its contact, however that is deleted. Whoever records that a contact was deleted has ended its runs by
-- the end of the transaction; what is left then (a person was erased, and no event tells) ends here.
create function end_runs_of_deleted_contact() returns trigger language plpgsql as $$
begin
    with ended as (
        update automation_runs set status = 'CANCELLED', due_at = null, waiting_for = null, calls = false,
            entered_at = null, attempt = attempt + 1, error = 'The contact was deleted.', finished_at = now()
        where project_id = old.project_id and contact_id = old.id and status in ('RUNNING', 'WAITING')
        returning project_id, automation_id
    )
    insert into automation_counters as counter (project_id, automation_id, measure, slot, count)
    select project_id, automation_id, 'CANCELLED', 0, count(*) from ended group by 1, 2
    on conflict (project_id, automation_id, measure, slot) do update set count = counter.count + excluded.count;
    return null;
end $$;

create constraint trigger contacts_deleted after delete on contacts deferrable initially deferred
    for each row execute function end_runs_of_deleted_contact();
