"""Events, recorded in the transaction of the change, and reactions to them."""

PUBLIC_MODULES = (
    "bulk_store",
    "history_store",
)
"""The modules that other packages may import, in addition to `operations` and `model`."""
