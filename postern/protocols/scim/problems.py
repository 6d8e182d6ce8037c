"""Problems of SCIM requests, with the `scimType` that tells a client what is wrong (RFC 7644 §3.12)."""

from typing import Literal

from postern.kernel.http.problems import BadRequest, Conflict

ScimType = Literal[
    "invalidFilter",
    "tooMany",
    "uniqueness",
    "mutability",
    "invalidSyntax",
    "invalidPath",
    "noTarget",
    "invalidValue",
]
"""The values of `scimType` that Postern sends."""


class ScimRequestInvalid(BadRequest):
    """The SCIM request is not valid; `scimType` and `detail` say why."""

    def __init__(self, scim_type: ScimType, message: str, *, recorded: str | None = None) -> None:
        """`recorded` is a message without values of the request, if `message` has some that may be personal data."""
        super().__init__(message)
        self.scim_type: ScimType = scim_type
        self.recorded = recorded


class ScimNotUnique(Conflict):
    """Another resource has this value, or the person cannot be linked; `detail` says which value."""

    scim_type: ScimType = "uniqueness"
