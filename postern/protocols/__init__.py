"""Standards as pure code: mail formats and protocols, SAML. No database and no HTTP server."""
