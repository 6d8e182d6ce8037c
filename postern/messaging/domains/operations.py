"""HTTP operations of sending domains."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Jsonb, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, before_id, linked_list
from postern.kernel.http.problems import require_found
from postern.kernel.values import Deleted, build_view, new_id, to_plain
from postern.messaging.domains import store
from postern.messaging.domains.blocklists import expected_entries
from postern.messaging.domains.keys import GeneratedKey, new_keys, save_key
from postern.messaging.domains.model import (
    DOMAINS_PER_PROJECT,
    MAX_WAITING_COUNT,
    BlocklistEntry,
    Domain,
    DomainExists,
    DomainHasWaitingSends,
    DomainInUse,
    DomainMissing,
    NewDomain,
    NextKeyUnpublished,
    StoredDomain,
    TooManyDomains,
)
from postern.messaging.domains.rules import RecordSettings, may_rotate, parse_domain, records_of, rotate
from postern.messaging.domains.verification import check_domain, dns_record_settings, record_check
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.platform.projects import usage
from postern.platform.projects.model import used_relays

Force = Annotated[bool, msgspec.Meta(description="Delete the domain even if messages wait to be sent from it.")]


@get("/projects/{project_id}/domains", needs="domains:read")
async def list_domains(call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None) -> LinkedList[Domain]:
    """List the project's sending domains, newest first, with their DNS records and the results of the last check."""
    rows = await store.list_domains(
        call.db, project_id=call.project_id, before=before_id(call, "domains", cursor), limit=limit + 1
    )
    settings = await _record_settings(call)
    return linked_list(call, "domains", [_to_domain(row, settings) for row in rows], limit)


@post(
    "/projects/{project_id}/domains",
    needs="domains:write",
    status=201,
    problems=(DomainExists, TooManyDomains),
    example={"domain": "example.com"},
)
async def create_domain(call: Call, data: NewDomain) -> Domain:
    """Add a domain to send from.

    Publish the `records` of the response in the DNS of the domain. They are checked every minute for ten minutes, every
    ten minutes for three hours, then hourly for 30 days; `verify` checks them at once. The domain becomes VERIFIED when
    its required record, the DKIM key, is published.
    """
    name = parse_domain(data.domain)
    if await store.get_sending_domain(call.db, project_id=call.project_id, domain=name):
        raise DomainExists
    keys = await new_keys(call.now)
    async with call.db.transaction() as tx:
        await tx.lock_quota("domains", call.project_id)
        if await store.count_domains(tx, project_id=call.project_id) >= DOMAINS_PER_PROJECT:
            raise TooManyDomains
        row = await _insert_domain(tx, call, name, keys)
        await events.record(tx, call, "domain.created", row.id, domain=name)
        await audit.record(tx, call, "domain.created", "Domain", row.id, domain=name)
        tx.mark_due("domains", call.project_id)
        tx.mark_due("blocklist_watches", call.project_id)
    return _to_domain(row, await _record_settings(call))


async def _insert_domain(tx: Transaction, call: Call, name: str, keys: Sequence[GeneratedKey]) -> StoredDomain:
    """Insert a domain, its encrypted keys, and the entries of its blocklist checks. Raises DomainExists."""
    project_id, domain_id, now = call.project_id, new_id(), call.now
    public = Jsonb(to_plain([key.public for key in keys]))
    row = await store.insert_domain(tx, project_id=project_id, id=domain_id, domain=name, keys=public, now=now)
    if row is None:
        raise DomainExists
    for key in keys:
        await save_key(tx, call.world.secrets, project_id, domain_id, key)
    pairs = expected_entries(call.world.blocklists.zones, call.world.settings.known_sending_addresses, name)
    await store.insert_entries(
        tx,
        project_id=project_id,
        domain_id=domain_id,
        ids=[new_id() for _ in pairs],
        list_names=[list_name for list_name, _ in pairs],
        subject_values=[subject for _, subject in pairs],
    )
    await store.insert_blocklist_watch(tx, project_id=project_id, id=domain_id, due_at=now)
    return row


@get("/projects/{project_id}/domains/{id}", needs="domains:read")
async def get_domain(call: Call, id: UUID) -> Domain:
    """Get a sending domain with its DNS records and the results of the last check."""
    return _to_domain(await require_domain(call, id), await _record_settings(call))


async def require_domain(call: Call, id: UUID) -> StoredDomain:
    """A domain of the project. Raises DomainMissing."""
    return require_found(await store.get_domain(call.db, project_id=call.project_id, id=id), DomainMissing)


@post(
    "/projects/{project_id}/domains/{id}/verify",
    needs="domains:write",
    response_example={
        "status": "VERIFIED",
        "spfVerified": True,
        "dkimVerified": True,
        "dmarcVerified": True,
        "verifiedAt": "2026-01-31T12:00:00.000Z",
        "records": {"status": "VERIFIED", "found": ["v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA…"]},
    },
)
async def verify_domain(call: Call, id: UUID) -> Domain:
    """Check the DNS records of a domain now instead of waiting for the periodic check.

    A missing record is not an error: the response has the status of each record. Records that could not be looked up
    have the status UNKNOWN and change nothing. For a FAILED domain, the periodic checks start again.
    """
    domain = require_found(await store.get_domain(call.db, project_id=call.project_id, id=id), DomainMissing)
    result = await check_domain(call.world, domain, fresh=True)
    async with call.db.transaction() as tx:
        domain = require_found(await store.lock_domain(tx, project_id=call.project_id, id=id), DomainMissing)
        row, event = await record_check(tx, domain, result, call.now, requested=True)
        if event:
            await events.record(tx, call, event, id, domain=row.domain)
        await audit.record(tx, call, "domain.checked", "Domain", id, domain=row.domain, status=row.status)
    return _to_domain(row, await _record_settings(call))


