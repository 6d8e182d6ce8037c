"""Sign-in hooks: signed requests to a server of the project before a sign-up or token, and to the system it leaves."""

PUBLIC_MODULES = ("calling",)
"""Beside `operations` and `model`, the modules that other features may import."""
