"""Customers: the users of a project's app, how they sign in, and the data that the project stores about them."""

PUBLIC_MODULES = (
    "address_proofs",
    "challenge_payloads",
    "credentials",
    "identities",
    "identity_requests",
    "importing",
    "mailed_challenges",
    "mailer",
    "oidc",
    "pages",
    "providers",
    "provisioning",
    "requirements",
    "rules",
    "sessions",
    "sign_in",
    "tokens",
)
"""Beside `operations` and `model`, the modules that other features may import."""
