"""Streaming parser for CSV files of contacts (RFC 4180): takes bytes, yields rows, or errors with line numbers.

An invalid row fails alone: parsing resumes at the line after its first line, so an unclosed quote costs one line and
not the rest of the file. ROW_LIMIT bounds the memory; REREAD_LIMIT and the file's length bound what is parsed again.
"""

import codecs
import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec

from postern.kernel.http.pagination import unescape_formula
from postern.kernel.http.problems import Invalid, ProblemError
from postern.kernel.values import JSON_DEPTH_LIMIT, is_too_deep, to_json
from postern.messaging.audiences.charsets import BY_HEADER, CODECS, FALLBACK, charset_of_mark
from postern.messaging.audiences.csv_cells import CellInvalid, KnownTypes, Reader, infer, reader_of
from postern.messaging.audiences.csv_headers import (
    NAME_LIMIT,
    field_of,
    flag_of,
    is_known,
    may_mean_subscribed,
    plain_name,
)
from postern.messaging.audiences.model import (
    ATTRIBUTE_COUNT_LIMIT,
    COLUMN_LIMIT,
    EXPORTED_ATTRIBUTES,
    IMPORT_BATCH,
    MAX_ATTRIBUTES_BYTES,
    AttributeType,
    CharsetFrom,
    ColumnDecision,
    ContactImportColumn,
    ContactImportNotice,
    DelimiterFrom,
    ImportFileInvalid,
    attribute_error,
)
from postern.protocols.mail.address import AddressInvalid, address_key, parse_address, parse_domain_name

ROW_LIMIT: Final = 131_072
"""Maximum bytes of one row, including line breaks within quotes."""
REREAD_LIMIT: Final = 8 * ROW_LIMIT
"""A batch may parse again at most REREAD_LIMIT + REREADS_PER_BYTE × (bytes of the rows so far) bytes, after invalid
rows."""
REREADS_PER_BYTE: Final = 4
"""See REREAD_LIMIT."""
BATCH_BYTES: Final = 8_388_608
"""Bytes of a file after which a batch ends even if it has fewer than IMPORT_BATCH rows."""
HEADER_BYTES: Final = 2 * ROW_LIMIT + 16
"""Bytes after a byte order mark that always include the header and a line `sep=;` before it."""
DELIMITERS: Final = (",", ";", "\t", "|")
EXPORT_COLUMNS: Final = ("id", "createdat", "updatedat", "lastopenedat", "lastclickedat", "unsubscribedat")
"""Columns of a Postern export that an import ignores, lower-cased."""
FIELDS: Final = ("email", "unsubscribed", "subscribed", "attributes")
"""Targets that a column can be mapped to, besides an attribute (`attributes.<name>`)."""
NAMES_SHOWN: Final = 20
"""Maximum number of column names in an error message."""


class RowInvalid(Exception):
    """A row that cannot be imported; the message says why."""


class ImportRow(msgspec.Struct):
    """A contact parsed from a row. Updated in place if a later row of the same batch has the same address."""

    line: int
    email: str
    email_key: str
    attributes: dict[str, Any]
    unsubscribed: bool


class ColumnLayout(msgspec.Struct, frozen=True):
    """Which field or attribute each column of a file is mapped to."""

    delimiter: str
    columns: list[str | None]
    """For each column, the attribute it is mapped to, or None."""
    email: int
    """Index of the column of addresses; -1 if there is none."""
    unsubscribed: int | None
    subscribed: int | None
    """Index of the column that holds the opposite of `unsubscribed`."""
    attributes: int | None
    """Index of the column that holds attributes as a JSON object."""
    charset: str = "utf-8"


class CsvHeader(msgspec.Struct, frozen=True):
    """The parsed header of a file: encoding, delimiter and column mapping."""

    charset: str
    charset_from: CharsetFrom
    delimiter: str
    delimiter_from: DelimiterFrom
    line: int
    """Number of the header line, counted from 1."""
    length: int
    """Bytes from the start of the file to the end of the header line."""
    columns: list[ContactImportColumn]
    notices: list[ContactImportNotice]

    @property
    def layout(self) -> ColumnLayout:
        """The column layout. The header must have an `email` column."""
        return layout_of(self.columns, self.delimiter, self.charset)

    def check(self) -> None:
        """Raises ImportFileInvalid if any notice is blocking."""
        blocking = [notice for notice in self.notices if notice.blocking]
        if not blocking:
            return
        errors = [
            ProblemError(
                path=f"column/{notice.column}" if notice.column else "", code=notice.code, message=notice.message
            )
            for notice in blocking[:NAMES_SHOWN]
        ]
        raise ImportFileInvalid(blocking[0].message, errors=errors, next=blocking[0].next)


