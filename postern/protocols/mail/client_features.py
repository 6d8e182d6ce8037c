"""Features of HTML and CSS that widely used mail clients do not support, and finding them in a message.

The clients of each feature are facts of https://www.caniemail.com, as of its data of 2026-05-13, reduced to those that
do not support the feature at all in their last tested version. A test compares the table with that data.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

CLIENTS: Final[Mapping[str, str]] = {
    "gmail.desktop-webmail": "Gmail",
    "gmail.ios": "Gmail (iOS)",
    "gmail.android": "Gmail (Android)",
    "outlook.windows": "Outlook (Windows)",
    "outlook.outlook-com": "Outlook.com",
    "outlook.ios": "Outlook (iOS)",
    "outlook.android": "Outlook (Android)",
    "apple-mail.macos": "Apple Mail",
    "apple-mail.ios": "Apple Mail (iOS)",
    "yahoo.desktop-webmail": "Yahoo",
}
"""The names of the clients that are considered, by their names in the data."""

_GMAIL: Final = ("gmail.desktop-webmail", "gmail.ios", "gmail.android")
_OUTLOOK_APPS: Final = ("outlook.outlook-com", "outlook.ios", "outlook.android")
_WINDOWS: Final = ("outlook.windows",)
_YAHOO: Final = ("yahoo.desktop-webmail",)
_ALL_BUT_APPLE: Final = (*_GMAIL, *_WINDOWS, *_OUTLOOK_APPS, *_YAHOO)

FeatureKind = Literal["element", "css", "image"]
"""`element`: an HTML element by its name. `css`: a pattern in style sheets and `style` attributes. `image`: a pattern
in the `src` of an image."""


class ClientFeature(NamedTuple):
    """A feature, and the clients that do not support it."""

    slug: str
    """The name of the feature at caniemail.com: `https://www.caniemail.com/features/<slug>/`."""
    title: str
    kind: FeatureKind
    pattern: str
    clients: tuple[str, ...]


def _declaration(name: str) -> str:
    """A pattern of a CSS declaration of the property `name`."""
    return rf"(?<![a-z-]){name}\s*:"


FEATURES: Final[Sequence[ClientFeature]] = (
    ClientFeature("html-audio", "the element audio", "element", "audio", _ALL_BUT_APPLE),
    ClientFeature("html-video", "the element video", "element", "video", _ALL_BUT_APPLE),
    ClientFeature("html-form", "the element form", "element", "form", _WINDOWS),
    ClientFeature("html-svg", "the element svg", "element", "svg", _ALL_BUT_APPLE),
    ClientFeature("html-picture", "the element picture", "element", "picture", _ALL_BUT_APPLE),
    ClientFeature("html-object", "the element object", "element", "object", _ALL_BUT_APPLE),
    ClientFeature(
        "html-link", "style sheets of the element link", "element", "link", (*_GMAIL, *_OUTLOOK_APPS, *_YAHOO)
    ),
    ClientFeature("html-marquee", "the element marquee", "element", "marquee", (*_GMAIL, *_WINDOWS)),
    ClientFeature("css-position", "position", "css", _declaration("position"), (*_GMAIL, *_WINDOWS, "outlook.ios")),
    ClientFeature("css-display-flex", "display: flex", "css", r"(?<![a-z-])display\s*:\s*(?:inline-)?flex", _WINDOWS),
    ClientFeature("css-display-grid", "display: grid", "css", r"(?<![a-z-])display\s*:\s*(?:inline-)?grid", _WINDOWS),
    ClientFeature("css-animation", "animation", "css", _declaration("animation(?:-name)?"), _ALL_BUT_APPLE),
    ClientFeature("css-transform", "transform", "css", _declaration("transform"), _ALL_BUT_APPLE),
    ClientFeature(
        "css-transition", "transition", "css", _declaration("transition"), (*_GMAIL, *_WINDOWS, *_OUTLOOK_APPS)
    ),
    ClientFeature("css-filter", "filter", "css", _declaration("filter"), _ALL_BUT_APPLE),
    ClientFeature("css-clip-path", "clip-path", "css", _declaration("clip-path"), _ALL_BUT_APPLE),
    ClientFeature("css-mask-image", "mask-image", "css", _declaration("mask-image"), _ALL_BUT_APPLE),
    ClientFeature("css-variables", "variables in CSS", "css", r"\bvar\(\s*--", _ALL_BUT_APPLE),
    ClientFeature("css-unit-calc", "calc()", "css", r"(?<![a-z-])calc\(", (*_WINDOWS, *_OUTLOOK_APPS, *_YAHOO)),
    ClientFeature("css-at-import", "@import", "css", r"@import\b", (*_GMAIL, *_OUTLOOK_APPS, *_YAHOO)),
    ClientFeature("css-at-font-face", "@font-face", "css", r"@font-face\b", (*_GMAIL, *_OUTLOOK_APPS, *_YAHOO)),
    ClientFeature("css-float", "float", "css", _declaration("float"), _WINDOWS),
    ClientFeature("css-background-image", "background-image", "css", _declaration("background-image"), _WINDOWS),
    ClientFeature("css-object-fit", "object-fit", "css", _declaration("object-fit"), (*_WINDOWS, *_YAHOO)),
    ClientFeature(
        "css-linear-gradient", "gradients", "css", r"\blinear-gradient\(", (*_WINDOWS, *_OUTLOOK_APPS, *_YAHOO)
    ),
    ClientFeature("css-column-count", "column-count", "css", _declaration("column-count"), (*_WINDOWS, *_YAHOO)),
    ClientFeature("css-visibility", "visibility", "css", _declaration("visibility"), (*_GMAIL, *_WINDOWS)),
    ClientFeature("image-svg", "SVG images", "image", r"\.svg(?:[?#]|$)|^data:image/svg", ("gmail.desktop-webmail",)),
    ClientFeature("image-webp", "WebP images", "image", r"\.webp(?:[?#]|$)", _WINDOWS),
    ClientFeature("image-avif", "AVIF images", "image", r"\.avif(?:[?#]|$)", _WINDOWS),
    ClientFeature("image-base64", "images in data: URLs", "image", r"^data:", _GMAIL),
)
"""The features that are reported. Properties whose loss changes little, such as rounded corners, are left out."""

_PATTERNS = [(feature, re.compile(feature.pattern, re.IGNORECASE)) for feature in FEATURES if feature.kind != "element"]
_COMMENT = re.compile(r"/\*(?:.*?\*/|.*)", re.DOTALL)
"""A comment; without its end, it goes on to the end of the text, so that the search is linear."""


def unsupported_features(
    elements: set[str], styles: Sequence[str], images: Sequence[str]
) -> Iterator[tuple[ClientFeature, str]]:
    """The features that a message uses and some clients do not support, each with the first text that uses it.

    `elements` are names in lower case, `styles` the texts of style sheets and `style` attributes, `images` the URLs.
    """
    for feature in FEATURES:
        if feature.kind == "element" and feature.pattern in elements:
            yield feature, f"<{feature.pattern}>"
    css = [_COMMENT.sub(" ", style) for style in styles]
    for feature, pattern in _PATTERNS:
        for text in css if feature.kind == "css" else images:
            if match := pattern.search(text):
                yield feature, text[match.start() : match.start() + 80]
                break


def client_names(feature: ClientFeature) -> str:
    """The clients that do not support a feature, as text for users: `Gmail, Outlook (Windows)`."""
    return ", ".join(CLIENTS[client] for client in feature.clients)
