"""An asynchronous client with a method for each operation of the API.

Generated from the API by script/client: do not edit.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from postern_sdk import _operations as operations
from postern_sdk._async.transport import AsyncTransport
from postern_sdk._request import NOT_GIVEN, NotGiven

if TYPE_CHECKING:
    from datetime import date, datetime

    from postern_sdk import params, types
    from postern_sdk._async.pages import AsyncPaged
    from postern_sdk._request import AsyncContent
    from postern_sdk.events import Event


class AsyncAppsCustomersSessions:
    """The methods of `client.apps.customers.sessions`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def revoke(
        self,
        id: str,
        session_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """End a session of a customer.

        Its tokens are rejected from the next request on.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            session_id: The session id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
            SessionMissing
        """
        return await self._client._call(
            operations.REVOKE_CUSTOMER_SESSION_OF_APP,
            (
                id,
                session_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def revoke_all(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """End all sessions of a customer, including sign-ins that wait for a second factor.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return await self._client._call(
            operations.REVOKE_CUSTOMER_SESSIONS_OF_APP, (id,), project=project, timeout=timeout
        )


class AsyncAppsOrganizationsInvitations:
    """The methods of `client.apps.organizations.invitations`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        id: str,
        *,
        status: Literal["ACCEPTED", "EXPIRED", "PENDING", "REVOKED"] | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.OrganizationInvitation]:
        """List the invitations to an organization, newest first.

        Filter by `status`: PENDING, ACCEPTED, REVOKED or EXPIRED.

        Permission: `organizations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            status: Status.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
        """
        return self._client._list(
            operations.LIST_ORGANIZATION_INVITATIONS_OF_APP,
            (id,),
            query={"status": status, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        id: str,
        *,
        email: str,
        role: str | NotGiven = NOT_GIVEN,
        expires_in_days: int | NotGiven = NOT_GIVEN,
        accept_url: str | None | NotGiven = NOT_GIVEN,
        invited_by_end_user_id: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationInvitation:
        """Invite an address to an organization, as MEMBER or another role of the scope ORGANIZATION.

        Sends an e-mail with a link to `acceptUrl`, or to a hosted page with a button to accept. An invited
        address can sign up even if sign-up is closed. The invitation expires after `expiresInDays` (1 to 30,
        default 7). An address can have one pending invitation per organization.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            email: E-mail address.
            role: Role of the person. Default: `"MEMBER"`.
            expires_in_days: Number of days until the invitation expires. Default: `7`.
            accept_url: URL of your page that accepts the invitation; `token` is added to its query. Default: a
                hosted page.
            invited_by_end_user_id: The id of the member who invites.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AlreadyInvited
            AlreadyMember
            InviterUnknown
            OrganizationMissing
            OrganizationSuspended
            RoleUnknown
            TooManyInvitations
        """
        return await self._client._call(
            operations.CREATE_ORGANIZATION_INVITATION_OF_APP,
            (id,),
            body={
                "email": email,
                "role": role,
                "expiresInDays": expires_in_days,
                "acceptUrl": accept_url,
                "invitedByEndUserId": invited_by_end_user_id,
            },
            project=project,
            timeout=timeout,
        )

    async def resend(
        self,
        id: str,
        invitation_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationInvitation:
        """Send an invitation again, with a new token and expiry.

        The previous token becomes invalid.

        At most once a minute (429). An expired invitation can be resent, unless the address has another pending
        one (409). An accepted or revoked invitation cannot be resent (409).

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            invitation_id: The invitation id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AlreadyInvited
            InvitationClosed
            InvitationMissing
            OrganizationSuspended
            ResentTooSoon
        """
        return await self._client._call(
            operations.RESEND_ORGANIZATION_INVITATION_OF_APP,
            (
                id,
                invitation_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def revoke(
        self,
        id: str,
        invitation_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationInvitation:
        """Revoke an invitation; its token becomes invalid.

        Returns 409 if it was accepted or revoked already.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            invitation_id: The invitation id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            InvitationClosed
            InvitationMissing
        """
        return await self._client._call(
            operations.REVOKE_ORGANIZATION_INVITATION_OF_APP,
            (
                id,
                invitation_id,
            ),
            project=project,
            timeout=timeout,
        )


class AsyncAppsOrganizationsMembers:
    """The methods of `client.apps.organizations.members`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        id: str,
        *,
        q: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.OrganizationMember]:
        """List the members of an organization, most recently joined first.

        `q` is a part of the name or the address.

        Permission: `organizations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            q: Part of the name or address, in any letter case.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
        """
        return self._client._list(
            operations.LIST_ORGANIZATION_MEMBERS_OF_APP,
            (id,),
            query={"q": q, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def add(
        self,
        id: str,
        *,
        customer_id: str,
        roles: Sequence[str] | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationMember:
        """Add a customer to an organization, with roles of the scope ORGANIZATION (default MEMBER).

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            customer_id: Id of the customer.
            roles: Keys of the roles.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AlreadyMember
            OrganizationMissing
            OrganizationSuspended
            RoleUnknown
            TooManyMembers
        """
        return await self._client._call(
            operations.ADD_ORGANIZATION_MEMBER_OF_APP,
            (id,),
            body={"customerId": customer_id, "roles": roles},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        customer_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationMember:
        """Get a member of an organization by the customer's id.

        Permission: `organizations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            customer_id: The customer id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MemberMissing
            OrganizationMissing
        """
        return await self._client._call(
            operations.GET_ORGANIZATION_MEMBER_OF_APP,
            (
                id,
                customer_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def update(
        self,
        id: str,
        customer_id: str,
        *,
        roles: Sequence[str],
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationMember:
        """Replace the roles of a member.

        Returns 409 if it would remove the last OWNER. Honours `If-Match`.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            customer_id: The customer id.
            roles: Keys of the roles.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LastOwner
            MemberMissing
            OrganizationMissing
            RoleUnknown
        """
        return await self._client._call(
            operations.CHANGE_ORGANIZATION_MEMBER_OF_APP,
            (
                id,
                customer_id,
            ),
            body={"roles": roles},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def remove(
        self,
        id: str,
        customer_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Removed:
        """Remove a customer from an organization.

        The last OWNER cannot be removed (409).

        The customer does not join again by domain or single sign-on until invited or added again.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            customer_id: The customer id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LastOwner
            MemberMissing
            OrganizationMissing
        """
        return await self._client._call(
            operations.REMOVE_ORGANIZATION_MEMBER_OF_APP,
            (
                id,
                customer_id,
            ),
            project=project,
            timeout=timeout,
        )


class AsyncAccessPermissions:
    """The methods of `client.access.permissions`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.Permission]:
        """List the permissions that the project has declared, newest first.

        Permission: `access:read`.

        Credentials: developer, secret key.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_PERMISSIONS, (), query={"limit": limit, "cursor": cursor}, project=project, timeout=timeout
        )

    async def create(
        self,
        *,
        key: str,
        description: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Permission:
        """Declare a permission: two to four words of `a-z0-9_` joined by colons.

        Roles include it by its key or by a prefix (`posts:*`). Checks of permissions that are not declared are
        denied.

        Permission: `access:write`.

        Credentials: developer, secret key.

        Args:
            key: Two to four lower-case words (letters, digits, `_`) joined by colons, such as `posts:write`.
            description: Description for people.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            PermissionExists
            TooManyPermissions
        """
        return await self._client._call(
            operations.CREATE_PERMISSION,
            (),
            body={"key": key, "description": description},
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        key: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete a permission, also from roles that include it by its key.

        Wildcards such as `posts:*` in roles stay.

        Permission: `access:write`.

        Credentials: developer, secret key.

        Args:
            key: The key.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            PermissionUnknown
        """
        return await self._client._call(operations.DELETE_PERMISSION, (key,), project=project, timeout=timeout)


class AsyncAccessRoles:
    """The methods of `client.access.roles`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        scope: Literal["ORGANIZATION", "PROJECT"] | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.Role]:
        """List the roles of the project, newest first, followed by the system roles.

        Filter by `scope`.

        Permission: `access:read`.

        Credentials: developer, secret key.

        Args:
            scope: Scope.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_ROLES,
            (),
            query={"scope": scope, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        *,
        key: str,
        name: str | None | NotGiven = NOT_GIVEN,
        scope: Literal["ORGANIZATION", "PROJECT"] | str | NotGiven = NOT_GIVEN,
        description: str | None | NotGiven = NOT_GIVEN,
        permissions: Sequence[str] | NotGiven = NOT_GIVEN,
        applies_to_all_organizations: bool | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Role:
        """Create a role.

        Permissions of a role with the scope PROJECT apply in the project, to customers who have the role. Those
        of a role with the scope ORGANIZATION apply in the organization whose member has it. With
        `appliesToAllOrganizations`, a customer who has the role in the project has it in every organization.

        Permission: `access:write`.

        Credentials: developer, secret key.

        Args:
            key: A key for programs: letters, digits, `_`, `.` and `-`, beginning with a letter: `editor`.
            name: Defaults to the key.
            scope: Whether it applies to the whole project or to one organization. Default: `"PROJECT"`.
            description: Description for people.
            permissions: Permissions, such as `emails:send`.
            applies_to_all_organizations: Whether a project role grants its permissions in every organization.
                Default: `false`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            PermissionUndeclared
            RoleExists
            TooManyRoles
        """
        return await self._client._call(
            operations.CREATE_ROLE,
            (),
            body={
                "key": key,
                "name": name,
                "scope": scope,
                "description": description,
                "permissions": permissions,
                "appliesToAllOrganizations": applies_to_all_organizations,
            },
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        key: str,
        *,
        scope: Literal["ORGANIZATION", "PROJECT"] | str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Role:
        """Get a role by its key.

        `scope` matters only for system roles, which exist in both scopes.

        Permission: `access:read`.

        Credentials: developer, secret key.

        Args:
            key: The key.
            scope: Scope.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            RoleMissing
        """
        return await self._client._call(
            operations.GET_ROLE, (key,), query={"scope": scope}, project=project, timeout=timeout
        )

    async def update(
        self,
        key: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        description: str | None | NotGiven = NOT_GIVEN,
        permissions: Sequence[str] | NotGiven = NOT_GIVEN,
        applies_to_all_organizations: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Role:
        """Change a role.

        The change applies from the next check on; `permissions` replaces the whole list.

        Honours `If-Match`.

        Permission: `access:write`.

        Credentials: developer, secret key.

        Args:
            key: The key.
            name: A display name: one line of text, not only blanks.
            description: Description for people.
            permissions: Permissions, such as `emails:send`.
            applies_to_all_organizations: Whether a project role grants its permissions in every organization.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            PermissionUndeclared
            RoleMissing
            SystemRoleFixed
        """
        return await self._client._call(
            operations.CHANGE_ROLE,
            (key,),
            body={
                "name": name,
                "description": description,
                "permissions": permissions,
                "appliesToAllOrganizations": applies_to_all_organizations,
            },
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        key: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete a role.

        Returns 409 while a customer or member has the role or is invited with it. Honours `If-Match`.

        Permission: `access:write`.

        Credentials: developer, secret key.

        Args:
            key: The key.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            RoleInUse
            RoleMissing
            SystemRoleFixed
        """
        return await self._client._call(
            operations.DELETE_ROLE, (key,), if_match=if_match, project=project, timeout=timeout
        )


class AsyncAccountAuditLog:
    """The methods of `client.account.audit_log`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        action: str | None = None,
        target_type: str | None = None,
        target_id: str | None = None,
        actor_id: str | None = None,
        project_id: str | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.AccountAuditEntry]:
        """List the changes in your account and its projects, newest first.

        Filter by `action` (a name, or `noun.*`) and by time: `from` is inclusive, `to` exclusive.

        Permission: `account:read`.

        Credentials: developer.

        Args:
            action: Action.
            target_type: Target type.
            target_id: Target id.
            actor_id: Actor id.
            project_id: Project id.
            from_: From.
            to: To.
            page: Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further.
            limit: Records per page.
            cursor: The cursor from the previous response, with the same filters.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_ACCOUNT_AUDIT_LOG,
            (),
            query={
                "action": action,
                "targetType": target_type,
                "targetId": target_id,
                "actorId": actor_id,
                "projectId": project_id,
                "from": from_,
                "to": to,
                "page": page,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
        )


class AsyncAccountInvitations:
    """The methods of `client.account.invitations`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.AccountInvitation]:
        """List the open invitations to your account, newest first, including expired ones.

        Permission: `account:read`.

        Credentials: developer.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_ACCOUNT_INVITATIONS, (), query={"limit": limit, "cursor": cursor}, timeout=timeout
        )

    async def create(
        self,
        *,
        email: str,
        role: Literal["ADMIN", "DEVELOPER", "VIEWER"] | str | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> types.AccountInvitation:
        """Invite a developer by mail.

        The invitation is valid for 7 days.

        Inviting an address again replaces its invitation; the link of the earlier one becomes invalid.

        Permission: `account:write`.

        Credentials: developer.

        Args:
            email: E-mail address.
            role: Role of the person. Default: `"DEVELOPER"`.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AlreadyMember
            TooManyMembers
        """
        return await self._client._call(
            operations.INVITE_ACCOUNT_MEMBER, (), body={"email": email, "role": role}, timeout=timeout
        )

    async def revoke(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Revoke an invitation; its link becomes invalid.

        Permission: `account:write`.

        Credentials: developer.

        Args:
            id: The id.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            InvitationMissing
        """
        return await self._client._call(operations.REVOKE_ACCOUNT_INVITATION, (id,), timeout=timeout)

    async def accept(
        self,
        *,
        token: str,
        delete_my_account: bool | NotGiven = NOT_GIVEN,
        password: str | None | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> types.AccountMember:
        """Become a member of the inviting account.

        You leave your current account.

        A developer belongs to one account. If you own one, transfer its ownership first, or, if you are its only
        member, delete it with `deleteMyAccount` and `password`. Without a developer account, sign up with
        `invitationToken` instead.

        Credentials: developer.

        Args:
            token: Token from the link in the mail.
            delete_my_account: Delete the account that you own, with all its data. Possible only if you are its
                only member. Default: `false`.
            password: Required with `deleteMyAccount`.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AlreadyMember
            LinkInvalid
            LockedOut
            OwnsAnAccount
            PasswordWrong
        """
        return await self._client._call(
            operations.ACCEPT_ACCOUNT_INVITATION,
            (),
            body={"token": token, "deleteMyAccount": delete_my_account, "password": password},
            timeout=timeout,
        )


class AsyncAccountMembers:
    """The methods of `client.account.members`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.AccountMember]:
        """List the members of your account, newest first.

        Permission: `account:read`.

        Credentials: developer.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_ACCOUNT_MEMBERS, (), query={"limit": limit, "cursor": cursor}, timeout=timeout
        )

    async def update_role(
        self,
        user_id: str,
        *,
        role: Literal["ADMIN", "DEVELOPER", "VIEWER"] | str,
        timeout: float | None = None,
    ) -> types.AccountMember:
        """Change the role of a member.

        It applies from the member's next request on.

        If the member may no longer invite, their open invitations are revoked.

        Permission: `account:write`.

        Credentials: developer.

        Args:
            user_id: The user id.
            role: Role of the person.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MemberMissing
            OwnerStays
        """
        return await self._client._call(
            operations.CHANGE_ACCOUNT_MEMBER_ROLE, (user_id,), body={"role": role}, timeout=timeout
        )

    async def remove(
        self,
        user_id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Remove a member.

        Their developer account is deleted, and their next request is refused.

        Their open invitations are revoked.

        Permission: `account:write`.

        Credentials: developer.

        Args:
            user_id: The user id.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MemberMissing
            OwnerStays
        """
        return await self._client._call(operations.REMOVE_ACCOUNT_MEMBER, (user_id,), timeout=timeout)

    async def transfer_ownership(
        self,
        user_id: str,
        *,
        password: str,
        timeout: float | None = None,
    ) -> types.AccountMember:
        """Make another member the owner; you become an ADMIN.

        Requires your password.

        Permission: `account:own`.

        Credentials: developer.

        Args:
            user_id: The user id.
            password: Password. A new password must have at least 8 characters.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AlreadyOwner
            LockedOut
            MemberMissing
            PasswordWrong
        """
        return await self._client._call(
            operations.TRANSFER_ACCOUNT_OWNERSHIP, (user_id,), body={"password": password}, timeout=timeout
        )


class AsyncAppsCustomers:
    """The methods of `client.apps.customers`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    @cached_property
    def sessions(self) -> AsyncAppsCustomersSessions:
        """Methods of `client.apps.customers.sessions`."""
        return AsyncAppsCustomersSessions(self._client)

    def list(
        self,
        *,
        q: str | None = None,
        status: Literal["active", "banned", "locked", "mfa", "unverified", "verified"] | str | None = None,
        provider: str | None = None,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.EndUser]:
        """The project's customers, newest first.

        `q` matches part of an address, name, phone number or external identifier, or a complete id; with one or
        two characters it matches the beginning of an address. `status` is `active`, `banned`, `verified`,
        `unverified`, `mfa` or `locked`; `provider` is a sign-in method such as `PASSWORD` or `GOOGLE`.

        Permission: `customers:read`.

        Credentials: developer, secret key.

        Args:
            q: Q.
            status: Status.
            provider: Provider.
            page: Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further.
            limit: Records per page.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_CUSTOMERS_OF_APP,
            (),
            query={"q": q, "status": status, "provider": provider, "page": page, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def get_stats(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerStats:
        """Numbers of customers: all, verified, banned, and with a second factor.

        Permission: `customers:read`.

        Credentials: developer, secret key.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.GET_CUSTOMER_STATS_OF_APP, (), project=project, timeout=timeout)

    async def export(
        self,
        *,
        q: str | None = None,
        status: Literal["active", "banned", "locked", "mfa", "unverified", "verified"] | str | None = None,
        provider: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """All customers as CSV, newest first.

        Takes the filters of the list.

        Permission: `customers:read`.

        Credentials: developer, secret key.

        Args:
            q: Q.
            status: Status.
            provider: Provider.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.EXPORT_CUSTOMERS_OF_APP,
            (),
            query={"q": q, "status": status, "provider": provider},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.EndUser:
        """A customer with its identities and live sessions.

        Permission: `customers:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return await self._client._call(operations.GET_CUSTOMER_OF_APP, (id,), project=project, timeout=timeout)

    async def delete(
        self,
        id: str,
        *,
        transfer_ownership_to: str | None = None,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.EndUser:
        """Erase a customer.

        Returns the customer as it was before.

        The last OWNER of an organization cannot be erased (409; `errors` names the organizations), unless
        `transferOwnershipTo` names another customer, who becomes OWNER of them in the same transaction.

        The customer and all personal data are deleted: identities, sessions, passkeys, e-mails to the address,
        and the contact with that address. Events keep their type and time; `erasedAt` is set and their data is
        emptied. The audit log keeps who did what, without details, and its hash chain still verifies. Honours
        `If-Match`.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            transfer_ownership_to: Transfer ownership to.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
            CustomerOwnsOrganizations
        """
        return await self._client._call(
            operations.DELETE_CUSTOMER_OF_APP,
            (id,),
            query={"transferOwnershipTo": transfer_ownership_to},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    def list_audit_log(
        self,
        id: str,
        *,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.AuditEntry]:
        """Changes of a customer by developers and API keys, newest first.

        Permission: `customers:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            page: Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further.
            limit: Records per page.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return self._client._list(
            operations.LIST_CUSTOMER_AUDIT_LOG_OF_APP,
            (id,),
            query={"page": page, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def ban(
        self,
        id: str,
        *,
        reason: str | None | NotGiven = NOT_GIVEN,
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.EndUser:
        """Ban a customer: all sessions end, and sign-ins are refused until `expiresAt` or until the customer is
        unbanned.

        If the customer is banned already, the reason and the end change.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            reason: Reason, as text.
            expires_at: If null, the ban lasts until the customer is unbanned.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return await self._client._call(
            operations.BAN_CUSTOMER_OF_APP,
            (id,),
            body={"reason": reason, "expiresAt": expires_at},
            project=project,
            timeout=timeout,
        )

    async def unban(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.EndUser:
        """Lift a ban, and any lockout after failed attempts.

        Sessions that the ban ended stay ended.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return await self._client._call(operations.UNBAN_CUSTOMER_OF_APP, (id,), project=project, timeout=timeout)

    async def unlock(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.EndUser:
        """Clear the failed sign-in attempts of a customer, from all IP addresses, and end a lockout.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return await self._client._call(operations.UNLOCK_CUSTOMER_OF_APP, (id,), project=project, timeout=timeout)

    async def reset_mfa(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Remove the second factor and its recovery codes, for a customer who lost both.

        If a second factor is required, the customer sets up a new one at the next sign-in. Sign-ins that wait
        for the second factor end. If a second factor was on, the customer is notified by mail.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return await self._client._call(operations.RESET_CUSTOMER_MFA_OF_APP, (id,), project=project, timeout=timeout)

    async def update_metadata(
        self,
        id: str,
        *,
        metadata: Mapping[str, Any],
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.EndUser:
        """Merge keys into a customer's metadata at the top level; null removes a key.

        The result has at most 16 KiB.

        Honours `If-Match`.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            metadata: Custom data, up to 16 KiB of JSON.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
            MetadataTooLarge
        """
        return await self._client._call(
            operations.CHANGE_CUSTOMER_METADATA_OF_APP,
            (id,),
            body={"metadata": metadata},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def add_roles(
        self,
        id: str,
        *,
        roles: Sequence[str],
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.EndUser:
        """Add roles with the scope PROJECT to a customer, who keeps the present ones.

        Honours `If-Match`.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            roles: Keys of the roles.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
            RoleUnknown
            TooManyRoles
        """
        return await self._client._call(
            operations.ADD_CUSTOMER_ROLES_OF_APP,
            (id,),
            body={"roles": roles},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )


class AsyncAppsOrganizations:
    """The methods of `client.apps.organizations`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    @cached_property
    def invitations(self) -> AsyncAppsOrganizationsInvitations:
        """Methods of `client.apps.organizations.invitations`."""
        return AsyncAppsOrganizationsInvitations(self._client)

    @cached_property
    def members(self) -> AsyncAppsOrganizationsMembers:
        """Methods of `client.apps.organizations.members`."""
        return AsyncAppsOrganizationsMembers(self._client)

    def list(
        self,
        *,
        external_id: str | None = None,
        q: str | None = None,
        status: Literal["ACTIVE", "SUSPENDED"] | str | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        sort: Literal["-createdAt", "-name", "-updatedAt", "createdAt", "name", "updatedAt"] | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        include: Sequence[Literal["total"] | str] | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.AppOrganization]:
        """List the project's organizations, newest first.

        All given filters must match.

        Permission: `organizations:read`.

        Credentials: developer, secret key.

        Args:
            external_id: External id.
            q: Part of name, slug or external id, in any letter case.
            status: Status.
            from_: Only records that were created at this time or later.
            to: Only records that were created before this time.
            sort: Order; `-` is descending. `name` ignores the letter case.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            include: `total`: the header `Total-Count`, the number of matching records, counted up to 10,000.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_ORGANIZATIONS_OF_APP,
            (),
            query={
                "externalId": external_id,
                "q": q,
                "status": status,
                "from": from_,
                "to": to,
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "include": include,
            },
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        *,
        name: str,
        slug: str | None | NotGiven = NOT_GIVEN,
        external_id: str | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, Any] | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AppOrganization:
        """Create an organization.

        It has no members yet.

        Without `slug`, one is derived from the name, with a number if another organization has it. A `slug` or
        `externalId` that another organization has returns 409.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            name: A display name: one line of text, not only blanks.
            slug: If null, a slug is derived from the name.
            external_id: Id of the organization in your own system.
            metadata: Custom data, up to 16 KiB of JSON.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationExternalIdTaken
            SlugTaken
        """
        return await self._client._call(
            operations.CREATE_ORGANIZATION_OF_APP,
            (),
            body={"name": name, "slug": slug, "externalId": external_id, "metadata": metadata},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AppOrganization:
        """Get an organization with its number of members and of pending invitations.

        Permission: `organizations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
        """
        return await self._client._call(operations.GET_ORGANIZATION_OF_APP, (id,), project=project, timeout=timeout)

    async def update(
        self,
        id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        slug: str | NotGiven = NOT_GIVEN,
        external_id: str | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, Any] | NotGiven = NOT_GIVEN,
        status: Literal["ACTIVE", "SUSPENDED"] | str | NotGiven = NOT_GIVEN,
        require_sso: bool | NotGiven = NOT_GIVEN,
        require_mfa: bool | NotGiven = NOT_GIVEN,
        allowed_methods: Sequence[Literal["EMAIL_CODE", "EMAIL_LINK", "PASSKEY", "PASSWORD", "SOCIAL", "SSO"] | str]
        | None
        | NotGiven = NOT_GIVEN,
        session_lifetime_minutes: int | None | NotGiven = NOT_GIVEN,
        session_idle_minutes: int | None | NotGiven = NOT_GIVEN,
        allow_lock_out: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AppOrganization:
        """Change an organization.

        Omitted fields keep their values; `metadata` is merged (null removes a key).

        With `status: SUSPENDED` the organization accepts no invitations or members, and grants no permissions.
        Its data is kept; set `ACTIVE` to end the suspension.

        With `requireSso` its members, and customers with an address at one of its verified domains, can sign in
        only by its single sign-on (403 `sso_required`). `requireSso` requires a working connection (409).
        Sessions that were not started by single sign-on end when their access token expires.

        With `requireMfa` its members must sign in with a second factor. Members without one must set up an
        authenticator app first (`mfaEnrollmentRequired`), and sessions without one end when their access token
        expires. Neither requirement applies while the organization is suspended. Honours `If-Match`.

        With `allowedMethods` its members can sign in only by these methods (403 `sign_in_method_not_allowed`),
        and with `sessionLifetimeMinutes` and `sessionIdleMinutes` their sessions end earlier. If an OWNER exists
        and none could sign in, the response is 409, unless `allowLockOut` is set.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            name: A display name: one line of text, not only blanks.
            slug: Lower-case letters and digits in words joined by single hyphens, such as `acme-inc`.
            external_id: Id of the organization in your own system.
            metadata: Custom data, up to 16 KiB of JSON.
            status: Status of the record.
            require_sso: Whether members, and customers with an address at a verified domain, must use the
                organization's single sign-on. Requires a working connection.
            require_mfa: Whether members must sign in with a second factor; members without one must set it up
                first.
            allowed_methods: The methods by which members can sign in; null for all.
            session_lifetime_minutes: How long after the sign-in sessions of members end, even if they are used;
                null for 30 days.
            session_idle_minutes: How long without a refresh sessions of members end; null for 7 days.
            allow_lock_out: Whether to set `allowedMethods` even if no OWNER could sign in then. Default:
                `false`.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationExternalIdTaken
            OrganizationMissing
            OwnersLockedOut
            SlugTaken
            SsoNotReady
            SsoStillRequired
        """
        return await self._client._call(
            operations.CHANGE_ORGANIZATION_OF_APP,
            (id,),
            body={
                "name": name,
                "slug": slug,
                "externalId": external_id,
                "metadata": metadata,
                "status": status,
                "requireSso": require_sso,
                "requireMfa": require_mfa,
                "allowedMethods": allowed_methods,
                "sessionLifetimeMinutes": session_lifetime_minutes,
                "sessionIdleMinutes": session_idle_minutes,
                "allowLockOut": allow_lock_out,
            },
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AppOrganization:
        """Delete an organization with its members, invitations, domains, connections and entitlements.

        Returns the deleted record. The organization is gone at once, and its slug, external id and domains can
        be reused; the rows of a large one are deleted in the background. The customers stay. Honours `If-Match`.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SsoStillRequired
        """
        return await self._client._call(
            operations.DELETE_ORGANIZATION_OF_APP, (id,), if_match=if_match, project=project, timeout=timeout
        )


class AsyncAppsSso:
    """The methods of `client.apps.sso`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.AppSsoConnection]:
        """List the connections of an organization, newest first.

        Permission: `sso:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
        """
        return self._client._list(
            operations.LIST_SSO_CONNECTIONS_OF_APP,
            (id,),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        id: str,
        *,
        name: str,
        domain: str,
        idp_metadata_xml: str | NotGiven = NOT_GIVEN,
        idp_metadata_url: str | None | NotGiven = NOT_GIVEN,
        idp_entity_id: str | None | NotGiven = NOT_GIVEN,
        idp_sso_url: str | None | NotGiven = NOT_GIVEN,
        idp_sso_binding: Literal["POST", "REDIRECT"] | str | NotGiven = NOT_GIVEN,
        idp_slo_url: str | None | NotGiven = NOT_GIVEN,
        idp_slo_binding: Literal["POST", "REDIRECT"] | str | NotGiven = NOT_GIVEN,
        idp_slo_response_url: str | None | NotGiven = NOT_GIVEN,
        oidc_issuer: str | None | NotGiven = NOT_GIVEN,
        oidc_client_id: str | None | NotGiven = NOT_GIVEN,
        oidc_client_secret: str | None | NotGiven = NOT_GIVEN,
        oidc_scopes: str | None | NotGiven = NOT_GIVEN,
        idp_certificate: Sequence[str] | NotGiven = NOT_GIVEN,
        allow_idp_initiated: bool | NotGiven = NOT_GIVEN,
        require_encryption: bool | NotGiven = NOT_GIVEN,
        allow_aes_cbc: bool | NotGiven = NOT_GIVEN,
        accept_expired_certificates: bool | NotGiven = NOT_GIVEN,
        force_authn: bool | NotGiven = NOT_GIVEN,
        name_id_format: str | None | NotGiven = NOT_GIVEN,
        clock_skew_seconds: int | NotGiven = NOT_GIVEN,
        attribute_mapping: types.AttributeMapping | params.AttributeMappingDict | NotGiven = NOT_GIVEN,
        default_roles: Sequence[str] | NotGiven = NOT_GIVEN,
        group_roles: Mapping[str, Sequence[str]] | NotGiven = NOT_GIVEN,
        create_customers: bool | NotGiven = NOT_GIVEN,
        allow_other_domains: bool | NotGiven = NOT_GIVEN,
        trust_mfa: bool | NotGiven = NOT_GIVEN,
        on_new_subject: Literal["HOLD", "REFUSE"] | str | NotGiven = NOT_GIVEN,
        default_redirect_url: str | None | NotGiven = NOT_GIVEN,
        kind: Literal["OIDC", "SAML"] | str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AppSsoConnection:
        """Create a connection as DRAFT, by SAML, or with `kind: OIDC` by OpenID Connect.

        SAML: set the identity provider's metadata now or later: as XML, by URL, or field by field. Enter
        `spEntityId` and `spAcsUrl`, or `spMetadataUrl`, at the identity provider. The service provider keys are
        generated.

        OpenID Connect: set `oidcIssuer`, `oidcClientId` and `oidcClientSecret`, and enter `oidcRedirectUrl` at
        the provider.

        Try the connection with `test`; then `activate` it.

        Permission: `sso:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            name: A display name: one line of text, not only blanks.
            domain: Domain name.
            idp_metadata_xml: The identity provider's metadata: sets all fields whose names begin with `idp`.
            idp_metadata_url: URL of the metadata. It is fetched now and used like `idpMetadataXml`, and fetched
                again every day, so that new certificates are taken over. While it is set, the fetched metadata
                overrides fields set one by one.
            idp_entity_id: Entity id of the identity provider.
            idp_sso_url: Single sign-on URL of the identity provider.
            idp_sso_binding: SAML binding of authentication requests.
            idp_slo_url: Single logout URL of the identity provider; null for no single logout.
            idp_slo_binding: SAML binding of logout requests.
            idp_slo_response_url: URL for responses to logout requests; null uses `idpSloUrl`.
            oidc_issuer: Issuer of the OpenID provider, exactly as its discovery document has it.
            oidc_client_id: Client id at the OpenID provider; null for SAML.
            oidc_client_secret: Client secret; null for a public client. Send it again if you change the issuer.
            oidc_scopes: Scopes to request; must contain `openid`. Default: `openid email profile`.
            idp_certificate: Signing certificates, PEM or bare base64; replaces the list. Add the provider's next
                certificate before the provider signs with it.
            allow_idp_initiated: Accept IdP-initiated sign-on; the browser is redirected to `defaultRedirectUrl`.
            require_encryption: Whether assertions must be encrypted.
            allow_aes_cbc: Whether the outdated AES-CBC encryption is accepted.
            accept_expired_certificates: Whether expired certificates of the identity provider are accepted.
            force_authn: Whether the identity provider must authenticate the person again (`ForceAuthn`).
            name_id_format: Format of the name identifier to request; null for any.
            clock_skew_seconds: Tolerated clock difference in seconds.
            attribute_mapping: Names of the SAML attributes or claims with the person's data.
            default_roles: Roles in the organization for users who sign on for the first time.
            group_roles: Roles for each group. Roles listed here are updated at every sign-on; others stay.
            create_customers: Whether the sign-on of an unknown user creates a customer.
            allow_other_domains: Whether to accept addresses outside the organization's verified domains
                (guests). They count as unverified.
            trust_mfa: Whether every sign-on counts as multi-factor: set this if the identity provider always
                requires a second factor. If false, only a sign-on counts whose assertion says so
                (`AuthnContextClassRef`, or Microsoft's `authnmethodsreferences`).
            on_new_subject: What to do if a user of the identity provider has the address of a customer who is
                linked to another user of the provider: REFUSE the sign-on, or HOLD it as an `identity-request`
                until an administrator approves it.
            default_redirect_url: Redirect URL for IdP-initiated sign-on: one of the project's `redirectUrls`.
            kind: The protocol; it cannot be changed. Default: `"SAML"`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MetadataRefused
            MetadataTooLarge
            MetadataUnreachable
            OrganizationMissing
            RoleUnknown
            TooManySsoConnections
        """
        return await self._client._call(
            operations.CREATE_SSO_CONNECTION_OF_APP,
            (id,),
            body={
                "idpMetadataXml": idp_metadata_xml,
                "idpMetadataUrl": idp_metadata_url,
                "idpEntityId": idp_entity_id,
                "idpSsoUrl": idp_sso_url,
                "idpSsoBinding": idp_sso_binding,
                "idpSloUrl": idp_slo_url,
                "idpSloBinding": idp_slo_binding,
                "idpSloResponseUrl": idp_slo_response_url,
                "oidcIssuer": oidc_issuer,
                "oidcClientId": oidc_client_id,
                "oidcClientSecret": oidc_client_secret,
                "oidcScopes": oidc_scopes,
                "idpCertificate": idp_certificate,
                "allowIdpInitiated": allow_idp_initiated,
                "requireEncryption": require_encryption,
                "allowAesCbc": allow_aes_cbc,
                "acceptExpiredCertificates": accept_expired_certificates,
                "forceAuthn": force_authn,
                "nameIdFormat": name_id_format,
                "clockSkewSeconds": clock_skew_seconds,
                "attributeMapping": attribute_mapping,
                "defaultRoles": default_roles,
                "groupRoles": group_roles,
                "createCustomers": create_customers,
                "allowOtherDomains": allow_other_domains,
                "trustMfa": trust_mfa,
                "onNewSubject": on_new_subject,
                "defaultRedirectUrl": default_redirect_url,
                "kind": kind,
                "name": name,
                "domain": domain,
            },
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        conn_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AppSsoConnection:
        """Get a connection, with the values to enter at the identity provider and its pinned certificates.

        Permission: `sso:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SsoConnectionMissing
        """
        return await self._client._call(
            operations.GET_SSO_CONNECTION_OF_APP,
            (
                id,
                conn_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def update(
        self,
        id: str,
        conn_id: str,
        *,
        idp_metadata_xml: str | NotGiven = NOT_GIVEN,
        idp_metadata_url: str | None | NotGiven = NOT_GIVEN,
        idp_entity_id: str | None | NotGiven = NOT_GIVEN,
        idp_sso_url: str | None | NotGiven = NOT_GIVEN,
        idp_sso_binding: Literal["POST", "REDIRECT"] | str | NotGiven = NOT_GIVEN,
        idp_slo_url: str | None | NotGiven = NOT_GIVEN,
        idp_slo_binding: Literal["POST", "REDIRECT"] | str | NotGiven = NOT_GIVEN,
        idp_slo_response_url: str | None | NotGiven = NOT_GIVEN,
        oidc_issuer: str | None | NotGiven = NOT_GIVEN,
        oidc_client_id: str | None | NotGiven = NOT_GIVEN,
        oidc_client_secret: str | None | NotGiven = NOT_GIVEN,
        oidc_scopes: str | None | NotGiven = NOT_GIVEN,
        idp_certificate: Sequence[str] | NotGiven = NOT_GIVEN,
        allow_idp_initiated: bool | NotGiven = NOT_GIVEN,
        require_encryption: bool | NotGiven = NOT_GIVEN,
        allow_aes_cbc: bool | NotGiven = NOT_GIVEN,
        accept_expired_certificates: bool | NotGiven = NOT_GIVEN,
        force_authn: bool | NotGiven = NOT_GIVEN,
        name_id_format: str | None | NotGiven = NOT_GIVEN,
        clock_skew_seconds: int | NotGiven = NOT_GIVEN,
        attribute_mapping: types.AttributeMapping | params.AttributeMappingDict | NotGiven = NOT_GIVEN,
        default_roles: Sequence[str] | NotGiven = NOT_GIVEN,
        group_roles: Mapping[str, Sequence[str]] | NotGiven = NOT_GIVEN,
        create_customers: bool | NotGiven = NOT_GIVEN,
        allow_other_domains: bool | NotGiven = NOT_GIVEN,
        trust_mfa: bool | NotGiven = NOT_GIVEN,
        on_new_subject: Literal["HOLD", "REFUSE"] | str | NotGiven = NOT_GIVEN,
        default_redirect_url: str | None | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        domain: str | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AppSsoConnection:
        """Change a connection.

        Omitted fields keep their values. Honours `If-Match`.

        `idpMetadataXml` or `idpMetadataUrl` sets every field whose name begins with `idp` from the metadata;
        `idp` fields in the same request take precedence. `testedAt` becomes null if the change invalidates the
        test.

        A change that would make an ACTIVE connection incomplete returns 409; deactivate it first. If this
        connection is ACTIVE and another organization, which has lost the domain, still has an active connection
        for it, the connection of the other organization is deactivated.

        Permission: `sso:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            idp_metadata_xml: The identity provider's metadata: sets all fields whose names begin with `idp`.
            idp_metadata_url: URL of the metadata. It is fetched now and used like `idpMetadataXml`, and fetched
                again every day, so that new certificates are taken over. While it is set, the fetched metadata
                overrides fields set one by one.
            idp_entity_id: Entity id of the identity provider.
            idp_sso_url: Single sign-on URL of the identity provider.
            idp_sso_binding: SAML binding of authentication requests.
            idp_slo_url: Single logout URL of the identity provider; null for no single logout.
            idp_slo_binding: SAML binding of logout requests.
            idp_slo_response_url: URL for responses to logout requests; null uses `idpSloUrl`.
            oidc_issuer: Issuer of the OpenID provider, exactly as its discovery document has it.
            oidc_client_id: Client id at the OpenID provider; null for SAML.
            oidc_client_secret: Client secret; null for a public client. Send it again if you change the issuer.
            oidc_scopes: Scopes to request; must contain `openid`. Default: `openid email profile`.
            idp_certificate: Signing certificates, PEM or bare base64; replaces the list. Add the provider's next
                certificate before the provider signs with it.
            allow_idp_initiated: Accept IdP-initiated sign-on; the browser is redirected to `defaultRedirectUrl`.
            require_encryption: Whether assertions must be encrypted.
            allow_aes_cbc: Whether the outdated AES-CBC encryption is accepted.
            accept_expired_certificates: Whether expired certificates of the identity provider are accepted.
            force_authn: Whether the identity provider must authenticate the person again (`ForceAuthn`).
            name_id_format: Format of the name identifier to request; null for any.
            clock_skew_seconds: Tolerated clock difference in seconds.
            attribute_mapping: Names of the SAML attributes or claims with the person's data.
            default_roles: Roles in the organization for users who sign on for the first time.
            group_roles: Roles for each group. Roles listed here are updated at every sign-on; others stay.
            create_customers: Whether the sign-on of an unknown user creates a customer.
            allow_other_domains: Whether to accept addresses outside the organization's verified domains
                (guests). They count as unverified.
            trust_mfa: Whether every sign-on counts as multi-factor: set this if the identity provider always
                requires a second factor. If false, only a sign-on counts whose assertion says so
                (`AuthnContextClassRef`, or Microsoft's `authnmethodsreferences`).
            on_new_subject: What to do if a user of the identity provider has the address of a customer who is
                linked to another user of the provider: REFUSE the sign-on, or HOLD it as an `identity-request`
                until an administrator approves it.
            default_redirect_url: Redirect URL for IdP-initiated sign-on: one of the project's `redirectUrls`.
            name: A display name: one line of text, not only blanks.
            domain: Domain name.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MetadataRefused
            MetadataTooLarge
            MetadataUnreachable
            OrganizationMissing
            RoleUnknown
            SsoConnectionIncomplete
            SsoConnectionMissing
            SsoDomainServed
        """
        return await self._client._call(
            operations.CHANGE_SSO_CONNECTION_OF_APP,
            (
                id,
                conn_id,
            ),
            body={
                "idpMetadataXml": idp_metadata_xml,
                "idpMetadataUrl": idp_metadata_url,
                "idpEntityId": idp_entity_id,
                "idpSsoUrl": idp_sso_url,
                "idpSsoBinding": idp_sso_binding,
                "idpSloUrl": idp_slo_url,
                "idpSloBinding": idp_slo_binding,
                "idpSloResponseUrl": idp_slo_response_url,
                "oidcIssuer": oidc_issuer,
                "oidcClientId": oidc_client_id,
                "oidcClientSecret": oidc_client_secret,
                "oidcScopes": oidc_scopes,
                "idpCertificate": idp_certificate,
                "allowIdpInitiated": allow_idp_initiated,
                "requireEncryption": require_encryption,
                "allowAesCbc": allow_aes_cbc,
                "acceptExpiredCertificates": accept_expired_certificates,
                "forceAuthn": force_authn,
                "nameIdFormat": name_id_format,
                "clockSkewSeconds": clock_skew_seconds,
                "attributeMapping": attribute_mapping,
                "defaultRoles": default_roles,
                "groupRoles": group_roles,
                "createCustomers": create_customers,
                "allowOtherDomains": allow_other_domains,
                "trustMfa": trust_mfa,
                "onNewSubject": on_new_subject,
                "defaultRedirectUrl": default_redirect_url,
                "name": name,
                "domain": domain,
            },
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        conn_id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Removed:
        """Delete a connection with its keys.

        Customers who used it stay and can use other sign-in methods.

        Returns 409 if single sign-on is required and this is the only working connection. Honours `If-Match`.

        Permission: `sso:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SsoConnectionMissing
            SsoStillRequired
        """
        return await self._client._call(
            operations.DELETE_SSO_CONNECTION_OF_APP,
            (
                id,
                conn_id,
            ),
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def get_metadata(
        self,
        id: str,
        conn_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Get the service provider metadata: URLs, and the certificates of the CURRENT and the NEXT key.

        Permission: `sso:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SamlOnly
            SsoConnectionMissing
        """
        return await self._client._call(
            operations.GET_SSO_METADATA_OF_APP,
            (
                id,
                conn_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def activate(
        self,
        id: str,
        conn_id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AppSsoConnection:
        """Activate a connection.

        The connection needs the identity provider's entity id, an https sign-on URL and a certificate that has
        not expired, or for OpenID Connect an issuer and a client id; and a VERIFIED domain of the organization
        equal to `domain`. Otherwise the response is 409 with the missing parts in `errors`. Only one active
        connection can serve a domain. If another organization, which has lost the domain, still has an active
        connection for it, the connection of the other organization is deactivated. Honours `If-Match`.

        Permission: `sso:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SsoConnectionIncomplete
            SsoConnectionMissing
            SsoDomainServed
        """
        return await self._client._call(
            operations.ACTIVATE_SSO_CONNECTION_OF_APP,
            (
                id,
                conn_id,
            ),
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def deactivate(
        self,
        id: str,
        conn_id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AppSsoConnection:
        """Deactivate a connection.

        Existing sessions continue.

        Returns 409 if single sign-on is required and this is the only working connection. Honours `If-Match`.

        Permission: `sso:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SsoConnectionDraft
            SsoConnectionMissing
            SsoStillRequired
        """
        return await self._client._call(
            operations.DEACTIVATE_SSO_CONNECTION_OF_APP,
            (
                id,
                conn_id,
            ),
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def rotate_certificate(
        self,
        id: str,
        conn_id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AppSsoConnection:
        """Rotate the keys: NEXT becomes CURRENT and signs from now on, and a new NEXT is published.

        Do this after the identity provider has imported the NEXT certificate from the metadata. Messages
        encrypted for the previous key can be decrypted until the next rotation. Honours `If-Match`.

        Permission: `sso:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SamlOnly
            SsoConnectionMissing
        """
        return await self._client._call(
            operations.ROTATE_SSO_CERTIFICATE_OF_APP,
            (
                id,
                conn_id,
            ),
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def create_test_link(
        self,
        id: str,
        conn_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SsoTest:
        """Create a link to test the connection, even if it is not active: open the link in a browser and sign on.

        The final page and the operation `…/traces` show every check and the resulting profile. No customer is
        created or signed in. The link is valid for an hour.

        Permission: `sso:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SsoConnectionIncomplete
            SsoConnectionMissing
        """
        return await self._client._call(
            operations.TEST_SSO_CONNECTION_OF_APP,
            (
                id,
                conn_id,
            ),
            project=project,
            timeout=timeout,
        )

    def list_traces(
        self,
        id: str,
        conn_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.SsoTrace]:
        """List the checks of the latest sign-ons, tests and logouts, newest first.

        They are kept for seven days.

        Permission: `sso:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SsoConnectionMissing
        """
        return self._client._list(
            operations.LIST_SSO_TRACES_OF_APP,
            (
                id,
                conn_id,
            ),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )


class AsyncAudiencesContacts:
    """The methods of `client.audiences.contacts`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        id: str,
        *,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        count_limit: int | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.Contact]:
        """List the contacts of an audience, newest contact first.

        Permission: `audiences:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            page: Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further.
            limit: Records per page.
            cursor: The cursor from the previous response, with the same filters.
            count_limit: Count no more than this many records: a `total` of this number means that many or more.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AudienceMissing
        """
        return self._client._list(
            operations.LIST_AUDIENCE_CONTACTS,
            (id,),
            query={"page": page, "limit": limit, "cursor": cursor, "countLimit": count_limit},
            project=project,
            timeout=timeout,
        )

    async def add(
        self,
        id: str,
        *,
        contact_id: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AudienceMembership:
        """Add a contact to a STATIC audience.

        Does nothing if it is a member already.

        Permission: `audiences:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            contact_id: Id of the contact; null if there is none.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AudienceDynamic
            AudienceMissing
            ContactMissing
        """
        return await self._client._call(
            operations.ADD_CONTACT_TO_AUDIENCE, (id,), body={"contactId": contact_id}, project=project, timeout=timeout
        )

    async def add_email(
        self,
        id: str,
        *,
        email: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AudienceMembership:
        """Add the contact with an address to a STATIC audience.

        Creates the contact if there is none.

        Permission: `audiences:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            email: E-mail address.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AudienceDynamic
            AudienceMissing
        """
        return await self._client._call(
            operations.ADD_EMAIL_TO_AUDIENCE, (id,), body={"email": email}, project=project, timeout=timeout
        )

    async def add_emails(
        self,
        id: str,
        *,
        emails: Sequence[str] | NotGiven = NOT_GIVEN,
        contacts: Sequence[types.BulkContact | params.BulkContactDict] | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AudienceBulkResult:
        """Add up to 10,000 addresses to a STATIC audience.

        Creates contacts for unknown addresses.

        `skipped` counts invalid and duplicate addresses and those of existing members.

        Permission: `audiences:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            emails: Addresses of contacts to add.
            contacts: Contacts to add, with attributes.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AudienceDynamic
            AudienceMissing
        """
        return await self._client._call(
            operations.ADD_EMAILS_TO_AUDIENCE,
            (id,),
            body={"emails": emails, "contacts": contacts},
            project=project,
            timeout=timeout,
        )

    async def remove(
        self,
        id: str,
        contact_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AudienceMembership:
        """Remove a contact from a STATIC audience.

        The contact itself stays. Returns 404 if it is not a member.

        Permission: `audiences:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            contact_id: The contact id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AudienceDynamic
            AudienceMissing
            ContactMissing
        """
        return await self._client._call(
            operations.REMOVE_CONTACT_FROM_AUDIENCE,
            (
                id,
                contact_id,
            ),
            project=project,
            timeout=timeout,
        )


class AsyncAuthEmails:
    """The methods of `client.auth.emails`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def list(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.OwnAddress]:
        """The addresses of your account: the primary one first, then the others, oldest first.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.LIST_MY_EMAILS, (), project=project, timeout=timeout)

    async def add(
        self,
        *,
        email: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ChallengeSent:
        """Send a code to a further address.

        `verify-email` takes the code and adds the address to your account.

        Needs a sign-in in the last hour, and a primary address that is verified: otherwise the person whose
        address it is would take over this account with the added one when they verify theirs. An account has at
        most ten further addresses.

        Credentials: customer.

        Args:
            email: E-mail address.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            NotFresh
            PrimaryAddressUnverified
            TooManyAddresses
        """
        return await self._client._call(
            operations.ADD_MY_EMAIL, (), body={"email": email}, project=project, timeout=timeout
        )

    async def make_primary(
        self,
        *,
        email: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CurrentCustomer:
        """Make one of your verified addresses the primary one.

        The former primary address stays with your account, and gets a notice. Needs a sign-in in the last hour.

        Credentials: customer.

        Args:
            email: E-mail address.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AddressMissing
            NotFresh
        """
        return await self._client._call(
            operations.MAKE_MY_EMAIL_PRIMARY, (), body={"email": email}, project=project, timeout=timeout
        )

    async def remove(
        self,
        *,
        email: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Remove an address from your account, but not the primary one.

        Codes and links that were mailed to it stop working. Needs a sign-in in the last hour.

        Credentials: customer.

        Args:
            email: E-mail address.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AddressMissing
            NotFresh
        """
        return await self._client._call(
            operations.REMOVE_MY_EMAIL, (), body={"email": email}, project=project, timeout=timeout
        )


class AsyncAuthIdentities:
    """The methods of `client.auth.identities`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def begin_link(
        self,
        key: str,
        *,
        redirect_url: str,
        code_challenge: str,
        state: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.IdentityLinkStart:
        """Begin to link an account at the sign-in provider with this `key`.

        Needs a sign-in in the last hour.

        Send the browser to `url`. It returns to `redirectUrl` with a `code`, to be sent to POST
        …/auth/identities, or with `error`.

        Credentials: customer.

        Args:
            key: The key.
            redirect_url: URL to which the browser is redirected afterwards; one of the project's `redirectUrls`.
            code_challenge: An S256 code challenge (RFC 7636 §4.2): 43 characters of base64url.
            state: Value that is returned unchanged with the response.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            NotFresh
            ProviderMissing
        """
        return await self._client._call(
            operations.BEGIN_IDENTITY_LINK,
            (key,),
            body={"redirectUrl": redirect_url, "codeChallenge": code_challenge, "state": state},
            project=project,
            timeout=timeout,
        )

    async def finish_link(
        self,
        *,
        code: str,
        code_verifier: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CurrentCustomer:
        """Link the account that the customer has signed in to at the provider.

        The customer is notified by mail.

        The code works once, and only for the session that began to link the account. That session must have
        signed in within the last hour; the sign-in at the provider does not count.

        Credentials: customer.

        Args:
            code: Authorization code from the redirect.
            code_verifier: A code verifier (RFC 7636 §4.1): 43 to 128 letters, digits, `-`, `.`, `_` and `~`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            IdentityLinked
            IdentityTaken
            NotFresh
        """
        return await self._client._call(
            operations.FINISH_IDENTITY_LINK,
            (),
            body={"code": code, "codeVerifier": code_verifier},
            project=project,
            timeout=timeout,
        )

    async def unlink(
        self,
        key: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Unlink the account at the provider with this `key`.

        Needs a sign-in in the last hour, and another sign-in method.

        The customer is notified by mail.

        Credentials: customer.

        Args:
            key: The key.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            IdentityMissing
            LastSignInMethod
            NotFresh
        """
        return await self._client._call(operations.UNLINK_IDENTITY, (key,), project=project, timeout=timeout)


class AsyncAuthInvitations:
    """The methods of `client.auth.invitations`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def preview(
        self,
        *,
        token: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.InvitationPreview:
        """Get the organization and address of an invitation, for a page that asks the visitor to sign up or sign in
        before accepting.

        Credentials: anonymous, publishable key, secret key.

        Args:
            token: Token from the link in the mail.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            InvitationMissing
        """
        return await self._client._call(
            operations.PREVIEW_INVITATION, (), body={"token": token}, project=project, timeout=timeout
        )

    async def accept(
        self,
        *,
        token: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AcceptedInvitation:
        """Accept an invitation as the signed-in customer.

        The invited address must be a verified address of the customer.

        An existing member gets the invitation's role in addition to other roles. Accepting an invitation again
        is not an error.

        Credentials: customer.

        Args:
            token: Token from the link in the mail.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AddressNotVerified
            InvitationClosed
            InvitationMissing
            InvitedSomebodyElse
            OrganizationSuspended
            RoleUnknown
        """
        return await self._client._call(
            operations.ACCEPT_INVITATION, (), body={"token": token}, project=project, timeout=timeout
        )


class AsyncAuthOrganizations:
    """The methods of `client.auth.organizations`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.OrganizationMembership]:
        """List the organizations of the signed-in customer, most recently joined first.

        Credentials: customer.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_MY_ORGANIZATIONS,
            (),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def leave(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Removed:
        """Leave an organization as the signed-in customer.

        The last OWNER cannot leave (409).

        The customer does not join again by domain or single sign-on until invited or added again.

        Credentials: customer.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LastOwner
            MemberMissing
        """
        return await self._client._call(operations.LEAVE_ORGANIZATION, (id,), project=project, timeout=timeout)


class AsyncAuthPasskeys:
    """The methods of `client.auth.passkeys`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def begin_registration(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.PasskeyOptions:
        """Begin to add a passkey: pass `options` to `navigator.credentials.create`.

        Needs a sign-in in the last hour.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MethodOff
            NotFresh
            TooManyPasskeys
        """
        return await self._client._call(operations.BEGIN_PASSKEY_REGISTRATION, (), project=project, timeout=timeout)

    async def register(
        self,
        *,
        challenge_id: str,
        credential: Mapping[str, Any],
        name: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Passkey:
        """Add the passkey that the browser created.

        Needs a sign-in in the last hour. The customer is notified by mail.

        Credentials: customer.

        Args:
            challenge_id: Id of the challenge. Send it back with the code.
            credential: Result of the browser's `navigator.credentials`, as JSON.
            name: Display name. Default: `"Passkey"`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            NotFresh
            TooManyPasskeys
        """
        return await self._client._call(
            operations.ADD_PASSKEY,
            (),
            body={"challengeId": challenge_id, "credential": credential, "name": name},
            project=project,
            timeout=timeout,
        )

    async def list(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.Passkey]:
        """The customer's passkeys, newest first.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.LIST_PASSKEYS, (), project=project, timeout=timeout)

    async def rename(
        self,
        id: str,
        *,
        name: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Passkey:
        """Change the name of a passkey.

        Credentials: customer.

        Args:
            id: The id.
            name: Display name.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            PasskeyMissing
        """
        return await self._client._call(
            operations.RENAME_PASSKEY, (id,), body={"name": name}, project=project, timeout=timeout
        )

    async def delete(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Remove a passkey.

        Needs a sign-in in the last hour, and another sign-in method.

        The last passkey cannot be removed (409) if a second factor is required and the customer has no other
        second factor. The customer is notified by mail.

        Credentials: customer.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LastSignInMethod
            MfaStillRequired
            NotFresh
            PasskeyMissing
        """
        return await self._client._call(operations.REMOVE_PASSKEY, (id,), project=project, timeout=timeout)

    async def begin_sign_in(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.PasskeyOptions:
        """Begin to sign in with a passkey: pass `options` to `navigator.credentials.get`.

        No e-mail address is needed.

        Credentials: anonymous, publishable key, secret key.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MethodOff
            SsoRequired
        """
        return await self._client._call(operations.BEGIN_PASSKEY_SIGN_IN, (), project=project, timeout=timeout)

    async def sign_in(
        self,
        *,
        challenge_id: str,
        credential: Mapping[str, Any],
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerSignInResult:
        """Sign in with a passkey.

        User verification (PIN, fingerprint, face) counts as the second factor.

        Credentials: anonymous, publishable key, secret key.

        Args:
            challenge_id: Id of the challenge. Send it back with the code.
            credential: Result of the browser's `navigator.credentials`, as JSON.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            MethodOff
            SignInBlocked
            SignInFailed
            SignInMethodNotAllowed
            SsoRequired
        """
        return await self._client._call(
            operations.SIGN_IN_WITH_PASSKEY,
            (),
            body={"challengeId": challenge_id, "credential": credential},
            project=project,
            timeout=timeout,
        )

    async def begin_step_up(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.PasskeyOptions:
        """Begin to authenticate again with one of your passkeys: pass `options` to `navigator.credentials.get`.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            StepUpMethodNotAllowed
        """
        return await self._client._call(operations.BEGIN_PASSKEY_STEP_UP, (), project=project, timeout=timeout)


class AsyncAuthRememberedDevices:
    """The methods of `client.auth.remembered_devices`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def list(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.MyRememberedDevice]:
        """The devices on which you are not asked for the second factor, newest first.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.LIST_REMEMBERED_DEVICES, (), project=project, timeout=timeout)

    async def delete(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Ask for the second factor on this device again.

        Its sessions continue.

        Credentials: customer.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            RememberedDeviceMissing
        """
        return await self._client._call(operations.FORGET_REMEMBERED_DEVICE, (id,), project=project, timeout=timeout)


class AsyncAuthSessions:
    """The methods of `client.auth.sessions`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def list(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.OwnSession]:
        """Your sessions, newest first.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.LIST_MY_SESSIONS, (), project=project, timeout=timeout)

    async def revoke(
        self,
        session_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """End one of your sessions.

        Credentials: customer.

        Args:
            session_id: The session id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SessionMissing
        """
        return await self._client._call(operations.REVOKE_MY_SESSION, (session_id,), project=project, timeout=timeout)

    async def revoke_others(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """End all your sessions except this one.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.REVOKE_MY_OTHER_SESSIONS, (), project=project, timeout=timeout)


class AsyncAuthTotp:
    """The methods of `client.auth.totp`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def enroll(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.TotpEnrolment:
        """Begin to set up a second factor: show `uri` as a QR code.

        `mfa/totp/confirm` turns it on with a first code.

        Needs a sign-in in the last hour.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MfaAlreadyOn
            NotFresh
        """
        return await self._client._call(operations.ENROL_TOTP, (), project=project, timeout=timeout)

    async def confirm(
        self,
        *,
        code: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerRecoveryCodes:
        """Turn the second factor on with a first code.

        Returns ten recovery codes. All other sessions end.

        Needs a sign-in in the last hour. The customer is notified by mail.

        Credentials: customer.

        Args:
            code: Six digits, such as `123456`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            MfaAlreadyOn
            MfaOff
            NotFresh
            SignInLocked
        """
        return await self._client._call(
            operations.CONFIRM_TOTP, (), body={"code": code}, project=project, timeout=timeout
        )

    async def disable(
        self,
        *,
        code: str | None | NotGiven = NOT_GIVEN,
        recovery_code: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Turn the second factor off with a code of the authenticator app or a recovery code.

        The response is 409 if the project or an organization requires a second factor. The customer is notified
        by mail.

        Credentials: customer.

        Args:
            code: One-time code from the authenticator app or from the mail.
            recovery_code: A recovery code, instead of `code`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            MfaOff
            MfaStillRequired
            SignInLocked
        """
        return await self._client._call(
            operations.DISABLE_TOTP,
            (),
            body={"code": code, "recoveryCode": recovery_code},
            project=project,
            timeout=timeout,
        )


class AsyncAutomationsRuns:
    """The methods of `client.automations.runs`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        id: str,
        *,
        status: Sequence[Literal["CANCELLED", "COMPLETED", "EXITED", "FAILED", "RUNNING", "WAITING"] | str]
        | None = None,
        contact_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.AutomationRun]:
        """List the runs of an automation, newest first.

        Filter by `status` (comma-separated) and `contactId`.

        Permission: `automations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            status: Status.
            contact_id: Contact id.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AutomationMissing
        """
        return self._client._list(
            operations.LIST_AUTOMATION_RUNS,
            (id,),
            query={"status": status, "contactId": contact_id, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        run_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AutomationRunDetail:
        """Get a run with its history: each executed step with its times and outcome.

        Permission: `automations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            run_id: The run id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            RunMissing
        """
        return await self._client._call(
            operations.GET_AUTOMATION_RUN,
            (
                id,
                run_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def cancel(
        self,
        id: str,
        run_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AutomationRun:
        """Cancel a run at its current step.

        Steps that were executed are not undone.

        Permission: `automations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            run_id: The run id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            RunFinished
            RunMissing
        """
        return await self._client._call(
            operations.CANCEL_AUTOMATION_RUN,
            (
                id,
                run_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def retry(
        self,
        id: str,
        run_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AutomationRun:
        """Resume a FAILED run from the step that failed, with the steps that the automation had when the run
        started.

        Earlier steps are not repeated. Returns 409 if the run has not failed, or if its contact has another
        unfinished run of the automation. Runs that a TEST key started and other runs are independent of each
        other.

        Permission: `automations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            run_id: The run id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LiveKeyRequired
            RunMissing
            RunNotFailed
        """
        return await self._client._call(
            operations.RETRY_AUTOMATION_RUN,
            (
                id,
                run_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def retry_all(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.RunsRetried:
        """Resume the failed runs of an automation from the steps that failed, up to 1,000 per request.

        `more` is true if 1,000 runs were resumed, so that others may remain: repeat the request. Of several
        failed runs of one contact only the latest is resumed.

        Permission: `automations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AutomationMissing
            LiveKeyRequired
        """
        return await self._client._call(operations.RETRY_AUTOMATION_RUNS, (id,), project=project, timeout=timeout)


class AsyncContactsAttributes:
    """The methods of `client.contacts.attributes`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.ContactAttribute]:
        """List the attributes of the project's contacts with their types, newest first.

        The first value of an attribute sets its type (`inferred`): number, boolean, list, date (an ISO 8601
        string) or string. Objects, null and empty strings set no type. A project has at most 1,000 attributes
        with a type; values of further attributes are stored without one.

        Permission: `contacts:read`.

        Credentials: developer, secret key.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_CONTACT_ATTRIBUTES,
            (),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        *,
        name: str,
        type: Literal["boolean", "date", "list", "number", "string"] | str,
        description: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ContactAttribute:
        """Declare the type of an attribute before contacts have it.

        An import rejects rows with a cell that does not match a declared type. Values in JSON requests are not
        converted and may have another type.

        Permission: `contacts:write`.

        Credentials: developer, secret key.

        Args:
            name: Display name.
            type: Type by which imports read cells of this attribute: `string`, `number`, `boolean`, `date` or
                `list`.
            description: Description for people.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContactAttributeExists
            TooManyContactAttributes
        """
        return await self._client._call(
            operations.CREATE_CONTACT_ATTRIBUTE,
            (),
            body={"name": name, "type": type, "description": description},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ContactAttribute:
        """Get an attribute with its type.

        Permission: `contacts:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContactAttributeMissing
        """
        return await self._client._call(operations.GET_CONTACT_ATTRIBUTE, (id,), project=project, timeout=timeout)

    async def update(
        self,
        id: str,
        *,
        type: Literal["boolean", "date", "list", "number", "string"] | str | NotGiven = NOT_GIVEN,
        description: str | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ContactAttribute:
        """Change the type or the description of an attribute.

        Stored values do not change. Later imports parse cells by the new type and reject rows with a cell that
        does not match it; an export puts values of another type into its column `attributes`. A `type` in the
        request counts as declared, even if it equals the inferred one. Honours `If-Match`.

        Permission: `contacts:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            type: Type by which imports read cells of this attribute: `string`, `number`, `boolean`, `date` or
                `list`.
            description: Description for people.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContactAttributeMissing
        """
        return await self._client._call(
            operations.CHANGE_CONTACT_ATTRIBUTE,
            (id,),
            body={"type": type, "description": description},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete the type of an attribute.

        Contacts keep their values; the next value written sets the type again.

        Honours `If-Match`.

        Permission: `contacts:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContactAttributeMissing
        """
        return await self._client._call(
            operations.DELETE_CONTACT_ATTRIBUTE, (id,), if_match=if_match, project=project, timeout=timeout
        )


class AsyncContactsImports:
    """The methods of `client.contacts.imports`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def create(
        self,
        *,
        data: AsyncContent,
        mode: Literal["skip", "upsert"] | str | None = None,
        charset: str | None = None,
        columns: str | None = None,
        attribute_types: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ContactImport:
        """Import contacts from a CSV file: the body is the file, `Content-Type: text/csv`, at most 1 GiB.

        The first line is the header; a line `sep=;` may precede it. A column `email` is required, `unsubscribed`
        (true or false) is optional; synonyms of both are recognised in 14 languages. A column `attributes` may
        hold a JSON object; every other column becomes an attribute with its name. The type of the attribute
        decides how its cells are parsed (see `contact-attributes`). An attribute without a type gets the type
        that all cells of its column match in the first 10,000 rows, otherwise `string`. A cell that does not
        match a declared type fails its row; one that does not match an inferred type is stored as a string.
        `attributeTypes` declares types before the import. Empty cells change nothing. The delimiter is a comma,
        semicolon, tab or `|`. `POST …/contacts/import/preview` shows how a file would be read.

        `mode=upsert` (the default) merges into existing contacts, `skip` does not change them. An import can
        unsubscribe contacts, but never subscribes them again. The response is sent after the upload; the rows
        are imported in the background, and `GET …/contacts/imports/{id}` reports the progress.

        Permission: `contacts:write`.

        Credentials: developer, secret key.

        Args:
            data: The content.
            mode: Mode.
            charset: Character encoding of the file, such as `windows-1252`. A byte order mark takes precedence;
                this parameter overrides the `charset` of `Content-Type`. UTF-8, UTF-16 with a byte order mark
                and Windows-1252 are detected.
            columns: Mapping of columns as a JSON object, keyed by column name. Values: `email`, `unsubscribed`,
                `subscribed` (the opposite), `attributes` (a JSON object), `attributes.<name>`, or null to
                exclude it. Columns that are not listed are mapped automatically.
            attribute_types: Attribute types to declare before the import, as a JSON object: `{"zip": "string"}`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContactAttributeDeclared
            HeaderTooLarge
            ImportFileInvalid
            TooManyContactAttributes
            TooManyImports
            UploadBroken
        """
        return await self._client._call(
            operations.IMPORT_CONTACTS,
            (),
            query={"mode": mode, "charset": charset, "columns": columns, "attributeTypes": attribute_types},
            data=data,
            project=project,
            timeout=timeout,
        )

    async def preview(
        self,
        *,
        data: AsyncContent,
        charset: str | None = None,
        columns: str | None = None,
        attribute_types: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ContactImportPreview:
        """Show how an import would read a CSV file: its encoding, what each column fills, and the first 20 rows.

        The body is the file, or its beginning. The parameters are those of `POST …/contacts/import`. Nothing is
        stored. `problems` lists what prevents an import (`blocking`) and what to check first, each with what to
        do next. If only the beginning of a file is sent, the encoding detected for the whole file may differ.

        Permission: `contacts:write`.

        Credentials: developer, secret key.

        Args:
            data: The content.
            charset: Character encoding of the file, such as `windows-1252`. A byte order mark takes precedence;
                this parameter overrides the `charset` of `Content-Type`. UTF-8, UTF-16 with a byte order mark
                and Windows-1252 are detected.
            columns: Mapping of columns as a JSON object, keyed by column name. Values: `email`, `unsubscribed`,
                `subscribed` (the opposite), `attributes` (a JSON object), `attributes.<name>`, or null to
                exclude it. Columns that are not listed are mapped automatically.
            attribute_types: Attribute types to declare before the import, as a JSON object: `{"zip": "string"}`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContactAttributeDeclared
            HeaderTooLarge
            ImportFileInvalid
            TooManyContactAttributes
            TooManyPreviews
            UploadBroken
        """
        return await self._client._call(
            operations.PREVIEW_CONTACT_IMPORT,
            (),
            query={"charset": charset, "columns": columns, "attributeTypes": attribute_types},
            data=data,
            project=project,
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.ContactImport]:
        """List the project's imports, newest first.

        Permission: `contacts:read`.

        Credentials: developer, secret key.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_CONTACT_IMPORTS,
            (),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ContactImport:
        """Get the progress of an import: `status` goes from PENDING through RUNNING to COMPLETED or FAILED.

        `rows` is the sum of `created`, `updated`, `skipped` and `failed`; `position` of `bytes` bytes have been
        processed. `errors` lists the first 200 lines that failed, with the reason.

        Permission: `contacts:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ImportMissing
        """
        return await self._client._call(operations.GET_CONTACT_IMPORT, (id,), project=project, timeout=timeout)


class AsyncCustomersIdentityRequests:
    """The methods of `client.customers.identity_requests`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        status: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.IdentityRequest]:
        """Requests to link an account, newest first; `status` filters by PENDING, APPROVED or REJECTED.

        Permission: `customers:read`.

        Credentials: developer, secret key.

        Args:
            status: Status.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_IDENTITY_REQUESTS,
            (),
            query={"status": status, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def approve(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.IdentityRequest:
        """Link the account to the customer, and unlink the account of the same provider that was linked before.

        The customer is notified by mail, unless the project has switched this notice off.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            IdentityRequestDecided
            IdentityRequestMissing
            IdentityTaken
        """
        return await self._client._call(operations.APPROVE_IDENTITY_REQUEST, (id,), project=project, timeout=timeout)

    async def reject(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.IdentityRequest:
        """Reject the request.

        Later sign-ins with the account are refused and add no new request.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            IdentityRequestDecided
            IdentityRequestMissing
        """
        return await self._client._call(operations.REJECT_IDENTITY_REQUEST, (id,), project=project, timeout=timeout)


class AsyncCustomersSessions:
    """The methods of `client.customers.sessions`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def revoke(
        self,
        id: str,
        session_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """End a session of a customer.

        Its tokens are rejected from the next request on.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            session_id: The session id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
            SessionMissing
        """
        return await self._client._call(
            operations.REVOKE_CUSTOMER_SESSION,
            (
                id,
                session_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def revoke_all(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """End all sessions of a customer, including sign-ins that wait for a second factor.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return await self._client._call(operations.REVOKE_CUSTOMER_SESSIONS, (id,), project=project, timeout=timeout)


class AsyncDevelopersPasskeys:
    """The methods of `client.developers.passkeys`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def begin_registration(
        self,
        *,
        password: str,
        code: str | None | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> types.PasskeyOptions:
        """Start to add a passkey: pass `options` to `navigator.credentials.create`, and send the result to
        `register`.

        Requires your password and, if a second factor is on, a `code`, because a passkey signs in without them.
        The options are valid for 5 minutes.

        Credentials: developer.

        Args:
            password: Password. A new password must have at least 8 characters.
            code: Required if a second factor is on.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeWrong
            LockedOut
            MfaNotEnrolled
            MfaRequired
            PasswordWrong
            TooManyPasskeys
        """
        return await self._client._call(
            operations.BEGIN_DEVELOPER_PASSKEY_REGISTRATION,
            (),
            body={"password": password, "code": code},
            timeout=timeout,
        )

    async def register(
        self,
        *,
        challenge_id: str,
        credential: Mapping[str, Any],
        name: str | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> types.Passkey:
        """Add the passkey that the browser created.

        A mail informs you.

        Credentials: developer.

        Args:
            challenge_id: Id of the challenge. Send it back with the code.
            credential: Result of the browser's `navigator.credentials`, as JSON.
            name: Display name. Default: `"Passkey"`.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            TooManyPasskeys
        """
        return await self._client._call(
            operations.ADD_DEVELOPER_PASSKEY,
            (),
            body={"challengeId": challenge_id, "credential": credential, "name": name},
            timeout=timeout,
        )

    async def list(
        self,
        *,
        timeout: float | None = None,
    ) -> builtins.list[types.Passkey]:
        """List your passkeys, newest first; at most 20.

        Credentials: developer.

        Args:
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.LIST_DEVELOPER_PASSKEYS, (), timeout=timeout)

    async def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Remove a passkey.

        You can still sign in with your password. A mail informs you.

        Credentials: developer.

        Args:
            id: The id.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            PasskeyMissing
        """
        return await self._client._call(operations.REMOVE_DEVELOPER_PASSKEY, (id,), timeout=timeout)

    async def begin_sign_in(
        self,
        *,
        timeout: float | None = None,
    ) -> types.PasskeyOptions:
        """Start to sign in with a passkey: pass `options` to `navigator.credentials.get`.

        No email address is needed.

        Args:
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.BEGIN_DEVELOPER_PASSKEY_SIGN_IN, (), timeout=timeout)

    async def sign_in(
        self,
        *,
        challenge_id: str,
        credential: Mapping[str, Any],
        timeout: float | None = None,
    ) -> types.DeveloperSignInResult:
        """Sign in with a passkey.

        No second factor is required, because the authenticator verifies its user (PIN, face).

        Args:
            challenge_id: Id of the challenge. Send it back with the code.
            credential: Result of the browser's `navigator.credentials`, as JSON.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            SignInFailed
        """
        return await self._client._call(
            operations.SIGN_IN_DEVELOPER_WITH_PASSKEY,
            (),
            body={"challengeId": challenge_id, "credential": credential},
            timeout=timeout,
        )


class AsyncDevelopersSessions:
    """The methods of `client.developers.sessions`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def list(
        self,
        *,
        timeout: float | None = None,
    ) -> builtins.list[types.OwnSession]:
        """List your sessions, newest first.

        `current` marks the session of this request.

        `methods` tells how you signed in: `pwd` (password), in addition `totp` or `recovery` (second factor), or
        `link` (a sign-in link that the operator of this server created).

        Credentials: developer.

        Args:
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.LIST_DEVELOPER_SESSIONS, (), timeout=timeout)

    async def revoke_others(
        self,
        *,
        timeout: float | None = None,
    ) -> None:
        """End all your sessions except this one.

        Credentials: developer.

        Args:
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.REVOKE_OTHER_DEVELOPER_SESSIONS, (), timeout=timeout)

    async def revoke(
        self,
        session_id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """End one of your sessions.

        Its tokens are refused from the next request on.

        Credentials: developer.

        Args:
            session_id: The session id.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SessionMissing
        """
        return await self._client._call(operations.REVOKE_DEVELOPER_SESSION, (session_id,), timeout=timeout)


class AsyncDevelopersTotp:
    """The methods of `client.developers.totp`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def enroll(
        self,
        *,
        password: str,
        timeout: float | None = None,
    ) -> types.DeveloperTotpEnrolment:
        """Start to set up an authenticator app.

        The second factor is on once `/auth/mfa/totp/confirm` gets a first code.

        Credentials: developer.

        Args:
            password: Password. A new password must have at least 8 characters.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LockedOut
            MfaAlreadyEnabled
            PasswordWrong
        """
        return await self._client._call(
            operations.ENROL_DEVELOPER_TOTP, (), body={"password": password}, timeout=timeout
        )

    async def confirm(
        self,
        *,
        code: str,
        timeout: float | None = None,
    ) -> types.DeveloperRecoveryCodes:
        """Turn the second factor on with a first code of the authenticator app.

        Your other sessions end.

        Credentials: developer.

        Args:
            code: One-time code from the authenticator app or from the mail.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeWrong
            LockedOut
            MfaAlreadyEnabled
            MfaNotEnrolled
        """
        return await self._client._call(operations.CONFIRM_DEVELOPER_TOTP, (), body={"code": code}, timeout=timeout)

    async def disable(
        self,
        *,
        password: str,
        code: str,
        timeout: float | None = None,
    ) -> None:
        """Turn the second factor off, and delete its recovery codes.

        Credentials: developer.

        Args:
            password: Password. A new password must have at least 8 characters.
            code: One-time code from the authenticator app or from the mail.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeWrong
            LockedOut
            MfaNotEnrolled
            PasswordWrong
        """
        return await self._client._call(
            operations.DISABLE_DEVELOPER_TOTP, (), body={"password": password, "code": code}, timeout=timeout
        )


class AsyncInboundRoutes:
    """The methods of `client.inbound.routes`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.InboundRoute]:
        """List the routes of received mail, newest first.

        Permission: `inbound:read`.

        Credentials: developer, secret key.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_INBOUND_ROUTES,
            (),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        *,
        address: str,
        name: str | None | NotGiven = NOT_GIVEN,
        active: bool | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.InboundRoute:
        """Receive mail for an address, or for every address of a domain with `*@` and its name.

        The domain must be a verified sending domain of the project, or below one. Publish the MX record in
        `record`, so that mail reaches this server. An address has precedence over its whole domain, and case
        does not matter. Mail to an address with a tag, such as `support+42@…`, goes to the route of the address
        without it, unless there is one with the tag. A project can have at most 1,000 routes.

        Permission: `inbound:write`.

        Credentials: developer, secret key.

        Args:
            address: An address, such as `support@reply.example.com`, or `*@reply.example.com` for every address
                of a domain.
            name: A name to recognise the route by; defaults to the address.
            active: Whether the record is active. Default: `true`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            InboundDomainNotVerified
            InboundRouteExists
            TooManyInboundRoutes
        """
        return await self._client._call(
            operations.CREATE_INBOUND_ROUTE,
            (),
            body={"address": address, "name": name, "active": active},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.InboundRoute:
        """Get a route with its MX record.

        Permission: `inbound:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            InboundRouteMissing
        """
        return await self._client._call(operations.GET_INBOUND_ROUTE, (id,), project=project, timeout=timeout)

    async def update(
        self,
        id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        active: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.InboundRoute:
        """Change the name of a route, or stop and start receiving mail.

        Honours `If-Match`.

        Permission: `inbound:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            name: A display name: one line of text, not only blanks.
            active: Whether the record is active.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            InboundRouteMissing
        """
        return await self._client._call(
            operations.CHANGE_INBOUND_ROUTE,
            (id,),
            body={"name": name, "active": active},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete a route.

        Mail for it is refused from then on; messages that were received stay. Honours `If-Match`.

        Permission: `inbound:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            InboundRouteMissing
        """
        return await self._client._call(
            operations.DELETE_INBOUND_ROUTE, (id,), if_match=if_match, project=project, timeout=timeout
        )

    async def verify(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.InboundRoute:
        """Look up the MX record of a route now.

        Mail that arrives is received whatever the result is.

        Permission: `inbound:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            InboundRouteMissing
        """
        return await self._client._call(operations.VERIFY_INBOUND_ROUTE, (id,), project=project, timeout=timeout)


class AsyncOrganizationsDomains:
    """The methods of `client.organizations.domains`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        organization_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.OrganizationDomain]:
        """List the domains of an organization, newest first, each with its TXT record and the result of the last
        check.

        Permission: `organizations:read`.

        Credentials: developer, secret key.

        Args:
            organization_id: The organization id.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
        """
        return self._client._list(
            operations.LIST_ORGANIZATION_DOMAINS,
            (organization_id,),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def add(
        self,
        organization_id: str,
        *,
        domain: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationDomain:
        """Add a domain that the organization owns.

        Publish `record` as a TXT record at `recordName`. The record is checked every minute for ten minutes,
        every ten minutes for three hours, then hourly for 30 days; `verify` checks it immediately. Public
        suffixes and public mailbox providers return 400; a domain that another organization of the project has
        verified returns 409.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            organization_id: The organization id.
            domain: Domain name.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DomainListed
            DomainTaken
            OrganizationMissing
            TooManyOrganizationDomains
        """
        return await self._client._call(
            operations.ADD_ORGANIZATION_DOMAIN,
            (organization_id,),
            body={"domain": domain},
            project=project,
            timeout=timeout,
        )

    async def verify(
        self,
        organization_id: str,
        domain_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationDomain:
        """Check the TXT record of a domain now, instead of waiting for the periodic check.

        A missing record is not an error: `status` and `reason` give the result. For a FAILED domain the periodic
        checks start again. Returns 409 if the record exists, but another organization has verified the domain.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            organization_id: The organization id.
            domain_id: The domain id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DomainTaken
            OrganizationDomainMissing
        """
        return await self._client._call(
            operations.VERIFY_ORGANIZATION_DOMAIN,
            (
                organization_id,
                domain_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def update(
        self,
        organization_id: str,
        domain_id: str,
        *,
        auto_join_enabled: bool,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationDomain:
        """Set whether customers with a verified address at exactly this domain join when they sign in.

        Enabling it requires a VERIFIED domain (409). Disabling it does not remove members. Honours `If-Match`.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            organization_id: The organization id.
            domain_id: The domain id.
            auto_join_enabled: Whether customers with a verified e-mail address at the domain join automatically.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DomainNotProved
            OrganizationDomainMissing
        """
        return await self._client._call(
            operations.CHANGE_ORGANIZATION_DOMAIN,
            (
                organization_id,
                domain_id,
            ),
            body={"autoJoinEnabled": auto_join_enabled},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def remove(
        self,
        organization_id: str,
        domain_id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Removed:
        """Remove a domain from an organization.

        Members stay, but the domain no longer allows joining or single sign-on.

        Returns 409 if single sign-on is required and the only working connection uses the domain. Honours `If-
        Match`.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            organization_id: The organization id.
            domain_id: The domain id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationDomainMissing
            SsoStillRequired
        """
        return await self._client._call(
            operations.REMOVE_ORGANIZATION_DOMAIN,
            (
                organization_id,
                domain_id,
            ),
            if_match=if_match,
            project=project,
            timeout=timeout,
        )


class AsyncOrganizationsInvitations:
    """The methods of `client.organizations.invitations`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        id: str,
        *,
        status: Literal["ACCEPTED", "EXPIRED", "PENDING", "REVOKED"] | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.OrganizationInvitation]:
        """List the invitations to an organization, newest first.

        Filter by `status`: PENDING, ACCEPTED, REVOKED or EXPIRED.

        Permission: `organizations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            status: Status.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
        """
        return self._client._list(
            operations.LIST_ORGANIZATION_INVITATIONS,
            (id,),
            query={"status": status, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        id: str,
        *,
        email: str,
        role: str | NotGiven = NOT_GIVEN,
        expires_in_days: int | NotGiven = NOT_GIVEN,
        accept_url: str | None | NotGiven = NOT_GIVEN,
        invited_by_end_user_id: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationInvitation:
        """Invite an address to an organization, as MEMBER or another role of the scope ORGANIZATION.

        Sends an e-mail with a link to `acceptUrl`, or to a hosted page with a button to accept. An invited
        address can sign up even if sign-up is closed. The invitation expires after `expiresInDays` (1 to 30,
        default 7). An address can have one pending invitation per organization.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            email: E-mail address.
            role: Role of the person. Default: `"MEMBER"`.
            expires_in_days: Number of days until the invitation expires. Default: `7`.
            accept_url: URL of your page that accepts the invitation; `token` is added to its query. Default: a
                hosted page.
            invited_by_end_user_id: The id of the member who invites.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AlreadyInvited
            AlreadyMember
            InviterUnknown
            OrganizationMissing
            OrganizationSuspended
            RoleUnknown
            TooManyInvitations
        """
        return await self._client._call(
            operations.CREATE_ORGANIZATION_INVITATION,
            (id,),
            body={
                "email": email,
                "role": role,
                "expiresInDays": expires_in_days,
                "acceptUrl": accept_url,
                "invitedByEndUserId": invited_by_end_user_id,
            },
            project=project,
            timeout=timeout,
        )

    async def resend(
        self,
        id: str,
        invitation_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationInvitation:
        """Send an invitation again, with a new token and expiry.

        The previous token becomes invalid.

        At most once a minute (429). An expired invitation can be resent, unless the address has another pending
        one (409). An accepted or revoked invitation cannot be resent (409).

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            invitation_id: The invitation id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AlreadyInvited
            InvitationClosed
            InvitationMissing
            OrganizationSuspended
            ResentTooSoon
        """
        return await self._client._call(
            operations.RESEND_ORGANIZATION_INVITATION,
            (
                id,
                invitation_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def revoke(
        self,
        id: str,
        invitation_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationInvitation:
        """Revoke an invitation; its token becomes invalid.

        Returns 409 if it was accepted or revoked already.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            invitation_id: The invitation id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            InvitationClosed
            InvitationMissing
        """
        return await self._client._call(
            operations.REVOKE_ORGANIZATION_INVITATION,
            (
                id,
                invitation_id,
            ),
            project=project,
            timeout=timeout,
        )


class AsyncOrganizationsMembers:
    """The methods of `client.organizations.members`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        id: str,
        *,
        q: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.OrganizationMember]:
        """List the members of an organization, most recently joined first.

        `q` is a part of the name or the address.

        Permission: `organizations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            q: Part of the name or address, in any letter case.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
        """
        return self._client._list(
            operations.LIST_ORGANIZATION_MEMBERS,
            (id,),
            query={"q": q, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def add(
        self,
        id: str,
        *,
        customer_id: str,
        roles: Sequence[str] | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationMember:
        """Add a customer to an organization, with roles of the scope ORGANIZATION (default MEMBER).

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            customer_id: Id of the customer.
            roles: Keys of the roles.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AlreadyMember
            OrganizationMissing
            OrganizationSuspended
            RoleUnknown
            TooManyMembers
        """
        return await self._client._call(
            operations.ADD_ORGANIZATION_MEMBER,
            (id,),
            body={"customerId": customer_id, "roles": roles},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        customer_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationMember:
        """Get a member of an organization by the customer's id.

        Permission: `organizations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            customer_id: The customer id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MemberMissing
            OrganizationMissing
        """
        return await self._client._call(
            operations.GET_ORGANIZATION_MEMBER,
            (
                id,
                customer_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def update(
        self,
        id: str,
        customer_id: str,
        *,
        roles: Sequence[str],
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationMember:
        """Replace the roles of a member.

        Returns 409 if it would remove the last OWNER. Honours `If-Match`.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            customer_id: The customer id.
            roles: Keys of the roles.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LastOwner
            MemberMissing
            OrganizationMissing
            RoleUnknown
        """
        return await self._client._call(
            operations.CHANGE_ORGANIZATION_MEMBER,
            (
                id,
                customer_id,
            ),
            body={"roles": roles},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def remove(
        self,
        id: str,
        customer_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Removed:
        """Remove a customer from an organization.

        The last OWNER cannot be removed (409).

        The customer does not join again by domain or single sign-on until invited or added again.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            customer_id: The customer id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LastOwner
            MemberMissing
            OrganizationMissing
        """
        return await self._client._call(
            operations.REMOVE_ORGANIZATION_MEMBER,
            (
                id,
                customer_id,
            ),
            project=project,
            timeout=timeout,
        )


class AsyncOrganizationsSetupLinks:
    """The methods of `client.organizations.setup_links`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.SetupLink]:
        """List the setup links of an organization, newest first.

        Links are kept for 90 days after their expiry.

        Permission: `organizations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
        """
        return self._client._list(
            operations.LIST_SETUP_LINKS,
            (id,),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        id: str,
        *,
        steps: Sequence[Literal["DOMAIN", "SCIM", "SSO"] | str] | NotGiven = NOT_GIVEN,
        expires_in_days: int | NotGiven = NOT_GIVEN,
        email: str | None | NotGiven = NOT_GIVEN,
        assignable_roles: Sequence[str] | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SetupLinkWithUrl:
        """Create a link with which an administrator of the organization sets it up on a hosted page, without an
        account.

        The page leads through the permitted `steps`: add and verify domains, create, test and activate a single
        sign-on connection, connect a directory (SCIM). `url` is not returned again; with `email`, it is also
        mailed. The first browser that opens the link can use it until `expiresAt` (1 to 30 days), all others are
        refused.

        The steps SSO and SCIM also need the permissions `sso:write` and `scim:write`, because the link grants
        them for this organization. Every change is in the audit log, with the actor type `SETUP_LINK`.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            steps: What the administrator may set up.
            expires_in_days: Number of days until the invitation expires. Default: `7`.
            email: Address of the administrator. If it is set, the link is mailed there.
            assignable_roles: Roles besides MEMBER that the administrator may give to groups of the directory.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            OrganizationSuspended
            RoleUnknown
            TooManySetupLinks
        """
        return await self._client._call(
            operations.CREATE_SETUP_LINK,
            (id,),
            body={
                "steps": steps,
                "expiresInDays": expires_in_days,
                "email": email,
                "assignableRoles": assignable_roles,
            },
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        link_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SetupLink:
        """Get a setup link: whether it was opened and completed, and the connections that it has created.

        Permission: `organizations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            link_id: The link id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SetupLinkMissing
        """
        return await self._client._call(
            operations.GET_SETUP_LINK,
            (
                id,
                link_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def revoke(
        self,
        id: str,
        link_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SetupLink:
        """Revoke a setup link.

        It stops working with the next request; what it has set up stays.

        Returns 409 if it is completed, revoked or expired.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            link_id: The link id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SetupLinkClosed
            SetupLinkMissing
        """
        return await self._client._call(
            operations.REVOKE_SETUP_LINK,
            (
                id,
                link_id,
            ),
            project=project,
            timeout=timeout,
        )


class AsyncWebhooksDeliveries:
    """The methods of `client.webhooks.deliveries`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        id: str,
        *,
        status: Sequence[Literal["FAILED", "PENDING", "SUCCEEDED"] | str] | None = None,
        event: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.WebhookDelivery]:
        """List the deliveries of a subscription in the last 30 days, newest first.

        Filter by `status` (`PENDING`, `SUCCEEDED`, `FAILED`) and `event`, each one or several, comma-separated.

        Permission: `webhooks:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            status: Status.
            event: Event.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            WebhookMissing
        """
        return self._client._list(
            operations.LIST_WEBHOOK_DELIVERIES,
            (id,),
            query={"status": status, "event": event, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        delivery_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.WebhookDeliveryDetail:
        """Get a delivery with the first 4 KiB of the response to the last attempt.

        Permission: `webhooks:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            delivery_id: The delivery id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DeliveryMissing
        """
        return await self._client._call(
            operations.GET_WEBHOOK_DELIVERY,
            (
                id,
                delivery_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def replay(
        self,
        id: str,
        delivery_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Send a delivery again, whatever its status: same `webhook-id`, new timestamp, and a new series of
        attempts.

        Permission: `webhooks:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            delivery_id: The delivery id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DeliveryMissing
            WebhookInactive
        """
        return await self._client._call(
            operations.REPLAY_WEBHOOK_DELIVERY,
            (
                id,
                delivery_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def replay_all(
        self,
        id: str,
        *,
        since: datetime | str | None | NotGiven = NOT_GIVEN,
        until: datetime | str | None | NotGiven = NOT_GIVEN,
        status: Literal["FAILED", "PENDING", "SUCCEEDED"] | str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.WebhookReplayResult:
        """Send all deliveries of a period and status again, oldest first, for example after an outage.

        At most 10,000 per request; `more` tells whether there are further ones. Deliveries that are due already
        are not affected; with the status PENDING, those that wait for a retry are sent at once.

        Permission: `webhooks:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            since: Created at or after this time; defaults to 30 days ago.
            until: Created before this time; defaults to now.
            status: Status of the record. Default: `"FAILED"`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            WebhookInactive
            WebhookMissing
        """
        return await self._client._call(
            operations.REPLAY_WEBHOOK_DELIVERIES,
            (id,),
            body={"since": since, "until": until, "status": status},
            project=project,
            timeout=timeout,
        )


class AsyncAccess:
    """The methods of `client.access`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    @cached_property
    def permissions(self) -> AsyncAccessPermissions:
        """Methods of `client.access.permissions`."""
        return AsyncAccessPermissions(self._client)

    @cached_property
    def roles(self) -> AsyncAccessRoles:
        """Methods of `client.access.roles`."""
        return AsyncAccessRoles(self._client)

    async def check(
        self,
        *,
        permission: str,
        customer_id: str | None | NotGiven = NOT_GIVEN,
        organization_id: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AccessDecision:
        """Check whether a customer has a permission: in an organization with `organizationId`, otherwise in the
        project.

        A customer's token implies the customer. A denial is a normal response with status 200, also for a
        permission that is not declared. `reason` is the reason of the decision. `explanation` lists every step
        in a fixed order, including the steps after the one that decided.

        Permission: `access:read`.

        Credentials: customer, developer, secret key.

        Args:
            permission: Permission to check.
            customer_id: Required, except with a customer's token, which implies the customer.
            organization_id: Id of the organization.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            NotYourself
            PlaceMissing
            SubjectMissing
        """
        return await self._client._call(
            operations.CHECK_ACCESS,
            (),
            body={"permission": permission, "customerId": customer_id, "organizationId": organization_id},
            project=project,
            timeout=timeout,
        )

    async def check_batch(
        self,
        *,
        checks: Sequence[types.AccessCheck | params.AccessCheckDict],
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AccessDecisions:
        """Perform up to 100 checks at one point in time.

        The results are in the order of the request.

        Permission: `access:read`.

        Credentials: customer, developer, secret key.

        Args:
            checks: Access checks, in the order of the request.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            NotYourself
            PlaceMissing
            SubjectMissing
        """
        return await self._client._call(
            operations.CHECK_ACCESS_BATCH, (), body={"checks": checks}, project=project, timeout=timeout
        )


class AsyncAccount:
    """The methods of `client.account`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    @cached_property
    def audit_log(self) -> AsyncAccountAuditLog:
        """Methods of `client.account.audit_log`."""
        return AsyncAccountAuditLog(self._client)

    @cached_property
    def invitations(self) -> AsyncAccountInvitations:
        """Methods of `client.account.invitations`."""
        return AsyncAccountInvitations(self._client)

    @cached_property
    def members(self) -> AsyncAccountMembers:
        """Methods of `client.account.members`."""
        return AsyncAccountMembers(self._client)

    async def get(
        self,
        *,
        timeout: float | None = None,
    ) -> types.AccountProfile:
        """Get your profile, your account and its projects.

        Credentials: developer.

        Args:
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.GET_ACCOUNT, (), timeout=timeout)

    async def update(
        self,
        *,
        name: str | NotGiven = NOT_GIVEN,
        email: str | NotGiven = NOT_GIVEN,
        password: str | None | NotGiven = NOT_GIVEN,
        account_name: str | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> types.AccountProfile:
        """Change your name or address, or the account's name (`account:write`).

        A new address requires your `password`, and applies when you follow the link in the mail to it; until
        then it is returned as `pendingEmail`. A mail informs the old address. If another developer has the new
        address, that developer gets a mail about the attempt, without a link. Honours `If-Match`.

        Credentials: developer.

        Args:
            name: A display name: one line of text, not only blanks.
            email: E-mail address.
            password: Required to change `email`.
            account_name: A display name: one line of text, not only blanks.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LockedOut
            PasswordWrong
        """
        return await self._client._call(
            operations.CHANGE_ACCOUNT,
            (),
            body={"name": name, "email": email, "password": password, "accountName": account_name},
            if_match=if_match,
            timeout=timeout,
        )

    async def delete(
        self,
        *,
        password: str,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete the account with its members, projects and all data.

        Requires the owner's password; cannot be undone.

        All tokens and keys are refused from the next request on, and the members' addresses can sign up again at
        once. The rows are deleted in the background.

        Permission: `account:own`.

        Credentials: developer.

        Args:
            password: Password. A new password must have at least 8 characters.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LockedOut
            PasswordWrong
        """
        return await self._client._call(operations.DELETE_ACCOUNT, (), body={"password": password}, timeout=timeout)

    async def leave(
        self,
        *,
        timeout: float | None = None,
    ) -> None:
        """Leave the account.

        Your developer account is deleted. The owner must transfer ownership first.

        Credentials: developer.

        Args:
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OwnerStays
        """
        return await self._client._call(operations.LEAVE_ACCOUNT, (), timeout=timeout)

    async def export(
        self,
        *,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Export all data of your account as one JSON document, which is streamed.

        It contains `account`, `members`, `invitations`, `sessions` of members, `billing`, `auditLog`, and for
        each of `projects` its settings and all rows by kind of record. It does not contain secrets: hashes of
        passwords and keys, private keys, tokens and relay passwords. The rows are read in chunks, not as a
        snapshot: changes during the export may or may not be included.

        Permission: `account:export`.

        Credentials: developer.

        Args:
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.EXPORT_ACCOUNT, (), timeout=timeout)


class AsyncAnalytics:
    """The methods of `client.analytics`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def get(
        self,
        *,
        days: int | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ProjectSummary:
        """Get a summary of the project's contacts, sends, campaigns and automations.

        `days` restricts the sends to this number of past days. Rates are from 0 to 1. Open, click and complaint
        rates are shares of `sent`, the messages that a mail server accepted. The bounce rate is `bounced` /
        (`sent` + `bounced`). Opens and clicks by machines are counted separately.

        Permission: `analytics:read`.

        Credentials: developer, secret key.

        Args:
            days: Only this number of past days; all time if absent.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.GET_ANALYTICS, (), query={"days": days}, project=project, timeout=timeout
        )

    async def get_time_series(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        timezone: str | None = None,
        campaign_id: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.TimeSeriesItem]:
        """List the statistics of each day, oldest first; days without activity are included.

        `from` and `to` are dates in `timezone`, by default the last 30 days. `campaignId` restricts the
        statistics to one campaign.

        Permission: `analytics:read`.

        Credentials: developer, secret key.

        Args:
            from_: A calendar date, YYYY-MM-DD.
            to: A calendar date, YYYY-MM-DD.
            timezone: An IANA time zone, such as Europe/Berlin.
            campaign_id: Only the sends of this campaign.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.GET_ANALYTICS_TIME_SERIES,
            (),
            query={"from": from_, "to": to, "timezone": timezone, "campaignId": campaign_id},
            project=project,
            timeout=timeout,
        )

    async def get_by_domain(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        timezone: str | None = None,
        campaign_id: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.ByDomainItem]:
        """List the statistics of each sending domain, newest domain first.

        The parameters are those of the time series.

        Permission: `analytics:read`.

        Credentials: developer, secret key.

        Args:
            from_: A calendar date, YYYY-MM-DD.
            to: A calendar date, YYYY-MM-DD.
            timezone: An IANA time zone, such as Europe/Berlin.
            campaign_id: Only the sends of this campaign.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.GET_ANALYTICS_BY_DOMAIN,
            (),
            query={"from": from_, "to": to, "timezone": timezone, "campaignId": campaign_id},
            project=project,
            timeout=timeout,
        )

    async def export(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        timezone: str | None = None,
        campaign_id: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Export the time series as CSV.

        Permission: `analytics:read`.

        Credentials: developer, secret key.

        Args:
            from_: A calendar date, YYYY-MM-DD.
            to: A calendar date, YYYY-MM-DD.
            timezone: An IANA time zone, such as Europe/Berlin.
            campaign_id: Only the sends of this campaign.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.EXPORT_ANALYTICS,
            (),
            query={"from": from_, "to": to, "timezone": timezone, "campaignId": campaign_id},
            project=project,
            timeout=timeout,
        )


class AsyncApiKeys:
    """The methods of `client.api_keys`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.ApiKey]:
        """List the project's API keys, newest first.

        `key` has only the prefix and the last four characters.

        Permission: `keys:read`.

        Credentials: developer.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_API_KEYS, (), query={"limit": limit, "cursor": cursor}, project=project, timeout=timeout
        )

    async def create(
        self,
        *,
        name: str,
        type: Literal["PUBLISHABLE", "SECRET"] | str | NotGiven = NOT_GIVEN,
        environment: Literal["LIVE", "TEST"] | str | NotGiven = NOT_GIVEN,
        permissions: Sequence[str] | None | NotGiven = NOT_GIVEN,
        ip_allow_list: Sequence[str] | None | NotGiven = NOT_GIVEN,
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ApiKey:
        """Create an API key.

        Only this response contains the whole `key`.

        `permissions` limits the key; null gives it all permissions of the project except `projects:write` and
        `customers:impersonate`, which must be listed by name, and none of the account. The creator of a key with
        `customers:impersonate` must have this permission. `ipAllowList` takes IP addresses or CIDR ranges, and
        `expiresAt` sets the expiry. E-mails sent with a TEST key are only stored in the inbox, never delivered.

        Permission: `keys:write`.

        Credentials: developer.

        Args:
            name: A display name: one line of text, not only blanks.
            type: Type of the record. Default: `"SECRET"`.
            environment: `LIVE` or `TEST`. Mail that is sent with a TEST key is captured and not delivered.
                Default: `"LIVE"`.
            permissions: Permissions, such as `emails:send`.
            ip_allow_list: IP addresses and networks that can use the key; null allows all.
            expires_at: When it expires (UTC); null if it does not expire.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            TooManyKeys
        """
        return await self._client._call(
            operations.CREATE_API_KEY,
            (),
            body={
                "name": name,
                "type": type,
                "environment": environment,
                "permissions": permissions,
                "ipAllowList": ip_allow_list,
                "expiresAt": expires_at,
            },
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ApiKey:
        """Delete an API key.

        Later requests with it are rejected.

        Permission: `keys:write`.

        Credentials: developer.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ApiKeyMissing
        """
        return await self._client._call(operations.DELETE_API_KEY, (id,), project=project, timeout=timeout)


class AsyncApps:
    """The methods of `client.apps`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    @cached_property
    def customers(self) -> AsyncAppsCustomers:
        """Methods of `client.apps.customers`."""
        return AsyncAppsCustomers(self._client)

    @cached_property
    def organizations(self) -> AsyncAppsOrganizations:
        """Methods of `client.apps.organizations`."""
        return AsyncAppsOrganizations(self._client)

    @cached_property
    def sso(self) -> AsyncAppsSso:
        """Methods of `client.apps.sso`."""
        return AsyncAppsSso(self._client)


class AsyncAssets:
    """The methods of `client.assets`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def create(
        self,
        *,
        data: AsyncContent,
        name: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Asset:
        """Upload an image for e-mails: the body is the file, a PNG, JPEG, GIF or WebP of at most 2 MB and 4,096 ×
        4,096 pixels.

        The format is recognised by the content. Metadata such as the position of a photograph is removed; the
        pixels stay as they are. `url` is public, hard to guess, and always has the same content: use it in `src`
        of an image. It is on the project's tracking domain, if there is one. Uploading the same image again
        returns the existing one. A project can have at most 2,000 images, and at most 200 MB in total.

        Permission: `templates:write`.

        Credentials: developer, secret key.

        Args:
            data: The content.
            name: A name to recognise the image by, such as its file name.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ImageInvalid
            ImageTooLarge
            SvgNotAccepted
            TooManyAssets
        """
        return await self._client._call(
            operations.CREATE_ASSET, (), query={"name": name}, data=data, project=project, timeout=timeout
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.Asset]:
        """List the project's images, newest first, without their content.

        Permission: `templates:read`.

        Credentials: developer, secret key.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_ASSETS, (), query={"limit": limit, "cursor": cursor}, project=project, timeout=timeout
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Asset:
        """Get an image without its content, which is at `url`.

        Permission: `templates:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AssetMissing
        """
        return await self._client._call(operations.GET_ASSET, (id,), project=project, timeout=timeout)

    async def delete(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Asset:
        """Delete an image.

        Its `url` returns 404 from then on, also in e-mails that were sent already, except from caches.

        Permission: `templates:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AssetMissing
        """
        return await self._client._call(operations.DELETE_ASSET, (id,), project=project, timeout=timeout)


class AsyncAudiences:
    """The methods of `client.audiences`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    @cached_property
    def contacts(self) -> AsyncAudiencesContacts:
        """Methods of `client.audiences.contacts`."""
        return AsyncAudiencesContacts(self._client)

    def list(
        self,
        *,
        q: str | None = None,
        type: Literal["DYNAMIC", "STATIC"] | str | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        sort: Literal["-createdAt", "-name", "-updatedAt", "createdAt", "name", "updatedAt"] | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        include: Sequence[Literal["counts", "total"] | str] | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.ListedAudience]:
        """List the project's audiences, newest first.

        All given filters must match.

        With `include=counts` each audience has its `memberCount`, counted up to 100,000.

        Permission: `audiences:read`.

        Credentials: developer, secret key.

        Args:
            q: Part of the name, in any letter case.
            type: Type.
            from_: Only records that were created at this time or later.
            to: Only records that were created before this time.
            sort: Order; `-` is descending. `name` ignores the letter case.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            include: `counts`: each record with its counts, such as the number of members; `limit` is then at
                most 100. `total`: the header `Total-Count`, the number of matching records, counted up to
                10,000.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_AUDIENCES,
            (),
            query={
                "q": q,
                "type": type,
                "from": from_,
                "to": to,
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "include": include,
            },
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        *,
        name: str,
        rules: types.Rules | params.RulesDict | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Audience:
        """Create an audience.

        With `rules` it is DYNAMIC: they choose its contacts. Without, it is STATIC: you add them.

        Permission: `audiences:write`.

        Credentials: developer, secret key.

        Args:
            name: A display name: one line of text, not only blanks.
            rules: Rules that choose the members; null for a STATIC audience.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            TooManyAudiences
        """
        return await self._client._call(
            operations.CREATE_AUDIENCE, (), body={"name": name, "rules": rules}, project=project, timeout=timeout
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Audience:
        """Get an audience with its rules.

        Permission: `audiences:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AudienceMissing
        """
        return await self._client._call(operations.GET_AUDIENCE, (id,), project=project, timeout=timeout)

    async def update(
        self,
        id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        type: Literal["STATIC"] | str | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Audience:
        """Change the name of an audience.

        `type: "STATIC"` removes the rules and keeps the current members.

        Honours `If-Match`.

        Permission: `audiences:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            name: A display name: one line of text, not only blanks.
            type: Type of the record.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AudienceMissing
        """
        return await self._client._call(
            operations.CHANGE_AUDIENCE,
            (id,),
            body={"name": name, "type": type},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete an audience; its contacts stay.

        If the audience is in use, returns 409 and names what uses it.

        It can be in use by audiences whose rules refer to it, by automations that are active or have unfinished
        runs, and by campaigns that are scheduled or being sent. Honours `If-Match`.

        Permission: `audiences:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AudienceInUse
            AudienceMissing
        """
        return await self._client._call(
            operations.DELETE_AUDIENCE, (id,), if_match=if_match, project=project, timeout=timeout
        )

    async def set_rules(
        self,
        id: str,
        *,
        conditions: Sequence[types.RuleCondition | params.RuleConditionDict],
        match: Literal["all", "any"] | str | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AudienceChangeResult:
        """Set the rules of an audience, which makes it DYNAMIC.

        Returns how many contacts joined and left.

        A condition names a `field` (`email`, `createdAt`, `unsubscribed`, `lastOpenedAt`, `lastClickedAt`,
        `audience`, `events.<name>` for when a custom event last happened, `attributes.<name>` or the bare name
        of an attribute), an `operator` (`eq`, `neq`, `gt`, `gte`, `lt`, `lte`, `contains`, `notContains`,
        `startsWith`, `endsWith`, `in`, `notIn`, `exists`, `notExists`, `before`, `after`, `withinDays`,
        `notWithinDays`) and a `value`; or it is a group `{match, conditions}` itself, at most 4 deep and 50
        conditions in all. `match` is `all` or `any`. Values of different types never match; absent values match
        only the negative operators. Without conditions, `all` matches every contact and `any` none. Honours `If-
        Match`.

        Permission: `audiences:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conditions: Conditions (a field with an operator) or nested groups of conditions.
            match: Whether `all` conditions must hold, or `any` of them. Default: `"all"`.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AudienceMissing
            TooManyAudiences
        """
        return await self._client._call(
            operations.SET_AUDIENCE_RULES,
            (id,),
            body={"match": match, "conditions": conditions},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def recompute(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AudienceChangeResult:
        """Recompute the members of a DYNAMIC audience; a STATIC one does not change.

        Permission: `audiences:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AudienceMissing
        """
        return await self._client._call(operations.RECOMPUTE_AUDIENCE, (id,), project=project, timeout=timeout)

    async def preview(
        self,
        *,
        rules: types.Rules | params.RulesDict,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AudiencePreview:
        """Count the contacts that rules choose, with up to 10 of them, without storing an audience.

        The rules are those of `PATCH …/audiences/{id}/rules`. Counting may take at most 5 seconds.

        Permission: `audiences:read`.

        Credentials: developer, secret key.

        Args:
            rules: Rules that choose the members; null for a STATIC audience.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            PreviewTooSlow
        """
        return await self._client._call(
            operations.PREVIEW_AUDIENCE, (), body={"rules": rules}, project=project, timeout=timeout
        )


class AsyncAuth:
    """The methods of `client.auth`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    @cached_property
    def emails(self) -> AsyncAuthEmails:
        """Methods of `client.auth.emails`."""
        return AsyncAuthEmails(self._client)

    @cached_property
    def identities(self) -> AsyncAuthIdentities:
        """Methods of `client.auth.identities`."""
        return AsyncAuthIdentities(self._client)

    @cached_property
    def invitations(self) -> AsyncAuthInvitations:
        """Methods of `client.auth.invitations`."""
        return AsyncAuthInvitations(self._client)

    @cached_property
    def organizations(self) -> AsyncAuthOrganizations:
        """Methods of `client.auth.organizations`."""
        return AsyncAuthOrganizations(self._client)

    @cached_property
    def passkeys(self) -> AsyncAuthPasskeys:
        """Methods of `client.auth.passkeys`."""
        return AsyncAuthPasskeys(self._client)

    @cached_property
    def remembered_devices(self) -> AsyncAuthRememberedDevices:
        """Methods of `client.auth.remembered_devices`."""
        return AsyncAuthRememberedDevices(self._client)

    @cached_property
    def sessions(self) -> AsyncAuthSessions:
        """Methods of `client.auth.sessions`."""
        return AsyncAuthSessions(self._client)

    @cached_property
    def totp(self) -> AsyncAuthTotp:
        """Methods of `client.auth.totp`."""
        return AsyncAuthTotp(self._client)

    async def refresh(
        self,
        *,
        refresh_token: str,
        organization_id: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerTokens:
        """Exchange a refresh token for new tokens.

        A refresh token works once. If it is sent again within 30 seconds, the response has the same new tokens,
        so that a lost response does no harm. A token that is used again later must have been copied, so the
        session ends. The session also ends if its sign-in does not meet the current requirements of the project
        and of the customer's organizations (`requireSso`, `requireMfa`, `allowedMethods`), or has lasted for
        longer than an organization allows (`sessionLifetimeMinutes`).

        `organizationId` switches the active organization, which the access token describes; null switches to
        none. If the customer is not a member of the organization, or the organization is suspended, the response
        is 403 and nothing changes: the refresh token still works.

        Credentials: anonymous, publishable key, secret key.

        Args:
            refresh_token: Single-use token to get the next access token.
            organization_id: The organization to make active; null for none. If it is omitted, the active
                organization stays.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            HookFailed
            HookRefused
            NotAMember
            RefreshTokenInvalid
        """
        return await self._client._call(
            operations.REFRESH_CUSTOMER_TOKENS,
            (),
            body={"refreshToken": refresh_token, "organizationId": organization_id},
            project=project,
            timeout=timeout,
        )

    async def sign_out(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """End this session.

        Its tokens are rejected from the next request on.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.SIGN_OUT_CUSTOMER, (), project=project, timeout=timeout)

    async def me(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CurrentCustomer:
        """The customer that the access token belongs to.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.GET_CURRENT_CUSTOMER, (), project=project, timeout=timeout)

    async def update_me(
        self,
        *,
        name: str | None | NotGiven = NOT_GIVEN,
        language: str | None | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CurrentCustomer:
        """Change your name or language.

        Omitted fields keep their values; null removes one. Honours `If-Match`.

        Credentials: customer.

        Args:
            name: Display name.
            language: The language that you read. Mails and the account page are in it, if they exist in it.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.CHANGE_CURRENT_CUSTOMER,
            (),
            body={"name": name, "language": language},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete_me(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete your account, with all personal data, as `DELETE …/customers/{id}` does.

        It cannot be undone.

        Needs a sign-in in the last hour. The last OWNER of an organization cannot delete the account (409). The
        project can forbid it with `accountDeletion`.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AccountDeletionOff
            CustomerOwnsOrganizations
            NotFresh
        """
        return await self._client._call(operations.DELETE_CURRENT_CUSTOMER, (), project=project, timeout=timeout)

    async def get_permissions(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.MyPermissions:
        """All your permissions: in the project, and in the active organization of the access token.

        The claim `permissions_url` of an access token has the URL of this operation if a list of permissions is
        too large for the token. `organization` is null without an active organization, if you are no longer a
        member of it, and while it is suspended.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.LIST_MY_PERMISSIONS, (), project=project, timeout=timeout)

    async def sign_up(
        self,
        *,
        email: str,
        password: str | None | NotGiven = NOT_GIVEN,
        name: str | None | NotGiven = NOT_GIVEN,
        language: str | None | NotGiven = NOT_GIVEN,
        accepted_terms: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerSignUpResult:
        """Send a code to the address; `sign-up/verify` creates the account.

        If the address has an account, the response is the same, and the mail says that there is an account. With
        the project's setting `verifyEmail: LATER`, the account is created at once: the response has the tokens
        of a session, and is a 409 if the address has an account.

        Credentials: anonymous, publishable key, secret key.

        Args:
            email: E-mail address.
            password: Password. A new password must have at least 8 characters.
            name: Display name.
            language: The language that the person reads. Default: that of the request.
            accepted_terms: The version of the terms that the person has accepted. Required if the project's
                setting `requireTerms` is on.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            EmailTaken
            HookFailed
            HookRefused
            MethodOff
            PasswordBreached
            PasswordCommon
            PlanLimitReached
            SignInMethodNotAllowed
            SignUpClosed
            SsoRequired
            TermsNotAccepted
        """
        return await self._client._call(
            operations.SIGN_UP_CUSTOMER,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "language": language,
                "acceptedTerms": accepted_terms,
            },
            project=project,
            timeout=timeout,
        )

    async def resend_sign_up_code(
        self,
        *,
        challenge_id: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ChallengeSent:
        """Send another code for a sign-up of the last ten minutes.

        Earlier codes stay valid.

        Send the new code with the new `challengeId`. The limits on mails are those of `sign-up`.

        Credentials: anonymous, publishable key, secret key.

        Args:
            challenge_id: Id of the challenge. Send it back with the code.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            SignUpClosed
            SsoRequired
        """
        return await self._client._call(
            operations.RESEND_SIGN_UP_CODE, (), body={"challengeId": challenge_id}, project=project, timeout=timeout
        )

    async def verify_sign_up(
        self,
        *,
        challenge_id: str,
        code: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerSignInResult:
        """Create the account with the code from the mail, and sign in.

        The code works once.

        Credentials: anonymous, publishable key, secret key.

        Args:
            challenge_id: Id of the challenge. Send it back with the code.
            code: Six digits, such as `123456`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            PlanLimitReached
            SignInMethodNotAllowed
            SignUpClosed
            SsoRequired
        """
        return await self._client._call(
            operations.VERIFY_SIGN_UP,
            (),
            body={"challengeId": challenge_id, "code": code},
            project=project,
            timeout=timeout,
        )

    async def sign_in(
        self,
        *,
        email: str,
        password: str,
        remembered_device_token: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerSignInResult:
        """Sign in with an e-mail address and a password.

        Ten failures lock the address for this network for 15 minutes, further ones for up to an hour. If a
        second factor is on, the response has `mfaRequired` and no tokens. If the address has no password here,
        the hook MIGRATION is asked.

        Credentials: anonymous, publishable key, secret key.

        Args:
            email: E-mail address.
            password: Password. A new password must have at least 8 characters.
            remembered_device_token: The `rememberedDeviceToken` that `mfa/verify` has returned on this device.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            HookFailed
            HookRefused
            MethodOff
            PlanLimitReached
            SignInBlocked
            SignInFailed
            SignInLocked
            SignInMethodNotAllowed
            SsoRequired
        """
        return await self._client._call(
            operations.SIGN_IN_CUSTOMER,
            (),
            body={"email": email, "password": password, "rememberedDeviceToken": remembered_device_token},
            project=project,
            timeout=timeout,
        )

    async def request_sign_in_code(
        self,
        *,
        email: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ChallengeSent:
        """Send a six-digit code by mail.

        It is valid for 10 minutes and 5 tries. Unknown addresses get the same response.

        Earlier codes stay valid. If sign-up is open, a code for an unknown address creates an account.

        Credentials: anonymous, publishable key, secret key.

        Args:
            email: E-mail address.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MethodOff
            SsoRequired
        """
        return await self._client._call(
            operations.REQUEST_SIGN_IN_CODE, (), body={"email": email}, project=project, timeout=timeout
        )

    async def sign_in_with_code(
        self,
        *,
        challenge_id: str,
        code: str,
        remembered_device_token: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerSignInResult:
        """Sign in with the code from the mail.

        It works once. Creates the account if sign-up is open.

        Marks the address as verified. If it is the first verified address of the account, the password, second
        factor, passkeys and linked accounts are removed, because another person may have added them.

        Credentials: anonymous, publishable key, secret key.

        Args:
            challenge_id: Id of the challenge. Send it back with the code.
            code: Six digits, such as `123456`.
            remembered_device_token: The `rememberedDeviceToken` that `mfa/verify` has returned on this device.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            MethodOff
            PlanLimitReached
            SignInBlocked
            SignInMethodNotAllowed
            SsoRequired
        """
        return await self._client._call(
            operations.SIGN_IN_WITH_CODE,
            (),
            body={"challengeId": challenge_id, "code": code, "rememberedDeviceToken": remembered_device_token},
            project=project,
            timeout=timeout,
        )

    async def request_sign_in_link(
        self,
        *,
        email: str,
        redirect_url: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Send a link by mail that signs in once, within 15 minutes.

        Unknown addresses get the same response.

        Earlier links stay valid. If sign-up is open, a link for an unknown address creates an account.

        Credentials: anonymous, publishable key, secret key.

        Args:
            email: E-mail address.
            redirect_url: URL to which the browser is redirected afterwards; one of the project's `redirectUrls`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MethodOff
            SsoRequired
        """
        return await self._client._call(
            operations.REQUEST_SIGN_IN_LINK,
            (),
            body={"email": email, "redirectUrl": redirect_url},
            project=project,
            timeout=timeout,
        )

    async def sign_in_with_link(
        self,
        *,
        token: str,
        remembered_device_token: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerSignInResult:
        """Sign in with the token of a link.

        It works once. Creates the account if sign-up is open.

        Opening the link does not use up the token, because mail scanners open links. The effects on the account
        are those of `sign-in/code/verify`.

        Credentials: anonymous, publishable key, secret key.

        Args:
            token: Token from the link in the mail.
            remembered_device_token: The `rememberedDeviceToken` that `mfa/verify` has returned on this device.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            MethodOff
            PlanLimitReached
            SignInBlocked
            SignInMethodNotAllowed
            SsoRequired
        """
        return await self._client._call(
            operations.SIGN_IN_WITH_LINK,
            (),
            body={"token": token, "rememberedDeviceToken": remembered_device_token},
            project=project,
            timeout=timeout,
        )

    async def accept_terms(
        self,
        *,
        terms_token: str,
        accepted_terms: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerSignInResult:
        """Accept the terms that a sign-in requires (`termsRequired`), and continue the sign-in.

        The token works once, within ten minutes. If the version has changed since, the response is 422 and names
        the current one, and the token stays valid. If the project has stopped requiring its terms since, the
        sign-in continues without an acceptance.

        Credentials: anonymous, publishable key, secret key.

        Args:
            terms_token: Token of the sign-in that waits for the terms. Send it with the version that was
                accepted.
            accepted_terms: Required, unless the project has stopped requiring its terms since.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            SignInBlocked
            SignInMethodNotAllowed
            SsoRequired
            TermsNotAccepted
        """
        return await self._client._call(
            operations.ACCEPT_TERMS,
            (),
            body={"termsToken": terms_token, "acceptedTerms": accepted_terms},
            project=project,
            timeout=timeout,
        )

    async def request_password_reset(
        self,
        *,
        email: str,
        redirect_url: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Send a link by mail with which a new password can be set within 30 minutes.

        Unknown addresses get the same response.

        Without `redirectUrl` the link leads to a hosted page.

        Credentials: anonymous, publishable key, secret key.

        Args:
            email: E-mail address.
            redirect_url: URL to which the browser is redirected afterwards; one of the project's `redirectUrls`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MethodOff
            SsoRequired
        """
        return await self._client._call(
            operations.REQUEST_PASSWORD_RESET,
            (),
            body={"email": email, "redirectUrl": redirect_url},
            project=project,
            timeout=timeout,
        )

    async def reset_password(
        self,
        *,
        token: str,
        password: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Set a new password with the token from the mail, and mark the address as verified.

        All sessions end, and so does a lockout after wrong passwords. If this is the first verified address of
        the account, the second factor, passkeys and linked accounts are removed too, because another person may
        have added them. The customer is notified by mail.

        Credentials: anonymous, publishable key, secret key.

        Args:
            token: Token from the link in the mail.
            password: Password. A new password must have at least 8 characters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            MethodOff
            PasswordBreached
            PasswordCommon
        """
        return await self._client._call(
            operations.RESET_PASSWORD, (), body={"token": token, "password": password}, project=project, timeout=timeout
        )

    async def change_password(
        self,
        *,
        new_password: str,
        current_password: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Change your password.

        All other sessions end, and you are notified by mail.

        To set a first password, you need a sign-in in the last hour instead of `currentPassword`.

        Credentials: customer.

        Args:
            new_password: The new password.
            current_password: The current password.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            PasswordBreached
            PasswordCommon
            SignInFailed
            SignInLocked
        """
        return await self._client._call(
            operations.CHANGE_CUSTOMER_PASSWORD,
            (),
            body={"currentPassword": current_password, "newPassword": new_password},
            project=project,
            timeout=timeout,
        )

    async def request_email_verification(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ChallengeSent:
        """Send a code to your e-mail address.

        `verify-email` takes the code and marks the address as verified.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.REQUEST_EMAIL_VERIFICATION, (), project=project, timeout=timeout)

    async def request_email_change(
        self,
        *,
        email: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ChallengeSent:
        """Send a code to a new e-mail address.

        The account keeps the old address until `verify-email` gets the code.

        Needs a sign-in in the last hour.

        Credentials: customer.

        Args:
            email: E-mail address.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.REQUEST_EMAIL_CHANGE, (), body={"email": email}, project=project, timeout=timeout
        )

    async def verify_email(
        self,
        *,
        challenge_id: str,
        code: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CurrentCustomer:
        """Verify an address with the code that was sent to it.

        The address becomes the primary one of your account, or a further one if `emails` has sent the code.

        If the primary address changes, the old one gets a notice. Only the customer who requested the code can
        use it.

        Credentials: customer.

        Args:
            challenge_id: Id of the challenge. Send it back with the code.
            code: Six digits, such as `123456`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            EmailTaken
            PrimaryAddressUnverified
            TooManyAddresses
        """
        return await self._client._call(
            operations.VERIFY_EMAIL,
            (),
            body={"challengeId": challenge_id, "code": code},
            project=project,
            timeout=timeout,
        )

    async def begin_required_totp(
        self,
        *,
        mfa_token: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.TotpEnrolment:
        """Begin to set up the second factor that a sign-in requires (`mfaEnrollmentRequired`): show `uri` as a QR
        code.

        The token is valid for ten minutes; repeated requests with it return the same secret.

        Credentials: anonymous, publishable key, secret key.

        Args:
            mfa_token: Token that proves the first factor. Send it with the second factor.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
        """
        return await self._client._call(
            operations.BEGIN_REQUIRED_TOTP, (), body={"mfaToken": mfa_token}, project=project, timeout=timeout
        )

    async def confirm_required_totp(
        self,
        *,
        mfa_token: str,
        code: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.EnrolledSignIn:
        """Turn the second factor on with a first code, and complete the sign-in.

        Also returns ten recovery codes.

        All other sessions and pending sign-ins end. The token works once.

        Credentials: anonymous, publishable key, secret key.

        Args:
            mfa_token: Token that proves the first factor. Send it with the second factor.
            code: Six digits, such as `123456`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            MfaAlreadyOn
            SignInBlocked
            SignInLocked
            SignInMethodNotAllowed
            SsoRequired
        """
        return await self._client._call(
            operations.CONFIRM_REQUIRED_TOTP,
            (),
            body={"mfaToken": mfa_token, "code": code},
            project=project,
            timeout=timeout,
        )

    async def renew_recovery_codes(
        self,
        *,
        code: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerRecoveryCodes:
        """Create ten new recovery codes.

        Earlier ones are no longer valid. The customer is notified by mail.

        Credentials: customer.

        Args:
            code: Six digits, such as `123456`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            MfaOff
            SignInLocked
        """
        return await self._client._call(
            operations.RENEW_RECOVERY_CODES, (), body={"code": code}, project=project, timeout=timeout
        )

    async def verify_second_factor(
        self,
        *,
        mfa_token: str,
        code: str | None | NotGiven = NOT_GIVEN,
        recovery_code: str | None | NotGiven = NOT_GIVEN,
        remember_device: bool | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerSignInResult:
        """Complete a sign-in with the second factor, in at most five tries.

        A code of the authenticator app works once, even within its 30 seconds. If a recovery code is used, the
        customer is notified by mail.

        Credentials: anonymous, publishable key, secret key.

        Args:
            mfa_token: Token that proves the first factor. Send it with the second factor.
            code: One-time code from the authenticator app or from the mail.
            recovery_code: A recovery code, instead of `code`.
            remember_device: Whether not to ask for the second factor on this device again for the days that the
                project allows (`rememberedDeviceDays`). Default: `false`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            SignInBlocked
            SignInLocked
            SignInMethodNotAllowed
            SsoRequired
        """
        return await self._client._call(
            operations.VERIFY_SECOND_FACTOR,
            (),
            body={
                "mfaToken": mfa_token,
                "code": code,
                "recoveryCode": recovery_code,
                "rememberDevice": remember_device,
            },
            project=project,
            timeout=timeout,
        )

    async def get_step_up_options(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.StepUpOptions:
        """How you can authenticate again in this session, without signing in.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.GET_STEP_UP_OPTIONS, (), project=project, timeout=timeout)

    async def step_up(
        self,
        *,
        password: str | None | NotGiven = NOT_GIVEN,
        email_code: types.CodeVerification | params.CodeVerificationDict | None | NotGiven = NOT_GIVEN,
        code: str | None | NotGiven = NOT_GIVEN,
        recovery_code: str | None | NotGiven = NOT_GIVEN,
        passkey: types.PasskeySignIn | params.PasskeySignInDict | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SteppedUpSession:
        """Authenticate again in this session, for what needs a recent or a stronger authentication.

        Returns an access token with the new `auth_time`, `acr` and `amr`; the refresh token stays valid. The
        limits on failures are those of a sign-in. A customer with a second factor, or a session that was begun
        with one, needs that: a password is not enough. With a code of the authenticator app, a session whose
        sign-in did not ask for it becomes `urn:postern:multi-factor`; with a passkey that verifies its user, any
        session becomes `phr`.

        Credentials: customer.

        Args:
            password: Password. A new password must have at least 8 characters.
            email_code: The code that `step-up/email-code` has mailed.
            code: The code that the authenticator app shows.
            recovery_code: A recovery code, instead of `code`.
            passkey: The assertion for the options of `step-up/passkey-options`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            RefreshTokenInvalid
            SignInFailed
            SignInLocked
            StepUpMethodNotAllowed
        """
        return await self._client._call(
            operations.STEP_UP,
            (),
            body={
                "password": password,
                "emailCode": email_code,
                "code": code,
                "recoveryCode": recovery_code,
                "passkey": passkey,
            },
            project=project,
            timeout=timeout,
        )

    async def request_step_up_code(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ChallengeSent:
        """Mail a code to your address, with which this session can authenticate again.

        It is valid for 10 minutes and 5 tries.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            StepUpMethodNotAllowed
        """
        return await self._client._call(operations.REQUEST_STEP_UP_CODE, (), project=project, timeout=timeout)

    async def start_provider_sign_in(
        self,
        key: str,
        *,
        redirect_url: str,
        code_challenge: str,
        state: str | None = None,
        link: str | None = None,
        hosted: bool | None = None,
        factor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Redirect a browser to a provider, and set a cookie that binds the sign-in to this browser.

        The browser returns to `redirectUrl` (one of the project's) with `code` and `state`, or with `error`.
        Make the S256 `codeChallenge` (RFC 7636) from a verifier that you keep. `link` is part of the URLs that
        `identities/{key}/link` returns. With `hosted`, a hosted page asks for the second factor, if there is
        one, before the app gets its `code`; with `factor=ask` on a remembered device, too.

        Args:
            key: The key.
            redirect_url: Redirect url.
            code_challenge: An S256 code challenge (RFC 7636 §4.2): 43 characters of base64url.
            state: State.
            link: Link.
            hosted: Hosted.
            factor: Factor.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ProviderMissing
            ProviderTrouble
            SsoRequired
        """
        return await self._client._call(
            operations.START_PROVIDER,
            (key,),
            query={
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "link": link,
                "hosted": hosted,
                "factor": factor,
            },
            project=project,
            timeout=timeout,
        )

    async def exchange_code(
        self,
        *,
        code: str,
        code_verifier: str | None | NotGiven = NOT_GIVEN,
        remembered_device_token: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerSignInResult:
        """Exchange the code from a provider or a hosted page for the tokens of a session.

        The code works once.

        Credentials: anonymous, publishable key, secret key.

        Args:
            code: Authorization code from the redirect.
            code_verifier: Required, except for a single sign-on that the app did not begin: the project's server
                exchanges such a code with its secret key.
            remembered_device_token: The `rememberedDeviceToken` that `mfa/verify` has returned on this device.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            SignInBlocked
            SignInMethodNotAllowed
            SsoRequired
        """
        return await self._client._call(
            operations.EXCHANGE_AUTHORIZATION_CODE,
            (),
            body={"code": code, "codeVerifier": code_verifier, "rememberedDeviceToken": remembered_device_token},
            project=project,
            timeout=timeout,
        )

    async def export(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AccountExport:
        """A copy of everything that is kept about your account: profile, addresses, ways to sign in, remembered
        devices, sessions, organizations, connected apps, accepted terms, and the newest 1,000 events.

        No passwords, keys or codes.

        Needs a sign-in in the last hour.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            NotFresh
        """
        return await self._client._call(operations.EXPORT_MY_DATA, (), project=project, timeout=timeout)

    async def find_sso_connection(
        self,
        *,
        email: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SsoLookup:
        """Find the single sign-on connection that serves the domain of an e-mail address.

        Redirect the browser to `loginUrl` with `redirectUrl`, `codeChallenge` and `state`. If `choices` is not
        null, let the person choose one of them first. All other fields are null if there is no connection, if
        the domain is no longer verified, or if the organization is suspended.

        Credentials: anonymous, publishable key, secret key.

        Args:
            email: Email.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.FIND_SSO_CONNECTION, (), query={"email": email}, project=project, timeout=timeout
        )

    async def sign_out_with_sso(
        self,
        *,
        redirect_url: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SsoSignOut:
        """End the customer's session, and return the URL to sign out at the identity provider too.

        `url` is null if the session was not started by single sign-on, or the provider does not support logout
        by redirect. After the logout the browser returns to `redirectUrl`.

        Credentials: customer.

        Args:
            redirect_url: URL to which the browser is redirected afterwards; one of the project's `redirectUrls`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.SIGN_OUT_EVERYWHERE, (), body={"redirectUrl": redirect_url}, project=project, timeout=timeout
        )

    async def list_consents(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.OAuthConsent]:
        """The clients that you have allowed something.

        Credentials: customer.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.LIST_MY_CONSENTS, (), project=project, timeout=timeout)

    async def revoke_consent(
        self,
        client_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Removed:
        """Withdraw your consent to a client.

        Its refresh tokens end, and you are asked again at the next sign-in.

        Credentials: customer.

        Args:
            client_id: The client id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OauthConsentMissing
        """
        return await self._client._call(operations.REVOKE_MY_CONSENT, (client_id,), project=project, timeout=timeout)


class AsyncAutomations:
    """The methods of `client.automations`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    @cached_property
    def runs(self) -> AsyncAutomationsRuns:
        """Methods of `client.automations.runs`."""
        return AsyncAutomationsRuns(self._client)

    def list(
        self,
        *,
        q: str | None = None,
        active: bool | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        sort: Literal["-createdAt", "-name", "-updatedAt", "createdAt", "name", "updatedAt"] | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        include: Sequence[Literal["counts", "total"] | str] | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.ListedAutomation]:
        """List the project's automations, newest first.

        All given filters must match.

        With `include=counts` each automation has the `totals` of its runs, the number of `unfinished` ones, and
        `lastRunAt`.

        Permission: `automations:read`.

        Credentials: developer, secret key.

        Args:
            q: Part of the name, in any letter case.
            active: Active.
            from_: Only records that were created at this time or later.
            to: Only records that were created before this time.
            sort: Order; `-` is descending. `name` ignores the letter case.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            include: `counts`: each record with its counts, such as the number of members; `limit` is then at
                most 100. `total`: the header `Total-Count`, the number of matching records, counted up to
                10,000.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_AUTOMATIONS,
            (),
            query={
                "q": q,
                "active": active,
                "from": from_,
                "to": to,
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "include": include,
            },
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        *,
        name: str,
        trigger: types.Trigger | params.TriggerDict,
        steps: Sequence[
            types.SendEmail
            | params.SendEmailDict
            | types.Delay
            | params.DelayDict
            | types.Condition
            | params.ConditionDict
            | types.WaitForEvent
            | params.WaitForEventDict
            | types.UpdateContact
            | params.UpdateContactDict
            | types.AddToAudience
            | params.AddToAudienceDict
            | types.RemoveFromAudience
            | params.RemoveFromAudienceDict
            | types.CallWebhook
            | params.CallWebhookDict
            | types.Exit
            | params.ExitDict
        ],
        active: bool | NotGiven = NOT_GIVEN,
        max_runs_per_hour: int | NotGiven = NOT_GIVEN,
        allow_loops: bool | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Automation:
        """Create an automation.

        It is inactive unless `active` is true.

        `trigger`: `AUDIENCE_JOINED` or `AUDIENCE_LEFT` with `audienceId`, `CONTACT_CREATED`, or `EVENT` with
        `event`, the name of an event or custom event, and `where`, rules that its data must match. With `once`
        (default) a contact can start it only once. Subjects and templates can use the event as `{{ event }}`.

        `steps`, at most 150 including those in branches: `SEND_EMAIL {templateId, domainId, fromEmail,
        subject}`, `DELAY {minutes, hours, days | until}`, `CONDITION {rules, then, else}` (rules as for
        audiences), `WAIT_FOR_EVENT {event, timeout, then, else}`, `UPDATE_CONTACT {attributes}`,
        `ADD_TO_AUDIENCE {audienceId}`, `REMOVE_FROM_AUDIENCE {audienceId}`, `WEBHOOK {url}`, `EXIT`. Each step
        is executed once per run.

        With `once: false` a contact can start at most `maxRunsPerHour` runs (1 to 1,000, default 1) within an
        hour; further runs do not start and are counted as `limited`. If active automations would start each
        other in an endless loop, the response is 409 with the steps of the loop, unless `allowLoops` is true.

        Permission: `automations:write`.

        Credentials: developer, secret key.

        Args:
            name: A display name: one line of text, not only blanks.
            trigger: Trigger that starts runs.
            steps: The steps, in order.
            active: Whether the record is active. Default: `false`.
            max_runs_per_hour: With `once: false`: maximum runs that one contact can start within an hour.
                Default: `1`.
            allow_loops: Whether the automation may be active even if it is part of a loop. Default: `false`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AutomationIncomplete
            AutomationLoop
            LiveKeyRequired
            TooManyAutomations
        """
        return await self._client._call(
            operations.CREATE_AUTOMATION,
            (),
            body={
                "name": name,
                "trigger": trigger,
                "steps": steps,
                "active": active,
                "maxRunsPerHour": max_runs_per_hour,
                "allowLoops": allow_loops,
            },
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Automation:
        """Get an automation.

        Permission: `automations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AutomationMissing
        """
        return await self._client._call(operations.GET_AUTOMATION, (id,), project=project, timeout=timeout)

    async def update(
        self,
        id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        trigger: types.Trigger | params.TriggerDict | NotGiven = NOT_GIVEN,
        steps: Sequence[
            types.SendEmail
            | params.SendEmailDict
            | types.Delay
            | params.DelayDict
            | types.Condition
            | params.ConditionDict
            | types.WaitForEvent
            | params.WaitForEventDict
            | types.UpdateContact
            | params.UpdateContactDict
            | types.AddToAudience
            | params.AddToAudienceDict
            | types.RemoveFromAudience
            | params.RemoveFromAudienceDict
            | types.CallWebhook
            | params.CallWebhookDict
            | types.Exit
            | params.ExitDict
        ]
        | NotGiven = NOT_GIVEN,
        active: bool | NotGiven = NOT_GIVEN,
        max_runs_per_hour: int | NotGiven = NOT_GIVEN,
        allow_loops: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Automation:
        """Change an automation.

        Changed steps apply to new runs; unfinished runs keep their version. Honours `If-Match`.

        Permission: `automations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            name: A display name: one line of text, not only blanks.
            trigger: Trigger that starts runs.
            steps: The steps, in order.
            active: Whether the record is active.
            max_runs_per_hour: Maximum runs that one contact can start within an hour. Further ones are counted
                as `limited`.
            allow_loops: Whether the automation may be active even if it is part of a loop.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AutomationIncomplete
            AutomationLoop
            AutomationMissing
            LiveKeyRequired
        """
        return await self._client._call(
            operations.CHANGE_AUTOMATION,
            (id,),
            body={
                "name": name,
                "trigger": trigger,
                "steps": steps,
                "active": active,
                "maxRunsPerHour": max_runs_per_hour,
                "allowLoops": allow_loops,
            },
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete an automation with all its runs, including unfinished ones.

        E-mails that were sent are kept.

        Honours `If-Match`.

        Permission: `automations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AutomationMissing
        """
        return await self._client._call(
            operations.DELETE_AUTOMATION, (id,), if_match=if_match, project=project, timeout=timeout
        )

    async def set_active(
        self,
        id: str,
        *,
        active: bool,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Automation:
        """Activate or deactivate an automation with `{active}`; without a body, toggle it.

        A deactivated automation starts no new runs; unfinished runs continue. Activation requires that its
        audiences, templates, sending domains and senders exist; otherwise the response is 409 and lists what is
        missing. If active automations would start each other in an endless loop, the response is 409 with the
        steps of the loop, unless `allowLoops` is true. Honours `If-Match`.

        Permission: `automations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            active: Whether the record is active.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AutomationIncomplete
            AutomationLoop
            AutomationMissing
            LiveKeyRequired
        """
        return await self._client._call(
            operations.SET_AUTOMATION_ACTIVE,
            (id,),
            body={"active": active},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def get_totals(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AutomationRunTotals:
        """Get how many runs an automation has started, and how many completed or failed.

        Permission: `automations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AutomationMissing
        """
        return await self._client._call(operations.GET_AUTOMATION_TOTALS, (id,), project=project, timeout=timeout)

    async def list_positions(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.AutomationRunPosition]:
        """Count the unfinished runs of an automation by version of its steps and by current step.

        A run keeps the version with which it started, so `version` can be lower than that of the automation.

        Permission: `automations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AutomationMissing
        """
        return await self._client._call(operations.LIST_AUTOMATION_POSITIONS, (id,), project=project, timeout=timeout)

    async def get_webhook_secret(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.AutomationWebhookSecret:
        """Get the secret that signs the requests of the automation's WEBHOOK steps.

        They are signed as webhooks are.

        Permission: `automations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AutomationMissing
        """
        return await self._client._call(
            operations.GET_AUTOMATION_WEBHOOK_SECRET, (id,), project=project, timeout=timeout
        )

    async def dry_run(
        self,
        id: str,
        *,
        contact_id: str,
        event_data: Mapping[str, Any] | NotGiven = NOT_GIVEN,
        happened: Sequence[int] | NotGiven = NOT_GIVEN,
        trigger: types.Trigger | params.TriggerDict | None | NotGiven = NOT_GIVEN,
        steps: Sequence[
            types.SendEmail
            | params.SendEmailDict
            | types.Delay
            | params.DelayDict
            | types.Condition
            | params.ConditionDict
            | types.WaitForEvent
            | params.WaitForEventDict
            | types.UpdateContact
            | params.UpdateContactDict
            | types.AddToAudience
            | params.AddToAudienceDict
            | types.RemoveFromAudience
            | params.RemoveFromAudienceDict
            | types.CallWebhook
            | params.CallWebhookDict
            | types.Exit
            | params.ExitDict
        ]
        | None
        | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.DryRun:
        """Get what an automation would do with a contact: each step with its time, outcome and mail.

        Nothing is sent.

        The steps are evaluated as in a run that starts now, even if the automation is inactive or would not
        start a run; `reasons` says why it would not. Nothing is stored, and WEBHOOK steps make no calls. A delay
        passes at once; conditions after it are evaluated for the later time, with the data of now. `trigger` and
        `steps` replace those of the automation. This also needs the permissions `contacts:read` and
        `templates:read`.

        Permission: `automations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            contact_id: Id of the contact; null if there is none.
            event_data: Data of the event that would start the run.
            happened: Indices of the WAIT_FOR_EVENT steps whose event is assumed to occur at once; the others
                time out. Steps are numbered as in `currentStep` of a run.
            trigger: A trigger to try instead of that of the automation.
            steps: Steps to try instead of those of the automation.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AutomationMissing
            DryRunTooSlow
            RenderingAway
            RenderingBusy
            TemplateCrashed
            TemplateTooExpensive
        """
        return await self._client._call(
            operations.DRY_RUN_AUTOMATION,
            (id,),
            body={
                "contactId": contact_id,
                "eventData": event_data,
                "happened": happened,
                "trigger": trigger,
                "steps": steps,
            },
            project=project,
            timeout=timeout,
        )


class AsyncBilling:
    """The methods of `client.billing`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def get(
        self,
        *,
        timeout: float | None = None,
    ) -> types.Billing:
        """Get the plan of your account, its usage and its limits.

        `usage.customers` is the current number of end users in all projects; `usage.emails` the number of
        e-mails that all projects accepted with live credentials in this calendar month (UTC). A limit of null
        means no limit.

        Permission: `billing:read`.

        Credentials: developer.

        Args:
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.GET_BILLING, (), timeout=timeout)

    async def begin_checkout(
        self,
        *,
        billing_cycle: Literal["monthly", "yearly"] | str | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> types.BillingPageUrl:
        """Start the checkout of the `pro` plan.

        Open the returned URL in a browser to confirm it.

        Permission: `billing:write`.

        Credentials: developer.

        Args:
            billing_cycle: Billing cycle of the plan: `monthly` or `yearly`, in lower case. Default: `"monthly"`.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AlreadyBooked
            BillingUnavailable
            NotForSale
        """
        return await self._client._call(
            operations.BEGIN_CHECKOUT, (), body={"billingCycle": billing_cycle}, timeout=timeout
        )

    async def begin_b2b_checkout(
        self,
        *,
        billing_cycle: Literal["monthly", "yearly"] | str | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> types.BillingPageUrl:
        """Start the checkout of the B2B add-on.

        Open the returned URL in a browser to confirm it.

        Permission: `billing:write`.

        Credentials: developer.

        Args:
            billing_cycle: Billing cycle of the plan: `monthly` or `yearly`, in lower case. Default: `"monthly"`.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AlreadyBooked
            BillingUnavailable
            NotForSale
        """
        return await self._client._call(
            operations.BEGIN_B2B_CHECKOUT, (), body={"billingCycle": billing_cycle}, timeout=timeout
        )

    async def open_portal(
        self,
        *,
        timeout: float | None = None,
    ) -> types.BillingPageUrl:
        """Get the URL of the billing portal, where the subscription is changed or cancelled in a browser.

        Permission: `billing:write`.

        Credentials: developer.

        Args:
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            BillingUnavailable
            NothingBooked
        """
        return await self._client._call(operations.OPEN_BILLING_PORTAL, (), timeout=timeout)


class AsyncCampaigns:
    """The methods of `client.campaigns`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        q: str | None = None,
        status: Sequence[
            Literal["CANCELLED", "DRAFT", "FAILED", "PAUSED", "SCHEDULED", "SENDING", "SENT", "TESTING"] | str
        ]
        | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        sort: Literal["-createdAt", "-name", "-updatedAt", "createdAt", "name", "updatedAt"] | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        include: Sequence[Literal["counts", "total"] | str] | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.ListedCampaign]:
        """List the project's campaigns, newest first.

        All given filters must match.

        With `include=counts` each campaign has its `stats`.

        Permission: `campaigns:read`.

        Credentials: developer, secret key.

        Args:
            q: Part of name or subject, in any letter case.
            status: One or several statuses, separated by commas.
            from_: Only records that were created at this time or later.
            to: Only records that were created before this time.
            sort: Order; `-` is descending. `name` ignores the letter case.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            include: `counts`: each record with its counts, such as the number of members; `limit` is then at
                most 100. `total`: the header `Total-Count`, the number of matching records, counted up to
                10,000.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_CAMPAIGNS,
            (),
            query={
                "q": q,
                "status": status,
                "from": from_,
                "to": to,
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "include": include,
            },
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        *,
        name: str,
        subject: str | None | NotGiven = NOT_GIVEN,
        from_name: str | None | NotGiven = NOT_GIVEN,
        from_email: str | None | NotGiven = NOT_GIVEN,
        preview_text: str | None | NotGiven = NOT_GIVEN,
        template_id: str | None | NotGiven = NOT_GIVEN,
        domain_id: str | None | NotGiven = NOT_GIVEN,
        audience_id: str | None | NotGiven = NOT_GIVEN,
        scheduled_at: datetime | str | None | NotGiven = NOT_GIVEN,
        ab_test_enabled: bool | NotGiven = NOT_GIVEN,
        ab_test_sample_percent: int | None | NotGiven = NOT_GIVEN,
        ab_test_metric: Literal["CLICK_RATE", "OPEN_RATE"] | str | None | NotGiven = NOT_GIVEN,
        ab_test_duration_minutes: int | None | NotGiven = NOT_GIVEN,
        variants: Sequence[types.NewVariant | params.NewVariantDict] | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Campaign:
        """Create a campaign as a DRAFT.

        Only the name is required; everything else can be set before it is sent.

        For an A/B test, set `abTestEnabled` and give 2 to 8 `variants` whose weights sum to 100. A variant uses
        the campaign's subject or template where it has none of its own.

        Permission: `campaigns:write`.

        Credentials: developer, secret key.

        Args:
            name: A display name: one line of text, not only blanks.
            subject: Subject line.
            from_name: Display name of the sender.
            from_email: E-mail address of the sender.
            preview_text: Preview text that mail clients show after the subject.
            template_id: Id of the template that provides subject, html and text.
            domain_id: Id of the sending domain.
            audience_id: Id of the audience.
            scheduled_at: When to send it (UTC); null for immediately.
            ab_test_enabled: Whether the campaign has an A/B test. Default: `false`.
            ab_test_sample_percent: Share of the audience in the A/B test, in percent (5 to 100).
            ab_test_metric: Rate that decides the A/B test.
            ab_test_duration_minutes: Duration of the A/B test in minutes (15 to 10,080).
            variants: Variants of the A/B test, 2 to 8.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.CREATE_CAMPAIGN,
            (),
            body={
                "name": name,
                "subject": subject,
                "fromName": from_name,
                "fromEmail": from_email,
                "previewText": preview_text,
                "templateId": template_id,
                "domainId": domain_id,
                "audienceId": audience_id,
                "scheduledAt": scheduled_at,
                "abTestEnabled": ab_test_enabled,
                "abTestSamplePercent": ab_test_sample_percent,
                "abTestMetric": ab_test_metric,
                "abTestDurationMinutes": ab_test_duration_minutes,
                "variants": variants,
            },
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CampaignDetail:
        """Get a campaign with its variants, statistics and live progress.

        Permission: `campaigns:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CampaignMissing
        """
        return await self._client._call(operations.GET_CAMPAIGN, (id,), project=project, timeout=timeout)

    async def update(
        self,
        id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        subject: str | None | NotGiven = NOT_GIVEN,
        from_name: str | None | NotGiven = NOT_GIVEN,
        from_email: str | None | NotGiven = NOT_GIVEN,
        preview_text: str | None | NotGiven = NOT_GIVEN,
        template_id: str | None | NotGiven = NOT_GIVEN,
        domain_id: str | None | NotGiven = NOT_GIVEN,
        audience_id: str | None | NotGiven = NOT_GIVEN,
        scheduled_at: datetime | str | None | NotGiven = NOT_GIVEN,
        ab_test_enabled: bool | NotGiven = NOT_GIVEN,
        ab_test_sample_percent: int | None | NotGiven = NOT_GIVEN,
        ab_test_metric: Literal["CLICK_RATE", "OPEN_RATE"] | str | None | NotGiven = NOT_GIVEN,
        ab_test_duration_minutes: int | None | NotGiven = NOT_GIVEN,
        variants: Sequence[types.NewVariant | params.NewVariantDict] | None | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Campaign:
        """Change a campaign that is DRAFT or SCHEDULED.

        Omitted fields keep their values; `variants` replaces all variants.

        A SCHEDULED campaign must stay complete: a 409 response lists what would be missing. `scheduledAt: null`
        makes it a DRAFT again. Honours `If-Match`.

        Permission: `campaigns:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            name: A display name: one line of text, not only blanks.
            subject: Subject line.
            from_name: Display name of the sender.
            from_email: E-mail address of the sender.
            preview_text: Preview text that mail clients show after the subject.
            template_id: Id of the template that provides subject, html and text.
            domain_id: Id of the sending domain.
            audience_id: Id of the audience.
            scheduled_at: When to send it (UTC); null for immediately.
            ab_test_enabled: Whether the campaign has an A/B test.
            ab_test_sample_percent: Share of the audience in the A/B test, in percent (5 to 100).
            ab_test_metric: Rate that decides the A/B test.
            ab_test_duration_minutes: Duration of the A/B test in minutes (15 to 10,080).
            variants: Variants of the A/B test, 2 to 8.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CampaignIncomplete
            CampaignMissing
            CampaignStateConflict
            LiveKeyRequired
        """
        return await self._client._call(
            operations.CHANGE_CAMPAIGN,
            (id,),
            body={
                "name": name,
                "subject": subject,
                "fromName": from_name,
                "fromEmail": from_email,
                "previewText": preview_text,
                "templateId": template_id,
                "domainId": domain_id,
                "audienceId": audience_id,
                "scheduledAt": scheduled_at,
                "abTestEnabled": ab_test_enabled,
                "abTestSamplePercent": ab_test_sample_percent,
                "abTestMetric": ab_test_metric,
                "abTestDurationMinutes": ab_test_duration_minutes,
                "variants": variants,
            },
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete a campaign that has not started.

        Honours `If-Match`.

        Permission: `campaigns:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CampaignMissing
            CampaignStateConflict
            LiveKeyRequired
        """
        return await self._client._call(
            operations.DELETE_CAMPAIGN, (id,), if_match=if_match, project=project, timeout=timeout
        )

    async def send(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CampaignSendResult:
        """Send a campaign: now, or at `scheduledAt` if that is in the future.

        The audience and the content are fixed when the campaign starts. An audience with rules that depend on
        the current time is evaluated again at the start. Contacts that have unsubscribed or are suppressed are
        skipped and counted. A 409 response lists everything that is missing. No contact gets the same campaign
        twice, even if it is sent twice. If a TEST key sends the campaign, its messages are only captured in the
        inbox. The response is 403 if the account's plan does not allow an e-mail to every contact of the
        audience.

        Permission: `campaigns:send`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CampaignIncomplete
            CampaignMissing
            CampaignStateConflict
            LiveKeyRequired
            PlanLimitReached
        """
        return await self._client._call(operations.SEND_CAMPAIGN, (id,), project=project, timeout=timeout)

    async def cancel(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Campaign:
        """Stop a campaign for good.

        Messages that no server has accepted yet are not sent.

        This takes effect at once, whatever the size of the campaign: after the response, only messages that were
        being transmitted at that moment still arrive. The waiting sends become CANCELLED within seconds.
        Cancelling a SENT campaign stops the retries of its deferred messages; the campaign stays SENT.

        Permission: `campaigns:send`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CampaignMissing
            CampaignStateConflict
            LiveKeyRequired
        """
        return await self._client._call(operations.CANCEL_CAMPAIGN, (id,), project=project, timeout=timeout)

    async def pause(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Campaign:
        """Pause a campaign: no message is sent until it is resumed.

        No contact is skipped or gets the message twice.

        This takes effect at once, whatever the size of the campaign: after the response, only messages that were
        being transmitted at that moment still arrive.

        Permission: `campaigns:send`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CampaignMissing
            CampaignStateConflict
            LiveKeyRequired
        """
        return await self._client._call(operations.PAUSE_CAMPAIGN, (id,), project=project, timeout=timeout)

    async def resume(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Campaign:
        """Resume a paused campaign where it stopped.

        Permission: `campaigns:send`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CampaignMissing
            CampaignStateConflict
            LiveKeyRequired
        """
        return await self._client._call(operations.RESUME_CAMPAIGN, (id,), project=project, timeout=timeout)

    async def cancel_ab_test(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Campaign:
        """End an A/B test without comparing its results: the first variant wins, and the rest of the audience gets
        it.

        Permission: `campaigns:send`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CampaignMissing
            CampaignStateConflict
            LiveKeyRequired
        """
        return await self._client._call(operations.CANCEL_AB_TEST, (id,), project=project, timeout=timeout)

    async def select_ab_test_winner(
        self,
        id: str,
        *,
        variant_id: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Campaign:
        """End an A/B test with the given winner: the rest of the audience gets this variant.

        Permission: `campaigns:send`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            variant_id: Id of the variant.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CampaignMissing
            CampaignStateConflict
            LiveKeyRequired
            VariantMissing
        """
        return await self._client._call(
            operations.SELECT_AB_TEST_WINNER, (id,), body={"variantId": variant_id}, project=project, timeout=timeout
        )

    async def send_test(
        self,
        id: str,
        *,
        to: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CampaignTestResult:
        """Send one rendered copy with `[Test]` before its subject.

        It does not count in the campaign's statistics.

        Permission: `campaigns:send`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            to: Recipients.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CampaignIncomplete
            CampaignMissing
            DirectNotOffered
            DomainNotVerified
            EmailInvalid
            IdempotencyKeyInProgress
            IdempotencyKeyReused
            MessageTooLarge
            NoSmartHost
            RenderingAway
            RenderingBusy
            TemplateCrashed
            TemplateTooExpensive
        """
        return await self._client._call(
            operations.TEST_CAMPAIGN, (id,), body={"to": to}, project=project, timeout=timeout
        )

    async def preflight(
        self,
        id: str,
        *,
        email: str | None | NotGiven = NOT_GIVEN,
        variant_id: str | None | NotGiven = NOT_GIVEN,
        check_links: bool | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Preflight:
        """Say what large providers would object to in a campaign's message, without sending it.

        The message is composed as it would be sent to a contact; see `POST
        /projects/{projectId}/emails/preflight`.

        Permission: `campaigns:send`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            email: A contact whose attributes fill in the content. Null: a contact without attributes.
            variant_id: The variant to check. Null: the campaign's own subject and template.
            check_links: Open the links of the message, at most 20, with GET requests. Default: `false`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CampaignIncomplete
            CampaignMissing
            RenderingAway
            RenderingBusy
            TemplateCrashed
            TemplateTooExpensive
            VariantMissing
        """
        return await self._client._call(
            operations.PREFLIGHT_CAMPAIGN,
            (id,),
            body={"email": email, "variantId": variant_id, "checkLinks": check_links},
            project=project,
            timeout=timeout,
        )

    async def send_test_to_seed_list(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CampaignTestResult:
        """Send a test copy to every address of the project's seed list.

        Permission: `campaigns:send`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CampaignIncomplete
            CampaignMissing
            DirectNotOffered
            DomainNotVerified
            EmailInvalid
            IdempotencyKeyInProgress
            IdempotencyKeyReused
            MessageTooLarge
            NoSmartHost
            RenderingAway
            RenderingBusy
            SeedListEmpty
            TemplateCrashed
            TemplateTooExpensive
        """
        return await self._client._call(
            operations.TEST_CAMPAIGN_WITH_SEED_LIST, (id,), project=project, timeout=timeout
        )

    async def duplicate(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Campaign:
        """Create a new DRAFT with the same content, audience and variants.

        Permission: `campaigns:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CampaignMissing
        """
        return await self._client._call(operations.DUPLICATE_CAMPAIGN, (id,), project=project, timeout=timeout)

    def list_sends(
        self,
        id: str,
        *,
        status: Sequence[
            Literal[
                "BOUNCED",
                "CANCELLED",
                "COMPLAINED",
                "DELAYED",
                "DELIVERED",
                "EXPIRED",
                "FAILED",
                "QUEUED",
                "SCHEDULED",
                "SENT",
                "SUPPRESSED",
            ]
            | str
        ]
        | None = None,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.EmailLogEntry]:
        """List the sends of a campaign, one for each contact.

        Filter by `status` (one or several, comma-separated).

        Permission: `campaigns:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            status: Status.
            page: Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further.
            limit: Records per page.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CampaignMissing
        """
        return self._client._list(
            operations.LIST_CAMPAIGN_SENDS,
            (id,),
            query={"status": status, "page": page, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def export_sends(
        self,
        id: str,
        *,
        status: Sequence[
            Literal[
                "BOUNCED",
                "CANCELLED",
                "COMPLAINED",
                "DELAYED",
                "DELIVERED",
                "EXPIRED",
                "FAILED",
                "QUEUED",
                "SCHEDULED",
                "SENT",
                "SUPPRESSED",
            ]
            | str
        ]
        | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Export the sends of a campaign as CSV.

        Filter by `status` (one or several, comma-separated).

        Permission: `campaigns:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            status: Status.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CampaignMissing
        """
        return await self._client._call(
            operations.EXPORT_CAMPAIGN_SENDS, (id,), query={"status": status}, project=project, timeout=timeout
        )


class AsyncContacts:
    """The methods of `client.contacts`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    @cached_property
    def attributes(self) -> AsyncContactsAttributes:
        """Methods of `client.contacts.attributes`."""
        return AsyncContactsAttributes(self._client)

    @cached_property
    def imports(self) -> AsyncContactsImports:
        """Methods of `client.contacts.imports`."""
        return AsyncContactsImports(self._client)

    async def export(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Export all contacts as CSV, oldest first, with a column for each attribute.

        Importing it gives the same values.

        The type of an attribute decides how an import reads its column. The column `attributes` holds, as JSON,
        values that a cell of the type cannot hold: values of another type, objects, empty strings, and
        attributes beyond the 500 most frequent. To import into another project, declare the same types there
        (`attributeTypes`).

        Permission: `contacts:read`.

        Credentials: developer, secret key.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.EXPORT_CONTACTS, (), project=project, timeout=timeout)

    def list(
        self,
        *,
        q: str | None = None,
        unsubscribed: bool | None = None,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        count_limit: int | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.Contact]:
        """List the project's contacts, newest first.

        `q` filters by part of the address, `unsubscribed` by the field.

        Permission: `contacts:read`.

        Credentials: developer, secret key.

        Args:
            q: Part of the address.
            unsubscribed: Unsubscribed.
            page: Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further.
            limit: Records per page.
            cursor: The cursor from the previous response, with the same filters.
            count_limit: Count no more than this many records: a `total` of this number means that many or more.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_CONTACTS,
            (),
            query={
                "q": q,
                "unsubscribed": unsubscribed,
                "page": page,
                "limit": limit,
                "cursor": cursor,
                "countLimit": count_limit,
            },
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        *,
        email: str,
        attributes: Mapping[str, Any] | NotGiven = NOT_GIVEN,
        unsubscribed: bool | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Contact:
        """Create a contact.

        Its address is unique in the project, regardless of case; an existing one returns 409.

        `attributes` takes any JSON values: at most 100, together at most 16 KiB. The first value of an attribute
        sets its type (see `contact-attributes`), by which CSV files are read and written; later values may have
        any type. If the address unsubscribed before its contact was deleted, the new contact is unsubscribed
        too; `PATCH {"unsubscribed": false}` subscribes it.

        Permission: `contacts:write`.

        Credentials: developer, secret key.

        Args:
            email: E-mail address.
            attributes: Custom data about the contact, for templates and audience rules.
            unsubscribed: Whether the contact has unsubscribed from marketing mail. Default: `false`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContactExists
        """
        return await self._client._call(
            operations.CREATE_CONTACT,
            (),
            body={"email": email, "attributes": attributes, "unsubscribed": unsubscribed},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Contact:
        """Get a contact.

        Permission: `contacts:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContactMissing
        """
        return await self._client._call(operations.GET_CONTACT, (id,), project=project, timeout=timeout)

    async def update(
        self,
        id: str,
        *,
        email: str | NotGiven = NOT_GIVEN,
        attributes: Mapping[str, Any] | NotGiven = NOT_GIVEN,
        unsubscribed: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Contact:
        """Change a contact: attributes are merged at the top level, and null removes one.

        The contact joins and leaves dynamic audiences in the same transaction. `unsubscribed: false` subscribes
        it again and removes the address from the suppression list if it was added there by an unsubscribe;
        suppressions for bounces and complaints stay. Honours `If-Match`.

        Permission: `contacts:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            email: E-mail address.
            attributes: Custom data about the contact, for templates and audience rules.
            unsubscribed: Whether the contact has unsubscribed from marketing mail.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContactExists
            ContactMissing
        """
        return await self._client._call(
            operations.CHANGE_CONTACT,
            (id,),
            body={"email": email, "attributes": attributes, "unsubscribed": unsubscribed},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete a contact and its audience memberships.

        E-mails sent to it are kept.

        Its automation runs end. If it had unsubscribed, a contact created with the same address later, by any
        operation, is unsubscribed too until `PATCH {"unsubscribed": false}`. Honours `If-Match`.

        Permission: `contacts:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContactMissing
        """
        return await self._client._call(
            operations.DELETE_CONTACT, (id,), if_match=if_match, project=project, timeout=timeout
        )

    async def list_audiences(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[str]:
        """List the ids of the audiences that a contact belongs to, oldest first.

        Permission: `audiences:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContactMissing
        """
        return await self._client._call(operations.LIST_AUDIENCES_OF_CONTACT, (id,), project=project, timeout=timeout)


class AsyncCustomerMails:
    """The methods of `client.customer_mails`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def list(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.CustomerMail]:
        """The mails to customers whose texts can be edited: their variables, and the languages that have an own
        text.

        Permission: `projects:read`.

        Credentials: developer, secret key.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.LIST_CUSTOMER_MAILS, (), project=project, timeout=timeout)

    async def get(
        self,
        mail: str,
        language: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.MailText:
        """The text of a mail in a language: that of the project, or the built-in one.

        Permission: `projects:read`.

        Credentials: developer, secret key.

        Args:
            mail: The mail.
            language: The language.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMailMissing
        """
        return await self._client._call(
            operations.GET_CUSTOMER_MAIL,
            (
                mail,
                language,
            ),
            project=project,
            timeout=timeout,
        )

    async def set(
        self,
        mail: str,
        language: str,
        *,
        subject: str,
        blocks: Sequence[types.MailBlock | params.MailBlockDict],
        preheader: str | NotGiven = NOT_GIVEN,
        footer: str | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.MailText:
        """Change the text of a mail in a language.

        Subject, preheader, blocks and footer are MiniJinja templates with the variables of the mail. A mail with
        a code or link must have the block `code` or `button` once. The text is rendered with sample values
        before it is stored; an error is a 400 with the path. If it fails later, customers get the built-in text,
        and `customer.mail_text_failed` is recorded. Honours `If-Match`.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            mail: The mail.
            language: The language.
            subject: Subject line.
            blocks: Paragraphs, and the button or code of the mail, in their order.
            preheader: What lists of mails show beside the subject; "" for the beginning of the mail.
            footer: What stands below the mail, such as the postal address; "" for nothing.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMailMissing
            RenderingAway
            RenderingBusy
            TemplateCrashed
            TemplateTooExpensive
        """
        return await self._client._call(
            operations.SET_CUSTOMER_MAIL,
            (
                mail,
                language,
            ),
            body={"subject": subject, "preheader": preheader, "blocks": blocks, "footer": footer},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def reset(
        self,
        mail: str,
        language: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.MailText:
        """Use the built-in text of a mail again.

        The versions are kept, so that one of them can be restored. Honours `If-Match`.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            mail: The mail.
            language: The language.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMailMissing
        """
        return await self._client._call(
            operations.RESET_CUSTOMER_MAIL,
            (
                mail,
                language,
            ),
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def list_versions(
        self,
        mail: str,
        language: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.MailTextVersion]:
        """The last 50 versions of a mail in a language, newest first.

        Empty if the text was never edited.

        Permission: `projects:read`.

        Credentials: developer, secret key.

        Args:
            mail: The mail.
            language: The language.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMailMissing
        """
        return await self._client._call(
            operations.LIST_CUSTOMER_MAIL_VERSIONS,
            (
                mail,
                language,
            ),
            project=project,
            timeout=timeout,
        )

    async def restore(
        self,
        mail: str,
        language: str,
        *,
        version: int,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.MailText:
        """Use the text of an earlier version again, as a new version.

        It is checked like a new text. Honours `If-Match`.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            mail: The mail.
            language: The language.
            version: Version number, from 1. Each change increments it.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMailMissing
            MailVersionMissing
            RenderingAway
            RenderingBusy
            TemplateCrashed
            TemplateTooExpensive
        """
        return await self._client._call(
            operations.RESTORE_CUSTOMER_MAIL,
            (
                mail,
                language,
            ),
            body={"version": version},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def preview(
        self,
        mail: str,
        language: str,
        *,
        content: types.MailTextContent | params.MailTextContentDict | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerMailPreview:
        """A mail with sample values, as a customer would get it.

        `content` is checked as when it is stored; null is the text in use. Nothing is stored or sent.

        Permission: `projects:read`.

        Credentials: developer, secret key.

        Args:
            mail: The mail.
            language: The language.
            content: Null: the text was reset to the built-in one.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMailMissing
            RenderingAway
            RenderingBusy
            TemplateCrashed
            TemplateTooExpensive
        """
        return await self._client._call(
            operations.PREVIEW_CUSTOMER_MAIL,
            (
                mail,
                language,
            ),
            body={"content": content},
            project=project,
            timeout=timeout,
        )

    async def test(
        self,
        mail: str,
        language: str,
        *,
        to: str,
        content: types.MailTextContent | params.MailTextContentDict | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.MailTestSent:
        """Send a mail with sample values to any address, from the sender of the project's mails to customers.

        Its code or link does nothing. `content` is checked as when it is stored; null is the text in use.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            mail: The mail.
            language: The language.
            to: Recipients.
            content: Null: the text was reset to the built-in one.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMailMissing
            DirectNotOffered
            DomainNotVerified
            EmailInvalid
            IdempotencyKeyInProgress
            IdempotencyKeyReused
            MessageTooLarge
            NoSmartHost
            RenderingAway
            RenderingBusy
            TemplateCrashed
            TemplateTooExpensive
        """
        return await self._client._call(
            operations.TEST_CUSTOMER_MAIL,
            (
                mail,
                language,
            ),
            body={"content": content, "to": to},
            project=project,
            timeout=timeout,
        )


class AsyncCustomers:
    """The methods of `client.customers`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    @cached_property
    def identity_requests(self) -> AsyncCustomersIdentityRequests:
        """Methods of `client.customers.identity_requests`."""
        return AsyncCustomersIdentityRequests(self._client)

    @cached_property
    def sessions(self) -> AsyncCustomersSessions:
        """Methods of `client.customers.sessions`."""
        return AsyncCustomersSessions(self._client)

    def list(
        self,
        *,
        q: str | None = None,
        status: Literal["active", "banned", "locked", "mfa", "unverified", "verified"] | str | None = None,
        provider: str | None = None,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.Customer]:
        """The project's customers, newest first.

        `q` matches part of an address, name, phone number or external identifier, or a complete id; with one or
        two characters it matches the beginning of an address. `status` is `active`, `banned`, `verified`,
        `unverified`, `mfa` or `locked`; `provider` is a sign-in method such as `PASSWORD` or `GOOGLE`.

        Permission: `customers:read`.

        Credentials: developer, secret key.

        Args:
            q: Q.
            status: Status.
            provider: Provider.
            page: Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further.
            limit: Records per page.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_CUSTOMERS,
            (),
            query={"q": q, "status": status, "provider": provider, "page": page, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        *,
        email: str | None | NotGiven = NOT_GIVEN,
        email_verified: bool | NotGiven = NOT_GIVEN,
        name: str | None | NotGiven = NOT_GIVEN,
        language: str | None | NotGiven = NOT_GIVEN,
        phone: str | None | NotGiven = NOT_GIVEN,
        phone_verified: bool | NotGiven = NOT_GIVEN,
        external_user_id: str | None | NotGiven = NOT_GIVEN,
        password: str | None | NotGiven = NOT_GIVEN,
        password_hash: str | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, Any] | NotGiven = NOT_GIVEN,
        roles: Sequence[str] | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Customer:
        """Create a customer.

        `passwordHash` is a hash from another system: bcrypt, scrypt, PBKDF2, argon2, SHA-crypt, phpass, or a
        salted MD5 or SHA digest; the guide lists the forms. It is replaced by an argon2id hash when the customer
        first signs in.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            email: E-mail address.
            email_verified: Whether the e-mail address is verified. Default: `false`.
            name: Display name.
            language: The language that the customer reads. Mails and the account page are in it, if they exist
                in it.
            phone: Phone number in E.164 form.
            phone_verified: Whether you have verified the number. Default: `false`.
            external_user_id: Id of the person in your own system.
            password: Password. A new password must have at least 8 characters.
            password_hash: Hash from another system: bcrypt, scrypt, PBKDF2 or argon2.
            metadata: Custom data, up to 16 KiB of JSON.
            roles: Keys of the roles.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            EmailTaken
            ExternalIdTaken
            HashRefused
            MetadataTooLarge
            PasswordBreached
            PasswordCommon
            PlanLimitReached
            RoleUnknown
        """
        return await self._client._call(
            operations.CREATE_CUSTOMER,
            (),
            body={
                "email": email,
                "emailVerified": email_verified,
                "name": name,
                "language": language,
                "phone": phone,
                "phoneVerified": phone_verified,
                "externalUserId": external_user_id,
                "password": password,
                "passwordHash": password_hash,
                "metadata": metadata,
                "roles": roles,
            },
            project=project,
            timeout=timeout,
        )

    async def import_batch(
        self,
        *,
        customers: Sequence[types.NewCustomer | params.NewCustomerDict],
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerImportResult:
        """Import up to 1,000 customers.

        Customers whose address or `externalUserId` is taken are skipped. `faults` has the index of each customer
        that could not be imported, and the reason.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            customers: The customers, or their number or maximum number; a null maximum means unlimited.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            RoleUnknown
        """
        return await self._client._call(
            operations.IMPORT_CUSTOMERS, (), body={"customers": customers}, project=project, timeout=timeout
        )

    async def get_stats(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerStats:
        """Numbers of customers: all, verified, banned, and with a second factor.

        Permission: `customers:read`.

        Credentials: developer, secret key.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.GET_CUSTOMER_STATS, (), project=project, timeout=timeout)

    async def export(
        self,
        *,
        q: str | None = None,
        status: Literal["active", "banned", "locked", "mfa", "unverified", "verified"] | str | None = None,
        provider: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """All customers as CSV, newest first.

        Takes the filters of the list.

        Permission: `customers:read`.

        Credentials: developer, secret key.

        Args:
            q: Q.
            status: Status.
            provider: Provider.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.EXPORT_CUSTOMERS,
            (),
            query={"q": q, "status": status, "provider": provider},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Customer:
        """A customer with its identities and live sessions.

        Permission: `customers:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return await self._client._call(operations.GET_CUSTOMER, (id,), project=project, timeout=timeout)

    async def delete(
        self,
        id: str,
        *,
        transfer_ownership_to: str | None = None,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Customer:
        """Erase a customer.

        Returns the customer as it was before.

        The last OWNER of an organization cannot be erased (409; `errors` names the organizations), unless
        `transferOwnershipTo` names another customer, who becomes OWNER of them in the same transaction.

        The customer and all personal data are deleted: identities, sessions, passkeys, e-mails to the address,
        and the contact with that address. Events keep their type and time; `erasedAt` is set and their data is
        emptied. The audit log keeps who did what, without details, and its hash chain still verifies. Honours
        `If-Match`.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            transfer_ownership_to: Transfer ownership to.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
            CustomerOwnsOrganizations
        """
        return await self._client._call(
            operations.DELETE_CUSTOMER,
            (id,),
            query={"transferOwnershipTo": transfer_ownership_to},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def update(
        self,
        id: str,
        *,
        email: str | NotGiven = NOT_GIVEN,
        email_verified: bool | NotGiven = NOT_GIVEN,
        name: str | None | NotGiven = NOT_GIVEN,
        language: str | None | NotGiven = NOT_GIVEN,
        phone: str | None | NotGiven = NOT_GIVEN,
        phone_verified: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Customer:
        """Change a customer's address, name, language or phone number.

        Omitted fields keep their values.

        When the address changes, the old one gets a notice, and codes and links that were mailed stop working;
        sessions continue. If another customer has the new address, the response is 409. Honours `If-Match`.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            email: The new primary address. It counts as unverified unless `emailVerified` says otherwise.
            email_verified: Whether you have verified the address.
            name: Display name.
            language: The language that the customer reads.
            phone: The new number in E.164. It counts as unverified unless `phoneVerified` says otherwise.
            phone_verified: Whether you have verified the number.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
            EmailTaken
        """
        return await self._client._call(
            operations.CHANGE_CUSTOMER,
            (id,),
            body={
                "email": email,
                "emailVerified": email_verified,
                "name": name,
                "language": language,
                "phone": phone,
                "phoneVerified": phone_verified,
            },
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    def list_timeline(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.TimelineEntry]:
        """The timeline of a customer, newest first: events, e-mails, sessions and changes by developers.

        Permission: `customers:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return self._client._list(
            operations.GET_CUSTOMER_TIMELINE,
            (id,),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    def list_events(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.CustomerEvent]:
        """Events of a customer, newest first.

        Events of an erased customer have only their type and time.

        Permission: `customers:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return self._client._list(
            operations.LIST_CUSTOMER_EVENTS,
            (id,),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    def list_audit_log(
        self,
        id: str,
        *,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.AuditEntry]:
        """Changes of a customer by developers and API keys, newest first.

        Permission: `customers:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            page: Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further.
            limit: Records per page.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return self._client._list(
            operations.LIST_CUSTOMER_AUDIT_LOG,
            (id,),
            query={"page": page, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def ban(
        self,
        id: str,
        *,
        reason: str | None | NotGiven = NOT_GIVEN,
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Customer:
        """Ban a customer: all sessions end, and sign-ins are refused until `expiresAt` or until the customer is
        unbanned.

        If the customer is banned already, the reason and the end change.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            reason: Reason, as text.
            expires_at: If null, the ban lasts until the customer is unbanned.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return await self._client._call(
            operations.BAN_CUSTOMER,
            (id,),
            body={"reason": reason, "expiresAt": expires_at},
            project=project,
            timeout=timeout,
        )

    async def unban(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Customer:
        """Lift a ban, and any lockout after failed attempts.

        Sessions that the ban ended stay ended.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return await self._client._call(operations.UNBAN_CUSTOMER, (id,), project=project, timeout=timeout)

    async def unlock(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Customer:
        """Clear the failed sign-in attempts of a customer, from all IP addresses, and end a lockout.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return await self._client._call(operations.UNLOCK_CUSTOMER, (id,), project=project, timeout=timeout)

    async def reset_mfa(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Remove the second factor and its recovery codes, for a customer who lost both.

        If a second factor is required, the customer sets up a new one at the next sign-in. Sign-ins that wait
        for the second factor end. If a second factor was on, the customer is notified by mail.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return await self._client._call(operations.RESET_CUSTOMER_MFA, (id,), project=project, timeout=timeout)

    async def update_metadata(
        self,
        id: str,
        *,
        metadata: Mapping[str, Any],
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Customer:
        """Merge keys into a customer's metadata at the top level; null removes a key.

        The result has at most 16 KiB.

        Honours `If-Match`.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            metadata: Custom data, up to 16 KiB of JSON.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
            MetadataTooLarge
        """
        return await self._client._call(
            operations.CHANGE_CUSTOMER_METADATA,
            (id,),
            body={"metadata": metadata},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def add_roles(
        self,
        id: str,
        *,
        roles: Sequence[str],
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Customer:
        """Add roles with the scope PROJECT to a customer, who keeps the present ones.

        Honours `If-Match`.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            roles: Keys of the roles.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
            RoleUnknown
            TooManyRoles
        """
        return await self._client._call(
            operations.ADD_CUSTOMER_ROLES,
            (id,),
            body={"roles": roles},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def replace_roles(
        self,
        id: str,
        *,
        roles: Sequence[str],
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Customer:
        """Replace the roles with the scope PROJECT of a customer.

        Honours `If-Match`.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            roles: Keys of the roles.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
            RoleUnknown
            TooManyRoles
        """
        return await self._client._call(
            operations.REPLACE_CUSTOMER_ROLES,
            (id,),
            body={"roles": roles},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def link(
        self,
        *,
        customer_id: str,
        external_user_id: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerLinkResult:
        """Give a customer the identifier it has in your own system.

        If another customer has that identifier, that customer is merged into this one in the same transaction
        and deleted; `mergedCustomerId` is its id. Link two customers only if you know that they are one person:
        afterwards the addresses of both can be used to sign in to the account that remains.

        The identities, passkeys, memberships, events and e-mail addresses of the merged customer move to this
        one, and the sessions of the merged customer end. This customer gets the roles of both, its own first, at
        most 100. It gets the metadata of both, and keeps its own value for a key that both have. A verified
        address is preferred as the primary one. If this customer has no name, phone number, password or second
        factor (with its recovery codes), it gets that of the merged customer. If it gets a second factor, its
        sessions end, because they began without one.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            customer_id: Id of the customer.
            external_user_id: Id of the person in your own system.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerBanned
            CustomerMissing
            ExternalIdTaken
        """
        return await self._client._call(
            operations.LINK_CUSTOMER,
            (),
            body={"customerId": customer_id, "externalUserId": external_user_id},
            project=project,
            timeout=timeout,
        )

    async def list_accepted_terms(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.TermsAcceptance]:
        """The versions of the terms that a customer has accepted, the latest first; at most 100.

        Permission: `customers:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return await self._client._call(operations.LIST_ACCEPTED_TERMS, (id,), project=project, timeout=timeout)

    async def impersonate(
        self,
        id: str,
        *,
        reason: str,
        minutes: int | NotGiven = NOT_GIVEN,
        actor: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerSignInResult:
        """Begin a session as a customer, for at most an hour.

        The tokens have the claim `act` with who acts, so that your app can show a banner and refuse what it
        likes. In Postern, such a session can read the account and change name and language; whatever concerns
        passwords, second factors, passkeys, addresses, linked accounts, sessions, memberships or deletion is 403
        `impersonation_not_allowed`. The customer sees the session, with the reason, in the list of sessions, can
        end it, and gets the notice `IMPERSONATED` by mail unless the project has switched it off. Start and end
        are in the audit log and in the events.

        Permission: `customers:impersonate`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            reason: The customer can read it in the list of sessions.
            minutes: Minutes. Default: `30`.
            actor: The person who acts, such as an e-mail address. Only for requests with an API key; the actor
                of a developer's request is the developer. Default: the name of the key.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerBanned
            CustomerMissing
            HookFailed
            HookRefused
        """
        return await self._client._call(
            operations.IMPERSONATE_CUSTOMER,
            (id,),
            body={"reason": reason, "minutes": minutes, "actor": actor},
            project=project,
            timeout=timeout,
        )

    async def create_impersonation_link(
        self,
        id: str,
        *,
        reason: str,
        redirect_url: str,
        minutes: int | NotGiven = NOT_GIVEN,
        actor: str | None | NotGiven = NOT_GIVEN,
        code_challenge: str | None | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CreatedImpersonationLink:
        """Create a link that opens your app as a customer, once, within five minutes.

        The page of the link says who acts as whom and why. Its button begins the session, which lasts `minutes`
        from then on, and the browser goes to `redirectUrl` with `code`, `state` and `impersonation=true`;
        exchange the code at `auth/token` within two minutes. The session is that of `POST …/impersonate`. The
        customer is told when it begins. The link does not work any more if whoever created it has lost the
        permission or has signed out. A customer has at most 10 open links.

        Permission: `customers:impersonate`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            reason: The customer can read it in the list of sessions.
            redirect_url: Where the browser goes with `code`: one of the project's `redirectUrls`.
            minutes: Minutes. Default: `30`.
            actor: The person who acts, such as an e-mail address. Only for requests with an API key; the actor
                of a developer's request is the developer. Default: the name of the key.
            code_challenge: The S256 code challenge (RFC 7636) of a verifier that your app keeps. Without one,
                only a secret key of the project can exchange the code.
            state: Returned to `redirectUrl` unchanged.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerBanned
            CustomerMissing
            TooManyImpersonationLinks
        """
        return await self._client._call(
            operations.CREATE_IMPERSONATION_LINK,
            (id,),
            body={
                "reason": reason,
                "minutes": minutes,
                "actor": actor,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
            },
            project=project,
            timeout=timeout,
        )

    def list_organizations(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.OrganizationMembership]:
        """List the organizations of a customer with the customer's roles, most recently joined first.

        Permission: `organizations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
        """
        return self._client._list(
            operations.LIST_CUSTOMER_ORGANIZATIONS,
            (id,),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def import_rows(
        self,
        *,
        rows: Sequence[types.CustomerImportRow | params.CustomerImportRowDict],
        dry_run: bool | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomerRowsResult:
        """Import up to 200 customers from another system: password hashes, second factors, passkeys, accounts at
        providers, addresses, organizations.

        The guide lists the fields of a row.

        Each row is imported completely or not at all, and a row that fails does not stop the others; the report
        says why. A customer with the same `externalUserId` is left as it is, so a batch can be sent again. With
        `dryRun`, nothing is stored. Rows with `organizations` need the permission `organizations:write`.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            rows: Each row is checked on its own, so an invalid one does not affect the others.
            dry_run: Only report what an import would do. Default: `false`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.IMPORT_CUSTOMER_ROWS,
            (),
            body={"rows": rows, "dryRun": dry_run},
            project=project,
            timeout=timeout,
        )

    async def list_consents(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.OAuthConsent]:
        """List the clients that a customer has allowed something.

        Empty for an unknown customer.

        Permission: `customers:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.LIST_CUSTOMER_CONSENTS, (id,), project=project, timeout=timeout)

    async def revoke_consent(
        self,
        id: str,
        client_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Removed:
        """Withdraw the consent of a customer to a client, whose refresh tokens for this customer end.

        The customer is asked again at the next sign-in.

        Permission: `customers:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            client_id: The client id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OauthConsentMissing
        """
        return await self._client._call(
            operations.REVOKE_CUSTOMER_CONSENT,
            (
                id,
                client_id,
            ),
            project=project,
            timeout=timeout,
        )


class AsyncDeliverySites:
    """The methods of `client.delivery_sites`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        q: str | None = None,
        state: Literal["OPEN", "SLOWED", "SUSPENDED"] | str | None = None,
        transport: Literal["direct", "relay", "ses"] | str | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        sort: Literal["-createdAt", "-name", "-updatedAt", "createdAt", "name", "updatedAt"] | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        include: Sequence[Literal["total"] | str] | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.DeliverySite]:
        """The sites to which the project sends mail, with the number of waiting messages.

        Sites that were not used for a month are left out.

        A site is a group of mail servers that are limited together: those of a provider such as Google, or of
        one domain. A relay and Amazon SES are sites, too.

        Permission: `emails:read`.

        Credentials: developer, secret key.

        Args:
            q: Part of the name of the site, the provider or a mail server.
            state: State.
            transport: Transport.
            from_: Only records that were created at this time or later.
            to: Only records that were created before this time.
            sort: Order; `-` is descending. `name` ignores the letter case.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            include: `total`: the header `Total-Count`, the number of matching records, counted up to 10,000.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_DELIVERY_SITES,
            (),
            query={
                "q": q,
                "state": state,
                "transport": transport,
                "from": from_,
                "to": to,
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "include": include,
            },
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        site: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.DeliverySite:
        """A site to which the project sends mail.

        Permission: `emails:read`.

        Credentials: developer, secret key.

        Args:
            site: The name of the site.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SiteMissing
        """
        return await self._client._call(operations.GET_DELIVERY_SITE, (site,), project=project, timeout=timeout)

    async def suspend(
        self,
        site: str,
        *,
        reason: str,
        until: datetime | str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.DeliverySite:
        """Send no mail of this project to a site, until it is resumed or until a time.

        Messages to the site wait, and fail only if their `expiresAt` passes. The time of the suspension does not
        count in their retry period. At most two seconds later, no process begins to send further messages to the
        site.

        Permission: `emails:write`.

        Credentials: developer, secret key.

        Args:
            site: The name of the site.
            reason: Reason, as text.
            until: Null: until it is resumed.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SiteMissing
            SiteSuspendedByOperator
        """
        return await self._client._call(
            operations.SUSPEND_DELIVERY_SITE,
            (site,),
            body={"reason": reason, "until": until},
            project=project,
            timeout=timeout,
        )

    async def resume(
        self,
        site: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.DeliverySite:
        """End this project's suspension of a site.

        Its waiting messages are sent as the limits of the site allow.

        A suspension by the operator of the server stays.

        Permission: `emails:write`.

        Credentials: developer, secret key.

        Args:
            site: The name of the site.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SiteMissing
            SiteNotSuspended
            SiteSuspendedByOperator
        """
        return await self._client._call(operations.RESUME_DELIVERY_SITE, (site,), project=project, timeout=timeout)

    async def bounce(
        self,
        site: str,
        *,
        reason: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.DeliverySite:
        """Give up the messages of this project that wait for a site.

        They become FAILED with the reason, in the background; `bounce` shows the progress.

        Messages that were accepted after this request are not given up, nor are those that were not tried yet.
        No address is suppressed, and the messages do not count as bounces. Each can be retried.

        Permission: `emails:write`.

        Credentials: developer, secret key.

        Args:
            site: The name of the site.
            reason: Reason, as text.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SiteMissing
        """
        return await self._client._call(
            operations.BOUNCE_DELIVERY_SITE, (site,), body={"reason": reason}, project=project, timeout=timeout
        )


class AsyncDevelopers:
    """The methods of `client.developers`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    @cached_property
    def passkeys(self) -> AsyncDevelopersPasskeys:
        """Methods of `client.developers.passkeys`."""
        return AsyncDevelopersPasskeys(self._client)

    @cached_property
    def sessions(self) -> AsyncDevelopersSessions:
        """Methods of `client.developers.sessions`."""
        return AsyncDevelopersSessions(self._client)

    @cached_property
    def totp(self) -> AsyncDevelopersTotp:
        """Methods of `client.developers.totp`."""
        return AsyncDevelopersTotp(self._client)

    async def sign_up(
        self,
        *,
        email: str,
        password: str,
        name: str | NotGiven = NOT_GIVEN,
        invitation_token: str | None | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> types.DeveloperSignInResult:
        """Create a developer account with its owner and a first project, and sign in.

        A mail asks to verify the address. Until then the session can only read, and send mail, which is
        captured; everything else returns 403 `email_unverified`. Verification ends the session: sign in with the
        password. An address that has an account gets the same response, and a mail about the attempt. A sign-up
        whose address is not verified is deleted after 7 days.

        With `invitationToken` the developer becomes a member of the inviting account instead. Then the address
        needs no verification, because the invitation was sent to it. Common passwords, and passwords that are
        just the address with digits, are refused.

        Args:
            email: E-mail address.
            password: Password. A new password must have at least 8 characters.
            name: The name of a person: one line of text.
            invitation_token: Token from the invitation's mail; `email` must be the invited address.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            EmailTaken
            LinkInvalid
            PasswordBreached
            PasswordCommon
            SignUpClosed
        """
        return await self._client._call(
            operations.SIGN_UP_DEVELOPER,
            (),
            body={"email": email, "password": password, "name": name, "invitationToken": invitation_token},
            timeout=timeout,
        )

    async def sign_in(
        self,
        *,
        email: str,
        password: str,
        code: str | None | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> types.DeveloperSignInResult:
        """Sign in with email address and password.

        The access token is valid for 30 minutes, the refresh token for 30 days. The response and its time are
        the same for unknown addresses and wrong passwords. If a second factor is on, a right password without
        `code` returns 401 `mfa_required`; `code` is a six-digit code of the app or a recovery code, and each
        works once. Ten failed attempts lock the address for the client's network for 15 minutes, ten more for 30
        minutes, then for an hour.

        Args:
            email: E-mail address.
            password: Password. A new password must have at least 8 characters.
            code: One-time code from the authenticator app or from the mail.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LockedOut
            MfaRequired
            SignInFailed
        """
        return await self._client._call(
            operations.SIGN_IN_DEVELOPER, (), body={"email": email, "password": password, "code": code}, timeout=timeout
        )

    async def refresh(
        self,
        *,
        refresh_token: str,
        timeout: float | None = None,
    ) -> types.DeveloperSignInResult:
        """Exchange a refresh token for new tokens.

        A refresh token works once. If it is sent again within 30 seconds, because a response was lost or two
        tabs refreshed at once, it returns the same tokens. Later, it counts as stolen, and the session ends.

        Args:
            refresh_token: Single-use token to get the next access token.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            RefreshTokenInvalid
        """
        return await self._client._call(
            operations.REFRESH_DEVELOPER_TOKENS, (), body={"refreshToken": refresh_token}, timeout=timeout
        )

    async def sign_out(
        self,
        *,
        timeout: float | None = None,
    ) -> None:
        """End this session.

        Its tokens are refused from the next request on.

        Credentials: developer.

        Args:
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.SIGN_OUT_DEVELOPER, (), timeout=timeout)

    async def verify_email(
        self,
        *,
        token: str,
        timeout: float | None = None,
    ) -> types.VerifiedEmail:
        """Verify an address with the token that was sent to it.

        A changed address applies from now on.

        The first verification of a new account deletes what was created before: sessions, second factors, keys,
        members and invitations.

        Args:
            token: Token from the link in the mail.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            EmailTaken
            LinkInvalid
            LockedOut
        """
        return await self._client._call(operations.VERIFY_DEVELOPER_EMAIL, (), body={"token": token}, timeout=timeout)

    async def resend_verification(
        self,
        *,
        timeout: float | None = None,
    ) -> None:
        """Send the mail that asks to verify your address again.

        The link of the earlier mail becomes invalid.

        Credentials: developer.

        Args:
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.RESEND_DEVELOPER_VERIFICATION, (), timeout=timeout)

    async def request_password_reset(
        self,
        *,
        email: str,
        timeout: float | None = None,
    ) -> None:
        """Send a link to choose a new password, which works once, for 30 minutes.

        The response and its time do not reveal whether there is an account with this address.

        Args:
            email: E-mail address.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.FORGOT_DEVELOPER_PASSWORD, (), body={"email": email}, timeout=timeout
        )

    async def reset_password(
        self,
        *,
        token: str,
        new_password: str,
        timeout: float | None = None,
    ) -> None:
        """Choose a new password with the token from the mail.

        All sessions end, and an unconfirmed change of address is cancelled; the second factor stays on. If the
        address was not verified yet, this verifies it, and deletes what was created before, including the second
        factor.

        Args:
            token: Token from the link in the mail.
            new_password: The new password.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LinkInvalid
            LockedOut
            PasswordBreached
            PasswordCommon
        """
        return await self._client._call(
            operations.RESET_DEVELOPER_PASSWORD, (), body={"token": token, "newPassword": new_password}, timeout=timeout
        )

    async def renew_recovery_codes(
        self,
        *,
        password: str,
        code: str,
        timeout: float | None = None,
    ) -> types.DeveloperRecoveryCodes:
        """Replace the recovery codes by ten new ones.

        Credentials: developer.

        Args:
            password: Password. A new password must have at least 8 characters.
            code: One-time code from the authenticator app or from the mail.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeWrong
            LockedOut
            MfaNotEnrolled
            PasswordWrong
        """
        return await self._client._call(
            operations.RENEW_DEVELOPER_RECOVERY_CODES, (), body={"password": password, "code": code}, timeout=timeout
        )

    async def change_password(
        self,
        *,
        current_password: str,
        new_password: str,
        timeout: float | None = None,
    ) -> None:
        """Change your password.

        Your other sessions end.

        Links that were mailed before become invalid, including one that confirms a new address.

        Credentials: developer.

        Args:
            current_password: The current password.
            new_password: The new password.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LockedOut
            PasswordBreached
            PasswordCommon
            PasswordWrong
        """
        return await self._client._call(
            operations.CHANGE_DEVELOPER_PASSWORD,
            (),
            body={"currentPassword": current_password, "newPassword": new_password},
            timeout=timeout,
        )


class AsyncDirectories:
    """The methods of `client.directories`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.DirectoryConnection]:
        """List the directory connections of an organization, newest first.

        Permission: `scim:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
        """
        return self._client._list(
            operations.LIST_DIRECTORY_CONNECTIONS,
            (id,),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        id: str,
        *,
        name: str,
        default_roles: Sequence[str] | NotGiven = NOT_GIVEN,
        group_roles: Mapping[str, Sequence[str]] | NotGiven = NOT_GIVEN,
        allow_other_domains: bool | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.DirectoryConnectionWithToken:
        """Create a connection for a directory that supports SCIM 2.0, such as Entra ID or Okta.

        Enter `baseUrl` and `token` in the directory. The token is not shown again; `rotate-token` creates
        another one.

        Active users of the directory are members of the organization with `defaultRoles`, and have the roles of
        their groups in `groupRoles`: by name, `externalId` or id of the group. Roles besides MEMBER need the
        permission `organizations:write`, because the connection assigns them. Users must have addresses at
        domains that the organization has verified, unless `allowOtherDomains` is set.

        Permission: `scim:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            name: A display name: one line of text, not only blanks.
            default_roles: Roles that new members get.
            group_roles: Roles by group of the identity provider.
            allow_other_domains: Whether e-mail addresses outside the connection's domains are accepted. Default:
                `false`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            RoleUnknown
            TooManyDirectoryConnections
        """
        return await self._client._call(
            operations.CREATE_DIRECTORY_CONNECTION,
            (id,),
            body={
                "name": name,
                "defaultRoles": default_roles,
                "groupRoles": group_roles,
                "allowOtherDomains": allow_other_domains,
            },
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        conn_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.DirectoryConnection:
        """Get a connection with the numbers of its users and groups, its tokens, and the last refused requests.

        Permission: `scim:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DirectoryConnectionMissing
            OrganizationMissing
        """
        return await self._client._call(
            operations.GET_DIRECTORY_CONNECTION,
            (
                id,
                conn_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def update(
        self,
        id: str,
        conn_id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        status: Literal["ACTIVE", "DISABLED"] | str | NotGiven = NOT_GIVEN,
        default_roles: Sequence[str] | NotGiven = NOT_GIVEN,
        group_roles: Mapping[str, Sequence[str]] | NotGiven = NOT_GIVEN,
        allow_other_domains: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.DirectoryConnection:
        """Change a connection.

        Omitted fields keep their values.

        If roles change, the roles of all members are updated in the background. With `status: DISABLED`, the
        requests of the directory get 403, and its users stay as they are. If the connection gives roles besides
        MEMBER, changing its roles, enabling it and allowing other domains need the permission
        `organizations:write`. Honours `If-Match`.

        Permission: `scim:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            name: A display name: one line of text, not only blanks.
            status: Status of the record.
            default_roles: Roles that new members get.
            group_roles: Replaces the map as a whole.
            allow_other_domains: Whether e-mail addresses outside the connection's domains are accepted.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DirectoryConnectionMissing
            OrganizationMissing
            RoleUnknown
        """
        return await self._client._call(
            operations.CHANGE_DIRECTORY_CONNECTION,
            (
                id,
                conn_id,
            ),
            body={
                "name": name,
                "status": status,
                "defaultRoles": default_roles,
                "groupRoles": group_roles,
                "allowOtherDomains": allow_other_domains,
            },
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        conn_id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Removed:
        """Delete a connection.

        The directory has no access from the next request on.

        Customers, members and their roles stay. The users and groups of the directory are deleted in the
        background. Honours `If-Match`.

        Permission: `scim:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DirectoryConnectionMissing
            OrganizationMissing
        """
        return await self._client._call(
            operations.DELETE_DIRECTORY_CONNECTION,
            (
                id,
                conn_id,
            ),
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def rotate_token(
        self,
        id: str,
        conn_id: str,
        *,
        overlap_hours: int | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.DirectoryConnectionWithToken:
        """Create another token.

        The present one stays valid for `overlapHours`, so that the directory can be changed meanwhile; 0 ends it
        at once. Honours `If-Match`.

        If the connection gives roles besides MEMBER, this needs the permission `organizations:write`, too:
        whoever has the token decides who gets the roles.

        Permission: `scim:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            overlap_hours: Hours during which the present token is still accepted; 0 ends it at once. Default:
                `24`.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DirectoryConnectionMissing
            OrganizationMissing
        """
        return await self._client._call(
            operations.ROTATE_DIRECTORY_TOKEN,
            (
                id,
                conn_id,
            ),
            body={"overlapHours": overlap_hours},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    def list_users(
        self,
        id: str,
        conn_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.DirectoryUser]:
        """List the users of a directory, newest first, with the roles that come from the directory and their
        groups.

        Permission: `scim:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DirectoryConnectionMissing
            OrganizationMissing
        """
        return self._client._list(
            operations.LIST_DIRECTORY_USERS,
            (
                id,
                conn_id,
            ),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    def list_groups(
        self,
        id: str,
        conn_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.DirectoryGroup]:
        """List the groups of a directory, newest first, with the roles that they give.

        Permission: `scim:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DirectoryConnectionMissing
            OrganizationMissing
        """
        return self._client._list(
            operations.LIST_DIRECTORY_GROUPS,
            (
                id,
                conn_id,
            ),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )


class AsyncDomains:
    """The methods of `client.domains`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.Domain]:
        """List the project's sending domains, newest first, with their DNS records and the results of the last
        check.

        Permission: `domains:read`.

        Credentials: developer, secret key.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_DOMAINS, (), query={"limit": limit, "cursor": cursor}, project=project, timeout=timeout
        )

    async def create(
        self,
        *,
        domain: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Domain:
        """Add a domain to send from.

        Publish the `records` of the response in the DNS of the domain. They are checked every minute for ten
        minutes, every ten minutes for three hours, then hourly for 30 days; `verify` checks them at once. The
        domain becomes VERIFIED when its required record, the DKIM key, is published.

        Permission: `domains:write`.

        Credentials: developer, secret key.

        Args:
            domain: Domain name.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DomainExists
            TooManyDomains
        """
        return await self._client._call(
            operations.CREATE_DOMAIN, (), body={"domain": domain}, project=project, timeout=timeout
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Domain:
        """Get a sending domain with its DNS records and the results of the last check.

        Permission: `domains:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.GET_DOMAIN, (id,), project=project, timeout=timeout)

    async def delete(
        self,
        id: str,
        *,
        force: bool | None = None,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete a sending domain and its keys.

        Mail can no longer be sent from it, even if its records stay published.

        If scheduled campaigns, or automations that are active or have unfinished runs, use the domain, the
        response is 409 and lists them.

        If messages wait to be sent from the domain (scheduled, queued or delayed), the response is 409 with
        their number. `force=true` deletes the domain anyway; those messages then fail when they are due. Honours
        `If-Match`.

        Permission: `domains:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            force: Delete the domain even if messages wait to be sent from it.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DomainHasWaitingSends
            DomainInUse
        """
        return await self._client._call(
            operations.DELETE_DOMAIN, (id,), query={"force": force}, if_match=if_match, project=project, timeout=timeout
        )

    async def verify(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Domain:
        """Check the DNS records of a domain now instead of waiting for the periodic check.

        A missing record is not an error: the response has the status of each record. Records that could not be
        looked up have the status UNKNOWN and change nothing. For a FAILED domain, the periodic checks start
        again.

        Permission: `domains:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.VERIFY_DOMAIN, (id,), project=project, timeout=timeout)

    async def rotate_keys(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Domain:
        """Sign with the next DKIM key from now on.

        The next key must be published in the DNS (409 if not). Keep the previous key published for mail in
        transit; after seven days a new next key is generated for its selector. If the records are CNAMEs into
        the service's zone, keys rotate automatically every 180 days.

        Permission: `domains:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            NextKeyUnpublished
        """
        return await self._client._call(operations.ROTATE_DOMAIN_KEYS, (id,), project=project, timeout=timeout)

    async def get_blocklist_status(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.BlocklistEntry]:
        """Get the status of the domain, and of the IP addresses that send its mail, on each blocklist.

        They are checked every six hours. The status is UNKNOWN if a blocklist refuses the query, fails its
        health check (RFC 5782) or does not respond; `listed` then keeps its previous value. `lastCheckedAt` is
        null until the first check.

        Permission: `domains:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.GET_DOMAIN_BLOCKLIST_STATUS, (id,), project=project, timeout=timeout)

    async def add_dmarc_report(
        self,
        id: str,
        *,
        data: AsyncContent,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.DmarcReportResult:
        """Add a DMARC aggregate report (RFC 9990, RFC 7489): the body is the report as XML, gzip or zip file, or
        the e-mail (RFC 5322) to which it is attached.

        Only records of this domain and its subdomains are counted. A report is not counted again if the domain
        already has one with the same organization and id, so requests can be repeated. The data is kept for 400
        days.

        Permission: `domains:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            data: The content.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DmarcReportInvalid
            DmarcReportOfOtherDomain
            DmarcReportOutOfPeriod
            DmarcReportTooLarge
            DomainMissing
            TooManyDmarcRows
        """
        return await self._client._call(operations.ADD_DMARC_REPORT, (id,), data=data, project=project, timeout=timeout)

    async def get_dmarc_summary(
        self,
        id: str,
        *,
        days: int | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.DmarcSummary:
        """Get what receivers reported about the mail of a domain, by day, by host and by receiver.

        The numbers come from the reports that were added, and from those that arrived by e-mail from
        authenticated senders. Receivers send them once a day, and not all receivers do.

        Permission: `domains:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            days: The number of past days in UTC, including today.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DomainMissing
        """
        return await self._client._call(
            operations.GET_DMARC_SUMMARY, (id,), query={"days": days}, project=project, timeout=timeout
        )

    async def get_reputation(
        self,
        domain_id: str,
        *,
        days: int | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Reputation:
        """Get the rates of hard bounces and complaints of a domain, its state, and the numbers of each day.

        The rates are those of the last seven days, or since the last release. From 2 % bounces or 0.1 %
        complaints on, the state is WARNING. From 5 % or 0.3 % on it is HELD: marketing mail of the domain waits
        until both rates are below the lower thresholds, or until it is released. Transactional mail is still
        sent. The operator can set other thresholds.

        Permission: `domains:read`.

        Credentials: developer, secret key.

        Args:
            domain_id: The domain id.
            days: The number of past days in `days`, in UTC, including today.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DomainMissing
        """
        return await self._client._call(
            operations.GET_DOMAIN_REPUTATION, (domain_id,), query={"days": days}, project=project, timeout=timeout
        )

    async def release_reputation(
        self,
        domain_id: str,
        *,
        reason: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Reputation:
        """Release the held marketing mail of a domain.

        From now on, only mail that is sent after the release counts.

        The waiting messages are sent soon. Remove the cause first: if the rates of the new mail are above the
        thresholds, marketing mail is held again. The reason is stored in the audit log.

        Permission: `domains:write`.

        Credentials: developer, secret key.

        Args:
            domain_id: The domain id.
            reason: What was done about the cause. Stored in the audit log.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DomainMissing
            NothingHeld
        """
        return await self._client._call(
            operations.RELEASE_DOMAIN_REPUTATION,
            (domain_id,),
            body={"reason": reason},
            project=project,
            timeout=timeout,
        )

    async def set_warm_up(
        self,
        domain_id: str,
        *,
        start: date | str | None | NotGiven = NOT_GIVEN,
        steps: Sequence[int] | None | NotGiven = NOT_GIVEN,
        target_per_day: int | None | NotGiven = NOT_GIVEN,
        days: int | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.WarmUp:
        """Set the warm-up plan of a domain: how many messages it may send on each day, in UTC.

        Replaces an existing plan.

        With `targetPerDay`, the ceilings are 50, 100, 200 … up to the target, or grow by the same factor on each
        of `days` days; `steps` sets each ceiling. Marketing mail above the ceiling waits for the next day.
        Transactional mail counts but never waits. The step of a day on which nothing was sent, or after which
        the domain's rates are above a threshold, is repeated.

        Permission: `domains:write`.

        Credentials: developer, secret key.

        Args:
            domain_id: The domain id.
            start: The first day, in UTC; default: today.
            steps: The ceiling of each day: no step is lower than the one before.
            target_per_day: The ceiling of the last day. The first day has a ceiling of 50; it doubles each day,
                unless `days` is set.
            days: With `targetPerDay`: the number of days. The ceiling then grows by the same factor each day.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DomainMissing
        """
        return await self._client._call(
            operations.PUT_DOMAIN_WARM_UP,
            (domain_id,),
            body={"start": start, "steps": steps, "targetPerDay": target_per_day, "days": days},
            project=project,
            timeout=timeout,
        )

    async def get_warm_up(
        self,
        domain_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.WarmUp:
        """Get the warm-up plan of a domain and its progress.

        A completed plan is kept until it is replaced or deleted.

        Permission: `domains:read`.

        Credentials: developer, secret key.

        Args:
            domain_id: The domain id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DomainMissing
            WarmUpMissing
        """
        return await self._client._call(operations.GET_DOMAIN_WARM_UP, (domain_id,), project=project, timeout=timeout)

    async def delete_warm_up(
        self,
        domain_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """End the warm-up plan of a domain.

        The messages that wait for it are sent soon, without a ceiling.

        Permission: `domains:write`.

        Credentials: developer, secret key.

        Args:
            domain_id: The domain id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DomainMissing
            WarmUpMissing
        """
        return await self._client._call(
            operations.DELETE_DOMAIN_WARM_UP, (domain_id,), project=project, timeout=timeout
        )

    async def list_certificates(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.DomainCertificate]:
        """List the TLS certificates of the names below the domain: `links.<domain>` once its CNAME record is
        verified, the project's `trackingDomain` if it is this domain or below it, and its `pagesDomain`.

        Empty if the domain has no such name, or if this server does not obtain certificates itself.

        Permission: `domains:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DomainMissing
        """
        return await self._client._call(operations.LIST_DOMAIN_CERTIFICATES, (id,), project=project, timeout=timeout)


class AsyncEmails:
    """The methods of `client.emails`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def send(
        self,
        *,
        to: Sequence[str],
        from_: str,
        subject: str | None | NotGiven = NOT_GIVEN,
        html: str | None | NotGiven = NOT_GIVEN,
        text: str | None | NotGiven = NOT_GIVEN,
        template_id: str | None | NotGiven = NOT_GIVEN,
        engine: Literal["minijinja", "none"] | str | None | NotGiven = NOT_GIVEN,
        variables: Mapping[str, Any] | NotGiven = NOT_GIVEN,
        cc: Sequence[str] | None | NotGiven = NOT_GIVEN,
        bcc: Sequence[str] | None | NotGiven = NOT_GIVEN,
        reply_to: str | Sequence[str] | None | NotGiven = NOT_GIVEN,
        headers: Mapping[str, str] | None | NotGiven = NOT_GIVEN,
        attachments: Sequence[types.EmailAttachment | params.EmailAttachmentDict] | None | NotGiven = NOT_GIVEN,
        tags: Sequence[str] | None | NotGiven = NOT_GIVEN,
        scheduled_at: datetime | str | None | NotGiven = NOT_GIVEN,
        track_opens: bool | None | NotGiven = NOT_GIVEN,
        track_clicks: bool | None | NotGiven = NOT_GIVEN,
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
        unsubscribable: bool | NotGiven = NOT_GIVEN,
        require_tls: bool | None | NotGiven = NOT_GIVEN,
        prefer: str | None = None,
        idempotency_key: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SendResult:
        """Send an e-mail.

        The response 201 means that the e-mail is stored and will be sent. It is transmitted at once, and the
        response waits up to two seconds for that (`Prefer: wait=N` changes this): `status` is `SENT` if the next
        server has accepted the message, otherwise `QUEUED`. With `wait=0` the workers transmit it, which gives
        the highest throughput. An `unsubscribable` e-mail with several recipients becomes a separate message for
        each, listed in `messages`; `id` and `status` are those of the first. A request that is repeated with its
        `Idempotency-Key` within 24 hours gets the first response again and sends nothing.

        Permission: `emails:send`.

        Credentials: developer, secret key.

        Args:
            to: Recipients.
            from_: Sender: `ada@example.com` or `Ada <ada@example.com>`.
            subject: Subject line.
            html: HTML body.
            text: Plain text body.
            template_id: Id of the template that provides subject, html and text.
            engine: `minijinja` renders tags such as `{{name}}`. `none` sends subject, html and text unchanged,
                including `{{`, `{%` and `{#`, and ignores `variables`. Null: the template's engine, or
                `minijinja` without a template.
            variables: Values of template variables such as `{{name}}`; of a template, the names of its
                variables.
            cc: Recipients of a copy (Cc).
            bcc: Recipients of a blind copy (Bcc).
            reply_to: Address for replies (`Reply-To` header).
            headers: Message headers, by name.
            attachments: Attached files, at most 20.
            tags: Tags by which messages can be filtered, at most 75.
            scheduled_at: At most 30 days in the future; a time in the past means now.
            track_opens: Whether opens are tracked; null uses the project's setting.
            track_clicks: Whether clicks are tracked; null uses the project's setting.
            expires_at: The message is not sent after this time; useful for one-time codes.
            unsubscribable: Adds `List-Unsubscribe` with one-click unsubscribing (RFC 8058). Several recipients
                each get a separate message with their own unsubscribe link. Default: `false`.
            require_tls: Whether the message is sent only over TLS, and only to servers with a valid certificate
                that offer REQUIRETLS (RFC 8689). To any other server it bounces: with 5.7.10 if TLS or a valid
                certificate is missing, with 5.7.30 if REQUIRETLS is not offered. Null: the setting of the
                project.
            prefer: `wait=N`: seconds to wait for the delivery.
            idempotency_key: Makes repetitions of this call safe; one is made if you give none.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DirectNotOffered
            DomainNotVerified
            EmailInvalid
            IdempotencyKeyInProgress
            IdempotencyKeyReused
            MessageTooLarge
            NoSmartHost
            RenderingAway
            RenderingBusy
            TemplateCrashed
            TemplateTooExpensive
        """
        return await self._client._call(
            operations.SEND_EMAIL,
            (),
            headers={"Prefer": prefer},
            body={
                "to": to,
                "from": from_,
                "subject": subject,
                "html": html,
                "text": text,
                "templateId": template_id,
                "engine": engine,
                "variables": variables,
                "cc": cc,
                "bcc": bcc,
                "replyTo": reply_to,
                "headers": headers,
                "attachments": attachments,
                "tags": tags,
                "scheduledAt": scheduled_at,
                "trackOpens": track_opens,
                "trackClicks": track_clicks,
                "expiresAt": expires_at,
                "unsubscribable": unsubscribable,
                "requireTls": require_tls,
            },
            idempotency_key=idempotency_key,
            project=project,
            timeout=timeout,
        )

    async def send_batch(
        self,
        *,
        emails: Sequence[types.Email | params.EmailDict],
        idempotency_key: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.EmailBatchResult:
        """Send up to 500 e-mails in one request.

        The e-mails are independent, and the results are in the order of the request. An e-mail that is not
        accepted has an `error` and the status `FAILED`; the others are sent. Accepted e-mails are `QUEUED`, and
        the workers transmit them.

        Permission: `emails:send`.

        Credentials: developer, secret key.

        Args:
            emails: The e-mails. Each is validated separately, so an invalid one does not affect the others.
            idempotency_key: Makes repetitions of this call safe; one is made if you give none.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            DirectNotOffered
            DomainNotVerified
            EmailInvalid
            IdempotencyKeyInProgress
            IdempotencyKeyReused
            MessageTooLarge
            NoSmartHost
            RenderingAway
            RenderingBusy
            TemplateCrashed
            TemplateTooExpensive
        """
        return await self._client._call(
            operations.SEND_EMAIL_BATCH,
            (),
            body={"emails": emails},
            idempotency_key=idempotency_key,
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        send_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.EmailLogEntryDetail:
        """A send with its events.

        Permission: `emails:read`.

        Credentials: developer, secret key.

        Args:
            send_id: The send id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            EmailMissing
        """
        return await self._client._call(operations.GET_EMAIL_LOG, (send_id,), project=project, timeout=timeout)

    async def get_raw(
        self,
        send_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> bytes:
        """The message as it was transmitted, as an `.eml` file.

        It equals the transmitted message byte for byte, including its DKIM signatures. After several attempts,
        it is the message of the last accepted one. A message that was not transmitted yet has no signatures and
        the date of its creation. One-time codes and links (sign-in codes, password resets, invitations) are
        replaced by `[removed]`, and such messages have no signatures.

        Permission: `emails:read`.

        Credentials: developer, secret key.

        Args:
            send_id: The send id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContentStoreUnavailable
            EmailMissing
            MessageGone
        """
        return await self._client._call(operations.GET_EMAIL_MESSAGE, (send_id,), project=project, timeout=timeout)

    async def list_attempts(
        self,
        send_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.SendAttempt]:
        """The delivery attempts of a send, each with the server's replies and the SMTP dialogue.

        Permission: `emails:read`.

        Credentials: developer, secret key.

        Args:
            send_id: The send id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            EmailMissing
        """
        return await self._client._call(operations.LIST_EMAIL_ATTEMPTS, (send_id,), project=project, timeout=timeout)

    async def list_reports(
        self,
        send_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.SendReport]:
        """The reports about a send that arrived after its attempts, oldest first: bounces, complaints, delays,
        deliveries.

        The same report that arrives again is counted in `times` and changes nothing.

        Permission: `emails:read`.

        Credentials: developer, secret key.

        Args:
            send_id: The send id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            EmailMissing
        """
        return await self._client._call(operations.LIST_EMAIL_REPORTS, (send_id,), project=project, timeout=timeout)

    async def reschedule(
        self,
        send_id: str,
        *,
        scheduled_at: datetime | str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.EmailLogEntry:
        """Reschedule a SCHEDULED send to a time at most 30 days in the future; a time in the past means now.

        Permission: `emails:write`.

        Credentials: developer, secret key.

        Args:
            send_id: The send id.
            scheduled_at: When to send it (UTC); null for immediately.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            EmailMissing
            LiveKeyRequired
            NotScheduled
        """
        return await self._client._call(
            operations.RESCHEDULE_EMAIL,
            (send_id,),
            body={"scheduledAt": scheduled_at},
            project=project,
            timeout=timeout,
        )

    async def cancel(
        self,
        send_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.EmailLogEntry:
        """Cancel a waiting send.

        The response is 409 if the message is being transmitted right now.

        One-time codes and links in the stored content are erased.

        Permission: `emails:write`.

        Credentials: developer, secret key.

        Args:
            send_id: The send id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            EmailMissing
            NotCancellable
        """
        return await self._client._call(operations.CANCEL_EMAIL, (send_id,), project=project, timeout=timeout)

    async def retry(
        self,
        send_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.EmailLogEntry:
        """Retry a send.

        A send that failed, bounced or expired is queued as if it had just been accepted. A send that was
        deferred is retried now, and its retry period does not begin again.

        Permission: `emails:write`.

        Credentials: developer, secret key.

        Args:
            send_id: The send id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContentStoreUnavailable
            EmailMissing
            LiveKeyRequired
            NotRetriable
        """
        return await self._client._call(operations.RETRY_EMAIL, (send_id,), project=project, timeout=timeout)

    async def preflight(
        self,
        *,
        to: Sequence[str],
        from_: str,
        subject: str | None | NotGiven = NOT_GIVEN,
        html: str | None | NotGiven = NOT_GIVEN,
        text: str | None | NotGiven = NOT_GIVEN,
        template_id: str | None | NotGiven = NOT_GIVEN,
        engine: Literal["minijinja", "none"] | str | None | NotGiven = NOT_GIVEN,
        variables: Mapping[str, Any] | NotGiven = NOT_GIVEN,
        cc: Sequence[str] | None | NotGiven = NOT_GIVEN,
        bcc: Sequence[str] | None | NotGiven = NOT_GIVEN,
        reply_to: str | Sequence[str] | None | NotGiven = NOT_GIVEN,
        headers: Mapping[str, str] | None | NotGiven = NOT_GIVEN,
        attachments: Sequence[types.EmailAttachment | params.EmailAttachmentDict] | None | NotGiven = NOT_GIVEN,
        tags: Sequence[str] | None | NotGiven = NOT_GIVEN,
        scheduled_at: datetime | str | None | NotGiven = NOT_GIVEN,
        track_opens: bool | None | NotGiven = NOT_GIVEN,
        track_clicks: bool | None | NotGiven = NOT_GIVEN,
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
        unsubscribable: bool | NotGiven = NOT_GIVEN,
        require_tls: bool | None | NotGiven = NOT_GIVEN,
        marketing: bool | None | NotGiven = NOT_GIVEN,
        check_links: bool | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Preflight:
        """Check an e-mail for what large mailbox providers object to, without sending it.

        The body is that of an e-mail to send. The message is composed as it would be sent. An error that would
        make sending fail, such as one in a template, becomes a finding with the code of the problem. The checks
        cover the authentication of the sender's domain (SPF, DKIM, DMARC), one-click unsubscribing, size, text
        and images, links, attachments, addresses, and features that mail clients do not support. Links are only
        opened with `checkLinks`.

        Permission: `emails:send`.

        Credentials: developer, secret key.

        Args:
            to: Recipients.
            from_: Sender: `ada@example.com` or `Ada <ada@example.com>`.
            subject: Subject line.
            html: HTML body.
            text: Plain text body.
            template_id: Id of the template that provides subject, html and text.
            engine: `minijinja` renders tags such as `{{name}}`. `none` sends subject, html and text unchanged,
                including `{{`, `{%` and `{#`, and ignores `variables`. Null: the template's engine, or
                `minijinja` without a template.
            variables: Values of template variables such as `{{name}}`; of a template, the names of its
                variables.
            cc: Recipients of a copy (Cc).
            bcc: Recipients of a blind copy (Bcc).
            reply_to: Address for replies (`Reply-To` header).
            headers: Message headers, by name.
            attachments: Attached files, at most 20.
            tags: Tags by which messages can be filtered, at most 75.
            scheduled_at: At most 30 days in the future; a time in the past means now.
            track_opens: Whether opens are tracked; null uses the project's setting.
            track_clicks: Whether clicks are tracked; null uses the project's setting.
            expires_at: The message is not sent after this time; useful for one-time codes.
            unsubscribable: Adds `List-Unsubscribe` with one-click unsubscribing (RFC 8058). Several recipients
                each get a separate message with their own unsubscribe link. Default: `false`.
            require_tls: Whether the message is sent only over TLS, and only to servers with a valid certificate
                that offer REQUIRETLS (RFC 8689). To any other server it bounces: with 5.7.10 if TLS or a valid
                certificate is missing, with 5.7.30 if REQUIRETLS is not offered. Null: the setting of the
                project.
            marketing: Whether it is marketing mail, which needs one-click unsubscribing. Null: not known, so
                that is only advised.
            check_links: Open the links of the message, at most 20, with GET requests. Default: `false`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            RenderingAway
            RenderingBusy
            TemplateCrashed
            TemplateTooExpensive
        """
        return await self._client._call(
            operations.PREFLIGHT_EMAIL,
            (),
            body={
                "to": to,
                "from": from_,
                "subject": subject,
                "html": html,
                "text": text,
                "templateId": template_id,
                "engine": engine,
                "variables": variables,
                "cc": cc,
                "bcc": bcc,
                "replyTo": reply_to,
                "headers": headers,
                "attachments": attachments,
                "tags": tags,
                "scheduledAt": scheduled_at,
                "trackOpens": track_opens,
                "trackClicks": track_clicks,
                "expiresAt": expires_at,
                "unsubscribable": unsubscribable,
                "requireTls": require_tls,
                "marketing": marketing,
                "checkLinks": check_links,
            },
            project=project,
            timeout=timeout,
        )

    def list(
        self,
        *,
        status: Sequence[
            Literal[
                "BOUNCED",
                "CANCELLED",
                "COMPLAINED",
                "DELAYED",
                "DELIVERED",
                "EXPIRED",
                "FAILED",
                "QUEUED",
                "SCHEDULED",
                "SENT",
                "SUPPRESSED",
            ]
            | str
        ]
        | None = None,
        q: str | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        tag: str | None = None,
        campaign_id: str | None = None,
        domain_id: str | None = None,
        recipient: str | None = None,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        count_limit: int | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.EmailLogEntry]:
        """The log of sends, newest first.

        All given filters must match. `status` takes one or several statuses, separated by commas; `q` searches
        recipients, subject and message id. To read more than 10,000 rows, follow `nextCursor` or export the log.

        Permission: `emails:read`.

        Credentials: developer, secret key.

        Args:
            status: One or several statuses, separated by commas.
            q: Part of a recipient (to, cc or bcc), the subject or the message id.
            from_: Only sends that were created at this time or later.
            to: Only sends that were created before this time.
            tag: Only sends with this tag.
            campaign_id: Only the sends of this campaign.
            domain_id: Only sends from this sending domain, by its id.
            recipient: Only sends to exactly this address in to, cc or bcc.
            page: Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further.
            limit: Records per page.
            cursor: The cursor from the previous response, with the same filters.
            count_limit: Count no more than this many records: a `total` of this number means that many or more.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_EMAIL_LOGS,
            (),
            query={
                "status": status,
                "q": q,
                "from": from_,
                "to": to,
                "tag": tag,
                "campaignId": campaign_id,
                "domainId": domain_id,
                "recipient": recipient,
                "page": page,
                "limit": limit,
                "cursor": cursor,
                "countLimit": count_limit,
            },
            project=project,
            timeout=timeout,
        )

    async def export(
        self,
        *,
        status: Sequence[
            Literal[
                "BOUNCED",
                "CANCELLED",
                "COMPLAINED",
                "DELAYED",
                "DELIVERED",
                "EXPIRED",
                "FAILED",
                "QUEUED",
                "SCHEDULED",
                "SENT",
                "SUPPRESSED",
            ]
            | str
        ]
        | None = None,
        q: str | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        tag: str | None = None,
        campaign_id: str | None = None,
        domain_id: str | None = None,
        recipient: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The log of sends as CSV, newest first, with the filters of the list.

        Permission: `emails:read`.

        Credentials: developer, secret key.

        Args:
            status: One or several statuses, separated by commas.
            q: Part of a recipient (to, cc or bcc), the subject or the message id.
            from_: Only sends that were created at this time or later.
            to: Only sends that were created before this time.
            tag: Only sends with this tag.
            campaign_id: Only the sends of this campaign.
            domain_id: Only sends from this sending domain, by its id.
            recipient: Only sends to exactly this address in to, cc or bcc.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.EXPORT_EMAIL_LOGS,
            (),
            query={
                "status": status,
                "q": q,
                "from": from_,
                "to": to,
                "tag": tag,
                "campaignId": campaign_id,
                "domainId": domain_id,
                "recipient": recipient,
            },
            project=project,
            timeout=timeout,
        )

    async def list_hits(
        self,
        send_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.TrackingHit]:
        """The opens and clicks of a send, newest first, each with its classification and the reason for it.

        Permission: `emails:read`.

        Credentials: developer, secret key.

        Args:
            send_id: The send id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            EmailMissing
        """
        return await self._client._call(operations.LIST_EMAIL_HITS, (send_id,), project=project, timeout=timeout)

    async def preview(
        self,
        send_id: str,
        *,
        images: bool | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.MailPreview:
        """Create a URL at which a frame of the dashboard shows the HTML of a send, for 5 minutes.

        The HTML runs no scripts, submits no forms and loads nothing from other servers, unless `images` is true.
        One-time codes and links are replaced by `[removed]`. A preview does not count as an open. The URL stops
        working when the session that has created it ends.

        Permission: `emails:read`.

        Credentials: developer.

        Args:
            send_id: The send id.
            images: Whether to load images of other servers. These servers then learn that, when and where the
                message was read. Default: `false`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContentStoreUnavailable
            EmailMissing
            MessageGone
        """
        return await self._client._call(
            operations.PREVIEW_EMAIL, (send_id,), body={"images": images}, project=project, timeout=timeout
        )


class AsyncEntitlements:
    """The methods of `client.entitlements`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def check(
        self,
        *,
        feature_key: str,
        organization_id: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Entitlement:
        """Check whether an organization can use a feature, up to which limit (null is unlimited), and why.

        An OVERRIDE takes precedence over the PLAN, and the PLAN over the DEFAULT. A feature that is not declared
        is denied with the source NONE. The token of a customer who belongs to one organization implies the
        organization. Without an organization the defaults apply.

        Permission: `entitlements:read`.

        Credentials: customer, developer, secret key.

        Args:
            feature_key: Key of the feature.
            organization_id: May be omitted: with the token of a customer who belongs to one organization, it is
                that organization; otherwise the default of the feature applies. Required with the token of a
                customer who belongs to several organizations.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
        """
        return await self._client._call(
            operations.CHECK_ENTITLEMENT,
            (),
            body={"featureKey": feature_key, "organizationId": organization_id},
            project=project,
            timeout=timeout,
        )

    async def list(
        self,
        organization_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.Entitlement]:
        """List the entitlements of an organization to all declared features, ordered by key.

        Permission: `entitlements:read`.

        Credentials: developer, secret key.

        Args:
            organization_id: The organization id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
        """
        return await self._client._call(
            operations.LIST_ENTITLEMENTS, (organization_id,), project=project, timeout=timeout
        )

    async def set_override(
        self,
        organization_id: str,
        feature_key: str,
        *,
        enabled: bool | NotGiven = NOT_GIVEN,
        limit: int | None | NotGiven = NOT_GIVEN,
        reason: str | None | NotGiven = NOT_GIVEN,
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Entitlement:
        """Set an override for one organization and feature.

        Replaces an existing override.

        An override takes precedence over plan and default until `expiresAt`, or until it is deleted if
        `expiresAt` is null.

        Permission: `entitlements:write`.

        Credentials: developer, secret key.

        Args:
            organization_id: The organization id.
            feature_key: The feature key.
            enabled: Whether it is enabled. Default: `true`.
            limit: Null is unlimited.
            reason: Reason, as text.
            expires_at: When it expires (UTC); null if it does not expire.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            FeatureMissing
            LimitNotTaken
            OrganizationMissing
        """
        return await self._client._call(
            operations.SET_ENTITLEMENT_OVERRIDE,
            (
                organization_id,
                feature_key,
            ),
            body={"enabled": enabled, "limit": limit, "reason": reason, "expiresAt": expires_at},
            project=project,
            timeout=timeout,
        )

    async def delete_override(
        self,
        organization_id: str,
        feature_key: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Entitlement:
        """Delete an override; returns the entitlement that now applies.

        Changes nothing if there is no override.

        Permission: `entitlements:write`.

        Credentials: developer, secret key.

        Args:
            organization_id: The organization id.
            feature_key: The feature key.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            FeatureMissing
            OrganizationMissing
        """
        return await self._client._call(
            operations.DELETE_ENTITLEMENT_OVERRIDE,
            (
                organization_id,
                feature_key,
            ),
            project=project,
            timeout=timeout,
        )


class AsyncEvents:
    """The methods of `client.events`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        type: str | None = None,
        subject_id: str | None = None,
        after: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.Event]:
        """List the events of the project, newest first.

        Filter by `type`: one or several names or groups (`email.*`), comma-separated; and by `subjectId`, the id
        of the record that the events are about.

        `contact` is the contact that an event concerns: the id, and the address unless the contact has been
        deleted.

        To follow new events, give `after`, the id of an event: the events after it are listed, oldest first.
        `after` cannot be combined with `subjectId`. An event can appear a few seconds late, with an id before
        those that you have read: read the last seconds again each time, and ignore the events that you have read
        already.

        Permission: `events:read`.

        Credentials: developer, secret key.

        Args:
            type: Type.
            subject_id: Subject id.
            after: After.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_EVENTS,
            (),
            query={"type": type, "subjectId": subject_id, "after": after, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def record(
        self,
        *,
        name: str,
        contact_id: str | None | NotGiven = NOT_GIVEN,
        email: str | None | NotGiven = NOT_GIVEN,
        data: Mapping[str, Any] | NotGiven = NOT_GIVEN,
        idempotency_key: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomEventResult:
        """Record a custom event: something that happened in your own product.

        It starts automations with an `EVENT` trigger, ends the wait of `WAIT_FOR_EVENT` steps, and is delivered
        to webhooks that subscribe to `custom.<name>` or `custom.*`. `email` identifies the contact, which is
        created if there is none. `data` can have up to 16 KiB. With an `Idempotency-Key` (or `idempotencyKey`),
        repeating the request within 24 hours records nothing and returns the same response; with different
        contents it returns 422.

        Permission: `events:write`.

        Credentials: developer, secret key.

        Args:
            name: Words separated by dots (`order.placed`). Names that begin with `email.`, `contact.` … are
                reserved.
            contact_id: Id of the contact; null if there is none.
            email: Address of the contact concerned; a contact with this address is created if there is none.
            data: Custom data, for automations and webhooks.
            idempotency_key: An event whose key was used within the last 24 hours is not recorded again.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            EventKeyReused
        """
        return await self._client._call(
            operations.RECORD_CUSTOM_EVENT,
            (),
            body={
                "name": name,
                "contactId": contact_id,
                "email": email,
                "data": data,
                "idempotencyKey": idempotency_key,
            },
            project=project,
            timeout=timeout,
        )

    async def record_batch(
        self,
        *,
        events: Sequence[types.CustomEvent | params.CustomEventDict],
        idempotency_key: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.CustomEventBatchResult:
        """Record up to 500 custom events at once: all or none.

        The results are in the order of the request.

        An `Idempotency-Key` applies to each event without an `idempotencyKey`, together with the event's index.
        Events whose key was used within 24 hours are not recorded again.

        Permission: `events:write`.

        Credentials: developer, secret key.

        Args:
            events: The events to record.
            idempotency_key: Makes repetitions of this call safe; one is made if you give none.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            EventKeyReused
        """
        return await self._client._call(
            operations.RECORD_CUSTOM_EVENTS,
            (),
            body={"events": events},
            idempotency_key=idempotency_key,
            project=project,
            timeout=timeout,
        )


class AsyncFeatures:
    """The methods of `client.features`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.Feature]:
        """List the features that the project has declared, newest first.

        Permission: `entitlements:read`.

        Credentials: developer, secret key.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_FEATURES, (), query={"limit": limit, "cursor": cursor}, project=project, timeout=timeout
        )

    async def create(
        self,
        *,
        key: str,
        name: str | None | NotGiven = NOT_GIVEN,
        type: Literal["BOOLEAN", "LIMIT"] | str | NotGiven = NOT_GIVEN,
        default_enabled: bool | NotGiven = NOT_GIVEN,
        default_limit: int | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Feature:
        """Declare a feature: BOOLEAN is on or off, LIMIT is on up to a limit (null is unlimited).

        The defaults apply to organizations whose plan and overrides do not set the feature.

        Permission: `entitlements:write`.

        Credentials: developer, secret key.

        Args:
            key: A key for programs: letters, digits, `_`, `.`, `:` and `-`, beginning with a letter: `sso`.
            name: Defaults to the key.
            type: Type of the record. Default: `"BOOLEAN"`.
            default_enabled: Whether organizations without a plan have the feature. Default: `false`.
            default_limit: Limit for organizations without a plan; null for unlimited.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            FeatureExists
            LimitNotTaken
            TooManyFeatures
        """
        return await self._client._call(
            operations.CREATE_FEATURE,
            (),
            body={
                "key": key,
                "name": name,
                "type": type,
                "defaultEnabled": default_enabled,
                "defaultLimit": default_limit,
            },
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        key: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Feature:
        """Get a feature by its key.

        Permission: `entitlements:read`.

        Credentials: developer, secret key.

        Args:
            key: The key.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            FeatureMissing
        """
        return await self._client._call(operations.GET_FEATURE, (key,), project=project, timeout=timeout)

    async def update(
        self,
        key: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        default_enabled: bool | NotGiven = NOT_GIVEN,
        default_limit: int | None | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Feature:
        """Change the name or the defaults of a feature.

        The change applies from the next check on. Honours `If-Match`.

        Permission: `entitlements:write`.

        Credentials: developer, secret key.

        Args:
            key: The key.
            name: A display name: one line of text, not only blanks.
            default_enabled: Whether organizations without a plan have the feature.
            default_limit: Limit for organizations without a plan; null for unlimited.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            FeatureMissing
            LimitNotTaken
        """
        return await self._client._call(
            operations.CHANGE_FEATURE,
            (key,),
            body={"name": name, "defaultEnabled": default_enabled, "defaultLimit": default_limit},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        key: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Delete a feature and its entries in plans and overrides.

        Later checks of the feature are denied.

        Honours `If-Match`.

        Permission: `entitlements:write`.

        Credentials: developer, secret key.

        Args:
            key: The key.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            FeatureMissing
        """
        return await self._client._call(
            operations.DELETE_FEATURE, (key,), if_match=if_match, project=project, timeout=timeout
        )


class AsyncInbound:
    """The methods of `client.inbound`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    @cached_property
    def routes(self) -> AsyncInboundRoutes:
        """Methods of `client.inbound.routes`."""
        return AsyncInboundRoutes(self._client)

    async def receive_report(
        self,
        *,
        data: AsyncContent,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.ReportReceipt:
        """Process a bounce or a complaint that another mail server received: the body is the message (RFC 5322).

        The e-mail is found by its return path, which is in the addresses of the message or in the original
        message, or else by its `Message-ID`. A message that is not understood, or names no e-mail of the
        project, is kept for 30 days. Repeating the same report changes nothing.

        Permission: `emails:write`.

        Credentials: developer, secret key.

        Args:
            data: The content.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SendInTransmission
        """
        return await self._client._call(operations.RECEIVE_REPORT, (), data=data, project=project, timeout=timeout)

    def list_unrecognized(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.UnrecognizedMessage]:
        """List the messages about e-mail that were not understood, newest first: at most 100, of the last 30 days.

        Permission: `emails:read`.

        Credentials: developer, secret key.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_UNRECOGNIZED_REPORTS,
            (),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def get_unrecognized(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> bytes:
        """Download a message that was not understood as an `.eml` file: its first 262,144 octets.

        Permission: `emails:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ReportMissing
        """
        return await self._client._call(operations.GET_UNRECOGNIZED_REPORT, (id,), project=project, timeout=timeout)

    def list(
        self,
        *,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        recipient: str | None = None,
        sender: str | None = None,
        route_id: str | None = None,
        email_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.InboundSummary]:
        """List the received messages, newest first, without their content.

        All given filters must match.

        Messages are deleted after the project's setting `inboundRetentionDays`, by default 30 days.

        Permission: `inbound:read`.

        Credentials: developer, secret key.

        Args:
            from_: Only messages that were received at this time or later.
            to: Only messages that were received before this time.
            recipient: Only messages to exactly this address in the envelope, in any letter case.
            sender: Only messages with this address in From, in any letter case.
            route_id: Only messages to this route.
            email_id: Only replies to this e-mail.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_INBOUND_MESSAGES,
            (),
            query={
                "from": from_,
                "to": to,
                "recipient": recipient,
                "sender": sender,
                "routeId": route_id,
                "emailId": email_id,
                "limit": limit,
                "cursor": cursor,
            },
            project=project,
            timeout=timeout,
        )

    async def add(
        self,
        *,
        data: AsyncContent,
        recipients: Sequence[str] | None = None,
        sender: str | None = None,
        client_ip: str | None = None,
        client_name: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.InboundReceipt:
        """Add a message that another mail server received: the body is the message (RFC 5322).

        It is stored as if it had arrived here, for the recipients that have a route of the project. Adding the
        same message for the same recipients again changes nothing. For bounces and complaints, use
        `…/inbound/reports`.

        Permission: `inbound:write`.

        Credentials: developer, secret key.

        Args:
            data: The content.
            recipients: The recipients in the envelope, separated by commas. By default, those in the header.
            sender: The envelope sender, for SPF; empty for the null reverse-path.
            client_ip: The IP address of the client, for SPF; without it, SPF has no result.
            client_name: The name that the client gave in EHLO, for SPF.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            InboundMailboxFull
            InboundMessageLoops
            NoInboundRoute
        """
        return await self._client._call(
            operations.ADD_INBOUND_MESSAGE,
            (),
            query={"recipients": recipients, "sender": sender, "clientIp": client_ip, "clientName": client_name},
            data=data,
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.InboundMessage:
        """Get a received message: header, addresses, texts, attachments, and how it was authenticated.

        Malformed parts are shown as far as they can be read; `notices` lists what could not be read. `html` is
        as it arrived: sanitize it before you show it.

        Permission: `inbound:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContentStoreUnavailable
            InboundMessageMissing
            MessageGone
        """
        return await self._client._call(operations.GET_INBOUND_MESSAGE, (id,), project=project, timeout=timeout)

    async def delete(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete a received message, and its data in the event `inbound.received`.

        Permission: `inbound:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            InboundMessageMissing
        """
        return await self._client._call(operations.DELETE_INBOUND_MESSAGE, (id,), project=project, timeout=timeout)

    async def get_raw(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> bytes:
        """Download a received message, octet for octet, as an `.eml` file.

        Permission: `inbound:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContentStoreUnavailable
            InboundMessageMissing
            MessageGone
        """
        return await self._client._call(operations.GET_INBOUND_RAW, (id,), project=project, timeout=timeout)

    async def get_attachment(
        self,
        id: str,
        number: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> bytes:
        """Download an attachment by its `id`.

        The sender chose the content: check it before you use it.

        Permission: `inbound:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            number: The number.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ContentStoreUnavailable
            InboundAttachmentMissing
            InboundMessageMissing
            MessageGone
        """
        return await self._client._call(
            operations.GET_INBOUND_MESSAGE_ATTACHMENT,
            (
                id,
                number,
            ),
            project=project,
            timeout=timeout,
        )


class AsyncInbox:
    """The methods of `client.inbox`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        q: str | None = None,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.CapturedMessage]:
        """Captured messages, newest first.

        `q` searches subject and recipients.

        Permission: `inbox:read`.

        Credentials: developer, secret key.

        Args:
            q: Q.
            page: Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further.
            limit: Records per page.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_INBOX,
            (),
            query={"q": q, "page": page, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.InboxMessage:
        """A captured message with its headers, html, text and attachments.

        One-time codes and links (sign-in codes, password resets, invitations) are replaced by `[removed]`, and
        `redacted` is true, unless the caller has the permission `customers:impersonate`. Owners and admins have
        it, and API keys to which it was granted.

        Permission: `inbox:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CapturedMissing
        """
        return await self._client._call(operations.GET_INBOX_MESSAGE, (id,), project=project, timeout=timeout)

    async def delete(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete a captured message.

        The e-mail stays in the e-mail log.

        Permission: `emails:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CapturedMissing
        """
        return await self._client._call(operations.DELETE_INBOX_MESSAGE, (id,), project=project, timeout=timeout)

    async def get_raw(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> bytes:
        """A captured message as an `.eml` file.

        One-time codes and links are removed unless the caller has the permission `customers:impersonate`.

        Permission: `inbox:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CapturedMissing
        """
        return await self._client._call(operations.GET_INBOX_RAW, (id,), project=project, timeout=timeout)

    async def get_attachment(
        self,
        id: str,
        number: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> bytes:
        """An attachment by its number, as a download.

        Permission: `inbox:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            number: The number.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CapturedMissing
        """
        return await self._client._call(
            operations.GET_INBOX_ATTACHMENT,
            (
                id,
                number,
            ),
            project=project,
            timeout=timeout,
        )

    async def preview(
        self,
        id: str,
        *,
        images: bool | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.MailPreview:
        """Create a URL at which a frame of the dashboard shows the HTML of a captured message, for 5 minutes.

        The HTML runs no scripts, submits no forms and loads nothing from other servers, unless `images` is true.
        One-time codes and links are replaced by `[removed]`, unless the caller has the permission
        `customers:impersonate`. A preview does not count as an open. The URL stops working when the session that
        has created it ends.

        Permission: `inbox:read`.

        Credentials: developer.

        Args:
            id: The id.
            images: Whether to load images of other servers. These servers then learn that, when and where the
                message was read. Default: `false`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CapturedMissing
        """
        return await self._client._call(
            operations.PREVIEW_INBOX_MESSAGE, (id,), body={"images": images}, project=project, timeout=timeout
        )


class AsyncOauth:
    """The methods of `client.oauth`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def register_client(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Register a client by itself (RFC 7591), if the project's `signIn.clientRegistration` allows it.

        Takes a JSON object with `redirect_uris`, and optionally `client_name`, `token_endpoint_auth_method`
        (`none`, `client_secret_basic`, `client_secret_post` or `private_key_jwt`, with `jwks` or `jwks_uri`),
        `grant_types`, `response_types`, `scope`, `client_uri`, `policy_uri`, `tos_uri`,
        `dpop_bound_access_tokens` and `id_token_signed_response_alg` (`RS256`, which is the default, or
        `ES256`); other members are ignored. With `TOKEN`, an initial access token in the `Authorization` header
        is required. The response has what was registered. The client uses the authorization code flow with PKCE,
        customers are asked for their consent, and it is deleted if it is not used for 45 days, or on the first
        day.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.REGISTER_OAUTH_CLIENT, (), project=project, timeout=timeout)

    async def get_configuration(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """The metadata of the project's OpenID provider (OpenID Connect Discovery 1.0 §4).

        The metadata of the project's OpenID provider (OpenID Connect Discovery 1.0 §4)

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.GET_OPENID_CONFIGURATION, (), project=project, timeout=timeout)

    async def get_server_metadata(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """The metadata of the project's authorization server at the path of RFC 8414 §3.1: the same as those of
        OpenID Connect.

        The metadata of the project's authorization server at the path of RFC 8414 §3.1: the same as those of
        OpenID Connect

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.GET_AUTHORIZATION_SERVER_METADATA, (), project=project, timeout=timeout
        )

    async def authorize(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The authorization endpoint of the project's OpenID provider (RFC 6749 §3.1, OpenID Connect Core §3.1.2).

        Takes the parameters of the form of the same path in the query. Signs the customer in on the hosted pages
        if needed, asks for consent if needed, and redirects to the client's `redirect_uri` with `code`, `state`
        and `iss`, or with `error`. PKCE with S256 is required. A wrong `client_id` or `redirect_uri` is shown
        and not redirected.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.AUTHORIZE, (), project=project, timeout=timeout)

    async def submit_authorization(
        self,
        *,
        client_id: str | NotGiven = NOT_GIVEN,
        redirect_uri: str | NotGiven = NOT_GIVEN,
        response_type: str | NotGiven = NOT_GIVEN,
        response_mode: str | NotGiven = NOT_GIVEN,
        scope: str | NotGiven = NOT_GIVEN,
        resource: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        nonce: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        code_challenge_method: str | NotGiven = NOT_GIVEN,
        dpop_jkt: str | NotGiven = NOT_GIVEN,
        request_uri: str | NotGiven = NOT_GIVEN,
        prompt: str | NotGiven = NOT_GIVEN,
        acr_values: str | NotGiven = NOT_GIVEN,
        claims: str | NotGiven = NOT_GIVEN,
        max_age: str | NotGiven = NOT_GIVEN,
        login_hint: str | NotGiven = NOT_GIVEN,
        id_token_hint: str | NotGiven = NOT_GIVEN,
        ui_locales: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The authorization endpoint for clients that post their parameters.

        Redirects to the GET operation, because browsers send the cookies of this server, which are SameSite=Lax,
        only with that one.

        Args:
            client_id: Id of the client.
            redirect_uri: Where the response goes; one of the client's `redirectUris`.
            response_type: `code`.
            response_mode: `query` (default) or `form_post`.
            scope: Scopes, separated by spaces.
            resource: Identifier of the API for which the access token is (RFC 8707).
            state: Value of the client, returned unchanged.
            nonce: Value of the client, returned in the ID token.
            code_challenge: S256 code challenge (RFC 7636); required.
            code_challenge_method: `S256`.
            dpop_jkt: Thumbprint of the key to which the code is bound (RFC 9449 §10).
            request_uri: That of a pushed authorization request (RFC 9126), instead of all parameters except
                `client_id`.
            prompt: `none`, or `login`, `consent`, `select_account` or `create`.
            acr_values: Levels of authentication, the preferred one first, separated by spaces; see
                `acr_values_supported`.
            claims: JSON object of claims; it can make `acr` of the ID token essential.
            max_age: Maximum age of the sign-in, in seconds.
            login_hint: E-mail address to enter into the sign-in page.
            id_token_hint: ID token of the customer who should be signed in.
            ui_locales: Preferred languages of the pages, separated by spaces, such as `de en`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.AUTHORIZE_BY_FORM,
            (),
            body={
                "client_id": client_id,
                "redirect_uri": redirect_uri,
                "response_type": response_type,
                "response_mode": response_mode,
                "scope": scope,
                "resource": resource,
                "state": state,
                "nonce": nonce,
                "code_challenge": code_challenge,
                "code_challenge_method": code_challenge_method,
                "dpop_jkt": dpop_jkt,
                "request_uri": request_uri,
                "prompt": prompt,
                "acr_values": acr_values,
                "claims": claims,
                "max_age": max_age,
                "login_hint": login_hint,
                "id_token_hint": id_token_hint,
                "ui_locales": ui_locales,
            },
            project=project,
            timeout=timeout,
        )

    async def continue_authorization(
        self,
        *,
        state: str | None = None,
        code: str | None = None,
        error: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Where the hosted sign-in pages return to.

        Remembers the session in a cookie, ends the one that the browser had before, and continues the
        authorization request whose token is `state`.

        Args:
            state: State.
            code: Code.
            error: Error.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.CONTINUE_AUTHORIZATION,
            (),
            query={"state": state, "code": code, "error": error},
            project=project,
            timeout=timeout,
        )

    async def resume_authorization(
        self,
        *,
        token: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Continue a stored authorization request after the sign-in: ask for consent, or return to the client.

        Continue a stored authorization request after the sign-in: ask for consent, or return to the client

        Args:
            token: Token.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.RESUME_AUTHORIZATION, (), query={"token": token}, project=project, timeout=timeout
        )

    async def submit_consent(
        self,
        *,
        token: str | NotGiven = NOT_GIVEN,
        session: str | NotGiven = NOT_GIVEN,
        decision: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The form of the consent page: allow the client its scopes, and return to it with a code; or with the
        error `access_denied`.

        The form of the consent page: allow the client its scopes, and return to it with a code; or with the
        error `access_denied`

        Args:
            token: Token of the authorization request, from the consent page.
            session: Id of the session that the consent page was shown to.
            decision: `allow`; anything else denies.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.DECIDE_CONSENT,
            (),
            body={"token": token, "session": session, "decision": decision},
            project=project,
            timeout=timeout,
        )

    async def submit_step_up(
        self,
        *,
        token: str | NotGiven = NOT_GIVEN,
        session: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        decision: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The form of the page that asks for a second factor or a passkey: authenticate again in the session of the
        browser, and go on with the authorization request.

        The session stays the same.

        Args:
            token: Token of the authorization request, from the page.
            session: Id of the session that the page was shown to.
            code: Code of the authenticator app, or a recovery code.
            challenge_id: Id of the challenge for the passkey.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            decision: `cancel` to return to the client without.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            RefreshTokenInvalid
            SignInFailed
            SignInLocked
            StepUpMethodNotAllowed
        """
        return await self._client._call(
            operations.STEP_UP_BY_PAGE,
            (),
            body={
                "token": token,
                "session": session,
                "code": code,
                "challengeId": challenge_id,
                "credential": credential,
                "decision": decision,
            },
            project=project,
            timeout=timeout,
        )

    async def passkey_options_for_step_up(
        self,
        *,
        token: str | NotGiven = NOT_GIVEN,
        session: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        decision: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.PasskeyOptions:
        """WebAuthn options for the script of the page: for a passkey of the customer who is signed in.

        WebAuthn options for the script of the page: for a passkey of the customer who is signed in

        Args:
            token: Token of the authorization request, from the page.
            session: Id of the session that the page was shown to.
            code: Code of the authenticator app, or a recovery code.
            challenge_id: Id of the challenge for the passkey.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            decision: `cancel` to return to the client without.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            StepUpMethodNotAllowed
        """
        return await self._client._call(
            operations.PASSKEY_OPTIONS_FOR_STEP_UP,
            (),
            body={
                "token": token,
                "session": session,
                "code": code,
                "challengeId": challenge_id,
                "credential": credential,
                "decision": decision,
            },
            project=project,
            timeout=timeout,
        )

    async def create_tokens(
        self,
        *,
        grant_type: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        device_code: str | NotGiven = NOT_GIVEN,
        redirect_uri: str | NotGiven = NOT_GIVEN,
        code_verifier: str | NotGiven = NOT_GIVEN,
        refresh_token: str | NotGiven = NOT_GIVEN,
        scope: str | NotGiven = NOT_GIVEN,
        resource: str | NotGiven = NOT_GIVEN,
        client_id: str | NotGiven = NOT_GIVEN,
        client_secret: str | NotGiven = NOT_GIVEN,
        client_assertion_type: str | NotGiven = NOT_GIVEN,
        client_assertion: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """The token endpoint (RFC 6749 §3.2).

        A CONFIDENTIAL client authenticates with its secret, in the `Authorization` header
        (`client_secret_basic`) or the form (`client_secret_post`), or with its key (`private_key_jwt`); a PUBLIC
        client sends only `client_id`. A code works once, within 60 seconds, with the code verifier; if it is
        used again, the tokens that were issued for it are revoked. A refresh token works once: within 30 seconds
        it returns the same next one again, later its use revokes all tokens of the sign-in. With a proof in the
        header `DPoP` (RFC 9449), the access token is bound to the client's key, and so is the refresh token of a
        PUBLIC client. The proof needs the nonce of the header `DPoP-Nonce`, which each response to a proof has;
        without one, the error is `use_dpop_nonce`. Errors are those of RFC 6749 §5.2.

        Args:
            grant_type: `authorization_code`, `refresh_token`, `client_credentials` or
                `urn:ietf:params:oauth:grant-type:device_code`.
            code: Authorization code.
            device_code: Device code (RFC 8628).
            redirect_uri: The same `redirect_uri` as in the authorization request.
            code_verifier: Code verifier (RFC 7636).
            refresh_token: Refresh token.
            scope: Scopes, separated by spaces; fewer than were granted with `refresh_token`.
            resource: Identifier of the API for which the token is (RFC 8707); with a code or a refresh token,
                that of the authorization request, or left out.
            client_id: Id of the client, unless the `Authorization` header or the assertion has it.
            client_secret: Secret of the client, unless the `Authorization` header has it.
            client_assertion_type: `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, if the client
                authenticates with a key.
            client_assertion: JWT that the client has signed with its key (RFC 7523).
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.ISSUE_OAUTH_TOKENS,
            (),
            body={
                "grant_type": grant_type,
                "code": code,
                "device_code": device_code,
                "redirect_uri": redirect_uri,
                "code_verifier": code_verifier,
                "refresh_token": refresh_token,
                "scope": scope,
                "resource": resource,
                "client_id": client_id,
                "client_secret": client_secret,
                "client_assertion_type": client_assertion_type,
                "client_assertion": client_assertion,
            },
            project=project,
            timeout=timeout,
        )

    async def push_authorization(
        self,
        *,
        client_id: str | NotGiven = NOT_GIVEN,
        redirect_uri: str | NotGiven = NOT_GIVEN,
        response_type: str | NotGiven = NOT_GIVEN,
        response_mode: str | NotGiven = NOT_GIVEN,
        scope: str | NotGiven = NOT_GIVEN,
        resource: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        nonce: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        code_challenge_method: str | NotGiven = NOT_GIVEN,
        dpop_jkt: str | NotGiven = NOT_GIVEN,
        request_uri: str | NotGiven = NOT_GIVEN,
        prompt: str | NotGiven = NOT_GIVEN,
        acr_values: str | NotGiven = NOT_GIVEN,
        claims: str | NotGiven = NOT_GIVEN,
        max_age: str | NotGiven = NOT_GIVEN,
        login_hint: str | NotGiven = NOT_GIVEN,
        id_token_hint: str | NotGiven = NOT_GIVEN,
        ui_locales: str | NotGiven = NOT_GIVEN,
        client_secret: str | NotGiven = NOT_GIVEN,
        client_assertion_type: str | NotGiven = NOT_GIVEN,
        client_assertion: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Push the parameters of an authorization request from the client's server (RFC 9126).

        Send the browser to the authorization endpoint with only `client_id` and the `request_uri` that is
        returned, within 90 seconds; it works once. So nobody can change the parameters in the browser.

        Args:
            client_id: Id of the client, unless the `Authorization` header or the assertion has it.
            redirect_uri: Where the response goes; one of the client's `redirectUris`.
            response_type: `code`.
            response_mode: `query` (default) or `form_post`.
            scope: Scopes, separated by spaces.
            resource: Identifier of the API for which the access token is (RFC 8707).
            state: Value of the client, returned unchanged.
            nonce: Value of the client, returned in the ID token.
            code_challenge: S256 code challenge (RFC 7636); required.
            code_challenge_method: `S256`.
            dpop_jkt: Thumbprint of the key to which the code is bound (RFC 9449 §10).
            request_uri: That of a pushed authorization request (RFC 9126), instead of all parameters except
                `client_id`.
            prompt: `none`, or `login`, `consent`, `select_account` or `create`.
            acr_values: Levels of authentication, the preferred one first, separated by spaces; see
                `acr_values_supported`.
            claims: JSON object of claims; it can make `acr` of the ID token essential.
            max_age: Maximum age of the sign-in, in seconds.
            login_hint: E-mail address to enter into the sign-in page.
            id_token_hint: ID token of the customer who should be signed in.
            ui_locales: Preferred languages of the pages, separated by spaces, such as `de en`.
            client_secret: Secret of the client, unless the `Authorization` header has it.
            client_assertion_type: `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, if the client
                authenticates with a key.
            client_assertion: JWT that the client has signed with its key (RFC 7523).
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.PUSH_AUTHORIZATION_REQUEST,
            (),
            body={
                "client_id": client_id,
                "redirect_uri": redirect_uri,
                "response_type": response_type,
                "response_mode": response_mode,
                "scope": scope,
                "resource": resource,
                "state": state,
                "nonce": nonce,
                "code_challenge": code_challenge,
                "code_challenge_method": code_challenge_method,
                "dpop_jkt": dpop_jkt,
                "request_uri": request_uri,
                "prompt": prompt,
                "acr_values": acr_values,
                "claims": claims,
                "max_age": max_age,
                "login_hint": login_hint,
                "id_token_hint": id_token_hint,
                "ui_locales": ui_locales,
                "client_secret": client_secret,
                "client_assertion_type": client_assertion_type,
                "client_assertion": client_assertion,
            },
            project=project,
            timeout=timeout,
        )

    async def revoke_token(
        self,
        *,
        token: str | NotGiven = NOT_GIVEN,
        token_type_hint: str | NotGiven = NOT_GIVEN,
        client_id: str | NotGiven = NOT_GIVEN,
        client_secret: str | NotGiven = NOT_GIVEN,
        client_assertion_type: str | NotGiven = NOT_GIVEN,
        client_assertion: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Revoke a refresh token or an access token (RFC 7009), and with it all tokens of the same sign-in.

        The response is 200 also for tokens that are unknown, expired or those of another client. Access tokens
        of `client_credentials` cannot be revoked (`unsupported_token_type`): they are valid for ten minutes.

        Args:
            token: The token.
            token_type_hint: `access_token` or `refresh_token`; not needed.
            client_id: Id of the client, unless the `Authorization` header or the assertion has it.
            client_secret: Secret of the client, unless the `Authorization` header has it.
            client_assertion_type: `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, if the client
                authenticates with a key.
            client_assertion: JWT that the client has signed with its key (RFC 7523).
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.REVOKE_OAUTH_TOKEN,
            (),
            body={
                "token": token,
                "token_type_hint": token_type_hint,
                "client_id": client_id,
                "client_secret": client_secret,
                "client_assertion_type": client_assertion_type,
                "client_assertion": client_assertion,
            },
            project=project,
            timeout=timeout,
        )

    async def introspect_token(
        self,
        *,
        token: str | NotGiven = NOT_GIVEN,
        token_type_hint: str | NotGiven = NOT_GIVEN,
        client_id: str | NotGiven = NOT_GIVEN,
        client_secret: str | NotGiven = NOT_GIVEN,
        client_assertion_type: str | NotGiven = NOT_GIVEN,
        client_assertion: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Whether a token is valid now, and its claims (RFC 7662).

        Only for CONFIDENTIAL clients.

        A `firstParty` client gets the state of the access tokens of all clients of its environment, because it
        may be an API of the project; others get that of their own tokens. Tokens that are for an API
        (`resource`) have a state only for the API's `introspectionClientId` and for their own client. The
        session, the customer's ban and the client are read at every request. An API may ask as often as with an
        API key: the limit is that of the project.

        Args:
            token: The token.
            token_type_hint: `access_token` or `refresh_token`; not needed.
            client_id: Id of the client, unless the `Authorization` header or the assertion has it.
            client_secret: Secret of the client, unless the `Authorization` header has it.
            client_assertion_type: `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, if the client
                authenticates with a key.
            client_assertion: JWT that the client has signed with its key (RFC 7523).
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.INTROSPECT_OAUTH_TOKEN,
            (),
            body={
                "token": token,
                "token_type_hint": token_type_hint,
                "client_id": client_id,
                "client_secret": client_secret,
                "client_assertion_type": client_assertion_type,
                "client_assertion": client_assertion,
            },
            project=project,
            timeout=timeout,
        )

    async def get_userinfo(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """The claims about the customer that the scopes of an access token allow (OpenID Connect Core §5.3).

        Send the access token as `Authorization: Bearer …`; one that is bound to a key as `Authorization: DPoP
        …`, with a proof in the header `DPoP` (RFC 9449 §7.1). It needs the scope `openid`.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.GET_USERINFO, (), project=project, timeout=timeout)

    async def submit_userinfo(
        self,
        *,
        access_token: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Like the GET operation; the access token may also be in the form (RFC 6750 §2.2).

        Like the GET operation; the access token may also be in the form (RFC 6750 §2.2)

        Args:
            access_token: The access token, unless the `Authorization` header has it.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.POST_USERINFO, (), body={"access_token": access_token}, project=project, timeout=timeout
        )

    async def authorize_device(
        self,
        *,
        scope: str | NotGiven = NOT_GIVEN,
        resource: str | NotGiven = NOT_GIVEN,
        client_id: str | NotGiven = NOT_GIVEN,
        client_secret: str | NotGiven = NOT_GIVEN,
        client_assertion_type: str | NotGiven = NOT_GIVEN,
        client_assertion: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Begin the sign-in of a device (RFC 8628 §3.1).

        Show `user_code` and `verification_uri`, or a QR code of `verification_uri_complete`, and ask the token
        endpoint for the tokens every `interval` seconds with `grant_type=urn:ietf:params:oauth:grant-
        type:device_code` and `device_code`, until they arrive or the code expires after ten minutes.

        Args:
            scope: Scopes, separated by spaces.
            resource: Identifier of the API for which the access token is (RFC 8707).
            client_id: Id of the client, unless the `Authorization` header or the assertion has it.
            client_secret: Secret of the client, unless the `Authorization` header has it.
            client_assertion_type: `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, if the client
                authenticates with a key.
            client_assertion: JWT that the client has signed with its key (RFC 7523).
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.AUTHORIZE_DEVICE,
            (),
            body={
                "scope": scope,
                "resource": resource,
                "client_id": client_id,
                "client_secret": client_secret,
                "client_assertion_type": client_assertion_type,
                "client_assertion": client_assertion,
            },
            project=project,
            timeout=timeout,
        )

    async def show_device_page(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The page on which a customer enters the code that a device shows.

        The query may have it as `user_code`.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.DEVICE_PAGE, (), project=project, timeout=timeout)

    async def submit_device_code(
        self,
        *,
        user_code: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The form of that page: go on to the sign-in and the consent page.

        The form of that page: go on to the sign-in and the consent page

        Args:
            user_code: The code that the device shows.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.ENTER_DEVICE_CODE, (), body={"user_code": user_code}, project=project, timeout=timeout
        )

    async def sign_out(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The end-session endpoint.

        Takes the parameters of the form of the same path in the query.

        With an `id_token_hint` of the present session, it ends at once; otherwise a page asks the customer, and
        the session of the hint ends too. Then the browser goes to `post_logout_redirect_uri` with `state`, or
        sees a notice. A URI that is not registered is refused.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.END_OAUTH_SESSION, (), project=project, timeout=timeout)

    async def submit_sign_out(
        self,
        *,
        id_token_hint: str | NotGiven = NOT_GIVEN,
        client_id: str | NotGiven = NOT_GIVEN,
        post_logout_redirect_uri: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The end-session endpoint for clients that post their parameters.

        Redirects to the GET operation, with which browsers send the cookie of the session.

        Args:
            id_token_hint: An ID token of the session to end.
            client_id: Id of the client, if `id_token_hint` is not sent.
            post_logout_redirect_uri: Where the browser goes afterwards; one of the client's
                `postLogoutRedirectUris`.
            state: Value of the client, returned unchanged.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.END_OAUTH_SESSION_BY_FORM,
            (),
            body={
                "id_token_hint": id_token_hint,
                "client_id": client_id,
                "post_logout_redirect_uri": post_logout_redirect_uri,
                "state": state,
            },
            project=project,
            timeout=timeout,
        )

    async def confirm_sign_out(
        self,
        *,
        id_token_hint: str | NotGiven = NOT_GIVEN,
        client_id: str | NotGiven = NOT_GIVEN,
        post_logout_redirect_uri: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        session: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The form of the page that asks whether to sign out: end the session of the browser, and that of the
        `id_token_hint`.

        If the browser has another session than the page was shown to, the customer is asked again.

        Args:
            id_token_hint: An ID token of the session to end.
            client_id: Id of the client, if `id_token_hint` is not sent.
            post_logout_redirect_uri: Where the browser goes afterwards; one of the client's
                `postLogoutRedirectUris`.
            state: Value of the client, returned unchanged.
            session: Id of the session that the page was shown to.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.CONFIRM_LOGOUT,
            (),
            body={
                "id_token_hint": id_token_hint,
                "client_id": client_id,
                "post_logout_redirect_uri": post_logout_redirect_uri,
                "state": state,
                "session": session,
            },
            project=project,
            timeout=timeout,
        )


class AsyncOauthClients:
    """The methods of `client.oauth_clients`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.OAuthClient]:
        """List the clients of the project's OpenID provider, newest first.

        A TEST key gets only TEST clients.

        Permission: `projects:read`.

        Credentials: developer, secret key.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_OAUTH_CLIENTS,
            (),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        *,
        name: str,
        type: Literal["CONFIDENTIAL", "PUBLIC"] | str | NotGiven = NOT_GIVEN,
        environment: Literal["LIVE", "TEST"] | str | None | NotGiven = NOT_GIVEN,
        first_party: bool | NotGiven = NOT_GIVEN,
        redirect_uris: Sequence[str] | NotGiven = NOT_GIVEN,
        post_logout_redirect_uris: Sequence[str] | NotGiven = NOT_GIVEN,
        grant_types: Sequence[
            Literal[
                "authorization_code",
                "client_credentials",
                "refresh_token",
                "urn:ietf:params:oauth:grant-type:device_code",
            ]
            | str
        ]
        | NotGiven = NOT_GIVEN,
        scopes: Sequence[str] | NotGiven = NOT_GIVEN,
        website_url: str | None | NotGiven = NOT_GIVEN,
        privacy_url: str | None | NotGiven = NOT_GIVEN,
        terms_url: str | None | NotGiven = NOT_GIVEN,
        backchannel_logout_uri: str | None | NotGiven = NOT_GIVEN,
        require_dpop: bool | NotGiven = NOT_GIVEN,
        jwks: types.JsonWebKeys | params.JsonWebKeysDict | None | NotGiven = NOT_GIVEN,
        jwks_uri: str | None | NotGiven = NOT_GIVEN,
        security_profile: Literal["FAPI2", "STANDARD"] | str | NotGiven = NOT_GIVEN,
        id_token_signing_alg: Literal["ES256", "RS256"] | str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OAuthClientWithSecret:
        """Register a client of the project's OpenID provider.

        The response has its `clientSecret`, which is returned only here and by a rotation; a PUBLIC client has
        none, and neither has one with `jwks` or `jwksUri`. Customers are asked whether they allow the client its
        scopes, unless it is `firstParty`. For a PUBLIC client with a redirect URI that another app could take,
        they are asked each time. A TEST key can register only TEST clients.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            name: Name of the client, shown to customers.
            type: CONFIDENTIAL for an app on a server, which gets a secret; PUBLIC for one in a browser or on a
                device. Default: `"CONFIDENTIAL"`.
            environment: Default: that of the API key, or LIVE.
            first_party: Whether the client belongs to the project: then customers are not asked for their
                consent. Default: `false`.
            redirect_uris: Required for `authorization_code`.
            post_logout_redirect_uris: Where the browser may go after it has signed out; compared exactly.
            grant_types: How the client may get tokens.
            scopes: The scopes that the client may get: standard ones, and permissions that the project has
                declared.
            website_url: The website of the client, shown to customers.
            privacy_url: The privacy policy of the client, shown to customers.
            terms_url: The terms of service of the client, shown to customers.
            backchannel_logout_uri: Where the client is told that a session has ended (OpenID Connect Back-
                Channel Logout).
            require_dpop: Whether the client gets only access tokens that are bound to its key (DPoP, RFC 9449).
                Default: `false`.
            jwks: The public keys with which a CONFIDENTIAL client authenticates (`private_key_jwt`), instead of
                a secret.
            jwks_uri: Where the client publishes these keys instead, so that it can replace them.
            security_profile: FAPI2 refuses what the FAPI 2.0 Security Profile does not allow: the client needs a
                key and `requireDpop`, and pushes its requests. Default: `"STANDARD"`.
            id_token_signing_alg: How ID tokens and logout tokens of the client are signed: ES256, or RS256 for
                programs that know nothing else. Default: `"ES256"`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            TooManyOauthClients
        """
        return await self._client._call(
            operations.CREATE_OAUTH_CLIENT,
            (),
            body={
                "name": name,
                "type": type,
                "environment": environment,
                "firstParty": first_party,
                "redirectUris": redirect_uris,
                "postLogoutRedirectUris": post_logout_redirect_uris,
                "grantTypes": grant_types,
                "scopes": scopes,
                "websiteUrl": website_url,
                "privacyUrl": privacy_url,
                "termsUrl": terms_url,
                "backchannelLogoutUri": backchannel_logout_uri,
                "requireDpop": require_dpop,
                "jwks": jwks,
                "jwksUri": jwks_uri,
                "securityProfile": security_profile,
                "idTokenSigningAlg": id_token_signing_alg,
            },
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OAuthClient:
        """Get a client, without its secret.

        Permission: `projects:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OauthClientMissing
        """
        return await self._client._call(operations.GET_OAUTH_CLIENT, (id,), project=project, timeout=timeout)

    async def update(
        self,
        id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        first_party: bool | NotGiven = NOT_GIVEN,
        redirect_uris: Sequence[str] | NotGiven = NOT_GIVEN,
        post_logout_redirect_uris: Sequence[str] | NotGiven = NOT_GIVEN,
        grant_types: Sequence[
            Literal[
                "authorization_code",
                "client_credentials",
                "refresh_token",
                "urn:ietf:params:oauth:grant-type:device_code",
            ]
            | str
        ]
        | NotGiven = NOT_GIVEN,
        scopes: Sequence[str] | NotGiven = NOT_GIVEN,
        website_url: str | None | NotGiven = NOT_GIVEN,
        privacy_url: str | None | NotGiven = NOT_GIVEN,
        terms_url: str | None | NotGiven = NOT_GIVEN,
        backchannel_logout_uri: str | None | NotGiven = NOT_GIVEN,
        require_dpop: bool | NotGiven = NOT_GIVEN,
        jwks: types.JsonWebKeys | params.JsonWebKeysDict | None | NotGiven = NOT_GIVEN,
        jwks_uri: str | None | NotGiven = NOT_GIVEN,
        security_profile: Literal["FAPI2", "STANDARD"] | str | NotGiven = NOT_GIVEN,
        id_token_signing_alg: Literal["ES256", "RS256"] | str | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OAuthClient:
        """Change a client.

        Fields that are left out keep their values. Honours `If-Match`.

        A removed redirect URI is refused from the next request on. Type and environment cannot be changed.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            name: Name of the client, shown to customers.
            first_party: Whether the client belongs to the project: then customers are not asked for their
                consent.
            redirect_uris: Where authorization responses may be sent; compared exactly.
            post_logout_redirect_uris: Where the browser may go after it has signed out; compared exactly.
            grant_types: How the client may get tokens.
            scopes: The scopes that the client may get: standard ones, and permissions that the project has
                declared.
            website_url: The website of the client, shown to customers.
            privacy_url: The privacy policy of the client, shown to customers.
            terms_url: The terms of service of the client, shown to customers.
            backchannel_logout_uri: Where the client is told that a session has ended (OpenID Connect Back-
                Channel Logout).
            require_dpop: Whether the client gets only access tokens that are bound to its key (DPoP, RFC 9449).
            jwks: The public keys with which the client authenticates. A secret ends when the client gets keys.
            jwks_uri: Where the client publishes these keys instead, so that it can replace them.
            security_profile: STANDARD; or FAPI2: the client is held to the FAPI 2.0 Security Profile.
            id_token_signing_alg: How ID tokens and logout tokens of the client are signed: ES256, or RS256 for
                programs that know nothing else.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OauthClientMissing
        """
        return await self._client._call(
            operations.CHANGE_OAUTH_CLIENT,
            (id,),
            body={
                "name": name,
                "firstParty": first_party,
                "redirectUris": redirect_uris,
                "postLogoutRedirectUris": post_logout_redirect_uris,
                "grantTypes": grant_types,
                "scopes": scopes,
                "websiteUrl": website_url,
                "privacyUrl": privacy_url,
                "termsUrl": terms_url,
                "backchannelLogoutUri": backchannel_logout_uri,
                "requireDpop": require_dpop,
                "jwks": jwks,
                "jwksUri": jwks_uri,
                "securityProfile": security_profile,
                "idTokenSigningAlg": id_token_signing_alg,
            },
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete a client with its consents.

        Its codes and refresh tokens stop working at once, access tokens that its APIs check offline within ten
        minutes. Honours `If-Match`.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OauthClientMissing
        """
        return await self._client._call(
            operations.DELETE_OAUTH_CLIENT, (id,), if_match=if_match, project=project, timeout=timeout
        )

    async def rotate_secret(
        self,
        id: str,
        *,
        grace_period_seconds: int | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OAuthClientWithSecret:
        """Create a new secret for a CONFIDENTIAL client.

        It is returned only here.

        The old secret works in addition for `gracePeriodSeconds` (default 24 hours, at most 7 days, 0 to end it
        now). If an even older one still works, it ends at once.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            grace_period_seconds: How long the old secret works in addition to the new one, in seconds; 0 to
                604,800 (7 days). Default: `86400`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OauthClientHasKeys
            OauthClientMissing
            PublicClientHasNoSecret
        """
        return await self._client._call(
            operations.ROTATE_OAUTH_CLIENT_SECRET,
            (id,),
            body={"gracePeriodSeconds": grace_period_seconds},
            project=project,
            timeout=timeout,
        )

    async def create_registration_token(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OAuthRegistrationToken:
        """Create an initial access token, with which clients can register themselves if `signIn.clientRegistration`
        is `TOKEN`.

        It is valid for 7 days and at most 100 registrations, and cannot be revoked, except by changing the
        setting.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ClientRegistrationWithoutTokens
        """
        return await self._client._call(
            operations.CREATE_OAUTH_REGISTRATION_TOKEN, (), project=project, timeout=timeout
        )


class AsyncOauthResources:
    """The methods of `client.oauth_resources`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.OAuthResource]:
        """List the APIs for which clients can ask for access tokens, newest first.

        A TEST key gets only TEST ones.

        Permission: `projects:read`.

        Credentials: developer, secret key.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_OAUTH_RESOURCES,
            (),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        *,
        identifier: str,
        name: str,
        environment: Literal["LIVE", "TEST"] | str | None | NotGiven = NOT_GIVEN,
        scopes: Sequence[str] | NotGiven = NOT_GIVEN,
        introspection_client_id: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OAuthResource:
        """Declare an API for which clients can ask for access tokens, with the parameter `resource` (RFC 8707).

        The audience of such a token is the API's `identifier`. A token has only those of its scopes that are
        among the API's `scopes`, and is not accepted by the userinfo endpoint. Only clients of the same
        environment can ask for it.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            identifier: The URL of the API: the value of `resource` in requests, and the audience of the tokens.
            name: Name of the API, shown to customers on the consent page.
            environment: Default: that of the API key, or LIVE.
            scopes: The permissions that tokens for the API can have in `scope`.
            introspection_client_id: The CONFIDENTIAL client with which the API asks the introspection endpoint
                for the state of tokens.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OauthResourceExists
            TooManyOauthResources
        """
        return await self._client._call(
            operations.CREATE_OAUTH_RESOURCE,
            (),
            body={
                "identifier": identifier,
                "name": name,
                "environment": environment,
                "scopes": scopes,
                "introspectionClientId": introspection_client_id,
            },
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OAuthResource:
        """Get an API for which clients can ask for access tokens.

        Permission: `projects:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OauthResourceMissing
        """
        return await self._client._call(operations.GET_OAUTH_RESOURCE, (id,), project=project, timeout=timeout)

    async def update(
        self,
        id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        scopes: Sequence[str] | NotGiven = NOT_GIVEN,
        introspection_client_id: str | None | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OAuthResource:
        """Change an API.

        Fields that are left out keep their values. Honours `If-Match`.

        Tokens have removed scopes until they expire, ten minutes later. The identifier cannot be changed.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            name: Name of the API, shown to customers on the consent page.
            scopes: The permissions that tokens for the API can have in `scope`.
            introspection_client_id: The CONFIDENTIAL client with which the API asks the introspection endpoint
                for the state of tokens.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OauthResourceMissing
        """
        return await self._client._call(
            operations.CHANGE_OAUTH_RESOURCE,
            (id,),
            body={"name": name, "scopes": scopes, "introspectionClientId": introspection_client_id},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete an API.

        No tokens are issued for it any more; APIs that check tokens offline accept them for at most ten minutes.
        Honours `If-Match`.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OauthResourceMissing
        """
        return await self._client._call(
            operations.DELETE_OAUTH_RESOURCE, (id,), if_match=if_match, project=project, timeout=timeout
        )


class AsyncOidc:
    """The methods of `client.oidc`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def begin(
        self,
        conn_id: str,
        *,
        redirect_url: str | None = None,
        code_challenge: str | None = None,
        state: str | None = None,
        test: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Start single sign-on by OpenID Connect: redirect the browser to the OpenID provider.

        The parameters and the return to the app are those of connections by SAML (`/sso/saml/{connId}/login`).

        Args:
            conn_id: The conn id.
            redirect_url: Redirect url.
            code_challenge: An S256 code challenge (RFC 7636 §4.2): 43 characters of base64url.
            state: State.
            test: Test.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SsoConnectionMissing
            SsoTestInvalid
            SsoUnavailable
        """
        return await self._client._call(
            operations.BEGIN_OIDC_SSO,
            (conn_id,),
            query={"redirectUrl": redirect_url, "codeChallenge": code_challenge, "state": state, "test": test},
            timeout=timeout,
        )

    async def receive_response(
        self,
        conn_id: str,
        *,
        state: str | None = None,
        code: str | None = None,
        error: str | None = None,
        error_description: str | None = None,
        iss: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Receive the OpenID provider's response: the redirect URI of the connection.

        Redirects the browser to the app with a code, or with `error`. A response for another browser returns a
        page with the reason; the operation `…/traces` lists every check.

        Args:
            conn_id: The conn id.
            state: State.
            code: Code.
            error: Error.
            error_description: Error description.
            iss: Iss.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SsoConnectionMissing
        """
        return await self._client._call(
            operations.RECEIVE_OIDC_RESPONSE,
            (conn_id,),
            query={"state": state, "code": code, "error": error, "errorDescription": error_description, "iss": iss},
            timeout=timeout,
        )

    async def receive_logout(
        self,
        conn_id: str,
        *,
        state: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The post-logout redirect URI: redirects the browser to the app after a logout that the app started.

        The post-logout redirect URI: redirects the browser to the app after a logout that the app started

        Args:
            conn_id: The conn id.
            state: State.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SsoConnectionMissing
        """
        return await self._client._call(
            operations.RECEIVE_OIDC_LOGOUT, (conn_id,), query={"state": state}, timeout=timeout
        )

    async def receive_backchannel_logout(
        self,
        conn_id: str,
        *,
        logout_token: str | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> None:
        """Receive a logout token of the OpenID provider, and end the sessions that it names.

        A token that was received before has no effect.

        Args:
            conn_id: The conn id.
            logout_token: A logout token (OpenID Connect Back-Channel Logout 1.0 §2.4).
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LogoutTokenRefused
            SsoConnectionMissing
        """
        return await self._client._call(
            operations.RECEIVE_OIDC_BACKCHANNEL_LOGOUT, (conn_id,), body={"logout_token": logout_token}, timeout=timeout
        )


class AsyncOrganizations:
    """The methods of `client.organizations`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    @cached_property
    def domains(self) -> AsyncOrganizationsDomains:
        """Methods of `client.organizations.domains`."""
        return AsyncOrganizationsDomains(self._client)

    @cached_property
    def invitations(self) -> AsyncOrganizationsInvitations:
        """Methods of `client.organizations.invitations`."""
        return AsyncOrganizationsInvitations(self._client)

    @cached_property
    def members(self) -> AsyncOrganizationsMembers:
        """Methods of `client.organizations.members`."""
        return AsyncOrganizationsMembers(self._client)

    @cached_property
    def setup_links(self) -> AsyncOrganizationsSetupLinks:
        """Methods of `client.organizations.setup_links`."""
        return AsyncOrganizationsSetupLinks(self._client)

    def list(
        self,
        *,
        external_id: str | None = None,
        q: str | None = None,
        status: Literal["ACTIVE", "SUSPENDED"] | str | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        sort: Literal["-createdAt", "-name", "-updatedAt", "createdAt", "name", "updatedAt"] | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        include: Sequence[Literal["total"] | str] | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.Organization]:
        """List the project's organizations, newest first.

        All given filters must match.

        Permission: `organizations:read`.

        Credentials: developer, secret key.

        Args:
            external_id: External id.
            q: Part of name, slug or external id, in any letter case.
            status: Status.
            from_: Only records that were created at this time or later.
            to: Only records that were created before this time.
            sort: Order; `-` is descending. `name` ignores the letter case.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            include: `total`: the header `Total-Count`, the number of matching records, counted up to 10,000.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_ORGANIZATIONS,
            (),
            query={
                "externalId": external_id,
                "q": q,
                "status": status,
                "from": from_,
                "to": to,
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "include": include,
            },
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        *,
        name: str,
        slug: str | None | NotGiven = NOT_GIVEN,
        external_id: str | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, Any] | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Organization:
        """Create an organization.

        It has no members yet.

        Without `slug`, one is derived from the name, with a number if another organization has it. A `slug` or
        `externalId` that another organization has returns 409.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            name: A display name: one line of text, not only blanks.
            slug: If null, a slug is derived from the name.
            external_id: Id of the organization in your own system.
            metadata: Custom data, up to 16 KiB of JSON.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationExternalIdTaken
            SlugTaken
        """
        return await self._client._call(
            operations.CREATE_ORGANIZATION,
            (),
            body={"name": name, "slug": slug, "externalId": external_id, "metadata": metadata},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Organization:
        """Get an organization with its number of members and of pending invitations.

        Permission: `organizations:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
        """
        return await self._client._call(operations.GET_ORGANIZATION, (id,), project=project, timeout=timeout)

    async def update(
        self,
        id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        slug: str | NotGiven = NOT_GIVEN,
        external_id: str | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, Any] | NotGiven = NOT_GIVEN,
        status: Literal["ACTIVE", "SUSPENDED"] | str | NotGiven = NOT_GIVEN,
        require_sso: bool | NotGiven = NOT_GIVEN,
        require_mfa: bool | NotGiven = NOT_GIVEN,
        allowed_methods: Sequence[Literal["EMAIL_CODE", "EMAIL_LINK", "PASSKEY", "PASSWORD", "SOCIAL", "SSO"] | str]
        | None
        | NotGiven = NOT_GIVEN,
        session_lifetime_minutes: int | None | NotGiven = NOT_GIVEN,
        session_idle_minutes: int | None | NotGiven = NOT_GIVEN,
        allow_lock_out: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Organization:
        """Change an organization.

        Omitted fields keep their values; `metadata` is merged (null removes a key).

        With `status: SUSPENDED` the organization accepts no invitations or members, and grants no permissions.
        Its data is kept; set `ACTIVE` to end the suspension.

        With `requireSso` its members, and customers with an address at one of its verified domains, can sign in
        only by its single sign-on (403 `sso_required`). `requireSso` requires a working connection (409).
        Sessions that were not started by single sign-on end when their access token expires.

        With `requireMfa` its members must sign in with a second factor. Members without one must set up an
        authenticator app first (`mfaEnrollmentRequired`), and sessions without one end when their access token
        expires. Neither requirement applies while the organization is suspended. Honours `If-Match`.

        With `allowedMethods` its members can sign in only by these methods (403 `sign_in_method_not_allowed`),
        and with `sessionLifetimeMinutes` and `sessionIdleMinutes` their sessions end earlier. If an OWNER exists
        and none could sign in, the response is 409, unless `allowLockOut` is set.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            name: A display name: one line of text, not only blanks.
            slug: Lower-case letters and digits in words joined by single hyphens, such as `acme-inc`.
            external_id: Id of the organization in your own system.
            metadata: Custom data, up to 16 KiB of JSON.
            status: Status of the record.
            require_sso: Whether members, and customers with an address at a verified domain, must use the
                organization's single sign-on. Requires a working connection.
            require_mfa: Whether members must sign in with a second factor; members without one must set it up
                first.
            allowed_methods: The methods by which members can sign in; null for all.
            session_lifetime_minutes: How long after the sign-in sessions of members end, even if they are used;
                null for 30 days.
            session_idle_minutes: How long without a refresh sessions of members end; null for 7 days.
            allow_lock_out: Whether to set `allowedMethods` even if no OWNER could sign in then. Default:
                `false`.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationExternalIdTaken
            OrganizationMissing
            OwnersLockedOut
            SlugTaken
            SsoNotReady
            SsoStillRequired
        """
        return await self._client._call(
            operations.CHANGE_ORGANIZATION,
            (id,),
            body={
                "name": name,
                "slug": slug,
                "externalId": external_id,
                "metadata": metadata,
                "status": status,
                "requireSso": require_sso,
                "requireMfa": require_mfa,
                "allowedMethods": allowed_methods,
                "sessionLifetimeMinutes": session_lifetime_minutes,
                "sessionIdleMinutes": session_idle_minutes,
                "allowLockOut": allow_lock_out,
            },
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Organization:
        """Delete an organization with its members, invitations, domains, connections and entitlements.

        Returns the deleted record. The organization is gone at once, and its slug, external id and domains can
        be reused; the rows of a large one are deleted in the background. The customers stay. Honours `If-Match`.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SsoStillRequired
        """
        return await self._client._call(
            operations.DELETE_ORGANIZATION, (id,), if_match=if_match, project=project, timeout=timeout
        )

    async def join_by_domain(
        self,
        *,
        customer_id: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.DomainJoin:
        """Add a customer to the organization that has verified the domain of the customer's verified address.

        `reason` is one of JOINED, ALREADY_MEMBER, EMAIL_NOT_VERIFIED, NO_MATCHING_DOMAIN, AUTO_JOIN_DISABLED,
        PUBLIC_DOMAIN, ORGANIZATION_SUSPENDED, MEMBER_REMOVED (until the customer is invited or added again) or
        CUSTOMER_BANNED. Subdomains of a verified domain do not match.

        Permission: `organizations:write`.

        Credentials: developer, secret key.

        Args:
            customer_id: Id of the customer.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerMissing
            TooManyMembers
        """
        return await self._client._call(
            operations.JOIN_BY_DOMAIN, (), body={"customerId": customer_id}, project=project, timeout=timeout
        )

    async def get_plan(
        self,
        organization_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.OrganizationPlan:
        """Get the plan of an organization; `planKey` and `plan` are null if it has none.

        Permission: `entitlements:read`.

        Credentials: developer, secret key.

        Args:
            organization_id: The organization id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
        """
        return await self._client._call(
            operations.GET_ORGANIZATION_PLAN, (organization_id,), project=project, timeout=timeout
        )

    async def set_plan(
        self,
        organization_id: str,
        *,
        plan_key: str | None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Set the plan of an organization; null removes it.

        The change applies from the next check on.

        Permission: `entitlements:write`.

        Credentials: developer, secret key.

        Args:
            organization_id: The organization id.
            plan_key: Key of the plan; null for no plan.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            PlanMissing
        """
        return await self._client._call(
            operations.SET_ORGANIZATION_PLAN,
            (organization_id,),
            body={"planKey": plan_key},
            project=project,
            timeout=timeout,
        )


class AsyncPageTexts:
    """The methods of `client.page_texts`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def list(
        self,
        language: str,
        *,
        changed: bool | None = None,
        q: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.PageText]:
        """All texts of the hosted pages in a language, in the order of the English texts.

        `changed=true` has only those that the project has replaced, and `q` only those in which all of these
        words are: in the text, the built-in text or the English one. A text that an update of Postern has
        removed or written anew is listed last, without `pages`: it has no effect any more.

        Permission: `projects:read`.

        Credentials: developer, secret key.

        Args:
            language: The language.
            changed: Changed.
            q: Q.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            PageTextMissing
        """
        return await self._client._call(
            operations.LIST_PAGE_TEXTS,
            (language,),
            query={"changed": changed, "q": q},
            project=project,
            timeout=timeout,
        )

    async def set(
        self,
        language: str,
        text_id: str,
        *,
        text: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.PageText:
        """Replace a text of the hosted pages in a language, wherever the pages show it.

        It is plain text, and can have the values of the built-in text, such as `{app}`; one with another value
        is a 400.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            language: The language.
            text_id: The text id.
            text: Values are in braces, as in the built-in text: `{app}`. They can be left out, but no other ones
                are possible.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            PageTextMissing
        """
        return await self._client._call(
            operations.SET_PAGE_TEXT,
            (
                language,
                text_id,
            ),
            body={"text": text},
            project=project,
            timeout=timeout,
        )

    async def reset(
        self,
        language: str,
        text_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Show the built-in text again.

        A text that is not replaced stays as it is.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            language: The language.
            text_id: The text id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            PageTextMissing
        """
        return await self._client._call(
            operations.RESET_PAGE_TEXT,
            (
                language,
                text_id,
            ),
            project=project,
            timeout=timeout,
        )


class AsyncPages:
    """The methods of `client.pages`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def impersonation_link(
        self,
        *,
        token: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The page of a link that opens the app as a customer.

        Opening it does not use up the link.

        Args:
            token: Token.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.IMPERSONATION_PAGE, (), query={"token": token}, project=project, timeout=timeout
        )

    async def submit_impersonation_link(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Use a link: begin the session as the customer, and redirect the browser to the app with a code.

        Use a link: begin the session as the customer, and redirect the browser to the app with a code

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
        """
        return await self._client._call(
            operations.IMPERSONATE_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def denied_sign_in(
        self,
        *,
        token: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The page of the link “This was not me” in the notice about a new device.

        Opening it changes nothing.

        Args:
            token: Token.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.DENIED_SIGN_IN_PAGE, (), query={"token": token}, project=project, timeout=timeout
        )

    async def deny_sign_in(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """End all sessions of a customer who did not sign in, and remove the password and what was added since:
        passkeys, a second factor, accounts at providers, new addresses.

        Shows the form for a new password, if the customer had one.

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
        """
        return await self._client._call(
            operations.DENY_SIGN_IN_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def provider_callback(
        self,
        *,
        state: str,
        code: str | None = None,
        error: str | None = None,
        iss: str | None = None,
        user_name: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The redirect URI of providers.

        Redirects the browser to the app's `redirectUrl` with `code`, or with `error`.

        Args:
            state: State.
            code: Code.
            error: Error.
            iss: Iss.
            user_name: User name.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            FlowInvalid
        """
        return await self._client._call(
            operations.PROVIDER_CALLBACK,
            (),
            query={"state": state, "code": code, "error": error, "iss": iss, "userName": user_name},
            project=project,
            timeout=timeout,
        )

    async def submit_provider_callback(
        self,
        *,
        state: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        error: str | NotGiven = NOT_GIVEN,
        iss: str | NotGiven = NOT_GIVEN,
        user: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The redirect URI of providers that post a form.

        Redirects to the GET operation with the same parameters.

        Browsers send the cookie of the sign-in, which is SameSite=Lax, with this GET, but not with the form.

        Args:
            state: State of the sign-in, as it was sent.
            code: Authorization code.
            error: Error code of the provider (RFC 6749 §4.1.2.1).
            iss: Issuer (RFC 9207).
            user: Name and address as JSON, which Apple sends at the first sign-in only.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.PROVIDER_CALLBACK_BY_FORM,
            (),
            body={"state": state, "code": code, "error": error, "iss": iss, "user": user},
            project=project,
            timeout=timeout,
        )

    async def style(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The stylesheet of the hosted pages, with the project's theme.

        The stylesheet of the hosted pages, with the project's theme

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.PAGE_STYLE, (), project=project, timeout=timeout)

    async def sign_in(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The sign-in page.

        Takes `redirectUrl` (one of the project's), `codeChallenge` (S256) and `state`.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.SIGN_IN_PAGE, (), project=project, timeout=timeout)

    async def submit_sign_in(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Sign in with e-mail address and password.

        With the address alone, the next page asks for what the address can sign in with: single sign-on if its
        domain has it, otherwise what the project and the organization of the domain allow. It does not tell
        whether there is an account.

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            HookFailed
            HookRefused
            MethodOff
            PlanLimitReached
            SignInBlocked
            SignInFailed
            SignInLocked
            SignInMethodNotAllowed
            SsoRequired
        """
        return await self._client._call(
            operations.SIGN_IN_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def sign_up(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The sign-up page.

        The sign-up page

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.SIGN_UP_PAGE, (), project=project, timeout=timeout)

    async def submit_sign_up(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Sign up.

        The next page asks for the code that was mailed; if no code is needed, the sign-in continues at once.

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            EmailTaken
            HookFailed
            HookRefused
            MethodOff
            PasswordBreached
            PasswordCommon
            PlanLimitReached
            SignInMethodNotAllowed
            SignUpClosed
            SsoRequired
            TermsNotAccepted
        """
        return await self._client._call(
            operations.SIGN_UP_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def resend_sign_up_code(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Mail another code for a pending sign-up.

        Mail another code for a pending sign-up

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            SignUpClosed
            SsoRequired
        """
        return await self._client._call(
            operations.RESEND_SIGN_UP_CODE_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def verify_sign_up(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Finish a sign-up with the code that was mailed.

        Finish a sign-up with the code that was mailed

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            PlanLimitReached
            SignInMethodNotAllowed
            SignUpClosed
            SsoRequired
        """
        return await self._client._call(
            operations.VERIFY_SIGN_UP_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def request_code(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Mail a sign-in code; the next page asks for it.

        Mail a sign-in code; the next page asks for it

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MethodOff
            SsoRequired
        """
        return await self._client._call(
            operations.ASK_FOR_CODE_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def start_sso(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Sign in with single sign-on: forward the browser to the identity provider of the organization that has
        the domain of the address.

        Sign in with single sign-on: forward the browser to the identity provider of the organization that has
        the domain of the address

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            NoSignOnHere
        """
        return await self._client._call(
            operations.SIGN_ON_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def submit_code(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Sign in with the code that was mailed.

        Sign in with the code that was mailed

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            MethodOff
            PlanLimitReached
            SignInBlocked
            SignInMethodNotAllowed
            SsoRequired
        """
        return await self._client._call(
            operations.SIGN_IN_WITH_CODE_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def submit_second_factor(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Finish a sign-in with a code of the authenticator app or a recovery code.

        Finish a sign-in with a code of the authenticator app or a recovery code

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            SignInBlocked
            SignInLocked
            SignInMethodNotAllowed
            SsoRequired
        """
        return await self._client._call(
            operations.SECOND_FACTOR_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def second_factor(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The page that asks for a second factor, with the `mfaToken` of a sign-in that returned `mfaRequired`.

        Also takes the parameters of `pages/sign-in`, with a new `codeChallenge`. After a sign-in that returned
        `mfaEnrollmentRequired`, the page sets up a second factor.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.SECOND_FACTOR_PAGE, (), project=project, timeout=timeout)

    async def enroll_second_factor(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Turn on a required second factor with its first code; the next page shows the recovery codes.

        Turn on a required second factor with its first code; the next page shows the recovery codes

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            MfaAlreadyOn
            SignInBlocked
            SignInLocked
            SignInMethodNotAllowed
            SsoRequired
        """
        return await self._client._call(
            operations.SET_UP_SECOND_FACTOR_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def confirm_recovery_codes(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Leave the page with the recovery codes: continue to the app, or first to the page that adds a passkey.

        Leave the page with the recovery codes: continue to the app, or first to the page that adds a passkey

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
        """
        return await self._client._call(
            operations.LEAVE_RECOVERY_CODES_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def terms(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The page that asks to accept the terms, with the `termsToken` of a sign-in that returned `termsRequired`.

        Also takes the parameters of `pages/sign-in`, with a new `codeChallenge`.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.TERMS_PAGE, (), project=project, timeout=timeout)

    async def submit_terms(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Accept the terms, and continue the sign-in.

        Accept the terms, and continue the sign-in

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            SignInBlocked
            SignInMethodNotAllowed
            SsoRequired
            TermsNotAccepted
        """
        return await self._client._call(
            operations.ACCEPT_TERMS_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def show_continue(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Continue a sign-in that began on a hosted page, after the customer has signed in at a provider.

        Shows the page for the second factor if one is needed, otherwise redirects to the app.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            SignInBlocked
        """
        return await self._client._call(operations.CONTINUE_ON_PAGE, (), project=project, timeout=timeout)

    async def passkey_options(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.PasskeyOptions:
        """WebAuthn options for the script of the pages: to sign in or, with `pageToken`, to add a passkey.

        WebAuthn options for the script of the pages: to sign in or, with `pageToken`, to add a passkey

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            MethodOff
            NotFresh
            TooManyPasskeys
        """
        return await self._client._call(
            operations.PASSKEY_OPTIONS_FOR_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def submit_passkey(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Sign in with a passkey.

        Sign in with a passkey

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            HookFailed
            HookRefused
            MethodOff
            SignInBlocked
            SignInFailed
            SignInMethodNotAllowed
            SsoRequired
        """
        return await self._client._call(
            operations.SIGN_IN_WITH_PASSKEY_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def add_passkey(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Add a passkey to the customer who signed in on the previous page, and continue to the app.

        Add a passkey to the customer who signed in on the previous page, and continue to the app

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            NotFresh
            TooManyPasskeys
        """
        return await self._client._call(
            operations.ADD_PASSKEY_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def skip_passkey(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Continue to the app without adding a passkey.

        Continue to the app without adding a passkey

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
        """
        return await self._client._call(
            operations.SKIP_PASSKEY_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def forgot_password(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The page to request a password reset.

        With the parameters of `pages/sign-in`, it links back to that page.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.FORGOT_PAGE, (), project=project, timeout=timeout)

    async def submit_forgot_password(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Request a password reset: if there is an account with this address, mail a link to set a new password.

        The response is the same if there is none.

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MethodOff
            SsoRequired
        """
        return await self._client._call(
            operations.FORGET_PASSWORD_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def reset_password(
        self,
        *,
        token: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The page of a reset link.

        Opening it does not use up the link; a used or expired link shows a message.

        Args:
            token: Token.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.RESET_PAGE, (), query={"token": token}, project=project, timeout=timeout
        )

    async def submit_reset_password(
        self,
        *,
        email: str | NotGiven = NOT_GIVEN,
        password: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        code: str | NotGiven = NOT_GIVEN,
        token: str | NotGiven = NOT_GIVEN,
        challenge_id: str | NotGiven = NOT_GIVEN,
        mfa_token: str | NotGiven = NOT_GIVEN,
        terms_token: str | NotGiven = NOT_GIVEN,
        accepted_terms: str | NotGiven = NOT_GIVEN,
        credential: str | NotGiven = NOT_GIVEN,
        page_token: str | NotGiven = NOT_GIVEN,
        redirect_url: str | NotGiven = NOT_GIVEN,
        code_challenge: str | NotGiven = NOT_GIVEN,
        state: str | NotGiven = NOT_GIVEN,
        then: str | NotGiven = NOT_GIVEN,
        factor: str | NotGiven = NOT_GIVEN,
        remember: str | NotGiven = NOT_GIVEN,
        switch: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Set a new password with the token of a reset link, and show a notice.

        All sessions of the customer end; for the other effects see `POST …/auth/password/reset`.

        Args:
            email: E-mail address.
            password: Password.
            name: Name of the person who signs up.
            code: One-time code from the mail or the authenticator app.
            token: Token from the link in the mail.
            challenge_id: Id of the challenge, from the previous page.
            mfa_token: Token for the second factor, from the previous page.
            terms_token: Token of the sign-in that waits for the terms, from the previous page.
            accepted_terms: Version of the terms that the person has accepted.
            credential: Credential from the browser's `navigator.credentials`, as JSON.
            page_token: Token of this page, from its hidden form field; it can complete the page once.
            redirect_url: Where the browser goes after sign-in; one of the project's `redirectUrls`.
            code_challenge: S256 code challenge (RFC 7636).
            state: Value of the app, returned to `redirectUrl` unchanged.
            then: `passkey` to offer adding a passkey after sign-in.
            factor: `ask` to ask for the second factor on a remembered device, too.
            remember: Whether the second factor shall not be asked for on this device again for some days.
            switch: If this is sent, the page is shown again, in the language `lang` of the query.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CodeInvalid
            MethodOff
            PasswordBreached
            PasswordCommon
        """
        return await self._client._call(
            operations.RESET_PASSWORD_BY_PAGE,
            (),
            body={
                "email": email,
                "password": password,
                "name": name,
                "code": code,
                "token": token,
                "challengeId": challenge_id,
                "mfaToken": mfa_token,
                "termsToken": terms_token,
                "acceptedTerms": accepted_terms,
                "credential": credential,
                "pageToken": page_token,
                "redirectUrl": redirect_url,
                "codeChallenge": code_challenge,
                "state": state,
                "then": then,
                "factor": factor,
                "remember": remember,
                "switch": switch,
            },
            project=project,
            timeout=timeout,
        )

    async def invitation(
        self,
        *,
        token: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Show the hosted page of an invitation: who invites, to which organization, as what and until when, and
        buttons to accept and to decline.

        Show the hosted page of an invitation: who invites, to which organization, as what and until when, and
        buttons to accept and to decline

        Args:
            token: Token.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.INVITATION_PAGE, (), query={"token": token}, project=project, timeout=timeout
        )

    async def submit_invitation(
        self,
        *,
        token: str | NotGiven = NOT_GIVEN,
        answer: str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Accept an invitation from the page: the customer with the invited address becomes a member.

        If there is no such customer, one is created. With the answer `decline`, the invitation is revoked
        instead.

        Args:
            token: Token from the link in the mail.
            answer: `decline` to decline the invitation; otherwise it is accepted.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            CustomerBanned
            InvitationClosed
            InvitationMissing
            OrganizationSuspended
        """
        return await self._client._call(
            operations.ACCEPT_INVITATION_BY_PAGE,
            (),
            body={"token": token, "answer": answer},
            project=project,
            timeout=timeout,
        )

    async def find_sso_connection(
        self,
        *,
        email: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SsoLookup:
        """Find a connection like the GET operation, with the address in the body, so that it is not logged in URLs.

        Credentials: anonymous, publishable key, secret key.

        Args:
            email: E-mail address.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.FIND_SSO_CONNECTION_BY_FORM, (), body={"email": email}, project=project, timeout=timeout
        )


class AsyncPlans:
    """The methods of `client.plans`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.Plan]:
        """List the plans of the project, newest first, with the features and the number of organizations of each.

        Permission: `entitlements:read`.

        Credentials: developer, secret key.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_PLANS, (), query={"limit": limit, "cursor": cursor}, project=project, timeout=timeout
        )

    async def create(
        self,
        *,
        key: str,
        name: str | None | NotGiven = NOT_GIVEN,
        features: Sequence[types.PlanFeature | params.PlanFeatureDict] | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Plan:
        """Create a plan.

        Its settings take precedence over the defaults of its features; a limit of null is unlimited.

        Permission: `entitlements:write`.

        Credentials: developer, secret key.

        Args:
            key: A key for programs: letters, digits, `_`, `.`, `:` and `-`, beginning with a letter: `sso`.
            name: Defaults to the key.
            features: Features of the plan.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            FeatureUndeclared
            LimitNotTaken
            PlanExists
            TooManyPlans
        """
        return await self._client._call(
            operations.CREATE_PLAN,
            (),
            body={"key": key, "name": name, "features": features},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        key: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Plan:
        """Get a plan by its key.

        Permission: `entitlements:read`.

        Credentials: developer, secret key.

        Args:
            key: The key.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            PlanMissing
        """
        return await self._client._call(operations.GET_PLAN, (key,), project=project, timeout=timeout)

    async def update(
        self,
        key: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        features: Sequence[types.PlanFeature | params.PlanFeatureDict] | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Plan:
        """Change a plan.

        The change applies from the next check on; `features` replaces the whole list.

        Honours `If-Match`.

        Permission: `entitlements:write`.

        Credentials: developer, secret key.

        Args:
            key: The key.
            name: A display name: one line of text, not only blanks.
            features: Features of the plan.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            FeatureUndeclared
            LimitNotTaken
            PlanMissing
        """
        return await self._client._call(
            operations.CHANGE_PLAN,
            (key,),
            body={"name": name, "features": features},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        key: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete a plan.

        Returns 409 while organizations have it. Honours `If-Match`.

        Permission: `entitlements:write`.

        Credentials: developer, secret key.

        Args:
            key: The key.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            PlanInUse
            PlanMissing
        """
        return await self._client._call(
            operations.DELETE_PLAN, (key,), if_match=if_match, project=project, timeout=timeout
        )


class AsyncProjects:
    """The methods of `client.projects`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete a project with all its data.

        This cannot be undone.

        From the next request on it returns 404 and its keys are refused; its rows are deleted in the background.
        The account's audit log keeps its entries.

        Permission: `projects:write`.

        Credentials: developer.

        Args:
            id: The project id.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.DELETE_PROJECT, (id,), timeout=timeout)

    async def get(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Project:
        """Get a project with its settings.

        Permission: `projects:read`.

        Credentials: developer, secret key.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.GET_PROJECT, (), project=project, timeout=timeout)

    async def update(
        self,
        *,
        name: str | NotGiven = NOT_GIVEN,
        settings: types.SettingsChange | params.SettingsChangeDict | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Project:
        """Change the name or settings of a project.

        Omitted settings keep their values; lists are replaced.

        `extra` is merged with the stored names, and null removes a name. A relay's `password` of `********`
        keeps the stored password of the relay with the same `host` and `username`; without such a relay, the
        password is removed. Likewise, `ses.secretAccessKey` of `********` keeps the stored secret of the same
        `accessKeyId`. With `If-Match`, the change applies only if the project has not been changed since.

        Permission: `projects:write`.

        Credentials: developer.

        Args:
            name: A display name: one line of text, not only blanks.
            settings: Settings of the project.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SsoNotReady
        """
        return await self._client._call(
            operations.CHANGE_PROJECT,
            (),
            body={"name": name, "settings": settings},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.Project]:
        """List the projects of your account, newest first.

        Permission: `projects:read`.

        Credentials: developer.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_PROJECTS, (), query={"limit": limit, "cursor": cursor}, timeout=timeout
        )

    async def create(
        self,
        *,
        name: str,
        timeout: float | None = None,
    ) -> types.Project:
        """Create a project.

        All other records belong to a project; projects are isolated from each other.

        Permission: `projects:write`.

        Credentials: developer.

        Args:
            name: A display name: one line of text, not only blanks.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.CREATE_PROJECT, (), body={"name": name}, timeout=timeout)

    async def get_pages_domain(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.PagesDomainStatus:
        """Check whether the project's host name for hosted pages, `settings.signIn.pagesDomain`, can be used.

        The response has the DNS record to publish, and whether it is published: it is looked up for each
        request, so a project can make 30 in a minute. If the name has other addresses, such as those of a CDN,
        the server requests the metadata of the OpenID provider at the name, and the record is VERIFIED if they
        are those of the project. It also has the state of the sending domain above the name, and of the TLS
        certificate. A record that could not be looked up has the status UNKNOWN.

        Permission: `projects:read`.

        Credentials: developer, secret key.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            PagesDomainMissing
        """
        return await self._client._call(operations.GET_PAGES_DOMAIN, (), project=project, timeout=timeout)


class AsyncProviders:
    """The methods of `client.providers`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def list(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.SignInProvider]:
        """The project's sign-in providers.

        Permission: `projects:read`.

        Credentials: developer, secret key.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.LIST_PROVIDERS, (), project=project, timeout=timeout)

    async def set(
        self,
        key: str,
        *,
        client_id: str,
        kind: Literal[
            "APPLE", "DISCORD", "FACEBOOK", "GITHUB", "GITLAB", "GOOGLE", "LINKEDIN", "MICROSOFT", "OIDC", "SLACK", "X"
        ]
        | str
        | NotGiven = NOT_GIVEN,
        client_secret: str | None | NotGiven = NOT_GIVEN,
        name: str | None | NotGiven = NOT_GIVEN,
        issuer: str | None | NotGiven = NOT_GIVEN,
        scopes: str | None | NotGiven = NOT_GIVEN,
        trusted_email_domains: Sequence[str] | NotGiven = NOT_GIVEN,
        team_id: str | None | NotGiven = NOT_GIVEN,
        key_id: str | None | NotGiven = NOT_GIVEN,
        acr_values: Sequence[str] | NotGiven = NOT_GIVEN,
        max_age_seconds: int | None | NotGiven = NOT_GIVEN,
        on_new_subject: Literal["HOLD", "REFUSE"] | str | NotGiven = NOT_GIVEN,
        enabled: bool | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SignInProvider:
        """Add or change a provider.

        `key` identifies it: `GOOGLE`, or a key of your own such as `ACME_DIRECTORY`.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            key: The key.
            client_id: Client id from the provider.
            kind: Kind of the provider. Default: `"OIDC"`.
            client_secret: If left out, the stored secret is kept.
            name: Display name.
            issuer: Issuer of an OpenID Connect provider.
            scopes: Scopes to request, separated by spaces.
            trusted_email_domains: Domains whose addresses count as verified when this provider reports them: for
                your own directory that does not send `email_verified`.
            team_id: Only for Apple: the id of your team in Apple's developer program.
            key_id: Only for Apple: the id of the private key.
            acr_values: Accepted authentication contexts: the ID token's `acr` must be one of these.
            max_age_seconds: Maximum age of the authentication at the provider, in seconds; `0` requires a new
                one at each sign-in.
            on_new_subject: How to treat an account with the address of a customer who is linked to another
                account of this provider: REFUSE it, or HOLD it in `identity-requests` until an administrator
                approves it. Default: `"REFUSE"`.
            enabled: Whether it is enabled. Default: `true`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.SET_PROVIDER,
            (key,),
            body={
                "kind": kind,
                "clientId": client_id,
                "clientSecret": client_secret,
                "name": name,
                "issuer": issuer,
                "scopes": scopes,
                "trustedEmailDomains": trusted_email_domains,
                "teamId": team_id,
                "keyId": key_id,
                "acrValues": acr_values,
                "maxAgeSeconds": max_age_seconds,
                "onNewSubject": on_new_subject,
                "enabled": enabled,
            },
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        key: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete a provider.

        Its customers stay, and need another method to sign in.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            key: The key.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            ProviderMissing
        """
        return await self._client._call(operations.DELETE_PROVIDER, (key,), project=project, timeout=timeout)


class AsyncSaml:
    """The methods of `client.saml`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def get_metadata(
        self,
        conn_id: str,
        *,
        timeout: float | None = None,
    ) -> str:
        """Get the service provider metadata, at a URL that the identity provider can fetch.

        Get the service provider metadata, at a URL that the identity provider can fetch

        Args:
            conn_id: The conn id.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SsoConnectionMissing
        """
        return await self._client._call(operations.GET_PUBLIC_SSO_METADATA, (conn_id,), timeout=timeout)

    async def begin(
        self,
        conn_id: str,
        *,
        redirect_url: str | None = None,
        code_challenge: str | None = None,
        state: str | None = None,
        test: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Start single sign-on: redirect the browser to the identity provider.

        The browser returns to `redirectUrl`, which must be among the project's `redirectUrls`, with `code` and
        `state`, or with `error`. Exchange the code at `auth/token`: with the verifier if you sent a
        `codeChallenge` (S256, RFC 7636), otherwise with a secret key. A `test` link shows the result as a page
        instead, and needs no `redirectUrl`.

        Args:
            conn_id: The conn id.
            redirect_url: Redirect url.
            code_challenge: An S256 code challenge (RFC 7636 §4.2): 43 characters of base64url.
            state: State.
            test: Test.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SsoConnectionMissing
            SsoTestInvalid
            SsoUnavailable
        """
        return await self._client._call(
            operations.BEGIN_SSO,
            (conn_id,),
            query={"redirectUrl": redirect_url, "codeChallenge": code_challenge, "state": state, "test": test},
            timeout=timeout,
        )

    async def receive_response(
        self,
        conn_id: str,
        *,
        samlresponse: str | NotGiven = NOT_GIVEN,
        relay_state: str | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> str:
        """Receive the identity provider's response (SAML HTTP-POST binding): the assertion consumer service.

        Redirects the browser to the app with a code, or with `error`. An invalid response, or one for another
        browser, returns a page with the reason; the operation `…/traces` lists every check.

        Args:
            conn_id: The conn id.
            samlresponse: The SAML response in base64.
            relay_state: The RelayState of the authentication request.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SsoConnectionMissing
        """
        return await self._client._call(
            operations.RECEIVE_SAML_RESPONSE,
            (conn_id,),
            body={"SAMLResponse": samlresponse, "RelayState": relay_state},
            timeout=timeout,
        )

    async def receive_logout(
        self,
        conn_id: str,
        *,
        timeout: float | None = None,
    ) -> str:
        """Receive logout messages of the identity provider (SAML HTTP-Redirect binding).

        A request ends the matching sessions and redirects back to the provider with a response. A response
        redirects to the app.

        Args:
            conn_id: The conn id.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SsoConnectionMissing
        """
        return await self._client._call(operations.RECEIVE_SAML_LOGOUT, (conn_id,), timeout=timeout)

    async def submit_logout(
        self,
        conn_id: str,
        *,
        samlrequest: str | NotGiven = NOT_GIVEN,
        samlresponse: str | NotGiven = NOT_GIVEN,
        relay_state: str | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> str:
        """Receive logout messages of the identity provider (SAML HTTP-POST binding).

        Receive logout messages of the identity provider (SAML HTTP-POST binding)

        Args:
            conn_id: The conn id.
            samlrequest: A SAML logout request, base64-encoded.
            samlresponse: The response to a logout request, base64-encoded.
            relay_state: The RelayState of the logout request.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SsoConnectionMissing
        """
        return await self._client._call(
            operations.RECEIVE_SAML_LOGOUT_BY_FORM,
            (conn_id,),
            body={"SAMLRequest": samlrequest, "SAMLResponse": samlresponse, "RelayState": relay_state},
            timeout=timeout,
        )


class AsyncSenders:
    """The methods of `client.senders`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def list(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.Sender]:
        """List the project's single senders, newest first: addresses to use in `from` without a verified domain.

        Permission: `domains:read`.

        Credentials: developer, secret key.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.LIST_SENDERS, (), project=project, timeout=timeout)

    async def create(
        self,
        *,
        email: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Sender:
        """Add a single sender, to test sending before a domain is verified.

        This sends a confirmation mail to the address. When its owner opens the link in the mail within 24 hours
        and confirms, exactly this address (case-insensitive) can be used as `from` of single e-mails and
        batches. Campaigns and automations need a verified domain. Mail from a single sender is not signed with
        DKIM, so some receivers treat it as spam: see `warnings`.

        Permission: `domains:write`.

        Credentials: developer, secret key.

        Args:
            email: E-mail address.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LiveKeyRequired
            SenderExists
            SenderNotNeeded
            TooManySenders
        """
        return await self._client._call(
            operations.CREATE_SENDER, (), body={"email": email}, project=project, timeout=timeout
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Sender:
        """Get a single sender.

        Permission: `domains:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SenderMissing
        """
        return await self._client._call(operations.GET_SENDER, (id,), project=project, timeout=timeout)

    async def delete(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete a single sender.

        Messages that wait to be sent from it fail when they are due.

        Permission: `domains:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SenderMissing
        """
        return await self._client._call(operations.DELETE_SENDER, (id,), project=project, timeout=timeout)

    async def resend_verification(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Sender:
        """Send the confirmation mail again, with a new link that works for 24 hours.

        The previous link stops working.

        Permission: `domains:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            LiveKeyRequired
            SenderMissing
            SenderVerified
        """
        return await self._client._call(operations.RESEND_SENDER_VERIFICATION, (id,), project=project, timeout=timeout)

    async def verify(
        self,
        id: str,
        *,
        token: str,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Sender:
        """Confirm a sender with the token from its confirmation mail instead of on the page.

        Calls can be repeated.

        Permission: `domains:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            token: Token from the link in the mail.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SenderLinkInvalid
            SenderMissing
        """
        return await self._client._call(
            operations.VERIFY_SENDER, (id,), body={"token": token}, project=project, timeout=timeout
        )


class AsyncSignInHooks:
    """The methods of `client.sign_in_hooks`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def list(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.SignInHook]:
        """List the project's sign-in hooks with their last failures, without secrets.

        Permission: `projects:read`.

        Credentials: developer, secret key.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.LIST_SIGN_IN_HOOKS, (), project=project, timeout=timeout)

    async def create(
        self,
        *,
        kind: Literal["BEFORE_SIGN_UP", "BEFORE_TOKEN", "MIGRATION"] | str,
        url: str,
        active: bool | NotGiven = NOT_GIVEN,
        on_failure: Literal["CONTINUE", "REFUSE"] | str | NotGiven = NOT_GIVEN,
        timeout_ms: int | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SignInHookWithSecret:
        """Let a URL of your server take part in sign-ups and sign-ins.

        A project has at most one hook of each kind.

        `BEFORE_SIGN_UP` is called before a person creates an account, `BEFORE_TOKEN` before an access token is
        issued, `MIGRATION` when a person signs in with a password and has none here. Requests are signed
        according to Standard Webhooks with the `secret`, which is returned only here and by a rotation. The
        answer must arrive within `timeoutMs`; otherwise `onFailure` applies.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            kind: Kind of the entry.
            url: An https URL.
            active: Whether the record is active. Default: `true`.
            on_failure: What happens without a valid answer in time. `CONTINUE`: as if there was no hook.
                `REFUSE`: 503 `hook_failed`. Default: `"REFUSE"`.
            timeout_ms: How long a call may take, in milliseconds. Default: `2000`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            HookExists
        """
        return await self._client._call(
            operations.CREATE_SIGN_IN_HOOK,
            (),
            body={"kind": kind, "url": url, "active": active, "onFailure": on_failure, "timeoutMs": timeout_ms},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        kind: Literal["BEFORE_SIGN_UP", "BEFORE_TOKEN", "MIGRATION"] | str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SignInHook:
        """Get a sign-in hook with its last failures, without the secret.

        Permission: `projects:read`.

        Credentials: developer, secret key.

        Args:
            kind: The kind.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            HookMissing
        """
        return await self._client._call(operations.GET_SIGN_IN_HOOK, (kind,), project=project, timeout=timeout)

    async def update(
        self,
        kind: Literal["BEFORE_SIGN_UP", "BEFORE_TOKEN", "MIGRATION"] | str,
        *,
        url: str | NotGiven = NOT_GIVEN,
        active: bool | NotGiven = NOT_GIVEN,
        on_failure: Literal["CONTINUE", "REFUSE"] | str | NotGiven = NOT_GIVEN,
        timeout_ms: int | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SignInHook:
        """Change a sign-in hook.

        If it was paused after failures, it is called again. Honours `If-Match`.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            kind: The kind.
            url: An https URL.
            active: Whether the record is active.
            on_failure: What happens without a valid answer in time. `CONTINUE`: as if there was no hook.
                `REFUSE`: 503 `hook_failed`.
            timeout_ms: How long a call may take, in milliseconds.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            HookMissing
        """
        return await self._client._call(
            operations.CHANGE_SIGN_IN_HOOK,
            (kind,),
            body={"url": url, "active": active, "onFailure": on_failure, "timeoutMs": timeout_ms},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        kind: Literal["BEFORE_SIGN_UP", "BEFORE_TOKEN", "MIGRATION"] | str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SignInHook:
        """Delete a sign-in hook.

        Honours `If-Match`.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            kind: The kind.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            HookMissing
        """
        return await self._client._call(
            operations.DELETE_SIGN_IN_HOOK, (kind,), if_match=if_match, project=project, timeout=timeout
        )

    async def rotate_secret(
        self,
        kind: Literal["BEFORE_SIGN_UP", "BEFORE_TOKEN", "MIGRATION"] | str,
        *,
        grace_period_seconds: int | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SignInHookWithSecret:
        """Rotate the secret of a hook.

        The new secret is returned only here.

        The old secret signs in addition to the new one for `gracePeriodSeconds` (default 24 hours). If an even
        older secret still signs, it becomes invalid immediately.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            kind: The kind.
            grace_period_seconds: How long the old secret signs in addition to the new one, in seconds; 0 to
                604,800 (7 days). Default: `86400`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            HookMissing
        """
        return await self._client._call(
            operations.ROTATE_SIGN_IN_HOOK_SECRET,
            (kind,),
            body={"gracePeriodSeconds": grace_period_seconds},
            project=project,
            timeout=timeout,
        )

    async def test(
        self,
        kind: Literal["BEFORE_SIGN_UP", "BEFORE_TOKEN", "MIGRATION"] | str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SignInHookTest:
        """Call a hook now with example data (`data.test` is true), and return whether its answer is valid.

        The call is made once, even if the hook is inactive or paused. Nothing is recorded.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            kind: The kind.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            HookMissing
        """
        return await self._client._call(operations.TEST_SIGN_IN_HOOK, (kind,), project=project, timeout=timeout)


class AsyncSigningKeys:
    """The methods of `client.signing_keys`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def list(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """The public keys that verify customers' access tokens (ES256), and those for ID tokens with RS256 (RFC
        7517).

        Cache them for at most five minutes.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.LIST_SIGNING_KEYS, (), project=project, timeout=timeout)

    async def rotate(
        self,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Create a new key for customers' access tokens, and for ID tokens with RS256 if the project has such a
        key.

        New keys are published at once and sign after ten minutes; earlier ones are removed from the JWKS an hour
        after that.

        Permission: `projects:write`.

        Credentials: developer, secret key.

        Args:
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.ROTATE_SIGNING_KEYS, (), project=project, timeout=timeout)


class AsyncSso:
    """The methods of `client.sso`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list_all(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.SsoConnectionWithOrganization]:
        """List the connections of all organizations of the project, newest first, each with its organization.

        Permission: `sso:read`.

        Credentials: developer, secret key.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_ALL_SSO_CONNECTIONS,
            (),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    def list(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.SsoConnection]:
        """List the connections of an organization, newest first.

        Permission: `sso:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
        """
        return self._client._list(
            operations.LIST_SSO_CONNECTIONS,
            (id,),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        id: str,
        *,
        name: str,
        domain: str,
        idp_metadata_xml: str | NotGiven = NOT_GIVEN,
        idp_metadata_url: str | None | NotGiven = NOT_GIVEN,
        idp_entity_id: str | None | NotGiven = NOT_GIVEN,
        idp_sso_url: str | None | NotGiven = NOT_GIVEN,
        idp_sso_binding: Literal["POST", "REDIRECT"] | str | NotGiven = NOT_GIVEN,
        idp_slo_url: str | None | NotGiven = NOT_GIVEN,
        idp_slo_binding: Literal["POST", "REDIRECT"] | str | NotGiven = NOT_GIVEN,
        idp_slo_response_url: str | None | NotGiven = NOT_GIVEN,
        oidc_issuer: str | None | NotGiven = NOT_GIVEN,
        oidc_client_id: str | None | NotGiven = NOT_GIVEN,
        oidc_client_secret: str | None | NotGiven = NOT_GIVEN,
        oidc_scopes: str | None | NotGiven = NOT_GIVEN,
        idp_certificate: Sequence[str] | NotGiven = NOT_GIVEN,
        allow_idp_initiated: bool | NotGiven = NOT_GIVEN,
        require_encryption: bool | NotGiven = NOT_GIVEN,
        allow_aes_cbc: bool | NotGiven = NOT_GIVEN,
        accept_expired_certificates: bool | NotGiven = NOT_GIVEN,
        force_authn: bool | NotGiven = NOT_GIVEN,
        name_id_format: str | None | NotGiven = NOT_GIVEN,
        clock_skew_seconds: int | NotGiven = NOT_GIVEN,
        attribute_mapping: types.AttributeMapping | params.AttributeMappingDict | NotGiven = NOT_GIVEN,
        default_roles: Sequence[str] | NotGiven = NOT_GIVEN,
        group_roles: Mapping[str, Sequence[str]] | NotGiven = NOT_GIVEN,
        create_customers: bool | NotGiven = NOT_GIVEN,
        allow_other_domains: bool | NotGiven = NOT_GIVEN,
        trust_mfa: bool | NotGiven = NOT_GIVEN,
        on_new_subject: Literal["HOLD", "REFUSE"] | str | NotGiven = NOT_GIVEN,
        default_redirect_url: str | None | NotGiven = NOT_GIVEN,
        kind: Literal["OIDC", "SAML"] | str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SsoConnection:
        """Create a connection as DRAFT, by SAML, or with `kind: OIDC` by OpenID Connect.

        SAML: set the identity provider's metadata now or later: as XML, by URL, or field by field. Enter
        `spEntityId` and `spAcsUrl`, or `spMetadataUrl`, at the identity provider. The service provider keys are
        generated.

        OpenID Connect: set `oidcIssuer`, `oidcClientId` and `oidcClientSecret`, and enter `oidcRedirectUrl` at
        the provider.

        Try the connection with `test`; then `activate` it.

        Permission: `sso:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            name: A display name: one line of text, not only blanks.
            domain: Domain name.
            idp_metadata_xml: The identity provider's metadata: sets all fields whose names begin with `idp`.
            idp_metadata_url: URL of the metadata. It is fetched now and used like `idpMetadataXml`, and fetched
                again every day, so that new certificates are taken over. While it is set, the fetched metadata
                overrides fields set one by one.
            idp_entity_id: Entity id of the identity provider.
            idp_sso_url: Single sign-on URL of the identity provider.
            idp_sso_binding: SAML binding of authentication requests.
            idp_slo_url: Single logout URL of the identity provider; null for no single logout.
            idp_slo_binding: SAML binding of logout requests.
            idp_slo_response_url: URL for responses to logout requests; null uses `idpSloUrl`.
            oidc_issuer: Issuer of the OpenID provider, exactly as its discovery document has it.
            oidc_client_id: Client id at the OpenID provider; null for SAML.
            oidc_client_secret: Client secret; null for a public client. Send it again if you change the issuer.
            oidc_scopes: Scopes to request; must contain `openid`. Default: `openid email profile`.
            idp_certificate: Signing certificates, PEM or bare base64; replaces the list. Add the provider's next
                certificate before the provider signs with it.
            allow_idp_initiated: Accept IdP-initiated sign-on; the browser is redirected to `defaultRedirectUrl`.
            require_encryption: Whether assertions must be encrypted.
            allow_aes_cbc: Whether the outdated AES-CBC encryption is accepted.
            accept_expired_certificates: Whether expired certificates of the identity provider are accepted.
            force_authn: Whether the identity provider must authenticate the person again (`ForceAuthn`).
            name_id_format: Format of the name identifier to request; null for any.
            clock_skew_seconds: Tolerated clock difference in seconds.
            attribute_mapping: Names of the SAML attributes or claims with the person's data.
            default_roles: Roles in the organization for users who sign on for the first time.
            group_roles: Roles for each group. Roles listed here are updated at every sign-on; others stay.
            create_customers: Whether the sign-on of an unknown user creates a customer.
            allow_other_domains: Whether to accept addresses outside the organization's verified domains
                (guests). They count as unverified.
            trust_mfa: Whether every sign-on counts as multi-factor: set this if the identity provider always
                requires a second factor. If false, only a sign-on counts whose assertion says so
                (`AuthnContextClassRef`, or Microsoft's `authnmethodsreferences`).
            on_new_subject: What to do if a user of the identity provider has the address of a customer who is
                linked to another user of the provider: REFUSE the sign-on, or HOLD it as an `identity-request`
                until an administrator approves it.
            default_redirect_url: Redirect URL for IdP-initiated sign-on: one of the project's `redirectUrls`.
            kind: The protocol; it cannot be changed. Default: `"SAML"`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MetadataRefused
            MetadataTooLarge
            MetadataUnreachable
            OrganizationMissing
            RoleUnknown
            TooManySsoConnections
        """
        return await self._client._call(
            operations.CREATE_SSO_CONNECTION,
            (id,),
            body={
                "idpMetadataXml": idp_metadata_xml,
                "idpMetadataUrl": idp_metadata_url,
                "idpEntityId": idp_entity_id,
                "idpSsoUrl": idp_sso_url,
                "idpSsoBinding": idp_sso_binding,
                "idpSloUrl": idp_slo_url,
                "idpSloBinding": idp_slo_binding,
                "idpSloResponseUrl": idp_slo_response_url,
                "oidcIssuer": oidc_issuer,
                "oidcClientId": oidc_client_id,
                "oidcClientSecret": oidc_client_secret,
                "oidcScopes": oidc_scopes,
                "idpCertificate": idp_certificate,
                "allowIdpInitiated": allow_idp_initiated,
                "requireEncryption": require_encryption,
                "allowAesCbc": allow_aes_cbc,
                "acceptExpiredCertificates": accept_expired_certificates,
                "forceAuthn": force_authn,
                "nameIdFormat": name_id_format,
                "clockSkewSeconds": clock_skew_seconds,
                "attributeMapping": attribute_mapping,
                "defaultRoles": default_roles,
                "groupRoles": group_roles,
                "createCustomers": create_customers,
                "allowOtherDomains": allow_other_domains,
                "trustMfa": trust_mfa,
                "onNewSubject": on_new_subject,
                "defaultRedirectUrl": default_redirect_url,
                "kind": kind,
                "name": name,
                "domain": domain,
            },
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        conn_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SsoConnection:
        """Get a connection, with the values to enter at the identity provider and its pinned certificates.

        Permission: `sso:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SsoConnectionMissing
        """
        return await self._client._call(
            operations.GET_SSO_CONNECTION,
            (
                id,
                conn_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def update(
        self,
        id: str,
        conn_id: str,
        *,
        idp_metadata_xml: str | NotGiven = NOT_GIVEN,
        idp_metadata_url: str | None | NotGiven = NOT_GIVEN,
        idp_entity_id: str | None | NotGiven = NOT_GIVEN,
        idp_sso_url: str | None | NotGiven = NOT_GIVEN,
        idp_sso_binding: Literal["POST", "REDIRECT"] | str | NotGiven = NOT_GIVEN,
        idp_slo_url: str | None | NotGiven = NOT_GIVEN,
        idp_slo_binding: Literal["POST", "REDIRECT"] | str | NotGiven = NOT_GIVEN,
        idp_slo_response_url: str | None | NotGiven = NOT_GIVEN,
        oidc_issuer: str | None | NotGiven = NOT_GIVEN,
        oidc_client_id: str | None | NotGiven = NOT_GIVEN,
        oidc_client_secret: str | None | NotGiven = NOT_GIVEN,
        oidc_scopes: str | None | NotGiven = NOT_GIVEN,
        idp_certificate: Sequence[str] | NotGiven = NOT_GIVEN,
        allow_idp_initiated: bool | NotGiven = NOT_GIVEN,
        require_encryption: bool | NotGiven = NOT_GIVEN,
        allow_aes_cbc: bool | NotGiven = NOT_GIVEN,
        accept_expired_certificates: bool | NotGiven = NOT_GIVEN,
        force_authn: bool | NotGiven = NOT_GIVEN,
        name_id_format: str | None | NotGiven = NOT_GIVEN,
        clock_skew_seconds: int | NotGiven = NOT_GIVEN,
        attribute_mapping: types.AttributeMapping | params.AttributeMappingDict | NotGiven = NOT_GIVEN,
        default_roles: Sequence[str] | NotGiven = NOT_GIVEN,
        group_roles: Mapping[str, Sequence[str]] | NotGiven = NOT_GIVEN,
        create_customers: bool | NotGiven = NOT_GIVEN,
        allow_other_domains: bool | NotGiven = NOT_GIVEN,
        trust_mfa: bool | NotGiven = NOT_GIVEN,
        on_new_subject: Literal["HOLD", "REFUSE"] | str | NotGiven = NOT_GIVEN,
        default_redirect_url: str | None | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        domain: str | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SsoConnection:
        """Change a connection.

        Omitted fields keep their values. Honours `If-Match`.

        `idpMetadataXml` or `idpMetadataUrl` sets every field whose name begins with `idp` from the metadata;
        `idp` fields in the same request take precedence. `testedAt` becomes null if the change invalidates the
        test.

        A change that would make an ACTIVE connection incomplete returns 409; deactivate it first. If this
        connection is ACTIVE and another organization, which has lost the domain, still has an active connection
        for it, the connection of the other organization is deactivated.

        Permission: `sso:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            idp_metadata_xml: The identity provider's metadata: sets all fields whose names begin with `idp`.
            idp_metadata_url: URL of the metadata. It is fetched now and used like `idpMetadataXml`, and fetched
                again every day, so that new certificates are taken over. While it is set, the fetched metadata
                overrides fields set one by one.
            idp_entity_id: Entity id of the identity provider.
            idp_sso_url: Single sign-on URL of the identity provider.
            idp_sso_binding: SAML binding of authentication requests.
            idp_slo_url: Single logout URL of the identity provider; null for no single logout.
            idp_slo_binding: SAML binding of logout requests.
            idp_slo_response_url: URL for responses to logout requests; null uses `idpSloUrl`.
            oidc_issuer: Issuer of the OpenID provider, exactly as its discovery document has it.
            oidc_client_id: Client id at the OpenID provider; null for SAML.
            oidc_client_secret: Client secret; null for a public client. Send it again if you change the issuer.
            oidc_scopes: Scopes to request; must contain `openid`. Default: `openid email profile`.
            idp_certificate: Signing certificates, PEM or bare base64; replaces the list. Add the provider's next
                certificate before the provider signs with it.
            allow_idp_initiated: Accept IdP-initiated sign-on; the browser is redirected to `defaultRedirectUrl`.
            require_encryption: Whether assertions must be encrypted.
            allow_aes_cbc: Whether the outdated AES-CBC encryption is accepted.
            accept_expired_certificates: Whether expired certificates of the identity provider are accepted.
            force_authn: Whether the identity provider must authenticate the person again (`ForceAuthn`).
            name_id_format: Format of the name identifier to request; null for any.
            clock_skew_seconds: Tolerated clock difference in seconds.
            attribute_mapping: Names of the SAML attributes or claims with the person's data.
            default_roles: Roles in the organization for users who sign on for the first time.
            group_roles: Roles for each group. Roles listed here are updated at every sign-on; others stay.
            create_customers: Whether the sign-on of an unknown user creates a customer.
            allow_other_domains: Whether to accept addresses outside the organization's verified domains
                (guests). They count as unverified.
            trust_mfa: Whether every sign-on counts as multi-factor: set this if the identity provider always
                requires a second factor. If false, only a sign-on counts whose assertion says so
                (`AuthnContextClassRef`, or Microsoft's `authnmethodsreferences`).
            on_new_subject: What to do if a user of the identity provider has the address of a customer who is
                linked to another user of the provider: REFUSE the sign-on, or HOLD it as an `identity-request`
                until an administrator approves it.
            default_redirect_url: Redirect URL for IdP-initiated sign-on: one of the project's `redirectUrls`.
            name: A display name: one line of text, not only blanks.
            domain: Domain name.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            MetadataRefused
            MetadataTooLarge
            MetadataUnreachable
            OrganizationMissing
            RoleUnknown
            SsoConnectionIncomplete
            SsoConnectionMissing
            SsoDomainServed
        """
        return await self._client._call(
            operations.CHANGE_SSO_CONNECTION,
            (
                id,
                conn_id,
            ),
            body={
                "idpMetadataXml": idp_metadata_xml,
                "idpMetadataUrl": idp_metadata_url,
                "idpEntityId": idp_entity_id,
                "idpSsoUrl": idp_sso_url,
                "idpSsoBinding": idp_sso_binding,
                "idpSloUrl": idp_slo_url,
                "idpSloBinding": idp_slo_binding,
                "idpSloResponseUrl": idp_slo_response_url,
                "oidcIssuer": oidc_issuer,
                "oidcClientId": oidc_client_id,
                "oidcClientSecret": oidc_client_secret,
                "oidcScopes": oidc_scopes,
                "idpCertificate": idp_certificate,
                "allowIdpInitiated": allow_idp_initiated,
                "requireEncryption": require_encryption,
                "allowAesCbc": allow_aes_cbc,
                "acceptExpiredCertificates": accept_expired_certificates,
                "forceAuthn": force_authn,
                "nameIdFormat": name_id_format,
                "clockSkewSeconds": clock_skew_seconds,
                "attributeMapping": attribute_mapping,
                "defaultRoles": default_roles,
                "groupRoles": group_roles,
                "createCustomers": create_customers,
                "allowOtherDomains": allow_other_domains,
                "trustMfa": trust_mfa,
                "onNewSubject": on_new_subject,
                "defaultRedirectUrl": default_redirect_url,
                "name": name,
                "domain": domain,
            },
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        conn_id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Removed:
        """Delete a connection with its keys.

        Customers who used it stay and can use other sign-in methods.

        Returns 409 if single sign-on is required and this is the only working connection. Honours `If-Match`.

        Permission: `sso:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SsoConnectionMissing
            SsoStillRequired
        """
        return await self._client._call(
            operations.DELETE_SSO_CONNECTION,
            (
                id,
                conn_id,
            ),
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def get_metadata(
        self,
        id: str,
        conn_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Get the service provider metadata: URLs, and the certificates of the CURRENT and the NEXT key.

        Permission: `sso:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SamlOnly
            SsoConnectionMissing
        """
        return await self._client._call(
            operations.GET_SSO_METADATA,
            (
                id,
                conn_id,
            ),
            project=project,
            timeout=timeout,
        )

    async def activate(
        self,
        id: str,
        conn_id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SsoConnection:
        """Activate a connection.

        The connection needs the identity provider's entity id, an https sign-on URL and a certificate that has
        not expired, or for OpenID Connect an issuer and a client id; and a VERIFIED domain of the organization
        equal to `domain`. Otherwise the response is 409 with the missing parts in `errors`. Only one active
        connection can serve a domain. If another organization, which has lost the domain, still has an active
        connection for it, the connection of the other organization is deactivated. Honours `If-Match`.

        Permission: `sso:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SsoConnectionIncomplete
            SsoConnectionMissing
            SsoDomainServed
        """
        return await self._client._call(
            operations.ACTIVATE_SSO_CONNECTION,
            (
                id,
                conn_id,
            ),
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def deactivate(
        self,
        id: str,
        conn_id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SsoConnection:
        """Deactivate a connection.

        Existing sessions continue.

        Returns 409 if single sign-on is required and this is the only working connection. Honours `If-Match`.

        Permission: `sso:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SsoConnectionDraft
            SsoConnectionMissing
            SsoStillRequired
        """
        return await self._client._call(
            operations.DEACTIVATE_SSO_CONNECTION,
            (
                id,
                conn_id,
            ),
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def rotate_certificate(
        self,
        id: str,
        conn_id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SsoConnection:
        """Rotate the keys: NEXT becomes CURRENT and signs from now on, and a new NEXT is published.

        Do this after the identity provider has imported the NEXT certificate from the metadata. Messages
        encrypted for the previous key can be decrypted until the next rotation. Honours `If-Match`.

        Permission: `sso:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SamlOnly
            SsoConnectionMissing
        """
        return await self._client._call(
            operations.ROTATE_SSO_CERTIFICATE,
            (
                id,
                conn_id,
            ),
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def create_test_link(
        self,
        id: str,
        conn_id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SsoTest:
        """Create a link to test the connection, even if it is not active: open the link in a browser and sign on.

        The final page and the operation `…/traces` show every check and the resulting profile. No customer is
        created or signed in. The link is valid for an hour.

        Permission: `sso:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SsoConnectionIncomplete
            SsoConnectionMissing
        """
        return await self._client._call(
            operations.TEST_SSO_CONNECTION,
            (
                id,
                conn_id,
            ),
            project=project,
            timeout=timeout,
        )

    def list_traces(
        self,
        id: str,
        conn_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.SsoTrace]:
        """List the checks of the latest sign-ons, tests and logouts, newest first.

        They are kept for seven days.

        Permission: `sso:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            conn_id: The conn id.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            OrganizationMissing
            SsoConnectionMissing
        """
        return self._client._list(
            operations.LIST_SSO_TRACES,
            (
                id,
                conn_id,
            ),
            query={"limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )


class AsyncSuppressions:
    """The methods of `client.suppressions`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        reason: Literal["BOUNCE", "COMPLAINT", "MANUAL", "UNSUBSCRIBE"] | str | None = None,
        q: str | None = None,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.Suppression]:
        """The suppressed addresses with their reasons, newest first.

        `q` filters by part of the address.

        Permission: `emails:read`.

        Credentials: developer, secret key.

        Args:
            reason: Reason.
            q: Q.
            page: Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further.
            limit: Records per page.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_SUPPRESSIONS,
            (),
            query={"reason": reason, "q": q, "page": page, "limit": limit, "cursor": cursor},
            project=project,
            timeout=timeout,
        )

    async def add(
        self,
        *,
        address: str,
        reason: Literal["BOUNCE", "COMPLAINT", "MANUAL", "UNSUBSCRIBE"] | str | NotGiven = NOT_GIVEN,
        detail: str | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Suppression:
        """Suppress an address, so that it gets no more mail.

        A stronger reason replaces a weaker one, which stays in `history`. From weakest to strongest the reasons
        are UNSUBSCRIBE, MANUAL, BOUNCE and COMPLAINT. A weaker or equal reason is a 409.

        Permission: `emails:write`.

        Credentials: developer, secret key.

        Args:
            address: E-mail address.
            reason: Reason, as text. Default: `"MANUAL"`.
            detail: Further details, as text.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            AlreadySuppressed
        """
        return await self._client._call(
            operations.ADD_SUPPRESSION,
            (),
            body={"address": address, "reason": reason, "detail": detail},
            project=project,
            timeout=timeout,
        )

    async def export(
        self,
        *,
        reason: Literal["BOUNCE", "COMPLAINT", "MANUAL", "UNSUBSCRIBE"] | str | None = None,
        q: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The suppressed addresses as CSV, newest first, with the filters of the list.

        Permission: `emails:read`.

        Credentials: developer, secret key.

        Args:
            reason: Reason.
            q: Q.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.EXPORT_SUPPRESSIONS, (), query={"reason": reason, "q": q}, project=project, timeout=timeout
        )

    async def add_batch(
        self,
        *,
        addresses: Sequence[str],
        reason: Literal["BOUNCE", "COMPLAINT", "MANUAL", "UNSUBSCRIBE"] | str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.SuppressionBulkResult:
        """Suppress up to 1,000 addresses.

        Addresses that are invalid, repeated, or already suppressed for this or a stronger reason are skipped.
        `upgraded` counts the added addresses that were suppressed for a weaker reason before.

        Permission: `emails:write`.

        Credentials: developer, secret key.

        Args:
            addresses: E-mail addresses, at most 1,000.
            reason: Reason, as text. Default: `"MANUAL"`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(
            operations.ADD_SUPPRESSIONS_IN_BULK,
            (),
            body={"addresses": addresses, "reason": reason},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        address: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Suppression:
        """The suppression of an address, with its reason.

        Permission: `emails:read`.

        Credentials: developer, secret key.

        Args:
            address: The address.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SuppressionMissing
        """
        return await self._client._call(operations.GET_SUPPRESSION, (address,), project=project, timeout=timeout)

    async def remove(
        self,
        address: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Suppression:
        """Remove an address from the suppression list.

        Returns the removed suppression.

        The count of soft bounces of the address begins again at zero.

        Permission: `emails:write`.

        Credentials: developer, secret key.

        Args:
            address: The address.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            SuppressionMissing
        """
        return await self._client._call(operations.REMOVE_SUPPRESSION, (address,), project=project, timeout=timeout)


class AsyncTemplates:
    """The methods of `client.templates`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    def list(
        self,
        *,
        q: str | None = None,
        view: Literal["full", "summary"] | str | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        sort: Literal["-createdAt", "-name", "-updatedAt", "createdAt", "name", "updatedAt"] | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        include: Sequence[Literal["total"] | str] | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.Template]:
        """The project's templates, newest first.

        All given filters must match.

        A page has at most 8 MB; the `Link` header has the URL of the next page. With `view=summary` html, text
        and builderJson are null, and a page has as many templates as `limit` allows.

        Permission: `templates:read`.

        Credentials: developer, secret key.

        Args:
            q: Part of name or subject, in any letter case.
            view: `summary`: without html, text and builderJson.
            from_: Only records that were created at this time or later.
            to: Only records that were created before this time.
            sort: Order; `-` is descending. `name` ignores the letter case.
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            include: `total`: the header `Total-Count`, the number of matching records, counted up to 10,000.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_TEMPLATES,
            (),
            query={
                "q": q,
                "view": view,
                "from": from_,
                "to": to,
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "include": include,
            },
            project=project,
            timeout=timeout,
        )

    async def create(
        self,
        *,
        name: str,
        builder_json: Mapping[str, Any] | None | NotGiven = NOT_GIVEN,
        html: str | None | NotGiven = NOT_GIVEN,
        subject: str | None | NotGiven = NOT_GIVEN,
        text: str | None | NotGiven = NOT_GIVEN,
        engine: Literal["minijinja", "none"] | str | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Template:
        """Create a template.

        `builderJson` is MJML (`{"mjml": "…"}`) or a block document (`{"blocks": […]}`) and is rendered to html.
        If `html` is given too, it is sent instead; both are stored. The template language is MiniJinja:
        `{{name}}`, `{% if … %}`. A syntax error is a 400 with line and column. `variables` in the response are
        the names that the template uses. With `"engine": "none"` nothing is rendered: subject, html and text are
        sent as they are.

        Permission: `templates:write`.

        Credentials: developer, secret key.

        Args:
            name: A display name: one line of text, not only blanks.
            builder_json: `{"mjml": "…"}` or `{"blocks": [{"type": "text", "text": "…"}, …]}`.
            html: HTML body.
            subject: Subject line.
            text: Plain text body.
            engine: `minijinja` renders tags such as `{{name}}`; `none` sends subject, html and text unchanged.
                Default: `"minijinja"`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            RenderingAway
            RenderingBusy
            TemplateCrashed
            TemplateTooExpensive
            TooManyTemplates
        """
        return await self._client._call(
            operations.CREATE_TEMPLATE,
            (),
            body={
                "name": name,
                "builderJson": builder_json,
                "html": html,
                "subject": subject,
                "text": text,
                "engine": engine,
            },
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Template:
        """A template.

        `html` is what is sent: the template's own html, or the rendered `builderJson`.

        Permission: `templates:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            TemplateMissing
        """
        return await self._client._call(operations.GET_TEMPLATE, (id,), project=project, timeout=timeout)

    async def update(
        self,
        id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        builder_json: Mapping[str, Any] | None | NotGiven = NOT_GIVEN,
        html: str | None | NotGiven = NOT_GIVEN,
        subject: str | None | NotGiven = NOT_GIVEN,
        text: str | None | NotGiven = NOT_GIVEN,
        engine: Literal["minijinja", "none"] | str | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Template:
        """Change a template.

        Omitted fields keep their values; `html: null` renders the html from `builderJson` again.

        Sends and campaigns that have started keep their content. Honours `If-Match`.

        Permission: `templates:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            name: A display name: one line of text, not only blanks.
            builder_json: Source from which the HTML is rendered: `{mjml}` or `{blocks}`.
            html: HTML body.
            subject: Subject line.
            text: Plain text body.
            engine: `minijinja` renders tags such as `{{name}}`; `none` sends subject, html and text unchanged.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            RenderingAway
            RenderingBusy
            TemplateBusy
            TemplateCrashed
            TemplateMissing
            TemplateTooExpensive
        """
        return await self._client._call(
            operations.CHANGE_TEMPLATE,
            (id,),
            body={
                "name": name,
                "builderJson": builder_json,
                "html": html,
                "subject": subject,
                "text": text,
                "engine": engine,
            },
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Deleted:
        """Delete a template and its versions.

        The response is 409 if scheduled campaigns, active automations, automations with current runs, or
        variants of draft campaigns use the template; `errors` lists them. Honours `If-Match`.

        Permission: `templates:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            TemplateInUse
            TemplateMissing
        """
        return await self._client._call(
            operations.DELETE_TEMPLATE, (id,), if_match=if_match, project=project, timeout=timeout
        )

    async def duplicate(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Template:
        """Copy a template.

        The copy is named `… (copy)`; versions are not copied.

        Permission: `templates:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            TemplateMissing
            TooManyTemplates
        """
        return await self._client._call(operations.DUPLICATE_TEMPLATE, (id,), project=project, timeout=timeout)

    async def preview(
        self,
        id: str,
        *,
        variables: Mapping[str, Any] | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.TemplatePreview:
        """Render subject, html and text as a recipient with these variables would get them.

        Nothing is sent or tracked.

        Permission: `templates:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            variables: Values of template variables such as `{{name}}`; of a template, the names of its
                variables.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            RenderFailed
            RenderingAway
            RenderingBusy
            TemplateCrashed
            TemplateMissing
            TemplateTooExpensive
        """
        return await self._client._call(
            operations.PREVIEW_TEMPLATE, (id,), body={"variables": variables}, project=project, timeout=timeout
        )

    async def render(
        self,
        *,
        subject: str | None | NotGiven = NOT_GIVEN,
        html: str | None | NotGiven = NOT_GIVEN,
        text: str | None | NotGiven = NOT_GIVEN,
        builder_json: Mapping[str, Any] | None | NotGiven = NOT_GIVEN,
        engine: Literal["minijinja", "none"] | str | NotGiven = NOT_GIVEN,
        variables: Mapping[str, Any] | NotGiven = NOT_GIVEN,
        contact: types.SampleContact | params.SampleContactDict | None | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.RenderedDraft:
        """Render content that is not stored, as a recipient with these variables would get it.

        Nothing is stored, sent or tracked.

        Content as for a new template; `contact` and `variables` are the values. Errors in the content are in
        `problems`, with the path, and the line and column if they are known; a part with an error is null, and
        the others are rendered.

        Permission: `templates:read`.

        Credentials: developer, secret key.

        Args:
            subject: Subject line.
            html: HTML body.
            text: Plain text body.
            builder_json: `{"mjml": "…"}` or `{"blocks": [{"type": "text", "text": "…"}, …]}`.
            engine: `minijinja` renders tags such as `{{name}}`; `none` sends subject, html and text unchanged.
                Default: `"minijinja"`.
            variables: Values of template variables such as `{{name}}`; of a template, the names of its
                variables.
            contact: A sample contact, whose address and attributes are variables as in a campaign; `variables`
                override them.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            RenderingAway
            RenderingBusy
            TemplateCrashed
        """
        return await self._client._call(
            operations.RENDER_TEMPLATE,
            (),
            body={
                "subject": subject,
                "html": html,
                "text": text,
                "builderJson": builder_json,
                "engine": engine,
                "variables": variables,
                "contact": contact,
            },
            project=project,
            timeout=timeout,
        )

    async def list_versions(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> builtins.list[types.TemplateVersion]:
        """The last 50 versions of a template, newest first, including the current one.

        Permission: `templates:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            TemplateMissing
        """
        return await self._client._call(operations.LIST_TEMPLATE_VERSIONS, (id,), project=project, timeout=timeout)


class AsyncTracking:
    """The methods of `client.tracking`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    async def open(
        self,
        send_id: str,
        *,
        timeout: float | None = None,
    ) -> bytes:
        """The tracking pixel of a message.

        The response is always the 43-byte GIF, even for an unknown send.

        A HEAD request is not recorded.

        Args:
            send_id: The send id.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.TRACK_OPEN, (send_id,), timeout=timeout)

    async def click(
        self,
        send_id: str,
        *,
        u: str | None = None,
        s: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """A tracked link of a message: records the click and redirects to `u` with a 302.

        `s` is a signature of purpose, send and target. Without a valid signature the response is a 404 page,
        never a redirect.

        Args:
            send_id: The send id.
            u: The target URL of the link.
            s: The link's signature.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.TRACK_CLICK, (send_id,), query={"u": u, "s": s}, timeout=timeout)

    async def show_unsubscribe(
        self,
        send_id: str,
        *,
        s: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The page of an unsubscribe link.

        Opening it changes nothing; its button unsubscribes.

        Args:
            send_id: The send id.
            s: The link's signature.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.SHOW_UNSUBSCRIBE, (send_id,), query={"s": s}, timeout=timeout)

    async def unsubscribe(
        self,
        send_id: str,
        *,
        s: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Unsubscribe the recipient of a send: by the button of the page, or by one click in a mail client (RFC
        8058).

        The contact is unsubscribed, and the address is suppressed with the reason UNSUBSCRIBE. The link of a
        test copy changes nothing. `s` can be in the query or in the body (form, multipart or JSON). Idempotent;
        needs no cookie.

        Args:
            send_id: The send id.
            s: The link's signature.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return await self._client._call(operations.UNSUBSCRIBE, (send_id,), query={"s": s}, timeout=timeout)


class AsyncWebhooks:
    """The methods of `client.webhooks`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    @cached_property
    def deliveries(self) -> AsyncWebhooksDeliveries:
        """Methods of `client.webhooks.deliveries`."""
        return AsyncWebhooksDeliveries(self._client)

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPaged[types.Webhook]:
        """List the project's webhook subscriptions, newest first, without secrets.

        Permission: `webhooks:read`.

        Credentials: developer, secret key.

        Args:
            limit: Maximum number of records.
            cursor: The cursor from the previous response, with the same filters.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.
        """
        return self._client._list(
            operations.LIST_WEBHOOKS, (), query={"limit": limit, "cursor": cursor}, project=project, timeout=timeout
        )

    async def create(
        self,
        *,
        url: str,
        events: Sequence[str],
        description: str | NotGiven = NOT_GIVEN,
        active: bool | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.WebhookWithSecret:
        """Subscribe a URL to events.

        Each event is sent as a POST request, signed according to Standard Webhooks (`webhook-id`, `webhook-
        timestamp`, `webhook-signature`) with the `secret`, which is returned only here and by a rotation. A 2xx
        response within 15 seconds is a success; otherwise up to ten attempts are made over three days. Redirects
        are not followed, and addresses that are not on the public Internet are not called. `send.delivered` is a
        former name of `email.delivered`; subscribe to custom events as `custom.<name>`.

        Permission: `webhooks:write`.

        Credentials: developer, secret key.

        Args:
            url: Where to send; https or http.
            events: Event names, `email.*`, `*`.
            description: Description for people.
            active: Whether the record is active. Default: `true`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            TooManyWebhooks
        """
        return await self._client._call(
            operations.CREATE_WEBHOOK,
            (),
            body={"url": url, "events": events, "description": description, "active": active},
            project=project,
            timeout=timeout,
        )

    async def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Webhook:
        """Get a webhook subscription with its status, without the secret.

        Permission: `webhooks:read`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            WebhookMissing
        """
        return await self._client._call(operations.GET_WEBHOOK, (id,), project=project, timeout=timeout)

    async def update(
        self,
        id: str,
        *,
        url: str | NotGiven = NOT_GIVEN,
        events: Sequence[str] | NotGiven = NOT_GIVEN,
        description: str | NotGiven = NOT_GIVEN,
        active: bool | NotGiven = NOT_GIVEN,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Webhook:
        """Change the URL or events of a subscription, or activate or deactivate it.

        Activation resets the failures. Deliveries that become due while the subscription is inactive fail, and
        can be replayed. Honours `If-Match`.

        Permission: `webhooks:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            url: Where to send; https or http.
            events: Event names, `email.*`, `*`.
            description: Description for people.
            active: Whether the record is active.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            WebhookMissing
        """
        return await self._client._call(
            operations.CHANGE_WEBHOOK,
            (id,),
            body={"url": url, "events": events, "description": description, "active": active},
            if_match=if_match,
            project=project,
            timeout=timeout,
        )

    async def delete(
        self,
        id: str,
        *,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.Webhook:
        """Delete a subscription and its deliveries.

        Pending deliveries are not sent. Honours `If-Match`.

        Permission: `webhooks:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            if_match: Change only this version: `postern_sdk.etag(record)`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            WebhookMissing
        """
        return await self._client._call(
            operations.DELETE_WEBHOOK, (id,), if_match=if_match, project=project, timeout=timeout
        )

    async def rotate_secret(
        self,
        id: str,
        *,
        grace_period_seconds: int | NotGiven = NOT_GIVEN,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.WebhookWithSecret:
        """Rotate the secret of a subscription.

        The new secret is returned only here.

        The old secret signs in addition to the new one for `gracePeriodSeconds` (default 24 hours, at most 7
        days, 0 to end it now), so that you can change over without rejecting deliveries. If an even older secret
        still signs, it becomes invalid immediately.

        Permission: `webhooks:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            grace_period_seconds: How long the old secret signs in addition to the new one, in seconds; 0 to
                604,800 (7 days). Default: `86400`.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            WebhookMissing
        """
        return await self._client._call(
            operations.ROTATE_WEBHOOK_SECRET,
            (id,),
            body={"gracePeriodSeconds": grace_period_seconds},
            project=project,
            timeout=timeout,
        )

    async def send_test(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: float | None = None,
    ) -> types.WebhookTestResult:
        """Send a signed `webhook.test` event to the subscription's URL now, and return the result.

        `status` is null if there was no response; `reason` tells why, or why the response is a failure. The
        request is made once, even if the subscription is inactive, and no delivery is recorded.

        Permission: `webhooks:write`.

        Credentials: developer, secret key.

        Args:
            id: The id.
            project: Project id, if not that of the client.
            timeout: Seconds for one attempt, if not that of the client.

        Raises:
            WebhookMissing
        """
        return await self._client._call(operations.TEST_WEBHOOK, (id,), project=project, timeout=timeout)

    @staticmethod
    def verify(
        body: bytes | str,
        headers: Mapping[str, str],
        secret: str | Sequence[str],
        *,
        tolerance: float = 300.0,
    ) -> Event:
        """Verify the signature of a webhook delivery and return its event. The same as `postern_sdk.webhooks.verify`.

        Raises:
            WebhookVerificationError: the delivery is not signed with a secret given, or too old.
        """
        from postern_sdk.webhooks import verify

        return verify(body, headers, secret, tolerance=tolerance)


class AsyncPostern(AsyncTransport):
    """An asynchronous client of Postern.

    The methods are grouped as in `await client.emails.send(...)`. Close the client, or use it as a context manager.
    """

    @cached_property
    def access(self) -> AsyncAccess:
        """Methods of `client.access`."""
        return AsyncAccess(self)

    @cached_property
    def account(self) -> AsyncAccount:
        """Methods of `client.account`."""
        return AsyncAccount(self)

    @cached_property
    def analytics(self) -> AsyncAnalytics:
        """Methods of `client.analytics`."""
        return AsyncAnalytics(self)

    @cached_property
    def api_keys(self) -> AsyncApiKeys:
        """Methods of `client.api_keys`."""
        return AsyncApiKeys(self)

    @cached_property
    def apps(self) -> AsyncApps:
        """Methods of `client.apps`."""
        return AsyncApps(self)

    @cached_property
    def assets(self) -> AsyncAssets:
        """Methods of `client.assets`."""
        return AsyncAssets(self)

    @cached_property
    def audiences(self) -> AsyncAudiences:
        """Methods of `client.audiences`."""
        return AsyncAudiences(self)

    @cached_property
    def auth(self) -> AsyncAuth:
        """Methods of `client.auth`."""
        return AsyncAuth(self)

    @cached_property
    def automations(self) -> AsyncAutomations:
        """Methods of `client.automations`."""
        return AsyncAutomations(self)

    @cached_property
    def billing(self) -> AsyncBilling:
        """Methods of `client.billing`."""
        return AsyncBilling(self)

    @cached_property
    def campaigns(self) -> AsyncCampaigns:
        """Methods of `client.campaigns`."""
        return AsyncCampaigns(self)

    @cached_property
    def contacts(self) -> AsyncContacts:
        """Methods of `client.contacts`."""
        return AsyncContacts(self)

    @cached_property
    def customer_mails(self) -> AsyncCustomerMails:
        """Methods of `client.customer_mails`."""
        return AsyncCustomerMails(self)

    @cached_property
    def customers(self) -> AsyncCustomers:
        """Methods of `client.customers`."""
        return AsyncCustomers(self)

    @cached_property
    def delivery_sites(self) -> AsyncDeliverySites:
        """Methods of `client.delivery_sites`."""
        return AsyncDeliverySites(self)

    @cached_property
    def developers(self) -> AsyncDevelopers:
        """Methods of `client.developers`."""
        return AsyncDevelopers(self)

    @cached_property
    def directories(self) -> AsyncDirectories:
        """Methods of `client.directories`."""
        return AsyncDirectories(self)

    @cached_property
    def domains(self) -> AsyncDomains:
        """Methods of `client.domains`."""
        return AsyncDomains(self)

    @cached_property
    def emails(self) -> AsyncEmails:
        """Methods of `client.emails`."""
        return AsyncEmails(self)

    @cached_property
    def entitlements(self) -> AsyncEntitlements:
        """Methods of `client.entitlements`."""
        return AsyncEntitlements(self)

    @cached_property
    def events(self) -> AsyncEvents:
        """Methods of `client.events`."""
        return AsyncEvents(self)

    @cached_property
    def features(self) -> AsyncFeatures:
        """Methods of `client.features`."""
        return AsyncFeatures(self)

    @cached_property
    def inbound(self) -> AsyncInbound:
        """Methods of `client.inbound`."""
        return AsyncInbound(self)

    @cached_property
    def inbox(self) -> AsyncInbox:
        """Methods of `client.inbox`."""
        return AsyncInbox(self)

    @cached_property
    def oauth(self) -> AsyncOauth:
        """Methods of `client.oauth`."""
        return AsyncOauth(self)

    @cached_property
    def oauth_clients(self) -> AsyncOauthClients:
        """Methods of `client.oauth_clients`."""
        return AsyncOauthClients(self)

    @cached_property
    def oauth_resources(self) -> AsyncOauthResources:
        """Methods of `client.oauth_resources`."""
        return AsyncOauthResources(self)

    @cached_property
    def oidc(self) -> AsyncOidc:
        """Methods of `client.oidc`."""
        return AsyncOidc(self)

    @cached_property
    def organizations(self) -> AsyncOrganizations:
        """Methods of `client.organizations`."""
        return AsyncOrganizations(self)

    @cached_property
    def page_texts(self) -> AsyncPageTexts:
        """Methods of `client.page_texts`."""
        return AsyncPageTexts(self)

    @cached_property
    def pages(self) -> AsyncPages:
        """Methods of `client.pages`."""
        return AsyncPages(self)

    @cached_property
    def plans(self) -> AsyncPlans:
        """Methods of `client.plans`."""
        return AsyncPlans(self)

    @cached_property
    def projects(self) -> AsyncProjects:
        """Methods of `client.projects`."""
        return AsyncProjects(self)

    @cached_property
    def providers(self) -> AsyncProviders:
        """Methods of `client.providers`."""
        return AsyncProviders(self)

    @cached_property
    def saml(self) -> AsyncSaml:
        """Methods of `client.saml`."""
        return AsyncSaml(self)

    @cached_property
    def senders(self) -> AsyncSenders:
        """Methods of `client.senders`."""
        return AsyncSenders(self)

    @cached_property
    def sign_in_hooks(self) -> AsyncSignInHooks:
        """Methods of `client.sign_in_hooks`."""
        return AsyncSignInHooks(self)

    @cached_property
    def signing_keys(self) -> AsyncSigningKeys:
        """Methods of `client.signing_keys`."""
        return AsyncSigningKeys(self)

    @cached_property
    def sso(self) -> AsyncSso:
        """Methods of `client.sso`."""
        return AsyncSso(self)

    @cached_property
    def suppressions(self) -> AsyncSuppressions:
        """Methods of `client.suppressions`."""
        return AsyncSuppressions(self)

    @cached_property
    def templates(self) -> AsyncTemplates:
        """Methods of `client.templates`."""
        return AsyncTemplates(self)

    @cached_property
    def tracking(self) -> AsyncTracking:
        """Methods of `client.tracking`."""
        return AsyncTracking(self)

    @cached_property
    def webhooks(self) -> AsyncWebhooks:
        """Methods of `client.webhooks`."""
        return AsyncWebhooks(self)
