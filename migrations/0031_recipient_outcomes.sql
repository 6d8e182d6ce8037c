-- What became of each recipient, where a send has several: {"address": {"status", "reason", "at"}}. Null for a send to
-- one address, whose own columns say it.
alter table sends add column outcomes jsonb;
