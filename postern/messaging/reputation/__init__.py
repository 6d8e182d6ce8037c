"""The reputation of sending domains: warm-up plans, and rates of bounces and complaints above which marketing mail is
held."""

PUBLIC_MODULES = (
    "evaluation",
    "rules",
    "sending",
    "source_warm_up",
    "warm_up",
)
"""Beside `operations` and `model`, the modules that other features may import."""
