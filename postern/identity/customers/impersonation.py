"""Impersonation: a member of the project's team acts as a customer for a limited time, to help.

The session is one of the customer, marked with who acts and why. Its tokens have the claim `act` (RFC 8693 §4.1), and
only operations that are declared `restricted` accept them: nothing that concerns credentials, security or deletion.
"""

from datetime import timedelta
from typing import Annotated
from uuid import UUID

import msgspec

from postern.identity.customers import mailer, rules
from postern.identity.customers.model import CustomerBanned, CustomerMissing
from postern.identity.customers.operations import lock_customer
from postern.identity.customers.sign_in import project_of_call
from postern.identity.customers.tokens import (
    HOOK_PROBLEMS,
    SESSIONS,
    CustomerSignInResult,
    add_hook_claims,
    issue_first_tokens,
)
from postern.kernel.http.call import Call
from postern.kernel.http.operation import post
from postern.kernel.http.problems import Invalid
from postern.kernel.values import NON_BLANK_LINE, Body, Moment
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.security.session_store import SessionImpersonation
from postern.security.sessions import begin_session

MINUTES_LIMIT = 60
METHODS = ["impersonation"]
"""The authentication methods of an impersonation: the customer has used none."""


class NewImpersonation(Body):
    """Why you act as the customer, and for how long."""

    reason: Annotated[
        str, msgspec.Meta(min_length=3, max_length=500, pattern=NON_BLANK_LINE, description="One line of text.")
    ]
    """The customer can read it in the list of sessions."""
    minutes: Annotated[int, msgspec.Meta(ge=1, le=MINUTES_LIMIT)] = 30
    actor: (
        Annotated[
            str, msgspec.Meta(min_length=1, max_length=254, pattern=NON_BLANK_LINE, description="One line of text.")
        ]
        | None
    ) = None
    """The person who acts, such as an e-mail address. Only for requests with an API key; the actor of a developer's
    request is the developer. Default: the name of the key."""


@post(
    "/projects/{project_id}/customers/{id}/impersonate",
    needs="customers:impersonate",
    problems=[CustomerMissing, CustomerBanned, *HOOK_PROBLEMS],
    example={"reason": "Ticket 4711: the invoice page stays empty", "minutes": 15},
)
async def impersonate_customer(call: Call, id: UUID, data: NewImpersonation) -> CustomerSignInResult:
    """Begin a session as a customer, for at most an hour.

    The tokens have the claim `act` with who acts, so that your app can show a banner and refuse what it likes. In
    Postern, such a session can read the account and change the name; whatever concerns passwords, second factors,
    passkeys, addresses, linked accounts, sessions, memberships or deletion is 403 `impersonation_not_allowed`. The
    customer sees the session, with the reason, in the list of sessions, can end it, and gets the notice `IMPERSONATED`
    by mail unless the project has switched it off. Start and end are in the audit log and in the events.
    """
    call.require_live("impersonate customers")  # The notice of a TEST request is not sent to the customer.
    if data.actor is not None and call.caller.kind == "developer":
        raise Invalid.at("/actor", "The actor is you. Only requests with an API key can name one.")
    actor = data.actor or call.caller.actor_label
    project = await project_of_call(call)
    until = Moment.of(call.now + timedelta(minutes=data.minutes))
    async with call.db.transaction() as tx:
        customer = await lock_customer(tx, call, id)
        if rules.is_banned(customer, call.now):
            raise CustomerBanned("A banned customer cannot sign in, and so cannot be impersonated.")
        session = await begin_session(
            tx,
            call,
            call.project_id,
            customer.id,
            SESSIONS,
            METHODS,
            until=until,
            impersonation=SessionImpersonation(
                actor_type=call.caller.actor_type, actor_id=call.caller.actor_id, actor_label=actor, reason=data.reason
            ),
        )
        await events.record(
            tx,
            call,
            "customer.impersonated",
            customer.id,
            sessionId=str(session.id),
            actor=actor,
            reason=data.reason,
            expiresAt=until,
        )
        await mailer.notify(tx, call, project, customer, "IMPERSONATED", reason=data.reason)
        result = await issue_first_tokens(tx, call, session, customer, choose_again=False)
        await audit.record(
            tx,
            call,
            "customer.impersonated",
            "Customer",
            customer.id,
            session_id=str(session.id),
            actor=actor,
            reason=data.reason,
            minutes=data.minutes,
        )
    return await add_hook_claims(call, project.settings.sign_in.hooks, result)
