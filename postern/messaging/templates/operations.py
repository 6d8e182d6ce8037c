"""HTTP operations of templates, and functions with which other packages read them."""

from collections.abc import Iterable
from itertools import accumulate
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
import psycopg

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.listing import ListQuery, SubjectSearch, cursor_after, sorted_list
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.operation import get, patch, post
from postern.kernel.http.pagination import LinkedList
from postern.kernel.http.problems import Invalid, Problem, ProblemError, require_found
from postern.kernel.values import Deleted, as_id, build_view, new_id
from postern.messaging.templates import store
from postern.messaging.templates.model import (
    LISTED_BYTES,
    TEMPLATE_BYTES,
    TEMPLATES_PER_PROJECT,
    VARIABLES_BYTES,
    VERSIONS_KEPT,
    NewTemplate,
    PreviewVariables,
    RenderedDraft,
    StoredTemplate,
    Template,
    TemplateBusy,
    TemplateChange,
    TemplateContent,
    TemplateDraft,
    TemplateInUse,
    TemplateMissing,
    TemplatePreview,
    TemplateVersion,
    TooManyTemplates,
)
from postern.messaging.templates.rules import CompiledContent, compile_content, preview, render_draft
from postern.platform.audit import operations as audit
from postern.platform.projects import usage
from postern.protocols.mail.templates.composing import TemplateCrashed, TemplateTooExpensive
from postern.protocols.mail.templates.content import is_blank
from postern.protocols.mail.templates.rendering import RenderingBusy, RenderingUnavailable
from postern.protocols.mail.templates.template import RenderFailed

__all__ = ["TemplateContent", "TemplateInUse", "TemplateMissing"]

CHANGE_TRIES = 5
"""How many times a change is tried if other requests change the template at the same time."""
RENDER_PROBLEMS: list[type[Problem]] = [TemplateTooExpensive, TemplateCrashed, RenderingBusy, RenderingUnavailable]

View = Annotated[Literal["full", "summary"], msgspec.Meta(description="`summary`: without html, text and builderJson.")]

EXAMPLE = {
    "name": "Welcome",
    "subject": "Welcome, {{firstName}}",
    "builderJson": {
        "blocks": [
            {"type": "heading", "text": "Hello {{firstName}}"},
            {"type": "button", "text": "Start", "url": "https://acme.example/start"},
        ]
    },
}


@get("/projects/{project_id}/templates", needs="templates:read")
async def list_templates(
    call: Call,
    q: SubjectSearch | None = None,
    view: View = "full",
    *,
    query: ListQuery,
) -> LinkedList[Template]:
    """The project's templates, newest first. All given filters must match.

    A page has at most 8 MB; the `Link` header has the URL of the next page. With `view=summary` html, text and
    builderJson are null, and a page has as many templates as `limit` allows.
    """
    filters = query.filters(q)
    page = await sorted_list(
        call, "templates", query, filters, store.SEARCH_TEXT, store.list_templates, store.count_listed
    )
    if view == "summary":
        return page.convert_items(_to_template)
    sizes = accumulate(row.content_octets for row in page.items)
    fitting = sum(size <= LISTED_BYTES for size in sizes)
    rows = page.items[: max(1, fitting)]
    is_cut = len(rows) < len(page.items)
    next_cursor = cursor_after(call, filters.scope("templates"), query.sort, rows[-1]) if is_cut else page.next_cursor
    complete = {
        row.id: row
        for row in await store.templates_with_ids(call.db, project_id=call.project_id, ids=[row.id for row in rows])
    }
    return LinkedList([_to_template(complete[row.id]) for row in rows if row.id in complete], next_cursor)


@post(
    "/projects/{project_id}/templates",
    needs="templates:write",
    status=201,
    body_limit=TEMPLATE_BYTES,
    problems=[TooManyTemplates, *RENDER_PROBLEMS],
    example=EXAMPLE,
)
async def create_template(call: Call, data: NewTemplate) -> Template:
    """Create a template.

    `builderJson` is MJML (`{"mjml": "…"}`) or a block document (`{"blocks": […]}`) and is rendered to html. If `html`
    is given too, it is sent instead; both are stored. The template language is MiniJinja: `{{name}}`, `{% if … %}`. A
    syntax error is a 400 with line and column. `variables` in the response are the names that the template uses. With
    `"engine": "none"` nothing is rendered: subject, html and text are sent as they are.
    """
    content = await compile_content(
        call.world.rendering,
        call.project_id,
        subject=data.subject,
        builder_json=data.builder_json,
        html=data.html,
        text=data.text,
        engine=data.engine,
    )
    async with call.db.transaction() as tx:
        row = await _insert(tx, call, data.name, content)
        await audit.record(tx, call, "template.created", "Template", row.id, name=row.name)
    return _to_template(row)


@get("/projects/{project_id}/templates/{id}", needs="templates:read", problems=[TemplateMissing])
async def get_template(call: Call, id: UUID) -> Template:
    """A template. `html` is what is sent: the template's own html, or the rendered `builderJson`."""
    return _to_template(await require_template(call.db, call.project_id, id))


