-- What a TEST key starts stays TEST: a session that began with one, and a run of an automation that its event started.
alter table automation_runs add column test boolean not null default false;

update automation_runs run set test = true from events event
where event.project_id = run.project_id and event.id = run.trigger_event_id
  and (event.actor_type = 'TEST_KEY'
       or split_part(event.type, '.', 1) in ('email', 'customer') and event.data -> 'test' = 'true');

-- A contact has its runs of TEST keys beside those of LIVE keys.
drop index automation_runs_current;
create unique index automation_runs_current on automation_runs (project_id, automation_id, contact_id, test)
    where status in ('RUNNING', 'WAITING');
drop index automation_runs_once;
create unique index automation_runs_once on automation_runs (project_id, automation_id, contact_id, test) where once;

-- Last, because every request with an access token waits for this lock.
alter table sessions add column test boolean not null default false;
