-- One-time links of developers (verify an address, reset a password, sign in to the dashboard or the inbox page) become
-- challenges, like those of customers. Links that were issued before the upgrade stop working and must be requested
-- again: the old table has only hashes of their tokens, from which no challenge can be made. Stop all processes of the
-- previous release first: without the table they fail to sign developers up and to show or change their accounts, and
-- prepared statements that read all columns of `challenges` fail. There is no public release yet (decision 0050).
drop table developer_tokens;

-- The challenges of a developer are deleted with the developer, as the tokens were.
delete from challenges where project_id = '00000000-0000-0000-0000-000000000000'
    and subject_id is not null and subject_id not in (select id from developers);
alter table challenges add column developer_id uuid generated always as (
    case when project_id = '00000000-0000-0000-0000-000000000000'::uuid then subject_id else null::uuid end
) stored;
alter table challenges add constraint challenges_developer_fkey
    foreign key (developer_id) references developers(id) on delete cascade;
create index challenges_developer on challenges (developer_id) where (developer_id is not null);
