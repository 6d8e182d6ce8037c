"""Sending domains: DNS records, DKIM keys, verification, and blocklist checks; and single verified senders."""

PUBLIC_MODULES = (
    "dmarc_reports",
    "rules",
    "senders",
    "sending",
)
"""Beside `operations` and `model`, the modules that other features may import."""
