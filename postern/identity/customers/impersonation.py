"""Impersonation: a member of the project's team acts as a customer for a limited time, to help.

The session is one of the customer, marked with who acts and why. Its tokens have the claim `act` (RFC 8693 §4.1), and
only operations that are declared `restricted` accept them: nothing that concerns credentials, security or deletion.
"""

from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

import msgspec

from postern.identity.customers import mailer, rules
from postern.identity.customers.model import CustomerBanned, CustomerMissing, CustomerRow
from postern.identity.customers.operations import lock_customer
from postern.identity.customers.sign_in import project_of_call
from postern.identity.customers.tokens import (
    HOOK_PROBLEMS,
    SESSIONS,
    CustomerSignInResult,
    add_hook_claims,
    issue_first_tokens,
)
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import post
from postern.kernel.http.problems import Invalid
from postern.kernel.values import NON_BLANK_LINE, Body, Moment, as_id
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.platform.events.model import EventRow
from postern.platform.projects.model import Project
from postern.security import session_store
from postern.security.session_store import BegunSession, SessionImpersonation, SessionRow
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
    Postern, such a session can read the account and change name and language; whatever concerns passwords, second
    factors, passkeys, addresses, linked accounts, sessions, memberships or deletion is 403 `impersonation_not_allowed`.
    The customer sees the session, with the reason, in the list of sessions, can end it, and gets the notice
    `IMPERSONATED` by mail unless the project has switched it off. Start and end are in the audit log and in the events.
    """
    actor = actor_of(call, data)
    project = await project_of_call(call)
    async with call.db.transaction() as tx:
        customer = await lock_customer(tx, call, id)
        session = await begin_impersonation(tx, call, project, customer, actor, data.reason, data.minutes)
        result = await issue_first_tokens(tx, call, session, customer, choose_again=False)
        await audit_impersonation(tx, call, session, actor, data.reason, data.minutes)
    return await add_hook_claims(call, project.settings.sign_in.hooks, result)


def actor_of(call: Call, data: NewImpersonation) -> str | None:
    """The name of the person who acts. Raises Invalid if a developer names another one, and LiveKeyRequired."""
    call.require_live("impersonate customers")  # The notice of a TEST request is not sent to the customer.
    if data.actor is not None and call.caller.kind == "developer":
        raise Invalid.at("/actor", "The actor is you. Only requests with an API key can name one.")
    return data.actor or call.caller.actor_label


def require_not_banned(call: Call, customer: CustomerRow) -> None:
    """Raise CustomerBanned if the customer is banned."""
    if rules.is_banned(customer, call.now):
        raise CustomerBanned("A banned customer cannot sign in, and so cannot be impersonated.")


async def begin_impersonation(
    tx: Transaction, call: Call, project: Project, customer: CustomerRow, actor: str | None, reason: str, minutes: int
) -> BegunSession:
    """Begin a session in which the caller acts as a customer, whose row is locked; record the event, and tell the
    customer. Raises CustomerBanned. Call `audit_impersonation` last."""
    require_not_banned(call, customer)
    caller = call.caller
    session = await begin_session(
        tx,
        call,
        call.project_id,
        customer.id,
        SESSIONS,
        METHODS,
        until=Moment.of(call.now + timedelta(minutes=minutes)),
        impersonation=SessionImpersonation(
            actor_type=caller.actor_type, actor_id=caller.actor_id, actor_label=actor, reason=reason
        ),
    )
    await events.record(
        tx,
        call,
        "customer.impersonated",
        customer.id,
        sessionId=str(session.id),
        actor=actor,
        reason=reason,
        expiresAt=session.expires_at,
    )
    await mailer.notify(tx, call, project, customer, "IMPERSONATED", reason=reason)
    return session


async def audit_impersonation(
    tx: Transaction, call: Call, session: BegunSession, actor: str | None, reason: str, minutes: int
) -> None:
    """Record in the audit log that an impersonation has begun."""
    await audit.record(
        tx,
        call,
        "customer.impersonated",
        "Customer",
        session.subject_id,
        session_id=str(session.id),
        actor=actor,
        reason=reason,
        minutes=minutes,
    )


async def on_ended_sessions(tx: Transaction, ended: list[EventRow]) -> None:
    """Record `customer.impersonation_ended` for each session that was ended, if somebody acted as the customer in it.
    A reaction to the events of ended sessions."""
    for event in ended:
        if event.subject_id is None:
            continue
        session = await session_store.session(tx, project_id=event.project_id, id=as_id(event.data["sessionId"]))
        if session is not None and session.impersonation is not None:
            cause = "SIGNED_OUT" if event.type == "customer.signed_out" else "REVOKED"
            await events.record_all(tx, [_ended_event(session, event.occurred_at, cause, event)])


async def on_expired_sessions(tx: Transaction, expired: list[SessionRow]) -> None:
    """Record `customer.impersonation_ended` for sessions whose time has passed, in which somebody acted as a
    customer. The actor of the event is the system."""
    await events.record_all(tx, [_ended_event(session, session.expires_at, "EXPIRED", None) for session in expired])


def _ended_event(session: SessionRow, ended_at: Moment, cause: str, source: EventRow | None) -> EventRow:
    """The event of the end of a session; `source` is the event whose actor has ended it, or None."""
    assert session.impersonation is not None
    ended_by: dict[str, Any] = {}
    if source is not None:
        ended_by = {
            "actor_type": source.actor_type,
            "actor_id": source.actor_id,
            "actor_label": source.actor_label,
            "test": source.test,
        }
    return events.make_event(
        session.project_id,
        "customer.impersonation_ended",
        session.subject_id,
        ended_at,
        **ended_by,
        sessionId=str(session.id),
        actor=session.impersonation.actor_label,
        reason=session.impersonation.reason,
        cause=cause,
    )
