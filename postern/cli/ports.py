"""Opening the ports that the server listens on."""

import socket
from typing import Final

from postern.cli import CannotRun

BACKLOG: Final = 2_048
"""Maximum number of connections that wait to be accepted."""
API_VARIABLES: Final = "POSTERN_HOST and POSTERN_PORT"
"""The environment variables that set the address of the API."""
HTTPS_VARIABLES: Final = "POSTERN_HOST and POSTERN_HTTPS_PORT"
"""The environment variables that set the address for HTTPS."""
SMTP_VARIABLES: Final = {
    "submission": "POSTERN_SMTP_HOST and POSTERN_SUBMISSION_PORT",
    "submissions": "POSTERN_SMTP_HOST and POSTERN_SUBMISSIONS_PORT",
    "inbound": "POSTERN_INBOUND_HOST and POSTERN_INBOUND_PORT",
}
"""The environment variables that set the address of each port in `Settings.mail_ports`."""


def open_port(host: str, port: int, variables: str) -> socket.socket:
    """Return a listening socket. Raises CannotRun if that fails, for example because the port is in use.

    `variables` are the names of the environment variables that the error tells the user to change.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "the host name is not valid"
        raise CannotRun(f"Cannot listen on {host}:{port}: {reason}. Set {variables} to another address.") from None
