"""Organizations: the companies that a project's customers belong to, how one joins, and the domains they own."""

PUBLIC_MODULES = (
    "domains",
    "members",
    "rules",
)
"""Beside `operations` and `model`, the modules that other features may import."""
