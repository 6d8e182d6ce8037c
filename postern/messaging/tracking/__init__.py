"""Open and click tracking, with bot detection, and unsubscribe links."""

PUBLIC_MODULES = ("recording", "unsubscribing")
"""The modules that other features may import, in addition to `operations` and `model`."""
