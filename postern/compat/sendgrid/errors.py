"""Errors in SendGrid's form, `{"errors": [{message, field, help}]}`, and the headers with the rate limit."""

import math
from typing import Any

from postern.kernel.http.call import CredentialInvalid, PermissionMissing
from postern.kernel.http.compatible_api import CompatibleApi, NotOffered
from postern.kernel.http.handler import read_bearer
from postern.kernel.http.problems import Problem
from postern.kernel.http.responses import MethodNotAllowed, NotFound
from postern.kernel.limits import RateLimitState
from postern.kernel.values import Moment
from postern.messaging.emails.model import DomainNotVerified

PREFIXES: tuple[tuple[type[Problem], str], ...] = (
    (CredentialInvalid, "The provided authorization grant is invalid, expired, or revoked."),
    (PermissionMissing, "access forbidden."),
    (DomainNotVerified, "The from address does not match a verified Sender Identity."),
)
"""SendGrid's sentence for a kind of problem, which programs look for. The message of the problem follows it."""


def render_problem(problem: Problem) -> tuple[int, Any]:
    """The status and body of SendGrid's API for a problem. `field` has dots: `personalizations.0.to.0.email`."""
    if isinstance(problem, NotFound | MethodNotAllowed):
        problem = NotOffered("Postern has only `POST /v3/mail/send` of SendGrid's API.")
    prefix = next((f"{sentence} " for kind, sentence in PREFIXES if isinstance(problem, kind)), "")
    suffix = f" {problem.next}" if problem.next else ""
    errors = [(error.message, _field_of(error.path)) for error in problem.errors] or [(problem.detail, None)]
    return problem.status, {
        "errors": [{"message": prefix + text + suffix, "field": field, "help": None} for text, field in errors]
    }


def _field_of(pointer: str) -> str | None:
    """The field at a JSON pointer (RFC 6901), or the name of a header."""
    steps = pointer.removeprefix("header").strip("/").split("/")
    return ".".join(step.replace("~1", "/").replace("~0", "~") for step in steps) or None


def rate_limit_headers(state: RateLimitState, now: Moment) -> dict[str, str]:
    """`X-RateLimit-Limit`, `X-RateLimit-Remaining`, and `X-RateLimit-Reset`, which is a Unix time."""
    return {
        "X-RateLimit-Limit": str(state.rate.quota),
        "X-RateLimit-Remaining": str(state.remaining),
        "X-RateLimit-Reset": str(math.ceil(now.timestamp()) + state.reset_seconds),
    }


SENDGRID = CompatibleApi(
    path="/compat/sendgrid",
    read_token=read_bearer,
    render_problem=render_problem,
    rate_limit_headers=rate_limit_headers,
)
"""The API of SendGrid."""
