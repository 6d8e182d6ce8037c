"""The operation of the dashboard's page for one-time sign-in links."""

from postern.kernel.http.call import Call
from postern.kernel.http.operation import RawRequest, post
from postern.kernel.http.responses import NotFound
from postern.kernel.values import Body
from postern.platform.accounts.links import DashboardSignInLink
from postern.platform.accounts.model import DeveloperSignInResult, LinkInvalid, LockedOut, TokenText
from postern.platform.accounts.operations import sign_in_by_link
from postern.platform.dashboard.forwarding import FORWARDED
from postern.platform.dashboard.model import API_PATH


class DashboardLink(Body):
    """The token of a one-time link, which the page has read from the fragment of its URL."""

    token: TokenText


@post(f"{API_PATH}/welcome", public=True, ignore_unknown_query=True, hidden=True, problems=[LinkInvalid, LockedOut])
async def sign_in_to_dashboard(call: Call, request: RawRequest, data: DashboardLink) -> DeveloperSignInResult:
    """Sign in with a one-time link of the operator (`/dashboard/welcome#token`).

    The link signs in one existing developer and does not create an account. On the first start, this is the developer
    that `postern serve` has created. The second factor is not asked for, as with all links that the operator creates:
    they are for developers who have lost their password and second factor.

    The token is in the fragment of the URL, so it is not in logs of servers and proxies and not in `Referer`. A script
    of the page sends it, so programs that preview links do not use it up.
    """
    if not request.scope.get(FORWARDED):
        raise NotFound  # Only the middleware may call this: it removes the tokens from the response.
    return await sign_in_by_link(call, data.token, DashboardSignInLink)
