"""SAML 2.0 as a service provider: what a company's own sign-in says. Knows no project, table or request."""
