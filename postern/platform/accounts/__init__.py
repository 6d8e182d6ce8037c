"""Developer accounts: the people who run their product on Postern, and how they sign in."""

PUBLIC_MODULES = ("mailer",)
"""Beside `operations` and `model`, the modules that other features may import."""
