"""Single sign-on: the people of an organization come in by their own identity provider (SAML 2.0)."""
