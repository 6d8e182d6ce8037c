"""Rendering of the server's mails as text and HTML."""

import re

import pytest

from postern.web.mails import SUFFIX, render_mail
from postern.web.pages import FOLDER
from postern.web.themes import ThemeSettings, theme_of

HOSTILE = """"'><script>alert(1)</script>{{ 7 * 7 }}{% raise %}\n\n[Press]({{ link }})"""
LINK = "https://app.example/in?token=a.b-c_1&of=<me>"
MAILS = {
    path.relative_to(FOLDER / "mail").as_posix().removesuffix(SUFFIX): path
    for path in sorted((FOLDER / "mail").rglob(f"*{SUFFIX}"))
}
NAMES = (
    *("account", "change", "device", "email", "inviter", "ip", "organization", "project", "reason", "role"),
    *("role_description", "server"),
)
VALUES = {
    **dict.fromkeys((*NAMES, "minutes", "source", "subject", "time", "until", "what"), HOSTILE),
    "code": "428913",
    "link": LINK,
}


PLACEHOLDER = re.compile(r"{(\w+)}")


def used_values(name: str) -> dict[str, str]:
    """Test values for all that a mail shows."""
    used = set(PLACEHOLDER.findall(MAILS[name].read_text("utf-8"))) - {"app"}
    return {variable: VALUES[variable] for variable in used}


@pytest.mark.parametrize("name", MAILS)
def test_values_are_escaped_and_secrets_are_in_text_and_html(name):
    used = used_values(name)
    mail = render_mail(name, app=HOSTILE, **used)
    assert "<script" not in mail.html
    assert "49" not in mail.html + mail.text, "a value was rendered as a template"
    assert "\n" not in mail.subject
    url = "https://app.example/in?token=a.b-c_1&amp;of=&lt;me&gt;"
    links = [url, url] if "link" in used else []
    assert re.findall('href="([^"]*)"', mail.html) == links, "a value became a button"
    assert mail.secrets == [*(["428913"] if "code" in used else []), *(["a.b-c_1"] if "link" in used else [])]
    for secret in mail.secrets:
        assert secret in mail.html
        assert secret in mail.text
        assert secret not in mail.subject
    assert "src=" not in mail.html, "the mail loads an external resource"


@pytest.mark.parametrize("name", MAILS)
def test_a_missing_value_is_an_error(name):
    used = used_values(name)
    for missing in used:
        with pytest.raises(KeyError):
            render_mail(name, app="Acme", **{variable: used[variable] for variable in used.keys() - {missing}})


YELLOW = theme_of("#ffee00", ThemeSettings())


def test_codes_and_links_are_highlighted():
    request = {"minutes": "10", "time": "today", "source": "Firefox on macOS, 203.0.113.7", "email": "a@b.example"}
    code = render_mail("customers/code", app="Acme", theme=YELLOW, code="428913", **request)
    assert "Enter this code to sign in: 428913\n" in code.text
    assert ">428913</td>" in code.html
    reset = render_mail("customers/reset", app="Acme", theme=YELLOW, link=LINK, **request)
    assert f"Choose a new password\n{LINK}\n" in reset.text
    assert "background-color:#ffee00" in reset.html, "the button does not have the accent color"
    assert "color:#000000;" in reset.html, "the text of the button is not black"


def test_lists_of_mails_show_the_first_paragraph_without_the_code_and_webmail_the_language():
    mail = render_mail("customers/code", app="Acme", language="ja", **used_values("customers/code"))
    preheader = re.search(r'<div style="display:none[^>]*>([^<&]*)', mail.html)
    assert preheader is not None
    assert preheader[1].startswith("有効期間は")
    assert "428913" not in preheader[1]
    # Webmail removes <html> and <body>. Without the language, Japanese characters can get Chinese forms.
    assert '<div lang="ja">' in mail.html
    assert "'Hiragino Sans'" in mail.html
    assert "Hiragino" not in render_mail("customers/code", app="Acme", **used_values("customers/code")).html
