"""Sending domains: a name to send from, the records that prove it is yours, and its standing with others."""
