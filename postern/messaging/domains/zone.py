"""What the service's own DNS zone must hold, for domains whose records are aliases into it."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from postern.messaging.domains import store
from postern.messaging.domains.rules import BOUNCE_LABEL, TRACKING_LABEL, dkim_target, dkim_value, spf_value
from postern.messaging.domains.verification import published_by

if TYPE_CHECKING:
    from postern.world import World

TTL_SECONDS = 3_600
STRING_OCTETS = 255
"""The longest character string of a TXT record (RFC 1035 §3.3)."""


async def zone_lines(world: "World") -> AsyncIterator[str]:
    """The records of the zone `POSTERN_DNS_ZONE` as a zone file (RFC 1035 §5), to be included in it.

    The keys of all domains of all projects, the SPF record of the return path, and where tracking links
    lead. The addresses of bounces' mail exchanger are the operator's to add.
    """
    published = published_by(world.settings)
    if published.zone is None:
        return
    bounce = f"{BOUNCE_LABEL}.{published.zone}"
    yield _line(bounce, "TXT", _quoted(spf_value(published)))
    links = f"{TRACKING_LABEL}.{published.zone}"
    if published.tracking_host and published.tracking_host != links:
        yield _line(links, "CNAME", f"{published.tracking_host}.")
    async with world.db.transaction() as tx:
        async for domain in store.all_keys(tx):
            for key in domain.keys:
                yield _line(dkim_target(key, published.zone), "TXT", _quoted(dkim_value(key)))


def _line(name: str, kind: str, data: str) -> str:
    return f"{name}. {TTL_SECONDS} IN {kind} {data}\n"


def _quoted(text: str) -> str:
    """A text as character strings; ours hold neither quotes nor backslashes."""
    parts = [text[start : start + STRING_OCTETS] for start in range(0, len(text), STRING_OCTETS)]
    return " ".join(f'"{part}"' for part in parts)
