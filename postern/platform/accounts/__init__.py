"""Developer accounts: the people who run their product on Postern, and how they sign in."""
