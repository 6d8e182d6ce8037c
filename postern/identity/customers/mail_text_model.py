"""Models of the mails to customers whose texts a project can edit: bodies, responses, rows, problems and limits."""

from typing import Annotated, Final, Literal, get_args
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Missing
from postern.kernel.values import Body, Moment, Record
from postern.platform.projects.model import PageLanguage

MailName = Literal[
    "SIGN_UP",
    "SIGN_UP_KNOWN",
    "CODE",
    "LINK",
    "VERIFY",
    "RESET",
    "INVITATION",
    "SETUP_LINK",
    "NEW_DEVICE",
    "PASSWORD_CHANGED",
    "EMAIL_CHANGED",
    "MFA_CHANGED",
    "IDENTITY_CHANGED",
    "IMPERSONATED",
]
"""The mails of codes, links and invitations, and the notices of `SecurityMail`."""
MAIL_NAMES: tuple[str, ...] = get_args(MailName)
BlockType = Literal["text", "button", "code"]

VERSIONS_KEPT: Final = 50
"""The number of latest versions that are kept of a mail in one language; older ones are deleted."""
BLOCKS_LIMIT: Final = 20
RENDERED_CHARACTERS: Final = 10_000
"""The largest number of characters of a subject, preheader, block or footer with its values."""
SUBJECT_CHARACTERS: Final = 200
"""The largest number of characters of a subject with its values."""


class CustomerMailMissing(Missing):
    """There is no such mail to customers, or it has no such language. `GET …/customer-mails` lists them."""


class MailVersionMissing(Missing):
    """There is no such version of this mail, or it was deleted: the last 50 are kept."""


class MailBlock(Body):
    """A part of a mail. `text` is a template: `{{ app }}` is replaced by a value.

    The button leads to the link of the mail, and the code shows its one-time code; `text` is the label of the button,
    or what stands above the code.
    """

    type: BlockType
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]


class MailTextContent(Body):
    """What a mail says, as templates: `{{ app }}` is replaced by a value, `{% if … %}` is possible, too."""

    subject: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
    preheader: Annotated[str, msgspec.Meta(max_length=500)] = ""
    """What lists of mails show beside the subject; "" for the beginning of the mail."""
    blocks: Annotated[list[MailBlock], msgspec.Meta(min_length=1, max_length=BLOCKS_LIMIT)]
    """Paragraphs, and the button or code of the mail, in their order."""
    footer: Annotated[str, msgspec.Meta(max_length=2_000)] = ""
    """What stands below the mail, such as the postal address; "" for nothing."""


class MailDraft(Body):
    """Content that is not stored; null for the text in use."""

    content: MailTextContent | None = None


class MailTest(MailDraft):
    """Where to send a test, and its content; null for the text in use."""

    to: Annotated[str, msgspec.Meta(min_length=3, max_length=320)]


class MailRestore(Body):
    """The version of a mail to use again."""

    version: Annotated[int, msgspec.Meta(ge=1, le=2_147_483_647)]


class MailVariable(Record):
    """A variable that the texts of a mail can use."""

    name: str
    description: str
    sample: str
    """The value in previews and tests."""


class CustomerMail(Record):
    """A mail to customers whose texts can be edited."""

    mail: MailName
    purpose: str
    """When customers get this mail."""
    required_block: Literal["button", "code"] | None
    """The block that the mail must have, because it shows the link or the one-time code; other mails have neither."""
    variables: list[MailVariable]
    edited_languages: list[PageLanguage]
    """The languages in which the project has its own text; in the others, customers get the built-in one."""


class MailText(Record):
    """The text of a mail in one language, as customers get it."""

    mail: MailName
    language: PageLanguage
    content: MailTextContent
    is_built_in: bool
    """Whether this is the text that every project has."""
    version: int
    """The number of the newest version; 0 if the text was never edited."""
    updated_by: str | None
    """Who changed the text last: the e-mail address of a developer or the name of an API key."""
    updated_at: Moment
    """When the text was changed last; if never, when the project was created."""


class MailTextVersion(Record):
    """A version of a mail in one language."""

    version: int
    content: MailTextContent | None
    """Null: the text was reset to the built-in one."""
    created_by: str | None
    """Who created the version: the e-mail address of a developer or the name of an API key."""
    created_at: Moment


class CustomerMailPreview(Record):
    """A mail with sample values."""

    subject: str
    html: str
    text: str


class MailTestSent(Record):
    """The e-mail of a test."""

    id: UUID
    """The id of the e-mail, for `GET …/emails/{id}`."""


class MailTextRow(Record):
    """A row of `customer_mail_versions`."""

    project_id: UUID
    mail: str
    language: str
    version: int
    content: MailTextContent | None
    created_by: str | None
    created_at: Moment


class EditedMail(Record):
    """A mail and a language whose newest version has content."""

    mail: str
    language: PageLanguage
