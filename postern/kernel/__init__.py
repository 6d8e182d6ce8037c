"""The kernel: infrastructure that all features use. It imports no feature."""
