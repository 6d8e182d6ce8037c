"""Access control: permissions and roles of a project and its organizations, and access checks."""

PUBLIC_MODULES = ("grants",)
"""Beside `operations` and `model`, the modules that other features may import."""
