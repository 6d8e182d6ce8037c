"""The reputation of sending domains: rates of bounces and complaints, which hold marketing mail, and warm-up plans."""

PUBLIC_MODULES = (
    "evaluation",
    "rules",
    "sending",
    "source_warm_up",
    "warm_up",
)
"""Beside `operations` and `model`, the modules that other features may import."""
