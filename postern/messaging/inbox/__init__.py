"""The inbox view: messages that were captured instead of being sent, for developers."""
