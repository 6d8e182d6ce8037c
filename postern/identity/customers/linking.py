"""Link an account at a sign-in provider to the signed-in customer, and unlink it.

1. The app calls POST `…/auth/identities/{key}/link` with the customer's access token, and gets a URL. `key` is the key
   of the sign-in provider, such as GOOGLE.
2. The browser opens the URL, and the customer signs in at the provider.
3. The provider redirects the browser to the callback of this server, which redirects it to the app with a code.
4. The app sends the code and its PKCE code verifier to POST `…/auth/identities`, which links the account.

The callback links nothing. Step 4 requires the session that began step 1 and the code verifier of the app, so an
attacker gains nothing by making a victim open the attacker's URL.

`merging.link_customer` is something else: it gives a customer its external identifier.
"""

from urllib.parse import urlencode

from postern.identity.customers import mailer, provider_store, store
from postern.identity.customers.challenge_payloads import PendingIdentityLink, ProvenAccount
from postern.identity.customers.identities import (
    ExternalIdentity,
    IdentityTaken,
    OtherAccountLinked,
    link_identity,
    provider_name,
    record_linked_identity,
)
from postern.identity.customers.model import CUSTOMER, PROVIDER_LIFE, CustomerRow, NotFresh, Token, Url
from postern.identity.customers.providers import (
    RESERVED_KEYS,
    CodeChallenge,
    CodeVerifier,
    OpaqueParameter,
    ProviderMissing,
)
from postern.identity.customers.requirements import LastSignInMethod, require_another_sign_in_method
from postern.identity.customers.rules import account_link_url, require_redirect
from postern.identity.customers.sessions import active_organization, bearer_of, lock_calling_customer, require_fresh
from postern.identity.customers.sign_in import project_of_call
from postern.identity.customers.tokens import CurrentCustomer, me_of
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, post
from postern.kernel.http.problems import Missing
from postern.kernel.values import Body, Moment, Record, build_view
from postern.messaging.certificates.pages_domains import pages_url
from postern.platform.events import operations as events
from postern.platform.projects.model import Project
from postern.protocols.oidc.authorization import matches_challenge
from postern.security import challenges
from postern.security.challenges import CodeInvalid
from postern.web.languages import text


class IdentityMissing(Missing):
    """This customer has no linked account at this provider."""


class IdentityLinkRequest(Body):
    """Where the browser returns to. `codeChallenge` is the S256 code challenge of a verifier that the app keeps."""

    redirect_url: Url
    code_challenge: CodeChallenge
    state: OpaqueParameter = ""


class IdentityLinkStart(Record):
    """Where to send the customer's browser."""

    url: str
    expires_at: Moment


class IdentityLinkCompletion(Body):
    """The code that the app received, and the code verifier that it kept."""

    code: Token
    code_verifier: CodeVerifier


@post(
    "/projects/{project_id}/auth/identities/{key}/link",
    accepts=CUSTOMER,
    problems=[ProviderMissing, NotFresh],
    example={
        "redirectUrl": "https://app.example.com/back",
        "codeChallenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    },
)
async def begin_identity_link(call: Call, key: str, data: IdentityLinkRequest) -> IdentityLinkStart:
    """Begin to link an account at the sign-in provider with this `key`. Needs a sign-in in the last hour.

    Send the browser to `url`. It returns to `redirectUrl` with a `code`, to be sent to POST …/auth/identities, or with
    `error`.
    """
    if data.redirect_url != account_link_url(call):
        require_redirect(await project_of_call(call), data.redirect_url)
    row = await provider_store.provider(call.db, project_id=call.project_id, key=key)
    if row is None or not row.enabled:
        raise ProviderMissing
    customer_id, session_id = bearer_of(call)
    async with call.db.transaction() as tx:
        await lock_calling_customer(tx, call)
        await require_fresh(tx, call)
        token, expires_at = await challenges.issue_token(
            tx, call, PendingIdentityLink(session_id=session_id, key=key), PROVIDER_LIFE, subject_id=customer_id
        )
    query = {"redirectUrl": data.redirect_url, "codeChallenge": data.code_challenge, "state": data.state, "link": token}
    start = f"{pages_url(call.world, call.project_id)}/auth/providers/{key}/start"
    return IdentityLinkStart(url=f"{start}?{urlencode(query)}", expires_at=expires_at)


@post(
    "/projects/{project_id}/auth/identities",
    accepts=CUSTOMER,
    problems=[CodeInvalid, IdentityTaken, OtherAccountLinked, NotFresh],
    example={"code": "0199…", "codeVerifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"},
)
async def finish_identity_link(call: Call, data: IdentityLinkCompletion) -> CurrentCustomer:
    """Link the account that the customer has signed in to at the provider. The customer is notified by mail.

    The code works once, and only for the session that began to link the account. That session must have signed in
    within the last hour; the sign-in at the provider does not count.
    """
    project = await project_of_call(call)
    customer_id, session_id = bearer_of(call)
    challenge = await challenges.answer_token(call, ProvenAccount, data.code)  # `consume` uses it up below.
    proven_account = challenge.payload
    same_session = (challenge.subject_id, proven_account.session_id) == (customer_id, session_id)
    if not same_session or not matches_challenge(data.code_verifier, proven_account.code_challenge):
        raise CodeInvalid
    # Without the profile: linking proves who owns the account, and must not change the customer's address or name.
    identity = build_view(
        ExternalIdentity,
        proven_account.account,
        email=None,
        email_verified=False,
        name=None,
        account_name=proven_account.account_name,
    )
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        await challenges.consume(tx, challenge)
        await require_fresh(tx, call)
        customer = await _link(tx, call, project, customer, identity)
    return me_of(customer, active_organization(call))


@delete(
    "/projects/{project_id}/auth/identities/{key}",
    accepts=CUSTOMER,
    problems=[IdentityMissing, LastSignInMethod, NotFresh],
)
async def unlink_identity(call: Call, key: str) -> None:
    """Unlink the account at the provider with this `key`. Needs a sign-in in the last hour, and another sign-in method.

    The customer is notified by mail.
    """
    project = await project_of_call(call)
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        await require_fresh(tx, call)
        # `providers` also has Postern's own sign-in methods and SAML, which cannot be unlinked here.
        if key in RESERVED_KEYS or key not in customer.providers:
            raise IdentityMissing
        await require_another_sign_in_method(tx, call, project, customer, key)
        await store.delete_identities(tx, project_id=call.project_id, customer_id=customer.id, provider=key)
        await store.refresh_providers(tx, project_id=call.project_id, id=customer.id)
        await events.record(tx, call, "customer.unlinked", customer.id, provider=key)
        name = await provider_name(tx, call.project_id, key)
        change = text("{sign_in} was removed", sign_in=name)
        await mailer.notify(tx, call, project, customer, "IDENTITY_CHANGED", change=change)


async def _link(
    tx: Transaction, call: Call, project: Project, customer: CustomerRow, identity: ExternalIdentity
) -> CustomerRow:
    holder = await store.lock_by_identity(tx, identity, project_id=call.project_id)
    if holder is not None and holder.id != customer.id:
        raise IdentityTaken
    if holder is not None:
        return customer
    customer = await link_identity(tx, call, customer, identity)
    await record_linked_identity(tx, call, project, customer, identity)
    return customer
