"""QR codes as SVG paths: pages that allow no images from elsewhere draw them in their own HTML."""

from itertools import groupby

import segno

from postern.kernel.values import Record

QUIET_ZONE = 4
"""Empty modules on each side that readers need (ISO/IEC 18004 §6.3.8)."""


class QrCode(Record):
    """A QR code: its dark modules as the `d` of an SVG path, in a square of `size` units."""

    size: int
    path: str


def qr_code(text: str) -> QrCode:
    """The code that phones read `text` from. Text of up to about 2,000 characters fits."""
    matrix = segno.make(text, error="m", micro=False).matrix
    runs: list[str] = []
    for y, row in enumerate(matrix):
        x = 0
        for dark, modules in groupby(row):
            length = len(list(modules))
            if dark:
                runs.append(f"M{x + QUIET_ZONE} {y + QUIET_ZONE}h{length}v1h-{length}z")
            x += length
    return QrCode(size=len(matrix) + 2 * QUIET_ZONE, path="".join(runs))
