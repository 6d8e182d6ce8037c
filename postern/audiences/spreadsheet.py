"""Contacts in a CSV file (RFC 4180): reads pieces of bytes, gives rows and says which line is wrong and why.

A row that cannot be read fails alone: reading goes on with the line after the one it began on, so that a quote
that was never closed costs one line and not the rest of the file. Memory is bounded by ROW_LIMIT.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from postern.audiences.cells import CellFault, Declarations, Reader, infer, reader_of
from postern.audiences.model import (
    ATTRIBUTE_COUNT_LIMIT,
    ATTRIBUTES_LIMIT,
    EXPORTED_ATTRIBUTES,
    AttributeType,
    ImportFileInvalid,
    attribute_fault,
)
from postern.kernel.pages import unguarded
from postern.kernel.values import to_json
from postern.mail.address import AddressInvalid, domain_of, normalise, parse_address

ROW_LIMIT: Final = 131_072
"""Bytes of one row, line breaks within quotes included."""
BOM: Final = b"\xef\xbb\xbf"
EMAIL_NAMES: Final = ("email", "e-mail", "email address", "e-mail address", "email_address", "mail")
OURS: Final = ("id", "createdat", "updatedat", "lastopenedat", "lastclickedat", "unsubscribedat")
"""Columns of our own export that an import leaves alone."""

TRUE: Final = ("true", "yes", "1", "y", "t")
FALSE: Final = ("false", "no", "0", "n", "f", "")


class RowFault(Exception):
    """A row that cannot be taken in; the message says why."""


class Row(msgspec.Struct):
    """A contact as a file gives it. Changed in place where a later line of the same batch names it again."""

    line: int
    email: str
    email_key: str
    attributes: dict[str, Any]
    unsubscribed: bool


class Layout(msgspec.Struct, frozen=True):
    """What the columns of a file mean."""

    delimiter: str
    columns: list[str | None]
    """For each column the attribute it fills; None for columns that fill none."""
    email: int
    unsubscribed: int | None
    attributes: int | None
    """The column that holds attributes as a JSON object."""
    length: int
    """Bytes up to the end of the header line."""


class Line(msgspec.Struct, frozen=True):
    """One row of cells, or why there is none, and where the next row begins."""

    number: int
    cells: list[str] | None
    fault: str | None
    next_line: int
    next_position: int


def read_layout(start: bytes) -> Layout:
    """Understand the header, which is the first line of `start`. Raises ImportFileInvalid."""
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ImportFileInvalid("The file is UTF-16; save it as UTF-8.")
    if start.startswith(b"PK\x03\x04"):
        raise ImportFileInvalid("This is a ZIP archive or an Excel workbook; save it as CSV (UTF-8).")
    first, length = next(split_lines([start]), (b"", 0))
    if not first.strip(BOM + b"\r\n\t ,;"):
        raise ImportFileInvalid("The file is empty: it begins with a header line that has an `email` column.")
    if len(first) > ROW_LIMIT or b"\0" in first:
        raise ImportFileInvalid("The first line is no CSV header.")
    try:
        text = first.removeprefix(BOM).decode()
    except UnicodeDecodeError:
        raise ImportFileInvalid("The header is not UTF-8.") from None
    for delimiter in (",", ";", "\t", "|"):
        try:
            names = [name.strip() for name in next(csv.reader([text], delimiter=delimiter, strict=True))]
        except (csv.Error, StopIteration):
            continue
        email = next((index for index, name in enumerate(names) if name.casefold() in EMAIL_NAMES), None)
        if email is not None:
            return _layout(names, email, delimiter, length)
    raise ImportFileInvalid("There is no column `email` in the header, which is the first line of the file.")


def _layout(names: list[str], email: int, delimiter: str, length: int) -> Layout:
    columns: list[str | None] = []
    unsubscribed = attributes = None
    _refuse_repetitions(names, email)
    for index, name in enumerate(names):
        folded = name.casefold()
        name = unguarded(name)
        if index == email or not name or folded in OURS:
            columns.append(None)
        elif folded == "unsubscribed" and unsubscribed is None:
            unsubscribed = index
            columns.append(None)
        elif folded == "attributes" and attributes is None:
            attributes = index
            columns.append(None)
        else:
            attribute = name.removeprefix("attributes.").strip()
            fault = attribute_fault(attribute, None)
            if fault:
                raise ImportFileInvalid(f"Column {index + 1}: {fault}")
            columns.append(attribute)
    if sum(column is not None for column in columns) > EXPORTED_ATTRIBUTES:
        raise ImportFileInvalid(f"The file has more than {EXPORTED_ATTRIBUTES} columns of attributes.")
    return Layout(delimiter, columns, email, unsubscribed, attributes, length)


def _refuse_repetitions(names: list[str], email: int) -> None:
    """Raises ImportFileInvalid where two columns mean the same: one of them would be lost without a word."""
    seen: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        folded = name.casefold()
        ours = folded in ("unsubscribed", "attributes", names[email].casefold())
        meaning = folded if ours else f"attributes.{name.removeprefix('attributes.').strip()}"
        if not name or folded in OURS:
            continue
        if meaning in seen:
            raise ImportFileInvalid(f"Columns {seen[meaning]} and {number} are both `{name}`.")
        seen[meaning] = number


def split_lines(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """Lines with their ends, and how long they are; of one that is longer than a row may be, only the beginning."""
    rest, dropped = b"", 0
    for piece in pieces:
        lines = (rest + piece).split(b"\n")
        rest = lines.pop()
        for line in lines:
            yield (line + b"\n" if not dropped else line), len(line) + 1 + dropped
            dropped = 0
        if len(rest) > ROW_LIMIT + 1:
            dropped += len(rest) - ROW_LIMIT - 1
            rest = rest[: ROW_LIMIT + 1]
    if rest:
        yield rest, len(rest) + dropped


def read_lines(layout: Layout, lines: Iterator[tuple[bytes, int]], *, number: int, position: int) -> Iterator[Line]:
    """The rows from `position` on, where line `number` begins."""
    source = _Source(lines, number, position)
    while True:
        source.begin()
        reader = csv.reader(source, delimiter=layout.delimiter, strict=True)
        begun = source.number
        try:
            for cells in reader:
                source.end()
                if cells:
                    yield Line(begun, cells, None, source.number, source.position)
                begun = source.number
            return
        except (csv.Error, RowFault) as error:
            if source.at_end and not source.taken:
                return
            source.put_back()
            yield Line(begun, None, _reason(str(error)), source.number, source.position)


def _reason(message: str) -> str:
    if "unexpected end of data" in message or "row is longer" in message or "field larger" in message:
        return f"A quote is never closed, or the row is longer than {ROW_LIMIT} bytes."
    if "expected after" in message:
        return "Text follows a closing quote; a quote within quotes is written twice."
    return message


class _Source:
    """Hands lines to csv.reader, remembers those of the row in hand, and takes them back if the row is bad."""

    def __init__(self, lines: Iterator[tuple[bytes, int]], number: int, position: int) -> None:
        self._lines = lines
        self._pending: list[tuple[bytes, int]] = []
        self._size = 0
        self.number = number
        self.position = position
        self.taken: list[tuple[bytes, int]] = []
        self.at_end = False

    def begin(self) -> None:
        self.taken, self._size = [], 0

    def end(self) -> None:
        """The row in hand is whole."""
        self.number += len(self.taken)
        self.position += self._size
        self.begin()

    def put_back(self) -> None:
        """The row in hand is bad: its first line is lost, the others are read again."""
        self._pending += self.taken[:0:-1]
        self.taken, self._size = self.taken[:1], self.taken[0][1]
        self.end()

    def __iter__(self) -> "_Source":
        return self

    def __next__(self) -> str:
        taken = self._pending.pop() if self._pending else next(self._lines, None)
        if taken is None:
            self.at_end = True
            raise StopIteration
        self.taken.append(taken)
        line, size = taken
        self._size += size
        if self._size > ROW_LIMIT:
            raise RowFault("The row is longer than allowed.")
        try:
            return line.decode()
        except UnicodeDecodeError:
            raise RowFault("The line is not UTF-8.") from None


def infer_columns(layout: Layout, lines: Sequence[Line], known: Declarations) -> dict[str, AttributeType]:
    """The types of columns whose attributes have none yet, by all cells of these lines."""
    types: dict[str, AttributeType] = {}
    for index, name in enumerate(layout.columns):
        if name is not None and name not in known:
            column = (line.cells[index] for line in lines if line.cells is not None and index < len(line.cells))
            if (kind := infer(column)) is not None:
                types[name] = kind
    return types


def readers_of(layout: Layout, types: Declarations) -> list[tuple[int, str, Reader]]:
    """The columns that fill attributes: where each is, the attribute, and how its cells are read."""
    return [(index, name, reader_of(types.get(name))) for index, name in enumerate(layout.columns) if name is not None]


def row_of(layout: Layout, line: Line, readers: Sequence[tuple[int, str, Reader]]) -> Row:
    """A contact from the cells of a line. Raises RowFault."""
    if line.cells is None:
        raise RowFault(line.fault)
    cells = line.cells
    if len(cells) > len(layout.columns):
        raise RowFault(f"The row has {len(cells)} cells, the header {len(layout.columns)}.")
    email, key = read_email(unguarded(cells[layout.email].strip()) if layout.email < len(cells) else "")
    attributes: dict[str, Any] = {}
    if layout.attributes is not None and layout.attributes < len(cells) and cells[layout.attributes].strip():
        attributes = _object(cells[layout.attributes])
    for index, name, reader in readers:
        if index < len(cells) and (cell := cells[index]):
            try:
                value = reader(cell)
            except CellFault as fault:
                raise RowFault(f"The cell of `{name}` {fault}.") from None
            if value is not None:
                attributes[name] = value
    check_size(attributes)
    unsubscribed = False
    if layout.unsubscribed is not None and layout.unsubscribed < len(cells):
        unsubscribed = _flag(cells[layout.unsubscribed].strip().casefold())
    return Row(line.number, email, key, attributes, unsubscribed)


def check_size(attributes: dict[str, Any]) -> None:
    """Raises RowFault where attributes break a limit. Small ones are not measured exactly: that takes longer."""
    size = 0
    for name, value in attributes.items():
        size += 8 + len(name) + (len(value) if isinstance(value, str) else 16)
        if isinstance(value, str) and "\0" in value:
            raise RowFault(f"The cell of `{name}` holds a NUL character.")
        if not isinstance(value, str | int | float):
            size = ATTRIBUTES_LIMIT
            if b"\\u0000" in to_json(value):
                raise RowFault(f"The cell of `{name}` holds a NUL character.")
    if size * 6 > ATTRIBUTES_LIMIT and len(to_json(attributes)) > ATTRIBUTES_LIMIT:
        raise RowFault(f"The attributes take more than {ATTRIBUTES_LIMIT} bytes.")
    if len(attributes) > ATTRIBUTE_COUNT_LIMIT:
        raise RowFault(f"A contact has at most {ATTRIBUTE_COUNT_LIMIT} attributes.")


def _flag(text: str) -> bool:
    if text in TRUE:
        return True
    if text in FALSE:
        return False
    raise RowFault("`unsubscribed` is neither true nor false.")


def _object(cell: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(cell, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        raise RowFault("`attributes` is not a JSON object.") from None
    for name, value in found.items():
        if fault := attribute_fault(name, value):
            raise RowFault(fault)
    return {name: value for name, value in found.items() if value is not None}


_LOCAL = re.compile(r"[A-Za-z0-9_+'-]+(\.[A-Za-z0-9_+'-]+)*")


def read_email(text: str) -> tuple[str, str]:
    """An address as it is kept and as it is looked up. Raises RowFault.

    The usual kind of address takes a short way; everything else goes through the parser of all addresses.
    """
    local, _, domain = text.rpartition("@")
    if len(text) <= 254 and len(local) <= 64 and text.isascii() and _LOCAL.fullmatch(local):
        known = _domain(domain)
        if known is not None and len(local) + 1 + len(known) <= 254:
            return f"{local}@{known}", f"{local.lower()}@{known}"
    try:
        spec = parse_address(text).spec
        return spec, normalise(spec)
    except AddressInvalid as error:
        # Faults are kept, and people in them could not be erased: the line is named, not what stands in it.
        _, named, reason = error.detail.rpartition(" is not an address: ")
        raise RowFault(f"The address is none: {reason}" if named else error.detail) from None


@lru_cache(maxsize=65_536)
def _domain(domain: str) -> str | None:
    if domain.endswith(".") or domain != domain.strip():
        return None
    try:
        return domain_of(domain)
    except AddressInvalid:
        return None
