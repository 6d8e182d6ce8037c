"""Notices to clients that a session of a customer has ended (OpenID Connect Back-Channel Logout 1.0).

A reaction to the events of ended sessions adds a row for each client that used the session, in the same transaction. A
worker posts a signed logout token to the client, and tries again for half a day.
"""

from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from postern.identity.customers.signing_keys import sign_for_client
from postern.identity.customers.tokens import issuer_of
from postern.identity.oauth import logout_store, store
from postern.identity.oauth.logout_store import DueLogout
from postern.identity.oauth.model import ClientRow
from postern.kernel.database.statements import Transaction
from postern.kernel.http.operation import FORM
from postern.kernel.outbound.client import OutboundResponse
from postern.kernel.values import Moment, as_id, new_id
from postern.platform.events.model import EventRow

if TYPE_CHECKING:
    from postern.world import World

LOGOUT_TOKEN_TYP = "logout+jwt"  # noqa: S105 - a media type (§2.4)
LOGOUT_TOKEN_LIFE = timedelta(minutes=2)
"""§2.4 recommends at most two minutes."""
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
RETRY_AFTER = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(hours=12))
"""Pauses after the first and further failures; after one more failure the notice is given up."""
RECEIVED = frozenset((200, 204))
RESPONSE_BYTES = 1_024


async def on_ended_sessions(tx: Transaction, ended: list[EventRow]) -> None:
    """Add notices for ended sessions, in the transaction that records their end. `customer.deleted` ends all sessions
    of the customer."""
    for event in ended:
        if event.subject_id is None:
            continue
        session_id = None if event.type == "customer.deleted" else as_id(event.data.get("sessionId"))
        if await logout_store.insert_logouts(
            tx,
            project_id=event.project_id,
            customer_id=event.subject_id,
            session_id=session_id,
            now=event.occurred_at,
        ):
            tx.mark_due("oauth_logouts")


async def notify_client(world: "World", job: DueLogout) -> None:
    """Post the logout token to the client, and delete the notice or schedule the next attempt."""
    client = await store.client(world.db, project_id=job.project_id, id=job.client_id)
    if client is None or client.backchannel_logout_uri is None:
        await logout_store.delete_logout(world.db, project_id=job.project_id, id=job.id, attempt=job.attempt)
        return
    body = urlencode({"logout_token": await _logout_token(world, job, client)}).encode()
    headers = {"Content-Type": FORM}
    outcome = await world.outbound.post(client.backchannel_logout_uri, body, headers=headers, keep=RESPONSE_BYTES)
    is_received = isinstance(outcome, OutboundResponse) and outcome.status in RECEIVED
    if is_received or job.tried >= len(RETRY_AFTER):
        await logout_store.delete_logout(world.db, project_id=job.project_id, id=job.id, attempt=job.attempt)
        return
    due_at = Moment.of(world.clock() + RETRY_AFTER[job.tried])
    await logout_store.retry_logout(world.db, project_id=job.project_id, id=job.id, attempt=job.attempt, due_at=due_at)


async def _logout_token(world: "World", job: DueLogout, client: ClientRow) -> str:
    """The logout token (§2.4), signed as the ID tokens of the client are. It has no `nonce`, so that it cannot be taken
    for an ID token."""
    now = world.clock()
    claims = {
        "iss": issuer_of(world, job.project_id),
        "aud": str(job.client_id),
        "sub": str(job.customer_id),
        "sid": str(job.session_id),
        "iat": int(now.timestamp()),
        "exp": int((now + LOGOUT_TOKEN_LIFE).timestamp()),
        "jti": str(new_id()),
        "events": {LOGOUT_EVENT: {}},
    }
    return await sign_for_client(world, job.project_id, client.id_token_signing_alg, claims, LOGOUT_TOKEN_TYP, now)
