"""TLS certificates of this server's names and of tracking names, obtained by ACME."""

PUBLIC_MODULES = ()
"""Beside `operations` and `model`, the modules that other features may import."""
