-- Who has begun a session as the customer, and why: `{actorType, actorId, actorLabel, reason}`. Null for a session of the
-- customer or developer themselves.
alter table sessions add column impersonation jsonb;
