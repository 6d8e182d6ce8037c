"""SCIM 2.0 (RFC 7643, RFC 7644): schemas, filters, paths and PATCH, independent of the database and the HTTP server."""
