"""Records, limits and problems of contacts, audiences and imports."""

import re
import sys
from datetime import timedelta
from math import isfinite
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import msgspec

from postern.kernel.http.problems import BadRequest, Conflict, Invalid, Missing, ProblemError, RateLimited
from postern.kernel.values import DisplayName, Moment, Record, to_json

MAX_ATTRIBUTES_BYTES: Final = 16_384
"""Maximum bytes of a contact's attributes as JSON."""
ATTRIBUTE_COUNT_LIMIT: Final = 100
ATTRIBUTE_NAME_LIMIT: Final = 100
ATTRIBUTES_PER_PROJECT: Final = 1_000
"""Maximum number of attributes of a project that have a type; values of further attributes are stored without one."""
EXPORTED_ATTRIBUTES: Final = 500
"""Maximum number of attributes with a column of their own in an export; rarer ones share the column `attributes`."""

BULK_LIMIT: Final = 10_000
"""Maximum number of addresses in one bulk addition."""
AUDIENCES_PER_PROJECT: Final = 2_000
DYNAMIC_PER_PROJECT: Final = 500
"""Maximum number of audiences with rules; each change of a contact evaluates all of them."""
LEVEL_LIMIT: Final = 5
"""Maximum length of a chain of audiences whose rules refer to one another."""
RECOMPUTE_INTERVAL: Final = timedelta(hours=1)
"""How often audiences with time-dependent rules are recomputed."""

IMPORT_LIMIT: Final = 1_073_741_824
"""Maximum bytes of an imported file."""
IMPORT_BATCH: Final = 10_000
"""Rows that an import inserts in one transaction."""
ATTRIBUTE_TYPES_LIMIT: Final = 2_500
"""Maximum characters of the parameter `attributeTypes`. Percent-encoded in a URL, each takes up to 12 octets of the
request head."""
IMPORT_ERRORS_KEPT: Final = 200
"""Maximum number of errors that an import lists; further ones are only counted."""
COLUMN_LIMIT: Final = 1_000
"""Maximum number of columns of an imported file."""
PREVIEW_ROWS: Final = 20
"""Rows that a preview of an import shows."""
PREVIEW_SAMPLES: Final = 3
"""Sample cells that a preview shows for each column."""
SAMPLE_LIMIT: Final = 100
"""Characters of a sample cell; longer ones are truncated."""
MAX_CONCURRENT_PREVIEWS: Final = 4
"""Maximum number of import previews of one project in one API process; each holds up to 10 MB of its file in memory."""
UPLOAD_TIME: Final = timedelta(hours=2)
"""Maximum duration of an upload; after that it is cancelled."""
MAX_UNFINISHED_IMPORTS: Final = 5
"""Maximum number of imports of one project that are being uploaded, pending or running."""

AttributeType = Literal["string", "number", "boolean", "date", "list"]
AudienceType = Literal["STATIC", "DYNAMIC"]
ImportMode = Literal["upsert", "skip"]
ImportStatus = Literal["UPLOADING", "PENDING", "RUNNING", "COMPLETED", "FAILED"]
CharsetFrom = Literal["BOM", "DECLARED", "DETECTED"]
DelimiterFrom = Literal["DECLARED", "DETECTED"]
ColumnDecision = Literal["EXACT", "SYNONYM", "DECLARED", "ATTRIBUTE", "IGNORED"]
Name = DisplayName
AddressText = Annotated[str, msgspec.Meta(max_length=1_000)]


class ContactMissing(Missing):
    """There is no such contact."""


class ContactExists(Conflict):
    """A contact with this e-mail address exists already."""


class ContactAttributeMissing(Missing):
    """There is no such attribute."""


class ContactAttributeExists(Conflict):
    """An attribute with this name has a type already; change it with a PATCH of the attribute."""


class ContactAttributeDeclared(Conflict):
    """The attribute is declared with another type; change its declared type first."""


