"""Reading of responses: results, pages and errors."""

import re
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec

from postern_sdk import types
from postern_sdk._record import Record
from postern_sdk._request import RETRIED_STATUSES, Answer, Request
from postern_sdk.errors import APIError, InvalidResponse, api_error


def result_of(request: Request, answer: Answer) -> Any:
    """What a method returns. Raises APIError, or InvalidResponse if the body of a success is unreadable."""
    operation = request.operation
    if answer.status >= 400 or (answer.status >= 300 and operation.response != "redirect"):
        raise error_of(answer)
    match operation.response:
        case "empty":
            return None
        case "text":
            return answer.body.decode(errors="replace")
        case "bytes":
            return answer.body
        case "redirect":
            return answer.headers.get("location", "")
        case _:
            pass
    try:
        result = _decoder(operation.result, "many" if operation.many else operation.page).decode(answer.body)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise invalid_response(request, answer, str(error)) from error
    tag = answer.headers.get("etag")
    if tag is not None and isinstance(result, Record):
        vars(result)["etag"] = tag
    return result


def error_of(answer: Answer) -> APIError:
    """The exception of a response that is not a success."""
    return api_error(answer.status, answer.headers, answer.body)


def invalid_response(request: Request, answer: Answer, reason: str) -> InvalidResponse:
    """The exception of a success with an unreadable body."""
    operation = request.operation
    executed = (
        "" if operation.method in {"GET", "HEAD"} else " The server reported success: the change may have been made."
    )
    request_id = answer.headers.get("x-request-id")
    shown = f" [request {request_id}]" if request_id else ""
    return InvalidResponse(
        f"The response to {operation.id} (status {answer.status}) could not be read: {reason}.{executed}{shown}",
        status=answer.status,
        request_id=request_id,
        idempotency_key=request.idempotency_key,
    )


class Envelope(msgspec.Struct, rename="camel"):
    """A page of a list, without the type of its entries."""

    data: list[Any]
    total: int | None = None
    page: int | None = None
    pages: int | None = None
    next_cursor: str | None = None


@cache
def _decoder(name: str, kind: str) -> Any:
    plain: dict[str, Any] = {"object": dict[str, Any], "string": str, "any": Any, "integer": int, "boolean": bool}
    type_: Any = plain[name] if name in plain else getattr(types, name)
    if kind in {"many", "links"}:
        return msgspec.json.Decoder(list[type_])
    if kind in {"pages", "cursor"}:
        members: list[Any] = [("data", list[type_])]
        return msgspec.json.Decoder(msgspec.defstruct(f"{name}Envelope", members, bases=(Envelope,), rename="camel"))
    return msgspec.json.Decoder(type_)


class PageContent(NamedTuple):
    """One page of a list, and the query parameters that replace those of its request to get the next one."""

    data: list[Any]
    total: int | None
    next_query: dict[str, Any] | None


def page_of(request: Request, answer: Answer) -> PageContent:
    """The page of a list. Raises APIError or InvalidResponse."""
    result = result_of(request, answer)
    if request.operation.page == "links":
        cursor = _next_link_cursor(answer.headers.get("link", ""))
        counted = answer.headers.get("total-count")
        total = int(counted) if counted is not None and counted.isdecimal() else None
        return PageContent(result, total, {"cursor": cursor} if cursor else None)
    envelope: Envelope = result
    following: dict[str, Any] | None = None
    if envelope.next_cursor is not None:
        following = {"cursor": envelope.next_cursor, "page": None}
    elif envelope.page is not None and envelope.pages is not None and envelope.page < envelope.pages:
        following = {"page": envelope.page + 1}
    return PageContent(envelope.data, envelope.total, following)


def _next_link_cursor(link: str) -> str | None:
    """The cursor of a `Link` header's next page. The URL itself is not followed, wherever it leads."""
    for url, parameters in re.findall(r"<([^>]*)>([^<]*)", link):
        if re.search(r'rel="?next\b', parameters):
            return next(iter(parse_qs(urlsplit(url).query).get("cursor", [])), None)
    return None


def is_retried(request: Request, answer: Answer) -> bool:
    """Whether a response calls for another attempt."""
    if not request.is_repeatable:
        return False
    if answer.status == 409 and request.operation.idempotent:
        return error_of(answer).code == "idempotency_key_in_progress"
    return answer.status in RETRIED_STATUSES
