"""Self-service: hosted pages on which customers manage their account, and members of an organization manage that."""
