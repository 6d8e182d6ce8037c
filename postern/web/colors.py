"""The accent color of a project, on pages and in mail."""

from postern.kernel.values import Record

PETROL = "#0d6472"
"""The accent where a project has none."""


class Accent(Record):
    """A color of buttons, and the one of black and white that is easier to read on it."""

    color: str
    text: str


def accent_of(color: str | None) -> Accent:
    """An accent from `#` and six hexadecimal digits; the default one from None."""
    color = color or PETROL
    return Accent(color=color, text="#000000" if _is_light(color) else "#ffffff")


def style_of(color: str | None) -> str:
    """The style sheet that sets the accent of hosted pages; empty where the project has none."""
    if color is None:
        return ""
    accent = accent_of(color)
    return (
        f":root{{--accent:{accent.color};--on-accent:{accent.text};"
        f"--focus:color-mix(in srgb,{accent.color},#000 30%)}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{--focus:color-mix(in srgb,{accent.color},#fff 50%)}}}}\n"
    )


def _is_light(color: str) -> bool:
    """Whether black is easier to read on a color than white (WCAG 2.2, relative luminance)."""

    def linear(pair: str) -> float:
        value = int(pair, 16) / 255
        return value / 12.92 if value <= 0.040_45 else ((value + 0.055) / 1.055) ** 2.4

    luminance = 0.2126 * linear(color[1:3]) + 0.7152 * linear(color[3:5]) + 0.0722 * linear(color[5:7])
    return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05)
