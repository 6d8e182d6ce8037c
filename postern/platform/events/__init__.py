"""What happened, recorded in the transaction in which it happened, for whoever reacts."""
