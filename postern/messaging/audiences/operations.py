"""HTTP operations on audiences and their members, and functions for other features."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Database, Queries, Transaction
from postern.kernel.graphs import reachable_nodes
from postern.kernel.http.call import Call
from postern.kernel.http.listing import CountedListQuery, Search, sorted_list
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.operation import get, patch, post
from postern.kernel.http.pagination import (
    CountedPageQuery,
    LinkedList,
    Page,
    numbered_page,
)
from postern.kernel.http.problems import Invalid, require_found
from postern.kernel.values import Body, Deleted, Moment, as_id, new_id
from postern.messaging.audiences import imports, store
from postern.messaging.audiences.contacts import find_or_create, lock_contacts, require_contact
from postern.messaging.audiences.membership import SYSTEM, ChangeActor, actor_of, contacts_changed, refill_audience
from postern.messaging.audiences.model import (
    AUDIENCES_PER_PROJECT,
    BULK_LIMIT,
    COUNTED_MEMBERS,
    DYNAMIC_PER_PROJECT,
    LEVEL_LIMIT,
    RECOMPUTE_INTERVAL,
    AddressText,
    Audience,
    AudienceBulkResult,
    AudienceChangeResult,
    AudienceDynamic,
    AudienceInUse,
    AudienceMembership,
    AudienceMissing,
    AudienceRules,
    AudienceType,
    Contact,
    ContactMissing,
    ListedAudience,
    Name,
    StoredRules,
    TooManyAudiences,
    check_attributes,
)
from postern.messaging.audiences.rules import (
    Rules,
    audiences_named,
    check_rules,
    plain_rules,
    uses_engagement,
    uses_time,
)
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.platform.projects import usage
from postern.protocols.mail.address import AddressInvalid

Unset = msgspec.UnsetType
UNSET = msgspec.UNSET


class NewAudience(Body):
    """An audience to create: DYNAMIC with `rules`, otherwise STATIC."""

    name: Name
    rules: Rules | None = None


class AudienceChange(Body):
    """Fields to change. `type: STATIC` removes the rules and keeps the current members."""

    name: Name | Unset = UNSET
    type: Literal["STATIC"] | Unset = UNSET


class NewAudienceMember(Body):
    """A contact to add."""

    contact_id: str


class NewMemberByEmail(Body):
    """An address to add."""

    email: AddressText


class BulkContact(Body):
    """One contact of a bulk addition; the attributes are merged into a contact that exists."""

    email: AddressText
    attributes: dict[str, Any] = {}


class BulkMembers(Body):
    """Addresses to add: `emails`, or `contacts` with attributes, or both; at most 10,000."""

    emails: Annotated[list[str], msgspec.Meta(max_length=BULK_LIMIT)] = []
    contacts: Annotated[list[BulkContact], msgspec.Meta(max_length=BULK_LIMIT)] = []


@get("/projects/{project_id}/audiences", needs="audiences:read")
async def list_audiences(
    call: Call,
    q: Search | None = None,
    type: AudienceType | None = None,
    *,
    query: CountedListQuery,
) -> LinkedList[ListedAudience]:
    """List the project's audiences, newest first. All given filters must match.

    With `include=counts` each audience has its `memberCount`, counted up to 100,000.
    """
    with_counts = query.with_counts
    filters = query.filters(q, type=[type] if type else [])
    page = await sorted_list(call, "audiences", query, filters, store.SEARCH_TEXT, store.audiences, store.count_listed)
    if not with_counts:
        return page
    ids = [audience.id for audience in page.items]
    rows = await store.member_counts(call.db, project_id=call.project_id, audience_ids=ids, limit=COUNTED_MEMBERS)
    counts = {row.id: row.count for row in rows}
    return page.convert_items(lambda audience: msgspec.structs.replace(audience, member_count=counts[audience.id]))


@post(
    "/projects/{project_id}/audiences",
    needs="audiences:write",
    status=201,
    problems=[TooManyAudiences],
    example={"name": "Newsletter"},
)
async def create_audience(call: Call, data: NewAudience) -> Audience:
    """Create an audience. With `rules` it is DYNAMIC: they choose its contacts. Without, it is STATIC: you add them."""
    if data.rules is not None:
        check_rules(data.rules)
    async with call.db.transaction() as tx:
        await store.lock_audiences_exclusively(tx, project_id=call.project_id)
        if await store.count_audiences(tx, project_id=call.project_id, dynamic=False) >= AUDIENCES_PER_PROJECT:
            raise TooManyAudiences
        audience = await store.insert_audience(
            tx, project_id=call.project_id, id=new_id(), name=data.name, now=call.now
        )
        await events.record(tx, call, "audience.created", audience.id, name=data.name)
        if data.rules is not None:
            audience, _ = await _replace_rules(tx, call, audience, data.rules)
        await audit.record(tx, call, "audience.created", "Audience", audience.id, name=data.name)
    return audience


@get("/projects/{project_id}/audiences/{id}", needs="audiences:read", problems=[AudienceMissing])
async def get_audience(call: Call, id: UUID) -> Audience:
    """Get an audience with its rules."""
    return await require_audience(call.db, call.project_id, id)


@patch(
    "/projects/{project_id}/audiences/{id}",
    needs="audiences:write",
    problems=[AudienceMissing],
    example={"name": "Monthly newsletter"},
)
async def change_audience(call: Call, id: UUID, data: AudienceChange) -> Audience:
    """Change the name of an audience. `type: "STATIC"` removes the rules and keeps the current members.

    Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        if data.type is not UNSET:
            await store.lock_audiences_exclusively(tx, project_id=call.project_id)
        audience = await _lock_audience(tx, call.project_id, id)
        call.require_match(audience.updated_at)
        if data.type is not UNSET and audience.type == "DYNAMIC":
            audience = await _store_rules(tx, call, audience, None, level=0)
            await _update_levels(tx, call.project_id)
        if data.name is not UNSET:
            audience = await store.rename_audience(tx, project_id=call.project_id, id=id, name=data.name, now=call.now)
        await events.record(tx, call, "audience.updated", id, name=audience.name)
        await audit.record(tx, call, "audience.updated", "Audience", id, name=audience.name)
    return audience


