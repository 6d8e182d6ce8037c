"""Files in a folder or objects of a store with the API of Amazon S3, by the same names.

Account and region of an object store are those of the environment (`AWS_…`), or of the machine at Amazon.
"""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from obstore.store import S3Store

Result = TypeVar("Result")

S3 = "s3://"
TIMEOUT = timedelta(seconds=30)
"""Of a request to the object store."""
THREADS = 8
"""Number of files that a process reads or writes at a time. They are threads of the store alone, so that a network
folder that does not respond keeps nothing else of the process waiting."""
UNFINISHED = ".unfinished"
"""The suffix of a file while it is written."""


class StoreFailed(Exception):
    """An object cannot be written, read or deleted; the message says why."""


class ObjectStore:
    """The objects in a folder, or in a bucket below a prefix. Names are relative paths without `..`."""

    def __init__(self, place: str, endpoint: str | None = None) -> None:
        """`place` is the absolute path of a folder, or `s3://bucket/prefix`; `endpoint` is the URL of an object store
        other than that of Amazon."""
        self.place = place
        self._endpoint = endpoint
        self._opened: S3Store | None = None
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="objects")

    def close(self) -> None:
        """Give up requests that have not begun."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def put(self, name: str, content: bytes) -> None:
        """Store an object, which replaces the one of this name: completely or not at all, and on the disk when this
        returns. Raises StoreFailed."""
        if not self._is_remote:
            await self._in_thread(lambda: _write_file(Path(self.place, name), content))
            return
        import obstore
        from obstore.exceptions import BaseError

        try:
            # In one request: parts of an upload that a killed process has begun would stay, where nothing finds them.
            await obstore.put_async(self._remote(), name, content, use_multipart=False)
        except (BaseError, OSError) as error:
            raise StoreFailed(f"{self.place}/{name} cannot be stored: {_first_line(error)}") from error

    async def get(self, name: str, *, max_octets: int) -> bytes | None:
        """The content of an object; None if there is none. Raises StoreFailed, also if it is larger than
        `max_octets`."""
        if not self._is_remote:
            return await self._in_thread(lambda: _read_file(Path(self.place, name), max_octets))
        import obstore
        from obstore.exceptions import BaseError, NotFoundError

        try:
            result = await obstore.get_async(self._remote(), name)
            if result.meta["size"] > max_octets:
                raise StoreFailed(f"{self.place}/{name} has more than {max_octets} octets.")
            return bytes(await result.bytes_async())
        except (NotFoundError, FileNotFoundError):
            return None
        except (BaseError, OSError) as error:
            raise StoreFailed(f"{self.place}/{name} cannot be read: {_first_line(error)}") from error

    async def delete(self, name: str) -> None:
        """Delete an object, if there is one, so that it does not come back after a power failure. Raises
        StoreFailed."""
        if not self._is_remote:
            await self._in_thread(lambda: _delete_file(Path(self.place), name))
            return
        import obstore
        from obstore.exceptions import BaseError, NotFoundError

        try:
            await obstore.delete_async(self._remote(), name)
        except (NotFoundError, FileNotFoundError):
            pass
        except (BaseError, OSError) as error:
            raise StoreFailed(f"{self.place}/{name} cannot be deleted: {_first_line(error)}") from error

    @property
    def _is_remote(self) -> bool:
        return self.place.startswith(S3)

    def _remote(self) -> "S3Store":
        from obstore.store import S3Store

        if self._opened is None:
            self._opened = S3Store.from_url(
                self.place,
                config={"endpoint": self._endpoint} if self._endpoint else {},
                client_options={"timeout": TIMEOUT, "allow_http": (self._endpoint or "").startswith("http://")},
                retry_config={"max_retries": 2, "retry_timeout": TIMEOUT},
            )
        return self._opened

    async def _in_thread(self, do: Callable[[], Result]) -> Result:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, do)
        except OSError as error:
            raise StoreFailed(f"{error.filename or self.place}: {error.strerror}.") from error


def _write_file(path: Path, content: bytes) -> None:
    unfinished = path.with_name(f"{path.name}{UNFINISHED}")
    with os.fdopen(_create_file(unfinished), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(path)
    with suppress(FileNotFoundError):  # Another process has deleted it already, with its folder.
        _sync_folder(path.parent)


def _create_file(path: Path, *, tries: int = 5) -> int:
    """Create an empty file with its folders, for this user only; returns its descriptor.

    A file of this name that another process still writes is not continued: what it writes later must not change the
    new one.
    """
    try:
        _make_folder(path.parent)
        path.unlink(missing_ok=True)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileNotFoundError:
        if tries == 1:
            raise
        # Another process has deleted the folder, because it was empty.
        return _create_file(path, tries=tries - 1)


def _make_folder(path: Path) -> None:
    """Create a folder with those above it, for this user only, and wait until their names are on the disk."""
    if path.is_dir():
        return
    _make_folder(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)
    _sync_folder(path.parent)


def _read_file(path: Path, max_octets: int) -> bytes | None:
    try:
        with path.open("rb") as file:
            content = file.read(max_octets + 1)
    except FileNotFoundError:
        return None
    if len(content) > max_octets:
        raise StoreFailed(f"{path} has more than {max_octets} octets.")
    return content


def _delete_file(root: Path, name: str) -> None:
    """Delete a file, and the folders below `root` that are empty then."""
    path = root / name
    path.with_name(f"{path.name}{UNFINISHED}").unlink(missing_ok=True)
    path.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        _sync_folder(path.parent)
    with suppress(OSError):  # One is not empty.
        for folder in Path(name).parents[:-1]:
            (root / folder).rmdir()


def _sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
