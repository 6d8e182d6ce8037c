"""Errors in Resend's form, `{statusCode, name, message}`, and the headers with the rate limit."""

import re
from typing import Any

from postern.kernel.http.call import (
    CredentialInvalid,
    CredentialMissing,
    CredentialNotAccepted,
    PermissionMissing,
)
from postern.kernel.http.compatible_api import CompatibleApi, NotOffered
from postern.kernel.http.handler import read_bearer
from postern.kernel.http.problems import (
    BadRequest,
    Conflict,
    ContentTooLarge,
    Forbidden,
    Missing,
    Problem,
    RateLimited,
    Unauthenticated,
    Unavailable,
    Unprocessable,
)
from postern.kernel.http.responses import MethodNotAllowed
from postern.kernel.limits import RateLimitState
from postern.kernel.values import Moment
from postern.messaging.emails.model import DomainNotVerified, IdempotencyKeyInProgress, IdempotencyKeyReused
from postern.platform.projects.quotas import PlanLimitReached

NAMES: tuple[tuple[type[Problem], int, str], ...] = (
    (CredentialMissing, 401, "missing_api_key"),
    (CredentialInvalid, 403, "invalid_api_key"),
    (CredentialNotAccepted, 403, "invalid_api_key"),
    (PermissionMissing, 401, "restricted_api_key"),
    (DomainNotVerified, 403, "validation_error"),
    (IdempotencyKeyReused, 409, "invalid_idempotent_request"),
    (IdempotencyKeyInProgress, 409, "concurrent_idempotent_requests"),
    (PlanLimitReached, 429, "monthly_quota_exceeded"),
    (NotOffered, 501, "not_implemented"),
    (MethodNotAllowed, 405, "method_not_allowed"),
    (Unauthenticated, 401, "missing_api_key"),
    (Forbidden, 403, "validation_error"),
    (Missing, 404, "not_found"),
    (RateLimited, 429, "rate_limit_exceeded"),
    (Unavailable, 503, "service_unavailable"),
    (ContentTooLarge, 413, "validation_error"),
    (Conflict, 409, "validation_error"),
    (Unprocessable, 422, "validation_error"),
    (BadRequest, 422, "validation_error"),
)
"""Status and name of each kind of problem. The first row whose class matches applies.
https://resend.com/docs/api-reference/errors"""

FROM_PATH, KEY_PATH = "/from", "header/Idempotency-Key"
REQUIRED = "required"
ERRORS_FIELD = "`errors`"
_INDEX = re.compile(r"^/\d+(?=/)")
"""The index of an e-mail in a batch, at the beginning of a path."""


def render_problem(problem: Problem) -> tuple[int, Any]:
    """The status and body of Resend's API for a problem."""
    status, name = _status_and_name(problem)
    message = problem.detail
    if ERRORS_FIELD in message and problem.errors:  # Resend's body has no such field.
        message = " ".join(error.message for error in problem.errors)
    return status, {"statusCode": status, "name": name, "message": message}


def _status_and_name(problem: Problem) -> tuple[int, str]:
    if isinstance(problem, BadRequest) and problem.errors:
        first = problem.errors[0]
        path = _INDEX.sub("", first.path)
        if path == KEY_PATH:
            return 400, "invalid_idempotency_key"
        if path == FROM_PATH and first.code != REQUIRED:
            return 422, "invalid_from_address"
        if path.startswith("/attachments/"):
            return 422, "invalid_attachment"
        if path.startswith("/") and first.code == REQUIRED:
            return 422, "missing_required_field"
    if isinstance(problem, BadRequest) and not problem.errors and problem.status == 400:
        return 400, "validation_error"
    named = next((row for row in NAMES if isinstance(problem, row[0])), None)
    return (named[1], named[2]) if named else (500, "application_error")


def rate_limit_headers(state: RateLimitState, _now: Moment) -> dict[str, str]:
    """The headers `ratelimit-limit`, `ratelimit-remaining` and `ratelimit-reset` (in seconds)."""
    return {
        "ratelimit-limit": str(state.rate.quota),
        "ratelimit-remaining": str(state.remaining),
        "ratelimit-reset": str(state.reset_seconds),
    }


RESEND = CompatibleApi(
    path="/compat/resend",
    read_token=read_bearer,
    render_problem=render_problem,
    rate_limit_headers=rate_limit_headers,
)
"""The API of Resend."""
