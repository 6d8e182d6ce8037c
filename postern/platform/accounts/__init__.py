"""Accounts of developers who run their products on Postern: sign-in, members, invitations, export and deletion."""

PUBLIC_MODULES = ("mailer",)
"""Beside `operations` and `model`, the modules that other features may import."""