class CsvRecord(msgspec.Struct, frozen=True):
    """The cells of a row, or why it is invalid, and where the next row begins."""

    number: int
    """Number of the line on which the row begins, counted from 1."""
    cells: list[str] | None
    """The cells; None if the row is invalid."""
    error: str | None
    """Why the row is invalid; None if it is valid."""
    next_line: int
    next_position: int


def layout_of(columns: Sequence[ContactImportColumn], delimiter: str, charset: str) -> ColumnLayout:
    """The layout for columns with known targets."""
    targets = [column.target for column in columns]
    index_of_field = {target: index for index, target in enumerate(targets) if target in FIELDS}
    return ColumnLayout(
        delimiter,
        [target.removeprefix("attributes.") if target and target not in FIELDS else None for target in targets],
        index_of_field.get("email", -1),
        index_of_field.get("unsubscribed"),
        index_of_field.get("subscribed"),
        index_of_field.get("attributes"),
        charset,
    )


def read_header(
    start: bytes, *, declared: str | None = None, is_utf8: bool = True, mapping: Mapping[str, str | None] | None = None
) -> CsvHeader:
    """Parse the header from `start`, the first bytes of the file.

    `declared` is the encoding from the caller; `is_utf8`, the result of the detection, is used if there is neither a
    declared encoding nor a byte order mark. `mapping` maps column names to targets, as the caller asked. Errors in
    single columns become notices. Raises ImportFileInvalid if the header cannot be parsed, and Invalid if `mapping`
    names a column that does not exist.
    """
    if start.startswith(b"PK\x03\x04"):
        raise ImportFileInvalid("This is a ZIP archive or an Excel workbook; save it as CSV (UTF-8).")
    marked_charset, position = charset_of_mark(start) or (None, 0)
    certain_charset = marked_charset or declared or ("utf-8" if is_utf8 else None)
    lines = [*islice(split_lines([start[position : position + HEADER_BYTES]], certain_charset or FALLBACK), 2)]
    first_line, first_length = lines[0] if lines else (b"", 0)
    line_number, separator = 1, _separator(first_line)
    if separator is not None:
        line_number, position, lines = 2, position + first_length, lines[1:]
    raw, length = lines[0] if lines else (b"", 0)
    if not raw.strip(b"\r\n\t ,;"):
        raise ImportFileInvalid("The file is empty; it must begin with a header line that has an `email` column.")
    _check_header_line(raw)
    charset, text = _decode_header(raw, certain_charset, position, separator)
    columns, notices, delimiter = _map_header(
        text, [separator] if separator else DELIMITERS, mapping or {}, line_number
    )
    return CsvHeader(
        charset=charset,
        charset_from="BOM" if marked_charset else "DECLARED" if declared else "DETECTED",
        delimiter=delimiter,
        delimiter_from="DECLARED" if separator else "DETECTED",
        line=line_number,
        length=position + length,
        columns=columns,
        notices=[*notices, *_warnings(start, charset, None if marked_charset else declared)],
    )


_SEPARATOR = re.compile(rb'"?sep=(.)"?\r?\n?', re.IGNORECASE | re.DOTALL)


def _separator(line: bytes) -> str | None:
    """The delimiter in a line `sep=;`, which spreadsheets write before the header; None for any other line.

    Raises ImportFileInvalid if the delimiter is not supported.
    """
    match = _SEPARATOR.fullmatch(line)
    if match is None:
        return None
    if (separator := match[1].decode("latin-1")) not in DELIMITERS:
        raise ImportFileInvalid("The line `sep=` names a delimiter that is not supported: use `,` `;` `|` or tab.")
    return separator


