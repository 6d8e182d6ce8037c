"""Groups of directories, their members, and the roles that the members get from them."""

import asyncio
from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from msgspec.structs import replace
from psycopg.sql import SQL

from postern.identity.scim import group_store, rules, store
from postern.identity.scim.authentication import Directory
from postern.identity.scim.documents import ListRequest, group_document
from postern.identity.scim.group_store import GroupMember
from postern.identity.scim.model import (
    GROUPS_PER_CONNECTION,
    MEMBERS_PER_GROUP,
    MEMBERS_PER_REQUEST,
    RETURNED_MEMBERS,
    SYNCHRONIZED_USERS,
    GroupRow,
)
from postern.identity.scim.roles import synchronize_roles
from postern.identity.scim.scans import FilterScan
from postern.identity.scim.users import ScimResourceMissing, require_version
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.problems import require_found
from postern.kernel.values import Record, as_id, new_id
from postern.platform.audit import operations as audit
from postern.protocols.scim.filters import ChangePath, Comparison, Either, Filter, parse_filter, parse_path
from postern.protocols.scim.patch import PatchChange, PatchStep, apply_changes, read_changes
from postern.protocols.scim.problems import ScimNotUnique, ScimRequestInvalid
from postern.protocols.scim.schemas import GROUP, Document, read_value

STEPS_CHUNK = 50
"""Operations of a PATCH request that are parsed before other requests have their turn."""
MEMBERS = GROUP.schema.by_name["members"]


class MemberStep(Record):
    """A change of the members of a group: `user_ids` are added or removed, or replace all members."""

    action: Literal["add", "remove", "replace"]
    user_ids: list[UUID]


class GroupPage(Record):
    """A page of groups, and the number of all groups that match."""

    documents: list[Document]
    total: int


async def create_group(directory: Directory, document: Document, *, returns_members: bool) -> Document:
    """Create a group with its members. Returns the resource, with its members only if asked for.

    Raises ScimRequestInvalid and ScimNotUnique.
    """
    call = directory.call
    steps = [MemberStep(action="add", user_ids=_user_ids(document.get("members", [])))]
    _require_few(steps)
    row = _row_of(directory, document, new_id())
    async with directory.changing() as (tx, directory):
        directory.require_not_suspended()
        await _require_unique(tx, directory, row, None)
        if await group_store.count_groups(tx, **directory.key) >= GROUPS_PER_CONNECTION:
            raise ScimRequestInvalid("tooMany", f"A directory can have at most {GROUPS_PER_CONNECTION:,} groups.")
        if await group_store.insert_group(tx, row) is None:
            raise ScimNotUnique("Another group of this directory has this `displayName` or `externalId`.")
        affected = await _change_members(tx, directory, row, steps)
        await _synchronize(tx, directory, [row], affected)
        await audit.record(
            tx, call, "directory_group.created", "Organization", directory.connection.organization_id,
            directory_group_id=row.id, name=row.display_name, members=len(affected),
        )  # fmt: skip
        group_members = await _members_of(tx, directory, [row]) if returns_members else {}
    return group_document(directory.base_url, row, group_members.get(row.id, []))


async def get_group(directory: Directory, id: UUID, request: ListRequest) -> tuple[Document, int]:
    """A group, and its version. Raises ScimResourceMissing."""
    db = directory.call.db
    row = require_found(await group_store.get_group(db, **directory.key, id=id), ScimResourceMissing)
    group_members = await _members_of(db, directory, [row]) if request.returns(GROUP, "members") else {}
    return group_document(directory.base_url, row, group_members.get(row.id, [])), row.version


async def replace_group(
    directory: Directory, id: UUID, document: Document, *, returns_members: bool
) -> tuple[Document, int]:
    """Replace name and members of a group. Returns the resource, with its members only if asked for, and its version.

    Raises ScimResourceMissing, RecordChanged (`If-Match`), ScimRequestInvalid and ScimNotUnique.
    """
    steps = [MemberStep(action="replace", user_ids=_user_ids(document.get("members", [])))]
    return await _change(directory, id, [], steps, document, returns_members=returns_members)


