"""Reading image files: format, size in pixels, and removal of metadata.

Only the structure of a file is read, and its parts are kept or left out as they are. Pixels are not decoded: the image
loses no quality, animations are kept, and no decoder processes untrusted bytes. Only listed parts are kept. Removed are
places and dates of photographs (Exif), XMP, IPTC, comments, embedded previews, and bytes after the end of the image. Of
a JPEG's Exif data the orientation is kept, because the image would be shown rotated without it.
"""

import re
import struct
import zlib
from typing import Final, Literal, NamedTuple

from postern.kernel.http.problems import Unprocessable

ImageType = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
PIXELS_PER_SIDE: Final = 4_096
"""Largest width and height of an image."""
EXTENSIONS: Final[dict[ImageType, str]] = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
}


class ImageInvalid(Unprocessable):
    """This is not a complete PNG, JPEG, GIF or WebP image."""


class ImageTooLarge(Unprocessable):
    """An image can be at most 4,096 pixels wide and 4,096 pixels high."""


class SvgNotAccepted(Unprocessable):
    """SVG images are not accepted: most mail programs do not show them, and they can contain scripts. Convert the image
    to PNG."""


class ImageFile(NamedTuple):
    """An image without metadata."""

    media_type: ImageType
    width: int
    height: int
    content: bytes


def read_image(content: bytes) -> ImageFile:
    """Detect the format by the content, check the structure and the size, and remove metadata.

    Raises ImageInvalid, ImageTooLarge or SvgNotAccepted.
    """
    try:
        image = _read(content)
    except (IndexError, struct.error):
        raise ImageInvalid("The image is incomplete.") from None
    if not (0 < image.width <= PIXELS_PER_SIDE and 0 < image.height <= PIXELS_PER_SIDE):
        raise ImageTooLarge(
            f"The image has {image.width:,} × {image.height:,} pixels; at most {PIXELS_PER_SIDE:,} × "
            f"{PIXELS_PER_SIDE:,} are allowed."
        )
    return image


def _read(content: bytes) -> ImageFile:
    if content.startswith(PNG_SIGNATURE):
        return _read_png(content)
    if content.startswith(b"\xff\xd8\xff"):
        return _read_jpeg(content)
    if content[:6] in (b"GIF87a", b"GIF89a"):
        return _read_gif(content)
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return _read_webp(content)
    if re.match(rb"(\xef\xbb\xbf)?\s*(<\?xml|<!--|<!DOCTYPE\s+svg|<svg)", content[:1_000], re.IGNORECASE):
        raise SvgNotAccepted
    raise ImageInvalid


# PNG, third edition (W3C): a signature and chunks, each with its length, type and CRC.
PNG_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
PNG_CHUNKS: Final = frozenset(
    (
        b"IHDR",
        b"PLTE",
        b"IDAT",
        b"IEND",
        b"tRNS",
        b"gAMA",
        b"cHRM",
        b"sRGB",
        b"iCCP",
        b"cICP",
        b"sBIT",
        b"bKGD",
        b"pHYs",
    )
) | frozenset((b"acTL", b"fcTL", b"fdAT"))
"""Chunks that are kept: the image, its colours and its animation."""


def _read_png(content: bytes) -> ImageFile:
    kept, position, width, height = [PNG_SIGNATURE], len(PNG_SIGNATURE), 0, 0
    has_data = False
    while True:
        (length,) = struct.unpack_from(">I", content, position)
        end = position + 12 + length
        chunk = content[position:end]
        kind = chunk[4:8]
        if len(chunk) != 12 + length or zlib.crc32(chunk[4:-4]) != struct.unpack(">I", chunk[-4:])[0]:
            raise ImageInvalid("The image is incomplete or damaged.")
        if position == len(PNG_SIGNATURE):
            if kind != b"IHDR" or length != 13:
                raise ImageInvalid
            width, height = struct.unpack_from(">II", chunk, 8)
        has_data |= kind == b"IDAT"
        if kind in PNG_CHUNKS:
            kept.append(chunk)
        if kind == b"IEND":
            break
        position = end
    if not has_data:
        raise ImageInvalid("The image has no content.")
    return ImageFile("image/png", width, height, b"".join(kept))


# JPEG, ITU-T T.81 annex B: segments with a marker and a length, and entropy-coded data after each SOS segment.
SOF_MARKERS: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_NEXT_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]", re.DOTALL)
"""The next marker in entropy-coded data, in which `FF 00` stands for the byte FF; RST markers belong to the data."""


def _read_jpeg(content: bytes) -> ImageFile:
    kept, position, size, orientation = [b"\xff\xd8"], 2, (0, 0), 1
    has_scan = False
    while True:
        if content[position] != 0xFF:
            raise ImageInvalid("The image is damaged.")
        while content[position + 1] == 0xFF:  # Fill bytes.
            position += 1
        marker = content[position + 1]
        if marker == 0xD9:
            break
        (length,) = struct.unpack_from(">H", content, position + 2)
        segment = content[position : position + 2 + length]
        if length < 2 or len(segment) != 2 + length:
            raise ImageInvalid("The image is incomplete.")
        body = segment[4:]
        if marker in SOF_MARKERS:
            height, width = struct.unpack_from(">HH", body, 1)
            size = (width, height)
        if marker == 0xE1 and body.startswith(b"Exif\0\0"):
            orientation = _orientation(body[6:])
        elif _is_kept(marker, body):
            kept.append(segment)
        position += 2 + length
        if marker == 0xDA:
            has_scan = True
            following = _NEXT_MARKER.search(content, position)
            if following is None:
                raise ImageInvalid("The image is incomplete.")
            kept.append(content[position : following.start()])
            position = following.start()
    if not has_scan:
        raise ImageInvalid("The image has no content.")
    kept.append(b"\xff\xd9")
    if orientation != 1:
        # After JFIF's APP0, which must be first.
        kept.insert(2 if len(kept) > 1 and kept[1][:2] == b"\xff\xe0" else 1, _exif_orientation(orientation))
    return ImageFile("image/jpeg", *size, b"".join(kept))


