"""OpenID Connect and OAuth: authorization URLs, PKCE and ID tokens for clients; proofs of possession and assertions of
clients for servers. Makes no network requests."""
