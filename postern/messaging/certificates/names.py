"""The names that get certificates: those of this server, and those of projects below verified domains: for tracking
links, and for hosted pages."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from postern.kernel.config import Settings
from postern.messaging.certificates import store
from postern.messaging.domains.rules import TRACKING_LABEL, is_domain_name
from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord

if TYPE_CHECKING:
    from postern.world import World


def own_names(settings: Settings) -> list[str]:
    """The names of this server that need a certificate by ACME: the host of the base URL if this server serves HTTPS,
    and the names of the SMTP servers without a certificate in files."""
    names = [public_host(settings)] if settings.https_port is not None else []
    return list(dict.fromkeys(name for name in [*names, *settings.smtp_names] if is_domain_name(name)))


def public_host(settings: Settings) -> str:
    """The host of the base URL, in lower case."""
    return (urlsplit(settings.public_url).hostname or "").lower()


async def may_have_certificate(world: "World", name: str) -> bool:
    """Whether a name is one of this server, or a name for tracking links or hosted pages that a project may use."""
    settings = world.settings
    if name in (public_host(settings), *own_names(settings)):
        return True
    return bool(await store.domains_of_name(world.db, label=TRACKING_LABEL, name=name))


async def address_problem(world: "World", name: str) -> str | None:
    """Why the authority would not reach this server under a name; None if all its addresses are those of this server.

    Without this check, a project could make the authority refuse further orders of this instance.
    """
    settings = world.settings
    try:
        addresses = await world.resolver.addresses(name)
        if name in own_names(settings):
            return None
        expected = await world.resolver.addresses(public_host(settings))
    except (NoSuchRecord, DnsUnavailable) as error:
        return str(error)
    foreign = sorted(set(addresses) - set(expected))
    if foreign:
        return f"{name} resolves to {', '.join(foreign[:5])} and not only to this server, {public_host(settings)}."
    return None
