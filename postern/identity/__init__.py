"""The customer half: sign-in, customers, organizations, roles, single sign-on and entitlements."""
