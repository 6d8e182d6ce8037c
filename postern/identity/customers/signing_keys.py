"""The keys that sign the tokens of a project.

Each project has an EC key: it signs access tokens, and the ID tokens and logout tokens of clients with ES256. A project
with clients whose ID tokens are signed with RS256 has an RSA key for these as well, in a table of its own, so that an
access token can never be verified with it. A key never changes, so it can be cached. Whether it is retired is read with
the session of each token.
"""

import asyncio
from collections import OrderedDict
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from uuid import UUID

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
    load_der_public_key,
)
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from msgspec.structs import replace

from postern.identity.customers import signing_key_store as store
from postern.identity.customers.signing_key_store import SigningKey
from postern.kernel.database.statements import Queries
from postern.kernel.http.call import Call
from postern.kernel.http.operation import get, post
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import Moment, new_id, to_json
from postern.platform.audit import operations as audit
from postern.platform.projects import operations as projects

if TYPE_CHECKING:
    from postern.world import World

SigningAlgorithm = Literal["ES256", "RS256"]
PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
PublicKey = ec.EllipticCurvePublicKey | rsa.RSAPublicKey
RSA_BITS = 2_048
KEY_CACHE_TIME = timedelta(seconds=60)
"""How long a process signs with a key before it reads the current one from the database again."""
KEY_ACTIVE_AFTER = timedelta(minutes=10)
"""How long a new key is published in the JWKS before it signs, so that cached copies of the JWKS contain it."""
KEY_RETIRED_AFTER = timedelta(hours=1)
"""How long earlier keys stay valid after a new one begins to sign: longer than an access token is valid."""
CACHE_SIZE = 10_000
"""Entries of each cache of a process; the oldest are dropped first."""
JWKS_MAX_AGE = timedelta(minutes=5)

V = TypeVar("V")


class LimitedCache(OrderedDict[Any, V]):
    """A cache of limited size; the oldest values are dropped first."""

    def remember(self, key: Any, value: V) -> V:
        """Add and return a value; drops the oldest one if there are more than `CACHE_SIZE`."""
        self[key] = value
        if len(self) > CACHE_SIZE:
            self.popitem(last=False)
        return value


class PrivateKeys(LimitedCache[tuple[UUID, PrivateKey, Moment]]):
    """The signing key of each project and algorithm: its id, the key, and when it was read from the database."""


class PublicKeys(LimitedCache[PublicKey]):
    """Public keys, by project, id and algorithm."""


@get(
    "/projects/{project_id}/.well-known/jwks.json",
    public=True,
    ignore_unknown_query=True,
    response_type=dict[str, Any],
    response_example={
        "keys": [
            {
                "kty": "EC",
                "crv": "P-256",
                "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
                "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
                "kid": "019c13f9-5a00-7b1c-8e24-5d0c9a1f77e2",
                "alg": "ES256",
                "use": "sig",
            }
        ]
    },
)
async def list_signing_keys(call: Call) -> HttpResponse:
    """The public keys that verify customers' access tokens (ES256), and those for ID tokens with RS256 (RFC 7517).
    Cache them for at most five minutes."""
    await projects.require_project(call.db, call.project_id)
    await signing_key(call.db, call.world, call.project_id, call.now)
    keys = await store.keys(call.db, project_id=call.project_id, now=call.now)
    rsa_keys = await store.rsa_keys(call.db, project_id=call.project_id, now=call.now)
    document = {"keys": [*map(_ec_jwk, keys), *map(_rsa_jwk, rsa_keys)]}
    return HttpResponse(
        to_json(document), headers={"Cache-Control": f"public, max-age={int(JWKS_MAX_AGE.total_seconds())}"}
    )


