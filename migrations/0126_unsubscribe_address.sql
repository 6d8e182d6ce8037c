-- The domain of the address in `List-Unsubscribe` of a transmitted message; null if it has none.
alter table send_attempts add column unsubscribe_domain text;