class TooManyContactAttributes(Conflict):
    """The project has the maximum number of attributes with a type; delete some first."""


class AudienceMissing(Missing):
    """There is no such audience."""


class AudienceDynamic(Conflict):
    """This audience is DYNAMIC: its rules choose the members, so contacts cannot be added or removed."""


class AudienceInUse(Conflict):
    """Another audience, a campaign or an automation uses this audience. Change or stop those first."""


class TooManyAudiences(Conflict):
    """The project has the maximum number of audiences; delete some first."""


class ImportMissing(Missing):
    """There is no such import."""


class TooManyImports(Conflict):
    """The project has five imports pending or running; retry when one of them has finished."""


class TooManyPreviews(RateLimited):
    """The project has too many concurrent import previews; retry when one of them has finished."""

    retry_after_seconds = 2


class UploadBroken(BadRequest):
    """The connection closed before the upload was complete; nothing was imported. Upload the file again."""


class ImportFileInvalid(BadRequest):
    """The file is not a CSV file whose header has an `email` column."""


class Contact(Record):
    """A recipient of a project. The address is unique in the project, regardless of case."""

    id: UUID
    app_id: UUID  # The id of the project; its older name in the API.
    email: str
    attributes: dict[str, Any]
    unsubscribed: bool
    unsubscribed_at: Moment | None
    last_opened_at: Moment | None
    last_clicked_at: Moment | None
    created_at: Moment
    updated_at: Moment


class StoredContact(Record):
    """The columns that are written when a contact is created or changed."""

    project_id: UUID
    id: UUID
    email: str
    email_key: str
    """The normalised address."""
    attributes: dict[str, Any]
    unsubscribed: bool


class InferredAttributeTypes(Record):
    """A parameter of statements that write attributes: the types that they insert for attributes without a type, as
    rows with `id`, `name` and `type`, and the maximum number of attributes with a type per project."""

    inferred: list[dict[str, Any]]
    attributes_per_project: int


class ContactAttribute(Record):
    """An attribute of the project's contacts, and its type, by which CSV cells are read and written."""

    id: UUID
    app_id: UUID  # The id of the project; its older name in the API.
    name: str
    """Name of the attribute: its key in a contact's `attributes`."""
    type: AttributeType
    """Type by which imports read cells of this attribute: `string`, `number`, `boolean`, `date` or `list`."""
    inferred: bool
    """Whether the type was inferred from the first values; false if it was declared."""
    description: str
    created_at: Moment
    updated_at: Moment


class Audience(Record):
    """A list of contacts: STATIC (added by callers) or DYNAMIC (chosen by rules)."""

    id: UUID
    app_id: UUID  # The id of the project; its older name in the API.
    name: str
    type: AudienceType
    rules: dict[str, Any] | None
    """The rules that choose the members; null for a STATIC audience."""
    created_at: Moment
    updated_at: Moment


COUNTED_MEMBERS: Final = 100_000
"""The number up to which the members of an audience in a list are counted."""


class ListedAudience(Audience):
    """An audience in a list."""

    member_count: int | None = None
    """The number of contacts in it, counted up to 100,000; null unless `include=counts` is requested."""


class AudienceMemberCount(Record):
    """The number of members of an audience."""

    id: UUID
    count: int


class StoredRules(Record):
    """The columns of an audience that depend on its rules; a STATIC audience has no rules."""

    project_id: UUID
    id: UUID
    type: AudienceType = "STATIC"
    rules: dict[str, Any] | None = None
    rules_id: UUID | None = None
    """Identifies these rules: changed rules get another id."""
    level: int = 0
    """0 without references to other audiences, otherwise one more than the highest level among those."""
    depends_on: list[UUID] = []
    """Ids of the audiences that the rules refer to."""
    watches_engagement: bool = False
    """Whether an open, a click or a custom event can change the members."""
    due_at: Moment | None = None
    """When the members are next recomputed, for rules that depend on the time."""


