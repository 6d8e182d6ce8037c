"""Templates in Resend's form. A template has no drafts: a change takes effect at once."""

from typing import Annotated, Any
from uuid import UUID

import msgspec

from postern.compat.resend.errors import RESEND
from postern.compat.resend.lists import ResendListQuery, read_list_by_query
from postern.compat.resend.model import build_validated
from postern.compat.resend.variables import fallbacks_of, from_resend_variables, to_resend_variables
from postern.kernel.http.call import Call
from postern.kernel.http.compatible_api import NotOffered
from postern.kernel.http.listing import ListQuery
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.operation import get, patch, post
from postern.kernel.values import LenientBody
from postern.messaging.templates import operations as templates
from postern.messaging.templates.model import TEMPLATE_BYTES, NewTemplate, Template, TemplateChange

VARIABLES_LIMIT = 100
UNSET = msgspec.UNSET


class ResendVariable(LenientBody):
    """A variable of a template, and the fallback that is used if an e-mail gives no value for it."""

    key: str
    type: str = "string"
    fallback_value: Any = None


Variables = Annotated[list[ResendVariable], msgspec.Meta(max_length=VARIABLES_LIMIT)]


class ResendTemplateFields(LenientBody):
    """Fields of a template to create or change. In a change, an omitted or null field keeps its value."""

    alias: str | None = None
    from_: str | None = msgspec.field(name="from", default=None)
    subject: str | None = None
    reply_to: str | list[str] | None = None
    html: str | None = None
    text: str | None = None
    variables: Variables | None = None


class ResendTemplate(ResendTemplateFields):
    """A template to create."""

    name: str


class ResendTemplateChange(ResendTemplateFields):
    """Fields of a template to change."""

    name: str | None = None


@post("/templates", needs="templates:write", compatible_api=RESEND, status=201, body_limit=TEMPLATE_BYTES)
async def create_resend_template(call: Call, data: ResendTemplate) -> dict[str, Any]:
    """Create a template."""
    _reject_unsupported_fields(data)
    fallbacks = {variable.key: variable.fallback_value for variable in data.variables or []}
    html, text, subject = (from_resend_variables(part, fallbacks) for part in (data.html, data.text, data.subject))
    new = build_validated(NewTemplate, name=data.name, html=html, text=text, subject=subject)
    template = await templates.create_template(call, new)
    return {"object": "template", "id": template.id}


@get("/templates", needs="templates:read", compatible_api=RESEND)
async def list_resend_templates(call: Call, query: ResendListQuery) -> dict[str, Any]:
    """The templates, newest first, without their content."""
    return await read_list_by_query(call, query, templates.list_templates, ListQuery, "templates", _summary)


@get("/templates/{id}", needs="templates:read", compatible_api=RESEND)
async def get_resend_template(call: Call, id: UUID) -> dict[str, Any]:
    """A template with its content and the variables in it."""
    template = await templates.get_template(call, id)
    fallbacks = fallbacks_of(template.subject, template.html, template.text)
    variables = [
        {"key": key, "type": "number" if isinstance(value, int | float) else "string", "fallback_value": value}
        for key, value in fallbacks.items()
    ]
    return {
        "object": "template",
        **_summary(template),
        "from": None,
        "reply_to": None,
        "subject": to_resend_variables(template.subject),
        "html": to_resend_variables(template.html),
        "text": to_resend_variables(template.text),
        "variables": variables,
        "current_version_id": str(template.version),
        "has_unpublished_versions": False,
    }


@patch("/templates/{id}", needs="templates:write", compatible_api=RESEND, body_limit=TEMPLATE_BYTES)
async def update_resend_template(call: Call, id: UUID, data: ResendTemplateChange) -> dict[str, Any]:
    """Change a template. E-mails that are sent from now on use the new content."""
    _reject_unsupported_fields(data)
    template = await templates.get_template(call, id)
    fallbacks = fallbacks_of(template.subject, template.html, template.text)
    fallbacks |= {variable.key: variable.fallback_value for variable in data.variables or []}
    parts: dict[str, str | None] = {"subject": data.subject, "html": data.html, "text": data.text}
    if data.variables is not None:
        # Fallback values are stored in the tags of the content, so omitted parts are rewritten, too.
        stored = {name: to_resend_variables(getattr(template, name)) for name in parts}
        parts = {name: stored[name] if part is None else part for name, part in parts.items()}
    changes: Any = {name: from_resend_variables(part, fallbacks) for name, part in parts.items() if part is not None}
    await templates.change_template(
        call, id, build_validated(TemplateChange, name=UNSET if data.name is None else data.name, **changes)
    )
    return {"object": "template", "id": id}


@post("/templates/{id}/publish", needs="templates:write", compatible_api=RESEND)
async def publish_resend_template(call: Call, id: UUID) -> dict[str, Any]:
    """Answer that the template is published. Changes nothing: every version is published when it is created."""
    template = await templates.get_template(call, id)
    return {"object": "template", "id": template.id}


@post("/templates/{id}/duplicate", needs="templates:write", compatible_api=RESEND, status=201)
async def duplicate_resend_template(call: Call, id: UUID) -> dict[str, Any]:
    """Copy a template."""
    template = await templates.duplicate_template(call, id)
    return {"object": "template", "id": template.id}


@delete_("/templates/{id}", needs="templates:write", compatible_api=RESEND)
async def delete_resend_template(call: Call, id: UUID) -> dict[str, Any]:
    """Delete a template. Fails while a campaign or an automation uses it."""
    await templates.delete_template(call, id)
    return {"object": "template", "id": id, "deleted": True}


def _reject_unsupported_fields(data: ResendTemplateFields) -> None:
    if data.alias is not None:
        raise NotOffered("Templates have no alias: use their id.")
    if data.from_ is not None or data.reply_to is not None:
        raise NotOffered("Templates have neither `from` nor `reply_to`: set them in each e-mail.")


def _summary(template: Template) -> dict[str, Any]:
    return {
        "id": template.id,
        "name": template.name,
        "alias": None,
        "status": "published",
        "published_at": template.updated_at,
        "created_at": template.created_at,
        "updated_at": template.updated_at,
    }
