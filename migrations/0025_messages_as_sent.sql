-- What is needed to show a message exactly as it went over the wire.

-- The `Date` of a message: when it was first handed over. Null until then, and for messages from before this column.
alter table sends add column dated_at timestamptz;

-- The DKIM-Signature fields that an attempt put before the message, and where its tracked links led. Null where the
-- message is not kept (campaigns) or was stored as a whole (captured).
alter table send_attempts add column signatures text;
alter table send_attempts add column links_base text;
