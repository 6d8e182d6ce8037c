"""Stored e-mail templates that sends, campaigns and automations use."""
