-- From when the retry period of a send counts, if that is later than its creation and its scheduled time: the time is
-- added for which the send waited for a suspended site or a paused campaign. Null if it did not.
alter table sends add column retries_since timestamptz;

-- Amazon SES is a destination with limits, too.
alter table mail_sites drop constraint mail_sites_transport_check,
    add constraint mail_sites_transport_check check (transport in ('direct', 'relay', 'ses'));
