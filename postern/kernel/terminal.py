"""Texts of others, such as replies of mail servers, on a terminal: in the output of commands and in logs."""

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """`text` with `?` instead of control characters (C0, DEL and C1), which could send commands to the terminal, of
    those that change the direction of text, and of surrogates."""
    return _CONTROL.sub("?", text)
