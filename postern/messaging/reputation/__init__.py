"""The reputation of sending domains: rates of bounces and complaints, which hold marketing mail, and warm-up plans."""

PUBLIC_MODULES = (
    "evaluation",
    "sending",
    "warm_up",
)
"""Beside `operations` and `model`, the modules that other features may import."""
