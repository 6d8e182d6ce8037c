"""Templates: written, previewed, duplicated, and read by whatever sends."""

from collections.abc import Iterable
from uuid import UUID

import msgspec
import psycopg

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.operation import get, patch, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, before_id, write_cursor
from postern.kernel.http.problems import Invalid, Problem, ProblemError
from postern.kernel.values import Deleted, as_id, new_id
from postern.messaging.templates import store
from postern.messaging.templates.model import (
    LISTED_BYTES,
    TEMPLATE_BYTES,
    TEMPLATES_PER_PROJECT,
    VARIABLES_BYTES,
    VERSIONS_KEPT,
    NewTemplate,
    PreviewVariables,
    StoredTemplate,
    Template,
    TemplateBusy,
    TemplateChange,
    TemplateInUse,
    TemplateMissing,
    TemplatePreview,
    TemplateVersion,
    TemplateWords,
    TooManyTemplates,
)
from postern.messaging.templates.rules import Wording, compile_words, preview
from postern.platform.audit import operations as audit
from postern.platform.projects import usage
from postern.protocols.mail.templates.composing import TemplateCrashed, TemplateTooExpensive
from postern.protocols.mail.templates.rendering import RenderingBusy, RenderingUnavailable
from postern.protocols.mail.templates.template import RenderFailed

__all__ = ["TemplateInUse", "TemplateMissing", "TemplateWords"]

