-- Limits on how often one contact goes through an automation and on how much marketing mail it gets.

-- Most runs that one contact starts of one automation within an hour.
alter table automations add column max_runs_per_hour int not null default 1
    check (max_runs_per_hour between 1 and 1000);
-- Whether the automation may be active although contacts can go round in a loop with it.
alter table automations add column allow_loops boolean not null default false;

-- Replaces automation_runs_contact: also counts the recent runs of one contact in one automation.
create index automation_runs_recent on automation_runs (project_id, contact_id, automation_id, started_at);
drop index automation_runs_contact;

-- Contacts that the frequency cap kept a campaign from mailing.
alter table campaigns add column skipped_frequency_cap bigint not null default 0;

-- Replaces sends_contact: also counts what a contact got within a period.
create index sends_contact_time on sends (project_id, contact_id, created_at) where contact_id is not null;
drop index sends_contact;