@post("/projects/{project_id}/auth/signing-keys/rotate", needs="projects:write")
async def rotate_signing_keys(call: Call) -> None:
    """Create a new key for customers' access tokens, and for ID tokens with RS256 if the project has such a key.

    New keys are published at once and sign after ten minutes; earlier ones are removed from the JWKS an hour after
    that.
    """
    active_at = Moment.of(call.now + KEY_ACTIVE_AFTER)
    retired_at = Moment.of(active_at + KEY_RETIRED_AFTER)
    has_rsa = bool(await store.rsa_keys(call.db, project_id=call.project_id, now=call.now))
    key = _new_key(call.world, call.project_id, call.now, active_at)
    rsa_key = await _new_rsa_key(call.world, call.project_id, call.now, active_at) if has_rsa else None
    async with call.db.transaction() as tx:
        # Rotations at the same time must not retire the keys of each other.
        await tx.lock_quota("signing-keys", call.project_id)
        # Of keys that become active at the same time, the one with the greatest id signs. That must be the one of the
        # last rotation, which retires the others.
        key = replace(key, id=new_id())
        await store.insert_key(tx, key)
        await store.retire_keys(tx, project_id=call.project_id, except_id=key.id, retired_at=retired_at)
        if rsa_key is not None:
            rsa_key = replace(rsa_key, id=new_id())
            await store.insert_rsa_key(tx, rsa_key)
            await store.retire_rsa_keys(tx, project_id=call.project_id, except_id=rsa_key.id, retired_at=retired_at)
        await audit.record(tx, call, "signing_key.rotated", "SigningKey", key.id)


async def signing_key(db: Queries, world: "World", project_id: UUID, now: Moment) -> tuple[UUID, PrivateKey]:
    """The id of the key that signs a project's access tokens now with ES256, and the key. Inserts one if the project
    has none. Cached for `KEY_CACHE_TIME`."""
    cached = _cached_key(db, project_id, "ES256", now)
    if cached is not None:
        return cached
    keys = await store.keys(db, project_id=project_id, now=now)
    active = [key for key in keys if key.active_at <= now]
    key = active[0] if active else _new_key(world, project_id, now, now)
    if not active:
        await store.insert_key(db, key)
    private = load_der_private_key(world.secrets.open(key.private_key, f"signing-key:{project_id}"), None)
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    if active:  # Not a new key: the transaction that inserts it may be rolled back.
        db.cache(PrivateKeys).remember((project_id, "ES256"), (key.id, private, now))
    return key.id, private


async def rsa_signing_key(world: "World", project_id: UUID, now: Moment) -> tuple[UUID, PrivateKey]:
    """The id of the key that signs ID tokens of a project now with RS256, and the key. Inserts one if the project has
    none, in a transaction of its own. Cached for `KEY_CACHE_TIME`."""
    cached = _cached_key(world.db, project_id, "RS256", now)
    if cached is not None:
        return cached
    keys = await store.rsa_keys(world.db, project_id=project_id, now=now)
    active = [key for key in keys if key.active_at <= now]
    key = active[0] if active else await _first_rsa_key(world, project_id, now)
    der = world.secrets.open(key.private_key, f"rsa-signing-key:{project_id}")
    # The check of the primes takes 26 ms. The key is one that `_new_rsa_key` has made, because it could be decrypted.
    private = load_der_private_key(der, None, unsafe_skip_rsa_key_validation=True)
    assert isinstance(private, rsa.RSAPrivateKey)
    world.db.cache(PrivateKeys).remember((project_id, "RS256"), (key.id, private, now))
    return key.id, private


async def sign_for_client(
    world: "World", project_id: UUID, algorithm: SigningAlgorithm, claims: dict[str, Any], typ: str, now: Moment
) -> str:
    """An ID token or logout token: a JWT that is signed with the algorithm of its client."""
    if algorithm == "RS256":
        key_id, private = await rsa_signing_key(world, project_id, now)
    else:
        key_id, private = await signing_key(world.db, world, project_id, now)
    return jwt.encode(claims, private, algorithm=algorithm, headers={"kid": str(key_id), "typ": typ})


async def publish_key(world: "World", project_id: UUID, algorithm: SigningAlgorithm, now: Moment) -> None:
    """Insert the key with which `sign_for_client` signs, if the project has none, so that the JWKS has it before a
    client sees its first token. Call it outside of a transaction."""
    if algorithm == "RS256":
        await rsa_signing_key(world, project_id, now)


