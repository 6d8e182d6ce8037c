"""The contents of the service's own DNS zone, which the CNAME records of sending domains refer to."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from postern.kernel.config import BOUNCE_LABEL
from postern.messaging.domains import store
from postern.messaging.domains.rules import TRACKING_LABEL, dkim_target, dkim_value, spf_value
from postern.messaging.domains.verification import dns_record_settings

if TYPE_CHECKING:
    from postern.world import World

TTL_SECONDS = 3_600
MX_PREFERENCE = 10
STRING_OCTETS = 255
"""The longest character string of a TXT record (RFC 1035 §3.3)."""


async def zone_lines(world: "World") -> AsyncIterator[str]:
    """The lines to include in the zone file (RFC 1035 §5) of `POSTERN_DNS_ZONE`.

    They are the DKIM keys of all domains of all projects, the SPF record of the return path, and the CNAME of tracking
    links. If this server receives mail, the return path has an MX record; otherwise the operator adds one. There are no
    lines if `POSTERN_DNS_ZONE` is not set.
    """
    settings = dns_record_settings(world.settings)
    if settings.zone is None:
        return
    bounce_name = f"{BOUNCE_LABEL}.{settings.zone}"
    yield _line(bounce_name, "TXT", _quoted(spf_value(settings)))
    if world.settings.receives_mail:
        bounce_domain = (world.settings.bounce_domain or bounce_name).lower()
        below_zone = {bounce_name, *([bounce_domain] if bounce_domain.endswith(f".{settings.zone}") else [])}
        for name in sorted(below_zone):
            yield _line(name, "MX", f"{MX_PREFERENCE} {world.settings.mx_name}.")
    tracking_name = f"{TRACKING_LABEL}.{settings.zone}"
    if settings.tracking_host and settings.tracking_host != tracking_name:
        yield _line(tracking_name, "CNAME", f"{settings.tracking_host}.")
    async with world.db.transaction() as tx:
        async for domain in store.all_keys(tx):
            for key in domain.keys:
                yield _line(dkim_target(key, settings.zone), "TXT", _quoted(dkim_value(key)))


def _line(name: str, record_type: str, data: str) -> str:
    return f"{name}. {TTL_SECONDS} IN {record_type} {data}\n"


def _quoted(text: str) -> str:
    """A text as quoted character strings. No value here contains quotes or backslashes, so nothing is escaped."""
    parts = [text[start : start + STRING_OCTETS] for start in range(0, len(text), STRING_OCTETS)]
    return " ".join(f'"{part}"' for part in parts)
