"""HTTP requests to addresses that users give, guarded against server-side request forgery (SSRF)."""
