"""Makes text from outside, such as replies of mail servers, safe to print on a terminal: in commands and in logs."""

import re

UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters (C0, DEL and C1), which could send commands to the terminal, line and paragraph separators,
characters that change the direction of text, and surrogates."""


def printable(text: str) -> str:
    """`text` with `?` instead of each character of UNPRINTABLE."""
    return UNPRINTABLE.sub("?", text)
