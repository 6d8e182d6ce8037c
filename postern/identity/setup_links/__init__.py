"""Setup links: an organization's administrator sets up domain, single sign-on and directory without an account."""

PUBLIC_MODULES = ("holder",)
"""Beside `operations` and `model`, the modules that other features may import."""
