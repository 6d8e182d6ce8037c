"""SQL of contacts, audiences and memberships. SQL of imports is in `import_store.py`."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from psycopg.sql import SQL, Composable

from postern.kernel.database.statements import Jsonb, Queries, Transaction, moment_text, statement, streamed_statement
from postern.kernel.values import Moment, Record
from postern.messaging.audiences.model import (
    AttributeType,
    Audience,
    AudienceMemberCount,
    AudienceRules,
    Contact,
    ContactAttribute,
    DynamicAudience,
    InferredAttributeTypes,
    ListedAudience,
    StoredContact,
    StoredRules,
)
from postern.platform.events.bulk_store import INSERT_HAPPENED_EVENTS, BulkEvents


class MembershipCounts(Record):
    """How many memberships a statement inserted and deleted."""

    joined: int
    left: int


class RulesOfAudience(Record):
    """An audience's stored rules."""

    id: UUID
    rules_id: UUID
    rules: dict[str, Any]


class AudienceReference(Record):
    """An audience, and the ids of the audiences that its rules refer to (`depends_on`)."""

    id: UUID
    name: str
    level: int
    depends_on: list[UUID]


class AttributeInUse(Record):
    """An attribute that at least one contact has, and its type."""

    name: str
    type: AttributeType


class TypeOfAttribute(Record):
    """An attribute's type, and whether it was inferred from values."""

    name: str
    type: AttributeType
    inferred: bool


# The audience lock of a project: transactions that change contacts take it shared; those that change an audience's
# rules or recompute its members take it exclusively. So contacts are never evaluated by rules that are being replaced.
# Take it before any other lock of the transaction. The statements also turn off JIT for the transaction, because
# compiling hundreds of conditions takes longer than evaluating them for a million contacts.
#
# Take the project's audience lock shared, until the transaction ends.
@statement("""
    select pg_advisory_xact_lock_shared(hashtextextended('audiences:' || %(project_id)s::text, 0))::text || '' ||
           set_config('jit', 'off', true) || set_config('work_mem', '32MB', true)
""")
async def lock_audiences_shared(tx: Transaction, *, project_id: UUID) -> str: ...


# Take the project's audience lock exclusively, until the transaction ends.
@statement("""
    select pg_advisory_xact_lock(hashtextextended('audiences:' || %(project_id)s::text, 0))::text || '' ||
           set_config('jit', 'off', true) || set_config('work_mem', '64MB', true)
""")
async def lock_audiences_exclusively(tx: Transaction, *, project_id: UUID) -> str: ...


# Statements that write attributes also insert inferred types for attributes that have no type yet; for the others, this
# costs an index lookup. The insertion never waits: it skips an attribute whose type another transaction is inserting.
INSERT_INFERRED_TYPES: LiteralString = """
    new_attributes as materialized (
        select inferred.id, inferred.name, inferred.type, row_number() over (order by inferred.name) as number
        from jsonb_to_recordset(%(inferred)s::jsonb) as inferred (id uuid, name text, type text)
        where not exists (
            select from contact_attributes existing
            where existing.project_id = %(project_id)s::uuid and existing.name = inferred.name
        )
    ), declared as (
        insert into contact_attributes (project_id, id, name, type, inferred, created_at, updated_at)
        select %(project_id)s::uuid, id, name, type, true, %(now)s::timestamptz, %(now)s::timestamptz
        from new_attributes
        where pg_try_advisory_xact_lock(hashtextextended('contact attribute:' || %(project_id)s::uuid || name, 0))
          and number + (select count(*) from contact_attributes where project_id = %(project_id)s::uuid)
              <= %(attributes_per_project)s::int
        order by name
        on conflict do nothing
    )
"""


# Insert a contact; returns None if its address exists. An address that unsubscribed stays unsubscribed when its contact
# is created again.
@statement(
    "with"
    + INSERT_INFERRED_TYPES
    + """
    /*distributed , inserted as ( */
    insert into contacts (project_id, id, email, email_key, attributes, unsubscribed, unsubscribed_at,
                          created_at, updated_at)
    select %(project_id)s, %(id)s, %(email)s, %(email_key)s, %(attributes)s, state.unsubscribed,
           case when state.unsubscribed then %(now)s::timestamptz end, %(now)s, %(now)s
    from (
        select %(unsubscribed)s or exists (
            select from unsubscribed_addresses
            where project_id = %(project_id)s and digest = sha256(convert_to(%(email_key)s, 'UTF8'))
        ) as unsubscribed
    ) as state
    on conflict (project_id, email_key) do nothing
    returning /*single*/ *, project_id as app_id /*end*/
    /*distributed * ) select *, project_id as app_id from inserted */
"""
)
async def insert_contact(
    tx: Transaction, contact: StoredContact, types: InferredAttributeTypes, *, now: Moment
) -> Contact | None: ...