@patch(
    "/projects/{project_id}/templates/{id}",
    needs="templates:write",
    body_limit=TEMPLATE_BYTES,
    problems=[TemplateMissing, TemplateBusy, *RENDER_PROBLEMS],
    example={"name": "Welcome, again", "subject": "Good to see you, {{firstName}}"},
)
async def change_template(call: Call, id: UUID, data: TemplateChange) -> Template:
    """Change a template. Omitted fields keep their values; `html: null` renders the html from `builderJson` again.

    Sends and campaigns that have started keep their content. Honours `If-Match`.
    """
    for _ in range(CHANGE_TRIES):
        before = await require_template(call.db, call.project_id, id)
        call.require_match(before.updated_at)
        content = await _compile_change(call, before, data)
        if (row := await _store_change(call, before, data, content)) is not None:
            return _to_template(row)
    raise TemplateBusy


async def _store_change(
    call: Call, before: StoredTemplate, data: TemplateChange, content: CompiledContent
) -> StoredTemplate | None:
    """Store a change; None if another request changed the template while the new content was compiled."""
    async with call.db.transaction() as tx:
        row = require_found(await store.lock_template(tx, project_id=call.project_id, id=before.id), TemplateMissing)
        call.require_match(row.updated_at)
        if row.version != before.version:
            return None
        name = row.name if data.name is msgspec.UNSET else data.name
        if name == row.name and _is_unchanged(content, row):  # Nothing changes, so there is no new version.
            return row
        now = max(call.now, row.updated_at + row.updated_at.resolution)
        row = await store.update_template(tx, content, project_id=call.project_id, id=before.id, name=name, now=now)
        await store.insert_version(tx, project_id=call.project_id, id=before.id, created_by=call.caller.actor_label)
        await store.delete_old_versions(
            tx, project_id=call.project_id, id=before.id, version=row.version - VERSIONS_KEPT
        )
        await audit.record(tx, call, "template.updated", "Template", before.id, name=row.name, version=row.version)
    return row


