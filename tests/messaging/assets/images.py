"""Small valid images, with metadata in every place where a format allows some."""

import struct
import zlib

SECRET = b"GPS 52.5200 N 13.4050 E"
"""Text that must not be in a stored image."""


def png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int = 2, height: int = 3, *, shade: int = 128, extra: bytes = b"") -> bytes:
    """A grey image; `extra` has further chunks before the data."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = (b"\0" + bytes([shade]) * width) * height
    return (
        b"\x89PNG\r\n\x1a\n"
        + png_chunk(b"IHDR", header)
        + extra
        + png_chunk(b"IDAT", zlib.compress(rows))
        + png_chunk(b"IEND", b"")
    )


def png_with_metadata() -> bytes:
    chunks = [
        (b"eXIf", SECRET),
        (b"tEXt", b"Comment\0" + SECRET),
        (b"iTXt", SECRET),
        (b"zTXt", SECRET),
        (b"tIME", SECRET),
    ]
    return png(extra=b"".join(png_chunk(kind, body) for kind, body in [*chunks, (b"pHYs", bytes(9))])) + SECRET


def jpeg_segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", 2 + len(body)) + body


def exif(orientation: int, order: str = "<") -> bytes:
    """Exif data with an orientation and a secret text."""
    mark = b"II*\0" if order == "<" else b"MM\0*"
    entries = struct.pack(f"{order}HHHIHH", 1, 0x0112, 3, 1, orientation, 0)
    return b"Exif\0\0" + mark + struct.pack(f"{order}I", 8) + entries + struct.pack(f"{order}I", 0) + SECRET


# The smallest baseline JPEG of 1 × 1 pixels: quantization table, frame, Huffman tables, scan.
_JPEG_TABLES = jpeg_segment(0xDB, b"\0" + bytes([1]) * 64)
_JPEG_HUFFMAN = jpeg_segment(0xC4, b"\0" + bytes([0, 1] + [0] * 14) + b"\0") + jpeg_segment(
    0xC4, b"\x10" + bytes([0, 1] + [0] * 14) + b"\0"
)


def jpeg(width: int = 5, height: int = 4, *, before: bytes = b"", after: bytes = b"") -> bytes:
    """An image with two scans; `before` has further segments."""
    frame = jpeg_segment(0xC2, struct.pack(">BHHB", 8, height, width, 1) + b"\x01\x11\0")
    scan = jpeg_segment(0xDA, b"\x01\x01\0\0\x3f\0")
    return (
        b"\xff\xd8"
        + jpeg_segment(0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0")
        + before
        + _JPEG_TABLES
        + frame
        + _JPEG_HUFFMAN
        + (scan + b"\x3f\xff\x00\x12\xff\xd3\x7f")
        + (jpeg_segment(0xFE, SECRET) if before else b"")
        + (scan + b"\x11\x22")
        + b"\xff\xd9"
        + after
    )


def jpeg_with_metadata(orientation: int = 6, order: str = "<") -> bytes:
    segments = [
        (0xE1, exif(orientation, order)),
        (0xE1, b"http://ns.adobe.com/xap/1.0/\0" + SECRET),
        (0xE2, b"MPF\0" + SECRET),
        (0xE2, b"ICC_PROFILE\0\x01\x01profile"),
        (0xED, b"Photoshop 3.0\0" + SECRET),
        (0xFE, SECRET),
        (0xEE, b"Adobe\0d\0\0\0\0\x01"),
    ]
    return jpeg(before=b"".join(jpeg_segment(marker, body) for marker, body in segments), after=SECRET)


GIF_BLOCKS = (8, 15)
"""The bytes of the two blocks of a frame."""


def gif(width: int = 7, height: int = 6, *, extra: bytes = b"") -> bytes:
    """An animation of two frames; `extra` has further blocks."""
    frame = (
        b"\x21\xf9\x04\0\x0a\0\0\0" + b"\x2c" + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x44\x01\0"
    )
    loop = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0"
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6) + loop + extra + frame * 2 + b"\x3b"


def gif_with_metadata() -> bytes:
    text = bytes([len(SECRET)]) + SECRET + b"\0"
    return gif(extra=b"\x21\xfe" + text + b"\x21\xff\x0bXMP DataXMP" + text) + SECRET


def webp_chunk(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def webp(width: int = 9, height: int = 8, *, extra: bytes = b"", flags: int = 0) -> bytes:
    """An extended file with a lossless image; `extra` has further chunks."""
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    lossless = b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + b"\x10\x07\x10\x11\x11"
    chunks = webp_chunk(b"VP8X", bytes([flags, 0, 0, 0]) + size) + webp_chunk(b"VP8L", lossless) + extra
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WEBP" + chunks


def webp_with_metadata() -> bytes:
    extra = webp_chunk(b"EXIF", SECRET) + webp_chunk(b"XMP ", SECRET) + webp_chunk(b"ODD ", SECRET)
    return webp(extra=extra, flags=0x0C | 0x20) + SECRET


SIMPLE = {"image/png": png(), "image/jpeg": jpeg(), "image/gif": gif(), "image/webp": webp()}
SIZES = {"image/png": (2, 3), "image/jpeg": (5, 4), "image/gif": (7, 6), "image/webp": (9, 8)}
WITH_METADATA = {
    "image/png": png_with_metadata(),
    "image/jpeg": jpeg_with_metadata(),
    "image/gif": gif_with_metadata(),
    "image/webp": webp_with_metadata(),
}
