-- The id that a provider gave to the message of an attempt and wrote into its Message-ID, so that replies refer to it.
-- Null for transports that keep the Message-ID, so that most attempts never enter the index.
alter table send_attempts add column provider_id text;
create index send_attempts_provider_id on send_attempts (provider_id) where provider_id is not null;
