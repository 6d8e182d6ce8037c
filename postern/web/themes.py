"""The theme of hosted pages and e-mails: a few colors, the corners and the fonts, from the project's settings.

Colors that are not set follow from the others. The text on the accent is black or white, whichever has more contrast.
"""

from typing import Literal

from postern.kernel.values import Record

FontFamily = Literal["SYSTEM", "SERIF", "HUMANIST", "GEOMETRIC", "ROUNDED", "MONOSPACE"]
Corners = Literal["SQUARE", "SMALL", "MEDIUM", "LARGE"]
FONTS: dict[FontFamily, str] = {
    "SYSTEM": 'system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans JP",sans-serif',
    "SERIF": 'Georgia,"Times New Roman","Hiragino Mincho ProN","Noto Serif JP",serif',
    "HUMANIST": 'Seravek,"Gill Sans Nova",Ubuntu,Calibri,"Source Sans 3",sans-serif',
    "GEOMETRIC": 'Avenir,Montserrat,Corbel,"URW Gothic",source-sans-pro,sans-serif',
    "ROUNDED": 'ui-rounded,"Hiragino Maru Gothic ProN",Quicksand,Comfortaa,"Arial Rounded MT Bold",sans-serif',
    "MONOSPACE": 'ui-monospace,"Cascadia Code",Menlo,Consolas,monospace',
}
"""The fonts, which devices have: pages load none."""
JAPANESE_SYSTEM = (
    '-apple-system,"Segoe UI",Roboto,"Hiragino Sans","Yu Gothic UI",Meiryo,"Noto Sans JP","Noto Sans CJK JP",sans-serif'
)
"""SYSTEM on pages in Japanese. `system-ui` has Chinese forms of characters on devices that are set to Chinese."""
RADIUS_PIXELS: dict[Corners, int] = {"SQUARE": 0, "SMALL": 4, "MEDIUM": 10, "LARGE": 18}
ACCENT_CONTRAST = 3.0
"""Minimum contrast of the accent color to its surroundings (WCAG 2.2 §1.4.11)."""
TEXT_CONTRAST = 4.5
"""Minimum contrast of text (WCAG 2.2 §1.4.3)."""


class ThemeColors(Record):
    """The colors of the light or of the dark theme, as `#rrggbb`; null for the default."""

    accent: str | None = None
    """Buttons. Null in the light theme means `accentColor`; null in the dark theme means the light accent, lightened if
    the contrast needs it."""
    page: str | None = None
    """The background."""
    card: str | None = None
    """Fields and boxes; null means `page`."""
    ink: str | None = None
    """Text."""
    muted: str | None = None
    """Text that is less important."""
    line: str | None = None
    """Lines between parts."""


class ThemeSettings(Record):
    """How hosted pages and e-mails look."""

    light: ThemeColors = ThemeColors()
    dark: ThemeColors = ThemeColors()
    corners: Corners = "MEDIUM"
    font: FontFamily = "SYSTEM"
    heading_font: FontFamily = "SYSTEM"
    picture_url: str | None = None
    """An https URL of a picture beside the form, on screens of 900 px and more."""


class Palette(Record):
    """All colors of one theme."""

    accent: str
    on_accent: str
    page: str
    card: str
    ink: str
    muted: str
    line: str
    tint: str
    """The ground of what people copy, such as codes."""


class Theme(Record):
    """A theme with all its values."""

    light: Palette
    dark: Palette
    radius_pixels: int
    font: str
    heading_font: str


