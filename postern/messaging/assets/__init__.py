"""Images for e-mails, which mail programs load from a public URL of this server."""
