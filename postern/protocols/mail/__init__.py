"""Mail itself: addresses, messages, signatures and the wire. Knows no project, table or request."""
