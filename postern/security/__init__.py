"""Proving who somebody is, for developers and for customers alike: attempts that are counted before they are judged."""
