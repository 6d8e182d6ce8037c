"""Transports, which deliver messages to a relay or capture them. Each tries once and never retries."""
