"""Open and click tracking, with bot detection, and unsubscribe links."""

PUBLIC_MODULES = ("recording",)
"""Beside `operations` and `model`, the modules that other features may import."""
