"""Entitlements: the features a project sells, the plans that bundle them, and what each organization is entitled to."""

PUBLIC_MODULES = ("features", "plans")
"""Beside `operations` and `model`, the modules that other features may import."""
