"""The roles that members have because of their groups in a directory."""

from collections.abc import Sequence
from uuid import UUID

from postern.identity.access import operations as access
from postern.identity.organizations import members
from postern.identity.scim import rules, user_store
from postern.identity.scim.model import ConnectionRecord
from postern.identity.scim.user_store import RoleFacts, UserGroup
from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.call import Call

CHUNK = 200
"""Users whose roles are computed together."""
FALLBACK_ROLES = ["MEMBER"]
"""The roles of members if none of the roles of the connection exists any more."""


async def desired_roles(
    tx: Transaction, connection: ConnectionRecord, user_ids: Sequence[UUID]
) -> dict[UUID, list[str]]:
    """The roles that a connection gives to users, by the id of the user. Roles that do not exist any more are left
    out."""
    existing = await access.role_keys(tx, connection.project_id, "ORGANIZATION")
    groups = await groups_with_roles(tx, connection, user_ids)
    roles: dict[UUID, list[str]] = {}
    for user_id in user_ids:
        of_user = rules.roles_of_groups(connection, groups.get(user_id, []))
        roles[user_id] = [role for role in of_user if role in existing] or FALLBACK_ROLES
    return roles


async def groups_with_roles(
    db: Queries, connection: ConnectionRecord, user_ids: Sequence[UUID]
) -> dict[UUID, list[UserGroup]]:
    """The groups of users that give roles, by the id of the user: at most GROUP_ROLES_LIMIT for each user."""
    keys = list(connection.group_roles)
    rows = await user_store.groups_with_roles(
        db,
        project_id=connection.project_id,
        user_ids=list(user_ids),
        names=[key.casefold() for key in keys],
        ids=keys,
    )
    groups: dict[UUID, list[UserGroup]] = {}
    for row in rows:
        groups.setdefault(row.user_id, []).append(row)
    return groups


async def update_member_roles(
    tx: Transaction,
    call: Call,
    connection: ConnectionRecord,
    users: Sequence[RoleFacts],
    desired: dict[UUID, list[str]],
) -> dict[UUID, list[str]]:
    """Set the roles of users who are members, so that they have the desired ones and those that were assigned
    otherwise. Returns the roles that are due to the directory, by the id of the user."""
    by_customer = {user.customer_id: user for user in users}
    present = await members.roles_of_members(tx, call, connection.organization_id, list(by_customer))
    results = {
        customer_id: rules.merged_roles(roles, by_customer[customer_id].roles, desired[by_customer[customer_id].id])
        or FALLBACK_ROLES
        for customer_id, roles in present.items()
    }
    results |= await members.replace_roles_of_members(tx, call, connection.organization_id, results)
    return {
        by_customer[customer_id].id: rules.added_roles(roles, by_customer[customer_id].roles, results[customer_id])
        for customer_id, roles in present.items()
    }


async def synchronize_roles(tx: Transaction, call: Call, connection: ConnectionRecord, user_ids: list[UUID]) -> None:
    """Compute the roles of users anew, after their groups or the roles of groups have changed."""
    for start in range(0, len(user_ids), CHUNK):
        users = await user_store.active_users(tx, project_id=connection.project_id, ids=user_ids[start : start + CHUNK])
        if not users:
            continue
        desired = await desired_roles(tx, connection, [user.id for user in users])
        added = await update_member_roles(tx, call, connection, users, desired)
        before = {user.id: user.roles for user in users}
        changed = [{"id": str(user_id), "roles": roles} for user_id, roles in added.items() if roles != before[user_id]]
        if changed:
            await user_store.set_roles(tx, project_id=connection.project_id, roles=Jsonb(changed))
