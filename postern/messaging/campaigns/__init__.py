"""Campaigns: one message, or the variants of an A/B test, sent once to each contact of an audience."""
