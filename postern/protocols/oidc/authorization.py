"""The authorization request (RFC 6749 §4.1.1) and PKCE (RFC 7636)."""

import base64
import hashlib
import hmac
from urllib.parse import urlencode


def authorization_url(endpoint: str, **parameters: str) -> str:
    """The URL to which to redirect the browser: `endpoint` with `parameters` added to its query."""
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"


def code_challenge(verifier: str) -> str:
    """The S256 challenge of a code verifier (RFC 7636 §4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def matches_challenge(verifier: str, challenge: str) -> bool:
    """Whether a code verifier belongs to an S256 challenge (RFC 7636 §4.6). The comparison takes constant time."""
    return hmac.compare_digest(challenge, code_challenge(verifier))
