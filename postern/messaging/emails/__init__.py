"""Outgoing e-mail: submission, composition, DKIM signatures, delivery, retries, suppressions, and the log."""

PUBLIC_MODULES = (
    "campaign_store",
    "delivery",
    "engagement",
    "enqueue",
    "erasure",
    "history_store",
    "logs",
    "outcomes",
    "pre_send_check",
    "preflight",
    "redaction",
    "return_addresses",
    "rules",
    "signals",
    "sources",
    "submission",
    "suppressions",
    "transports",
    "unattributed",
)
"""The modules that other features may import, in addition to `operations` and `model`."""
