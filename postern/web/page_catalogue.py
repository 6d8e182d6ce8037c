"""The texts of hosted pages that a project can replace, with the pages that show them.

`script/translations` writes the list from the templates and the code, so it has exactly the texts of this version.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal, cast

from postern.kernel.values import Record

FILE = Path(__file__).parent / "translations" / "pages.tsv"
PageGroup = Literal[
    "ALL",
    "SIGN_IN",
    "SIGN_UP",
    "SECOND_FACTOR",
    "PASSKEY",
    "PASSWORD",
    "TERMS",
    "INVITATION",
    "ACCOUNT",
    "ORGANIZATION",
    "APPS",
    "SINGLE_SIGN_ON",
    "SETUP",
    "SUPPORT",
    "PROBLEMS",
]
"""Pages that belong together. `ALL` are parts of every page, and `PROBLEMS` what pages say if something is refused."""
ID_CHARACTERS = 12


class PageMessage(Record):
    """A text of the pages, in English."""

    english: str
    plural: str
    """The text for numbers other than one, if the text has a number; otherwise ""."""
    pages: list[PageGroup]


@cache
def page_messages() -> tuple[PageMessage, ...]:
    """All texts of the pages, in the order of the English texts."""
    messages: list[PageMessage] = []
    for line in FILE.read_text("utf-8").splitlines():
        pages, english, *plural = line.split("\t")
        messages.append(
            PageMessage(
                english=english, plural=plural[0] if plural else "", pages=cast(list[PageGroup], pages.split(","))
            )
        )
    return tuple(messages)


def message_id(english: str) -> str:
    """The id of a text: 12 hexadecimal digits that change only with its English words."""
    return sha256(english.encode()).hexdigest()[:ID_CHARACTERS]
