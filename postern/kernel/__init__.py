"""The kernel: what every feature stands on, and what knows no feature."""
