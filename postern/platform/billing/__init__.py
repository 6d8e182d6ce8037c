"""Plans: what an account has booked, what it has used, and where it pays, if anywhere."""
