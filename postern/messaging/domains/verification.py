"""Checking the DNS records of a domain and storing the result, on request and periodically."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from postern.kernel.config import Settings
from postern.kernel.database.statements import Transaction
from postern.kernel.values import Moment
from postern.messaging.domains import store
from postern.messaging.domains.dns_check import DnsCheckResult, check_records
from postern.messaging.domains.model import NEXT_STATUS, StoredDomain
from postern.messaging.domains.rules import RecordSettings, dns_outcome, is_domain_name, name_and_parents, next_check_in
from postern.platform.projects import operations as projects
from postern.platform.projects.model import ProjectRelay, used_relays

if TYPE_CHECKING:
    from postern.world import World

VERSIONED_COLUMNS = (
    "status",
    "checks",
    "findings",
    "spf_verified",
    "dkim_verified",
    "ed25519_verified",
    "return_path_verified",
    "tracking_verified",
    "dmarc_verified",
)
"""Columns whose change updates `updated_at`, and with it the ETag."""


def dns_record_settings(settings: Settings, relays: Sequence[ProjectRelay] | None = None) -> RecordSettings:
    """The settings that expected DNS records depend on; `relays` are the project's own SMTP relays, if it has any."""
    host = urlsplit(settings.public_url).hostname or ""
    return RecordSettings(
        zone=settings.dns_zone.rstrip(".").lower() if settings.dns_zone else None,
        # Mail through a project's own relay is not sent from the operator's addresses.
        addresses=() if relays else settings.known_sending_addresses,
        relays=tuple(dict.fromkeys(relay.host.lower() for relay in relays)) if relays else settings.relay_hosts,
        tracking_host=host.lower() if is_domain_name(host) else None,
    )


async def check_domain(world: "World", domain: StoredDomain, *, fresh: bool = False) -> DnsCheckResult:
    """Look up and check the DNS records of a domain; stores nothing.

    `fresh` bypasses caches by querying the authoritative servers, unless the operator configured DNS servers.
    """
    resolver = world.resolver
    if fresh and not world.settings.dns:
        # If the operator configured DNS servers, only those are queried.
        resolver = await resolver.authoritative(domain.domain)
    project = await projects.require_project(world.db, domain.project_id)
    record_settings = dns_record_settings(world.settings, used_relays(project.settings))
    return await check_records(resolver, domain.domain, domain.keys, record_settings)


async def record_check(
    tx: Transaction, domain: StoredDomain, result: DnsCheckResult, now: Moment, *, requested: bool = False
) -> tuple[StoredDomain, str | None]:
    """Store the result of a check in the locked row of a domain, and schedule the next check.

    Returns the new row, and the type of the event to record, if any. If the lookup of a record failed, its flag (such
    as `spf_verified`) keeps its value. With `requested`, the periodic checks of a FAILED domain start again.
    """
    dkim_published = result.verdict("DKIM")  # Only this record decides the status; None if its lookup failed.
    status, watched_since = domain.status, domain.watched_since
    if requested and status == "FAILED":
        # The time limit of the periodic checks is counted from `watched_since`, so it starts again.
        status, watched_since = NEXT_STATUS[status, "CHECK_REQUESTED"], now
    failing_since = domain.failing_since
    if dkim_published is not None:
        failing_since = None if dkim_published or status == "PENDING" else failing_since or now
    outcome = dns_outcome(
        status, is_published=dkim_published, watched_since=watched_since, failing_since=failing_since, now=now
    )
    status = NEXT_STATUS[status, outcome]
    delay = next_check_in(status, watched_since=watched_since, failing_since=failing_since, now=now)
    new_state = msgspec.structs.replace(
        domain,
        status=status,
        checks=result.checks,
        findings=result.findings,
        dkim_verified=_or_previous(dkim_published, domain.dkim_verified),
        ed25519_verified=_or_previous(result.verdict("DKIM_ED25519"), domain.ed25519_verified),
        spf_verified=_or_previous(result.verdict("SPF"), domain.spf_verified),
        return_path_verified=_or_previous(result.verdict("RETURN_PATH"), domain.return_path_verified),
        tracking_verified=_or_previous(result.verdict("TRACKING"), domain.tracking_verified),
        dmarc_verified=_or_previous(result.verdict("DMARC"), domain.dmarc_verified),
        verified_at=_verified_at(domain, status, now),
        watched_since=watched_since,
        failing_since=failing_since,
        last_checked_at=now,
        due_at=now + delay if delay else None,
    )
    if any(getattr(new_state, name) != getattr(domain, name) for name in VERSIONED_COLUMNS):
        new_state = msgspec.structs.replace(new_state, updated_at=now)
    row = await store.update_domain(tx, new_state)
    if status == "VERIFIED" and (domain.status != "VERIFIED" or domain.failing_since is not None):
        # Other projects that verified the name before may not control it any more. Until a check shows that, they
        # receive its mail, so check them now.
        await store.check_others_now(
            tx, project_id=row.project_id, domain=row.domain, names=name_and_parents(row.domain), now=now
        )
        tx.mark_due("domains", row.project_id)
    return row, EVENTS.get(status) if status != domain.status else None


EVENTS = {"VERIFIED": "domain.verified", "DEGRADED": "domain.degraded"}
"""The type of the event for each new status; FAILED and PENDING have none."""


def _or_previous(verdict: bool | None, previous: bool) -> bool:
    return previous if verdict is None else verdict


def _verified_at(domain: StoredDomain, status: str, now: Moment) -> Moment | None:
    """When the domain last became verified."""
    if status == "VERIFIED" and domain.status != "VERIFIED":
        return now
    return domain.verified_at
