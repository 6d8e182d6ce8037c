-- Clients whose id is the URL of their metadata (draft-ietf-oauth-client-id-metadata-document): this URL, and until when
-- the metadata in the row need not be fetched again. Both are null for other clients.
alter table oauth_clients add column metadata_url text;
alter table oauth_clients add column metadata_expires_at timestamptz;