async def public_key(
    world: "World", project_id: UUID, key_id: UUID, algorithm: SigningAlgorithm = "ES256"
) -> PublicKey | None:
    """The public key of a project with this id, which verifies tokens of this algorithm only; None if there is none.
    Cached, also after it has retired."""
    public_keys = world.db.cache(PublicKeys)
    cached = public_keys.get((project_id, key_id, algorithm))
    if cached is not None:
        return cached
    read = store.rsa_key if algorithm == "RS256" else store.key
    row = await read(world.db, project_id=project_id, id=key_id)
    if row is None:
        return None
    public = load_der_public_key(row.public_key)
    assert isinstance(public, rsa.RSAPublicKey if algorithm == "RS256" else ec.EllipticCurvePublicKey)
    return public_keys.remember((project_id, key_id, algorithm), public)


async def is_published_key(db: Queries, project_id: UUID, key_id: UUID, now: Moment) -> bool:
    """Whether the JWKS of the project has the key for access tokens, so that it has not retired. Read at every call."""
    return any(key.id == key_id for key in await store.keys(db, project_id=project_id, now=now))


def new_rsa_key() -> rsa.RSAPrivateKey:
    """A new RSA key, which takes a tenth of a second of processor time."""
    return rsa.generate_private_key(public_exponent=65_537, key_size=RSA_BITS)


def _cached_key(
    db: Queries, project_id: UUID, algorithm: SigningAlgorithm, now: Moment
) -> tuple[UUID, PrivateKey] | None:
    cached = db.cache(PrivateKeys).get((project_id, algorithm))
    if cached is None or abs(now - cached[2]) >= KEY_CACHE_TIME:
        return None
    return cached[0], cached[1]


async def _first_rsa_key(world: "World", project_id: UUID, now: Moment) -> SigningKey:
    """Insert the first RSA key of a project; or the one that another request has inserted meanwhile."""
    key = await _new_rsa_key(world, project_id, now, now)
    async with world.db.transaction() as tx:
        await tx.lock_quota("signing-keys", project_id)
        keys = await store.rsa_keys(tx, project_id=project_id, now=now)
        for other in keys:
            if other.active_at <= now:
                return other
        await store.insert_rsa_key(tx, key)
    return key


def _new_key(world: "World", project_id: UUID, now: Moment, active_at: Moment) -> SigningKey:
    return _sealed(
        world, project_id, ec.generate_private_key(ec.SECP256R1()), "signing-key", now=now, active_at=active_at
    )


async def _new_rsa_key(world: "World", project_id: UUID, now: Moment, active_at: Moment) -> SigningKey:
    private = await asyncio.to_thread(new_rsa_key)
    return _sealed(world, project_id, private, "rsa-signing-key", now=now, active_at=active_at)


def _sealed(
    world: "World", project_id: UUID, private: PrivateKey, purpose: str, *, now: Moment, active_at: Moment
) -> SigningKey:
    """The row of a new key, whose private part is encrypted for this project and `purpose`."""
    der = private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    return SigningKey(
        project_id=project_id,
        id=new_id(),
        public_key=private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        private_key=world.secrets.seal(der, f"{purpose}:{project_id}"),
        active_at=active_at,
        retired_at=None,
        created_at=now,
    )


def _ec_jwk(key: SigningKey) -> dict[str, Any]:
    public = load_der_public_key(key.public_key)
    assert isinstance(public, ec.EllipticCurvePublicKey)
    jwk: dict[str, Any] = ECAlgorithm.to_jwk(public, as_dict=True)
    return {**jwk, "kid": str(key.id), "alg": "ES256", "use": "sig"}


def _rsa_jwk(key: SigningKey) -> dict[str, Any]:
    public = load_der_public_key(key.public_key)
    assert isinstance(public, rsa.RSAPublicKey)
    jwk: dict[str, Any] = RSAAlgorithm.to_jwk(public, as_dict=True)
    jwk.pop("key_ops")  # RFC 7517 §4.3: not together with `use`.
    return {**jwk, "kid": str(key.id), "alg": "RS256", "use": "sig"}
