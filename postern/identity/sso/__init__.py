"""Single sign-on: the members of an organization sign in with its identity provider (SAML 2.0)."""
