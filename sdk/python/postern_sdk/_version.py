"""The version of this package, which is that of the server whose API it was generated from."""

__version__ = "0.1.0"
