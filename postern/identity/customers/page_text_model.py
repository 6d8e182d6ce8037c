"""Models of the texts of hosted pages that a project replaces: bodies, responses, rows and problems."""

from typing import Annotated
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Missing
from postern.kernel.values import NON_BLANK_LINE, Body, Moment, Record
from postern.web.page_catalogue import PageGroup


class PageTextMissing(Missing):
    """There is no such text of the pages, or no such language. `GET …/page-texts/{language}` lists them."""


class PageTextChange(Body):
    """What pages say in place of a text."""

    text: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=1_000,
            pattern=NON_BLANK_LINE,
            description="One line of plain text of at most 1,000 characters.",
        ),
    ]
    """Values are in braces, as in the built-in text: `{app}`. They can be left out, but no other ones are possible."""


class PageText(Record):
    """A text of the hosted pages in one language."""

    id: str
    """12 hexadecimal digits, the same in all languages and projects. They change only if the English text changes."""
    pages: list[PageGroup]
    """The pages that show the text; empty if this version of Postern has no such text any more."""
    english: str
    """The built-in text in English."""
    built_in: str
    """The built-in text in this language; "" if this version of Postern has no such text any more."""
    text: str | None
    """What the pages of this project say instead; null for the built-in text."""
    placeholders: list[str]
    """The values that the text can have, as `{name}`."""


class OwnText(Record):
    """A text of a project, and the English text that it replaces."""

    english: str
    text: str


class PageTextRow(Record):
    """A row of `page_texts`."""

    project_id: UUID
    language: str
    id: str
    english: str
    text: str
    updated_at: Moment