class ContrastError(ValueError):
    """Two colors are too similar. `path` names the color within the theme, such as `light/ink`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


DEFAULT_LIGHT = Palette(
    accent="#0d6472",
    on_accent="#ffffff",
    page="#ffffff",
    card="#ffffff",
    ink="#111a1c",
    muted="#5a6567",
    line="#e0e6e7",
    tint="#f4f7f7",
)
DEFAULT_DARK = Palette(
    accent="#5cb6c6",
    on_accent="#000000",
    page="#0f1516",
    card="#0f1516",
    ink="#eef3f4",
    muted="#98a3a5",
    line="#232c2e",
    tint="#1a2224",
)


def theme_of(accent_color: str | None, settings: ThemeSettings) -> Theme:
    """The theme of a project. Stored colors are used as they are, whatever their contrast."""
    light = _palette(settings.light, DEFAULT_LIGHT, settings.light.accent or accent_color)
    dark_accent = settings.dark.accent
    if dark_accent is None and (settings.light.accent or accent_color) is not None:
        page = settings.dark.page or DEFAULT_DARK.page
        dark_accent = _lightened(light.accent, [page, settings.dark.card or page])
    return Theme(
        light=light,
        dark=_palette(settings.dark, DEFAULT_DARK, dark_accent),
        radius_pixels=RADIUS_PIXELS[settings.corners],
        font=FONTS[settings.font],
        heading_font=FONTS[settings.heading_font],
    )


def check_contrast(theme: Theme) -> None:
    """Raise ContrastError if people with low vision could not read or see something."""
    for name, palette in (("light", theme.light), ("dark", theme.dark)):
        for ground_name, ground in (("page", palette.page), ("card", palette.card)):
            for color_name, color, least in (
                ("accent", palette.accent, ACCENT_CONTRAST),
                ("ink", palette.ink, TEXT_CONTRAST),
                ("muted", palette.muted, TEXT_CONTRAST),
            ):
                ratio = contrast(color, ground)
                if ratio < least:
                    raise ContrastError(
                        f"{name}/{color_name}",
                        f"The contrast of `{color_name}` {color} to `{ground_name}` {ground} of the {name} theme is "
                        f"{ratio:.1f} : 1. It must be at least {least:g} : 1.",
                    )


def style_of(theme: Theme) -> str:
    """The style sheet that sets the theme's values."""
    light, dark = _declarations(theme.light), _declarations(theme.dark)
    fonts = {"font": theme.font, "heading": theme.heading_font}
    japanese = ";".join(f"--b-{name}:{JAPANESE_SYSTEM}" for name, font in fonts.items() if font == FONTS["SYSTEM"])
    return (
        f":root{{{light};--b-radius:{theme.radius_pixels}px;--b-font:{theme.font};--b-heading:{theme.heading_font}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f":root:lang(ja){{{japanese}}}\n"
    )


def contrast(one: str, other: str) -> float:
    """The contrast of two colors `#rrggbb`, from 1 to 21 (WCAG 2.2)."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def text_color_on(color: str) -> str:
    """Black or white, whichever has more contrast on the color."""
    return max(("#000000", "#ffffff"), key=lambda text: contrast(text, color))


def _palette(colors: ThemeColors, default: Palette, accent: str | None) -> Palette:
    accent, page = accent or default.accent, colors.page or default.page
    ink = colors.ink or default.ink
    return Palette(
        accent=accent,
        on_accent=text_color_on(accent),
        page=page,
        card=colors.card or page,
        ink=ink,
        muted=colors.muted or default.muted,
        line=colors.line or (default.line if colors.page is None else mixed(ink, page, 0.15)),
        tint=default.tint if colors.page is None and colors.ink is None else mixed(ink, page, 0.05),
    )


def _lightened(color: str, grounds: list[str]) -> str:
    """The color, mixed with as little white as the contrast on dark grounds needs."""
    for share in range(0, 101, 5):
        lighter = mixed("#ffffff", color, share / 100)
        if min(contrast(lighter, ground) for ground in grounds) >= ACCENT_CONTRAST:
            return lighter
    return color


def mixed(one: str, other: str, share: float) -> str:
    """`share` (0 to 1) of one color in another one."""
    parts = ((int(one[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(first * share + second * (1 - share)):02x}" for first, second in parts)


def _declarations(palette: Palette) -> str:
    names = ("accent", "on_accent", "page", "card", "ink", "muted", "line")
    return ";".join(f"--b-{name.replace('_', '-')}:{getattr(palette, name)}" for name in names)


def _luminance(color: str) -> float:
    def linear(pair: str) -> float:
        value = int(pair, 16) / 255
        return value / 12.92 if value <= 0.040_45 else ((value + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(color[1:3]) + 0.7152 * linear(color[3:5]) + 0.0722 * linear(color[5:7])
