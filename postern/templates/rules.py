"""What a template says, checked and rendered."""

from typing import Any

import msgspec

from postern.kernel.problems import Fault, Invalid, Problem
from postern.mail import mime
from postern.mail.content import BuilderInvalid, compile_content, render_builder, variables
from postern.mail.header import HeaderInvalid
from postern.mail.template import Kind, compile_template
from postern.templates.model import Preview

OWN_NAMES = {"unsubscribe_url", "unsubscribeUrl"}
"""What every message has without being given it."""


class Wording(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a template, checked."""

    subject: str | None
    builder_json: dict[str, Any] | None
    html: str | None
    is_rendered: bool
    text: str | None
    variables: list[str]


def worded(*, subject: str | None, builder_json: dict[str, Any] | None, html: str | None, text: str | None) -> Wording:
    """Check the words and render the builder document where there is no html. Raises Invalid with the place."""
    if builder_json is not None:
        rendered = _rendered(builder_json)
        is_rendered = html is None
        html = rendered if html is None else html
    else:
        is_rendered = False
    check_words("/builderJson" if is_rendered else "/html", html=html)
    check_words("/text", text=text)
    check_subject(subject)
    names = {name for part in (subject, html, text) if part is not None for name in variables(part)}
    return Wording(
        subject=subject,
        builder_json=builder_json,
        html=html,
        is_rendered=is_rendered,
        text=text,
        variables=sorted(names - OWN_NAMES),
    )


def preview(subject: str | None, html: str | None, text: str | None, values: dict[str, Any], leave: str) -> Preview:
    """The words as one recipient would get them. Raises RenderFailed."""
    facts = dict.fromkeys(OWN_NAMES, leave)
    content = compile_content(subject=subject or "", html=html, text=text, facts=facts)
    made = content.render(values, send_id="preview")
    return Preview(subject=None if subject is None else made.subject, html=made.html, text=made.text)


def _rendered(builder_json: dict[str, Any]) -> str:
    try:
        return render_builder(builder_json)
    except BuilderInvalid as error:
        faults = [Fault(path=f"/builderJson{each.path}", code=each.code, message=each.message) for each in error.errors]
        raise Invalid(error.detail, errors=faults) from None
    except Problem as error:
        raise Invalid.at("/builderJson", error.detail, error.code()) from None


def check_words(path: str, *, html: str | None = None, text: str | None = None) -> None:
    """Raises Invalid at `path` where html or text does not parse, with line and column."""
    if html is None and text is None:
        return
    try:
        compile_content(subject="", html=html, text=text)
    except Problem as error:
        raise Invalid.at(path, error.detail, error.code()) from None


def check_subject(subject: str | None, path: str = "/subject") -> None:
    """Raises Invalid at `path` where a subject does not parse or cannot be a header."""
    if subject is None:
        return
    try:
        compile_template(subject, Kind.TEXT)
        mime.check_subject(subject)
    except HeaderInvalid as error:
        raise Invalid.at(path, error.detail, "header_invalid") from None
    except Problem as error:
        raise Invalid.at(path, error.detail, error.code()) from None
