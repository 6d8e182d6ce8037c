"""Organizations: the companies that a project's customers belong to, with members, invitations and domains."""

PUBLIC_MODULES = (
    "domains",
    "members",
    "rules",
)
"""Beside `operations` and `model`, the modules that other features may import."""
