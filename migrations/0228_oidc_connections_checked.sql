-- Check the rows that were not checked when 0227 added the constraint.
alter table sso_connections validate constraint sso_connections_kind_check;
