"""The page that asks a signed-in customer for a stronger authentication, because a client has asked for it by
`acr_values` (OpenID Connect Core §3.1.2.1, RFC 9470 §5)."""

from postern.identity.customers.operations import require_customer
from postern.identity.customers.pages import hosted_page, supports_passkeys
from postern.identity.customers.sign_in import project_of_call
from postern.identity.customers.step_up import METHODS_OF_LEVEL, StepUpMethod, step_up_methods
from postern.identity.oauth.browsers import oauth_path
from postern.identity.oauth.metadata_documents import host_of
from postern.identity.oauth.model import ClientRow, SignedInCustomer
from postern.identity.oauth.requests import AuthorizationRequest
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Problem
from postern.kernel.http.responses import HttpResponse
from postern.security import session_store
from postern.web.problem_texts import text_of


async def step_up_ways(call: Call, stored: AuthorizationRequest, signed_in: SignedInCustomer) -> list[StepUpMethod]:
    """With what the session of a browser, which meets no requested level, can get to one of them on the page; empty if
    the customer has nothing that is strong enough."""
    session = await session_store.session(call.db, project_id=call.project_id, id=signed_in.session_id)
    if session is None:
        return []
    project = await project_of_call(call)
    customer = await require_customer(call.db, call.project_id, signed_in.customer_id)
    strong_enough = {method for acr in stored.acr_values for method in METHODS_OF_LEVEL.get(acr, ())}
    return [
        method
        for method in await step_up_methods(call.db, call, project, customer, session)
        if method in strong_enough and (method != "PASSKEY" or supports_passkeys(call, project))
    ]


async def step_up_page(
    call: Call,
    client: ClientRow,
    stored: AuthorizationRequest,
    token: str,
    signed_in: SignedInCustomer,
    again: str,
    *,
    cookies: str | None = None,
    problem: Problem | None = None,
) -> HttpResponse:
    """The page for a session that meets no requested level. `again` is where to sign in as somebody else, `problem`
    what was wrong with the last attempt."""
    path = f"{oauth_path(call)}/step-up"
    ways = await step_up_ways(call, stored, signed_in)
    return await hosted_page(
        call,
        "oauth-step-up.html",
        None,
        status=200 if problem is None else problem.status,
        retry_after=None if problem is None else problem.retry_after_seconds,
        error="" if problem is None else text_of(problem),
        form_target=stored.redirect_uri or None,
        headers=None if cookies is None else {"Set-Cookie": cookies},
        action=path,
        options=f"{path}/passkey-options",
        again=again,
        token=token,
        session=str(signed_in.session_id),
        account=signed_in.email or signed_in.name or str(signed_in.customer_id),
        client=client.name,
        publisher=host_of(client),
        asks_code="TOTP" in ways,
        asks_passkey="PASSKEY" in ways,
        # This page does not exist without its request; `resume` shows it again.
        switch_url=f"{oauth_path(call)}/resume?token={token}",
    )