class RefillJob(Record):
    """An audience with time-dependent rules, claimed by a worker to be recomputed."""

    project_id: UUID
    id: UUID
    attempt: int


class DynamicAudience(Record):
    """A dynamic audience as it is looked up when a contact changes."""

    id: UUID
    rules_id: UUID
    level: int


class AudienceRules(Record):
    """An audience's name and, if it is dynamic, its rules."""

    id: UUID
    name: str
    rules: Any


class AudienceChangeResult(Record):
    """Number of contacts that joined and left."""

    added: int
    removed: int


class AudienceMembership(Record):
    """One contact in one audience."""

    audience_id: UUID
    contact_id: UUID


class AudienceBulkResult(Record):
    """Result of a bulk addition. `skipped` counts invalid and duplicate addresses and existing members."""

    added: int
    skipped: int


class ContactImportError(Record):
    """What is wrong with a line of an imported file."""

    line: int
    """Line number in the file, counted from 1; the header is line 1."""
    message: str


class ContactImportColumn(Record):
    """A column of an imported file and what it is mapped to."""

    number: int
    """Position of the column, counted from 1 from the left."""
    name: str
    """The name in the file's header."""
    target: str | None
    """Target of the column: `email`, `unsubscribed`, `subscribed` (the opposite), `attributes` (a JSON object) or
    `attributes.<name>`; null for a column that is not imported."""
    decided_by: ColumnDecision
    """How the target was chosen: the column has the field's name (`EXACT`) or a synonym of it (`SYNONYM`), the caller
    mapped it (`DECLARED`), or it has any other name (`ATTRIBUTE`). `IGNORED` columns have no name, or are export
    columns that an import does not use, such as `createdAt`."""


class ContactImportPreviewColumn(ContactImportColumn):
    """A column in the preview of an import, with sample cells."""

    type: AttributeType | None
    """Type by which cells are parsed; null if the column is not mapped to an attribute or the attribute has no type."""
    samples: list[str]
    """The first cells of the column that are not empty, at most 3."""


class ContactImportPreviewRow(Record):
    """A row of a file as an import would read it, or why it is invalid."""

    line: int
    """Line of the file on which the row begins, counted from 1."""
    email: str | None
    """The address; null if the row is invalid."""
    unsubscribed: bool | None
    """Whether the row unsubscribes the contact; null if the row is invalid."""
    attributes: dict[str, Any] | None
    """The attributes in the row; null if the row is invalid."""
    error: str | None
    """Why the row is invalid; null if it is valid."""


class ContactImportNotice(Record):
    """An error in a file's header that prevents an import, or a warning."""

    code: str
    """Machine-readable code: `email_column_missing`, `column_repeated`, `column_invalid`, `too_many_columns`,
    `column_not_used`, `subscribed_not_used`, `type_not_used`, `charset_guessed` or `charset_doubtful`."""
    message: str
    column: int | None
    """Number of the column concerned; null if the notice concerns the whole file."""
    blocking: bool
    """Whether the notice prevents an import of the file."""
    next: str | None
    """What to do next; null if the message says it."""


class ContactImportPreview(Record):
    """How an import would read a file. Nothing is stored."""

    charset: str
    """Character encoding by which the file is read, as the WHATWG Encoding Standard names it."""
    charset_from: CharsetFrom
    """How the encoding was determined: by a byte order mark, by the caller, or by detection."""
    delimiter: str
    """Character between the cells."""
    delimiter_from: DelimiterFrom
    """How the delimiter was determined: by a line `sep=;`, or by detection in the header."""
    header_line: int
    """Number of the header line: 2 after a line `sep=;`, otherwise 1."""
    columns: list[ContactImportPreviewColumn]
    """The columns and their targets, from the left."""
    rows: list[ContactImportPreviewRow]
    """The first 20 rows as they would be read; empty if the header is invalid."""
    problems: list[ContactImportNotice]
    """Errors that prevent an import of the file, and warnings."""
    importable: bool
    """Whether the file can be imported; single rows may still fail."""