CHANGE_TRIES = 5
"""How often a change is made anew because somebody else changed the template meanwhile."""
RENDER_PROBLEMS: list[type[Problem]] = [TemplateTooExpensive, TemplateCrashed, RenderingBusy, RenderingUnavailable]

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
async def list_templates(call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None) -> LinkedList[Template]:
    """The project's templates, newest first. An answer holds at most 8 MB of them; the `Link` header leads on."""
    before = before_id(call, "templates", cursor)
    rows = await store.list_templates(
        call.db, project_id=call.project_id, before=before, limit=limit + 1, characters=LISTED_BYTES
    )
    items = rows[:limit]
    more = len(rows) > limit or bool(
        items
        and await store.list_templates(call.db, project_id=call.project_id, before=items[-1].id, limit=1, characters=0)
    )
    next_cursor = write_cursor(call, "templates", [str(items[-1].id)]) if more else None
    return LinkedList([_shown(row) for row in items], next_cursor)


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

    `builderJson` is MJML (`{"mjml": "…"}`) or a block document (`{"blocks": […]}`) and is rendered to html; a
    given `html` wins, and both are kept. Placeholders are MiniJinja: `{{name}}`, `{% if … %}`. What does not parse
    is a 400 that names line and column. The answer's `variables` are the names the template asks for. With
    `"engine": "none"` there are no placeholders: subject, html and text are sent as written.
    """
    wording = await compile_words(
        call.world.rendering,
        call.project_id,
        subject=data.subject,
        builder_json=data.builder_json,
        html=data.html,
        text=data.text,
        engine=data.engine,
    )
    async with call.db.transaction() as tx:
        row = await _insert(tx, call, data.name, wording)
        await audit.record(tx, call, "template.created", "Template", row.id, name=row.name)
    return _shown(row)


@get("/projects/{project_id}/templates/{id}", needs="templates:read", problems=[TemplateMissing])
async def get_template(call: Call, id: UUID) -> Template:
    """One template. `html` is what will be sent: its own, or what `builderJson` renders to."""
    return _shown(await require_template(call.db, call.project_id, id))


@patch(
    "/projects/{project_id}/templates/{id}",
    needs="templates:write",
    body_limit=TEMPLATE_BYTES,
    problems=[TemplateMissing, TemplateBusy, *RENDER_PROBLEMS],
    example={"name": "Welcome, again", "subject": "Good to see you, {{firstName}}"},
)
async def change_template(call: Call, id: UUID, data: TemplateChange) -> Template:
    """Change a template; what is left out stays. `html: null` goes back to what `builderJson` renders to.

    Sends and campaigns that have begun keep the words they began with. Honours `If-Match`.
    """
    for _ in range(CHANGE_TRIES):
        known = await require_template(call.db, call.project_id, id)
        call.require_match(known.updated_at)
        wording = await _changed(call, known, data)
        if (row := await _change(call, known, data, wording)) is not None:
            return _shown(row)
    raise TemplateBusy


async def _change(call: Call, known: StoredTemplate, data: TemplateChange, wording: Wording) -> StoredTemplate | None:
    """Write a change down; None where somebody else changed the template while its new words were rendered."""
    async with call.db.transaction() as tx:
        row = await store.lock_template(tx, project_id=call.project_id, id=known.id)
        if row is None:
            raise TemplateMissing
        call.require_match(row.updated_at)
        if row.version != known.version:
            return None
        name = row.name if data.name is msgspec.UNSET else data.name
        if name == row.name and _is_unchanged(wording, row):  # No new version of the same words.
            return row
        now = max(call.now, row.updated_at + row.updated_at.resolution)
        row = await store.update_template(tx, wording, project_id=call.project_id, id=known.id, name=name, now=now)
        await store.insert_version(tx, project_id=call.project_id, id=known.id, created_by=call.caller.actor_label)
        await store.delete_old_versions(
            tx, project_id=call.project_id, id=known.id, version=row.version - VERSIONS_KEPT
        )
        await audit.record(tx, call, "template.updated", "Template", known.id, name=row.name, version=row.version)
    return row


@delete_("/projects/{project_id}/templates/{id}", needs="templates:write", problems=[TemplateMissing, TemplateInUse])
async def delete_template(call: Call, id: UUID) -> Deleted:
    """Delete a template and its versions.

    409 lists who needs it: active automations and those with runs under way, scheduled campaigns, and drafts of
    which a variant has it.
    """
    async with call.db.transaction() as tx:
        row = await store.lock_template(tx, project_id=call.project_id, id=id)
        if row is None:
            raise TemplateMissing
        call.require_match(row.updated_at)
        if users := await usage.users_of(tx, call.project_id, id):
            raise TemplateInUse(usage.in_use("template", users), errors=users)
        try:
            await store.delete_template(tx, project_id=call.project_id, id=id)
        except psycopg.IntegrityError:  # The tables of those who use it say what may not lose its template.
            raise TemplateInUse from None
        await audit.record(tx, call, "template.deleted", "Template", id, name=row.name)
    return Deleted()


@post(
    "/projects/{project_id}/templates/{id}/duplicate",
    needs="templates:write",
    status=201,
    problems=[TemplateMissing, TooManyTemplates],
    shows={"name": "Welcome (copy)"},
)
async def duplicate_template(call: Call, id: UUID) -> Template:
    """Make a copy of a template, named `… (copy)`; versions are not copied."""
    row = await require_template(call.db, call.project_id, id)
    wording = Wording(
        subject=row.subject,
        builder_json=row.builder_json,
        html=row.html,
        is_rendered=row.is_rendered,
        text=row.text,
        engine=row.engine,
        variables=row.variables,
    )
    async with call.db.transaction() as tx:
        copy = await _insert(tx, call, f"{row.name[:190]} (copy)", wording)
        await audit.record(tx, call, "template.duplicated", "Template", copy.id, name=copy.name, source=str(id))
    return _shown(copy)


@post(
    "/projects/{project_id}/templates/{id}/preview",
    needs="templates:read",
    problems=[TemplateMissing, RenderFailed, *RENDER_PROBLEMS],
    example={"variables": {"firstName": "Ada"}},
)
async def preview_template(call: Call, id: UUID, data: PreviewVariables) -> TemplatePreview:
    """Subject, html and text as a recipient with these variables would get them. Nothing is sent or tracked."""
    if len(msgspec.json.encode(data.variables)) > VARIABLES_BYTES:
        raise Invalid.at("/variables", f"At most {VARIABLES_BYTES // 1_000} kB of variables.", "too_large")
    row = await require_template(call.db, call.project_id, id)
    leave = f"{call.world.settings.public_url}/t/u/preview"
    return await preview(call.world.rendering, row, data.variables, leave)


@get("/projects/{project_id}/templates/{id}/versions", needs="templates:read", problems=[TemplateMissing])
async def list_template_versions(call: Call, id: UUID) -> list[TemplateVersion]:
    """What the template said before and says now, newest first; the last 50 versions are kept."""
    await require_template(call.db, call.project_id, id)
    return await store.list_versions(call.db, project_id=call.project_id, id=id, limit=VERSIONS_KEPT)


async def content_of(db: Queries, project_id: UUID, id: UUID) -> TemplateWords | None:
    """What a template of the project says; None if there is no such template."""
    return await store.get_content(db, project_id=project_id, id=id)


async def without_engine(db: Queries, project_id: UUID, ids: Iterable[str | UUID | None]) -> set[UUID]:
    """Those of the templates that no engine reads (`"engine": "none"`); what is no template's id is left out."""
    known = sorted({as_id(each) if isinstance(each, str) else each for each in ids if each is not None})
    return set(await store.without_engine(db, project_id=project_id, ids=known)) if known else set()


