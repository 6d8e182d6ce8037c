"""Contacts, audiences, imports: what they look like, their limits, and what can go wrong with them."""

import re
import sys
from datetime import timedelta
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.http.problems import BadRequest, Conflict, Invalid, Missing, ProblemError, RateLimited
from postern.kernel.values import NameForPeople, Record, to_json

ATTRIBUTES_LIMIT: Final = 16_384
"""Bytes that a contact's attributes may take as JSON."""
ATTRIBUTE_COUNT_LIMIT: Final = 100
ATTRIBUTE_NAME_LIMIT: Final = 100
ATTRIBUTES_PER_PROJECT: Final = 1_000
"""Attributes of a project that have a declared type; the values of others are kept like all, without one."""
EXPORTED_ATTRIBUTES: Final = 500
"""Attributes that get a column of their own in an export; rarer ones share the column `attributes`."""

BULK_LIMIT: Final = 10_000
"""Addresses in one bulk addition."""
AUDIENCES_PER_PROJECT: Final = 2_000
DYNAMIC_PER_PROJECT: Final = 500
"""Audiences with rules; every change of a contact is held against all of them."""
LEVEL_LIMIT: Final = 5
"""How long a chain of audiences may be whose rules name one another."""
LOOK_AGAIN: Final = timedelta(hours=1)
"""How often audiences are set right whose rules look at the clock."""

IMPORT_LIMIT: Final = 1_073_741_824
"""Bytes of an imported file."""
IMPORT_BATCH: Final = 10_000
"""Rows that one transaction of an import takes in."""
ATTRIBUTE_TYPES_LIMIT: Final = 2_500
"""Characters of `attributeTypes`: escaped in a URL each takes up to 12 of the octets that a head may have."""
IMPORT_ERRORS_KEPT: Final = 200
"""Lines whose errors an import lists; more are counted only."""
COLUMN_LIMIT: Final = 1_000
"""Columns of an imported file."""
PREVIEW_ROWS: Final = 20
"""Rows that a preview of an import shows."""
PREVIEW_SAMPLES: Final = 3
"""Cells of each column that a preview shows, beyond the rows."""
SAMPLE_LIMIT: Final = 100
"""Characters of such a cell."""
PREVIEWS_AT_ONCE: Final = 4
"""Previews of one project that one API process receives or works out at a time; each holds up to 10 MB of its file."""
UPLOAD_TIME: Final = timedelta(hours=2)
"""An upload that has not ended by then is given up."""
IMPORTS_AT_ONCE: Final = 5
"""Imports of one project that may be waiting or running."""

AttributeType = Literal["string", "number", "boolean", "date", "list"]
AudienceType = Literal["STATIC", "DYNAMIC"]
ImportMode = Literal["upsert", "skip"]
ImportStatus = Literal["UPLOADING", "PENDING", "RUNNING", "COMPLETED", "FAILED"]
CharsetFrom = Literal["BOM", "DECLARED", "DETECTED"]
DelimiterFrom = Literal["DECLARED", "DETECTED"]
ColumnDecision = Literal["EXACT", "SYNONYM", "DECLARED", "ATTRIBUTE", "IGNORED"]
Name = NameForPeople
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
    """The attribute is declared with another type; change that first."""


class TooManyContactAttributes(Conflict):
    """The project has as many declared attributes as it may have."""


class AudienceMissing(Missing):
    """There is no such audience."""


class AudienceDynamic(Conflict):
    """The members of this audience are chosen by its rules; nobody is added or removed by hand."""


class AudienceInUse(Conflict):
    """Rules of another audience, a campaign or an automation name this audience; change or stop those first."""


class TooManyAudiences(Conflict):
    """The project has as many audiences as it may have."""


class ImportMissing(Missing):
    """There is no such import."""


class TooManyImports(Conflict):
    """The project has five imports waiting or running; wait until one of them is done."""


class TooManyPreviews(RateLimited):
    """The project has several previews of imports under way; wait until one of them is done."""

    retry_after_seconds = 2


class UploadBroken(BadRequest):
    """The connection ended before the file did; nothing was imported."""


class ImportFileInvalid(BadRequest):
    """The file is not a CSV with a header that has an `email` column."""


class Contact(Record):
    """Somebody a project writes to. The address is unique in the project, whatever its letter case."""

    id: UUID
    app_id: UUID
    email: str
    attributes: dict[str, Any]
    unsubscribed: bool
    unsubscribed_at: Moment | None
    last_opened_at: Moment | None
    last_clicked_at: Moment | None
    created_at: Moment
    updated_at: Moment


class ContactAttribute(Record):
    """An attribute that contacts of a project have, and its type: how cells of CSV files are read and written."""

    id: UUID
    app_id: UUID
    name: str
    """Name of the attribute, as it stands in `attributes` of a contact."""
    type: AttributeType
    """Type by which imports read cells of this attribute: `string`, `number`, `boolean`, `date` or `list`."""
    inferred: bool
    """Whether the type was taken from the first values; false where somebody declared it."""
    description: str
    created_at: Moment
    updated_at: Moment


class Audience(Record):
    """A list of contacts: fixed (STATIC), or chosen by rules (DYNAMIC)."""

    id: UUID
    app_id: UUID
    name: str
    type: AudienceType
    rules: dict[str, Any] | None
    """Who belongs to it; null for a STATIC audience."""
    created_at: Moment
    updated_at: Moment


class RefillJob(Record):
    """An audience whose rules look at the clock, claimed to be set right."""

    project_id: UUID
    id: UUID
    attempt: int


class DynamicAudience(Record):
    """The rules of a dynamic audience as they are looked up when a contact changes."""

    id: UUID
    rules_id: UUID
    level: int


