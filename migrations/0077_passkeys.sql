-- Passkeys of customers and developers stand in one table: those of developers under the project of zeros. The user
-- handle is kept, because a passkey shows the id that it was made for, also when that customer was merged into another.
alter table customer_passkeys rename to passkeys;
alter table passkeys drop constraint customer_passkeys_project_id_customer_id_fkey;
alter table passkeys rename column customer_id to subject_id;
alter table passkeys rename constraint customer_passkeys_pkey to passkeys_pkey;
alter table passkeys rename constraint customer_passkeys_project_id_credential_id_key
    to passkeys_project_id_credential_id_key;
alter index customer_passkeys_customer rename to passkeys_subject;
alter table passkeys
    add column user_handle bytea,
    add column customer_id uuid generated always as
        (case when project_id <> '00000000-0000-0000-0000-000000000000' then subject_id end) stored,
    add column developer_id uuid generated always as
        (case when project_id = '00000000-0000-0000-0000-000000000000' then subject_id end) stored,
    add foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade,
    add foreign key (developer_id) references developers (id) on delete cascade;
create index passkeys_customer on passkeys (project_id, customer_id) where customer_id is not null;
create index passkeys_developer on passkeys (developer_id) where developer_id is not null;

update passkeys p set user_handle = uuid_send(subject_id)
where not exists (select from customer_merges m where (m.project_id, m.customer_id) = (p.project_id, p.subject_id));
