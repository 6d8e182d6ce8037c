"""Automations: an event of a contact starts a run, which executes a series of steps, each of them once."""