async def patch_group(
    directory: Directory, id: UUID, patch: Sequence[PatchStep], *, returns_members: bool
) -> tuple[Document, int]:
    """Apply the operations of a PATCH request to a group. Returns the resource, with its members only if asked for,
    and its version.

    Operations on members are separate from the others, so that the members of a large group are not read. Raises the
    problems of `replace_group`.
    """
    steps: list[MemberStep] = []
    others: list[PatchStep] = []
    for number, step in enumerate(patch):
        if number % STEPS_CHUNK == 0:
            await asyncio.sleep(0)
        if step.path is not None:
            path = parse_path(GROUP, step.path)
            if path.attribute is MEMBERS:
                steps.append(_member_step(step, path))
            else:
                others.append(step)
            continue
        by_name: dict[str, Any] = {name.lower(): (name, value) for name, value in step.value.items()}
        if "members" in by_name:
            value = by_name["members"][1]
            steps.append(_member_step(replace(step, value=value), ChangePath(None, MEMBERS)))
        rest = {name: value for key, (name, value) in by_name.items() if key != "members"}
        if rest:
            others.append(replace(step, value=rest))
    return await _change(directory, id, read_changes(GROUP, others), steps, None, returns_members=returns_members)


async def delete_group(directory: Directory, id: UUID) -> None:
    """Delete a group. Its members lose the roles that come from it.

    Raises ScimResourceMissing and RecordChanged (`If-Match`).
    """
    call = directory.call
    async with directory.changing() as (tx, directory):
        row = require_found(await group_store.lock_group(tx, **directory.key, id=id), ScimResourceMissing)
        require_version(directory, row.version)
        affected = [member.id for member in await group_store.member_ids(tx, project_id=call.project_id, group_id=id)]
        await group_store.delete_group(tx, project_id=call.project_id, id=id)
        await _synchronize(tx, directory, [row], affected)
        await audit.record(
            tx, call, "directory_group.deleted", "Organization", directory.connection.organization_id,
            directory_group_id=id, name=row.display_name,
        )  # fmt: skip


async def list_groups(directory: Directory, request: ListRequest) -> GroupPage:
    """A page of the groups that match a filter. Raises ScimRequestInvalid."""
    db = directory.call.db
    parsed = None if request.filter is None else parse_filter(GROUP, request.filter)
    condition = SQL("true") if parsed is None else rules.group_condition(parsed)
    if condition is None:
        # There are at most GROUPS_PER_CONNECTION. Their members are not read: they have a condition in SQL.
        assert parsed is not None
        scan = FilterScan(directory, parsed)
        if _mentions_members(parsed):
            raise ScimRequestInvalid("invalidFilter", "Members of groups can only be compared by `members.value eq`.")
        all_rows = await group_store.list_groups(
            db, **directory.key, where=SQL("true"), limit=GROUPS_PER_CONNECTION, offset=0
        )
        matching = [row for row in all_rows if await scan.matches(group_document(directory.base_url, row, []))]
        total, rows = len(matching), matching[request.offset : request.offset + request.count]
    else:
        rows = await group_store.list_groups(
            db, **directory.key, where=condition, limit=request.count, offset=request.offset
        )
        counted = request.total_after(len(rows))
        total = await group_store.count_matching(db, **directory.key, where=condition) if counted is None else counted
    group_members = await _members_of(db, directory, rows) if rows and request.returns(GROUP, "members") else {}
    documents = [
        request.select(GROUP, group_document(directory.base_url, row, group_members.get(row.id, []))) for row in rows
    ]
    return GroupPage(documents=documents, total=total)


