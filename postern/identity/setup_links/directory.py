"""What the holder of a setup link can do about the directory (SCIM) of the organization."""

from dataclasses import replace

import msgspec

from postern.identity.scim import operations as scim
from postern.identity.scim.model import (
    DirectoryConnection,
    DirectoryConnectionChange,
    DirectoryConnectionMissing,
    DirectoryConnectionWithToken,
    DirectoryGroup,
    NewDirectoryConnection,
    TokenRotation,
)
from postern.identity.setup_links import store
from postern.identity.setup_links.guides import GUIDES
from postern.identity.setup_links.holder import Holder
from postern.identity.setup_links.model import GROUPS_SHOWN, SetupStepNotAllowed
from postern.kernel.http.call import etag


async def directory_of(holder: Holder) -> DirectoryConnection | None:
    """The directory connection that the link has created; None if there is none, or it was deleted."""
    if holder.link.directory_connection_id is None:
        return None
    try:
        return await scim.get_directory_connection(
            holder.call, holder.organization.id, holder.link.directory_connection_id
        )
    except DirectoryConnectionMissing:
        return None


async def connect_directory(holder: Holder) -> DirectoryConnectionWithToken:
    """Create the directory connection, or another token for the one that exists: earlier tokens end at once.

    Raises the problems of `create_directory_connection` and `rotate_directory_token`.
    """
    holder.require_step("SCIM")
    link, holder_call = holder.link, holder.call
    connection = await directory_of(holder)
    if connection is not None:
        rotation = TokenRotation(overlap_hours=0)
        return await scim.rotate_directory_token(holder_call, link.organization_id, connection.id, rotation)
    name = "SCIM" if link.provider is None else GUIDES[link.provider].name
    created = await scim.create_directory_connection(
        holder_call, link.organization_id, msgspec.convert({"name": name}, NewDirectoryConnection)
    )
    is_ours = await store.set_directory_connection(
        holder_call.db,
        project_id=link.project_id,
        id=link.id,
        connection_id=created.id,
        previous_id=link.directory_connection_id,
    )
    if not is_ours:  # The form was sent twice.
        await scim.delete_directory_connection(holder_call, link.organization_id, created.id)
        raise DirectoryConnectionMissing
    return created


async def groups_of(holder: Holder, connection: DirectoryConnection) -> list[DirectoryGroup]:
    """The newest groups of the directory, with the roles that they give."""
    groups = await scim.list_directory_groups(holder.call, holder.organization.id, connection.id, limit=GROUPS_SHOWN)
    return groups.items


async def set_role_of_group(holder: Holder, group_id: str, role: str) -> None:
    """Give the members of a group a role, or none if `role` is empty. Raises DirectoryConnectionMissing,
    SetupStepNotAllowed for a role that the link does not permit, and the problems of `change_directory_connection`."""
    holder.require_step("SCIM")
    connection = await directory_of(holder)
    if connection is None:
        raise DirectoryConnectionMissing
    group = next((group for group in await groups_of(holder, connection) if str(group.id) == group_id), None)
    if group is None or (role and role not in holder.link.assignable_roles):
        raise SetupStepNotAllowed
    # Roles that the link does not permit were given by others, and stay.
    kept = [kept_role for kept_role in group.roles if kept_role not in holder.link.assignable_roles]
    group_roles = {
        name: roles
        for name, roles in connection.group_roles.items()
        if name not in (group_id, group.external_id) and name.casefold() != group.display_name.casefold()
    }
    if roles := [*kept, *([role] if role else [])]:
        group_roles[group_id] = roles
    change_call = replace(holder.call, if_match=etag(connection.updated_at, b""))
    await scim.change_directory_connection(
        change_call, holder.organization.id, connection.id, DirectoryConnectionChange(group_roles=group_roles)
    )
