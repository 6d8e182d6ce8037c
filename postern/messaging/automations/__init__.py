"""Automations: when something happens to a contact, a series of steps begins, and each happens once."""
