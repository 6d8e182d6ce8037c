-- Why an address was suppressed before it was for its present reason, oldest first; and when that one came.
alter table suppressions add column history jsonb not null default '[]';
alter table suppressions add column updated_at timestamptz;
