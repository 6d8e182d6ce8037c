"""Images over HTTP: upload, public address, list, deletion and limits."""

import pytest

from postern.messaging.assets import operations
from tests.messaging.assets.images import SECRET, SIMPLE, SIZES, WITH_METADATA, png
from tests.platform.accounts.members import AccountHelper


async def upload(project, content: bytes, name: str | None = None) -> dict:
    query = {} if name is None else {"name": name}
    response = await project.client.request("POST", "/assets", content=content, params=query)
    assert response.status_code == 201, response.text
    return response.json()


def public_path(asset: dict) -> str:
    return asset["url"][asset["url"].index("/t/a/") :]


@pytest.mark.parametrize("kind", WITH_METADATA)
async def test_an_uploaded_image_is_public_without_its_metadata(project, stranger, kind):
    made = await upload(project, WITH_METADATA[kind], "logo")
    assert (made["name"], made["contentType"]) == ("logo", kind)
    assert (made["width"], made["height"]) == SIZES[kind]
    response = await stranger.get(public_path(made))
    assert response.status_code == 200
    assert len(response.content) == made["size"]
    assert SECRET not in response.content
    headers = response.headers
    assert headers["content-type"] == kind
    assert headers["cache-control"] == "public, max-age=31536000, immutable"
    assert headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert headers["x-content-type-options"] == "nosniff"
    assert (await project.client.get(f"/assets/{made['id']}")).json() == made
    head = await stranger.request("HEAD", public_path(made))
    assert (head.status_code, head.content) == (200, b"")


async def test_the_same_image_is_stored_once_per_project(project, new_project, stranger):
    first = await upload(project, WITH_METADATA["image/png"], "first")
    stripped = (await stranger.get(public_path(first))).content
    assert await upload(project, stripped, "second") == first
    assert (await project.client.get("/assets")).json() == [first]
    other = await new_project()
    theirs = await upload(other, stripped)
    assert theirs["url"] != first["url"]
    assert (await other.client.delete(f"/assets/{first['id']}")).status_code == 404


async def test_images_are_listed_newest_first(project):
    made = [await upload(project, png(shade=shade), f"image {shade}") for shade in range(3)]
    page = await project.client.get("/assets?limit=2")
    assert page.json() == [made[2], made[1]]
    cursor = page.headers["link"].partition("cursor=")[2].partition(">")[0]
    assert (await project.client.get(f"/assets?limit=2&cursor={cursor}")).json() == [made[0]]


async def test_a_deleted_image_is_not_public(project, stranger):
    made = await upload(project, SIMPLE["image/gif"])
    assert (await project.client.delete(f"/assets/{made['id']}")).json() == made
    for response in (await stranger.get(public_path(made)), await project.client.get(f"/assets/{made['id']}")):
        assert (response.status_code, response.json()["code"]) == (404, "asset_missing")
    assert (await project.client.delete(f"/assets/{made['id']}")).status_code == 404
    entries = (await project.developer.get("http://postern.test/account/audit-log?action=asset.*")).json()["data"]
    assert [entry["action"] for entry in entries] == ["asset.deleted", "asset.created"]


async def test_the_address_needs_the_token_and_the_extension(project, stranger):
    path = public_path(await upload(project, SIMPLE["image/png"]))
    for wrong in (path.replace(".png", ".html"), path.replace(".png", ""), f"{path}.png", "/t/a/x.png", "/t/a/%00.png"):
        assert (await stranger.get(wrong)).status_code == 404, wrong
    assert (await stranger.get(f"{path}?utm_source=mail")).status_code == 200


async def test_the_address_is_on_the_tracking_domain(project):
    made = await upload(project, SIMPLE["image/png"])
    changed = await project.developer.patch("", {"settings": {"trackingDomain": "links.acme.example"}})
    assert changed.status_code == 200, changed.text
    url = (await project.client.get(f"/assets/{made['id']}")).json()["url"]
    assert url == f"https://links.acme.example{public_path(made)}"


async def test_a_deleted_project_has_no_public_images(project, stranger, run_due_work):
    path = public_path(await upload(project, SIMPLE["image/png"]))
    assert (await project.developer.delete("")).status_code == 200
    assert (await stranger.get(path)).status_code == 404
    await run_due_work()
    assert (await stranger.get(path)).status_code == 404


async def test_the_export_has_the_images(project, stranger):
    made = await upload(project, SIMPLE["image/png"])
    exported = (await project.developer.get("http://postern.test/account/export")).json()
    (row,) = exported["projects"][0]["assets"]
    assert (row["id"], row["content"]) == (made["id"], f"\\x{SIMPLE['image/png'].hex()}")


async def test_number_and_size_of_images_are_limited(project, monkeypatch):
    await upload(project, png(shade=1))
    monkeypatch.setattr(operations, "ASSETS_PER_PROJECT", 1)
    refused = await project.client.request("POST", "/assets", content=png(shade=2))
    assert (refused.status_code, refused.json()["code"]) == (422, "too_many_assets")
    # The image that exists already needs no space.
    await upload(project, png(shade=1))
    monkeypatch.undo()
    monkeypatch.setattr(operations, "PROJECT_BYTES", 2 * len(png(shade=1)) - 1)
    refused = await project.client.request("POST", "/assets", content=png(shade=2))
    assert (refused.status_code, refused.json()["code"]) == (422, "too_many_assets")


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"", 400, "invalid"),
        (b'{"name": "x"}', 422, "image_invalid"),
        (b"<svg></svg>", 422, "svg_not_accepted"),
        (png(4_097, 1), 422, "image_too_large"),
        (png()[:-3], 422, "image_invalid"),
        (png() + bytes(2_000_000), 413, "body_too_large"),
    ],
)
async def test_other_content_is_refused(project, content, status, code):
    refused = await project.client.request("POST", "/assets", content=content)
    assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert (await project.client.get("/assets")).json() == []


async def test_an_invalid_name_is_refused(project):
    refused = await project.client.request("POST", "/assets", content=png(), params={"name": "a\nb"})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "query/name")


async def test_permissions(project, new_project, stranger, run_due_work, world):
    made = await upload(project, png())
    _, viewer = await AccountHelper(project, stranger, run_due_work, world).member("VIEWER")
    assert (await viewer.get("/assets")).json() == [made]
    assert (await viewer.request("POST", "/assets", content=png())).status_code == 403
    assert (await viewer.delete(f"/assets/{made['id']}")).status_code == 403
    narrow = await project.key("emails:read")
    assert (await narrow.get("/assets")).status_code == 403
    foreign = await (await new_project()).client.get(f"/projects/{project.id}/assets/{made['id']}")
    assert foreign.status_code == 404
