"""Authentication of developers and customers: passwords, passkeys, second factors, challenges, sessions, lockout."""
