"""Images are recognised by their content, measured, and freed from metadata."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.kernel.http.problems import Problem
from postern.protocols.mail.image_files import ImageInvalid, ImageTooLarge, SvgNotAccepted, read_image
from tests.messaging.assets.images import (
    GIF_BLOCKS,
    SECRET,
    SIMPLE,
    SIZES,
    WITH_METADATA,
    gif,
    jpeg,
    jpeg_with_metadata,
    png,
    webp,
)


@pytest.mark.parametrize("kind", SIMPLE)
def test_an_image_without_metadata_stays_as_it_is(kind):
    image = read_image(SIMPLE[kind])
    assert (image.media_type, (image.width, image.height)) == (kind, SIZES[kind])
    assert image.content == SIMPLE[kind]


@pytest.mark.parametrize("kind", WITH_METADATA)
def test_metadata_and_appended_bytes_are_removed(kind):
    image = read_image(WITH_METADATA[kind])
    assert SECRET not in image.content
    assert (image.media_type, (image.width, image.height)) == (kind, SIZES[kind])
    # Nothing more is removed at the second time.
    assert read_image(image.content).content == image.content


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_jpeg_keeps_its_orientation_and_colours(orientation, order):
    content = read_image(jpeg_with_metadata(orientation, order)).content
    assert (b"Exif\0\0" in content) == (orientation != 1)
    assert read_image(content).content == content
    assert b"ICC_PROFILE" in content
    assert b"Adobe" in content
    assert content.startswith(b"\xff\xd8\xff\xe0")


@pytest.mark.parametrize("make", [png, jpeg, gif, webp])
def test_the_size_is_limited(make):
    assert read_image(make(4_096, 4_096) if make is not png else make(4_096, 1)).width == 4_096
    for size in ((4_097, 1), (1, 4_097)):
        with pytest.raises(ImageTooLarge):
            read_image(make(*size))


@pytest.mark.parametrize("make", [png, jpeg, gif])
def test_images_without_pixels_are_refused(make):
    with pytest.raises(ImageTooLarge):
        read_image(make(0, 1))


@pytest.mark.parametrize(
    "content",
    [
        b"<svg xmlns='http://www.w3.org/2000/svg'></svg>",
        b'\xef\xbb\xbf<?xml version="1.0"?>\n<svg/>',
        b"\n  <!-- c --><svg>",
        b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "">',
    ],
)
def test_svg_is_refused_with_the_reason(content):
    with pytest.raises(SvgNotAccepted):
        read_image(content)


@pytest.mark.parametrize("content", [b"", b"GIF", b"<html>", b"%PDF-1.4", b"BM" + bytes(60), b"RIFF\0\0\0\0WAVE"])
def test_other_content_is_refused(content):
    with pytest.raises(ImageInvalid):
        read_image(content)


@pytest.mark.parametrize("kind", WITH_METADATA)
def test_a_part_of_an_image_is_refused(kind):
    content = SIMPLE[kind]
    # Of a GIF without a trailer, nobody can tell that frames are missing.
    last = len(content) - 1
    complete = {last, last - GIF_BLOCKS[1], last - sum(GIF_BLOCKS)} if kind == "image/gif" else set()
    for length in set(range(3, len(content))) - complete:
        with pytest.raises(Problem):
            read_image(content[:length])


def test_a_gif_without_a_trailer_gets_one():
    assert read_image(gif()[:-1]).content == gif()


def test_a_damaged_png_is_refused():
    content = bytearray(png())
    content[20] ^= 1
    with pytest.raises(ImageInvalid):
        read_image(bytes(content))


CHANGES = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=5)


@given(kind=st.sampled_from(sorted(WITH_METADATA)), changes=CHANGES)
def test_changed_bytes_cause_only_problems(kind, changes):
    content = bytearray(WITH_METADATA[kind])
    for position, value in changes:
        content[position % len(content)] = value
    try:
        image = read_image(bytes(content))
    except Problem:
        return
    assert read_image(image.content).content == image.content
