"""Mail that comes back: bounces, complaints and requests to unsubscribe, by SMTP or through the API."""

PUBLIC_MODULES = ("receiving",)
"""The modules that other features may import, in addition to `operations` and `model`."""