async def _change(
    directory: Directory,
    id: UUID,
    changes: Sequence[PatchChange],
    steps: list[MemberStep],
    replacement: Document | None,
    *,
    returns_members: bool,
) -> tuple[Document, int]:
    call = directory.call
    _require_few(steps)
    async with directory.changing() as (tx, directory):
        directory.require_not_suspended()
        before = require_found(await group_store.lock_group(tx, **directory.key, id=id), ScimResourceMissing)
        require_version(directory, before.version)
        present: Document = {"displayName": before.display_name}
        if before.external_id is not None:
            present["externalId"] = before.external_id
        document = apply_changes(GROUP, present, changes) if replacement is None else replacement
        row = replace(
            _row_of(directory, document, id), version=before.version, created_at=before.created_at, updated_at=call.now
        )
        await _require_unique(tx, directory, row, id)
        affected = await _change_members(tx, directory, row, steps)
        renamed = (row.display_name, row.external_id) != (before.display_name, before.external_id)
        if renamed or affected:
            row = await group_store.update_group(tx, row, now=call.now)
            if renamed:
                ids = await group_store.member_ids(tx, project_id=call.project_id, group_id=id)
                affected = list({*affected, *(member.id for member in ids)})
            await _synchronize(tx, directory, [before, row], affected)
            await audit.record(
                tx, call, "directory_group.updated", "Organization", directory.connection.organization_id,
                directory_group_id=id, name=row.display_name, changed_members=len(affected),
            )  # fmt: skip
        else:
            row = before
        group_members = await _members_of(tx, directory, [row]) if returns_members else {}
    return group_document(directory.base_url, row, group_members.get(row.id, [])), row.version


async def _change_members(
    tx: Transaction, directory: Directory, row: GroupRow, steps: Sequence[MemberStep]
) -> list[UUID]:
    """Apply the changes of members. Returns the ids of the users that were added or removed.

    Raises ScimRequestInvalid for a user that is not in this directory, and if there are too many members.
    """
    affected: set[UUID] = set()
    group = {"project_id": row.project_id, "group_id": row.id}
    for step in steps:
        if step.action == "remove":
            removed = await group_store.remove_members(tx, **group, user_ids=step.user_ids)
            affected |= {member.id for member in removed}
            continue
        if step.action == "replace":
            removed = await group_store.remove_other_members(tx, **group, kept_ids=step.user_ids)
            affected |= {member.id for member in removed}
        if not step.user_ids:
            continue
        known = await group_store.users_of_connection(tx, **directory.key, user_ids=step.user_ids)
        missing = set(step.user_ids) - {user.id for user in known}
        if missing:
            raise ScimRequestInvalid("invalidValue", f"There is no user with the id {min(missing)} in this directory.")
        added = await group_store.add_members(
            tx, **directory.key, group_id=row.id, user_ids=step.user_ids, now=directory.call.now
        )
        affected |= {member.id for member in added}
    if affected:
        sizes = await group_store.sizes(tx, project_id=row.project_id, group_ids=[row.id])
        if sizes and sizes[0].member_count > MEMBERS_PER_GROUP:
            raise ScimRequestInvalid("tooMany", f"A group can have at most {MEMBERS_PER_GROUP:,} members.")
    return sorted(affected)


async def _synchronize(
    tx: Transaction, directory: Directory, versions: Sequence[GroupRow], user_ids: list[UUID]
) -> None:
    """Compute the roles of users anew, if the group gives roles: before its change or after it. Those of more than
    SYNCHRONIZED_USERS are computed in the background."""
    group_roles = directory.connection.group_roles
    if not any(rules.roles_of_group(group_roles, row.display_name_key, row.external_id, row.id) for row in versions):
        return
    if len(user_ids) <= SYNCHRONIZED_USERS:
        await synchronize_roles(tx, directory.call, directory.connection, user_ids)
        return
    connection = directory.connection
    await store.restart_roles(tx, project_id=connection.project_id, ids=[connection.id], now=directory.call.now)
    tx.mark_due("directory_connections")


