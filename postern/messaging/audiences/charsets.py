"""Character encodings of contact files: supported encodings, their labels, and UTF-8 detection.

A file's encoding is that of its byte order mark, else the one that the caller declares, else UTF-8 if most of its
non-ASCII lines are valid UTF-8, else the best match for its header (BY_HEADER).
See docs/decisions/0045-encodings-of-imported-files.md.
"""

import codecs
from typing import Final

CODECS: Final[dict[str, str]] = {
    "utf-8": "utf-8",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "windows-1252": "cp1252",
    "windows-1250": "cp1250",
    "windows-1251": "cp1251",
    "windows-1253": "cp1253",
    "windows-1254": "cp1254",
    "windows-1255": "cp1255",
    "windows-1256": "cp1256",
    "windows-1257": "cp1257",
    "windows-1258": "cp1258",
    "iso-8859-2": "iso8859-2",
    "iso-8859-5": "iso8859-5",
    "iso-8859-7": "iso8859-7",
    "iso-8859-15": "iso8859-15",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc-jp": "euc_jp",
    "euc-kr": "cp949",
}
"""Python's codec for each supported encoding, keyed by its name in the WHATWG Encoding Standard.

In all of them but UTF-16, byte 0x0A is always a line feed.

Labels from callers never reach `bytes.decode` directly, because some Python codecs decompress or evaluate data.
"""

_ALIASES: Final[dict[str, str]] = {
    **dict.fromkeys(("utf8", "utf-8-sig"), "utf-8"),
    **dict.fromkeys(("utf-16", "utf16", "utf-16-le", "ucs-2"), "utf-16le"),
    "utf-16-be": "utf-16be",
    **dict.fromkeys(("iso-8859-1", "iso8859-1", "latin1", "latin-1", "l1", "cp1252", "ansi"), "windows-1252"),
    **dict.fromkeys(("ascii", "us-ascii"), "windows-1252"),
    **{f"cp{number}": f"windows-{number}" for number in (1250, 1251, *range(1253, 1259))},
    **dict.fromkeys(("iso-8859-9", "iso8859-9", "latin5"), "windows-1254"),
    **{f"iso8859-{number}": f"iso-8859-{number}" for number in (2, 5, 7, 15)},
    **dict.fromkeys(("latin2", "latin-2"), "iso-8859-2"),
    **dict.fromkeys(("latin9", "latin-9"), "iso-8859-15"),
    "koi8": "koi8-r",
    **dict.fromkeys(("gbk", "gb2312", "cp936", "x-gbk"), "gb18030"),
    **dict.fromkeys(("big5-hkscs", "cp950"), "big5"),
    **dict.fromkeys(("shift-jis", "sjis", "x-sjis", "ms932", "cp932", "windows-31j"), "shift_jis"),
    **dict.fromkeys(("ks-c-5601-1987", "cp949", "uhc", "windows-949"), "euc-kr"),
}

BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)

FALLBACK: Final = "windows-1252"
"""Default for a file that is not UTF-8 and declares no encoding, as in browsers."""

BY_HEADER: Final = (FALLBACK, "windows-1251", "gb18030", "shift_jis", "big5", "euc-kr", "windows-1256", "koi8-r")
"""Encodings to try on a header that is not UTF-8. The one that yields the most known column names wins; on a tie, the
first."""


def charset_named(label: str) -> str | None:
    """The encoding for a label from a caller; None if it is not supported."""
    label = label.strip().lower()
    label = label if label in CODECS else label.replace("_", "-")
    return label if label in CODECS else _ALIASES.get(label)


def charset_of_mark(start: bytes) -> tuple[str, int] | None:
    """The encoding and the length in bytes of the byte order mark at the start of a file; None without one."""
    return next(((name, len(mark)) for mark, name in BYTE_ORDER_MARKS if start.startswith(mark)), None)


class Utf8Detector:
    """Detects whether a file, fed in chunks, is UTF-8. Takes time linear in the file's size.

    Non-ASCII lines of a file in another encoding are rarely valid UTF-8, while a damaged UTF-8 file still has many
    valid ones. So the majority of the non-ASCII lines decides; the lines of a chunk count as one if all of them are
    valid. Lines longer than `line_limit` bytes are ignored.
    """

    def __init__(self, line_limit: int) -> None:
        self._line_limit = line_limit
        self._rest = b""
        self._valid = self._invalid = 0

    def feed(self, chunk: bytes) -> None:
        """Process the next chunk of the file."""
        lines, _, self._rest = (self._rest + chunk).rpartition(b"\n")
        self._count(lines)
        if len(self._rest) > self._line_limit:
            self._rest = b""  # The line exceeds the row limit and would be rejected, so it is not counted.

    def end(self) -> None:
        """Process the last line, which need not end with a line feed."""
        self._count(self._rest)
        self._rest = b""

    @property
    def is_utf8(self) -> bool:
        """Whether valid lines are at least as many as invalid ones so far; true if all lines are ASCII."""
        return self._valid >= self._invalid

    def _count(self, lines: bytes) -> None:
        if lines.isascii():
            return
        if _decodes(lines):  # Splitting many valid lines would take time, so together they count as one.
            self._valid += 1
            return
        for line in lines.split(b"\n"):
            if line.isascii():
                continue
            if _decodes(line):
                self._valid += 1
            else:
                self._invalid += 1


def _decodes(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
