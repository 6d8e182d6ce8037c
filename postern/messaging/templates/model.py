"""Models of templates: request and response bodies, database rows, problems, and limits."""

from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Conflict, Missing, Unprocessable
from postern.kernel.values import Body, DisplayName, Moment, Record
from postern.protocols.mail.templates.template import Engine

TEMPLATES_PER_PROJECT: Final = 10_000
VERSIONS_KEPT: Final = 50
"""The number of latest versions that are kept of each template; older ones are deleted."""
TEMPLATE_BYTES: Final = 12_000_000
"""The largest request body that creates or changes a template."""
CONTENT_CHARACTERS: Final = 5_000_000
"""The largest number of characters of html or of text, including images inlined as `data:` URLs."""
LISTED_BYTES: Final = 8_000_000
"""The largest total of octets of html, text and builder documents in one page of a list; a page has at least one
template."""
VARIABLES_BYTES: Final = 256_000
"""The largest size of a preview's variables as JSON, in octets."""

Name = DisplayName
Subject = Annotated[str, msgspec.Meta(max_length=2_000)]
ContentText = Annotated[str, msgspec.Meta(max_length=CONTENT_CHARACTERS)]


class TemplateMissing(Missing):
    """There is no such template."""


class TemplateInUse(Conflict):
    """Campaigns or automations use this template; `errors` lists them. Change or stop those first."""


class TemplateBusy(Conflict):
    """Other requests changed this template at the same time. Fetch it and try again."""


class TooManyTemplates(Unprocessable):
    """A project can have at most 10,000 templates. Delete one first."""


class NewTemplate(Body):
    """A template to create. With both `html` and `builderJson`, `html` is sent, and both are stored.

    With `"engine": "none"` nothing is rendered: `{{`, `{%` and `{#` are sent as they are.
    """

    name: Name
    builder_json: dict[str, Any] | None = None
    """`{"mjml": "…"}` or `{"blocks": [{"type": "text", "text": "…"}, …]}`."""
    html: ContentText | None = None
    subject: Subject | None = None
    text: ContentText | None = None
    engine: Engine = "minijinja"


class TemplateChange(Body):
    """The fields to change; omitted fields keep their values, null removes a value.

    With `html: null` the html is rendered from `builderJson` again.
    """

    name: Name | msgspec.UnsetType = msgspec.UNSET
    builder_json: dict[str, Any] | None | msgspec.UnsetType = msgspec.UNSET
    html: ContentText | None | msgspec.UnsetType = msgspec.UNSET
    subject: Subject | None | msgspec.UnsetType = msgspec.UNSET
    text: ContentText | None | msgspec.UnsetType = msgspec.UNSET
    engine: Engine | msgspec.UnsetType = msgspec.UNSET


class PreviewVariables(Body):
    """The variables to render a template with."""

    variables: dict[str, Any] = {}


class SampleContact(Body):
    """A contact that need not exist."""

    email: Annotated[str, msgspec.Meta(max_length=320)]
    attributes: dict[str, Any] = {}


class TemplateDraft(Body):
    """Content to render without storing it, as in `NewTemplate`, and the values to render it with."""

    subject: Subject | None = None
    html: ContentText | None = None
    text: ContentText | None = None
    builder_json: dict[str, Any] | None = None
    """`{"mjml": "…"}` or `{"blocks": [{"type": "text", "text": "…"}, …]}`."""
    engine: Engine = "minijinja"
    variables: dict[str, Any] = {}
    contact: SampleContact | None = None
    """A sample contact, whose address and attributes are variables as in a campaign; `variables` override them."""


class TemplateFields(Record):
    """The fields that the API shows of a row of `templates`."""

    id: UUID
    name: str
    subject: str | None
    builder_json: dict[str, Any] | None
    html: str | None
    text: str | None
    engine: Engine
    variables: list[str]
    """The names of the variables that subject, html and text use."""
    version: int
    created_at: Moment
    updated_at: Moment


class Template(TemplateFields):
    """An e-mail template."""

    app_id: UUID
    """The id of the project; its older name in the API."""


class CompiledContent(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a template after its checks, with the builder document rendered to html."""

    subject: str | None
    builder_json: dict[str, Any] | None
    html: str | None
    """The html to send: that of the caller, or rendered from `builder_json`."""
    is_rendered: bool
    """Whether `html` was rendered from `builder_json`."""
    text: str | None
    engine: Engine
    variables: list[str]
    """The names of the variables that subject, html and text use."""


class StoredTemplate(TemplateFields):
    """A row of `templates`."""

    project_id: UUID
    is_rendered: bool
    """Whether `html` was rendered from `builder_json`."""


class ListedTemplate(StoredTemplate):
    """A row of `templates` in a list. Its html, text and builder document are null; only their size is known."""

    content_octets: int
    """The size of html, text and builder document together."""


class TemplateVersion(Record):
    """A version of a template."""

    version: int
    name: str
    subject: str | None
    builder_json: dict[str, Any] | None
    html: str | None
    text: str | None
    engine: Engine
    created_by: str | None
    """Who created the version: the e-mail address of a developer or the name of an API key."""
    created_at: Moment


class TemplatePreview(Record):
    """A rendered template; `text` is derived from the html if the template has no text."""

    subject: str | None
    html: str | None
    text: str | None


class TemplateFault(Record):
    """An error in the content of a template."""

    path: str
    """JSON pointer to the part of the request: `/html`, `/builderJson/blocks/2/url`; empty for all of it."""
    code: str
    message: str
    line: int | None
    """The line in the part, from 1; null if it is not known."""
    column: int | None
    """The column in the line, from 1; null if it is not known."""


class RenderedDraft(TemplatePreview):
    """Rendered content. A part with an error is null."""

    variables: list[str]
    """The names of the variables that the content uses."""
    problems: list[TemplateFault]
    """The errors; empty if the content can be sent."""


class NamedTemplate(Record):
    """The id and name of a template; `slug` is the name in lower case with hyphens instead of other characters."""

    id: UUID
    name: str
    slug: str


class TemplateContent(Record):
    """The content of a template."""

    subject: str | None
    html: str | None
    text: str | None
    engine: Engine
