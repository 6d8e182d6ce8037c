-- The session of the customer for whom the link was created on the page of the organization: an OWNER who sets it up.
-- The link works only while this session is live and the customer is an OWNER. Null for links that developers create.
alter table setup_links add column session_id uuid;
