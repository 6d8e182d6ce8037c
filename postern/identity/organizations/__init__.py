"""Organizations: the companies that a project's customers belong to, how one joins, and the domains they own."""