def _check_header_line(line: bytes) -> None:
    """Raises ImportFileInvalid if the line contains NUL characters or is too long."""
    if b"\0" in line[:ROW_LIMIT]:
        is_like_utf16 = line[1:9:2].strip(b"\0") == b"" or line[:8:2].strip(b"\0") == b""
        raise ImportFileInvalid(
            "The first line is not a CSV header: it contains NUL characters.",
            next="It looks like UTF-16 without a byte order mark: declare `charset=utf-16le` or `charset=utf-16be`."
            if is_like_utf16
            else "Save the file as CSV (UTF-8).",
        )
    if len(line) > ROW_LIMIT:
        raise _carriage_return_problem(line) or ImportFileInvalid(
            f"The first line is not a CSV header: it is longer than {ROW_LIMIT} bytes."
        )


def _carriage_return_problem(line: bytes) -> ImportFileInvalid | None:
    """The problem for a file whose lines end with a carriage return only; None for other files."""
    if b"\r" not in line.rstrip(b"\r\n"):
        return None
    return ImportFileInvalid(
        "The first line is not a CSV header: the lines of the file end with a carriage return only.",
        next="Save the file as CSV (UTF-8), whose lines end with a line feed; `CSV (Macintosh)` is another format.",
    )


def _decode_header(raw: bytes, certain_charset: str | None, position: int, separator: str | None) -> tuple[str, str]:
    """Decode the header; returns its encoding and text. Raises ImportFileInvalid.

    If `certain_charset` is None, the encoding is the one of BY_HEADER that gives the most known column names.
    """
    candidates: list[tuple[int, str, str]] = []
    for charset in (certain_charset,) if certain_charset else BY_HEADER:
        try:
            text = raw.decode(codec_of_lines(charset)).removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            if certain_charset:
                raise _undecodable(charset, raw, error.start, position) from None
            continue
        delimiters = [separator] if separator else DELIMITERS
        known_names = max(
            sum(map(is_known, (_split_names(text, delimiter) or [])[:COLUMN_LIMIT])) for delimiter in delimiters
        )
        candidates.append((known_names, charset, text))
    if not candidates:
        raise _undecodable("utf-8", raw, _first_invalid_byte(raw), position)
    _, charset, text = max(candidates, key=lambda candidate: candidate[0])
    return charset, text


def _first_invalid_byte(raw: bytes) -> int:
    """Index of the first byte that is not UTF-8."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _undecodable(charset: str, raw: bytes, index: int, position: int) -> ImportFileInvalid:
    """The problem for a header, at byte `position` of the file, that is invalid from its byte `index` on."""
    if charset.startswith("utf-16"):  # `split_lines` yields UTF-16 lines as UTF-8.
        offset = position + _utf16_size(raw[:index].decode())
        message = f"The header is not {charset}: half of a character is missing at byte {offset} of the file."
    else:
        offset = position + index
        message = f"The header is not {charset}: byte 0x{raw[index]:02X} at offset {offset} of the file."
    return ImportFileInvalid(
        message,
        errors=[ProblemError(path=f"byte/{offset}", code="undecodable", message=message)],
        next="Declare the file's encoding, such as `charset=windows-1252`, or save the file as CSV (UTF-8).",
    )


def _split_names(text: str, delimiter: str) -> list[str] | None:
    """The column names in a header line; None if a quote is wrong or the line is empty."""
    try:
        return [name.strip() for name in next(csv.reader([text], delimiter=delimiter, strict=True))]
    except (csv.Error, StopIteration):
        return None


def _map_header(
    text: str, delimiters: Sequence[str], mapping: Mapping[str, str | None], line: int
) -> tuple[list[ContactImportColumn], list[ContactImportNotice], str]:
    """The columns with their targets, notices, and the delimiter. Raises ImportFileInvalid or Invalid."""
    candidates: list[tuple[tuple[bool, int, int], list[str], str]] = []
    for delimiter in delimiters:
        names = _split_names(text, delimiter)
        if names is None:
            continue
        first_names = names[:COLUMN_LIMIT]
        has_email = any(field_of(name) == "email" or mapping.get(name) == "email" for name in first_names)
        score = (has_email, sum(name in mapping for name in first_names), len(names))
        candidates.append((score, names, delimiter))
    if not candidates:
        raise _carriage_return_problem(text.encode()) or ImportFileInvalid(
            "The first line is not a CSV header: a quote is not closed, or text follows a closing quote."
        )
    _, names, delimiter = max(candidates, key=lambda candidate: candidate[0])
    if len(names) > COLUMN_LIMIT:
        raise ImportFileInvalid(f"The file has more than {COLUMN_LIMIT} columns.")
    columns, notices = _map_columns(names, _declared_targets(names, mapping))
    if not any(column.target == "email" for column in columns):
        notices.insert(0, _missing_email_notice(names, line))
    attribute_columns = [column for column in columns if column.target and column.target not in FIELDS]
    if len(attribute_columns) > EXPORTED_ATTRIBUTES:
        message = f"The file has more than {EXPORTED_ATTRIBUTES} columns of attributes."
        next_step = f"Exclude columns, for example {_columns_parameter(attribute_columns[-1].name, None)}."
        notices.append(_notice("too_many_columns", message, next=next_step))
    return columns, notices, delimiter


def _declared_targets(names: Sequence[str], mapping: Mapping[str, str | None]) -> dict[int, str | None]:
    """The caller's column mapping, keyed by index. Raises Invalid for a column that does not exist."""
    plain_names = [plain_name(name) for name in names]
    targets: dict[int, str | None] = {}
    for name, target in mapping.items():
        indexes = [index for index, column_name in enumerate(names) if column_name == name.strip()]
        if not indexes and (plain := plain_name(name)):
            indexes = [index for index, column_name in enumerate(plain_names) if column_name == plain]
        if not indexes:
            listed = ", ".join(f"`{column}`" for column in names[:NAMES_SHOWN] if column)
            raise Invalid.at("query/columns", f"The file has no column `{name}`; it has {listed}.", "column_missing")
        targets |= dict.fromkeys(indexes, target)
    return targets


