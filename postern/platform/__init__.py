"""Who runs a product on Postern: accounts, projects, billing, the audit log, events and webhooks."""
