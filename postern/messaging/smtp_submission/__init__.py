"""Sending by SMTP: a program logs in with an API key, and its messages are accepted like those of `POST /emails`."""
