"""Names of devices, from what browsers send. A name never has text of the `User-Agent`, which anybody can choose."""

import re

from postern.web.languages import Text, text

BROWSERS = (
    ("Edge", r"Edg(?:e|A|iOS)?/"),
    ("Opera", r"OPR/"),
    ("Samsung Internet", r"SamsungBrowser/"),
    ("Firefox", r"(?:Firefox|FxiOS)/"),
    ("Chrome", r"(?:Chrome|CriOS)/"),
    ("Safari", r"Safari/"),
)
"""Names of browsers with what only their `User-Agent` contains; the first match counts."""
SYSTEMS = (
    ("iPhone", r"iPhone"),
    ("iPad", r"iPad"),
    ("Android", r"Android"),
    ("Windows", r"Windows"),
    ("macOS", r"Mac OS X|Macintosh"),
    ("ChromeOS", r"CrOS"),
    ("Linux", r"Linux"),
)


def known_device(user_agent: str) -> Text | None:
    """The browser and the system of a `User-Agent`, as people call them; None if neither is known, as of programs."""
    browser = next((name for name, pattern in BROWSERS if re.search(pattern, user_agent)), "")
    system = next((name for name, pattern in SYSTEMS if re.search(pattern, user_agent)), "")
    if browser and system:
        return text("{browser} on {system}", browser=browser, system=system)
    return Text(text="{name}", values={"name": browser or system}) if browser or system else None


def device_name(user_agent: str) -> Text:
    """Like `known_device`, with a text for unknown devices."""
    return known_device(user_agent) or text("Unknown device")
