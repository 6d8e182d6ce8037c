"""Requests of imports, which are sent again if the server is unreachable or busy."""

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

TRIES = 6
"""How often a request is sent if the server is unreachable or busy."""
FIRST_PAUSE_SECONDS = 1.0
MAX_PAUSE_SECONDS = 60.0
RETRIED = frozenset((429, 502, 503, 504))
"""Statuses after which a request is sent again, so it must be one that can be repeated."""


async def send_again(
    client: "httpx.AsyncClient", method: str, path: str, *, accepted: Collection[int] = (), **content: Any
) -> "httpx.Response":
    """Send a request until the server answers it. Returns a successful response, or one with a status of `accepted`.

    Raises CannotRun for other statuses, and after `TRIES` requests.
    """
    import httpx

    from postern.cli import CannotRun

    reason = ""
    for attempt in range(TRIES):
        pause = FIRST_PAUSE_SECONDS * 2**attempt
        try:
            response = await client.request(method, path, **content)
        except httpx.TransportError as error:
            reason = f"The server cannot be reached ({type(error).__name__})."
        else:
            if response.is_success or response.status_code in accepted:
                return response
            reason = f"The server refused the request: {refusal_of(response)['message']}"
            if response.status_code not in RETRIED:
                break
            after = response.headers.get("retry-after", "")
            pause = min(MAX_PAUSE_SECONDS, float(after)) if after.isdigit() else pause
        if attempt < TRIES - 1:
            await asyncio.sleep(pause)
    raise CannotRun(reason)


def refusal_of(response: "httpx.Response") -> dict[str, Any]:
    """What a problem says: `path`, `code` and `message` of its first error, or else of the problem itself."""
    try:
        problem = response.json()
        first = next(iter(problem.get("errors") or ()), {})
        message = str(first.get("message") or problem["detail"])
        return {
            "path": str(first.get("path", "")),
            "code": str(first.get("code") or problem["code"]),
            "message": message,
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"path": "", "code": "refused", "message": f"status {response.status_code}"}
