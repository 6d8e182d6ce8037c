"""The people a project writes to, and the lists, fixed or rule-based, that they belong to."""