@post("/projects/{project_id}/domains/{id}/rotate-keys", needs="domains:write", problems=(NextKeyUnpublished,))
async def rotate_domain_keys(call: Call, id: UUID) -> Domain:
    """Sign with the next DKIM key from now on.

    The next key must be published in the DNS (409 if not). Keep the previous key published for mail in transit; after
    seven days a new next key is generated for its selector. If the records are CNAMEs into the service's zone, keys
    rotate automatically every 180 days.
    """
    domain = require_found(await store.get_domain(call.db, project_id=call.project_id, id=id), DomainMissing)
    if not may_rotate(domain.keys):
        raise NextKeyUnpublished("The keys were rotated less than seven days ago; there is no next key yet.")
    result = await check_domain(call.world, domain, fresh=True)
    if not result.verdict("DKIM_NEXT"):
        raise NextKeyUnpublished
    async with call.db.transaction() as tx:
        current = require_found(await store.lock_domain(tx, project_id=call.project_id, id=id), DomainMissing)
        if current.keys != domain.keys:
            raise NextKeyUnpublished("Another request has just rotated the keys.")
        keys = Jsonb(to_plain(rotate(current.keys, call.now)))
        row = await store.set_keys(tx, project_id=call.project_id, id=id, keys=keys, now=call.now)
        await audit.record(tx, call, "domain.keys_rotated", "Domain", id, domain=row.domain)
    return _to_domain(row, await _record_settings(call))


@delete("/projects/{project_id}/domains/{id}", needs="domains:write", problems=(DomainHasWaitingSends, DomainInUse))
async def delete_domain(call: Call, id: UUID, force: Force = False) -> Deleted:
    """Delete a sending domain and its keys. Mail can no longer be sent from it, even if its records stay published.

    If scheduled campaigns, or automations that are active or have unfinished runs, use the domain, the response is 409
    and lists them.

    If messages wait to be sent from the domain (scheduled, queued or delayed), the response is 409 with their number.
    `force=true` deletes the domain anyway; those messages then fail when they are due. Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        domain = await store.get_domain(tx, project_id=call.project_id, id=id)
        if domain and (dependents := await usage.find_dependents(tx, call.project_id, id, domain=domain.domain)):
            raise DomainInUse(usage.in_use("sending domain", dependents), errors=dependents)
        if not force:
            await _require_nothing_waiting(tx, call, id)
        row = require_found(await store.delete_domain(tx, project_id=call.project_id, id=id), DomainMissing)
        call.require_match(row.updated_at)
        await events.record(tx, call, "domain.deleted", id, domain=row.domain)
        await audit.record(tx, call, "domain.deleted", "Domain", id, domain=row.domain)
    return Deleted()


async def _require_nothing_waiting(tx: Transaction, call: Call, id: UUID) -> None:
    """Raises DomainHasWaitingSends with the number of waiting messages."""
    limit = MAX_WAITING_COUNT
    waiting = await store.count_waiting_sends(tx, project_id=call.project_id, id=id, limit=limit)
    if waiting:
        number = f"{waiting:,}" if waiting < limit else f"{limit:,} or more"
        subject = "message waits" if waiting == 1 else "messages wait"
        raise DomainHasWaitingSends(
            f"{number} {subject} to be sent from this domain and would fail without it. Cancel them, wait until they"
            " are sent, or delete the domain with `force=true`."
        )


@get("/projects/{project_id}/domains/{id}/blocklist-status", needs="domains:read")
async def get_domain_blocklist_status(call: Call, id: UUID) -> list[BlocklistEntry]:
    """Get the status of the domain, and of the IP addresses that send its mail, on each blocklist.

    They are checked every six hours. The status is UNKNOWN if a blocklist refuses the query, fails its health check
    (RFC 5782) or does not respond; `listed` then keeps its previous value. `lastCheckedAt` is null until the first
    check.
    """
    if await store.get_domain(call.db, project_id=call.project_id, id=id) is None:
        raise DomainMissing
    return await store.list_entries(call.db, project_id=call.project_id, domain_id=id)


async def _record_settings(call: Call) -> RecordSettings:
    """The settings that the DNS records of this project's domains depend on."""
    settings = await projects.settings_of(call)
    return dns_record_settings(call.world.settings, used_relays(settings))


def _to_domain(row: StoredDomain, settings: RecordSettings) -> Domain:
    return build_view(
        Domain,
        row,
        dkim_tokens=[
            *(key.selector for key in row.keys if key.role == "CURRENT"),
            *(key.selector for key in row.keys if key.role in ("NEXT", "RETIRED")),
        ],
        records=records_of(row.domain, row.keys, row.checks, settings),
        next_check_at=row.due_at,
        app_id=row.project_id,
    )
