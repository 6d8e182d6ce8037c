"""Mails that the server itself sends, rendered as HTML and plain text from one text file for each mail, or from parts
that a caller has (`render_parts`).

A file under `templates/mail` has the subject in its first line, then paragraphs separated by blank lines. A paragraph
`[Label]({link})` becomes a button, and one that ends with `: {code}` shows a one-time code. One whose values are empty,
so that it has no text, is left out. One that begins with `-- ` is the origin: it says below the mail to whom it was
sent and why. The files are parsed when the process starts and values are inserted last, so a value cannot be mistaken
for such markup. Subject, paragraphs, labels and origin are translated one by one (`web.languages`).
"""

import re
from collections.abc import Callable, Mapping
from html import escape

from minijinja import safe

from postern.kernel.values import Record
from postern.web.languages import DEFAULT_LANGUAGE, Translate, text, translated, translator
from postern.web.pages import FOLDER, TEMPLATES
from postern.web.themes import Theme, ThemeSettings, theme_of

SUFFIX = ".txt"
DEFAULT_THEME = theme_of(None, ThemeSettings())
NO_BUTTON = text("If the button does nothing, open this address:")
"""What stands before the address of a link, because some programs open no buttons."""
_ORIGIN = "-- "
_LINK = re.compile(r"\[(.+)\]\((\{link\})\)")
_CODE = re.compile(r"(.+:) (\{code\})")
_TOKEN = re.compile(r"[?&]token=([^&#]+)")
_NAME = re.compile(r"\{(\w+)\}")


class RenderedMail(Record):
    """A rendered mail. `secrets` are the one-time codes and tokens in its html and text."""

    subject: str
    html: str
    text: str
    secrets: list[str]


class MailPart(Record):
    """A paragraph of a mail. `text` is in English and has `{name}` for values before rendering; afterwards it is the
    text in the mail's language."""

    kind: str
    """`link`, `code` or `text`."""
    text: str
    label: str = ""
    """The text of the button, or the words before the code."""


def render_mail(
    name: str, *, app: str, theme: Theme = DEFAULT_THEME, language: str = DEFAULT_LANGUAGE, **values: str
) -> RenderedMail:
    """Render `templates/mail/<name>.txt`; `app` is the sender's product name, `language` one of LANGUAGES.

    Raises KeyError for an unknown name, and if a value of the mail is missing.
    """
    subject, parts, _ = _MAILS[name]
    context = {"app": app, **values}
    translate = translator(language)
    return render_parts(
        translate(subject, **context),
        [_rendered(part, translate, context) for part in parts],
        app=app,
        theme=theme,
        language=language,
        secrets=secrets_of(values),
        origin=origin_of(name, language, context),
    )


def origin_of(name: str, language: str, values: Mapping[str, str]) -> str:
    """To whom `templates/mail/<name>.txt` is sent and why, in a language; "" if it does not say so. `values` are `app`
    and the values of the mail. Raises KeyError if one is missing."""
    origin = _MAILS[name][2]
    return translator(language)(origin, **values) if origin else ""


def render_parts(
    subject: str,
    parts: list[MailPart],
    *,
    app: str,
    theme: Theme = DEFAULT_THEME,
    language: str = DEFAULT_LANGUAGE,
    secrets: list[str],
    preheader: str = "",
    footer: str = "",
    origin: str = "",
) -> RenderedMail:
    """A mail with these parts, whose texts are shown as they are. `preheader` is what lists of mails show beside the
    subject, by default the first paragraph; `footer` and `origin` stand below the mail. `secrets` are the one-time
    codes and tokens in the parts."""
    subject = " ".join(subject.split())
    parts = [part for part in parts if part.kind != "text" or part.text.strip()]
    # Without one, lists of mails show the name of the app and the subject once more.
    preheader = preheader or next((part.text for part in parts if part.kind == "text"), "")
    below = "\n".join(filter(None, (footer, origin)))
    html = TEMPLATES.render_template(
        "mail/layout.html",
        subject=subject,
        app=app,
        theme=theme,
        parts=parts,
        language=language,
        preheader=" ".join(preheader.split()),
        below=below,
        no_button=translated(language, NO_BUTTON),
    )
    texts = [*map(_as_text, parts), *([f"-- \n{below}"] if below else [])]
    return RenderedMail(subject=subject, html=html, text="\n\n".join(texts) + "\n", secrets=secrets)


def secrets_of(values: Mapping[str, str]) -> list[str]:
    """The one-time codes and tokens in the values of a mail."""
    return [secret for secret in (values.get("code"), *_TOKEN.findall(values.get("link", ""))) if secret]


def built_in_mail(name: str, language: str, placeholder: Callable[[str], str]) -> tuple[str, list[MailPart]]:
    """Subject and parts of `templates/mail/<name>.txt` in a language, with `placeholder(name)` for each value.

    The part of a link or code has no text, only its label.
    """
    subject, parts, _ = _MAILS[name]
    names = {value: placeholder(value) for value in mail_values(name)}
    translate = translator(language)
    return translate(subject, **names), [
        _rendered(part, translate, {**names, "link": "", "code": ""}) for part in parts
    ]


def mail_values(name: str) -> set[str]:
    """The names of the values that the subject and the parts of `templates/mail/<name>.txt` show."""
    subject, parts, _ = _MAILS[name]
    return {value for source in (subject, *(part.text for part in parts)) for value in _NAME.findall(source)}


def _rendered(part: MailPart, translate: Translate, context: dict[str, str]) -> MailPart:
    if part.kind == "text":
        return MailPart(kind="text", text=translate(part.text, **context))
    return MailPart(kind=part.kind, text=context[part.kind], label=translate(part.label, **context))


def _as_text(part: MailPart) -> str:
    return f"{part.label}\n{part.text}" if part.kind == "link" else f"{part.label} {part.text}".strip()


def _read_part(source: str) -> MailPart:
    if link := _LINK.fullmatch(source):
        return MailPart(kind="link", label=link[1], text=link[2])
    if code := _CODE.fullmatch(source):
        return MailPart(kind="code", label=code[1], text=code[2])
    return MailPart(kind="text", text=source)


def _read_mail(source: str) -> tuple[str, list[MailPart], str]:
    """Parse the subject, the paragraphs and the origin of a file."""
    subject, *paragraphs = source.strip().split("\n\n")
    origin = paragraphs.pop().removeprefix(_ORIGIN) if paragraphs[-1].startswith(_ORIGIN) else ""
    return subject, [_read_part(paragraph) for paragraph in paragraphs], origin


# MiniJinja escapes `/` as `&#x2f;`, which some mail clients do not decode in links.
TEMPLATES.add_filter("url", lambda value: safe(escape(value)))
_MAILS = {
    path.relative_to(FOLDER / "mail").as_posix().removesuffix(SUFFIX): _read_mail(path.read_text("utf-8"))
    for path in (FOLDER / "mail").rglob(f"*{SUFFIX}")
}
"""Subject, paragraphs and origin of every mail, keyed by its name."""
