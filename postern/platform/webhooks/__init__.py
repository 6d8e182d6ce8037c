"""Webhooks: signed delivery of events to subscribed URLs, with retries."""
