"""Access: what may be done in a project and its organizations, and the roles that allow it."""
