"""Automations: an event of a contact starts a run, which executes a series of steps, each of them once."""

PUBLIC_MODULES = ("custom_events",)
"""The modules that other features may import, in addition to `operations` and `model`."""
