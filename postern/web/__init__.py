"""Web pages and mails: templates, layout, static files, and the pages about the server itself."""
