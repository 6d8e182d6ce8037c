"""SQL expressions for access: which roles a customer or member has, and which permissions these roles grant.

A check (`store.access_facts`) and the lists of permissions in access tokens use the same expressions, so that they
cannot disagree. The expressions refer to the rows `customer` of `customers`, `member` of `organization_members` and
`role` of `access_roles`. System roles have no rows; `rules.SYSTEM_PERMISSIONS` defines what they grant.
"""

from typing import LiteralString, cast

from postern.identity.access.rules import SYSTEM_PERMISSIONS

IS_PROJECT_ROLE = """(
    role.project_id = customer.project_id and role.key = any (customer.roles) and role.scope = 'PROJECT'
    /*distributed and role.project_id = :project */)"""
"""Whether `role` is a role of the customer that counts in the project."""

IS_ALL_ORGANIZATIONS_ROLE = """(
    role.project_id = customer.project_id and role.key = any (customer.roles) and role.applies_to_all_organizations
    /*distributed and role.project_id = :project */)"""
"""Whether `role` is a role of the customer that counts in every organization."""

IS_ORGANIZATION_ROLE = """(
    role.project_id = member.project_id and role.key = any (member.roles) and role.scope = 'ORGANIZATION'
    /*distributed and role.project_id = :project */)"""
"""Whether `role` is a role of the member that counts in the organization."""

# Keys and wildcards consist of a-z, 0-9, `_`, `:` and `*`, so only `_` needs an escape. `%%` stands for `%`, because
# the statements have parameters.
LIKE_PATTERNS = r"""(
    select replace(replace(granted, '_', '\_'), '*', '%%') from unnest(role.permissions) as granted)"""
"""The permissions of `role` as patterns for `like`: `posts:*` becomes `posts:%`, and a key matches only itself."""

_GRANT_ALL = cast(LiteralString, "','".join(role for role, granted in SYSTEM_PERMISSIONS.items() if granted == ["*"]))
SYSTEM_ROLES_THAT_GRANT_ALL = f"array['{_GRANT_ALL}']"
"""The system roles that grant all declared permissions, as an SQL array of their keys. MEMBER grants none."""


def permissions_in_project(limit: LiteralString = "all") -> LiteralString:
    """An SQL array of the keys of the permissions that the customer has in the project, sorted; at most `limit`.

    The statement must have a row `customer`.
    """
    return _permissions("customer", IS_PROJECT_ROLE, limit)


def permissions_in_organization(limit: LiteralString = "all") -> LiteralString:
    """An SQL array of the keys of the permissions that the member has in the organization, sorted; at most `limit`.

    The statement must have the rows `customer` and `member`. It must itself require that the organization is ACTIVE,
    because the expression does not check that, and a suspended organization grants no permissions.
    """
    return _permissions("member", f"({IS_ORGANIZATION_ROLE} or {IS_ALL_ORGANIZATIONS_ROLE})", limit)


def _permissions(holder: LiteralString, is_assigned: LiteralString, limit: LiteralString) -> LiteralString:
    """The keys of the permissions that the assigned roles grant. `holder` is the row whose `roles` may have system
    roles; `is_assigned` is the SQL condition that a row `role` of `access_roles` is assigned."""
    return f"""array(
        select permission.key from access_permissions permission
        where permission.project_id = {holder}.project_id /*distributed and permission.project_id = :project */
          and permission.key like any (array(
            select pattern from access_roles role cross join lateral {LIKE_PATTERNS} as patterns (pattern)
            where {is_assigned} /*distributed and role.project_id = :project */
            union all
            select '%%' where {holder}.roles && {SYSTEM_ROLES_THAT_GRANT_ALL}))
        order by permission.key collate "C" limit {limit})"""
