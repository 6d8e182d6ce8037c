"""Looking at a domain, and writing down what was seen: asked for by its owner, or due."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.config import Settings
from postern.kernel.database.statements import Transaction
from postern.messaging.domains import store
from postern.messaging.domains.dns_check import DnsCheckResult, check_records
from postern.messaging.domains.model import NEXT_STATUS, StoredDomain
from postern.messaging.domains.rules import PublishedRecords, next_check_in, sign_of
from postern.platform.projects import operations as projects
from postern.platform.projects.model import ProjectRelay

if TYPE_CHECKING:
    from postern.world import World

VISIBLE = (
    "status",
    "checks",
    "spf_verified",
    "dkim_verified",
    "ed25519_verified",
    "return_path_verified",
    "tracking_verified",
    "dmarc_verified",
)
"""What makes a new version of the record when a look changes it."""


def published_by(settings: Settings, relays: Sequence[ProjectRelay] | None = None) -> PublishedRecords:
    """What this instance tells domain owners to publish; `relays` are those that the domain's project has itself."""
    host = urlsplit(settings.public_url).hostname or ""
    named = "." in host and not host.rpartition(".")[2].isdigit() and ":" not in host
    return PublishedRecords(
        zone=settings.dns_zone.rstrip(".").lower() if settings.dns_zone else None,
        # Mail that a relay of the project takes on does not leave from the operator's addresses.
        addresses=() if relays else settings.sending_addresses,
        relays=tuple(dict.fromkeys(each.host.lower() for each in relays)) if relays else settings.relay_hosts,
        tracking_host=host.lower() if named else None,
    )


async def check_domain(world: "World", domain: StoredDomain, *, fresh: bool = False) -> DnsCheckResult:
    """Ask the DNS about a domain; `fresh` goes past caches, for an owner who has just published."""
    resolver = world.resolver
    if fresh and not world.settings.dns:
        # Where the operator chose the servers, those are asked and no others.
        resolver = await resolver.authoritative(domain.domain)
    project = await projects.require_project(world.db, domain.project_id)
    published = published_by(world.settings, project.settings.relays)
    return await check_records(resolver, domain.domain, domain.keys, published)


async def record_check(
    tx: Transaction, domain: StoredDomain, seen: DnsCheckResult, now: Moment, *, asked: bool = False
) -> tuple[StoredDomain, str | None]:
    """Keep what a look saw in the locked row of a domain. Returns the new row, and the event to record if any.

    Where the DNS gave no usable answer, what was known stays known: trouble is not a miss.
    """
    dkim = seen.verdict("DKIM")
    status, watched_since = domain.status, domain.watched_since
    if asked and status == "FAILED":
        status, watched_since = NEXT_STATUS[status, "ASKED_AGAIN"], now
    failing_since = domain.failing_since
    if dkim is not None:
        failing_since = None if dkim or status == "PENDING" else failing_since or now
    sign = sign_of(status, seen=dkim, watched_since=watched_since, failing_since=failing_since, now=now)
    status = NEXT_STATUS[status, sign]
    wait = next_check_in(status, watched_since=watched_since, failing_since=failing_since, now=now)
    new = msgspec.structs.replace(
        domain,
        status=status,
        checks=seen.checks,
        dkim_verified=_known(dkim, domain.dkim_verified),
        ed25519_verified=_known(seen.verdict("DKIM_ED25519"), domain.ed25519_verified),
        spf_verified=_known(seen.verdict("SPF"), domain.spf_verified),
        return_path_verified=_known(seen.verdict("RETURN_PATH"), domain.return_path_verified),
        tracking_verified=_known(seen.verdict("TRACKING"), domain.tracking_verified),
        dmarc_verified=_known(seen.verdict("DMARC"), domain.dmarc_verified),
        verified_at=_verified_at(domain, status, now),
        watched_since=watched_since,
        failing_since=failing_since,
        last_checked_at=now,
        due_at=now + wait if wait else None,
    )
    if any(getattr(new, name) != getattr(domain, name) for name in VISIBLE):
        new = msgspec.structs.replace(new, updated_at=now)
    row = await store.record_check(tx, new)
    return row, EVENTS.get(status) if status != domain.status else None


EVENTS = {"VERIFIED": "domain.verified", "DEGRADED": "domain.degraded"}
"""What is told of a new state; that a domain was never published is told by its state alone."""


def _known(verdict: bool | None, before: bool) -> bool:
    return before if verdict is None else verdict


def _verified_at(domain: StoredDomain, status: str, now: Moment) -> Moment | None:
    """When the domain last became verified."""
    if status == "VERIFIED" and domain.status != "VERIFIED":
        return now
    return domain.verified_at
