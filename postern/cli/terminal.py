"""Texts of others, such as replies of mail servers, in the output of commands."""

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """`text` with `?` instead of the control characters (C0, DEL and C1), which could send commands to the terminal."""
    return _CONTROL.sub("?", text)
