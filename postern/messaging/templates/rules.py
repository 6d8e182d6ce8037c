"""Checking, compiling and previewing the content of templates, in the render processes.

A function with a parameter `rendering` also raises the problems of the render processes (`RENDER_PROBLEMS` in
`templates.operations`), such as RenderingUnavailable. `render_draft` returns TemplateTooExpensive as an error instead.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Invalid, Problem, ProblemError
from postern.messaging.templates.model import (
    CompiledContent,
    RenderedDraft,
    StoredTemplate,
    TemplateDraft,
    TemplateFault,
    TemplatePreview,
)
from postern.protocols.mail.templates.composing import TemplateTooExpensive
from postern.protocols.mail.templates.content import Part
from postern.protocols.mail.templates.links import TooManyLinks, TooManyLinksRendered
from postern.protocols.mail.templates.rendering import RenderProcesses
from postern.protocols.mail.templates.template import (
    VALUES_DEPTH,
    Engine,
    RenderFailed,
    TemplateInvalid,
    require_depth,
)

CONTENT_PROBLEMS = (Invalid, TemplateInvalid, RenderFailed, TooManyLinks, TooManyLinksRendered)
"""The problems of content that is wrong, or fails with the given values."""
LINE_AND_COLUMN = re.compile(r"[Ll]ine (\d+)(?:, column (\d+))?")
"""A line and a column in the message of an error."""


async def compile_content(
    rendering: RenderProcesses,
    project_id: UUID,
    *,
    subject: str | None,
    builder_json: dict[str, Any] | None,
    html: str | None,
    text: str | None,
    engine: Engine,
) -> CompiledContent:
    """Check the content, and render the builder document to html if `html` is None. Stores nothing.

    Raises Invalid with the part, line and column of a syntax error.
    """
    size = sum(len(part) for part in (subject, html, text) if part is not None)
    builder_bytes = None if builder_json is None else msgspec.json.encode(builder_json)
    if builder_bytes is not None and builder_json is not None:
        size += len(builder_bytes)
        _check_depth(builder_bytes, builder_json)
    html, is_html_from_builder, variable_names = await rendering.call(
        str(project_id), "check_template", subject, builder_bytes, html, text, engine, size=size
    )
    return CompiledContent(
        subject=subject,
        builder_json=builder_json,
        html=html,
        is_rendered=is_html_from_builder,
        text=text,
        engine=engine,
        variables=variable_names,
    )


async def preview(
    rendering: RenderProcesses,
    project_id: UUID,
    content: CompiledContent | StoredTemplate,
    values: dict[str, Any],
    unsubscribe_url: str,
) -> TemplatePreview:
    """Render content with `values` as one recipient would get it. Raises RenderFailed.

    `unsubscribe_url` is the URL to which an unsubscribe link in the content leads.
    """
    size = sum(len(part) for part in (content.subject, content.html, content.text) if part is not None)
    subject, html, text = await rendering.call(
        str(project_id),
        "preview",
        content.subject,
        content.html,
        content.text,
        values,
        unsubscribe_url,
        content.engine,
        size=size,
    )
    return TemplatePreview(subject=subject, html=html, text=text)


async def render_draft(
    rendering: RenderProcesses, project_id: UUID, draft: TemplateDraft, unsubscribe_url: str
) -> RenderedDraft:
    """Compile and render content that is not stored. Errors in the content are returned, not raised."""
    contact = {} if draft.contact is None else contact_variables(draft.contact.email, draft.contact.attributes)
    values = {**contact, **draft.variables}
    try:
        return await _render_parts(rendering, project_id, draft, values, unsubscribe_url)
    except TemplateTooExpensive as problem:
        # Do not try the parts one by one: each of them may use up the time limit again.
        return _merge_parts([], _errors_of(problem, ""))
    except CONTENT_PROBLEMS:
        pass  # Each part is rendered alone, so that the errors of all parts are found.
    rendered: list[RenderedDraft] = []
    errors: list[TemplateFault] = []
    for path, part in _parts_of(draft):
        try:
            rendered.append(await _render_parts(rendering, project_id, part, values, unsubscribe_url))
        except (*CONTENT_PROBLEMS, TemplateTooExpensive) as problem:
            errors += _errors_of(problem, path)
    return _merge_parts(rendered, errors)


def _parts_of(draft: TemplateDraft) -> Iterator[tuple[str, TemplateDraft]]:
    """Drafts that have only one part of the content each, with the path of the part: subject, html, text, in this
    order."""
    without = msgspec.structs.replace(draft, subject=None, html=None, text=None, builder_json=None)
    if draft.subject is not None:
        yield "/subject", msgspec.structs.replace(without, subject=draft.subject)
    if draft.html is not None or draft.builder_json is not None:
        path = "/builderJson" if draft.html is None else "/html"
        yield path, msgspec.structs.replace(without, html=draft.html, builder_json=draft.builder_json)
    if draft.text is not None:
        yield "/text", msgspec.structs.replace(without, text=draft.text)


async def _render_parts(
    rendering: RenderProcesses, project_id: UUID, draft: TemplateDraft, values: dict[str, Any], unsubscribe_url: str
) -> RenderedDraft:
    """Compile and render the parts that are not None. Raises CONTENT_PROBLEMS."""
    content = await compile_content(
        rendering,
        project_id,
        subject=draft.subject,
        builder_json=draft.builder_json,
        html=draft.html,
        text=draft.text,
        engine=draft.engine,
    )
    rendered = await preview(rendering, project_id, content, values, unsubscribe_url)
    return RenderedDraft(
        subject=rendered.subject, html=rendered.html, text=rendered.text, variables=content.variables, problems=[]
    )


def _merge_parts(rendered: Sequence[RenderedDraft], errors: list[TemplateFault]) -> RenderedDraft:
    """One draft with the parts that could be rendered, and the errors of the others."""
    has_invalid_text = any(error.path == "/text" for error in errors)
    texts = [part.text for part in rendered if part.text is not None]
    return RenderedDraft(
        subject=next((part.subject for part in rendered if part.subject is not None), None),
        html=next((part.html for part in rendered if part.html is not None), None),
        # A text is also generated from the html. The text part, which `_parts_of` returns last, replaces it.
        text=texts[-1] if texts and not has_invalid_text else None,
        variables=sorted({name for part in rendered for name in part.variables}),
        problems=errors,
    )


def _errors_of(problem: Problem, path: str) -> list[TemplateFault]:
    """The errors of a problem; `path` is the location if the problem has none."""
    errors = problem.errors or [ProblemError(path=path, code=problem.code(), message=problem.detail)]
    return [_error_of(error) for error in errors]


def _error_of(error: ProblemError) -> TemplateFault:
    match = LINE_AND_COLUMN.search(error.message)
    line, column = match.groups() if match else (None, None)
    return TemplateFault(
        path=error.path,
        code=error.code,
        message=error.message,
        line=int(line) if line else None,
        column=int(column) if column else None,
    )


def contact_variables(email: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """The template variables of a contact: each attribute by its name, `email`, `attributes` with all attributes, and
    `contact` with all attributes and `email`."""
    return {**attributes, "email": email, "attributes": attributes, "contact": {**attributes, "email": email}}


async def check_content(
    rendering: RenderProcesses, project_id: UUID, sources: Sequence[tuple[str, Part, str | None]]
) -> None:
    """Check the syntax of template sources without rendering them.

    Each of `sources` is a tuple: the JSON pointer for errors, the part of the message (subject, html or text), and the
    source. Empty sources and None are skipped. Raises Invalid with the pointer, line and column of the first syntax
    error.
    """
    to_check = [(path, part, source) for path, part, source in sources if source]
    if to_check:
        size = sum(len(source) for _, _, source in to_check)
        await rendering.call(str(project_id), "check_parts", to_check, size=size)


def _check_depth(builder_bytes: bytes, builder_json: dict[str, Any]) -> None:
    """Raises Invalid if the builder document is nested too deeply."""
    try:
        # A document cannot be nested more deeply than it has opening brackets, so small documents need no check.
        if builder_bytes.count(b"[") + builder_bytes.count(b"{") > VALUES_DEPTH:
            require_depth(builder_json)
    except RenderFailed:
        message = f"Lists and objects can be nested at most {VALUES_DEPTH} levels deep."
        raise Invalid.at("/builderJson", message, "too_deep") from None
