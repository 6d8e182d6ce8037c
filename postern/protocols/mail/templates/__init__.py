"""Rendering of templates with values to the subject, text and HTML of a message."""
