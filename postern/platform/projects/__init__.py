"""Projects, which own all other records, and their API keys."""
