"""Read export files of other products row by row, without holding a file in memory."""

import codecs
import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from postern.cli import CannotRun

CHUNK_BYTES = 262_144
ROW_LIMIT = 4_194_304
"""Maximum characters of one row of a file."""
SKIPPED_LIMIT = 268_435_456
"""Maximum characters of a part of a JSON document that is skipped, or of an organization with its members."""


@dataclass(frozen=True)
class ExportRow:
    """A row of a file: its fields, or why it cannot be read."""

    number: int
    """From 1: the line of NDJSON or the row of CSV, or the position in a JSON list."""
    fields: dict[str, Any] | None
    fault: str | None = None


Show = Callable[[int], None]
"""Called with the number of bytes that were read."""


def read_rows(file: Path, key: str, show: Show = lambda _: None) -> Iterator[ExportRow]:
    """The rows of a CSV file (`.csv`), of a JSON list, of the list `key` of a JSON object, or of NDJSON.

    Raises CannotRun if the rest of the file cannot be read, and OSError.
    """
    start = _start_of(file)
    if file.suffix.lower() == ".csv":
        return _csv_rows(file, show)
    if start.startswith(b"[") or _is_object_with(start, "users"):
        return _json_items(file, key, show)
    return _json_lines(file, show)


def read_second_list(file: Path, key: str) -> Iterator[ExportRow]:
    """The rows of the list `key` of a JSON object which may have other lists; none if it has no such list, or the file
    is of another kind.

    Raises CannotRun if the rest of the file cannot be read, and OSError.
    """
    if not _is_object_with(_start_of(file), key):
        return
    with file.open("rb") as data:
        document = _JsonDocument(file, data, lambda _: None)
        if document.enter(key):
            for number, value in enumerate(document.items(SKIPPED_LIMIT), 1):
                yield _row(number, value)


def _start_of(file: Path) -> bytes:
    """The first bytes of a file of UTF-8 after white space. Raises CannotRun for other kinds of files, and OSError."""
    if not file.is_file():
        raise CannotRun(f"{file} is not a regular file, and must be read more than once.")
    with file.open("rb") as data:
        start = data.read(CHUNK_BYTES)
    if start.startswith(b"\x1f\x8b"):
        raise CannotRun(f"{file} is compressed. Decompress it first, for example with gunzip.")
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise CannotRun(f"{file} is UTF-16. Convert it to UTF-8 first.")
    return start.removeprefix(codecs.BOM_UTF8).lstrip()


def _is_object_with(start: bytes, key: str) -> bool:
    """Whether a file that begins like this is one JSON object over several lines, or one with this key, not NDJSON."""
    first_line = start.partition(b"\n")[0]
    try:
        first = json.loads(first_line)
    except (ValueError, RecursionError):
        return first_line.startswith(b"{")
    return isinstance(first, dict) and key in first


def _json_lines(file: Path, show: Show) -> Iterator[ExportRow]:
    with file.open("rb") as data:
        number = 0
        while line := data.readline(ROW_LIMIT + 1):
            number += 1
            show(data.tell())
            if len(line) > ROW_LIMIT and not line.endswith(b"\n"):
                _skip_line(data)
                yield ExportRow(number, None, f"The line is longer than {ROW_LIMIT:,} bytes.")
                continue
            line = line.removeprefix(codecs.BOM_UTF8)
            if line.strip():
                yield _read_line(number, line)


def _skip_line(data: BinaryIO) -> None:
    while (piece := data.readline(ROW_LIMIT)) and not piece.endswith(b"\n"):
        pass


def _read_line(number: int, line: bytes) -> ExportRow:
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError:
        return ExportRow(number, None, "The line is not UTF-8.")
    except (ValueError, RecursionError):
        return ExportRow(number, None, "The line is not valid JSON.")
    return _row(number, value)


def _row(number: int, value: Any) -> ExportRow:
    if not isinstance(value, dict):
        return ExportRow(number, None, "The row is not a JSON object.")
    return ExportRow(number, value)


