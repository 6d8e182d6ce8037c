"""Open and click tracking, with bot detection, and unsubscribe links."""