class AudienceRules(Record):
    """An audience's name, and its rules where it has some."""

    id: UUID
    name: str
    rules: Any


class AudienceChangeResult(Record):
    """How many joined and how many left."""

    added: int
    removed: int


class AudienceMembership(Record):
    """One contact in one audience."""

    audience_id: UUID
    contact_id: UUID


class AudienceBulkResult(Record):
    """What a bulk addition did; `skipped` counts invalid, duplicate and already-member addresses."""

    added: int
    skipped: int


class ContactImportError(Record):
    """What is wrong with a line of an imported file."""

    line: int
    """Counted from 1, the header being line 1."""
    message: str


class ContactImportColumn(Record):
    """What an import makes of a column of its file."""

    number: int
    """Counted from 1, from the left."""
    name: str
    """The name in the file's header."""
    target: str | None
    """What it fills: `email`, `unsubscribed`, `subscribed` (the opposite), `attributes` (a JSON object) or
    `attributes.<name>`; null for a column that is left out."""
    decided_by: ColumnDecision
    """Why: it is the field's own name (`EXACT`), another word for it (`SYNONYM`), what the caller said
    (`DECLARED`), or any other name (`ATTRIBUTE`). `IGNORED` columns have no name, or are those of an export that an
    import leaves alone."""


class ContactImportPreviewColumn(ContactImportColumn):
    """What an import would make of a column, with some of its cells."""

    type: AttributeType | None
    """Type by which the cells are read; null where the column fills no attribute, or one without a type."""
    samples: list[str]
    """The first cells of the column that are not empty, at most 3."""


class ContactImportPreviewRow(Record):
    """A row of a file as an import would read it, or why it could not."""

    line: int
    """Line of the file that it begins on, from 1."""
    email: str | None
    """The address; null where the row cannot be read."""
    unsubscribed: bool | None
    """Whether the row unsubscribes the contact; null where the row cannot be read."""
    attributes: dict[str, Any] | None
    """What the row says of the contact; null where the row cannot be read."""
    error: str | None
    """Why the row cannot be read; null where it can."""


class ContactImportNotice(Record):
    """Something in a file's header that stops an import, or that its owner should look at."""

    code: str
    """Name for programs: `email_column_missing`, `column_repeated`, `column_invalid`, `too_many_columns`,
    `column_not_used`, `subscribed_not_used`, `charset_guessed` or `charset_doubtful`."""
    message: str
    column: int | None
    """Number of the column that it is about; null where it is about the file."""
    blocking: bool
    """Whether an import of the file is refused for it."""
    next: str | None
    """What to do about it; null where the message says all."""


class ContactImportPreview(Record):
    """How an import would read a file. Nothing of it is kept."""

    charset: str
    """Character encoding by which the file is read, as the WHATWG Encoding Standard names it."""
    charset_from: CharsetFrom
    """How it was found: by a byte order mark, by what the caller declared, or by looking at the file."""
    delimiter: str
    """Character between the cells."""
    delimiter_from: DelimiterFrom
    """How it was found: by a line `sep=;`, or by looking at the header."""
    header_line: int
    """Line that names the columns: 2 after a line `sep=;`, otherwise 1."""
    columns: list[ContactImportPreviewColumn]
    """The columns and what they fill, from the left."""
    rows: list[ContactImportPreviewRow]
    """The first 20 rows as they would be read; none where the header is refused."""
    problems: list[ContactImportNotice]
    """What stops an import of the file, and what to look at before it."""
    importable: bool
    """Whether an import would take the file; single rows may still fail."""


class ContactImport(Record):
    """A file of contacts on its way in. `rows` is how many have been read so far."""

    id: UUID
    app_id: UUID
    status: ImportStatus
    mode: ImportMode
    bytes: int
    position: int
    """Bytes that have been worked through."""
    rows: int
    created: int
    updated: int
    skipped: int
    failed: int
    errors: list[ContactImportError]
    """The first 200 lines that failed."""
    charset: str | None
    """Character encoding by which the file is read; null while it is being uploaded."""
    charset_from: CharsetFrom | None
    """How it was found: by a byte order mark, by what the caller declared, or by looking at the file."""
    delimiter: str | None
    """Character between the cells; null while the file is being uploaded."""
    columns: list[ContactImportColumn]
    """The file's columns and what they fill, from the left; none while it is being uploaded."""
    created_at: Moment
    updated_at: Moment
    finished_at: Moment | None


class ImportJob(Record):
    """An import claimed to be worked on."""

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
"""Numbers are stored exactly: one that came as 1e300 is read as a whole number."""
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,100}")


def attribute_fault(name: str, value: Any) -> str | None:
    """What is wrong with an attribute, if anything."""
    if not _NAME.fullmatch(name) or name != name.strip():
        return f"An attribute's name has 1 to {ATTRIBUTE_NAME_LIMIT} characters, and no space around it."
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return "This number is out of range."
    if isinstance(value, int) and abs(value) > _LARGEST_NUMBER:
        return "This number is out of range."
    return None


def check_attributes(attributes: dict[str, Any], path: str = "/attributes") -> None:
    """Raises Invalid where attributes break a limit."""
    faults = [
        ProblemError(path=f"{path}/{name}", code="invalid", message=message)
        for name, value in attributes.items()
        if (message := attribute_fault(name, value))
    ]
    if faults:
        raise Invalid(faults[0].message, errors=faults[:20])
    if len(attributes) > ATTRIBUTE_COUNT_LIMIT:
        raise Invalid.at(path, f"A contact has at most {ATTRIBUTE_COUNT_LIMIT} attributes.", "too_many")
    if len(to_json(attributes)) > ATTRIBUTES_LIMIT:
        raise Invalid.at(path, f"The attributes take more than {ATTRIBUTES_LIMIT} bytes.", "too_large")
