"""Campaigns: one message, or several that compete, to everybody in an audience, each exactly once."""
