"""SQL of images."""

from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.messaging.assets.model import AssetFile, AssetRow, AssetRowWithContent, AssetUsage


@statement("""
    insert into assets {row}
    returning project_id, id, token, name, content_type, size, width, height, created_at
""")
async def insert_asset(tx: Transaction, asset: AssetRowWithContent) -> AssetRow: ...


# The image of a project whose content has this SHA-256 digest.
@statement("""
    select project_id, id, token, name, content_type, size, width, height, created_at from assets
    where project_id = %(project_id)s and sha256 = %(sha256)s
""")
async def asset_with_sha256(tx: Transaction, *, project_id: UUID, sha256: bytes) -> AssetRow | None: ...


@statement("""
    select count(*)::int as count, coalesce(sum(size), 0)::bigint as size from assets where project_id = %(project_id)s
""")
async def usage(tx: Transaction, *, project_id: UUID) -> AssetUsage: ...


@statement("""
    select project_id, id, token, name, content_type, size, width, height, created_at from assets
    where project_id = %(project_id)s and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def list_assets(db: Queries, *, project_id: UUID, before: UUID | None, limit: int) -> list[AssetRow]: ...


@statement("""
    select project_id, id, token, name, content_type, size, width, height, created_at from assets
    where project_id = %(project_id)s and id = %(id)s
""")
async def get_asset(db: Queries, *, project_id: UUID, id: UUID) -> AssetRow | None: ...


@statement("""
    delete from assets where project_id = %(project_id)s and id = %(id)s
    returning project_id, id, token, name, content_type, size, width, height, created_at
""")
async def delete_asset(tx: Transaction, *, project_id: UUID, id: UUID) -> AssetRow | None: ...


# The image at a public address, unless its project was deleted.
@statement("""
    select asset.content_type, asset.content
    from assets asset join projects on projects.id = asset.project_id
    where asset.token = %(token)s and projects.deleted_at is null
""")
async def public_file(db: Queries, *, token: str) -> AssetFile | None: ...