def _csv_rows(file: Path, show: Show) -> Iterator[ExportRow]:
    csv.field_size_limit(ROW_LIMIT)
    with (
        file.open("rb") as data,
        TextIOWrapper(data, encoding="utf-8-sig", errors="surrogateescape", newline="") as text,
    ):
        reader = csv.reader(_lines(file, text, lambda: show(data.tell())))
        header: list[str] | None = None
        number = 0
        while True:
            try:
                cells = next(reader, None)
            except csv.Error as error:
                raise CannotRun(f"{file}: row {number + 1} is not valid CSV: {error}.") from None
            if cells is None:
                return
            if header is None:
                header = [cell.strip() for cell in cells]
                continue
            number += 1
            if not cells:
                continue
            if len(cells) != len(header):
                yield ExportRow(number, None, f"The row has {len(cells)} cells; the header has {len(header)}.")
            elif any("\udc80" <= character <= "\udcff" for cell in cells for character in cell):
                yield ExportRow(number, None, "The row is not UTF-8.")
            else:
                yield ExportRow(number, dict(zip(header, cells, strict=True)))


def _lines(file: Path, text: TextIOWrapper, show: Callable[[], None]) -> Iterator[str]:
    while line := text.readline(ROW_LIMIT + 1):
        show()
        if len(line) > ROW_LIMIT:
            raise CannotRun(f"{file}: a line is longer than {ROW_LIMIT:,} characters.")
        yield line


def _json_items(file: Path, key: str, show: Show = lambda _: None) -> Iterator[ExportRow]:
    with file.open("rb") as data:
        document = _JsonDocument(file, data, show)
        if document.peek() == "{" and not document.enter(key):
            raise CannotRun(f"{file}: the JSON object has no list `{key}`.")
        for number, value in enumerate(document.items(), 1):
            yield _row(number, value)


class _JsonDocument:
    """A JSON document that is read in pieces. Methods raise CannotRun if it is damaged."""

    def __init__(self, file: Path, data: BinaryIO, show: Show) -> None:
        self._file, self._data, self._show = file, data, show
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._parse = json.JSONDecoder().raw_decode
        self._text, self._at = "", 0

    def peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in " \t\r\n":
                    return self._text[self._at]
                self._at += 1
            if not self._read():
                return ""

    def enter(self, key: str) -> bool:
        """Read an object up to the list `key`. Returns False if it has none."""
        self._expect("{")
        while self.peek() == '"':
            name = self._value(ROW_LIMIT)
            self._expect(":")
            if self.peek() != "[":
                self._value(SKIPPED_LIMIT)
            elif name == key:
                return True
            else:
                # Item by item: the list of users may be larger than the memory.
                for _ in self.items(SKIPPED_LIMIT):
                    pass
            if self.peek() == ",":
                self._expect(",")
        return False

    def items(self, limit: int = ROW_LIMIT) -> Iterator[Any]:
        """The items of the list at this position, each of at most `limit` characters."""
        self._expect("[")
        while self.peek() != "]":
            yield self._value(limit)
            if self.peek() != "]":
                self._expect(",")
        self._expect("]")

    def _expect(self, character: str) -> None:
        if self.peek() != character:
            self._fail(f"expected `{character}`")
        self._at += 1

    def _value(self, limit: int) -> Any:
        self.peek()
        while True:
            try:
                value, end = self._parse(self._text, self._at)
            except ValueError:
                value, end = None, len(self._text)
            except RecursionError:
                self._fail("a value is nested too deeply")
            # A value at the end of what was read may go on: `12` of `123`.
            if end < len(self._text):
                self._at = end
                return value
            if len(self._text) - self._at > limit:
                self._fail(f"a value is longer than {limit:,} characters, or not valid JSON")
            if not self._read():
                self._fail("the document ends too early, or is not valid JSON")

    def _read(self) -> bool:
        """Read the next piece; as much as is kept, so that long values are parsed few times. False at the end."""
        self._text, self._at = self._text[self._at :], 0
        piece = self._data.read(max(CHUNK_BYTES, len(self._text)))
        self._show(self._data.tell())
        try:
            self._text += self._decode(piece, not piece)
        except UnicodeDecodeError:
            self._fail("the file is not UTF-8")
        return bool(piece)

    def _fail(self, reason: str) -> NoReturn:
        raise CannotRun(f"{self._file}: {reason}. The rows before this place were read.")
