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


def read_language_tag(value: object) -> str | None:
    """The language tag of a value from another system, which may be the name of a locale (`de_DE.UTF-8`); None if it is
    none."""
    if not isinstance(value, str):
        return None
    tag = re.split(r"[.@]", value.strip(), maxsplit=1)[0].replace("_", "-")
    return tag if len(tag) <= TAG_LIMIT and re.match(LANGUAGE_TAG, tag) else None
