"""Images: rows, responses, limits and problems."""

from typing import Final
from uuid import UUID

from postern.kernel.http.problems import Missing, Unprocessable
from postern.kernel.values import Moment, Record
from postern.protocols.mail.image_files import ImageType

IMAGE_BYTES: Final = 2_000_000
"""Maximum size of an image file."""
ASSETS_PER_PROJECT: Final = 2_000
"""Maximum number of images of a project."""
PROJECT_BYTES: Final = 200_000_000
"""Maximum size of all images of a project together."""


class AssetMissing(Missing):
    """There is no such image."""


class TooManyAssets(Unprocessable):
    """A project can have at most 2,000 images, and at most 200 MB in total. Delete some first."""


class Asset(Record):
    """An image."""

    id: UUID
    project_id: UUID
    name: str
    """The name that was given at the upload; it has no meaning for Postern."""
    url: str
    """The public address of the image. Its content never changes."""
    content_type: ImageType
    size: int
    """Size of the stored file in bytes. Metadata in the file, such as a position, is removed at the upload and not
    counted."""
    width: int
    """In pixels."""
    height: int
    """In pixels."""
    created_at: Moment


class AssetRow(Record):
    """A row of `assets` without the content and its hash."""

    project_id: UUID
    id: UUID
    token: str
    """The last part of the public address without the extension: 128 random bits."""
    name: str
    content_type: ImageType
    size: int
    width: int
    height: int
    created_at: Moment


class AssetRowWithContent(AssetRow):
    """A whole row of `assets`."""

    sha256: bytes
    """The hash of `content`: the same image is stored once."""
    content: bytes


class AssetFile(Record):
    """The content of an image, which its public address returns."""

    content_type: ImageType
    content: bytes


class AssetUsage(Record):
    """The number and the size of all images of a project."""

    count: int
    size: int
