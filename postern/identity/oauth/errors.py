"""Errors of OAuth as RFC 6749 §4.1.2.1 and §5.2 and OpenID Connect Core §3.1.2.6 define them."""

import re

from postern.kernel.http.operation import OtherError
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import Record, to_json
from postern.web.languages import Text

NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}
"""Headers of responses with tokens (RFC 6749 §5.1)."""


class OAuthErrorDocument(Record, rename=None):
    """The JSON of an error (RFC 6749 §5.2)."""

    error: str
    """The code of the error, such as `invalid_grant`."""
    error_description: str
    """For developers."""


CLIENT_ERRORS = {
    400: OtherError("An error of RFC 6749 §5.2, such as `invalid_request` or `invalid_grant`.", OAuthErrorDocument),
    401: OtherError("The client is not authenticated (`invalid_client`).", OAuthErrorDocument),
}
"""Of the endpoints that authenticate a client."""
TOKEN_ERRORS = {
    400: OtherError("The request is malformed (`invalid_request`).", OAuthErrorDocument),
    401: OtherError("The access token is missing, invalid or expired (RFC 6750 §3).", OAuthErrorDocument),
    403: OtherError("The access token does not have the scope (`insufficient_scope`).", OAuthErrorDocument),
}
"""Of the endpoints that take an access token."""
PAGE_ERRORS = {400: OtherError("A page that says what is wrong with the request.")}
"""Of the pages."""


class OAuthError(Exception):
    """A request that is refused: an error code of OAuth, a description for developers, and the HTTP status.

    A description that is a Text is for customers, too: pages show it in their language.
    """

    def __init__(self, error: str, description: str | Text, status: int = 400) -> None:
        self.shown = description if isinstance(description, Text) else None
        description = description.text if isinstance(description, Text) else description
        super().__init__(f"{error}: {description}")
        self.error, self.status = error, status
        # RFC 6749 §5.2 allows only these characters.
        self.description = re.sub(r"[^\x20-\x21\x23-\x5b\x5d-\x7e]", "'", description)[:300]

    def parameters(self) -> dict[str, str]:
        """The parameters of the error in an authorization response."""
        return {"error": self.error, "error_description": self.description}


def json_response(value: object, *, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    """A JSON response that caches do not store."""
    return HttpResponse(to_json(value), status=status, headers={**NO_STORE, **(headers or {})})


def error_response(error: OAuthError, *, realm: str, basic: bool) -> HttpResponse:
    """The response of the token endpoint and others that clients call (RFC 6749 §5.2). `basic`: the client used the
    `Authorization` header, or sent no credential."""
    headers = {"WWW-Authenticate": f'Basic realm="{realm}"'} if error.status == 401 and basic else None
    return json_response(error.parameters(), status=error.status, headers=headers)
