"""Obtaining certificates from a certificate authority by ACME (RFC 8555)."""
