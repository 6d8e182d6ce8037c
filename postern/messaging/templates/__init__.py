"""Stored e-mail templates that sends, campaigns and automations use."""

PUBLIC_MODULES = ("rules",)
"""The modules that other features may import, in addition to `operations` and `model`."""
