"""Mail that goes out: accepted, composed, signed, handed over, retried, and logged with its whole story."""
