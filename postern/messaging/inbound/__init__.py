"""Received mail, by SMTP or through the API: bounces, complaints, requests to unsubscribe, and mail to routes."""

PUBLIC_MODULES = ("receiving", "retention")
"""The modules that other packages may import, in addition to `operations` and `model`."""
