"""Projects, which own all other records, and their API keys."""

PUBLIC_MODULES = (
    "archive",
    "permissions",
    "quotas",
    "retention",
    "sso_check",
    "usage",
)
"""The modules that other packages may import, in addition to `operations` and `model`."""
