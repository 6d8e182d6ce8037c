"""Transports: each passes a message on to the next hop, or captures it, in one attempt. The caller retries."""
