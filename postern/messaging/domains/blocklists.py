"""The standing of a domain on blocklists: what is asked, and what a change of it means."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.values import new_id
from postern.messaging.domains import store
from postern.messaging.domains.model import (
    BLOCKLISTS_PUT_OFF,
    BLOCKLISTS_REFRESHED_EVERY,
    BlocklistEntry,
    BlocklistWatch,
    Standing,
)
from postern.messaging.domains.rules import registered_domain
from postern.platform.events.model import Event
from postern.platform.events.operations import make_event, record_all
from postern.protocols.mail import blocklists
from postern.protocols.mail.blocklists import BlocklistFinding, BlocklistSubject, Zone

if TYPE_CHECKING:
    from postern.world import World

STANDINGS: dict[blocklists.ListingStatus, Standing] = {
    blocklists.ListingStatus.LISTED: "LISTED",
    blocklists.ListingStatus.CLEAR: "CLEAR",
    blocklists.ListingStatus.UNKNOWN: "UNKNOWN",
}


def names_of(domain: str) -> list[str]:
    """The names that domain lists are asked about: the domain, and what it is registered under."""
    return list(dict.fromkeys([domain, registered_domain(domain)]))


def watched(zones: Sequence[Zone], addresses: Sequence[str], domain: str) -> list[tuple[str, str]]:
    """Every pair of a list and a subject that concerns a domain."""
    return [
        (zone.name, subject)
        for zone in zones
        for subject in (addresses if zone.subject is BlocklistSubject.ADDRESS else names_of(domain))
    ]


async def check_listings(world: "World", watch: BlocklistWatch) -> None:
    """Ask all lists about one domain, keep what they say, and record who came to be listed or delisted."""
    domain = await store.get_domain(world.db, project_id=watch.project_id, id=watch.id)
    if domain is None:
        return
    findings = await world.blocklists.check(addresses=world.settings.sending_addresses, domains=names_of(domain.domain))
    now = world.clock()
    unknown = any(finding.standing is blocklists.ListingStatus.UNKNOWN for finding in findings)
    due_at = now + (BLOCKLISTS_PUT_OFF if unknown else BLOCKLISTS_REFRESHED_EVERY)
    async with world.db.transaction() as tx:
        if not await store.settle_watch(
            tx, project_id=watch.project_id, id=watch.id, attempt=watch.attempt, due_at=due_at
        ):
            return  # The domain was deleted, or a later attempt has begun.
        of: dict[str, UUID] = {"project_id": watch.project_id, "domain_id": watch.id}
        lists = [finding.list_name for finding in findings]
        subjects = [finding.subject_value for finding in findings]
        fresh = [new_id() for _ in findings]
        await store.forget_entries(tx, list_name=lists, subject_value=subjects, **of)
        await store.insert_entries(tx, id=fresh, list_name=lists, subject_value=subjects, **of)
        before = await store.entries(tx, **of)
        await store.write_findings(
            tx,
            list_name=lists,
            subject_value=subjects,
            status=[STANDINGS[finding.standing] for finding in findings],
            codes=[" ".join(finding.codes) for finding in findings],
            reason=[finding.reason for finding in findings],
            now=now,
            **of,
        )
        await record_all(tx, _changes(watch, domain.domain, before, findings, now))


def _changes(
    watch: BlocklistWatch,
    domain: str,
    before: Sequence[BlocklistEntry],
    findings: Sequence[BlocklistFinding],
    now: Moment,
) -> list[Event]:
    """An event for each subject that a list newly holds or no longer holds; what is unknown changes nothing."""
    listed = {(entry.list_name, entry.subject_value): entry.listed for entry in before}
    told: list[Event] = []
    for finding in findings:
        was = listed.get((finding.list_name, finding.subject_value), False)
        newly = {blocklists.ListingStatus.LISTED: True, blocklists.ListingStatus.CLEAR: False}.get(
            finding.standing, was
        )
        if newly != was:
            told.append(
                make_event(
                    watch.project_id,
                    "domain.blocklisted" if newly else "domain.delisted",
                    watch.id,
                    now,
                    domain=domain,
                    listName=finding.list_name,
                    subjectValue=finding.subject_value,
                    codes=list(finding.codes),
                )
            )
    return told
