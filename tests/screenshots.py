"""`script/screenshots FOLDER`: a picture of each hosted page and each mail to customers, in light, in dark and on a
phone, in several languages. Pages and values are those of `tests/identity/customers/test_page_layout.py`, with long
texts and everything that a page can show; STATES are pages as most customers see them.
"""

import argparse
import base64
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from postern.web.languages import LANGUAGES, text
from tests.identity.customers.test_page_layout import MAIL_NAMES, NAMES, rendered, rendered_mail
from tests.peers.chromium import CHROMIUM, Browser, open_browser

LAYOUTS = {"light": (False, 1_280), "dark": (True, 1_280), "phone": (False, 390)}
"""Whether a picture is dark, and its width in pixels."""
MIN_HEIGHT, MAX_HEIGHT = 720, 4_000
SHORT = {
    **dict.fromkeys(("error", "terms_error", "done", "reason", "adds_passkey"), ""),
    **dict.fromkeys(("email", "account", "customer", "inviter"), "ada@example.com"),
    "foot_links": [{"url": "/x", "text": shown} for shown in (text("Privacy"), text("Terms"), text("Help"))],
    "providers": [{"name": name, "url": "/x", "icon": name.upper()} for name in ("Google", "Microsoft", "Apple")],
}
"""Values without a mistake of the customer, and with names of usual length."""
STATES: dict[str, tuple[str, dict[str, object]]] = {
    "state-sign-in": ("sign-in.html", {}),
    "state-sign-in-picture": ("sign-in.html", {"pictured": True}),
    "state-sign-up": ("sign-up.html", {"terms": None}),
    "state-credentials": ("credentials.html", {}),
    "state-verify-resent": ("verify.html", {"resent": "1", "until": None}),
    "state-notice": (
        "notice.html",
        {
            "heading": text("You are signed out"),
            "message": text("You are signed out everywhere else."),
        },
    ),
    "state-account-empty": (
        "account.html",
        {
            **{key: [] for key in ("emails", "keys", "remembered", "identities", "organizations", "apps")},
            **dict.fromkeys(("factor", "own_language", "others"), ""),
            "has_password": False,
            "done": text("Your name was changed."),
        },
    ),
    "state-account-form": (
        "account-form.html",
        {
            "form": {
                **dict.fromkeys(("action", "back"), "/x"),
                "hidden": {},
                "danger": True,
                "title": text("Delete your account?"),
                "paragraphs": [text("Your account and all data about you here are deleted. This cannot be undone.")],
                "inputs": [],
                "button": text("Delete my account"),
            }
        },
    ),
    "state-organization-suspended": (
        "organization.html",
        {
            **{key: [] for key in ("members", "invitations", "domains", "connections", "directories", "rules")},
            **dict.fromkeys(("q", "entered"), ""),
            "suspended": True,
            # Nobody may do anything in it, so there are no sections.
            "may": dict.fromkeys(("members", "domains", "sign_in", "plan"), False),
            "setup": "OWNER",
        },
    ),
    "state-consent": (
        "oauth-consent.html",
        {**dict.fromkeys(("publisher", "self_registered", "user_code", "resource"), ""), "third_party": False},
    ),
    "state-setup": (
        "setup.html",
        {
            "steps": [
                {"title": text("Verify your domain"), "url": "/x", "done": True},
                {"title": text("Set up single sign-on"), "url": "/x", "done": False},
            ]
        },
    ),
    "state-setup-test": (
        "setup-test.html",
        {"accepted": True, "checks": [{"step": "audience", "ok": True, "detail": "The audience is right."}]},
    ),
}
"""Pages with other values, by the names of their pictures."""


def take_screenshots(folder: Path, languages: list[str], part: str = "") -> list[Path]:
    """Write `LANGUAGE/LAYOUT/NAME.png` below `folder`, for the pages and mails whose name contains `part`."""
    pages: dict[str, Callable[[str], str]] = {
        name.strip("/").replace("/", "-").removesuffix(".html"): partial(rendered, name) for name in NAMES
    }
    pages |= {name.replace("customers/", "mail-"): partial(rendered_mail, name) for name in MAIL_NAMES}
    pages |= {name: partial(rendered, page, **{**SHORT, **changed}) for name, (page, changed) in STATES.items()}
    files: list[Path] = []
    with open_browser() as browser:
        for language in languages:
            for name, render in pages.items():
                if part in name:
                    # The layout tests measure pages with this menu open, which covers a part of the page.
                    html = render(language).replace('<details class="lang" open>', '<details class="lang">')
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
