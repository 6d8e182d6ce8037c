"""Access tokens that are bound to a key of the client (DPoP, RFC 9449): proofs of the key in requests, and the nonces
that make each proof recent.

A proof must contain a nonce of this server (§8). So proofs cannot be made in advance, and the clock of the client does
not matter. A client without one gets the error `use_dpop_nonce` with the nonce, and tries again.
"""

import hashlib
from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from postern.identity.oauth import proof_store
from postern.identity.oauth.errors import OAuthError
from postern.kernel.http.call import Call
from postern.kernel.http.operation import RawRequest
from postern.kernel.values import Moment
from postern.protocols.oidc.dpop import ALGORITHMS, Proof, ProofRefused, read_proof

HEADER = "DPoP"
NONCE_HEADER = "DPoP-Nonce"
NONCE_PURPOSE = "oauth-dpop-nonce"
NONCE_LIFE = timedelta(minutes=5)
"""How long a nonce is accepted. A client gets a new one with each response."""
NONCE_STEP_SECONDS = 30
"""Responses within this time have the same nonce."""


def nonce_headers(call: Call) -> dict[str, str]:
    """The header with a fresh nonce for the next proof (RFC 9449 §8.2)."""
    return {NONCE_HEADER: _nonce(call, int(call.now.timestamp()) // NONCE_STEP_SECONDS)}


def has_proof(request: RawRequest) -> bool:
    """Whether a request has a proof, valid or not."""
    return HEADER in request.headers


async def proven_key(
    call: Call, request: RawRequest, algorithms: Collection[str], *, access_token: str | None = None
) -> str | None:
    """The thumbprint of the key whose possession a request proves; None if it has no proof. Uses the proof up.

    `algorithms` are those that the client may use; `access_token` is that of a request to a resource. Raises
    OAuthError: `invalid_dpop_proof` or `use_dpop_nonce`.
    """
    sent = request.headers.getall(HEADER, [])
    if not sent:
        return None
    try:
        if len(sent) > 1:
            raise ProofRefused("there are several")
        url = f"{call.world.settings.public_url}{request.url.path}"
        dpop_proof = read_proof(
            sent[0], method=request.method, url=url, algorithms=algorithms, access_token=access_token
        )
    except ProofRefused as refused:
        raise invalid_proof(f"The DPoP proof is refused: {refused}.") from None
    if not _is_recent_nonce(call, dpop_proof.nonce):
        raise OAuthError("use_dpop_nonce", "The DPoP proof must contain the nonce of the header DPoP-Nonce.")
    await _use_up(call, dpop_proof)
    return dpop_proof.thumbprint


def invalid_proof(description: str) -> OAuthError:
    """The error of RFC 9449 §5 and §7.1."""
    return OAuthError("invalid_dpop_proof", description)


def dpop_challenge(error: OAuthError | None = None) -> str:
    """The challenge of a resource that accepts tokens with proofs (RFC 9449 §7.1)."""
    algorithms = " ".join(ALGORITHMS)
    if error is None:
        return f'{HEADER} algs="{algorithms}"'
    return f'{HEADER} error="{error.error}", error_description="{error.description}", algs="{algorithms}"'


def used_id(*parts: str) -> UUID:
    """The id of the row of a used JWT, from what makes it unique."""
    return UUID(bytes=hashlib.sha256("|".join(parts).encode()).digest()[:16])


async def _use_up(call: Call, dpop_proof: Proof) -> None:
    """Raises OAuthError if the proof was used before. Its nonce expires before the row does."""
    row_id = used_id("dpop", dpop_proof.thumbprint, dpop_proof.id)
    expires_at = Moment.of(call.now + NONCE_LIFE + timedelta(seconds=2 * NONCE_STEP_SECONDS))
    if not await proof_store.use_jwt(call.db, project_id=call.project_id, id=row_id, expires_at=expires_at):
        raise invalid_proof("The DPoP proof was used before.")


def _nonce(call: Call, step: int) -> str:
    return f"{step:x}.{call.world.secrets.sign(NONCE_PURPOSE, call.project_id.bytes + step.to_bytes(8))}"


def _is_recent_nonce(call: Call, nonce: str | None) -> bool:
    """Whether a nonce is one of this server, and not too old. Another process may have issued it, with a clock that is
    slightly ahead."""
    text, _, signature = (nonce or "").partition(".")
    now = int(call.now.timestamp()) // NONCE_STEP_SECONDS
    oldest = now - int(NONCE_LIFE.total_seconds()) // NONCE_STEP_SECONDS
    try:
        step = int(text, 16)
    except ValueError:
        return False
    return oldest <= step <= now + 1 and call.world.secrets.verify(
        NONCE_PURPOSE, call.project_id.bytes + step.to_bytes(8), signature
    )