@delete_("/projects/{project_id}/templates/{id}", needs="templates:write", problems=[TemplateMissing, TemplateInUse])
async def delete_template(call: Call, id: UUID) -> Deleted:
    """Delete a template and its versions.

    The response is 409 if scheduled campaigns, active automations, automations with current runs, or variants of draft
    campaigns use the template; `errors` lists them. Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        row = require_found(await store.lock_template(tx, project_id=call.project_id, id=id), TemplateMissing)
        call.require_match(row.updated_at)
        # Automations and campaigns that use the template.
        if dependents := await usage.find_dependents(tx, call.project_id, id):
            raise TemplateInUse(usage.in_use("template", dependents), errors=dependents)
        try:
            await store.delete_template(tx, project_id=call.project_id, id=id)
        except psycopg.IntegrityError:  # A foreign key of another row refers to the template.
            raise TemplateInUse from None
        await audit.record(tx, call, "template.deleted", "Template", id, name=row.name)
    return Deleted()


@post(
    "/projects/{project_id}/templates/{id}/duplicate",
    needs="templates:write",
    status=201,
    problems=[TemplateMissing, TooManyTemplates],
    response_example={"name": "Welcome (copy)"},
)
async def duplicate_template(call: Call, id: UUID) -> Template:
    """Copy a template. The copy is named `… (copy)`; versions are not copied."""
    row = await require_template(call.db, call.project_id, id)
    content = CompiledContent(
        subject=row.subject,
        builder_json=row.builder_json,
        html=row.html,
        is_rendered=row.is_rendered,
        text=row.text,
        engine=row.engine,
        variables=row.variables,
    )
    async with call.db.transaction() as tx:
        copy = await _insert(tx, call, f"{row.name[:190]} (copy)", content)
        await audit.record(tx, call, "template.duplicated", "Template", copy.id, name=copy.name, source=str(id))
    return _to_template(copy)


@post(
    "/projects/{project_id}/templates/{id}/preview",
    needs="templates:read",
    problems=[TemplateMissing, RenderFailed, *RENDER_PROBLEMS],
    example={"variables": {"firstName": "Ada"}},
)
async def preview_template(call: Call, id: UUID, data: PreviewVariables) -> TemplatePreview:
    """Render subject, html and text as a recipient with these variables would get them. Nothing is sent or tracked."""
    _check_size(data.variables, "/variables")
    row = await require_template(call.db, call.project_id, id)
    return await preview(call.world.rendering, call.project_id, row, data.variables, preview_unsubscribe_url(call))


@post(
    "/projects/{project_id}/templates/render",
    needs="templates:read",
    body_limit=TEMPLATE_BYTES,
    problems=[TemplateCrashed, RenderingBusy, RenderingUnavailable],
    example={
        **{name: value for name, value in EXAMPLE.items() if name != "name"},
        "contact": {"email": "ada@example.com", "attributes": {"firstName": "Ada"}},
        "variables": {"plan": "pro"},
    },
)
async def render_template(call: Call, data: TemplateDraft) -> RenderedDraft:
    """Render content that is not stored, as a recipient with these variables would get it. Nothing is stored, sent or
    tracked.

    Content as for a new template; `contact` and `variables` are the values. Errors in the content are in `problems`,
    with the path, and the line and column if they are known; a part with an error is null, and the others are rendered.
    """
    _check_size(data.variables, "/variables")
    if data.contact is not None:
        _check_size(data.contact.attributes, "/contact/attributes")
    return await render_draft(call.world.rendering, call.project_id, data, preview_unsubscribe_url(call))


@get("/projects/{project_id}/templates/{id}/versions", needs="templates:read", problems=[TemplateMissing])
async def list_template_versions(call: Call, id: UUID) -> list[TemplateVersion]:
    """The last 50 versions of a template, newest first, including the current one."""
    await require_template(call.db, call.project_id, id)
    return await store.list_versions(call.db, project_id=call.project_id, id=id, limit=VERSIONS_KEPT)


async def get_content(db: Queries, project_id: UUID, id: UUID) -> TemplateContent | None:
    """The content of a template; None if the project has no such template."""
    return await store.get_content(db, project_id=project_id, id=id)


async def ids_by_name(db: Queries, project_id: UUID, names: Iterable[str]) -> dict[str, list[UUID]]:
    """The ids of the project's templates with each of these names, keyed by name; an empty list if there is none.

    A name that no template has exactly is compared with the names in lower case with hyphens instead of other
    characters: `welcome-mail` finds `Welcome mail`.
    """
    sorted_names = sorted(set(names))
    rows = await store.named_templates(db, project_id=project_id, names=sorted_names)
    return {
        name: [row.id for row in rows if row.name == name] or [row.id for row in rows if row.slug == name]
        for name in sorted_names
    }


async def ids_without_engine(db: Queries, project_id: UUID, ids: Iterable[str | UUID | None]) -> set[UUID]:
    """Of `ids`, those of templates with `"engine": "none"`. Unknown ids and None are left out."""
    template_ids = sorted({as_id(id_) if isinstance(id_, str) else id_ for id_ in ids if id_ is not None})
    return set(await store.ids_without_engine(db, project_id=project_id, ids=template_ids)) if template_ids else set()


async def require_template(db: Queries, project_id: UUID, id: UUID) -> StoredTemplate:
    """The row of a template. Raises TemplateMissing."""
    return require_found(await store.get_template(db, project_id=project_id, id=id), TemplateMissing)


async def _insert(tx: Transaction, call: Call, name: str, content: CompiledContent) -> StoredTemplate:
    """Store a new template and its first version. Raises TooManyTemplates."""
    await tx.lock_quota("templates", call.project_id)
    if await store.count_templates(tx, project_id=call.project_id) >= TEMPLATES_PER_PROJECT:
        raise TooManyTemplates
    row = await store.insert_template(
        tx, content, project_id=call.project_id, id=new_id(), name=name, created_at=call.now, updated_at=call.now
    )
    await store.insert_version(tx, project_id=call.project_id, id=row.id, created_by=call.caller.actor_label)
    return row


def _check_size(variables: dict[str, Any], path: str) -> None:
    """Raises Invalid if the variables are too large."""
    if len(msgspec.json.encode(variables)) > VARIABLES_BYTES:
        raise Invalid.at(path, f"Variables can have at most {VARIABLES_BYTES // 1_000} kB.", "too_large")


def preview_unsubscribe_url(call: Call) -> str:
    """The unsubscribe link in previews, which belong to no recipient."""
    return f"{call.world.settings.public_url}/t/u/preview"


def _is_unchanged(content: CompiledContent, row: StoredTemplate) -> bool:
    return all(getattr(content, field) == getattr(row, field) for field in content.__struct_fields__)


async def _compile_change(call: Call, row: StoredTemplate, data: TemplateChange) -> CompiledContent:
    """The content of a template with the changes applied. Raises Invalid, also if the template would become blank."""
    # Html that was rendered from `builderJson` is rendered again; html that the caller has set stays.
    caller_html = None if row.is_rendered else row.html
    content = await compile_content(
        call.world.rendering,
        call.project_id,
        subject=row.subject if data.subject is msgspec.UNSET else data.subject,
        builder_json=row.builder_json if data.builder_json is msgspec.UNSET else data.builder_json,
        html=caller_html if data.html is msgspec.UNSET else data.html,
        text=row.text if data.text is msgspec.UNSET else data.text,
        engine=row.engine if data.engine is msgspec.UNSET else data.engine,
    )
    if is_blank(content.html, content.text) and not is_blank(row.html, row.text):
        message = "Keep at least one of html, text and builderJson: without them, mail from this template is blank."
        changed_fields = [
            name for name, value in (("html", data.html), ("text", data.text)) if value is not msgspec.UNSET
        ]
        changed_fields += ["builderJson"] if data.builder_json is not msgspec.UNSET else []
        raise Invalid(
            message, errors=[ProblemError(path=f"/{name}", code="required", message=message) for name in changed_fields]
        )
    return content


def _to_template(row: StoredTemplate) -> Template:
    """Convert a row to a response body. In the API, `appId` is an older name of the project's id."""
    return build_view(Template, row, app_id=row.project_id)
