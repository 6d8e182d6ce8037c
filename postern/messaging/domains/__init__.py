"""Sending domains: DNS records, DKIM keys, verification, and blocklist checks; and single verified senders."""

PUBLIC_MODULES = (
    "dmarc_reports",
    "dns_check",
    "rules",
    "senders",
    "sending",
)
"""The modules that other packages may import, in addition to `operations` and `model`."""