@statement("select *, project_id as app_id from contacts where project_id = %(project_id)s and id = %(id)s")
async def contact(db: Queries, *, project_id: UUID, id: UUID) -> Contact | None: ...


# The contact with a normalised address.
@statement("""
    select *, project_id as app_id from contacts where project_id = %(project_id)s and email_key = %(email_key)s
""")
async def contact_by_key(db: Queries, *, project_id: UUID, email_key: str) -> Contact | None: ...


# Lock a contact (for update).
@statement("""
    select *, project_id as app_id from contacts where project_id = %(project_id)s and id = %(id)s for update
""")
async def lock_contact(tx: Transaction, *, project_id: UUID, id: UUID) -> Contact | None: ...


# Lock contacts by id or normalised address (for no key update), ordered by id; returns the ids of those that exist.
# Transactions that change data used by audience rules first lock the contacts, then rows of automation runs: the second
# of two concurrent changes of a contact then sees the first, and the common order of locks prevents deadlocks.
@statement("""
    select id from contacts
    where project_id = %(project_id)s and id = any (array(
        select unnest(%(ids)s::uuid[])
        union all
        select id from contacts where project_id = %(project_id)s and email_key = any (%(keys)s::text[])))
    order by id for no key update
""")
async def lock_contacts(tx: Transaction, *, project_id: UUID, ids: list[UUID], keys: list[str]) -> list[UUID]: ...


# How many of these normalised addresses have a contact.
@statement("""
    select count(*)::int from contacts where project_id = %(project_id)s and email_key = any (%(keys)s::text[])
""")
async def count_existing(tx: Transaction, *, project_id: UUID, keys: list[str]) -> int: ...


# Take the project's lock for inserting many contacts, until the transaction ends. Transactions that take it also change
# existing contacts; without the lock, two of them could wait for each other's contacts.
@statement("""
    select pg_advisory_xact_lock(hashtextextended('newcomers:' || %(project_id)s::text, 0))::text
""")
async def lock_new_contacts(tx: Transaction, *, project_id: UUID) -> str: ...


# Write a changed contact. `unsubscribed_at` is kept while the contact stays unsubscribed.
@statement(
    "with"
    + INSERT_INFERRED_TYPES
    + """
    update contacts set email = %(email)s, email_key = %(email_key)s, attributes = %(attributes)s,
        unsubscribed = %(unsubscribed)s, updated_at = %(now)s,
        unsubscribed_at = case when not %(unsubscribed)s then null when unsubscribed then unsubscribed_at
                               else %(now)s::timestamptz end
    where project_id = %(project_id)s and id = %(id)s
    returning *, project_id as app_id
"""
)
async def update_contact(
    tx: Transaction, contact: StoredContact, types: InferredAttributeTypes, *, now: Moment
) -> Contact: ...


# Delete a contact with its memberships; returns it, or None if it does not exist. Stores a digest of its address in
# `former_contacts`, to find its id for erasure, and also in `unsubscribed_addresses` if it had unsubscribed.
@statement("""
    with deleted_members as (
        delete from audience_members where project_id = %(project_id)s and contact_id = %(id)s
    ), deleted as (
        delete from contacts where project_id = %(project_id)s and id = %(id)s returning *
    ), former as (
        insert into former_contacts (project_id, id, digest)
        select project_id, id, sha256(convert_to(email_key, 'UTF8')) from deleted
    ), unsubscribed as (
        insert into unsubscribed_addresses (project_id, digest, created_at)
        select project_id, sha256(convert_to(email_key, 'UTF8')), coalesce(unsubscribed_at, updated_at)
        from deleted where unsubscribed
        on conflict do nothing
    )
    select *, project_id as app_id from deleted
""")
async def delete_contact(tx: Transaction, *, project_id: UUID, id: UUID) -> Contact | None: ...


