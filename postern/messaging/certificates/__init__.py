"""TLS certificates of this server's names and of tracking names, obtained by ACME."""

PUBLIC_MODULES = ()
"""The modules that other packages may import, in addition to `operations` and `model`."""
