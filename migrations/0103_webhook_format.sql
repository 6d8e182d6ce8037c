-- The form of the payloads and signature headers of a webhook subscription: `postern`, or that of another company's API.
alter table webhooks add column if not exists format text default 'postern' not null;
