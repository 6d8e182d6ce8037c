"""`script/screenshots` writes a picture of each page in each layout."""

import pytest

from tests.peers.chromium import CHROMIUM
from tests.screenshots import LAYOUTS, take_screenshots


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium")
def test_a_page_is_taken_in_each_layout(tmp_path):
    files = take_screenshots(tmp_path, ["ja"], "mail-code")
    assert [file.relative_to(tmp_path).as_posix() for file in files] == [
        f"ja/{layout}/mail-code.png" for layout in LAYOUTS
    ]
    pictures = [file.read_bytes() for file in files]
    assert all(picture.startswith(b"\x89PNG") for picture in pictures)
    assert len(set(pictures)) == len(LAYOUTS), "a layout looks like another"
    widths = [int.from_bytes(picture[16:20]) for picture in pictures]
    assert widths == [width for _, width in LAYOUTS.values()]