@delete_("/projects/{project_id}/audiences/{id}", needs="audiences:write", problems=[AudienceMissing, AudienceInUse])
async def delete_audience(call: Call, id: UUID) -> Deleted:
    """Delete an audience; its contacts stay. If the audience is in use, returns 409 and names what uses it.

    It can be in use by audiences whose rules refer to it, by automations that are active or have unfinished runs, and
    by campaigns that are scheduled or being sent. Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        await store.lock_audiences_exclusively(tx, project_id=call.project_id)
        audience = await _lock_audience(tx, call.project_id, id)
        call.require_match(audience.updated_at)
        referring_names = [
            reference.name
            for reference in await store.rule_references(tx, project_id=call.project_id, also_ids=[])
            if id in reference.depends_on
        ]
        if referring_names:
            raise AudienceInUse(
                f"The rules of {', '.join(sorted(referring_names)[:5])} refer to this audience; change those first."
            )
        if dependents := await usage.find_dependents(tx, call.project_id, id):
            raise AudienceInUse(usage.in_use("audience", dependents), errors=dependents)
        await store.delete_audience(tx, project_id=call.project_id, id=id)
        await events.record(tx, call, "audience.deleted", id, name=audience.name)
        await audit.record(tx, call, "audience.deleted", "Audience", id, name=audience.name)
    return Deleted()


@patch(
    "/projects/{project_id}/audiences/{id}/rules",
    needs="audiences:write",
    problems=[AudienceMissing, TooManyAudiences],
    example={"match": "all", "conditions": [{"field": "plan", "operator": "eq", "value": "pro"}]},
)
async def set_audience_rules(call: Call, id: UUID, data: Rules) -> AudienceChangeResult:
    """Set the rules of an audience, which makes it DYNAMIC. Returns how many contacts joined and left.

    A condition names a `field` (`email`, `createdAt`, `unsubscribed`, `lastOpenedAt`, `lastClickedAt`, `audience`,
    `events.<name>` for when a custom event last happened, `attributes.<name>` or the bare name of an attribute), an
    `operator` (`eq`, `neq`, `gt`, `gte`, `lt`, `lte`, `contains`, `notContains`, `startsWith`, `endsWith`, `in`,
    `notIn`, `exists`, `notExists`, `before`, `after`, `withinDays`, `notWithinDays`) and a `value`; or it is a group
    `{match, conditions}` itself, at most 4 deep and 50 conditions in all. `match` is `all` or `any`. Values of
    different types never match; absent values match only the negative operators. Without conditions, `all` matches
    every contact and `any` none. Honours `If-Match`.
    """
    check_rules(data)
    async with call.db.transaction() as tx:
        await store.lock_audiences_exclusively(tx, project_id=call.project_id)
        audience = await _lock_audience(tx, call.project_id, id)
        call.require_match(audience.updated_at)
        audience, change = await _replace_rules(tx, call, audience, data)
        await events.record(tx, call, "audience.updated", id, name=audience.name)
        await audit.record(tx, call, "audience.rules_set", "Audience", id, added=change.added, removed=change.removed)
    return change


@post(
    "/projects/{project_id}/audiences/{id}/recompute",
    needs="audiences:write",
    problems=[AudienceMissing],
)
async def recompute_audience(call: Call, id: UUID) -> AudienceChangeResult:
    """Recompute the members of a DYNAMIC audience; a STATIC one does not change."""
    async with call.db.transaction() as tx:
        await store.lock_audiences_exclusively(tx, project_id=call.project_id)
        audience = await require_audience(tx, call.project_id, id)
        if audience.type == "STATIC":
            return AudienceChangeResult(added=0, removed=0)
        return await refill_audience(tx, call.project_id, audience, call.now, actor_of(call))


@get("/projects/{project_id}/audiences/{id}/contacts", needs="audiences:read", problems=[AudienceMissing])
async def list_audience_contacts(call: Call, id: UUID, page: CountedPageQuery) -> Page[Contact]:
    """List the contacts of an audience, newest contact first."""
    await require_audience(call.db, call.project_id, id)
    count = partial(store.count_members, limit=page.count_limit)
    filters = {"project_id": call.project_id, "audience_id": id}
    return await numbered_page(call, f"audience-contacts|{id}", page, count, store.members, **filters)


@post(
    "/projects/{project_id}/audiences/{id}/contacts",
    needs="audiences:write",
    problems=[AudienceMissing, ContactMissing, AudienceDynamic],
    example={"contactId": "01990000-0000-7000-8000-000000000000"},
)
async def add_contact_to_audience(call: Call, id: UUID, data: NewAudienceMember) -> AudienceMembership:
    """Add a contact to a STATIC audience. Does nothing if it is a member already."""
    contact_id = as_id(data.contact_id)
    async with call.db.transaction() as tx:
        await require_static(tx, call.project_id, id)
        await require_contact(tx, call.project_id, contact_id)
        await add_to_audience(tx, call.project_id, id, [contact_id], call.now, actor_of(call))
    return AudienceMembership(audience_id=id, contact_id=contact_id)


@post(
    "/projects/{project_id}/audiences/{id}/contacts/by-email",
    needs="audiences:write",
    problems=[AudienceMissing, AudienceDynamic],
    example={"email": "ada@example.com"},
)
async def add_email_to_audience(call: Call, id: UUID, data: NewMemberByEmail) -> AudienceMembership:
    """Add the contact with an address to a STATIC audience. Creates the contact if there is none."""
    async with call.db.transaction() as tx:
        await require_static(tx, call.project_id, id)
        try:
            contact = await find_or_create(tx, call.project_id, data.email, call.now, actor=actor_of(call))
        except AddressInvalid as error:
            raise Invalid.at("/email", error.detail, "address_invalid") from None
        await add_to_audience(tx, call.project_id, id, [contact.id], call.now, actor_of(call))
    return AudienceMembership(audience_id=id, contact_id=contact.id)


@post(
    "/projects/{project_id}/audiences/{id}/contacts/bulk-email",
    needs="audiences:write",
    body_limit=8_388_608,
    problems=[AudienceMissing, AudienceDynamic],
    example={"emails": ["ada@example.com", "grace@example.com"]},
)
async def add_emails_to_audience(call: Call, id: UUID, data: BulkMembers) -> AudienceBulkResult:
    """Add up to 10,000 addresses to a STATIC audience. Creates contacts for unknown addresses.

    `skipped` counts invalid and duplicate addresses and those of existing members.
    """
    if len(data.emails) + len(data.contacts) > BULK_LIMIT:
        raise Invalid.at("", f"At most {BULK_LIMIT} addresses are allowed in one request.", "too_many")
    for index, contact in enumerate(data.contacts):
        check_attributes(contact.attributes, f"/contacts/{index}/attributes")
    rows = imports.rows_from(
        [(email, {}) for email in data.emails]
        + [
            (contact.email, {name: value for name, value in contact.attributes.items() if value is not None})
            for contact in data.contacts
        ]
    )
    for row in rows:  # Attributes of repeated addresses were merged, so check the result too.
        check_attributes(row.attributes, f"/contacts/{max(0, row.line - 1 - len(data.emails))}/attributes")
    async with call.db.transaction() as tx:
        await require_static(tx, call.project_id, id)
        await imports.import_batch(tx, call.project_id, rows, "upsert", call.now, actor_of(call))
        ids = await imports.ids_of(tx, project_id=call.project_id, keys=[row.email_key for row in rows])
        added = await add_to_audience(tx, call.project_id, id, ids, call.now, actor_of(call))
    return AudienceBulkResult(added=len(added), skipped=len(data.emails) + len(data.contacts) - len(added))


@delete_(
    "/projects/{project_id}/audiences/{id}/contacts/{contact_id}",
    needs="audiences:write",
    problems=[AudienceMissing, ContactMissing, AudienceDynamic],
)
async def remove_contact_from_audience(call: Call, id: UUID, contact_id: UUID) -> AudienceMembership:
    """Remove a contact from a STATIC audience. The contact itself stays. Returns 404 if it is not a member."""
    async with call.db.transaction() as tx:
        await require_static(tx, call.project_id, id)
        if not await remove_from_audience(tx, call.project_id, id, contact_id, call.now, actor_of(call)):
            raise ContactMissing("This contact is not a member of the audience.")
    return AudienceMembership(audience_id=id, contact_id=contact_id)


async def require_audience(db: Queries, project_id: UUID, id: UUID) -> Audience:
    """The audience. Raises AudienceMissing."""
    return require_found(await store.audience(db, project_id=project_id, id=id), AudienceMissing)


async def rules_of_all(db: Queries, project_id: UUID) -> list[AudienceRules]:
    """The ids and names of all audiences of a project, with the rules of dynamic ones."""
    return await store.rules_of_all(db, project_id=project_id)


async def refresh(db: Database, project_id: UUID, id: UUID, now: Moment) -> None:
    """Recompute an audience, and the audiences that its rules refer to, if their rules are time-dependent.

    References may be direct or indirect. Does nothing if none of these audiences has time-dependent rules; otherwise
    runs in a transaction of its own and records events.
    """
    time_dependent = await store.time_dependent_among(
        db, project_id=project_id, ids=await _with_referred_audiences(db, project_id, id)
    )
    if not time_dependent:
        return
    async with db.transaction() as tx:
        await store.lock_audiences_exclusively(tx, project_id=project_id)
        # Ordered by level, so audiences that others refer to come first.
        for audience_id in await store.time_dependent_among(
            tx, project_id=project_id, ids=await _with_referred_audiences(tx, project_id, id)
        ):
            await refill_audience(tx, project_id, await require_audience(tx, project_id, audience_id), now)


async def _with_referred_audiences(db: Queries, project_id: UUID, id: UUID) -> list[UUID]:
    """The ids of an audience and of those that its rules refer to, directly or indirectly."""
    references = {
        reference.id: reference.depends_on
        for reference in await store.rule_references(db, project_id=project_id, also_ids=[])
    }
    return sorted(reachable_nodes(id, references))


async def require_static(tx: Transaction, project_id: UUID, id: UUID) -> None:
    """Check that an audience is STATIC, and take the project's shared audience lock until the transaction ends.

    Raises AudienceMissing or AudienceDynamic.
    """
    await store.lock_audiences_shared(tx, project_id=project_id)
    if (await require_audience(tx, project_id, id)).type != "STATIC":
        raise AudienceDynamic


async def add_to_audience(
    tx: Transaction, project_id: UUID, id: UUID, contact_ids: Sequence[UUID], now: Moment, actor: ChangeActor = SYSTEM
) -> list[UUID]:
    """Add contacts to a STATIC audience and record events; returns the ids of new members.

    Locks the contacts. Also updates the memberships in dynamic audiences whose rules refer to audiences, with their
    events. Call `require_static` before, in the same transaction. Ids without a contact are ignored.
    """
    bulk = actor.bulk_events(now)
    added = await store.add_members(
        tx,
        bulk,
        project_id=project_id,
        audience_id=id,
        ids=await lock_contacts(tx, project_id, contact_ids),
    )
    await events.react_to_range(tx, project_id, bulk.event_id, ("audience.joined",), len(added))
    await contacts_changed(tx, project_id, added, now, actor, from_level=1)
    return added


async def remove_from_audience(
    tx: Transaction, project_id: UUID, id: UUID, contact_id: UUID, now: Moment, actor: ChangeActor = SYSTEM
) -> bool:
    """Remove a contact from a STATIC audience and record the event; returns False if it was not a member.

    Locks the contact. Also updates its memberships in dynamic audiences whose rules refer to audiences, with their
    events. Call `require_static` before, in the same transaction.
    """
    await lock_contacts(tx, project_id, [contact_id])
    if not await store.remove_member(tx, project_id=project_id, audience_id=id, contact_id=contact_id):
        return False
    event = events.make_event(
        project_id,
        "audience.left",
        contact_id,
        now,
        actor_type=actor.actor_type,
        actor_id=actor.actor_id,
        actor_label=actor.actor_label,
        audienceId=str(id),
        contactId=str(contact_id),
    )
    await events.record_all(tx, [event])
    await contacts_changed(tx, project_id, [contact_id], now, actor, from_level=1)
    return True


async def remove_many_from_audience(
    tx: Transaction, project_id: UUID, id: UUID, contact_ids: Sequence[UUID], now: Moment, actor: ChangeActor = SYSTEM
) -> list[UUID]:
    """Remove contacts from a STATIC audience and record events; returns the ids of those that were members.

    Locks the contacts. Also updates their memberships in dynamic audiences whose rules refer to audiences, with their
    events. Call `require_static` before, in the same transaction.
    """
    await lock_contacts(tx, project_id, contact_ids)
    removed = await store.remove_members(tx, project_id=project_id, audience_id=id, ids=list(contact_ids))
    left_events = [
        events.make_event(
            project_id,
            "audience.left",
            contact_id,
            now,
            **actor._asdict(),
            audienceId=str(id),
            contactId=str(contact_id),
        )
        for contact_id in removed
    ]
    await events.record_all(tx, left_events)
    await contacts_changed(tx, project_id, removed, now, actor, from_level=1)
    return removed


async def count_members(db: Queries, project_id: UUID, id: UUID) -> int:
    """How many contacts belong to an audience; 0 if there is no such audience."""
    return await store.count_members(db, project_id=project_id, audience_id=id, limit=None)


async def _lock_audience(tx: Transaction, project_id: UUID, id: UUID) -> Audience:
    return require_found(await store.lock_audience(tx, project_id=project_id, id=id), AudienceMissing)


async def _replace_rules(
    tx: Transaction, call: Call, audience: Audience, rules: Rules
) -> tuple[Audience, AudienceChangeResult]:
    """Set the rules of an audience and recompute its members. The caller holds the project's exclusive lock.

    Raises TooManyAudiences, or Invalid if the rules refer to audiences in an invalid way.
    """
    dynamic_count = await store.count_audiences(tx, project_id=call.project_id, dynamic=True)
    if audience.type == "STATIC" and dynamic_count >= DYNAMIC_PER_PROJECT:
        raise TooManyAudiences(f"A project has at most {DYNAMIC_PER_PROJECT} audiences with rules.")
    audience = await _store_rules(tx, call, audience, rules, level=0)
    await _update_levels(tx, call.project_id, audiences_named(rules))
    return audience, await refill_audience(tx, call.project_id, audience, call.now, actor_of(call))


async def _store_rules(tx: Transaction, call: Call, audience: Audience, rules: Rules | None, *, level: int) -> Audience:
    """Write the rules of an audience; None makes it STATIC."""
    stored = StoredRules(project_id=call.project_id, id=audience.id, level=level)
    if rules is not None:
        stored = msgspec.structs.replace(
            stored,
            type="DYNAMIC",
            rules=plain_rules(rules),
            rules_id=new_id(),
            depends_on=sorted(audiences_named(rules)),
            watches_engagement=uses_engagement(rules),
            due_at=Moment.of(call.now + RECOMPUTE_INTERVAL) if uses_time(rules) else None,
        )
    return await store.set_rules(tx, stored, now=call.now)


async def _update_levels(tx: Transaction, project_id: UUID, required_ids: set[UUID] | None = None) -> None:
    """Store for each audience a level that is higher than the levels of the audiences that its rules refer to.

    Raises Invalid if one of `required_ids` does not exist, if rules refer to one another in a cycle, or if a chain of
    references is too long.
    """
    references = {
        reference.id: reference
        for reference in await store.rule_references(tx, project_id=project_id, also_ids=sorted(required_ids or ()))
    }
    if (required_ids or set()) - set(references):
        raise Invalid.at("/conditions", "The rules refer to an audience that does not exist.", "audience_missing")
    levels: dict[UUID, int] = {}

    def level_of(id: UUID, path: tuple[UUID, ...]) -> int:
        if id in path:
            raise Invalid.at("/conditions", "Audiences cannot refer to one another in a cycle.", "circular")
        if id not in levels:
            referred_ids = references[id].depends_on if id in references else []
            levels[id] = 1 + max((level_of(referred_id, (*path, id)) for referred_id in referred_ids), default=-1)
        return levels[id]

    for reference in references.values():
        if level_of(reference.id, ()) > LEVEL_LIMIT:
            raise Invalid.at(
                "/conditions",
                f"A chain of audiences that refer to one another can have at most {LEVEL_LIMIT} links.",
                "too_deep",
            )
        if levels[reference.id] != reference.level:
            await store.set_level(tx, project_id=project_id, id=reference.id, level=levels[reference.id])
