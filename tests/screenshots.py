"""`script/screenshots FOLDER`: a picture of each hosted page and each mail to customers, in light, in dark and on a
phone, in several languages. Pages and values are those of `tests/identity/customers/test_page_layout.py`.
"""

import argparse
import base64
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from postern.web.languages import LANGUAGES
from tests.identity.customers.test_page_layout import MAIL_NAMES, NAMES, rendered, rendered_mail
from tests.peers.chromium import CHROMIUM, Browser, open_browser

LAYOUTS = {"light": (False, 1_280), "dark": (True, 1_280), "phone": (False, 390)}
"""Whether a picture is dark, and its width in pixels."""
MIN_HEIGHT, MAX_HEIGHT = 720, 4_000


def take_screenshots(folder: Path, languages: list[str], part: str = "") -> list[Path]:
    """Write `LANGUAGE/LAYOUT/NAME.png` below `folder`, for the pages and mails whose name contains `part`."""
    pages = {name.strip("/").replace("/", "-").removesuffix(".html"): (rendered, name) for name in NAMES}
    pages |= {name.replace("customers/", "mail-"): (rendered_mail, name) for name in MAIL_NAMES}
    files: list[Path] = []
    with open_browser() as browser:
        for language in languages:
            for name, (render, template) in pages.items():
                if part in name:
                    # The layout tests measure pages with this menu open, which covers a part of the page.
                    html = render(template, language).replace('<details class="lang" open>', '<details class="lang">')
                    files += [_take(browser, html, folder / language, layout, name) for layout in LAYOUTS]
    return files


def _take(browser: Browser, html: str, folder: Path, layout: str, name: str) -> Path:
    file, (dark, width) = folder / layout / f"{name}.png", LAYOUTS[layout]
    browser.show_as(dark=dark, width=width, height=MIN_HEIGHT)
    browser.open(f"data:text/html;charset=utf-8;base64,{base64.b64encode(html.encode()).decode()}")
    height = browser.evaluate("document.documentElement.scrollHeight")
    browser.show_as(dark=dark, width=width, height=min(max(height, MIN_HEIGHT), MAX_HEIGHT))
    file.parent.mkdir(parents=True, exist_ok=True)
    browser.screenshot(file)
    return file


def main() -> None:
    """Read the arguments, and say how many pictures were written."""
    parser = argparse.ArgumentParser(prog="script/screenshots", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help="default: en de ja")
    parser.add_argument(
        "--only", default="", metavar="PART", help="part of the names of pages and mails, such as sign-"
    )
    options = parser.parse_args()
    languages = options.languages or ["en", "de", "ja"]
    if unknown := set(languages) - set(LANGUAGES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; the languages are {', '.join(LANGUAGES)}")
    if CHROMIUM is None:
        parser.error("Chromium is not installed: apt-get install chromium")
    with TemporaryDirectory() as run:
        # A run of tests has this folder for locks between its processes.
        os.environ["POSTERN_TEST_RUN"] = run
        files = take_screenshots(options.folder, languages, options.only)
    print(f"{len(files)} pictures in {options.folder}")


if __name__ == "__main__":
    main()
