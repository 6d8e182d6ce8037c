-- The project that a certificate and an order are counted for: one of those that use the name. Null for names of this
-- server. Not named project_id: the rows belong to the account of the server at the authority, and remain until they
-- expire, also if the project is deleted or exported.
alter table certificates add column counted_for uuid;
create index certificates_project on certificates (account_id, counted_for) where counted_for is not null;
alter table certificate_orders add column counted_for uuid;
create index certificate_orders_project on certificate_orders (account_id, counted_for, ordered_at)
    where counted_for is not null;
