"""OpenID provider: apps of a project and of others sign customers in with their account at the project."""

PUBLIC_MODULES = ("browsers", "tokens")
"""Beside `operations` and `model`, the modules that other features may import."""