def _is_kept(marker: int, body: bytes) -> bool:
    """Whether a segment is needed to show the image: not comments and application data, except JFIF, colour profiles
    and Adobe's colour transform."""
    if marker == 0xFE:
        return False
    if not 0xE0 <= marker <= 0xEF:
        return True
    return (marker == 0xE0 and body.startswith(b"JFIF\0")) or (
        (marker == 0xE2 and body.startswith(b"ICC_PROFILE\0")) or (marker == 0xEE and body.startswith(b"Adobe"))
    )


def _orientation(tiff: bytes) -> int:
    """The orientation (1 to 8) in Exif data; 1 if there is none."""
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None:
        return 1
    try:
        (directory,) = struct.unpack_from(f"{order}I", tiff, 4)
        (entries,) = struct.unpack_from(f"{order}H", tiff, directory)
        for index in range(entries):
            tag, _, _, value = struct.unpack_from(f"{order}HHIH", tiff, directory + 2 + 12 * index)
            if tag == 0x0112:
                return value if 1 <= value <= 8 else 1
    except struct.error:
        pass
    return 1


def _exif_orientation(orientation: int) -> bytes:
    """An Exif segment that has only the orientation."""
    tiff = b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)
    return b"\xff\xe1" + struct.pack(">H", 2 + 6 + len(tiff)) + b"Exif\0\0" + tiff


# GIF89a: a header, a colour table, and blocks; data is in sub-blocks, each with a length, until an empty one.
GIF_LOOPS: Final = (b"NETSCAPE2.0", b"ANIMEXTS1.0")
"""Application extensions that say how often an animation is repeated."""


def _read_gif(content: bytes) -> ImageFile:
    width, height, flags = struct.unpack_from("<HHB", content, 6)
    position = 13 + _colour_table_bytes(flags)
    kept = [content[:position]]
    has_image = False
    while position < len(content) and content[position] != 0x3B:  # Some programs write no trailer.
        start, kind = position, content[position]
        if kind == 0x21:
            label = content[position + 1]
            position = _end_of_sub_blocks(content, position + 2)
            application = content[start + 3 : start + 14]
            is_kept = label == 0xF9 or (label == 0xFF and application in GIF_LOOPS)
        elif kind == 0x2C:
            (image_flags,) = struct.unpack_from("<B", content, position + 9)
            position = _end_of_sub_blocks(content, position + 10 + _colour_table_bytes(image_flags) + 1)
            is_kept = has_image = True
        else:
            raise ImageInvalid("The image is damaged.")
        if is_kept:
            kept.append(content[start:position])
    if not has_image:
        raise ImageInvalid("The image has no content.")
    return ImageFile("image/gif", width, height, b"".join([*kept, b"\x3b"]))


def _colour_table_bytes(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _end_of_sub_blocks(content: bytes, position: int) -> int:
    while length := content[position]:
        position += 1 + length
    return position + 1


# WebP, RFC 9649: a RIFF container with chunks of even length.
WEBP_CHUNKS: Final = frozenset((b"VP8 ", b"VP8L", b"VP8X", b"ANIM", b"ANMF", b"ALPH", b"ICCP"))
"""Chunks that are kept: the image, its colours and its animation."""


def _read_webp(content: bytes) -> ImageFile:
    (riff_length,) = struct.unpack_from("<I", content, 4)
    end = 8 + riff_length
    if end > len(content):
        raise ImageInvalid("The image is incomplete.")
    kept, position, size, has_image = [], 12, (0, 0), False
    while position < end:
        kind = content[position : position + 4]
        (length,) = struct.unpack_from("<I", content, position + 4)
        chunk = content[position : position + 8 + length + length % 2]
        if len(chunk) < 8 + length or position + 8 + length > end:
            raise ImageInvalid("The image is incomplete.")
        body = chunk[8:]
        if kind == b"VP8X":
            # The flags of Exif (8) and XMP (4) are removed with their chunks.
            chunk = chunk[:8] + bytes([body[0] & ~0x0C]) + chunk[9:]
            size = (1 + int.from_bytes(body[4:7], "little"), 1 + int.from_bytes(body[7:10], "little"))
        elif kind == b"VP8 " and size == (0, 0):
            width, height = struct.unpack_from("<HH", body, 6)
            size = (width & 0x3FFF, height & 0x3FFF)
        elif kind == b"VP8L" and size == (0, 0):
            (bits,) = struct.unpack_from("<I", body, 1)
            size = (1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
        has_image |= kind in (b"VP8 ", b"VP8L", b"ANMF")
        if kind in WEBP_CHUNKS:
            kept.append(chunk)
        position += 8 + length + length % 2
    if not has_image:
        raise ImageInvalid("The image has no content.")
    chunks = b"".join(kept)
    return ImageFile("image/webp", *size, b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WEBP" + chunks)