async def require_template(db: Queries, project_id: UUID, id: UUID) -> StoredTemplate:
    """The row of a template. Raises TemplateMissing."""
    row = await store.get_template(db, project_id=project_id, id=id)
    if row is None:
        raise TemplateMissing
    return row


async def _insert(tx: Transaction, call: Call, name: str, wording: Wording) -> StoredTemplate:
    await tx.lock_quota("templates", call.project_id)
    if await store.count_templates(tx, project_id=call.project_id) >= TEMPLATES_PER_PROJECT:
        raise TooManyTemplates
    row = await store.insert_template(tx, wording, project_id=call.project_id, id=new_id(), name=name, now=call.now)
    await store.insert_version(tx, project_id=call.project_id, id=row.id, created_by=call.caller.actor_label)
    return row


def _is_unchanged(wording: Wording, row: StoredTemplate) -> bool:
    return all(getattr(wording, field) == getattr(row, field) for field in wording.__struct_fields__)


async def _changed(call: Call, row: StoredTemplate, data: TemplateChange) -> Wording:
    own_html = None if row.is_rendered else row.html
    wording = await compile_words(
        call.world.rendering,
        call.project_id,
        subject=row.subject if data.subject is msgspec.UNSET else data.subject,
        builder_json=row.builder_json if data.builder_json is msgspec.UNSET else data.builder_json,
        html=own_html if data.html is msgspec.UNSET else data.html,
        text=row.text if data.text is msgspec.UNSET else data.text,
        engine=row.engine if data.engine is msgspec.UNSET else data.engine,
    )
    if is_blank(wording.html, wording.text) and not is_blank(row.html, row.text):
        message = "A template keeps at least one of html, text and builderJson: mail from it would be blank."
        given = [name for name, value in (("html", data.html), ("text", data.text)) if value is not msgspec.UNSET]
        given += ["builderJson"] if data.builder_json is not msgspec.UNSET else []
        raise Invalid(
            message, errors=[ProblemError(path=f"/{name}", code="required", message=message) for name in given]
        )
    return wording


def is_blank(html: str | None, text: str | None) -> bool:
    """Whether mail with these words says nothing."""
    return not (html or "").strip() and not (text or "").strip()


def _shown(row: StoredTemplate) -> Template:
    return Template(
        id=row.id,
        name=row.name,
        subject=row.subject,
        builder_json=row.builder_json,
        html=row.html,
        text=row.text,
        engine=row.engine,
        variables=row.variables,
        version=row.version,
        app_id=row.project_id,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
