"""Projects: what a team sends from and signs people in to, and the API keys that speak for one."""
