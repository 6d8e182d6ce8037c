"""QR codes as SVG paths in the HTML of a page, so that the page need not load an image."""

from itertools import groupby

import segno

from postern.kernel.values import Record

QUIET_ZONE = 4
"""The width of the required margin in modules (ISO/IEC 18004 §6.3.8)."""


class QrCode(Record):
    """A QR code: its dark modules as the attribute `d` of an SVG path, in a square of `size` units."""

    size: int
    path: str


def qr_code(text: str) -> QrCode:
    """The QR code of a text of up to about 2,000 characters. Raises segno.DataOverflowError for a longer one."""
    matrix = segno.make(text, error="m", micro=False).matrix
    runs: list[str] = []
    for y, row in enumerate(matrix):
        x = 0
        for is_dark, modules in groupby(row):
            length = len(list(modules))
            if is_dark:
                runs.append(f"M{x + QUIET_ZONE} {y + QUIET_ZONE}h{length}v1h-{length}z")
            x += length
    return QrCode(size=len(matrix) + 2 * QUIET_ZONE, path="".join(runs))
