"""Encryption of client secrets, and of ID tokens that are kept for a logout."""

from uuid import UUID

from postern.identity.sso.model import ConnectionRow
from postern.kernel.http.call import Call

MAX_HINT_CHARS = 4_096
"""Longer ID tokens are not kept for a logout: they would not fit into the URL to which the browser is redirected."""


def seal_client_secret(call: Call, connection_id: UUID, secret: str) -> bytes:
    """Encrypt the client secret of a connection. The ids of the project and the connection are the associated data of
    the encryption: a secret that is copied to another connection cannot be decrypted."""
    return call.world.secrets.seal(secret.encode(), f"sso-client-secret:{call.project_id}:{connection_id}")


def client_secret_of(call: Call, row: ConnectionRow) -> str | None:
    """The client secret of a connection, decrypted; None for a public client."""
    if row.oidc_client_secret is None:
        return None
    return call.world.secrets.open(row.oidc_client_secret, f"sso-client-secret:{call.project_id}:{row.id}").decode()


def seal_logout_hint(call: Call, connection_id: UUID, id_token: str) -> bytes | None:
    """Encrypt an ID token to keep it for a logout; None if it is too long."""
    if len(id_token) > MAX_HINT_CHARS:
        return None
    return call.world.secrets.seal(id_token.encode(), f"sso-logout-hint:{call.project_id}:{connection_id}")


def open_logout_hint(call: Call, connection_id: UUID, sealed: bytes) -> str:
    """Decrypt a result of `seal_logout_hint`."""
    return call.world.secrets.open(sealed, f"sso-logout-hint:{call.project_id}:{connection_id}").decode()
