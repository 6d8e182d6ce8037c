"""Errors in Postmark's form, `{ErrorCode, Message}`, and the header with the API key."""

from collections.abc import Mapping
from typing import Any

from postern.compat.postmark.model import InactiveRecipient, PostmarkOutcome, SenderNotConfirmed, TooManyMessages
from postern.compat.postmark.rules import STREAM_MISSING, TEMPLATE_MISSING
from postern.kernel.http.call import CredentialInvalid, CredentialMissing, PermissionMissing
from postern.kernel.http.compatible_api import CompatibleApi, NotOffered
from postern.kernel.http.handler import BodyInvalid, UnsupportedMediaType
from postern.kernel.http.problems import (
    BadRequest,
    Conflict,
    ContentTooLarge,
    Forbidden,
    Problem,
    RateLimited,
    Unauthenticated,
    Unavailable,
    Unprocessable,
)
from postern.kernel.http.responses import MethodNotAllowed, NotFound
from postern.messaging.emails.model import DomainNotVerified
from postern.platform.projects.quotas import PlanLimitReached

KEY_HEADER = "X-Postmark-Server-Token"
TEST_SERVER = "POSTMARK_API_TEST"
"""The token with which Postmark checks messages without sending them."""
MAX_CREDENTIAL_CHARACTERS = 4_096

CODES: tuple[tuple[type[Problem], int, int], ...] = (
    (Unauthenticated, 401, 10),
    (PermissionMissing, 401, 10),
    (DomainNotVerified, 422, 400),
    (SenderNotConfirmed, 422, 401),
    (PlanLimitReached, 422, 405),
    (InactiveRecipient, 422, 406),
    (TooManyMessages, 422, 410),
    (Forbidden, 401, 10),
    (BodyInvalid, 422, 402),
    (UnsupportedMediaType, 415, 409),
    (ContentTooLarge, 413, 300),
    (RateLimited, 429, 429),
    (Unavailable, 503, 100),
    (Conflict, 409, 300),
    (Unprocessable, 422, 300),
    (BadRequest, 422, 300),
    (NotOffered, 501, 501),
)
"""Status and ErrorCode of each kind of problem. The first row whose class matches applies."""
CODES_OF_ERRORS = {TEMPLATE_MISSING: 1101, STREAM_MISSING: 1235}
"""ErrorCode by the code of a problem's first error. It replaces the ErrorCode in CODES."""


def render_problem(problem: Problem) -> tuple[int, Any]:
    """The status and body of Postmark's API for a problem."""
    status, code, message = _describe(problem)
    return status, {"ErrorCode": code, "Message": message}


def rejected(problem: Problem) -> PostmarkOutcome:
    """The outcome of a message of a batch that is not accepted."""
    _, code, message = _describe(problem)
    return PostmarkOutcome(error_code=code, error=message)


def _describe(problem: Problem) -> tuple[int, int, str]:
    """The HTTP status, `ErrorCode` and `Message` of Postmark's API for a problem."""
    if isinstance(problem, NotFound | MethodNotAllowed):
        problem = NotOffered("Of this API, Postern has only `POST /email` and `/email/batch`, and both with templates.")
    status, code = next(((row[1], row[2]) for row in CODES if isinstance(problem, row[0])), (500, 500))
    detail = f"{problem.detail} {problem.next}" if problem.next else problem.detail
    first = problem.errors[0] if problem.errors else None
    if first is None:
        return status, code, detail
    code = CODES_OF_ERRORS.get(first.code, code)
    field = first.path.lstrip("/")
    # Programs search the message for "Invalid 'To'" to find out that a recipient is wrong.
    is_address = code == 300 and field in ("From", "To", "Cc", "Bcc", "ReplyTo")
    is_named = not field or field.rpartition("/")[2] in problem.detail or code != 300
    prefix = f"Invalid '{field}' address: " if is_address else "" if is_named else f"Invalid '{field}': "
    return status, code, prefix + detail


def read_token(headers: Mapping[str, str]) -> str | None:
    """The API key in `X-Postmark-Server-Token`. Raises CredentialMissing without one, and CredentialInvalid."""
    token = (headers.get(KEY_HEADER.lower()) or "").strip()
    if not token:
        raise CredentialMissing(f"Send a secret key of the project in the header {KEY_HEADER}.")
    if token.upper() == TEST_SERVER:
        raise CredentialInvalid(
            f"{TEST_SERVER} belongs to no project here. Create a secret key of the environment TEST: its mail is "
            "checked completely and captured instead of sent."
        )
    if len(token) > MAX_CREDENTIAL_CHARACTERS or not token.isascii():
        raise CredentialInvalid
    return token


POSTMARK = CompatibleApi(path="/compat/postmark", read_token=read_token, render_problem=render_problem)
"""The API of Postmark."""
