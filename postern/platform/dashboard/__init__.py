"""The session of the dashboard: a developer's tokens in an encrypted cookie, with which a middleware calls the API."""
