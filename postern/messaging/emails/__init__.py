"""Mail that goes out: accepted, composed, signed, handed over, retried, and logged with its whole story."""

PUBLIC_MODULES = (
    "campaign_store",
    "delivery",
    "engagement",
    "enqueue",
    "erasure",
    "history_store",
    "outcomes",
    "pre_send_check",
    "redaction",
    "rules",
    "transports",
)
"""Beside `operations` and `model`, the modules that other features may import."""