async def _members_of(db: Queries, directory: Directory, rows: Sequence[GroupRow]) -> dict[UUID, list[GroupMember]]:
    """The members of groups, by the id of the group. Raises ScimRequestInvalid if there are too many for a
    response."""
    group_members = await group_store.members_of(
        db, project_id=directory.call.project_id, group_ids=[row.id for row in rows], limit=RETURNED_MEMBERS + 1
    )
    if len(group_members) > RETURNED_MEMBERS:
        raise ScimRequestInvalid("tooMany", "These groups have too many members; send `excludedAttributes=members`.")
    by_group: dict[UUID, list[GroupMember]] = {}
    for member in group_members:
        by_group.setdefault(member.group_id, []).append(member)
    return by_group


def _row_of(directory: Directory, document: Document, id: UUID) -> GroupRow:
    call, display_name = directory.call, str(document["displayName"]).strip()
    rules.require_indexable(document)
    return GroupRow(
        project_id=call.project_id,
        id=id,
        connection_id=directory.connection.id,
        external_id=document.get("externalId") or None,
        display_name=display_name,
        display_name_key=display_name.casefold(),
        version=1,
        created_at=call.now,
        updated_at=call.now,
    )


async def _require_unique(tx: Transaction, directory: Directory, row: GroupRow, except_id: UUID | None) -> None:
    other = await group_store.other_group(
        tx,
        **directory.key,
        display_name_key=row.display_name_key,
        external_id=row.external_id,
        except_id=except_id,
    )
    if other is not None:
        raise ScimNotUnique("Another group of this directory has this `displayName` or `externalId`.")


def _member_step(step: PatchStep, path: ChangePath) -> MemberStep:
    """The change of members that a PATCH operation means: `members` with a list, or `members[value eq "…"]`."""
    if path.sub is not None:
        raise ScimRequestInvalid("mutability", "Members are added and removed as a whole.")
    if path.filter is not None:
        if step.action != "remove":
            raise ScimRequestInvalid("invalidPath", 'Only `remove` can have a path such as `members[value eq "…"]`.')
        return MemberStep(action="remove", user_ids=_ids_in_filter(path.filter))
    if step.action == "remove" and step.value is None:
        return MemberStep(action="replace", user_ids=[])
    return MemberStep(action=step.action, user_ids=_user_ids(read_value(MEMBERS, step.value) or []))


def _ids_in_filter(filter: Filter) -> list[UUID]:
    """The ids in a filter such as `value eq "…" or value eq "…"`. Raises ScimRequestInvalid for others."""
    match filter:
        case Comparison(path, "eq", str(value)) if path.sub is not None and path.sub.name == "value":
            return [as_id(value)]
        case Either(left, right):
            return [*_ids_in_filter(left), *_ids_in_filter(right)]
        case _:
            raise ScimRequestInvalid("invalidPath", "Members can only be selected by `value eq`.")


def _mentions_members(filter: Filter) -> bool:
    match filter:
        case Comparison(path, _, _):
            return path.attribute is MEMBERS
        case _:
            parts = [getattr(filter, name, None) for name in ("left", "right", "inner", "filter")]
            return any(part is not None and _mentions_members(part) for part in parts)


def _user_ids(items: Sequence[Document]) -> list[UUID]:
    """The ids of users in the items of `members`, each once: `value`, or the end of `$ref`. Malformed ids are those of
    no user."""
    texts = (item.get("value") or item.get("$ref", "").rpartition("/")[2] for item in items)
    return list(dict.fromkeys(as_id(text) for text in texts))


def _require_few(steps: Sequence[MemberStep]) -> None:
    if sum(len(step.user_ids) for step in steps) > MEMBERS_PER_REQUEST:
        raise ScimRequestInvalid(
            "tooMany",
            f"A request can add or remove at most {MEMBERS_PER_REQUEST:,} members; send several PATCH requests.",
        )