# Remember that an address unsubscribed, in case a contact with it is created later.
@statement("""
    insert into unsubscribed_addresses (project_id, digest, created_at)
    values (%(project_id)s, sha256(convert_to(%(email_key)s, 'UTF8')), %(now)s) on conflict do nothing
""")
async def remember_unsubscribed(tx: Transaction, *, project_id: UUID, email_key: str, now: Moment) -> None: ...


# Forget that an address unsubscribed, so that a contact created with it later is subscribed.
@statement("""
    delete from unsubscribed_addresses
    where project_id = %(project_id)s and digest = sha256(convert_to(%(email_key)s, 'UTF8'))
""")
async def forget_unsubscribed(tx: Transaction, *, project_id: UUID, email_key: str) -> None: ...


# Whether an address was unsubscribed when its contact was deleted or got another address.
@statement("""
    select exists (
        select from unsubscribed_addresses
        where project_id = %(project_id)s and digest = sha256(convert_to(%(email_key)s, 'UTF8')))
""")
async def has_unsubscribed(tx: Transaction, *, project_id: UUID, email_key: str) -> bool: ...


# Delete the link between an address and the ids of its deleted contacts; returns these ids.
@statement("""
    delete from former_contacts
    where project_id = %(project_id)s and digest = sha256(convert_to(%(email_key)s, 'UTF8'))
    returning id
""")
async def delete_former_contacts(tx: Transaction, *, project_id: UUID, email_key: str) -> list[UUID]: ...


# The number of contacts, filtered like `contacts`.
@statement("""
    select count(*) from contacts
    where project_id = %(project_id)s and (%(q)s::text is null or strpos(email_key, %(q)s) > 0)
      and (%(unsubscribed)s::boolean is null or unsubscribed = %(unsubscribed)s)
""")
async def count_contacts(db: Queries, *, project_id: UUID, q: str | None, unsubscribed: bool | None) -> int: ...


# The ids of up to `limit` contacts whose address contains a text, in no order. `matches` is a condition with the text
# as a literal: by its frequency, the planner chooses the trigram index or a scan that ends at the limit.
@statement("""
    select id from contacts
    where project_id = %(project_id)s and {matches}
      and (%(unsubscribed)s::boolean is null or unsubscribed = %(unsubscribed)s)
    limit %(limit)s
""")
async def some_contact_ids(
    db: Queries, *, project_id: UUID, matches: Composable, unsubscribed: bool | None, limit: int
) -> list[UUID]: ...


# The number of contacts with this value of `unsubscribed` (None: of all), from the sums that the triggers of `contacts`
# maintain.
@statement("""
    select coalesce(sum(case
        when %(unsubscribed)s::boolean is null then case when measure = 'total' then count end
        when %(unsubscribed)s then case when measure = 'unsubscribed' then count end
        else case when measure = 'total' then count when measure = 'unsubscribed' then -count end
    end), 0)::bigint
    from contact_rollups where project_id = %(project_id)s
""")
async def contact_count_from_rollups(db: Queries, *, project_id: UUID, unsubscribed: bool | None) -> int: ...


# Contacts by part of the address and by `unsubscribed`, newest first; None disables a filter.
@statement("""
    select *, project_id as app_id from contacts
    where project_id = %(project_id)s and (%(q)s::text is null or strpos(email_key, %(q)s) > 0)
      and (%(unsubscribed)s::boolean is null or unsubscribed = %(unsubscribed)s)
      and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s offset %(offset)s
""")
async def contacts(
    db: Queries,
    *,
    project_id: UUID,
    q: str | None,
    unsubscribed: bool | None,
    before: UUID | None,
    limit: int,
    offset: int,
) -> list[Contact]: ...


# Set when contacts last opened or clicked; None, or an earlier time than the stored one, changes nothing.
@statement("""
    update contacts set
        last_opened_at = coalesce(greatest(last_opened_at, %(opened_at)s::timestamptz), last_opened_at),
        last_clicked_at = coalesce(greatest(last_clicked_at, %(clicked_at)s::timestamptz), last_clicked_at)
    where project_id = %(project_id)s and id in (
        select id from contacts where project_id = %(project_id)s and id = any (%(ids)s::uuid[])
        order by id for update
    )
""")
async def set_last_engagement(
    tx: Transaction,
    *,
    project_id: UUID,
    ids: list[UUID],
    opened_at: datetime | None,
    clicked_at: datetime | None,
) -> None: ...


