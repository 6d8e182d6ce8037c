"""OpenID provider: apps of a project and of others sign customers in with their account at the project."""
