"""Customers: the people who use what a project builds; how they sign in, and what a project knows about them."""

PUBLIC_MODULES = (
    "address_proofs",
    "challenge_payloads",
    "identities",
    "identity_requests",
    "mailed_challenges",
    "mailer",
    "pages",
    "providers",
    "requirements",
    "rules",
    "sessions",
    "sign_in",
)
"""Beside `operations` and `model`, the modules that other features may import."""
