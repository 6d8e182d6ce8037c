"""OpenID Connect and OAuth as a client: authorization URLs, PKCE and ID tokens. Makes no network requests."""
