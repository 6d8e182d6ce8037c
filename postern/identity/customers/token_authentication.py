"""Authentication of requests with access tokens of customers.

The session is read at every request, so that a revoked session or a ban takes effect at the next request.
"""

from operator import attrgetter
from typing import TYPE_CHECKING
from uuid import UUID

import jwt
import msgspec

from postern.identity.customers import token_store
from postern.identity.customers.model import CustomerRow
from postern.identity.customers.signing_keys import LimitedCache, public_key
from postern.identity.customers.token_store import TokenBearer
from postern.identity.customers.tokens import JWT_TYP, issuer_of
from postern.kernel.http.call import Caller, CredentialInvalid, Origin, ProjectMissing
from postern.kernel.http.problems import Forbidden
from postern.kernel.values import as_id
from postern.security.session_store import SessionImpersonation

if TYPE_CHECKING:
    from postern.world import World


class CheckedToken(msgspec.Struct, frozen=True):
    """The claims of an access token whose signature was verified."""

    issuer: str
    project_id: UUID
    session_id: UUID
    key_id: UUID
    expires: int
    """Unix time in seconds."""
    organization_id: UUID | None
    """The `id` in the claim `org`."""


class AuthenticatedCustomer(msgspec.Struct, frozen=True):
    """What is known about a customer who has sent an access token: `loaded` of their Caller."""

    customer: CustomerRow
    organization_id: UUID | None
    """The active organization in the token."""
    impersonation: SessionImpersonation | None
    """Who acts as the customer; None if it is the customer."""


class ImpersonationNotAllowed(Forbidden):
    """This is not possible while you act as the customer."""


class CheckedTokens(LimitedCache[CheckedToken]):
    """Access tokens whose signature was verified; their claims do not change."""


async def read_customer_token(world: "World", token: str, project_id: UUID | None, origin: Origin) -> Caller | None:
    """Authenticate a customer's access token. Returns None if `token` is not a JWT.

    Session and ban are read from the database at every request. Raises CredentialInvalid if the token is not valid, its
    session has ended or the customer is banned, and ProjectMissing if it belongs to another project than `project_id`.
    """
    if not token.startswith("ey") or token.count(".") != 2:
        return None
    checked = await _verified_token(world, token)
    if checked is None:
        raise CredentialInvalid
    if project_id is not None and project_id != checked.project_id:
        raise ProjectMissing
    bearer: TokenBearer | None = await world.batcher(token_bearers_of, max_concurrent=2, by=attrgetter("project_id"))(
        checked
    )
    if bearer is None:
        raise CredentialInvalid
    return Caller(
        kind="customer",
        actor_type="CUSTOMER",
        actor_id=bearer.id,
        project_id=checked.project_id,
        environment="TEST" if bearer.session_test else "LIVE",
        credential_id=checked.session_id,
        acts_on_itself=True,
        restricted_problem=None if bearer.session_impersonation is None else ImpersonationNotAllowed,
        loaded=AuthenticatedCustomer(bearer, checked.organization_id, bearer.session_impersonation),
    )


async def token_bearers_of(world: "World", tokens: list[CheckedToken]) -> list[TokenBearer | None]:
    """The customers of the tokens of concurrent requests, in the order of `tokens`, read in one statement.

    None for a token whose session or signing key has ended, or whose customer is banned. Nothing is cached, so that
    revocations take effect at the next request.
    """
    rows = await token_store.token_bearers(
        world.db,
        project_ids=[token.project_id for token in tokens],
        session_ids=[token.session_id for token in tokens],
        key_ids=[token.key_id for token in tokens],
        now=world.clock(),
    )
    bearers = {(row.project_id, row.session_id, row.key_id): row for row in rows}
    return [bearers.get((token.project_id, token.session_id, token.key_id)) for token in tokens]


async def _verified_token(world: "World", token: str) -> CheckedToken | None:
    """The claims of a token, or None unless its signature, issuer, audience and times are valid."""
    tokens = world.db.cache(CheckedTokens)
    checked = tokens.get(token)
    if checked is None:
        checked = await _verify_signature(world, token)
        if checked is None:
            return None
        tokens.remember(token, checked)
    if checked.expires <= world.clock().timestamp() or checked.issuer != issuer_of(world, checked.project_id):
        return None
    return checked


async def _verify_signature(world: "World", token: str) -> CheckedToken | None:
    """The claims of a token, or None unless a key of its project signed it. Does not check `exp` and `iat`."""
    try:
        header = jwt.get_unverified_header(token)
        if header.get("typ") != JWT_TYP:
            return None
        key_id = as_id(header.get("kid"))
        # The audience of a session's token is the project's id; that of an OAuth client's token is never an id.
        unverified = jwt.decode(token, options={"verify_signature": False})
        project_id = as_id(unverified.get("aud"))
        public = await public_key(world, project_id, key_id)
        if public is None:
            return None
        claims = jwt.decode(
            token,
            public,
            algorithms=["ES256"],
            audience=str(project_id),
            issuer=issuer_of(world, project_id),
            # `_verified_token` checks `exp` with the world's clock.
            options={"require": ["exp", "iat", "sub", "sid"], "verify_exp": False, "verify_iat": False},
        )
    except (jwt.PyJWTError, ValueError):
        return None
    if not isinstance(claims["exp"], int):
        return None
    organization = claims.get("org")
    organization_id = None if organization is None else as_id(organization["id"])
    return CheckedToken(claims["iss"], project_id, as_id(claims["sid"]), key_id, claims["exp"], organization_id)
