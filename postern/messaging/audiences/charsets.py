"""Character encodings of contact files: which are taken, under which names, and how a file's own is found.

A file's encoding is that of its byte order mark, else the one that the caller declares, else UTF-8 unless lines of the
file are not UTF-8. See docs/decisions/0045-encodings-of-imported-files.md.
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
"""By the name of the WHATWG Encoding Standard: Python's codec. In all but UTF-16 the byte 0x0A is a line feed always.

Nothing else is ever given to Python's codecs, some of which decompress or evaluate what they decode.
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
"""What a file is that is not UTF-8 and does not say more, as in browsers."""

BY_HEADER: Final = (FALLBACK, "windows-1251", "gb18030", "shift_jis", "big5", "euc-kr", "windows-1256", "koi8-r")
"""Encodings that a header is tried in where it is not UTF-8; of those in which the most names of columns are known,
the first is taken."""


def charset_named(label: str) -> str | None:
    """The encoding that a caller's label names; None for one that is not taken."""
    label = label.strip().lower()
    label = label if label in CODECS else label.replace("_", "-")
    return label if label in CODECS else _ALIASES.get(label)


def charset_of_mark(start: bytes) -> tuple[str, int] | None:
    """The encoding and the length of the byte order mark that a file begins with, if it does."""
    return next(((name, len(mark)) for mark, name in BYTE_ORDER_MARKS if start.startswith(mark)), None)


class Utf8Detector:
    """Tells over a whole file, given in pieces, whether it is UTF-8. Linear in the file's size.

    A file in another encoding has next to no lines beyond ASCII that happen to be UTF-8; a UTF-8 file that was
    damaged somewhere has many. So what there is more of decides.
    """

    def __init__(self, line_limit: int) -> None:
        self._line_limit = line_limit
        self._rest = b""
        self._valid = self._invalid = 0

    def feed(self, piece: bytes) -> None:
        """Look at the next piece of the file."""
        lines, _, self._rest = (self._rest + piece).rpartition(b"\n")
        self._count(lines)
        if len(self._rest) > self._line_limit:
            self._rest = b""  # No row may be that long, so it says nothing.

    def end(self) -> None:
        """The file ends here: its last line need not have a line feed."""
        self._count(self._rest)
        self._rest = b""

    @property
    def is_utf8(self) -> bool:
        """Whether the lines that were given so far are UTF-8."""
        return self._valid >= self._invalid

    def _count(self, lines: bytes) -> None:
        if lines.isascii():
            return
        if _decodes(lines):
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
