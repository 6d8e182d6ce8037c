-- Second factors of customers and developers stand in one table, and so do recovery codes: those of developers under
-- the project of zeros. The generated columns carry the foreign keys, so that rows go with whom they are about.
alter table customer_totp rename to second_factors;
alter table second_factors drop constraint customer_totp_project_id_customer_id_fkey;
alter table second_factors rename column customer_id to subject_id;
alter table second_factors rename constraint customer_totp_pkey to second_factors_pkey;
alter table second_factors
    add column customer_id uuid generated always as
        (case when project_id <> '00000000-0000-0000-0000-000000000000' then subject_id end) stored,
    add column developer_id uuid generated always as
        (case when project_id = '00000000-0000-0000-0000-000000000000' then subject_id end) stored,
    add foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade,
    add foreign key (developer_id) references developers (id) on delete cascade;
create index second_factors_customer on second_factors (project_id, customer_id) where customer_id is not null;
create index second_factors_developer on second_factors (developer_id) where developer_id is not null;

insert into second_factors (project_id, subject_id, secret, confirmed_at, used_step, created_at)
select '00000000-0000-0000-0000-000000000000', id, totp_secret, mfa_enabled_at, coalesce(totp_step, 0),
       coalesce(mfa_enabled_at, updated_at)
from developers where totp_secret is not null;
alter table developers drop column totp_secret, drop column totp_step;

alter table customer_recovery_codes rename to recovery_codes;
alter table recovery_codes drop constraint customer_recovery_codes_project_id_customer_id_fkey;
alter table recovery_codes rename column customer_id to subject_id;
alter table recovery_codes rename constraint customer_recovery_codes_pkey to recovery_codes_pkey;
alter table recovery_codes
    add column customer_id uuid generated always as
        (case when project_id <> '00000000-0000-0000-0000-000000000000' then subject_id end) stored,
    add column developer_id uuid generated always as
        (case when project_id = '00000000-0000-0000-0000-000000000000' then subject_id end) stored,
    add foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade,
    add foreign key (developer_id) references developers (id) on delete cascade;
create index recovery_codes_customer on recovery_codes (project_id, customer_id) where customer_id is not null;
create index recovery_codes_developer on recovery_codes (developer_id) where developer_id is not null;

insert into recovery_codes (project_id, subject_id, hash)
select '00000000-0000-0000-0000-000000000000', developer_id, hash from developer_recovery_codes;
drop table developer_recovery_codes;
