"""SCIM: the directory of an organization provisions its users as members, and their roles by groups (RFC 7644)."""
