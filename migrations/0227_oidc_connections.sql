-- Connections of organizations by OpenID Connect, beside SAML. `idp_entity_id` is the issuer then.
-- holds: the previous release does not write the column, so its rows have the default.
alter table sso_connections
    add column kind text not null default 'SAML',
    add column oidc_client_id text,
    add column oidc_client_secret bytea,
    add constraint sso_connections_kind_check check (kind in ('SAML', 'OIDC')) not valid;
-- The ID token of a sign-on, encrypted: a provider may demand it for a logout.
alter table sso_sign_ons add column logout_hint bytea;
