"""Events, recorded in the transaction of the change, and reactions to them."""

PUBLIC_MODULES = (
    "bulk_store",
    "history_store",
)
"""Beside `operations` and `model`, the modules that other features may import."""
