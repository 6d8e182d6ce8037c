"""Stored e-mails: words and looks that sends, campaigns and automations share."""
