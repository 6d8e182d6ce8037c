"""Pages that browsers show during single sign-on. They have the brand and the languages of the project."""

from collections.abc import Sequence
from typing import Any

from postern.identity.customers.pages import hosted_page
from postern.kernel.http.call import Call
from postern.kernel.http.responses import HttpResponse
from postern.protocols.saml.trace import SsoTraceStep
from postern.web.languages import Text

ProfileLines = Sequence[dict[str, Any]]
"""`label` and `value` of each line of a profile."""


async def message_page(
    call: Call, heading: Text, message: Text, *, status: int = 200, reason: str = ""
) -> HttpResponse:
    """A page with one message and the way back to the app; if something failed, with the reason and the id of the
    request."""
    return await hosted_page(
        call,
        "sso-message.html",
        None,
        status=status,
        heading=heading,
        message=message,
        reason=reason,
        reference=call.request_id,
    )


async def passed_test_page(call: Call, steps: Sequence[SsoTraceStep], profile: ProfileLines) -> HttpResponse:
    """The result of a test sign-in through a connection that succeeded: every check, and the profile of the user."""
    return await _test_page(call, steps, profile, reason="", detail="")


async def failed_test_page(
    call: Call, reason: str, detail: str, steps: Sequence[SsoTraceStep], profile: ProfileLines = ()
) -> HttpResponse:
    """The result of a test sign-in that failed: why, the checks up to the one that failed, and the profile, if known.
    `detail` is in English, for the administrator of the identity provider."""
    return await _test_page(call, steps, profile, reason=reason, detail=detail)


async def _test_page(
    call: Call, steps: Sequence[SsoTraceStep], profile: ProfileLines, *, reason: str, detail: str
) -> HttpResponse:
    return await hosted_page(
        call,
        "setup-test.html",
        None,
        accepted=not reason,
        reason=reason,
        detail=detail,
        checks=steps,
        profile=list(profile),
    )
