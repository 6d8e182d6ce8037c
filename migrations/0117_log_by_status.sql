-- The log by one of the statuses that few sends have. Sends whose status changes between QUEUED, SENT and DELIVERED, as
-- almost all do, never enter the index.
create index sends_status on sends (project_id, status, id) where status not in ('QUEUED', 'SENT', 'DELIVERED');
