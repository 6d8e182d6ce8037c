"""References of sends: identifiers in messages by which notifications of a provider are attributed to a send."""

from uuid import UUID

from postern.security.secrets import Secrets

PURPOSE = "send-reference"
"""The purpose of the key that signs references (`Secrets.key`)."""
HEX_CHARACTERS = 32
"""Characters of a UUID without hyphens."""


def send_reference(secrets: Secrets, project_id: UUID, send_id: UUID) -> str:
    """The reference of a send: project, send and signature, as letters, digits, `-` and `_`."""
    text = f"{project_id.hex}-{send_id.hex}"
    return f"{text}-{secrets.sign(PURPOSE, text.encode())}"


def read_reference(secrets: Secrets, text: str) -> tuple[UUID, UUID] | None:
    """The project and the send of a reference; None if this server did not make it."""
    project, send, signature = [*text.split("-", 2), "", ""][:3]
    if len(project) != HEX_CHARACTERS or len(send) != HEX_CHARACTERS:
        return None
    if not secrets.verify(PURPOSE, f"{project}-{send}".encode(), signature):
        return None
    return UUID(project), UUID(send)
