"""Signing of requests to AWS: Signature Version 4 (AWS4-HMAC-SHA256) in the header `Authorization`."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import quote, unquote, urlsplit

import msgspec

ALGORITHM = "AWS4-HMAC-SHA256"
UNRESERVED = "-_.~"
"""The characters besides letters and digits that are not percent-encoded (RFC 3986 §2.3)."""


class AwsCredentials(msgspec.Struct, frozen=True, kw_only=True):
    """An access key of an AWS account."""

    access_key_id: str
    secret_access_key: str

    def __repr__(self) -> str:
        return f"AwsCredentials(access_key_id={self.access_key_id!r})"


def signed_headers(
    credentials: AwsCredentials,
    *,
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    region: str,
    service: str,
    now: datetime,
) -> dict[str, str]:
    """The headers of a request with `Host`, `X-Amz-Date` and `Authorization` added; all of `headers` are signed.

    `url` is absolute; its path must be percent-encoded and have no dot segments (RFC 3986 §5.2.4). `now` is in UTC; AWS
    rejects a signature whose time differs by more than 5 minutes.
    """
    moment = now.strftime("%Y%m%dT%H%M%SZ")
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    parts = urlsplit(url)
    signed = {**headers, "Host": parts.netloc, "X-Amz-Date": moment}
    values = {name.lower(): " ".join(value.split()) for name, value in signed.items()}
    names = ";".join(sorted(values))
    canonical_request = "\n".join(
        [
            method,
            _canonical_path(parts.path),
            _canonical_query(parts.query),
            *[f"{name}:{values[name]}" for name in sorted(values)],
            "",
            names,
            hashlib.sha256(body).hexdigest(),
        ]
    )
    to_sign = "\n".join([ALGORITHM, moment, scope, hashlib.sha256(canonical_request.encode()).hexdigest()])
    key = _signing_key(credentials.secret_access_key, moment[:8], region, service)
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    credential = f"{credentials.access_key_id}/{scope}"
    authorization = f"{ALGORITHM} Credential={credential}, SignedHeaders={names}, Signature={signature}"
    return {**signed, "Authorization": authorization}


def _canonical_path(path: str) -> str:
    """The path, percent-encoded once more, as all services except S3 require it."""
    return quote(path or "/", safe="/" + UNRESERVED)


def _canonical_query(query: str) -> str:
    """The parameters, sorted by encoded name and then by encoded value."""
    pairs = [part.partition("=") for part in query.split("&") if part]
    encoded = [(_encode(name), _encode(value)) for name, _, value in pairs]
    return "&".join(f"{name}={value}" for name, value in sorted(encoded))


def _encode(text: str) -> str:
    return quote(unquote(text), safe=UNRESERVED)


def _signing_key(secret: str, date: str, region: str, service: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key
