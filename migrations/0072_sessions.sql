-- Sessions of developers and customers in one table: (project_id, subject_id) is a customer, or under the nil project a
-- developer. What ends with the person ends by the generated columns, of which one is null.
alter table customer_sessions rename to sessions;
alter table sessions rename column customer_id to subject_id;
alter table sessions rename constraint customer_sessions_pkey to sessions_pkey;
alter table sessions drop constraint customer_sessions_project_id_customer_id_fkey;
alter index customer_sessions_customer rename to sessions_subject;
alter index customer_sessions_due rename to sessions_due;
alter table sessions
    add column access_hash bytea,
    add column access_expires_at timestamptz,
    add column customer_id uuid generated always as (
        case when project_id <> '00000000-0000-0000-0000-000000000000' then subject_id end) stored,
    add column developer_id uuid generated always as (
        case when project_id = '00000000-0000-0000-0000-000000000000' then subject_id end) stored;

-- Refresh tokens of developers are made in another way from now on: a session lasts as long as its access token.
insert into sessions (project_id, id, subject_id, rotated_at, methods, authenticated_at, user_agent, ip_address,
                      created_at, last_used_at, expires_at, idle_expires_at, revoked_at, due_at, access_hash,
                      access_expires_at)
select '00000000-0000-0000-0000-000000000000', id, developer_id, rotated_at, '{pwd}', created_at, user_agent, ip_address,
       created_at, coalesce(rotated_at, created_at), expires_at, least(expires_at, access_expires_at), revoked_at,
       expires_at, access_hash, access_expires_at
from developer_sessions;
drop table developer_sessions;

alter table sessions
    add constraint sessions_customer_fkey foreign key (project_id, customer_id)
        references customers (project_id, id) on delete cascade,
    add constraint sessions_developer_fkey foreign key (developer_id) references developers (id) on delete cascade;
create index sessions_customer on sessions (project_id, customer_id) where customer_id is not null;
create index sessions_developer on sessions (developer_id) where developer_id is not null;
create unique index sessions_access on sessions (access_hash) where access_hash is not null;
