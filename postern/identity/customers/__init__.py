"""Customers: the people who use what a project builds; how they sign in, and what a project knows about them."""

PUBLIC_MODULES = (
    "challenge_payloads",
    "identities",
    "identity_requests",
    "mailer",
    "pages",
    "providers",
    "requirements",
    "rules",
    "sessions",
    "sign_in",
    "sso_lookup",
)
"""Beside `operations` and `model`, the modules that other features may import."""
