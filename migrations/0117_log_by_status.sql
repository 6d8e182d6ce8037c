-- The log by one of the statuses that few sends have, and the events of one type. Sends whose status changes between
-- QUEUED, SENT and DELIVERED, as almost all do, never enter the first index.
create index sends_status on sends (project_id, status, id) where status not in ('QUEUED', 'SENT', 'DELIVERED');
create index events_type on events (project_id, type, id);
