"""Billing: the plan of an account, its usage and limits, and the payment provider."""
