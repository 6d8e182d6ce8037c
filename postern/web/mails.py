"""Mails of the server: one file per mail, one layout, as HTML and as plain text.

A file under `templates/mail` is text: the subject in the first line, then paragraphs with a blank line between them.
Two kinds of paragraphs have a look of their own: `[Label]({{ link }})` is a button, and one that ends with
`: {{ code }}` shows a one-time code. What the values hold is never read as either: the files are taken apart when the
process starts.
"""

import re
from html import escape

from minijinja import safe

from postern.kernel.values import Record
from postern.web.colors import accent_of
from postern.web.pages import FOLDER, TEMPLATES

SUFFIX = ".txt"
_LINK = re.compile(r"\[(.+)\]\((\{\{ link \}\})\)")
_CODE = re.compile(r"(.+:) (\{\{ code \}\})")
_TOKEN = re.compile(r"[?&]token=([^&#]+)")


class RenderedMail(Record):
    """A mail as it is sent. `secrets` are the one-time codes and tokens in html and text."""

    subject: str
    html: str
    text: str
    secrets: list[str]


class MailPart(Record):
    """A paragraph of a mail: `text` is a template in a file, and the text itself in a mail."""

    kind: str
    text: str
    label: str = ""


def render_mail(name: str, *, app: str, accent: str | None = None, **values: str) -> RenderedMail:
    """The mail `templates/mail/<name>.txt` with its values; `app` is who writes it. A value that misses is an error."""
    subject, parts = _MAILS[name]
    known = {"app": app, **values}
    subject = " ".join(TEMPLATES.render_str(subject, **known).split())
    filled = [
        MailPart(kind=part.kind, text=TEMPLATES.render_str(part.text, **known), label=part.label) for part in parts
    ]
    html = TEMPLATES.render_template(
        "mail/layout.html", subject=subject, app=app, accent=accent_of(accent), parts=filled
    )
    code, tokens = values.get("code"), _TOKEN.findall(values.get("link", ""))
    return RenderedMail(
        subject=subject,
        html=html,
        text="\n\n".join(map(_plain, filled)) + "\n",
        secrets=[secret for secret in (code, *tokens) if secret],
    )


def _plain(part: MailPart) -> str:
    return f"{part.label}\n{part.text}" if part.kind == "link" else f"{part.label} {part.text}".strip()


def _read_part(source: str) -> MailPart:
    if link := _LINK.fullmatch(source):
        return MailPart(kind="link", label=link[1], text=link[2])
    if code := _CODE.fullmatch(source):
        return MailPart(kind="code", label=code[1], text=code[2])
    return MailPart(kind="text", text=source)


def _read_mail(source: str) -> tuple[str, list[MailPart]]:
    """The subject and the paragraphs. Raises TemplateError for a file that is no template."""
    TEMPLATES.undeclared_variables_in_str(source)
    subject, *paragraphs = source.strip().split("\n\n")
    return subject, [_read_part(paragraph) for paragraph in paragraphs]


TEMPLATES.add_filter(
    "url", lambda value: safe(escape(value))
)  # Without `&#x2f;`, which programs that read mail trip over.
_MAILS = {
    path.relative_to(FOLDER / "mail").as_posix().removesuffix(SUFFIX): _read_mail(path.read_text("utf-8"))
    for path in (FOLDER / "mail").rglob(f"*{SUFFIX}")
}
"""Subject and paragraphs of every mail by its name."""
