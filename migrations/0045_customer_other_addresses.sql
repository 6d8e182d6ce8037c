----- Further addresses that sign a customer in: those of customers that were merged into this one.

-- An address is the primary address of one customer (customers.email_key) or stands here, never both: the row of a
-- merged customer goes in the transaction that inserts here, and whoever takes an address looks here afterwards.
create table customer_other_addresses (
    project_id uuid not null,
    email_key text not null,
    customer_id uuid not null,
    email text not null,
    -- The same keyed hash as customers.identifier: what failed attempts at this address are counted under.
    identifier bytea not null,
    verified_at timestamptz,
    created_at timestamptz not null,
    primary key (project_id, email_key),
    foreign key (project_id, customer_id) references customers (project_id, id) on delete cascade
);
create index customer_other_addresses_customer on customer_other_addresses (project_id, customer_id);
