-- Whether a TEST key caused an event is a column instead of a condition on the actor and the data.

-- Before the table is locked, because this reads all of it.
create temporary table test_events on commit drop as
select project_id, id from events
where actor_type = 'TEST_KEY'
   or data @> '{"test": true}' and split_part(type, '.', 1) in ('email', 'customer', 'invitation', 'organization');
analyze test_events;

-- From here on, requests that record or read events wait until the events found above are marked.
alter table events add column test boolean not null default false;

-- Events that were recorded while the first statement read the table. Their ids are UUIDs of version 7, which begin with
-- the time in milliseconds.
insert into test_events
select event.project_id, event.id from projects project
join events event on event.project_id = project.id
    and event.id > (lpad(to_hex((extract(epoch from now() - interval '1 hour') * 1000)::bigint), 12, '0')
                    || '70008000000000000000')::uuid
where event.actor_type = 'TEST_KEY'
   or event.data @> '{"test": true}'
      and split_part(event.type, '.', 1) in ('email', 'customer', 'invitation', 'organization');

update events event set test = true from test_events
where (event.project_id, event.id) = (test_events.project_id, test_events.id);

-- Processes of the previous release, which run beside this one for a while, insert events without the column. Otherwise
-- a run of an automation or an invitation of a TEST key would send real mail because of them. The condition is false for
-- events of this release that have false, so a later release drops the trigger without changing anything.
create function mark_test_event() returns trigger language plpgsql as $$
begin
    new.test := true;
    return new;
end
$$;
create trigger events_of_previous_release before insert on events for each row
when (not new.test and (
    new.actor_type = 'TEST_KEY'
    or new.data @> '{"test": true}' and split_part(new.type, '.', 1) in ('email', 'customer', 'invitation', 'organization')
))
execute function mark_test_event();
