"""HTTP operations of images, and their public address."""

import secrets
from hashlib import sha256
from typing import Annotated
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.operation import RawRequest, get, post
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, newest_first
from postern.kernel.http.problems import Invalid
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import DisplayName, new_id
from postern.messaging.assets import store
from postern.messaging.assets.model import (
    ASSETS_PER_PROJECT,
    IMAGE_BYTES,
    PROJECT_BYTES,
    Asset,
    AssetMissing,
    AssetRow,
    AssetRowWithContent,
    TooManyAssets,
)
from postern.platform.audit import operations as audit
from postern.platform.projects import operations as projects
from postern.protocols.mail.image_files import (
    EXTENSIONS,
    ImageInvalid,
    ImageTooLarge,
    SvgNotAccepted,
    read_image,
)

TOKEN_BYTES = 16
PUBLIC_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    # If the image is opened like a page: no scripts, whatever its content is.
    "Content-Security-Policy": "default-src 'none'; sandbox",
    # Mail programs and editors show it on pages of other origins.
    "Cross-Origin-Resource-Policy": "cross-origin",
}

FileName = Annotated[DisplayName, msgspec.Meta(description="A name to recognise the image by, such as its file name.")]


@post(
    "/projects/{project_id}/assets",
    needs="templates:write",
    status=201,
    body_limit=IMAGE_BYTES,
    takes="application/octet-stream",
    problems=[ImageInvalid, ImageTooLarge, SvgNotAccepted, TooManyAssets],
)
async def create_asset(call: Call, request: RawRequest, name: FileName = "Image") -> Asset:
    """Upload an image for e-mails: the body is the file, a PNG, JPEG, GIF or WebP of at most 2 MB and 4,096 × 4,096
    pixels.

    The format is recognised by the content. Metadata such as the position of a photograph is removed; the pixels stay
    as they are. `url` is public, hard to guess, and always has the same content: use it in `src` of an image. It is on
    the project's tracking domain, if there is one. Uploading the same image again returns the existing one. A project
    can have at most 2,000 images, and at most 200 MB in total.
    """
    body = await request.body()
    if not body:
        raise Invalid.at("", "The body is missing: send the image.", "required")
    image = read_image(body)
    digest = sha256(image.content).digest()
    async with call.db.transaction() as tx:
        await tx.lock_quota("assets", call.project_id)
        row = await store.asset_with_sha256(tx, project_id=call.project_id, sha256=digest)
        if row is None:
            usage = await store.usage(tx, project_id=call.project_id)
            if usage.count >= ASSETS_PER_PROJECT or usage.size + len(image.content) > PROJECT_BYTES:
                raise TooManyAssets
            new_row = AssetRowWithContent(
                project_id=call.project_id,
                id=new_id(),
                token=secrets.token_hex(TOKEN_BYTES),
                name=name,
                content_type=image.media_type,
                size=len(image.content),
                width=image.width,
                height=image.height,
                created_at=call.now,
                sha256=digest,
                content=image.content,
            )
            row = await store.insert_asset(tx, new_row)
            await audit.record(tx, call, "asset.created", "Asset", row.id, name=name)
    return _to_asset(row, await _base_url(call))


@get("/projects/{project_id}/assets", needs="templates:read")
async def list_assets(call: Call, limit: ListLimit = 100, cursor: Cursor | None = None) -> LinkedList[Asset]:
    """List the project's images, newest first, without their content."""
    page = await newest_first(call, "assets", cursor, limit, store.list_assets)
    base = await _base_url(call)
    return page.convert_items(lambda row: _to_asset(row, base))


@get("/projects/{project_id}/assets/{id}", needs="templates:read", problems=[AssetMissing])
async def get_asset(call: Call, id: UUID) -> Asset:
    """Get an image without its content, which is at `url`."""
    row = await store.get_asset(call.db, project_id=call.project_id, id=id)
    if row is None:
        raise AssetMissing
    return _to_asset(row, await _base_url(call))


@delete_("/projects/{project_id}/assets/{id}", needs="templates:write", problems=[AssetMissing])
async def delete_asset(call: Call, id: UUID) -> Asset:
    """Delete an image. Its `url` returns 404 from then on, also in e-mails that were sent already, except from
    caches."""
    async with call.db.transaction() as tx:
        row = await store.delete_asset(tx, project_id=call.project_id, id=id)
        if row is None:
            raise AssetMissing
        await audit.record(tx, call, "asset.deleted", "Asset", id, name=row.name)
    return _to_asset(row, await _base_url(call))


@get("/t/a/{file}", public=True, ignore_unknown_query=True, hidden=True, problems=[AssetMissing])
async def get_public_image(call: Call, file: str) -> HttpResponse:
    """The image at its public address."""
    token, _, extension = file.partition(".")
    image = await store.public_file(call.db, token=token)
    if image is None or extension != EXTENSIONS[image.content_type]:
        raise AssetMissing
    return HttpResponse(image.content, media_type=image.content_type, headers=PUBLIC_HEADERS)


async def _base_url(call: Call) -> str:
    """The beginning of public URLs: the project's tracking domain, or the base URL of this server."""
    settings = (await projects.require_project(call.db, call.project_id)).settings
    return f"https://{settings.tracking_domain}" if settings.tracking_domain else call.world.settings.public_url


def _to_asset(row: AssetRow, base: str) -> Asset:
    return Asset(
        id=row.id,
        project_id=row.project_id,
        name=row.name,
        url=f"{base}/t/a/{row.token}.{EXTENSIONS[row.content_type]}",
        content_type=row.content_type,
        size=row.size,
        width=row.width,
        height=row.height,
        created_at=row.created_at,
    )
