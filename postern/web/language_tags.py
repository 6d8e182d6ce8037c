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


MAX_CHARACTERS = 1_000
"""Longest value of another system that is read."""
MAX_WISHES = 20
"""How many languages of a list are read."""
_WEIGHT = re.compile(r"[Qq] ?= ?([01](?:\.[0-9]{0,3})?)")


def read_language_tag(value: object) -> str | None:
    """The language tag of a value from another system, which may be the name of a locale (`de_DE.UTF-8`) or a list with
    weights (`en-US,en;q=0.8`, RFC 9110 §12.5.4); then it is that with the highest weight. None if there is none, or if
    the value has more than 1,000 characters."""
    if not isinstance(value, str) or len(value) > MAX_CHARACTERS:
        return None
    best, best_weight = None, 0.0
    for wish in value.split(",", MAX_WISHES)[:MAX_WISHES]:
        name, separator, parameter = wish.partition(";")
        tag = re.split(r"[.@]", name.strip(), maxsplit=1)[0].replace("_", "-")
        match = _WEIGHT.fullmatch(parameter.strip())
        weight = min(float(match[1]), 1.0) if match else 0.0 if separator else 1.0
        if weight > best_weight and len(tag) <= TAG_LIMIT and re.match(LANGUAGE_TAG, tag):
            best, best_weight = tag, weight
    return best
