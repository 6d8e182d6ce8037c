"""Setup links: an organization's administrator sets up domain, single sign-on and directory without an account."""
