"""Blocklist checks of a domain and of the addresses that its mail is sent from."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from postern.kernel.values import Moment, new_id
from postern.messaging.domains import store
from postern.messaging.domains.model import (
    BLOCKLIST_CHECK_INTERVAL,
    BLOCKLIST_RETRY_DELAY,
    BlocklistEntry,
    BlocklistWatch,
    EntryStatus,
)
from postern.platform.events.model import EventRow
from postern.platform.events.operations import make_event, record_all
from postern.protocols.mail import blocklists
from postern.protocols.mail.blocklists import BlocklistFinding, BlocklistSubject, Zone
from postern.protocols.mail.public_suffixes import registered_domain

if TYPE_CHECKING:
    from postern.world import World

ENTRY_STATUSES: dict[blocklists.ListingStatus, EntryStatus] = {
    blocklists.ListingStatus.LISTED: "LISTED",
    blocklists.ListingStatus.CLEAR: "CLEAR",
    blocklists.ListingStatus.UNKNOWN: "UNKNOWN",
}


def queried_domains(domain: str) -> list[str]:
    """The names to look up on domain blocklists: the domain itself and its registered domain."""
    return list(dict.fromkeys([domain, registered_domain(domain)]))


def expected_entries(zones: Sequence[Zone], addresses: Sequence[str], domain: str) -> list[tuple[str, str]]:
    """The lookups of a domain's check, each of which has one stored entry, as pairs: the name of a blocklist, and
    an IP address or domain name."""
    return [
        (zone.name, subject)
        for zone in zones
        for subject in (addresses if zone.subject is BlocklistSubject.ADDRESS else queried_domains(domain))
    ]


async def check_listings(world: "World", watch: BlocklistWatch) -> None:
    """Check one domain on all blocklists, store the results, and record an event for every listing and delisting.

    Changes nothing if the domain was deleted or a later attempt has begun. Schedules the next check.
    """
    domain = await store.get_domain(world.db, project_id=watch.project_id, id=watch.id)
    if domain is None:
        return
    domains = queried_domains(domain.domain)
    findings = await world.blocklists.check(addresses=world.settings.known_sending_addresses, domains=domains)
    now = world.clock()
    any_unknown = any(finding.status is blocklists.ListingStatus.UNKNOWN for finding in findings)
    due_at = now + (BLOCKLIST_RETRY_DELAY if any_unknown else BLOCKLIST_CHECK_INTERVAL)
    async with world.db.transaction() as tx:
        if not await store.reschedule_watch(
            tx, project_id=watch.project_id, id=watch.id, attempt=watch.attempt, due_at=due_at
        ):
            return  # The domain was deleted, or a later attempt has begun.
        of_domain: dict[str, UUID] = {"project_id": watch.project_id, "domain_id": watch.id}
        list_names = [finding.list_name for finding in findings]
        subjects = [finding.subject_value for finding in findings]
        entry_ids = [new_id() for _ in findings]
        await store.delete_other_entries(tx, list_names=list_names, subject_values=subjects, **of_domain)
        await store.insert_entries(tx, ids=entry_ids, list_names=list_names, subject_values=subjects, **of_domain)
        previous_entries = await store.list_entries(tx, **of_domain)
        await store.update_entries(
            tx,
            list_names=list_names,
            subject_values=subjects,
            statuses=[ENTRY_STATUSES[finding.status] for finding in findings],
            codes=[" ".join(finding.codes) for finding in findings],
            reasons=[finding.reason for finding in findings],
            now=now,
            **of_domain,
        )
        await record_all(tx, _change_events(watch, domain.domain, previous_entries, findings, now))


def _change_events(
    watch: BlocklistWatch,
    domain: str,
    previous_entries: Sequence[BlocklistEntry],
    findings: Sequence[BlocklistFinding],
    now: Moment,
) -> list[EventRow]:
    """An event for each listing and delisting since the last check. An UNKNOWN result is no change."""
    listed_before = {(entry.list_name, entry.subject_value): entry.listed for entry in previous_entries}
    events: list[EventRow] = []
    for finding in findings:
        was_listed = listed_before.get((finding.list_name, finding.subject_value), False)
        is_listed = {blocklists.ListingStatus.LISTED: True, blocklists.ListingStatus.CLEAR: False}.get(
            finding.status, was_listed
        )
        if is_listed != was_listed:
            events.append(
                make_event(
                    watch.project_id,
                    "domain.blocklisted" if is_listed else "domain.delisted",
                    watch.id,
                    now,
                    domain=domain,
                    listName=finding.list_name,
                    subjectValue=finding.subject_value,
                    codes=list(finding.codes),
                )
            )
    return events