def _map_columns(
    names: Sequence[str], declared: Mapping[int, str | None]
) -> tuple[list[ContactImportColumn], list[ContactImportNotice]]:
    """Map all columns to targets; returns them with notices for invalid, repeated and doubtful columns."""
    field_columns = _columns_of_fields(names, declared)
    columns: list[ContactImportColumn] = []
    notices: list[ContactImportNotice] = []
    column_numbers: dict[str, int] = {}
    for index, name in enumerate(names):
        number = index + 1
        target, decided_by = _target_of(index, name, declared, field_columns)
        if (
            target
            and target not in FIELDS
            and (error := attribute_error(target.removeprefix("attributes."), value=None))
        ):
            notices.append(_notice("column_invalid", f"Column {number}: {error}", number))
        elif target in column_numbers:
            first_number = column_numbers[target]
            if names[first_number - 1] == name:
                message = f"Columns {first_number} and {number} are both `{name}`."
                next_step = "Rename one of them in the file."
            else:
                message = f"Columns {first_number} and {number} are both mapped to `{target}`."
                next_step = f"Rename one of them in the file, or exclude one: {_columns_parameter(name, None)}."
            notices.append(_notice("column_repeated", message, number, next=next_step))
        if target:
            column_numbers.setdefault(target, number)
        columns.append(ContactImportColumn(number=number, name=name, target=target, decided_by=decided_by))
        if decided_by == "ATTRIBUTE":
            notices += _column_hints(number, name, field_columns)
    return columns, notices


class FieldColumns(NamedTuple):
    """The columns that are mapped to a field of the contact. More than one is an error in the file."""

    decided_by: ColumnDecision
    indexes: set[int]


def _columns_of_fields(names: Sequence[str], declared: Mapping[int, str | None]) -> dict[str, FieldColumns]:
    """The columns that are mapped to the contact's own fields, keyed by field.

    Precedence: the caller's mapping, then columns with the field's exact name, then the first synonym in the file.
    """
    field_columns: dict[str, FieldColumns] = {}
    for index, target in declared.items():
        if target in FIELDS:
            field_columns.setdefault(target, FieldColumns("DECLARED", set())).indexes.add(index)
    undeclared = [(index, name) for index, name in enumerate(names) if index not in declared]
    for field in ("email", "unsubscribed", "attributes"):
        if field in field_columns:
            continue
        if exact := {index for index, name in undeclared if name.casefold() == field}:
            field_columns[field] = FieldColumns("EXACT", exact)
        elif synonyms := [(index, plain_name(name)) for index, name in undeclared if field_of(name) == field]:
            _, first_synonym = synonyms[0]
            indexes = {index for index, plain in synonyms if plain == first_synonym}
            field_columns[field] = FieldColumns("SYNONYM", indexes)
    return field_columns


