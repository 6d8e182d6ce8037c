"""Service provider keys of a connection: generation, encryption and rotation."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from postern.identity.sso import store
from postern.identity.sso.model import KeyPlace, KeyRow
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.values import Moment, new_id
from postern.protocols.saml.certificates import KeyPair, new_sp_certificate

if TYPE_CHECKING:
    from postern.world import World


async def new_key_pair(connection_id: UUID, now: Moment) -> KeyPair:
    """Generate a service provider key and its certificate, in a thread because generation is slow."""
    return await asyncio.to_thread(new_sp_certificate, f"Postern {connection_id}", now=now)


async def insert_key(tx: Transaction, call: Call, connection_id: UUID, place: KeyPlace, pair: KeyPair) -> None:
    """Encrypt a key and store it as the CURRENT, NEXT or PREVIOUS key of a connection.

    The ids of the project and the connection are the associated data of the encryption (AEAD): a key that is copied to
    another connection cannot be decrypted.
    """
    context = _context(call.project_id, connection_id)
    key = KeyRow(
        project_id=call.project_id,
        id=new_id(),
        connection_id=connection_id,
        place=place,
        certificate=pair.certificate,
        private_key=call.world.secrets.seal(pair.private_key.encode(), context),
        not_after=Moment.of(pair.not_after),
        created_at=call.now,
    )
    await store.insert_key(tx, key)


async def rotate_keys(tx: Transaction, call: Call, connection_id: UUID, pair: KeyPair) -> None:
    """Move the NEXT key to CURRENT and CURRENT to PREVIOUS, store `pair` as NEXT, and delete the former PREVIOUS
    key."""
    await store.delete_previous_key(tx, project_id=call.project_id, connection_id=connection_id)
    await store.shift_keys(tx, project_id=call.project_id, connection_id=connection_id)
    await insert_key(tx, call, connection_id, "NEXT", pair)


def private_key_of(world: "World", project_id: UUID, row: KeyRow) -> str:
    """The decrypted private key of a row, as PEM."""
    return world.secrets.open(row.private_key, _context(project_id, row.connection_id)).decode()


def key_of_place(sp_keys: Sequence[KeyRow], place: Literal["CURRENT", "NEXT"]) -> KeyRow:
    """The CURRENT or the NEXT key. A connection always has both."""
    return next(key for key in sp_keys if key.place == place)


def _context(project_id: UUID, connection_id: UUID) -> str:
    return f"sso-key:{project_id}:{connection_id}"
