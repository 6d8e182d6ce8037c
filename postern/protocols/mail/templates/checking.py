"""Checking and previewing what people wrote: templates, subjects and builder documents.

These functions run in render processes only (`mail/rendering.py`), by the names in `TASKS`. Arguments and results are
plain JSON values, and what is wrong is a Problem whose `errors` say where.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from postern.kernel.http.problems import Invalid, Problem, ProblemError, Unprocessable
from postern.protocols.mail import mime
from postern.protocols.mail.address import parse_address
from postern.protocols.mail.header import HeaderInvalid
from postern.protocols.mail.templates.builder import BuilderInvalid, render_builder
from postern.protocols.mail.templates.composing import (
    MessageTemplates,
    TemplateCrashed,
    TemplateTooExpensive,
    content_of,
)
from postern.protocols.mail.templates.content import Part, Reached, RenderedContent, compile_content
from postern.protocols.mail.templates.links import TooManyLinks, TooManyLinksRendered
from postern.protocols.mail.templates.template import (
    Engine,
    OutputFormat,
    RenderFailed,
    TemplateInvalid,
    compile_template,
    variables,
)

UNSUBSCRIBE_NAMES: Final[tuple[str, ...]] = ("unsubscribe_url", "unsubscribeUrl")
"""What every message has without being given it."""
PROBLEMS: Final[dict[str, type[Problem]]] = {
    each.code(): each
    for each in (
        Invalid,
        BuilderInvalid,
        HeaderInvalid,
        RenderFailed,
        TemplateInvalid,
        TooManyLinks,
        TooManyLinksRendered,
        TemplateTooExpensive,
        TemplateCrashed,
        mime.MessageTooLarge,
    )
}
"""What these functions raise, by code: a problem travels between processes as its code, words and places."""


def check_message(
    reached: Reached,
    subject: str,
    html: str | None,
    text: str | None,
    values: dict[str, Any],
    send_id: str,
    attached: int = 0,
    engine: Engine = "minijinja",
) -> str:
    """Render a message as it would be sent and return its subject. `attached`: octets of its files in base64.

    Raises Invalid at the part that cannot be sent, or MessageTooLarge.
    """
    part: Part | None = None

    def now_at(at: Part | None) -> None:
        nonlocal part
        part = at
        reached(at)

    try:
        content = content_of(MessageTemplates(subject, html, text, engine), reached=now_at)
        rendered = content.render(values, send_id=send_id, reached=now_at)
        now_at("subject")
        mime.check_subject(rendered.subject)
    except TemplateInvalid as error:
        raise Invalid.at(f"/{part}", error.detail, "template_invalid") from None
    except Problem as error:
        raise Invalid.at(f"/{part}", error.detail, error.code()) from None
    _require_room(rendered, attached)
    return rendered.subject


def _require_room(rendered: RenderedContent, attached: int) -> None:
    """Raises MessageTooLarge where the encoded words and files are larger than a message may be."""
    words = [part for part in (rendered.html, rendered.text) if part is not None]
    files = attached + attached // 76 * 2
    if 4 * sum(map(len, words)) * 78 // 57 + files <= mime.MESSAGE_BYTES_LIMIT:
        return  # Not even four octets for each character, in base64 with its line ends, would be too many.
    nobody = parse_address("a@example.org")
    message = mime.Message(
        from_=nobody,
        to=[nobody],
        subject="",
        date=datetime.fromtimestamp(0, UTC),
        message_id="<a@example.org>",
        text=rendered.text,
        html=rendered.html,
    )
    path = "/attachments" if attached else "/html" if rendered.html is not None else "/text"
    try:
        size = len(mime.compose(message)) + files
    except mime.MessageTooLarge:
        size = mime.MESSAGE_BYTES_LIMIT + 1
    if size > mime.MESSAGE_BYTES_LIMIT:
        message_text = mime.MessageTooLarge.message()
        raise mime.MessageTooLarge(
            errors=[ProblemError(path=path, code=mime.MessageTooLarge.code(), message=message_text)]
        )


def render_subjects(reached: Reached, subjects: list[tuple[str, dict[str, Any]]]) -> list[str | None]:
    """Subjects with the values of each message; None for one that does not render."""
    return [_subject(reached, *each) for each in subjects]


def _subject(reached: Reached, subject: str, values: dict[str, Any]) -> str | None:
    try:
        return content_of(MessageTemplates(subject), reached=reached).render(values, send_id="").subject
    except Problem:
        return None


def check_parts(reached: Reached, parts: list[tuple[str, Part, str]], engine: Engine = "minijinja") -> None:
    """Parse templates, each with its JSON pointer and what it is. Raises Invalid at the first that does not parse."""
    for path, part, source in parts:
        reached(None)
        try:
            if part == "subject":
                if engine != "none":
                    compile_template(source, OutputFormat.TEXT)
                mime.check_subject(source)
            else:
                compile_content(
                    subject="",
                    html=source if part == "html" else None,
                    text=source if part == "text" else None,
                    engine=engine,
                )
        except Problem as error:
            raise Invalid.at(path, error.detail, error.code()) from None


def preview_template(
    reached: Reached,
    subject: str | None,
    builder_json: bytes | None,
    html: str | None,
    text: str | None,
    engine: Engine = "minijinja",
) -> tuple[str | None, bool, list[str]]:
    """Check a template and render its builder document, given as JSON.

    Returns the html, whether it was rendered, and the names that the template asks for: none where no engine reads it.

    Raises Invalid with the place.
    """
    is_rendered = builder_json is not None and html is None
    reached("html")
    if builder_json is not None:
        rendered = _rendered(msgspec.json.decode(builder_json), engine)
        html = rendered if html is None else html
    parts: list[tuple[str, Part, str | None]] = [
        ("/builderJson" if is_rendered else "/html", "html", html),
        ("/text", "text", text),
        ("/subject", "subject", subject),
    ]
    for path, part, source in parts:
        if source is not None:
            reached(part)
            check_parts(lambda _: None, [(path, part, source)], engine)
    if engine == "none":
        return html, is_rendered, []
    names = {name for source in (subject, html, text) if source is not None for name in variables(source)}
    return html, is_rendered, sorted(names - set(UNSUBSCRIBE_NAMES))


def preview(
    reached: Reached,
    subject: str | None,
    html: str | None,
    text: str | None,
    values: dict[str, Any],
    unsubscribe_url: str,
    engine: Engine = "minijinja",
) -> tuple[str | None, str | None, str | None]:
    """Subject, html and text for these values. Raises RenderFailed."""
    facts: dict[str, Any] = dict.fromkeys(UNSUBSCRIBE_NAMES, unsubscribe_url)
    content = compile_content(subject=subject or "", html=html, text=text, facts=facts, reached=reached, engine=engine)
    rendered = content.render(values, send_id="preview", reached=reached)
    return None if subject is None else rendered.subject, rendered.html, rendered.text


def _rendered(builder_json: dict[str, Any], engine: Engine) -> str:
    try:
        return render_builder(builder_json, engine)
    except BuilderInvalid as error:
        faults = [
            ProblemError(path=f"/builderJson{each.path}", code=each.code, message=each.message) for each in error.errors
        ]
        raise Invalid(error.detail, errors=faults) from None
    except Problem as error:
        raise Invalid.at("/builderJson", error.detail, error.code()) from None


TASKS: Final[dict[str, Callable[..., Any]]] = {
    each.__name__: each for each in (check_message, render_subjects, check_parts, preview_template, preview)
}


def problem_of(code: str, detail: str, errors: list[ProblemError]) -> Problem:
    """The problem that travelled here from another process."""
    return PROBLEMS.get(code, Unprocessable)(detail, errors=errors)
