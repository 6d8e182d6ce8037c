"""The version of this package: that of the server whose API it was generated from.

Generated from the API by script/client: do not edit.
"""

__version__ = "0.1.0"
