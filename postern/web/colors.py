"""The accent color of a project on its pages and in its mails."""

from postern.kernel.values import Record

DEFAULT_ACCENT = "#0d6472"
"""The default accent color."""


class Accent(Record):
    """A button color, and the text color with the higher contrast on it: black or white."""

    color: str
    text: str


def accent_of(color: str | None) -> Accent:
    """The accent for a color `#rrggbb`; None gives the default accent."""
    color = color or DEFAULT_ACCENT
    return Accent(color=color, text="#000000" if _is_light(color) else "#ffffff")


def style_of(color: str | None) -> str:
    """The CSS that sets the accent of hosted pages; empty for None, because the stylesheet has the default."""
    if color is None:
        return ""
    accent = accent_of(color)
    return (
        f":root{{--accent:{accent.color};--on-accent:{accent.text};"
        f"--focus:color-mix(in srgb,{accent.color},#000 30%)}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{--focus:color-mix(in srgb,{accent.color},#fff 50%)}}}}\n"
    )


def _is_light(color: str) -> bool:
    """Whether black has a higher contrast on the color than white (WCAG 2.2, relative luminance)."""

    def linear(pair: str) -> float:
        value = int(pair, 16) / 255
        return value / 12.92 if value <= 0.040_45 else ((value + 0.055) / 1.055) ** 2.4

    luminance = 0.2126 * linear(color[1:3]) + 0.7152 * linear(color[3:5]) + 0.0722 * linear(color[5:7])
    return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05)