def _target_of(
    index: int, name: str, declared: Mapping[int, str | None], field_columns: dict[str, FieldColumns]
) -> tuple[str | None, ColumnDecision]:
    """The target of a column (None if it is not imported), and how the target was chosen."""
    if index in declared:
        return declared[index], "DECLARED"
    for field, (decided_by, indexes) in field_columns.items():
        if index in indexes:
            return field, decided_by
    if not name or name.casefold() in EXPORT_COLUMNS:
        return None, "IGNORED"
    name = unescape_formula(name)
    return f"attributes.{name.removeprefix('attributes.').strip()}", "ATTRIBUTE"


def _column_hints(number: int, name: str, field_columns: dict[str, FieldColumns]) -> list[ContactImportNotice]:
    """Notices for a column that becomes an attribute but may be meant as a field."""
    field = field_of(name)
    if field in field_columns:
        field_number = min(field_columns[field].indexes) + 1
        message = f"Column {number}, `{name}`, becomes an attribute: column {field_number} is `{field}`."
        next_step = f"To use this column instead, add {_columns_parameter(name, field)}."
        return [_notice("column_not_used", message, number, blocking=False, next=next_step)]
    if may_mean_subscribed(name) and "unsubscribed" not in field_columns and "subscribed" not in field_columns:
        message = f"Column {number}, `{name}`, becomes an attribute and does not unsubscribe contacts."
        next_step = f"If it says whether a contact is subscribed, add {_columns_parameter(name, 'subscribed')}."
        return [_notice("subscribed_not_used", message, number, blocking=False, next=next_step)]
    return []


def notices_of_unused_types(columns: Sequence[ContactImportColumn], names: Iterable[str]) -> list[ContactImportNotice]:
    """One notice that lists the attributes, among `names`, that no column fills; no notice if there are none.

    `names` are the attributes whose types the caller declares. A column `attributes` may fill any of them, because its
    cells contain the names; with such a column there is no notice.
    """
    targets = [column.target for column in columns if column.target]
    unused = [name for name in names if f"attributes.{name}" not in targets]
    if not unused or "attributes" in targets:
        return []
    filled = [target.removeprefix("attributes.") for target in targets if target not in FIELDS]
    message = f"`attributeTypes` has names of attributes that no column of the file fills: {_listed(unused)}."
    next_step = f"The columns fill {_listed(filled)}." if filled else "No column of the file fills an attribute."
    return [_notice("type_not_used", message, blocking=False, next=f"Check the spelling. {next_step}")]


def _listed(names: Sequence[str]) -> str:
    """The names for a message, without those beyond NAMES_SHOWN."""
    shown = ", ".join(f"`{name}`" for name in names[:NAMES_SHOWN])
    return shown if len(names) <= NAMES_SHOWN else f"{shown} and {len(names) - NAMES_SHOWN} more"


def _missing_email_notice(names: Sequence[str], line: int) -> ContactImportNotice:
    place = "first" if line == 1 else "second"
    message = f"There is no column `email` in the header, which is the {place} line of the file."
    if any("@" in name for name in names):
        return _notice(
            "email_column_missing", message, next="Add a header line with the column names before the first contact."
        )
    example_name = next((name for name in names if name and len(name) <= NAME_LIMIT), "Name")
    next_step = (
        f"Rename the column in the file, or map one to it, for example {_columns_parameter(example_name, 'email')}."
    )
    return _notice("email_column_missing", message, next=next_step)


def _columns_parameter(name: str, target: str | None) -> str:
    """The query parameter that maps a column to a target; None excludes the column."""
    return f"`columns={msgspec.json.encode({name: target}).decode()}`"


def _warnings(start: bytes, charset: str, declared: str | None) -> list[ContactImportNotice]:
    """Notices for an encoding that was guessed, or that differs from what the file looks like.

    A wrong 8-bit encoding usually decodes without an error, so nothing else would reveal it.
    """
    if charset.startswith("utf-"):
        return []
    if declared is None:
        message = f"The file is not UTF-8 and declares no encoding; it is read as {charset}."
        check = "Check accented and other non-ASCII letters, and declare `charset=` if they are wrong."
        return [_notice("charset_guessed", message, blocking=False, next=check)]
    if start.isascii():
        return []
    try:
        start[: start.rfind(b"\n") + 1 or None].decode()  # Complete lines, because `start` may end within a character.
    except UnicodeDecodeError:
        return []
    message = f"The file is declared to be {charset}, but it is UTF-8."
    return [_notice("charset_doubtful", message, blocking=False, next="Declare `charset=utf-8`, or omit `charset`.")]


