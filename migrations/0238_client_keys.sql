-- The public keys with which a client authenticates (RFC 7523), or where it publishes them; both null for a secret.
alter table oauth_clients add column jwks jsonb;
alter table oauth_clients add column jwks_uri text;
-- STANDARD, or FAPI2: what the FAPI 2.0 Security Profile requires of a client.
alter table oauth_clients add column security_profile text not null default 'STANDARD';
