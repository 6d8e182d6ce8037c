"""Stored e-mail templates that sends, campaigns and automations use."""

PUBLIC_MODULES = ("rules",)
"""Beside `operations` and `model`, the modules that other features may import."""
