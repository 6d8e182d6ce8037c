"""Checking, compiling and previewing the content of templates, in the render processes.

All functions also raise the problems of the render processes (`RENDER_PROBLEMS` in `templates.operations`).
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Invalid
from postern.messaging.templates.model import CompiledContent, StoredTemplate, TemplatePreview
from postern.protocols.mail.templates.content import Part
from postern.protocols.mail.templates.rendering import RenderProcesses
from postern.protocols.mail.templates.template import VALUES_DEPTH, Engine, RenderFailed, require_depth


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
    html, is_rendered, variable_names = await rendering.call(
        str(project_id), "check_template", subject, builder_bytes, html, text, engine, size=size
    )
    return CompiledContent(
        subject=subject,
        builder_json=builder_json,
        html=html,
        is_rendered=is_rendered,
        text=text,
        engine=engine,
        variables=variable_names,
    )


async def preview(
    rendering: RenderProcesses, row: StoredTemplate, values: dict[str, Any], unsubscribe_url: str
) -> TemplatePreview:
    """Render a template with `values` as one recipient would get it. Raises RenderFailed.

    `unsubscribe_url` is the value of the unsubscribe link.
    """
    size = sum(len(part) for part in (row.subject, row.html, row.text) if part is not None)
    subject, html, text = await rendering.call(
        str(row.project_id), "preview", row.subject, row.html, row.text, values, unsubscribe_url, row.engine, size=size
    )
    return TemplatePreview(subject=subject, html=html, text=text)


async def check_content(
    rendering: RenderProcesses, project_id: UUID, sources: Sequence[tuple[str, Part, str | None]]
) -> None:
    """Check the syntax of template sources without rendering them.

    Each of `sources` is a JSON pointer, the part of the message (subject, html or text), and the source; empty sources
    and None are skipped. Raises Invalid with the pointer, line and column of the first syntax error.
    """
    to_check = [(path, part, source) for path, part, source in sources if source]
    if to_check:
        size = sum(len(source) for _, _, source in to_check)
        await rendering.call(str(project_id), "check_parts", to_check, size=size)


def _check_depth(builder_bytes: bytes, builder_json: dict[str, Any]) -> None:
    """Raises Invalid if the builder document is nested too deeply."""
    try:
        if builder_bytes.count(b"[") + builder_bytes.count(b"{") > VALUES_DEPTH:
            require_depth(builder_json)
    except RenderFailed:
        message = f"Lists and objects can be nested at most {VALUES_DEPTH} levels deep."
        raise Invalid.at("/builderJson", message, "too_deep") from None
