"""Accounts of developers who run their products on Postern: sign-in, members, invitations, export and deletion."""

PUBLIC_MODULES = ("links", "mailer")
"""The modules that other packages may import, in addition to `operations` and `model`."""
