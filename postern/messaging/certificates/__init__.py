"""TLS certificates of this server's names and of the names of projects, obtained by ACME."""

PUBLIC_MODULES = ("pages_domains",)
"""The modules that other packages may import, in addition to `operations` and `model`."""
