"""Contacts of a project, and static and rule-based audiences of contacts."""
