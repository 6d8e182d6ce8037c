-- Keep no statistics of columns that no condition compares and no list is ordered by. While a campaign is sent,
-- autovacuum analyzes these tables again and again, and sorting their texts, arrays and JSON took most of that time.

alter table sends
    alter column message_id set statistics 0,
    alter column subject set statistics 0,
    alter column sender set statistics 0,
    alter column to_addresses set statistics 0,
    alter column cc_addresses set statistics 0,
    alter column bcc_addresses set statistics 0,
    alter column pending set statistics 0,
    alter column tries set statistics 0,
    alter column ambiguous_attempts set statistics 0,
    alter column expires_at set statistics 0,
    alter column delayed_at set statistics 0,
    alter column dated_at set statistics 0,
    alter column outcomes set statistics 0,
    alter column retries_since set statistics 0;

alter table send_attempts
    alter column host set statistics 0,
    alter column results set statistics 0,
    alter column dialogue set statistics 0,
    alter column duration_ms set statistics 0,
    alter column signatures set statistics 0,
    alter column links_base set statistics 0,
    alter column unsubscribe_domain set statistics 0,
    alter column transport set statistics 0;

alter table events
    alter column actor_label set statistics 0,
    alter column data set statistics 0;
