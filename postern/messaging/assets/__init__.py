"""Images that e-mails show from a public address of this server."""
