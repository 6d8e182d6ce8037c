"""Projects, which own all other records, and their API keys."""

PUBLIC_MODULES = (
    "permissions",
    "quotas",
    "sso_check",
    "usage",
)
"""Beside `operations` and `model`, the modules that other features may import."""
