"""OpenID Connect and OAuth, as a client: addresses, PKCE and ID tokens. Fetches nothing."""
