"""The theme of hosted pages and e-mails: what follows from the settings, and which colors are refused."""

import html
import re

import pytest

from postern.web.mails import render_mail
from postern.web.themes import (
    FONTS,
    JAPANESE_SYSTEM,
    ThemeColors,
    ThemeSettings,
    check_contrast,
    contrast,
    style_of,
    text_color_on,
    theme_of,
)

BROWN = ThemeColors(accent="#7a3214", page="#fbf7f2", card="#ffffff", ink="#271a11", muted="#6b5a4c", line="#e8ddd0")


@pytest.mark.parametrize(
    ("color", "other", "ratio"),
    [("#000000", "#ffffff", 21.0), ("#777777", "#ffffff", 4.48), ("#fff000", "#fff000", 1.0)],
)
def test_contrast_is_that_of_wcag(color, other, ratio):
    assert contrast(color, other) == pytest.approx(ratio, abs=0.01)


@pytest.mark.parametrize("color", ["#000000", "#0d6472", "#ffee00", "#777777", "#ff0000", "#0000ff", "#ffffff"])
def test_text_on_the_accent_is_legible(color):
    assert contrast(text_color_on(color), color) >= 4.5


@pytest.mark.parametrize("accent", [None, "#0d6472", "#000000", "#1d3a8a", "#7a3214", "#5b0a33"])
def test_the_dark_accent_follows_from_the_light_one(accent):
    theme = theme_of(accent, ThemeSettings())
    check_contrast(theme)
    assert theme.light.accent == (accent or "#0d6472")


def test_style_and_mails_have_the_colors_of_the_theme():
    theme = theme_of("#123456", ThemeSettings(light=BROWN, corners="SQUARE", heading_font="SERIF"))
    style = style_of(theme)
    assert "--b-accent:#7a3214;--b-on-accent:#ffffff;--b-page:#fbf7f2;--b-card:#ffffff;--b-ink:#271a11;" in style
    assert "--b-radius:0px;" in style
    assert f"--b-heading:{FONTS['SERIF']}" in style
    assert "@media (prefers-color-scheme:dark){:root{--b-accent:" in style
    # The headings have a font of their own, which has Japanese characters.
    assert f":root:lang(ja){{--b-font:{JAPANESE_SYSTEM}}}\n" in style
    values = {"link": "https://a.example/?token=x", "email": "ada@example.com", "minutes": "15", "time": "today"}
    mail = render_mail("customers/link", source="203.0.113.7", app="acme & Söhne", theme=theme, **values)
    assert "background-color:#7a3214" in mail.html
    assert re.search(r'class="mark" align="center"[^>]*>A</td>', mail.html)


COLORS = {"light": {"page": "#fbf7f2"}, "dark": {"accent": "#e39a63", "page": "#15110e"}}


async def test_a_theme_is_changed_in_parts_and_reset(project):
    async def changed(sign_in, status=200):
        response = await project.developer.patch("", {"settings": {"signIn": sign_in}})
        assert response.status_code == status, response.text
        return response.json()["settings"]["signIn"]["theme"] if status == 200 else response.json()["errors"][0]

    first = await changed({"theme": {**COLORS, "corners": "LARGE"}})
    assert (first["light"]["page"], first["dark"]["page"], first["corners"]) == ("#fbf7f2", "#15110e", "LARGE")
    second = await changed({"theme": {"dark": {"accent": None}, "font": "SERIF"}})
    assert (second["dark"]["accent"], second["dark"]["page"], second["font"]) == (None, "#15110e", "SERIF")
    third = await changed({"theme": {"light": None, "corners": None}})
    assert (third["light"]["page"], third["corners"], third["font"]) == (None, "MEDIUM", "SERIF")
    refused = await changed({"accentColor": "#ffee00"}, 400)
    assert (refused["path"], refused["code"]) == ("/settings/signIn/accentColor", "contrast_too_low")
    assert "1.2 : 1. It must be at least 3 : 1." in refused["message"]
    for theme, path in (
        ({"light": {"ink": "#999999"}}, "light/ink"),
        ({"dark": {"muted": "#333333"}}, "dark/muted"),
        ({"dark": {"card": "#ffffff"}}, "dark/accent"),
        ({"light": {"accent": "#ffee00"}}, "light/accent"),
    ):
        refused = await changed({"theme": theme}, 400)
        assert refused["path"].startswith(f"/settings/signIn/theme/{path.partition('/')[0]}"), refused
        assert refused["code"] == "contrast_too_low"
    hostile = ("red", "#fff", "url(x)", "#000000;}body{", "expression(1)", 7, {})
    for value in hostile:
        response = await project.developer.patch("", {"settings": {"signIn": {"theme": {"light": {"page": value}}}}})
        assert response.status_code == 400, value
    for theme in ({"font": "Comic Sans"}, {"css": "x"}, {"pictureUrl": "http://a.example/x"}, {"corners": 3}):
        response = await project.developer.patch("", {"settings": {"signIn": {"theme": theme}}})
        assert response.status_code == 400, theme
    assert (await changed({"theme": None}))["font"] == "SYSTEM"


async def test_a_picture_is_beside_the_form_and_in_the_policy(project, stranger):
    picture = "https://images.example/beans.jpg"
    settings = {"theme": {"pictureUrl": picture}, "logoUrl": "https://logo.example/l.svg"}
    assert (await project.developer.patch("", {"settings": {"signIn": settings}})).status_code == 200
    page = await stranger.get(f"/projects/{project.id}/auth/pages/forgot")
    policy = page.headers["content-security-policy"]
    assert "img-src 'self' https://logo.example https://images.example;" in policy
    assert 'class="hosted gate pictured"' in page.text
    shown = html.unescape(page.text)
    assert f'<div class="art"><img src="{picture}" alt=""></div>' in shown
    assert '<p class="logo"><img src="https://logo.example/l.svg" alt=""><span>' in shown
    assert "unsafe" not in policy
