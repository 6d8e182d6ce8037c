"""Access control: permissions and roles of a project and its organizations, and access checks."""
