"""The reputation of sending domains: warm-up plans, and rates of bounces and complaints above which marketing mail is
held."""

PUBLIC_MODULES = (
    "evaluation",
    "rules",
    "sending",
    "source_warm_up",
    "warm_up",
)
"""The modules that other packages may import, in addition to `operations` and `model`."""
