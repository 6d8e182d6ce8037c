"""Reads a CSV file of contacts in blocks of rows, and the rows of a block column by column.

The results are those of `csv_reader`, which reads row by row and takes three times as long. Whatever is not plain (a
cell of several lines, an invalid cell, a long row) goes to its functions, so that each rule is only there.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, islice
from typing import Any, Final

import msgspec

from postern.kernel.http.pagination import unescape_formula
from postern.kernel.values import to_json
from postern.messaging.audiences.csv_cells import CellInvalid, KnownTypes, Reader, reader_of
from postern.messaging.audiences.csv_reader import (
    BATCH_BYTES,
    ROW_LIMIT,
    ColumnLayout,
    CsvRecord,
    ImportRow,
    RowInvalid,
    codec_of_lines,
    flag_in,
    parse_domain,
    read_batch,
    read_email,
    row_of,
)
from postern.messaging.audiences.model import (
    ATTRIBUTE_COUNT_LIMIT,
    IMPORT_BATCH,
    MAX_ATTRIBUTES_BYTES,
    AttributeType,
    ContactImportError,
)

BLOCK_ROWS: Final = 256
"""Maximum rows of a block."""
JSON_GROWTH: Final = 6
"""How many bytes of JSON a byte of a cell can become: `\\u0001`."""
NUMBER_BYTES: Final = 32
"""More bytes than the JSON of a floating-point number, a quote or a comma take beside the cell."""


class CsvBlock(msgspec.Struct, frozen=True):
    """Rows that follow one another in a file, and where the row after them begins."""

    numbers: Sequence[int]
    """For each of `rows`, the number of the line on which it begins, counted from 1."""
    rows: list[list[str]]
    """The cells of the valid rows."""
    invalid: list[CsvRecord]
    length_limit: int
    """No row is longer, in bytes; ROW_LIMIT if that is unknown, or if a NUL character must be looked for."""
    next_line: int
    next_position: int


class AttributeColumn(msgspec.Struct, frozen=True):
    """A column that is mapped to an attribute."""

    index: int
    name: str
    type: AttributeType | None
    """The type of the attribute; None if it has none yet."""
    read: Reader


def attribute_columns(layout: ColumnLayout, types: KnownTypes) -> list[AttributeColumn]:
    """The columns of a file that are mapped to attributes."""
    return [
        AttributeColumn(index, name, known.type if (known := types.get(name)) else None, reader_of(known))
        for index, name in enumerate(layout.columns)
        if name is not None
    ]


def read_blocks(
    layout: ColumnLayout, chunks: Iterable[bytes], *, number: int, position: int, rows: int = IMPORT_BATCH
) -> Iterator[CsvBlock]:
    """Yield the rows of `csv_reader.read_batch` in blocks. The batch may be longer by a block than BATCH_BYTES."""
    count, start, pending, remaining_chunks = 0, position, b"", iter(chunks)
    is_end = layout.charset.startswith("utf-16")  # A byte 0x0A is not always a line feed there.
    while not is_end and len(pending) <= ROW_LIMIT:
        chunk = next(remaining_chunks, b"")
        is_end = not chunk
        pending += chunk
        lines = pending.split(b"\n")
        rest = b"" if is_end else lines.pop()
        if not lines[-1:] or (is_end and not lines[-1]):
            del lines[-1:]
        offset = first = 0
        while first < len(lines):
            block_lines = lines[first : first + min(BLOCK_ROWS, rows - count)]
            size = min(sum(map(len, block_lines)) + len(block_lines), len(pending) - offset)
            block = _plain_block(layout, block_lines, number, position + size)
            if block is None:
                break
            yield block
            first, offset = first + len(block_lines), offset + size
            count, number, position = count + len(block.rows), block.next_line, block.next_position
            if count >= rows or position - start >= BATCH_BYTES:
                return
        if first < len(lines):
            pending = pending[offset:]
            break
        pending = rest
    records = read_batch(
        layout,
        chain([pending], remaining_chunks),
        number=number,
        position=position,
        rows=rows - count,
        size=BATCH_BYTES - (position - start),
    )
    while group := list(islice(records, BLOCK_ROWS)):
        valid = [record for record in group if record.cells is not None]
        yield CsvBlock(
            numbers=[record.number for record in valid],
            rows=[record.cells for record in valid if record.cells is not None],
            invalid=[record for record in group if record.cells is None],
            length_limit=ROW_LIMIT,
            next_line=group[-1].next_line,
            next_position=group[-1].next_position,
        )


def _plain_block(layout: ColumnLayout, lines: list[bytes], number: int, next_position: int) -> CsvBlock | None:
    """The rows of lines without their line feeds; None if a row is invalid or has several lines."""
    longest = max(map(len, lines))
    if longest >= ROW_LIMIT:
        return None
    try:
        text = b"\n".join(lines).decode(codec_of_lines(layout.charset))
        rows = list(csv.reader(text.split("\n"), delimiter=layout.delimiter, strict=True))
    except (UnicodeDecodeError, csv.Error):
        return None
    if len(rows) != len(lines):
        return None
    numbers: Sequence[int] = range(number, number + len(lines))
    if not all(rows):  # Empty lines have no cells.
        numbers, rows = list(compress(numbers, rows)), list(filter(None, rows))
    length_limit = ROW_LIMIT if "\0" in text else longest
    return CsvBlock(numbers, rows, [], length_limit, number + len(lines), next_position)


def contacts_of(
    layout: ColumnLayout, block: CsvBlock, columns: Sequence[AttributeColumn]
) -> tuple[list[ImportRow], list[ContactImportError]]:
    """The contacts in the rows of a block, and the errors of those rows that are invalid or exceed a limit."""
    contacts = _plain_contacts(layout, block, columns)
    if contacts is not None:
        return contacts
    readers = [(column.index, column.name, column.read) for column in columns]
    rows: list[ImportRow] = []
    errors = [ContactImportError(line=record.number, message=record.error or "") for record in block.invalid]
    for number, cells in zip(block.numbers, block.rows, strict=True):
        try:
            rows.append(row_of(layout, CsvRecord(number, cells, None, 0, 0), readers))
        except RowInvalid as error:
            errors.append(ContactImportError(line=number, message=str(error)))
    return rows, errors


def _plain_contacts(
    layout: ColumnLayout, block: CsvBlock, columns: Sequence[AttributeColumn]
) -> tuple[list[ImportRow], list[ContactImportError]] | None:
    """Like `contacts_of`; None if an attribute or a limit must be checked row by row."""
    names_size = sum(len(to_json(column.name)) + NUMBER_BYTES for column in columns)
    if (
        block.invalid
        or not block.rows
        or JSON_GROWTH * block.length_limit + names_size > MAX_ATTRIBUTES_BYTES
        or len(columns) > ATTRIBUTE_COUNT_LIMIT
    ):
        return None
    rows, width = block.rows, len(layout.columns)
    if set(map(len, rows)) != {width}:
        if max(map(len, rows)) > width:
            return None
        rows = [[*row, *[""] * (width - len(row))] for row in rows]  # A missing cell is an empty one.
    cells = list(zip(*rows, strict=True))
    if layout.attributes is not None and not all(cell == "" or cell.isspace() for cell in cells[layout.attributes]):
        return None
    try:
        unsubscribed = _unsubscribed(layout, cells, len(rows))
        values = [_values(column, cells[column.index]) for column in columns]
    except (RowInvalid, CellInvalid):
        return None
    addresses, errors = _read_emails([cell.strip() for cell in cells[layout.email]], block.numbers)
    names = [column.name for column in columns]
    attributes = _attributes(names, values, len(rows))
    contacts = [
        ImportRow(number, address[0], address[1], attributes_of_row, flag)
        for number, address, attributes_of_row, flag in zip(
            block.numbers, addresses, attributes, unsubscribed, strict=True
        )
        if address is not None
    ]
    return contacts, errors


def _attributes(names: list[str], values: list[Sequence[Any]], count: int) -> list[dict[str, Any]]:
    """The attributes of each of `count` rows from the values of each column; None is no value."""
    if not names:
        return [{} for _ in range(count)]
    if not any(None in column for column in values):
        return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]
    return [
        {name: value for name, value in zip(names, row, strict=True) if value is not None}
        for row in zip(*values, strict=True)
    ]


def _unsubscribed(layout: ColumnLayout, cells: list[tuple[str, ...]], count: int) -> list[bool]:
    """Whether each row unsubscribes its contact. Raises RowInvalid."""
    flags = [False] * count
    if layout.unsubscribed is not None:
        flag_of_cell = {cell: flag_in(cell, "unsubscribed") for cell in set(cells[layout.unsubscribed])}
        flags = [flag_of_cell[cell] for cell in cells[layout.unsubscribed]]
    if layout.subscribed is not None:
        flag_of_cell = {
            cell: bool(cell.strip()) and not flag_in(cell, "subscribed") for cell in set(cells[layout.subscribed])
        }
        flags = [flag or flag_of_cell[cell] for flag, cell in zip(flags, cells[layout.subscribed], strict=True)]
    return flags


_INTEGERS = re.compile(r"(?:(?:-?(?:0|[1-9][0-9]{0,14}))?\n)*+")


def _values(column: AttributeColumn, cells: Sequence[str]) -> Sequence[Any]:
    """The values of an attribute in a column's cells; None for a blank cell.

    Raises CellInvalid if one does not match a declared type, or if JSON in it must be checked row by row.
    """
    if column.type == "string":
        if "'" not in "".join(cells):
            return cells if all(cells) else [cell or None for cell in cells]
    elif column.type == "number":
        text = "\n".join(cells) + "\n"
        if _INTEGERS.fullmatch(text) and text.count("\n") == len(cells):
            return [int(cell) if cell else None for cell in cells]
    elif column.type in (None, "list") and any(cells):
        raise CellInvalid
    return [column.read(cell) if cell else None for cell in cells]


_ADDRESSES = re.compile(r"^([A-Za-z0-9_+-]++(?:\.[A-Za-z0-9_+-]++)*+)@([^@\n]++)$", re.MULTILINE)


def _read_emails(
    texts: list[str], numbers: Sequence[int]
) -> tuple[Sequence[tuple[str, str] | None], list[ContactImportError]]:
    """The result of `read_email` for each text, or None and an error with the number of its line."""
    joined = "\n".join(texts)
    parts: list[tuple[str, str]] = _ADDRESSES.findall(joined)
    is_plain = joined.isascii() and len(parts) == len(texts) == joined.count("\n") + 1
    if is_plain and max(map(len, texts)) <= 254:
        domains = [parse_domain(domain) for _, domain in parts]
        if all(domains) and max(len(local) for local, _ in parts) <= 64:
            emails = [f"{part[0]}@{domain}" for part, domain in zip(parts, domains, strict=True)]
            if max(map(len, emails)) <= 254:
                keys = [f"{part[0].lower()}@{domain}" for part, domain in zip(parts, domains, strict=True)]
                return list(zip(emails, keys, strict=True)), []
    addresses: list[tuple[str, str] | None] = []
    errors: list[ContactImportError] = []
    for number, text in zip(numbers, texts, strict=True):
        try:
            addresses.append(read_email(unescape_formula(text)))
        except RowInvalid as error:
            addresses.append(None)
            errors.append(ContactImportError(line=number, message=str(error)))
    return addresses, errors
