"""Customers: the people who use what a project builds; how they sign in, and what a project knows about them."""
