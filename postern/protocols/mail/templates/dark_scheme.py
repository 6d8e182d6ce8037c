"""Colors of an e-mail in the dark scheme of mail clients, derived from those that its author chose."""

import colorsys
import re
from typing import Final

Color = tuple[float, float, float]
"""Red, green and blue, from 0 to 1."""

_HEX = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)
_NAMED: Final = {"black": "#000000", "white": "#ffffff"}
DARK_LUMINANCE: Final = 0.4
"""A background with less luminance than this stays as it is, and so do the colors on it."""
MIN_TEXT_CONTRAST: Final = 4.6
"""Minimum contrast ratio of text. WCAG 2.2 requires 4.5; the rest is for rounding."""
MAX_TEXT_CONTRAST: Final = 14.0
"""Texts are not lightened beyond this contrast ratio, which is tiring on a dark background."""
MIN_BUTTON_CONTRAST: Final = 1.6
"""Minimum contrast ratio of a button with the background behind it."""
WHITE_LIGHTNESS: Final = 0.13
"""The lightness (from 0 to 1) of the dark color that replaces a white background."""


class DarkScheme:
    """Collects the rules of one e-mail for `prefers-color-scheme: dark`.

    Each method adds the rule of an element and returns the class to give to it: an empty string if nothing changes.
    `background` is the color behind the element. If a color has another notation than `#rgb` or `#rrggbb`, it has no
    dark counterpart: then `rules` is empty, and the e-mail stays light.
    """

    def __init__(self, page_color: str, *, enabled: bool) -> None:
        """`page_color` is the background of the whole e-mail."""
        self._page = _parse(page_color)
        self._enabled = enabled and self._page is not None and _luminance(self._page) >= DARK_LUMINANCE
        self._classes: dict[str, str] = {}

    def rules(self) -> str:
        """The CSS rules, or an empty string if the e-mail has no dark scheme."""
        if not self._enabled or self._page is None:
            return ""
        page = _hex(_dark_background(self._page))
        own = "".join(body.replace("&", f".{name}") for body, name in self._classes.items())
        return f"body,.page{{background-color:{page}!important}}{own}"

    def area(self, background: str) -> str:
        """The class of a section with a background."""
        light = _parse(background)
        if light is None:
            self._enabled = False
        if light is None or _luminance(light) < DARK_LUMINANCE:
            return ""
        return self._class(f"&,& table{{background:{_hex(_dark_background(light))}!important}}")

    def text(self, color: str, background: str) -> str:
        """The class of a text with the links in it."""
        colors = self._colors_on_light(color, background)
        if colors is None:
            return ""
        light, area = colors
        contrast = min(max(_contrast(light, area), MIN_TEXT_CONTRAST), MAX_TEXT_CONTRAST)
        dark = _hex(_lightened(light, _dark_background(area), contrast))
        return self._class(f"& div,& h1,& h2,& h3,& a{{color:{dark}!important}}")

    def line(self, color: str, background: str) -> str:
        """The class of a divider."""
        colors = self._colors_on_light(color, background)
        if colors is None:
            return ""
        light, area = colors
        dark_background = _dark_background(area)
        dark = _hex(_lightened(_with_lightness(light, dark_background), dark_background, _contrast(light, area)))
        return self._class(f"& p{{border-top-color:{dark}!important}}")

    def picture(self, background: str) -> str:
        """The class of an image on this background. It keeps the light background, because its transparent parts may be
        unreadable on a dark one."""
        light = _parse(background)
        if light is None or _luminance(light) < DARK_LUMINANCE:
            return ""
        return self._class(f"& img{{background:{_hex(light)}!important}}")

    def button(self, color: str, background: str) -> str:
        """The class of a button of this color, if it would be hard to see on the dark background."""
        colors = self._colors_on_light(color, background)
        if colors is None:
            return ""
        light, area = colors
        dark_background = _dark_background(area)
        if _contrast(light, dark_background) >= MIN_BUTTON_CONTRAST:
            return ""
        dark = _hex(_lightened(light, dark_background, MIN_BUTTON_CONTRAST))
        return self._class(f"& table td,& a{{background:{dark}!important}}")

    def _colors_on_light(self, color: str, background: str) -> tuple[Color, Color] | None:
        """The two colors; None if the background is dark already. One that cannot be parsed disables the scheme."""
        light, area = _parse(color), _parse(background)
        if light is None or area is None:
            self._enabled = False
            return None
        return None if _luminance(area) < DARK_LUMINANCE else (light, area)

    def _class(self, body: str) -> str:
        return self._classes.setdefault(body, f"dark{len(self._classes) + 1}") if self._enabled else ""


def _parse(color: str) -> Color | None:
    value = _NAMED.get(color.lower(), color)
    if not _HEX.fullmatch(value):
        return None
    digits = value[1:] if len(value) == 7 else "".join(digit * 2 for digit in value[1:])
    red, green, blue = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    return red, green, blue


def _hex(color: Color) -> str:
    return "#" + "".join(f"{round(part * 255):02x}" for part in color)


def _luminance(color: Color) -> float:
    """The relative luminance as WCAG 2 defines it."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(first: Color, second: Color) -> float:
    """The contrast ratio (from 1 to 21) as WCAG 2 defines it."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _dark_background(color: Color) -> Color:
    """A dark background for a light one, of the same hue; white gets the lightest. A dark one stays as it is."""
    if _luminance(color) < DARK_LUMINANCE:
        return color
    hue, lightness, saturation = colorsys.rgb_to_hls(*color)
    return colorsys.hls_to_rgb(hue, max(0.06, WHITE_LIGHTNESS - (1 - lightness) * 1.2), min(saturation, 0.35) * 0.45)


def _lightened(color: Color, background: Color, contrast: float) -> Color:
    """The color, made as light as is necessary for a contrast ratio of `contrast` with a dark background."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*color)
    while _contrast(color, background) < contrast and lightness < 1:
        lightness = min(1.0, lightness + 0.01)
        color = colorsys.hls_to_rgb(hue, lightness, saturation * 0.8)
    return color


def _with_lightness(color: Color, other: Color) -> Color:
    """The color with the lightness of another one."""
    hue, _, saturation = colorsys.rgb_to_hls(*color)
    return colorsys.hls_to_rgb(hue, colorsys.rgb_to_hls(*other)[1], saturation)