class ContactImport(Record):
    """An import of a file of contacts.

    `rows` counts the rows read so far. `bytes` is the size of the file, 0 until it is uploaded.
    """

    id: UUID
    app_id: UUID  # The id of the project; its older name in the API.
    status: ImportStatus
    mode: ImportMode
    bytes: int
    position: int
    """Bytes of the file processed so far."""
    rows: int
    created: int
    updated: int
    skipped: int
    failed: int
    errors: list[ContactImportError]
    """The first 200 errors, by line."""
    charset: str | None
    """Character encoding by which the file is read; null while it is being uploaded."""
    charset_from: CharsetFrom | None
    """How the encoding was determined: by a byte order mark, by the caller, or by detection."""
    delimiter: str | None
    """Character between the cells; null while the file is being uploaded."""
    columns: list[ContactImportColumn]
    """The file's columns and their targets, from the left; empty while it is being uploaded."""
    created_at: Moment
    updated_at: Moment
    finished_at: Moment | None


class StartedImport(Record):
    """A row of `contact_imports` whose file is being uploaded."""

    project_id: UUID
    id: UUID
    status: ImportStatus = "UPLOADING"
    mode: ImportMode
    actor_type: str
    actor_id: UUID | None
    actor_label: str | None
    created_at: Moment
    updated_at: Moment
    due_at: Moment


class ImportAdvance(Record):
    """What one step of an import changes in its row: the status, the position in the file, and the numbers of rows that
    are added to the counters."""

    status: ImportStatus
    position: int
    line: int
    rows: int = 0
    created: int = 0
    updated: int = 0
    skipped: int = 0
    failed: int = 0
    errors: list[ContactImportError]
    due_at: Moment | None = None
    """When the import continues; None if it has ended."""


class ImportJob(Record):
    """An import, claimed by a worker."""

    project_id: UUID
    id: UUID
    attempt: int
    status: ImportStatus
    mode: ImportMode
    bytes: int
    position: int
    line: int
    errors: list[ContactImportError]
    charset: str | None
    delimiter: str | None
    columns: list[ContactImportColumn]
    actor_type: str
    actor_id: UUID | None
    actor_label: str | None


_LARGEST_NUMBER = int(sys.float_info.max)
"""The largest integer that an attribute can have. It equals the largest float, because PostgreSQL returns a float such
as 1e300 as an integer with 301 digits."""
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,100}")


def attribute_error(name: str, value: Any) -> str | None:
    """A message that says what is wrong with an attribute, or None. The value None is always valid."""
    if not _NAME.fullmatch(name) or name != name.strip():
        return (
            f"An attribute's name must have 1 to {ATTRIBUTE_NAME_LIMIT} characters, without spaces at the start or end."
        )
    if isinstance(value, float) and not isfinite(value):
        return "This number is out of range."
    if isinstance(value, int) and abs(value) > _LARGEST_NUMBER:
        return "This number is out of range."
    return None


def check_attributes(attributes: dict[str, Any], path: str = "/attributes") -> None:
    """Raises Invalid, with JSON pointers below `path`, if attributes are invalid or exceed a limit."""
    errors = [
        ProblemError(path=f"{path}/{name}", code="invalid", message=message)
        for name, value in attributes.items()
        if (message := attribute_error(name, value))
    ]
    if errors:
        raise Invalid(errors[0].message, errors=errors[:20])
    if len(attributes) > ATTRIBUTE_COUNT_LIMIT:
        raise Invalid.at(path, f"A contact has at most {ATTRIBUTE_COUNT_LIMIT} attributes.", "too_many")
    if len(to_json(attributes)) > MAX_ATTRIBUTES_BYTES:
        raise Invalid.at(path, f"The attributes take more than {MAX_ATTRIBUTES_BYTES} bytes.", "too_large")
