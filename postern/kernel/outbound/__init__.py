"""HTTP requests to URLs that users supply, protected against server-side request forgery (SSRF)."""
