"""Customers: the users of a project's app, how they sign in, and the data that the project stores about them."""

PUBLIC_MODULES = (
    "address_proofs",
    "addresses",
    "challenge_payloads",
    "credentials",
    "identities",
    "identity_requests",
    "importing",
    "linking",
    "mailed_challenges",
    "mailer",
    "oidc",
    "own_account",
    "pages",
    "passkeys",
    "providers",
    "provisioning",
    "requirements",
    "rules",
    "sessions",
    "sign_in",
    "timeline",
    "tokens",
    "totp",
)
"""Beside `operations` and `model`, the modules that other features may import."""
