-- The project that a certificate and an order are counted for: one of those that use the name. Null for names of this
-- server. No foreign key: a certificate remains until it expires, also if the project is deleted.
alter table certificates add column project_id uuid;
create index certificates_project on certificates (account_id, project_id) where project_id is not null;
alter table certificate_orders add column project_id uuid;
create index certificate_orders_project on certificate_orders (account_id, project_id, ordered_at)
    where project_id is not null;
