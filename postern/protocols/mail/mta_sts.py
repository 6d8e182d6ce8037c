"""MTA-STS records and policies (RFC 8461): which mail servers a domain has, and that they support TLS."""

import re
from typing import Literal

import msgspec

POLICY_OCTETS = 65_536
"""Maximum octets of a policy (RFC 8461 §3.3 recommends at most 64 KiB)."""
MAX_AGE_SECONDS = 31_557_600
"""Maximum lifetime of a policy: a year (RFC 8461 §3.2)."""
MAX_PATTERNS = 100
"""Maximum `mx` fields of a policy. Each process keeps the fields of up to 10,000 domains, which may all be hostile."""
MAX_PATTERN_CHARACTERS = 8_192
"""Maximum characters of all `mx` fields together."""

RECORD_OCTETS = 4_096
"""Maximum octets of a record."""

_FIELD = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,31})[ \t]*=[ \t]*([\x21-\x3a\x3c\x3e-\x7e]+)")
"""A field of a record. Blanks around `=` are accepted, although the grammar does not have them."""
_PATTERN = re.compile(r"(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")

StsMode = Literal["enforce", "testing", "none"]


class StsPolicyInvalid(Exception):
    """A policy does not conform to RFC 8461 §3.2; the message says why."""


class StsPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """A policy."""

    mode: StsMode
    """`enforce`: mail must not be sent to other servers or without TLS. `testing` and `none` require nothing."""
    max_age: int
    """For how many seconds after the fetch the policy is valid."""
    mx: tuple[str, ...]
    """Host names in lower case; one that begins with `*.` matches any first label."""

    def lists(self, host: str) -> bool:
        """Whether the policy allows this mail server (RFC 8461 §4.1)."""
        host = host.lower().removesuffix(".")
        _, _, parent = host.partition(".")
        return host in self.mx or (bool(parent) and f"*.{parent}" in self.mx)


def policy_id(records: list[str]) -> str | None:
    """The id of the policy from the TXT records of `_mta-sts.<domain>`; None if there is no policy (RFC 8461 §3.1).

    Several records, or a record with a syntax error, count as no policy. Unknown fields are ignored; of a field that
    occurs twice, the first one counts.
    """
    candidates = [record for record in records if re.match(r"v=STSv1[ \t]*;", record)]
    if len(candidates) != 1 or len(candidates[0]) > RECORD_OCTETS:
        return None
    texts = [text.strip(" \t") for text in candidates[0].split(";")[1:]]
    if texts[-1] == "":
        texts.pop()
    fields = [_FIELD.fullmatch(text) for text in texts]
    ids = [field[2] for field in fields if field and field[1] == "id"]
    is_valid = all(fields) and ids and re.fullmatch("[A-Za-z0-9]{1,32}", ids[0])
    return ids[0] if is_valid else None


def parse_policy(body: bytes) -> StsPolicy:
    """Parse a policy (RFC 8461 §3.2). Unknown fields are ignored. Raises StsPolicyInvalid."""
    if len(body) > POLICY_OCTETS:
        raise StsPolicyInvalid(f"The policy has more than {POLICY_OCTETS} octets.")
    fields: dict[str, str] = {}
    mx: list[str] = []
    for line in body.decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(":")
        name, value = name.strip(), value.strip()
        if name == "mx":
            mx.append(_pattern(value))
        else:
            fields.setdefault(name, value)  # Of a field that occurs twice, the first one counts.
    if len(mx) > MAX_PATTERNS or sum(map(len, mx)) > MAX_PATTERN_CHARACTERS:
        limits = f"{MAX_PATTERNS} mx fields or {MAX_PATTERN_CHARACTERS} characters in them"
        raise StsPolicyInvalid(f"The policy has more than {limits}.")
    if fields.get("version") != "STSv1":
        raise StsPolicyInvalid("The policy has no field `version: STSv1`.")
    mode, max_age = fields.get("mode"), fields.get("max_age", "")
    if mode not in ("enforce", "testing", "none"):
        raise StsPolicyInvalid("The policy has no valid field `mode`.")
    if not re.fullmatch("[0-9]{1,10}", max_age):
        raise StsPolicyInvalid("The policy has no valid field `max_age`.")
    if not mx and mode != "none":
        raise StsPolicyInvalid("The policy has no field `mx`.")
    return StsPolicy(mode=mode, max_age=min(int(max_age), MAX_AGE_SECONDS), mx=tuple(mx))


def _pattern(text: str) -> str:
    pattern = text.lower().removesuffix(".")
    if len(pattern) > 253 or not _PATTERN.fullmatch(pattern):
        raise StsPolicyInvalid("The policy has an invalid field `mx`.")
    return pattern
