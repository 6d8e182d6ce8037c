"""What a template says, checked and rendered."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Invalid
from postern.messaging.templates.model import StoredTemplate, TemplatePreview, Wording
from postern.protocols.mail.templates.content import Part
from postern.protocols.mail.templates.rendering import RenderProcesses
from postern.protocols.mail.templates.template import VALUES_DEPTH, Engine, RenderFailed, require_depth


async def compile_words(
    rendering: RenderProcesses,
    project_id: UUID,
    *,
    subject: str | None,
    builder_json: dict[str, Any] | None,
    html: str | None,
    text: str | None,
    engine: Engine,
) -> Wording:
    """Check the words and render the builder document where there is no html. Raises Invalid with the place."""
    size = sum(len(part) for part in (subject, html, text) if part is not None)
    written = None if builder_json is None else msgspec.json.encode(builder_json)
    if written is not None and builder_json is not None:
        size += len(written)
        _require_shallow(written, builder_json)
    html, is_rendered, names = await rendering.call(
        str(project_id), "preview_template", subject, written, html, text, engine, size=size
    )
    return Wording(
        subject=subject,
        builder_json=builder_json,
        html=html,
        is_rendered=is_rendered,
        text=text,
        engine=engine,
        variables=names,
    )


async def preview(
    rendering: RenderProcesses, row: StoredTemplate, values: dict[str, Any], unsubscribe_url: str
) -> TemplatePreview:
    """The words as one recipient would get them. Raises RenderFailed."""
    size = sum(len(part) for part in (row.subject, row.html, row.text) if part is not None)
    subject, html, text = await rendering.call(
        str(row.project_id), "preview", row.subject, row.html, row.text, values, unsubscribe_url, row.engine, size=size
    )
    return TemplatePreview(subject=subject, html=html, text=text)


async def check_content(
    rendering: RenderProcesses, project_id: UUID, parts: Sequence[tuple[str, Part, str | None]]
) -> None:
    """Raises Invalid at the path of the first text, html or subject that does not parse, with line and column."""
    found = [(path, part, source) for path, part, source in parts if source]
    if found:
        size = sum(len(source) for _, _, source in found)
        await rendering.call(str(project_id), "check_parts", found, size=size)


def _require_shallow(written: bytes, builder_json: dict[str, Any]) -> None:
    try:
        if written.count(b"[") + written.count(b"{") > VALUES_DEPTH:
            require_depth(builder_json)
    except RenderFailed:
        message = f"Lists and objects are nested at most {VALUES_DEPTH} deep."
        raise Invalid.at("/builderJson", message, "too_deep") from None
