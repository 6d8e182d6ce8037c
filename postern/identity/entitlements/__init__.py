"""Entitlements: the features a project sells, the plans that bundle them, and what each organization is entitled to."""
