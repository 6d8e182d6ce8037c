"""Templates, their versions and their limits."""

from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.http.problems import Conflict, Missing, Unprocessable
from postern.kernel.values import Body, NameForPeople, Record
from postern.protocols.mail.templates.template import Engine

TEMPLATES_PER_PROJECT: Final = 10_000
VERSIONS_KEPT: Final = 50
"""Versions of one template that are kept; older ones are forgotten."""
TEMPLATE_BYTES: Final = 12_000_000
"""Bytes of a request that writes a template."""
WORDS_CHARACTERS: Final = 5_000_000
"""Characters of the html, or of the text, of one template: with images inlined as `data:`."""
LISTED_BYTES: Final = 8_000_000
"""How much html and text one answer lists; the rest follows behind the `Link`."""
VARIABLES_BYTES: Final = 256_000
"""Bytes of variables that a preview takes."""

Name = NameForPeople
Subject = Annotated[str, msgspec.Meta(max_length=2_000)]
Words = Annotated[str, msgspec.Meta(max_length=WORDS_CHARACTERS)]


class TemplateMissing(Missing):
    """There is no such template."""


class TemplateInUse(Conflict):
    """A campaign or an automation uses this template; `errors` lists them. Change or stop those first."""


class TemplateBusy(Conflict):
    """Others keep changing this template; fetch it and try again."""


class TooManyTemplates(Unprocessable):
    """A project has at most 10,000 templates; delete some first."""


class NewTemplate(Body):
    """A template to create. `html` wins over what `builderJson` renders to; both are kept.

    With `"engine": "none"` nothing is filled in: `{{`, `{%` and `{#` are text as any other.
    """

    name: Name
    builder_json: dict[str, Any] | None = None
    """`{"mjml": "…"}` or `{"blocks": [{"type": "text", "text": "…"}, …]}`."""
    html: Words | None = None
    subject: Subject | None = None
    text: Words | None = None
    engine: Engine = "minijinja"


class TemplateChange(Body):
    """What to change; what is left out stays, null takes it away (html: back to what the builder renders)."""

    name: Name | msgspec.UnsetType = msgspec.UNSET
    builder_json: dict[str, Any] | None | msgspec.UnsetType = msgspec.UNSET
    html: Words | None | msgspec.UnsetType = msgspec.UNSET
    subject: Subject | None | msgspec.UnsetType = msgspec.UNSET
    text: Words | None | msgspec.UnsetType = msgspec.UNSET
    engine: Engine | msgspec.UnsetType = msgspec.UNSET


class PreviewVariables(Body):
    """What to render a template with."""

    variables: dict[str, Any] = {}


class Template(Record):
    """A stored e-mail."""

    id: UUID
    name: str
    subject: str | None
    builder_json: dict[str, Any] | None
    html: str | None
    text: str | None
    engine: Engine
    variables: list[str]
    """The names that subject, html and text ask for."""
    version: int
    app_id: UUID
    created_at: Moment
    updated_at: Moment


class Wording(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a template, checked."""

    subject: str | None
    builder_json: dict[str, Any] | None
    html: str | None
    is_rendered: bool
    text: str | None
    engine: Engine
    variables: list[str]


class StoredTemplate(Record):
    """The row of a template."""

    project_id: UUID
    id: UUID
    name: str
    subject: str | None
    builder_json: dict[str, Any] | None
    html: str | None
    is_rendered: bool
    text: str | None
    engine: Engine
    variables: list[str]
    version: int
    created_at: Moment
    updated_at: Moment


class ListedTemplate(StoredTemplate):
    """A row of a list, and how many characters it and those before it have."""

    characters: int


class TemplateVersion(Record):
    """What a template said at some time."""

    version: int
    name: str
    subject: str | None
    builder_json: dict[str, Any] | None
    html: str | None
    text: str | None
    engine: Engine
    created_by: str | None
    """Who wrote it: a developer's address or a key's name."""
    created_at: Moment


class TemplatePreview(Record):
    """A template rendered with some variables; `text` is made from the html where the template has none."""

    subject: str | None
    html: str | None
    text: str | None


class TemplateWords(Record):
    """What a template says."""

    subject: str | None
    html: str | None
    text: str | None
    engine: Engine
