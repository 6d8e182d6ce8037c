"""From a template and values to the subject, text and HTML of a message."""
