"""Webhooks: your server is told what happened, signed, again and again until it has understood."""
