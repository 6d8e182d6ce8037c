"""SQL of templates."""

from uuid import UUID

from postern.kernel.database import Queries, statement
from postern.kernel.values import Record


class Words(Record):
    """What a template says; `html` is what its builder document renders to where it has no html of its own."""

    subject: str | None
    html: str | None
    text: str | None


@statement("select subject, html, text from templates where project_id = %(project_id)s and id = %(id)s")
async def words(db: Queries, *, project_id: UUID, id: UUID) -> Words | None: ...