# Stream all contacts of a project for the export, oldest first: the cells of the contact's fields, and the attributes.
@streamed_statement(
    "select id::text, email, unsubscribed, "
    + moment_text("created_at")
    + ", "
    + moment_text("updated_at")
    + ", "
    + moment_text("last_opened_at")
    + ", "
    + moment_text("last_clicked_at")
    + ", attributes from contacts where project_id = %(project_id)s order by id"
)
def stream_contacts(tx: Transaction, *, project_id: UUID) -> AsyncIterator[list[tuple[Any, ...]]]: ...


# Attributes that contacts have, most frequent first.
@statement("""
    select attribute.name, attribute.type from (
        select name, count(*) as occurrences
        from contacts cross join lateral jsonb_object_keys(attributes) as name
        where project_id = %(project_id)s group by name
    ) as used
    join contact_attributes attribute on attribute.project_id = %(project_id)s and attribute.name = used.name
    order by used.occurrences desc, attribute.name limit %(limit)s
""")
async def attributes_in_use(db: Queries, *, project_id: UUID, limit: int) -> list[AttributeInUse]: ...


# The types of all attributes of a project.
@statement("select name, type, inferred from contact_attributes where project_id = %(project_id)s")
async def attribute_types(db: Queries, *, project_id: UUID) -> list[TypeOfAttribute]: ...


