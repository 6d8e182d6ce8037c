"""Contacts of a project, and static and rule-based audiences of contacts."""

PUBLIC_MODULES = (
    "attributes",
    "contacts",
    "csv_reader",
    "imports",
    "membership",
    "rules",
)
"""Beside `operations` and `model`, the modules that other features may import."""
