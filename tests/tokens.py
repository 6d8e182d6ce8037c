"""Tokens that are almost right."""


def with_another_end(token: str) -> str:
    """The token with another last character: one that is another value in hexadecimal, base64 and base62, too."""
    return token[:-1] + ("A" if token[-1] in "YZ" else "Z")
