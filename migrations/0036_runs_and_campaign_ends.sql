-- Runs of contacts that were deleted end; A/B tests keep their sample and their clock.

with ended as (
    update automation_runs r set status = 'CANCELLED', due_at = null, waiting_for = null, calls = false,
        attempt = attempt + 1, error = 'The contact was deleted.', finished_at = now()
    where r.status in ('RUNNING', 'WAITING')
      and not exists (select from contacts c where (c.project_id, c.id) = (r.project_id, r.contact_id))
    returning project_id, automation_id
)
insert into automation_counters as counter (project_id, automation_id, measure, slot, count)
select project_id, automation_id, 'CANCELLED', 0, count(*) from ended group by 1, 2
on conflict (project_id, automation_id, measure, slot) do update set count = counter.count + excluded.count;

-- Who gets which variant in the test of a campaign: chosen once, when the test begins.
create table campaign_samples (
    project_id uuid not null,
    campaign_id uuid not null,
    contact_id uuid not null,
    variant_id uuid not null,
    primary key (project_id, campaign_id, contact_id)
);

-- Contacts in the sample; null until it is chosen, and for tests that began before samples were kept.
alter table campaigns add column ab_test_sample_size int;
-- Since when a campaign is paused, and how long its test has been paused in all.
alter table campaigns add column paused_at timestamptz;
alter table campaigns add column ab_test_paused interval not null default '0';
