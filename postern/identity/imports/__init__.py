"""Imports of customers from another system, with their memberships of organizations."""
