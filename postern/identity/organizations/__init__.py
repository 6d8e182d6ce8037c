"""Organizations: the companies that a project's customers belong to, with members, invitations and domains."""

PUBLIC_MODULES = (
    "domains",
    "invitations",
    "members",
    "rules",
)
"""The modules that other features may import, in addition to `operations` and `model`."""
