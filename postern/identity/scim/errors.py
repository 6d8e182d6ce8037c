"""Errors in the form of SCIM (RFC 7644 §3.12)."""

from typing import Any

from postern.identity.customers.model import CustomerEmailTaken
from postern.identity.scim.authentication import SCIM_PATH
from postern.kernel.http.compatible_api import CompatibleApi
from postern.kernel.http.handler import BodyInvalid, read_bearer
from postern.kernel.http.problems import Problem
from postern.protocols.scim.problems import ScimNotUnique, ScimRequestInvalid

ERROR_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:Error"
MEDIA_TYPE = "application/scim+json"


def scim_type_of(problem: Problem) -> str | None:
    """The `scimType` of a problem; None if SCIM has none for it."""
    if isinstance(problem, ScimRequestInvalid | ScimNotUnique):
        return problem.scim_type
    if isinstance(problem, CustomerEmailTaken):
        return "uniqueness"
    return "invalidSyntax" if isinstance(problem, BodyInvalid) else None


RECORDED = {"invalidFilter": "The filter is not valid.", "invalidPath": "The path is not valid."}
"""The details of problems whose own ones repeat parts of the request."""


def recorded_detail(problem: Problem) -> str:
    """The detail of a problem that is stored and shown to developers: without values of the request that may be
    personal data."""
    if not isinstance(problem, ScimRequestInvalid):
        return problem.detail
    return problem.recorded or RECORDED.get(problem.scim_type, problem.detail)


def render_problem(problem: Problem) -> tuple[int, Any]:
    """The status and the body of the response for a problem."""
    detail = problem.detail
    if problem.errors:
        detail = " ".join([detail, *(error.message for error in problem.errors if error.message != detail)])
    body = {"schemas": [ERROR_SCHEMA], "status": str(problem.status), "detail": detail}
    scim_type = scim_type_of(problem)
    return problem.status, body if scim_type is None else {**body, "scimType": scim_type}


SCIM = CompatibleApi(path=SCIM_PATH, read_token=read_bearer, render_problem=render_problem, media_type=MEDIA_TYPE)
"""SCIM 2.0, under the base URL of each connection."""
