"""The end of the sessions that a logout at the identity provider names, for both protocols."""

from datetime import timedelta
from typing import Final, Literal
from uuid import UUID

from msgspec.structs import replace

from postern.identity.customers.providers import revoke_grants
from postern.identity.customers.sessions import end_session
from postern.identity.sso import store
from postern.identity.sso.model import RequestRow
from postern.kernel.http.call import Call
from postern.kernel.values import new_id
from postern.protocols.saml.response import MAX_ISSUE_AGE, MAX_SKEW
from postern.security.sessions import SessionMissing

LOGOUT_ID_RETENTION: Final = MAX_ISSUE_AGE + 2 * MAX_SKEW + timedelta(minutes=1)
"""How long ids of logout requests are kept to detect replays: longer than a request is valid."""


def logout_row(
    call: Call, connection_id: UUID, kind: Literal["LOGOUT", "PROVIDER_LOGOUT"], message_id: str, life: timedelta
) -> RequestRow:
    """A request for a logout, to the identity provider (LOGOUT) or from it, which expires after `life`."""
    return RequestRow(
        project_id=call.project_id,
        id=new_id(),
        connection_id=connection_id,
        kind=kind,
        message_id=message_id,
        created_at=call.now,
        expires_at=call.now + life,
        due_at=call.now + life,
    )


async def end_sessions(
    call: Call,
    connection_id: UUID,
    message_id: str,
    *,
    name_id: str | None,
    session_indexes: list[str],
    life: timedelta = LOGOUT_ID_RETENTION,
) -> None:
    """End the sessions of a user at the identity provider (`name_id`), or only those that began in one of the sessions
    at the identity provider, if `session_indexes` is not empty. Revokes codes that apps have not exchanged.

    `name_id` may be None if `session_indexes` is not empty (ValueError otherwise). A message that was received within
    `life` before has no effect.
    """
    if name_id is None and not session_indexes:
        raise ValueError("a logout must name a user or a session")
    project_id = call.project_id
    row = logout_row(call, connection_id, "PROVIDER_LOGOUT", message_id, life)
    async with call.db.transaction() as tx:
        if not await store.insert_logout_id(tx, replace(row, answered_at=call.now)):
            return  # A replay must not end sessions that started after the original request.
        sign_ons = await store.sign_ons_of_logout(
            tx, project_id=project_id, connection_id=connection_id, name_id=name_id, session_indexes=session_indexes
        )
        for sign_on in sign_ons:
            try:
                await end_session(tx, call, sign_on.customer_id, sign_on.session_id)
            except SessionMissing:
                continue  # The session has ended already.
        customer_ids = await store.clear_sign_ons(
            tx, project_id=project_id, connection_id=connection_id, name_id=name_id, session_indexes=session_indexes
        )
        for customer_id in sorted({customer_id for customer_id in customer_ids if customer_id is not None}):
            await revoke_grants(tx, call, customer_id)
