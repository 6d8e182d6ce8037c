"""The inbox view: messages that were captured instead of sent, for developers to look at."""
