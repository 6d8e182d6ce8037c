"""Sending domains: DNS records, DKIM keys, verification, and blocklist checks; and single verified senders."""