def _notice(
    code: str, message: str, column: int | None = None, *, blocking: bool = True, next: str | None = None
) -> ContactImportNotice:
    return ContactImportNotice(code=code, message=message, column=column, blocking=blocking, next=next)


def split_lines(chunks: Iterable[bytes], charset: str = "utf-8") -> Iterator[tuple[bytes, int]]:
    """Yield lines including their line feed, and the number of bytes that each takes in the file.

    A line longer than ROW_LIMIT is truncated. UTF-16 lines are yielded as UTF-8: see `codec_of_lines`.
    """
    if charset.startswith("utf-16"):
        yield from _split_utf16(chunks, CODECS[charset])
        return
    rest, dropped = b"", 0
    for chunk in chunks:
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        for line in lines:
            yield (line + b"\n" if not dropped else line), len(line) + 1 + dropped
            dropped = 0
        if len(rest) > ROW_LIMIT + 1:
            dropped += len(rest) - ROW_LIMIT - 1
            rest = rest[: ROW_LIMIT + 1]
    if rest:
        yield rest, len(rest) + dropped


def _split_utf16(chunks: Iterable[bytes], codec: str) -> Iterator[tuple[bytes, int]]:
    """Split after decoding: the two bytes of a line feed also occur as the end of one character and the start of the
    next."""
    decoder = codecs.getincrementaldecoder(codec)("surrogatepass")
    rest, dropped = "", 0
    for chunk in chunks:
        lines = (rest + decoder.decode(chunk)).split("\n")
        rest = lines.pop()
        for line in lines:
            yield _as_utf8(line if dropped else line + "\n"), _utf16_size(line) + 2 + dropped
            dropped = 0
        if len(rest) > ROW_LIMIT + 1:
            dropped += _utf16_size(rest[ROW_LIMIT + 1 :])
            rest = rest[: ROW_LIMIT + 1]
    incomplete, _ = decoder.getstate()  # The first bytes of a character that the end of the file cuts off.
    if rest or incomplete:
        # The byte 0xFF makes the line invalid UTF-8, so it is rejected.
        yield _as_utf8(rest) + b"\xff" * bool(incomplete), _utf16_size(rest) + dropped + len(incomplete)


def _as_utf8(line: str) -> bytes:
    return line.encode("utf-8", "surrogatepass")


