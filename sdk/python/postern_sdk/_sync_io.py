"""The parts of the synchronous client that differ from the other in more than `async` and `await`."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from postern_sdk._request import Key

T = TypeVar("T")

sleep = time.sleep


class TimeLimit:
    """A block that raises TimeoutError at the first `check` after so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def __enter__(self) -> "TimeLimit":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def check(self) -> None:
        """Raise TimeoutError if the time is over."""
        if time.monotonic() > self._end:
            raise TimeoutError


def present_key(key: Key) -> str:
    """The key to send."""
    return key if isinstance(key, str) else key()


def content_of(content: Any) -> Any:
    """A request's content as httpx.Client takes it."""
    return content


def start_list(first_page: Callable[[], T]) -> T:
    """The first page of a list: a synchronous client reads it at once."""
    return first_page()
