"""HTTP operations on the developer's own sessions.

`unverified=True`: developers whose address is not verified may call the operation, too. The audit log calls developers
members.
"""

from uuid import UUID

from postern.kernel.http.call import Call
from postern.kernel.http.operation import DEVELOPER_ONLY, delete, get
from postern.kernel.values import NO_ID
from postern.platform.accounts.model import SESSIONS_LIMIT
from postern.platform.accounts.operations import end_sessions
from postern.platform.audit import operations as audit
from postern.security import session_store
from postern.security.sessions import OwnSession, SessionMissing, own_session


@get("/auth/sessions", accepts=DEVELOPER_ONLY, unverified=True)
async def list_developer_sessions(call: Call) -> list[OwnSession]:
    """List your sessions, newest first. `current` marks the session of this request.

    `methods` tells how you signed in: `pwd` (password), in addition `totp` or `recovery` (second factor), or `link` (a
    sign-in link that the operator of this server created).
    """
    assert call.caller.actor_id
    rows = await session_store.live_sessions(
        call.db, project_id=NO_ID, subject_ids=[call.caller.actor_id], now=call.now, limit=SESSIONS_LIMIT
    )
    return [own_session(row, call.caller.credential_id) for row in rows]


@delete("/auth/sessions/{session_id}", accepts=DEVELOPER_ONLY, unverified=True, problems=[SessionMissing])
async def revoke_developer_session(call: Call, session_id: UUID) -> None:
    """End one of your sessions. Its tokens are refused from the next request on."""
    developer_id = call.caller.actor_id
    assert developer_id
    async with call.db.transaction() as tx:
        if not await session_store.revoke_session(
            tx, project_id=NO_ID, subject_id=developer_id, id=session_id, now=call.now
        ):
            raise SessionMissing
        details = {"session_id": str(session_id)}
        await audit.record(tx, call, "member.session_revoked", "Member", developer_id, account_wide=True, **details)


@delete("/auth/sessions", accepts=DEVELOPER_ONLY, unverified=True)
async def revoke_other_developer_sessions(call: Call) -> None:
    """End all your sessions except this one."""
    developer_id = call.caller.actor_id
    assert developer_id
    async with call.db.transaction() as tx:
        ended = len(await end_sessions(tx, call, developer_id, except_session_id=call.caller.credential_id))
        details = {"sessions": ended}
        await audit.record(tx, call, "member.sessions_revoked", "Member", developer_id, account_wide=True, **details)