def _utf16_size(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass"))


def codec_of_lines(charset: str) -> str:
    """Python's codec for the lines that `split_lines` yields."""
    return "utf-8" if charset.startswith("utf-16") else CODECS[charset]


def read_records(
    layout: ColumnLayout, lines: Iterator[tuple[bytes, int]], *, number: int, position: int
) -> Iterator[CsvRecord]:
    """Yield the rows from byte `position` of the file on, which is the start of line `number`.

    `lines` are those of `split_lines`. Invalid rows are yielded with an `error`; empty lines are omitted.
    """
    source = _LineSource(lines, number, position, layout.charset)
    while True:
        source.begin_row()
        reader = csv.reader(source, delimiter=layout.delimiter, strict=True)
        first_line = source.number
        try:
            for cells in reader:
                source.end_row()
                if cells:
                    yield CsvRecord(first_line, cells, None, source.number, source.position)
                first_line = source.number
            return
        except (csv.Error, RowInvalid) as error:
            if source.at_end and not source.row_lines:
                return
            source.skip_first_line()
            yield CsvRecord(first_line, None, _error_message(str(error)), source.number, source.position)


def read_batch(
    layout: ColumnLayout,
    chunks: Iterable[bytes],
    *,
    number: int,
    position: int,
    rows: int = IMPORT_BATCH,
    size: int = BATCH_BYTES,
) -> Iterator[CsvRecord]:
    """Yield one batch of rows, invalid ones included, from byte `position` on: at most `rows` rows or `size` bytes.

    `chunks` are the bytes of the file from `position` on, which is the start of line `number`.
    """
    records = read_records(layout, split_lines(chunks, layout.charset), number=number, position=position)
    for count, record in enumerate(records, start=1):
        yield record
        if count >= rows or record.next_position - position >= size:
            return


def _error_message(message: str) -> str:
    """A message for callers, from that of a RowInvalid or of an error of Python's csv module."""
    if "unexpected end of data" in message or "row is longer" in message or "field larger" in message:
        return f"A quote is never closed, or the row is longer than {ROW_LIMIT} bytes."
    if "expected after" in message:
        return "Text follows a closing quote; write a quote within a quoted cell twice."
    return message


class _LineSource:
    """Feeds lines to csv.reader, keeps those of the current row, and replays them if the row is invalid.

    A hostile file may open a quote on every line. Each of these rows is invalid after ROW_LIMIT bytes, and parsing
    resumes at its second line, so most bytes would be parsed many times. Therefore a row of several lines is also
    invalid if it is longer than the number of bytes that may still be parsed again (REREAD_LIMIT, REREADS_PER_BYTE).
    """

    def __init__(self, lines: Iterator[tuple[bytes, int]], number: int, position: int, charset: str) -> None:
        self._lines = lines
        self._charset, self._codec = charset, codec_of_lines(charset)
        self._pending: list[tuple[bytes, int]] = []
        self._row_size = 0
        self._rereadable_bytes = REREAD_LIMIT
        self.number = number
        self.position = position
        self.row_lines: list[tuple[bytes, int]] = []
        self.at_end = False

    def begin_row(self) -> None:
        """Begin a row with the next line."""
        self.row_lines, self._row_size = [], 0

    def end_row(self) -> None:
        """Advance `number` and `position` to the line after the current row, and begin the next row."""
        self.number += len(self.row_lines)
        self.position += self._row_size
        self._rereadable_bytes += REREADS_PER_BYTE * self._row_size
        self.begin_row()

    def skip_first_line(self) -> None:
        """End an invalid row after its first line; its other lines are parsed again as the next rows."""
        self._pending += reversed(self.row_lines[1:])
        self._rereadable_bytes -= sum(size for _, size in self.row_lines[1:])
        self.row_lines, self._row_size = self.row_lines[:1], self.row_lines[0][1]
        self.end_row()

    def __iter__(self) -> "_LineSource":
        return self

    def __next__(self) -> str:
        entry = self._pending.pop() if self._pending else next(self._lines, None)
        if entry is None:
            self.at_end = True
            raise StopIteration
        self.row_lines.append(entry)
        line, size = entry
        self._row_size += size
        if self._row_size > ROW_LIMIT or (len(self.row_lines) > 1 and self._row_size > self._rereadable_bytes):
            raise RowInvalid("The row is longer than allowed.")
        try:
            return line.decode(self._codec)
        except UnicodeDecodeError as error:
            raise RowInvalid(_undecodable_line(self._charset, line, error.start)) from None


def _undecodable_line(charset: str, line: bytes, index: int) -> str:
    if charset.startswith("utf-16"):
        return f"The line is not {charset}: half of a character is missing."
    return f"The line is not {charset}: byte 0x{line[index]:02X} at offset {index} of the line."


def infer_columns(
    layout: ColumnLayout, rows: Sequence[Sequence[str]], known_types: KnownTypes
) -> dict[str, AttributeType]:
    """Infer the types of columns whose attributes have none yet, from all cells of these rows.

    Returns types keyed by attribute. Columns whose type cannot be inferred are left out.
    """
    types: dict[str, AttributeType] = {}
    for index, name in enumerate(layout.columns):
        if name is None or name in known_types:
            continue
        if (kind := infer(cells[index] for cells in rows if index < len(cells))) is not None:
            types[name] = kind
    return types


def readers_of(layout: ColumnLayout, types: KnownTypes) -> list[tuple[int, str, Reader]]:
    """The columns mapped to attributes: index, attribute name and parser of each."""
    return [(index, name, reader_of(types.get(name))) for index, name in enumerate(layout.columns) if name is not None]


def row_of(layout: ColumnLayout, record: CsvRecord, readers: Sequence[tuple[int, str, Reader]]) -> ImportRow:
    """The contact in a row, with attributes parsed by `readers` (see `readers_of`).

    Raises RowInvalid if the row is invalid or exceeds a limit.
    """
    if record.cells is None:
        raise RowInvalid(record.error)
    cells = record.cells
    if len(cells) > len(layout.columns):
        raise RowInvalid(f"The row has {len(cells)} cells, the header {len(layout.columns)}.")
    email, key = read_email(unescape_formula(cells[layout.email].strip()) if layout.email < len(cells) else "")
    attributes: dict[str, Any] = {}
    if layout.attributes is not None and layout.attributes < len(cells) and cells[layout.attributes].strip():
        attributes = _object(cells[layout.attributes])
    for index, name, reader in readers:
        if index < len(cells) and (cell := cells[index]):
            try:
                value = reader(cell)
            except CellInvalid as error:
                raise RowInvalid(f"The cell of `{name}` {error}.") from None
            if value is not None:
                attributes[name] = value
    check_size(attributes)
    unsubscribed = False
    if layout.unsubscribed is not None and layout.unsubscribed < len(cells):
        unsubscribed = flag_in(cells[layout.unsubscribed], "unsubscribed")
    if layout.subscribed is not None and layout.subscribed < len(cells) and cells[layout.subscribed].strip():
        unsubscribed = unsubscribed or not flag_in(cells[layout.subscribed], "subscribed")
    return ImportRow(record.number, email, key, attributes, unsubscribed)


def check_size(attributes: dict[str, Any]) -> None:
    """Raises RowInvalid if attributes exceed a limit or contain a NUL character."""
    encoded = to_json(attributes)
    if b"\\u0000" in encoded:  # Or a backslash before the text `u0000`.
        for name, value in attributes.items():
            if "\0" in value if isinstance(value, str) else b"\\u0000" in to_json(value):
                raise RowInvalid(f"The cell of `{name}` contains a NUL character.")
    if len(encoded) > MAX_ATTRIBUTES_BYTES:
        raise RowInvalid(f"The attributes take more than {MAX_ATTRIBUTES_BYTES} bytes.")
    if len(attributes) > ATTRIBUTE_COUNT_LIMIT:
        raise RowInvalid(f"A contact has at most {ATTRIBUTE_COUNT_LIMIT} attributes.")


def flag_in(text: str, field: str) -> bool:
    """The flag in a cell; False if it is blank. Raises RowInvalid."""
    if not text.strip():
        return False
    flag = flag_of(text.strip())
    if flag is None:
        raise RowInvalid(f"`{field}` is neither true nor false.")
    return flag


def _object(cell: str) -> dict[str, Any]:
    try:
        attributes = msgspec.json.decode(cell, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        raise RowInvalid("`attributes` is not a JSON object.") from None
    if is_too_deep(cell.encode()):
        raise RowInvalid(f"`attributes` is nested deeper than {JSON_DEPTH_LIMIT} levels.")
    for name, value in attributes.items():
        if error := attribute_error(name, value):
            raise RowInvalid(error)
    return {name: value for name, value in attributes.items() if value is not None}


_LOCAL = re.compile(r"[A-Za-z0-9_+'-]+(\.[A-Za-z0-9_+'-]+)*")


def read_email(text: str) -> tuple[str, str]:
    """An address in stored and in normalised form. Raises RowInvalid.

    A pattern handles common addresses, because it is faster; all others go through the full parser.
    """
    local, _, domain = text.rpartition("@")
    if len(text) <= 254 and len(local) <= 64 and text.isascii() and _LOCAL.fullmatch(local):
        parsed_domain = parse_domain(domain)
        if parsed_domain is not None and len(local) + 1 + len(parsed_domain) <= 254:
            return f"{local}@{parsed_domain}", f"{local.lower()}@{parsed_domain}"
    try:
        spec = parse_address(text).spec
        return spec, address_key(spec)
    except AddressInvalid as error:
        # Errors of an import are stored and not covered by erasure, so they must not contain the address.
        _, separator, reason = error.detail.rpartition(" is not an address: ")
        raise RowInvalid(f"This is not an e-mail address: {reason}" if separator else error.detail) from None


@lru_cache(maxsize=65_536)
def parse_domain(domain: str) -> str | None:
    """The domain in normalised form; None if the full parser must decide."""
    if domain.endswith(".") or domain != domain.strip():
        return None
    try:
        return parse_domain_name(domain)
    except AddressInvalid:
        return None
