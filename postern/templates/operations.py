"""Templates: written, previewed, duplicated, and read by whatever sends."""

from uuid import UUID

from postern.kernel.database import Queries
from postern.templates import store
from postern.templates.store import Words


async def words_of(db: Queries, project_id: UUID, id: UUID) -> Words | None:
    """What a template of the project says; None if there is no such template."""
    return await store.words(db, project_id=project_id, id=id)