# Attributes with ids below `before`, newest first.
@statement("""
    select *, project_id as app_id from contact_attributes
    where project_id = %(project_id)s and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def contact_attributes(
    db: Queries, *, project_id: UUID, before: UUID | None, limit: int
) -> list[ContactAttribute]: ...


@statement("select *, project_id as app_id from contact_attributes where project_id = %(project_id)s and id = %(id)s")
async def contact_attribute(db: Queries, *, project_id: UUID, id: UUID) -> ContactAttribute | None: ...


# Lock an attribute (for update).
@statement("""
    select *, project_id as app_id from contact_attributes
    where project_id = %(project_id)s and id = %(id)s for update
""")
async def lock_contact_attribute(tx: Transaction, *, project_id: UUID, id: UUID) -> ContactAttribute | None: ...


@statement("select count(*) from contact_attributes where project_id = %(project_id)s")
async def count_contact_attributes(db: Queries, *, project_id: UUID) -> int: ...


# Insert an attribute with a declared type; returns None if the name exists.
@statement("""
    insert into contact_attributes (project_id, id, name, type, inferred, description, created_at, updated_at)
    values (%(project_id)s, %(id)s, %(name)s, %(type)s, false, %(description)s, %(now)s, %(now)s)
    on conflict (project_id, name) do nothing
    returning *, project_id as app_id
""")
async def insert_contact_attribute(
    tx: Transaction, *, project_id: UUID, id: UUID, name: str, type: AttributeType, description: str, now: Moment
) -> ContactAttribute | None: ...


# Lock attribute names until the transaction ends. Waits for transactions that are inserting inferred types for the same
# names; these themselves never wait (see INSERT_INFERRED_TYPES).
@statement("""
    select count(pg_advisory_xact_lock(
        hashtextextended('contact attribute:' || %(project_id)s::uuid || name, 0))::text)
    from unnest(%(names)s::text[]) as name
""")
async def lock_attribute_names(tx: Transaction, *, project_id: UUID, names: list[str]) -> int: ...


# Declare types of attributes (a JSON list of `id`, `name` and `type`); inferred types are replaced, declared ones are
# kept. Returns the ids of inserted and changed attributes.
@statement("""
    insert into contact_attributes as existing (project_id, id, name, type, inferred, created_at, updated_at)
    select %(project_id)s::uuid, added.id, added.name, added.type, false, %(now)s::timestamptz, %(now)s::timestamptz
    from jsonb_to_recordset(%(types)s::jsonb) as added (id uuid, name text, type text)
    order by added.name
    on conflict (project_id, name) do update
        set type = excluded.type, inferred = false, updated_at = excluded.updated_at
    where existing.inferred
    returning existing.id
""")
async def declare_attributes(tx: Transaction, *, project_id: UUID, types: Jsonb, now: Moment) -> list[UUID]: ...


@statement("""
    update contact_attributes set type = %(type)s, inferred = %(inferred)s, description = %(description)s,
        updated_at = %(updated_at)s
    where project_id = %(project_id)s and id = %(id)s
    returning *, project_id as app_id
""")
async def update_contact_attribute(
    tx: Transaction, attribute: ContactAttribute, *, project_id: UUID
) -> ContactAttribute: ...


@statement("delete from contact_attributes where project_id = %(project_id)s and id = %(id)s")
async def delete_contact_attribute(tx: Transaction, *, project_id: UUID, id: UUID) -> bool: ...


# Insert a STATIC audience without members.
@statement("""
    insert into audiences (project_id, id, name, type, created_at, updated_at)
    values (%(project_id)s, %(id)s, %(name)s, 'STATIC', %(now)s, %(now)s)
    returning *, project_id as app_id
""")
async def insert_audience(tx: Transaction, *, project_id: UUID, id: UUID, name: str, now: Moment) -> Audience: ...


# The number of audiences of a project; with `dynamic`, of those with rules.
@statement(
    "select count(*) from audiences where project_id = %(project_id)s and (not %(dynamic)s or rules is not null)"
)
async def count_audiences(db: Queries, *, project_id: UUID, dynamic: bool) -> int: ...


@statement("select *, project_id as app_id from audiences where project_id = %(project_id)s and id = %(id)s")
async def audience(db: Queries, *, project_id: UUID, id: UUID) -> Audience | None: ...


# Lock an audience (for update).
@statement("""
    select *, project_id as app_id from audiences where project_id = %(project_id)s and id = %(id)s for update
""")
async def lock_audience(tx: Transaction, *, project_id: UUID, id: UUID) -> Audience | None: ...


# The text that a search in the list of audiences compares. There is no index: a project has few audiences.
SEARCH_TEXT = SQL("lower(listed.name)")


# `clause` has conditions on the audiences `listed`, and their order.
@statement("""
    select listed.*, listed.project_id as app_id, null::integer as member_count from audiences listed
    where listed.project_id = %(project_id)s and {clause} limit %(limit)s
""")
async def audiences(db: Queries, *, project_id: UUID, clause: Composable, limit: int) -> list[ListedAudience]: ...


# The number of audiences that meet the conditions of `clause`, counted up to `limit`.
@statement("""
    select count(*)::int from (
        select from audiences listed where listed.project_id = %(project_id)s and {clause} limit %(limit)s
    ) as counted
""")
async def count_listed(db: Queries, *, project_id: UUID, clause: Composable, limit: int) -> int: ...


# The number of members of each of these audiences, counted up to `limit`.
@statement("""
    select audience.id, member.count from unnest(%(audience_ids)s::uuid[]) as audience (id)
    cross join lateral (
        select count(*)::int as count from (
            select from audience_members
            where project_id = %(project_id)s and audience_id = audience.id limit %(limit)s
        ) as counted
    ) as member
""")
async def member_counts(
    db: Queries, *, project_id: UUID, audience_ids: list[UUID], limit: int
) -> list[AudienceMemberCount]: ...


@statement("""
    update audiences set name = %(name)s, updated_at = %(now)s where project_id = %(project_id)s and id = %(id)s
    returning *, project_id as app_id
""")
async def rename_audience(tx: Transaction, *, project_id: UUID, id: UUID, name: str, now: Moment) -> Audience: ...


# Write the rules and the columns that depend on them. The new `attempt` shows a worker that is recomputing the audience
# that its rules have changed.
@statement("""
    update audiences set type = %(type)s, rules = %(rules)s, rules_id = %(rules_id)s, level = %(level)s,
        depends_on = %(depends_on)s, watches_engagement = %(watches_engagement)s, due_at = %(due_at)s,
        attempt = attempt + 1, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *, project_id as app_id
""")
async def set_rules(tx: Transaction, rules: StoredRules, *, now: Moment) -> Audience: ...


# For each dynamic audience, and for the audiences `also_ids`: the ids of the audiences that its rules refer to.
@statement("""
    select id, name, level, depends_on from audiences
    where project_id = %(project_id)s and (rules is not null or id = any (%(also_ids)s::uuid[]))
""")
async def rule_references(db: Queries, *, project_id: UUID, also_ids: list[UUID]) -> list[AudienceReference]: ...


# The ids of those audiences, among `ids`, that have time-dependent rules and therefore a `due_at`; ordered by level.
@statement("""
    select id from audiences
    where project_id = %(project_id)s and id = any (%(ids)s) and type = 'DYNAMIC' and due_at is not null
    order by level, id
""")
async def time_dependent_among(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[UUID]: ...


# All audiences of a project, with the rules of dynamic ones.
@statement("select id, name, rules from audiences where project_id = %(project_id)s")
async def rules_of_all(db: Queries, *, project_id: UUID) -> list[AudienceRules]: ...


# Store the level of an audience, by which audiences are evaluated in order.
@statement("update audiences set level = %(level)s where project_id = %(project_id)s and id = %(id)s")
async def set_level(tx: Transaction, *, project_id: UUID, id: UUID, level: int) -> None: ...


# Delete an audience and its memberships.
@statement("""
    with deleted_members as (
        delete from audience_members where project_id = %(project_id)s and audience_id = %(id)s
    )
    delete from audiences where project_id = %(project_id)s and id = %(id)s
""")
async def delete_audience(tx: Transaction, *, project_id: UUID, id: UUID) -> bool: ...


# The dynamic audiences from a level on, ordered by level. With `engagement`, only those that an open, a click, a custom
# event or a change of another audience can affect.
@statement("""
    select id, rules_id, level from audiences
    where project_id = %(project_id)s and type = 'DYNAMIC'
      and (not %(engagement)s or watches_engagement or level > 0) and level >= %(from_level)s
    order by level, id
""")
async def dynamic_audiences(
    db: Queries, *, project_id: UUID, engagement: bool, from_level: int
) -> list[DynamicAudience]: ...


# The rules of those audiences, among `ids`, that have rules.
@statement("""
    select id, rules_id, rules from audiences
    where project_id = %(project_id)s and id = any (%(ids)s::uuid[]) and rules is not null
""")
async def rules_of(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[RulesOfAudience]: ...


# The statement that changes memberships also inserts the events, so a million of them never pass through Python.
# `offset 0` and the join by ctid fix the plan: right after an import there are no statistics, and the join that the
# planner prefers then takes minutes. ctid is safe because rows of members are inserted and deleted, never updated.
#
# Evaluate dynamic audiences for changed contacts: insert and delete memberships, and record the events. `conditions`
# has one compiled condition for each of `audience_ids`, and `values` is the list of their values.
@statement(
    """
    with changed as materialized (
        select c.id as contact_id, evaluated.audience_id, coalesce(evaluated.matches, false) as joins, member.row_ctid
        from (select %(values)s::jsonb as rule_values, %(now)s::timestamptz as now) as input
        cross join contacts c
        cross join lateral unnest(%(audience_ids)s::uuid[], array[{conditions}]) as evaluated (audience_id, matches)
        left join lateral (
            select /*single*/m.ctid/*end*/ /*distributed m.contact_id */ as row_ctid from audience_members m
            where m.project_id = %(project_id)s and m.audience_id = evaluated.audience_id and m.contact_id = c.id
            offset 0
        ) as member on true
        where c.project_id = %(project_id)s and c.id = any (%(ids)s::uuid[])
          and coalesce(evaluated.matches, false) <> (member.row_ctid is not null)
    ), deleted as (
        delete from audience_members
        where project_id = %(project_id)s and /*single*/ctid = any (array(select row_ctid from changed where not joins))
            /*end*/ /*distributed (audience_id, contact_id) in (
                select audience_id, contact_id from changed where not joins) */
    ), inserted as (
        insert into audience_members (project_id, audience_id, contact_id, joined_at)
        select %(project_id)s::uuid, audience_id, contact_id, %(now)s::timestamptz from changed where joins
        order by audience_id, contact_id
        on conflict do nothing
    ), happened as (
        select case when joins then 'audience.joined' else 'audience.left' end as type, contact_id as subject_id,
            jsonb_build_object('audienceId', audience_id, 'contactId', contact_id) as data
        from changed
    ),
    """
    + INSERT_HAPPENED_EVENTS
    + """
    select count(*) filter (where joins) as joined, count(*) filter (where not joins) as left from changed
"""
)
async def update_memberships(
    tx: Transaction,
    events: BulkEvents,
    *,
    project_id: UUID,
    ids: list[UUID],
    audience_ids: list[UUID],
    conditions: Composable,
    values: Jsonb,
) -> MembershipCounts: ...


# Recompute the members of one audience by its compiled condition, and record the events. `values` is a list with the
# condition's values as its only element.
@statement(
    """
    with matching as (
        select c.id from (select %(values)s::jsonb as rule_values, %(now)s::timestamptz as now) as input
        cross join contacts c
        where c.project_id = %(project_id)s and {condition}
    ), changed as materialized (
        select coalesce(matching.id, member.contact_id) as contact_id, matching.id is not null as joins, member.row_ctid
        from matching full join (
            select contact_id, /*single*/ctid/*end*/ /*distributed contact_id */ as row_ctid from audience_members
            where project_id = %(project_id)s and audience_id = %(audience_id)s
        ) as member on matching.id = member.contact_id
        where matching.id is null or member.contact_id is null
    ), deleted as (
        delete from audience_members
        where project_id = %(project_id)s and /*single*/ctid = any (array(select row_ctid from changed where not joins))
            /*end*/ /*distributed audience_id = %(audience_id)s and contact_id in (
                select contact_id from changed where not joins) */
    ), inserted as (
        insert into audience_members (project_id, audience_id, contact_id, joined_at)
        select %(project_id)s::uuid, %(audience_id)s, contact_id, %(now)s::timestamptz from changed where joins
        order by contact_id
    ), happened as (
        select case when joins then 'audience.joined' else 'audience.left' end as type, contact_id as subject_id,
            jsonb_build_object('audienceId', %(audience_id)s::uuid, 'contactId', contact_id) as data
        from changed
    ),
    """
    + INSERT_HAPPENED_EVENTS
    + """
    select count(*) filter (where joins) as joined, count(*) filter (where not joins) as left from changed
"""
)
async def refill_members(
    tx: Transaction,
    events: BulkEvents,
    *,
    project_id: UUID,
    audience_id: UUID,
    condition: Composable,
    values: Jsonb,
) -> MembershipCounts: ...


# Add contacts to an audience and record events; returns the ids of new members.
@statement(
    """
    with inserted as (
        insert into audience_members (project_id, audience_id, contact_id, joined_at)
        select %(project_id)s::uuid, %(audience_id)s, id, %(now)s::timestamptz from contacts
        where project_id = %(project_id)s and id = any (%(ids)s::uuid[]) order by id
        on conflict do nothing
        returning contact_id
    ), happened as (
        select 'audience.joined' as type, contact_id as subject_id,
            jsonb_build_object('audienceId', %(audience_id)s::uuid, 'contactId', contact_id) as data
        from inserted
    ),
    """
    + INSERT_HAPPENED_EVENTS
    + """
    select contact_id from inserted
"""
)
async def add_members(
    tx: Transaction,
    events: BulkEvents,
    *,
    project_id: UUID,
    audience_id: UUID,
    ids: list[UUID],
) -> list[UUID]: ...


# Remove one contact from an audience; returns False if it was not a member.
@statement("""
    delete from audience_members
    where project_id = %(project_id)s and audience_id = %(audience_id)s and contact_id = %(contact_id)s
""")
async def remove_member(tx: Transaction, *, project_id: UUID, audience_id: UUID, contact_id: UUID) -> bool: ...


# The number of contacts of an audience, counting no more than `limit` (None: all).
@statement("""
    select count(*) from (
        select from audience_members where project_id = %(project_id)s and audience_id = %(audience_id)s
        limit %(limit)s
    ) as counted
""")
async def count_members(db: Queries, *, project_id: UUID, audience_id: UUID, limit: int | None) -> int: ...


# A page of the contacts of an audience, newest contact first.
@statement("""
    select c.*, c.project_id as app_id from (
        select contact_id from audience_members
        where project_id = %(project_id)s and audience_id = %(audience_id)s
          and (%(before)s::uuid is null or contact_id < %(before)s)
        order by contact_id desc limit %(limit)s offset %(offset)s
    ) as member
    join contacts c on c.project_id = %(project_id)s and c.id = member.contact_id
    order by c.id desc
""")
async def members(
    db: Queries, *, project_id: UUID, audience_id: UUID, before: UUID | None, limit: int, offset: int
) -> list[Contact]: ...


# The ids of the audiences to which a contact belongs, oldest first.
@statement("""
    select audience_id from audience_members where project_id = %(project_id)s and contact_id = %(contact_id)s
    order by audience_id
""")
async def audiences_of_contact(db: Queries, *, project_id: UUID, contact_id: UUID) -> list[UUID]: ...


# Schedule the next recomputation; returns False if another worker has claimed the audience since.
@statement("""
    update audiences set due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s
""")
async def schedule_refill(tx: Transaction, *, project_id: UUID, id: UUID, attempt: int, due_at: datetime) -> bool: ...


class ContactKey(Record):
    """A contact's id and its normalised address."""

    project_id: UUID
    email_key: str
    id: UUID


# The ids of the contacts with these normalised addresses, for parallel lists of projects and addresses; an address
# without a contact is omitted. (Every statement must have a parameter `project_id`, here a list.)
@statement("""
    select c.project_id, c.email_key, c.id from contacts c
    join unnest(%(project_id)s::uuid[], %(email_keys)s::text[]) as pair (project_id, email_key)
         on (c.project_id, c.email_key) = (pair.project_id, pair.email_key) /*distributed and c.project_id = :project */
""")
async def contact_ids(db: Queries, *, project_id: list[UUID], email_keys: list[str]) -> list[ContactKey]: ...


# The ids of those contacts, among `ids`, that satisfy a compiled condition at the time `now`.
@statement("""
    select c.id from (select %(values)s::jsonb as rule_values, %(now)s::timestamptz as now) as input
    cross join contacts c
    where c.project_id = %(project_id)s and c.id = any (%(ids)s::uuid[]) and {condition}
""")
async def matching(
    db: Queries, *, project_id: UUID, ids: list[UUID], condition: Composable, values: Jsonb, now: Moment
) -> list[UUID]: ...


# The contacts with these ids that exist, in no particular order. MATERIALIZED: see decision 0106.
@statement("""
    with wanted as materialized (
        select distinct %(project_id)s::uuid as project_id, id from unnest(%(ids)s::uuid[]) as v (id)
    )
    select c.*, c.project_id as app_id from contacts c
    join wanted on (c.project_id, c.id) = (wanted.project_id, wanted.id) /*distributed and c.project_id = :project */
""")
async def contacts_with_ids(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[Contact]: ...


# Merge `change` into contacts and remove the attributes `removed`; returns the ids of changed contacts. Contacts whose
# attributes would exceed `max_bytes` or `max_count` stay unchanged.
@statement(
    "with"
    + INSERT_INFERRED_TYPES
    + """, merged as (
        select id, attributes, (attributes || %(change)s::jsonb) - %(removed)s::text[] as new_attributes from contacts
        where project_id = %(project_id)s and id = any (%(ids)s::uuid[])
        order by id for update
    )
    update contacts as contact set attributes = merged.new_attributes, updated_at = %(now)s
    from merged
    where contact.project_id = %(project_id)s and contact.id = merged.id and merged.new_attributes <> merged.attributes
      and octet_length(merged.new_attributes::text) <= %(max_bytes)s
      and (select count(*) from jsonb_object_keys(merged.new_attributes)) <= %(max_count)s
    returning contact.id
"""
)
async def merge_attributes(
    tx: Transaction,
    types: InferredAttributeTypes,
    *,
    project_id: UUID,
    ids: list[UUID],
    change: Jsonb,
    removed: list[str],
    max_bytes: int,
    max_count: int,
    now: Moment,
) -> list[UUID]: ...


# Remove contacts from an audience; returns the ids of those that were members.
@statement("""
    delete from audience_members
    where project_id = %(project_id)s and audience_id = %(audience_id)s and contact_id = any (%(ids)s::uuid[])
    returning contact_id
""")
async def remove_members(tx: Transaction, *, project_id: UUID, audience_id: UUID, ids: list[UUID]) -> list[UUID]: ...


# Limit the duration of each later statement of the transaction.
@statement("select set_config('statement_timeout', %(milliseconds)s, true)")
async def limit_duration(tx: Transaction, *, milliseconds: str) -> None: ...


# The ids, among `ids`, of audiences of the project.
@statement("select id from audiences where project_id = %(project_id)s and id = any (%(ids)s)")
async def existing_audiences(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> list[UUID]: ...


# The number of contacts that satisfy a compiled condition at the time `now`.
@statement("""
    select count(*) from (select %(values)s::jsonb as rule_values, %(now)s::timestamptz as now) as input
    cross join contacts c
    where c.project_id = %(project_id)s and {condition}
""")
async def count_matching(
    tx: Transaction, *, project_id: UUID, condition: Composable, values: Jsonb, now: Moment
) -> int: ...


# The newest contacts that satisfy a compiled condition at the time `now`.
@statement("""
    select c.*, c.project_id as app_id
    from (select %(values)s::jsonb as rule_values, %(now)s::timestamptz as now) as input
    cross join contacts c
    where c.project_id = %(project_id)s and {condition}
    order by c.id desc limit %(limit)s
""")
async def newest_matching(
    tx: Transaction, *, project_id: UUID, condition: Composable, values: Jsonb, now: Moment, limit: int
) -> list[Contact]: ...
