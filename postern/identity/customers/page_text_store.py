"""SQL of the texts of hosted pages that projects have replaced."""

from uuid import UUID

from postern.identity.customers.page_text_model import OwnText, PageTextRow
from postern.kernel.database.statements import Queries, Transaction, statement


# The texts of a project in a language.
@statement("""
    select * from page_texts where project_id = %(project_id)s and language = %(language)s order by english, id
""")
async def rows_of_language(db: Queries, *, project_id: UUID, language: str) -> list[PageTextRow]: ...


# The same for a page, which needs only the texts.
@statement("select english, text from page_texts where project_id = %(project_id)s and language = %(language)s")
async def own_texts(db: Queries, *, project_id: UUID, language: str) -> list[OwnText]: ...


@statement("""
    select * from page_texts where project_id = %(project_id)s and language = %(language)s and id = %(id)s for update
""")
async def lock_text(tx: Transaction, *, project_id: UUID, language: str, id: str) -> PageTextRow | None: ...


@statement("""
    insert into page_texts {row}
    on conflict (project_id, language, id) do update set text = excluded.text, updated_at = excluded.updated_at
""")
async def set_text(tx: Transaction, row: PageTextRow) -> None: ...


@statement("delete from page_texts where project_id = %(project_id)s and language = %(language)s and id = %(id)s")
async def delete_text(tx: Transaction, *, project_id: UUID, language: str, id: str) -> None: ...
