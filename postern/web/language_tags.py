"""Language tags (BCP 47) of people, which need not be one of the languages of pages and mails (`languages`)."""

import re
from typing import Annotated

import msgspec

TAG_LIMIT = 35
"""Longest language tag, in characters (RFC 5646 §4.4.1)."""
LANGUAGE_TAG = r"^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*(?!\n)$"
"""Pattern of a language tag that begins with a code of ISO 639 (RFC 5646 §2.1)."""

LanguageTag = Annotated[
    str,
    msgspec.Meta(
        pattern=LANGUAGE_TAG,
        max_length=TAG_LIMIT,
        description="A language tag (BCP 47), such as `de` or `pt-BR`.",
    ),
]
"""The language of a person, in requests."""


MAX_WISHES = 20
"""How many languages of a list are read."""
_WISH = re.compile(r"([^;]*)(?:;[Qq]=([01](?:\.[0-9]{0,3})?))?")


def read_language_tag(value: object) -> str | None:
    """The language tag of a value from another system, which may be the name of a locale (`de_DE.UTF-8`) or a list with
    weights (`en-US,en;q=0.8`, RFC 9110 §12.5.4); then it is that with the highest weight. None if there is none."""
    if not isinstance(value, str):
        return None
    best, best_weight = None, 0.0
    for wish in re.sub(r"\s*([;=,])\s*", r"\1", value.strip()).split(",", MAX_WISHES)[:MAX_WISHES]:
        match = _WISH.fullmatch(wish)
        tag = re.split(r"[.@]", match[1], maxsplit=1)[0].replace("_", "-") if match else ""
        weight = min(float(match[2] or 1), 1.0) if match else 0.0
        if weight > best_weight and len(tag) <= TAG_LIMIT and re.match(LANGUAGE_TAG, tag):
            best, best_weight = tag, weight
    return best
