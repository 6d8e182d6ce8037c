"""The operation of the dashboard's page for one-time sign-in links."""

from postern.kernel.http.call import Call
from postern.kernel.http.operation import RawRequest, post
from postern.kernel.http.responses import NotFound
from postern.kernel.values import Body
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

    The link belongs to one existing developer and does not create an account: on the first start, the one that
    `postern serve` has created and printed. So whoever gets hold of a link later cannot make an account of their own,
    and a person who opens it has nothing to fill in. It skips the second factor, as every link of the operator, because
    its purpose is to let in a person who has lost everything else.

    A token in a fragment is in no log of a server or proxy and in no `Referer`. Programs that only preview links do not
    use it up, because a script of the page sends it.
    """
    if not request.scope.get(FORWARDED):
        raise NotFound  # Only through the middleware, which keeps the tokens from the page.
    return await sign_in_by_link(call, data.token, "SIGN_IN")
