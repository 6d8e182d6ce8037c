"""Public mailbox providers, where anyone can get an address."""

from functools import cache
from importlib.resources import files


@cache
def mailbox_provider_domains() -> frozenset[str]:
    """The domains of public mailbox providers: those in `public_mailboxes.txt` of this package."""
    text = files("postern.protocols.mail").joinpath("public_mailboxes.txt").read_text("ascii")
    return frozenset(line for line in text.split("\n") if line and not line.startswith("#"))
