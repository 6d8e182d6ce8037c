"""SQL statements of templates."""

from uuid import UUID

from psycopg.sql import SQL, Composable

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment
from postern.messaging.templates.model import (
    CompiledContent,
    ListedTemplate,
    NamedTemplate,
    StoredTemplate,
    TemplateContent,
    TemplateVersion,
)


@statement("select subject, html, text, engine from templates where project_id = %(project_id)s and id = %(id)s")
async def get_content(db: Queries, *, project_id: UUID, id: UUID) -> TemplateContent | None: ...


@statement("""
    select id, name, slug
    from (
        select id, name, trim(both '-' from regexp_replace(lower(name), '[^a-z0-9]+', '-', 'g')) as slug
        from templates where project_id = %(project_id)s
    ) as named
    where name = any (%(names)s) or slug = any (%(names)s)
""")
async def named_templates(db: Queries, *, project_id: UUID, names: list[str]) -> list[NamedTemplate]: ...


@statement("select * from templates where project_id = %(project_id)s and id = %(id)s")
async def get_template(db: Queries, *, project_id: UUID, id: UUID) -> StoredTemplate | None: ...


# The row of a template, locked `for update`.
@statement("select * from templates where project_id = %(project_id)s and id = %(id)s for update")
async def lock_template(tx: Transaction, *, project_id: UUID, id: UUID) -> StoredTemplate | None: ...


# The text that a search in the list of templates compares, as in the index `templates_search`.
SEARCH_TEXT = SQL("lower(listed.name || ' ' || coalesce(listed.subject, ''))")


# Templates without their content. `clause` has conditions on the templates `listed`, and their order.
@statement("""
    select listed.project_id, listed.id, listed.name, listed.subject, null::jsonb as builder_json, null::text as html,
           listed.is_rendered, null::text as text, listed.engine, listed.variables, listed.version, listed.created_at,
           listed.updated_at,
           (coalesce(octet_length(listed.html), 0) + coalesce(octet_length(listed.text), 0)
            + coalesce(pg_column_size(listed.builder_json), 0))::bigint as content_octets
    from templates listed where listed.project_id = %(project_id)s and {clause} limit %(limit)s
""")
async def list_templates(db: Queries, *, project_id: UUID, clause: Composable, limit: int) -> list[ListedTemplate]: ...


# The templates with these ids, in no particular order.
@statement("select * from templates where project_id = %(project_id)s and id = any (%(ids)s)")
async def templates_with_ids(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[StoredTemplate]: ...


# The number of templates that meet the conditions of `clause`, counted up to `limit`.
@statement("""
    select count(*)::int from (
        select from templates listed where listed.project_id = %(project_id)s and {clause} limit %(limit)s
    ) as counted
""")
async def count_listed(db: Queries, *, project_id: UUID, clause: Composable, limit: int) -> int: ...


@statement("select count(*)::int from templates where project_id = %(project_id)s")
async def count_templates(db: Queries, *, project_id: UUID) -> int: ...


@statement("insert into templates {row} returning *")
async def insert_template(
    tx: Transaction,
    content: CompiledContent,
    *,
    project_id: UUID,
    id: UUID,
    name: str,
    created_at: Moment,
    updated_at: Moment,
) -> StoredTemplate: ...


# Change a template and increase its version. The caller must store the version with `insert_version`.
@statement("""
    update templates set name = %(name)s, subject = %(subject)s, builder_json = %(builder_json)s, html = %(html)s,
        is_rendered = %(is_rendered)s, text = %(text)s, engine = %(engine)s, variables = %(variables)s,
        version = version + 1, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def update_template(
    tx: Transaction, content: CompiledContent, *, project_id: UUID, id: UUID, name: str, now: Moment
) -> StoredTemplate: ...


# Copy the current name and content of a template to its versions. `created_by` is shown as the author.
@statement("""
    insert into template_versions (project_id, template_id, version, name, subject, builder_json, html, text, engine,
                                   created_by, created_at)
    select project_id, id, version, name, subject, builder_json, html, text, engine, %(created_by)s, updated_at
    from templates where project_id = %(project_id)s and id = %(id)s
""")
async def insert_version(tx: Transaction, *, project_id: UUID, id: UUID, created_by: str | None) -> None: ...


# Delete the versions up to and including `version`.
@statement("""
    delete from template_versions
    where project_id = %(project_id)s and template_id = %(id)s and version <= %(version)s
""")
async def delete_old_versions(tx: Transaction, *, project_id: UUID, id: UUID, version: int) -> None: ...


# The latest versions of a template, newest first.
@statement("""
    select version, name, subject, builder_json, html, text, engine, created_by, created_at from template_versions
    where project_id = %(project_id)s and template_id = %(id)s order by version desc limit %(limit)s
""")
async def list_versions(db: Queries, *, project_id: UUID, id: UUID, limit: int) -> list[TemplateVersion]: ...


# Of these templates, the ids of those with `"engine": "none"`.
@statement("select id from templates where project_id = %(project_id)s and id = any (%(ids)s) and engine = 'none'")
async def ids_without_engine(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[UUID]: ...


# Delete a template; False if there is none with this id. Raises psycopg.IntegrityError if other rows refer to it.
@statement("delete from templates where project_id = %(project_id)s and id = %(id)s")
async def delete_template(tx: Transaction, *, project_id: UUID, id: UUID) -> bool: ...
