"""Pure functions for directories: roles of users, addresses, versions, and filters as SQL conditions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.sql import SQL, Composable, Literal

from postern.identity.customers.rules import read_email
from postern.identity.scim.model import ConnectionRecord
from postern.identity.scim.user_store import UserGroup
from postern.kernel.database.statements import text_literal
from postern.kernel.http.problems import Invalid
from postern.kernel.values import as_id
from postern.protocols.scim.filters import (
    ORDERING,
    SUBSTRINGS,
    AttributePath,
    Both,
    Comparison,
    Either,
    Filter,
    ItemMatch,
    Negation,
    Operator,
    Value,
    read_time,
)
from postern.protocols.scim.problems import ScimRequestInvalid
from postern.protocols.scim.schemas import Document

NAMES_LIMIT = 100
"""Names in `attributes` and `excludedAttributes`."""
INDEXED_BYTES = 2_000
"""Bytes of a name that is in an index: an entry of an index of PostgreSQL has at most 2,704."""
NAME_LIMIT = 200
"""Characters of the name of a customer."""


def roles_of_groups(connection: ConnectionRecord, groups: Iterable[UserGroup]) -> dict[str, list[str]]:
    """The roles of a user of a connection, each with the names of the groups that it comes from; a role that all users
    of the connection have comes from no group."""
    roles: dict[str, list[str]] = {role: [] for role in connection.default_roles}
    for group in groups:
        for role in roles_of_group(connection.group_roles, group.display_name_key, group.external_id, group.id):
            if role not in connection.default_roles:
                roles.setdefault(role, []).append(group.display_name)
    return roles


def roles_of_group(
    group_roles: Mapping[str, Sequence[str]], display_name_key: str, external_id: str | None, id: UUID
) -> list[str]:
    """The roles that a connection gives to a group: by its name in any letter case, its external id, or its id."""
    roles: list[str] = []
    for key, keys_roles in group_roles.items():
        if key.casefold() == display_name_key or key in (external_id, str(id)):
            roles += [role for role in keys_roles if role not in roles]
    return roles


def merged_roles(present: Sequence[str], added_before: Sequence[str], desired: Iterable[str]) -> list[str]:
    """The new roles of a member. Roles that the directory added before, and that it no longer gives, are removed."""
    kept = [role for role in present if role not in added_before]
    return [*kept, *(role for role in desired if role not in kept)]


def added_roles(present: Sequence[str], added_before: Sequence[str], result: Sequence[str]) -> list[str]:
    """The roles among `result` that are due to the directory, and not to someone who assigned them before."""
    assigned_otherwise = {role for role in present if role not in added_before}
    return [role for role in result if role not in assigned_otherwise]


def primary_address(document: Document) -> str | None:
    """The primary address of a user, otherwise the first one, otherwise the user name if it is an address."""
    emails: list[Document] = document.get("emails", [])
    values = [email["value"] for email in emails if email.get("value") and email.get("primary") is True]
    values += [email["value"] for email in emails if email.get("value")]
    if values:
        return values[0]
    user_name: str = document["userName"]
    return user_name if "@" in user_name else None


def address_keys(document: Document) -> list[str]:
    """The lookup keys of all valid addresses of a user."""
    texts: list[str] = [email["value"] for email in document.get("emails", []) if email.get("value")]
    keys: list[str] = []
    for text in texts:
        try:
            _, key = read_email(text)
        except Invalid:
            continue
        if key not in keys:
            keys.append(key)
    return keys


def full_name(document: Document) -> str | None:
    """The name of a user for display, on one line; None if the directory sends none."""
    name: Document = document.get("name", {})
    parts = " ".join(name[part] for part in ("givenName", "familyName") if name.get(part))
    for text in (document.get("displayName"), name.get("formatted"), parts):
        line = "".join(character if character.isprintable() else " " for character in text or "")
        if line := " ".join(line.split())[:NAME_LIMIT].strip():
            return line
    return None


def require_indexable(document: Document) -> None:
    """Raise ScimRequestInvalid if a name is too long for the index that it is looked up in."""
    for name in ("userName", "externalId", "displayName"):
        if len(document.get(name, "").casefold().encode()) > INDEXED_BYTES:
            raise ScimRequestInvalid("invalidValue", f"`{name}` can have at most {INDEXED_BYTES:,} bytes.")


def version_tag(version: int) -> str:
    """The entity tag of a resource (RFC 7644 §3.14)."""
    return f'W/"{version}"'


def is_version(header: str, version: int) -> bool:
    """Whether an `If-Match` or `If-None-Match` header names this version. Tags are compared weakly."""
    tags = [tag.strip().removeprefix("W/").strip('"') for tag in header.split(",")]
    return str(version) in tags or "*" in tags


# Filters as SQL conditions. A filter that compares an attribute without a column has no condition (None).

USER_COLUMNS: Mapping[str, str] = {
    "id": "id",
    "userName": "folded",
    "externalId": "exact",
    "displayName": "lower",
    "active": "boolean",
    "emails": "address",
    "emails.value": "address",
    "groups": "group",
    "groups.value": "group",
    "meta.created": "moment",
    "meta.lastModified": "moment",
}
"""The attributes of users that have a column, with the kind of the comparison."""
GROUP_COLUMNS: Mapping[str, str] = {
    "id": "id",
    "displayName": "folded",
    "externalId": "exact",
    "members": "member",
    "members.value": "member",
    "meta.created": "moment",
    "meta.lastModified": "moment",
}
MEMBERSHIPS: Mapping[str, Composable] = {
    "member": SQL(
        "exists (select from directory_group_members m"
        " where m.project_id = g.project_id and m.group_id = g.id and m.user_id"
    ),
    "group": SQL(
        "exists (select from directory_group_members m"
        " where m.project_id = u.project_id and m.user_id = u.id and m.group_id"
    ),
}
"""The beginning of the conditions that a group has a member, and that a user is in a group."""
COLUMNS: Mapping[str, Composable] = {
    "id": SQL("id"),
    "userName": SQL("user_name_key"),
    "externalId": SQL("external_id"),
    "active": SQL("active"),
    "meta.created": SQL("created_at"),
    "meta.lastModified": SQL("updated_at"),
}
SIGNS: Mapping[Operator, Composable] = {
    "eq": SQL("="),
    "gt": SQL(">"),
    "ge": SQL(">="),
    "lt": SQL("<"),
    "le": SQL("<="),
}


def user_condition(filter: Filter) -> Composable | None:
    """The condition on `directory_users u` that a filter means; None if it cannot be expressed by columns."""
    return _condition(filter, USER_COLUMNS, SQL("u."), SQL("lower(u.display_name)"))


def group_condition(filter: Filter) -> Composable | None:
    """The condition on `directory_groups g` that a filter means; None if it cannot be expressed by columns."""
    return _condition(filter, GROUP_COLUMNS, SQL("g."), SQL("g.display_name_key"))


def narrowing(filter: Filter) -> Composable:
    """A condition on `directory_users u` that all users which match the filter meet: of a conjunction, the parts that
    can be expressed by columns."""
    condition = user_condition(filter)
    if condition is not None:
        return condition
    if isinstance(filter, Both):
        return SQL("({} and {})").format(narrowing(filter.left), narrowing(filter.right))
    return SQL("true")


def _condition(
    filter: Filter, columns: Mapping[str, str], alias: Composable, display_name: Composable
) -> Composable | None:
    match filter:
        case Both(left, right) | Either(left, right):
            parts = [_condition(part, columns, alias, display_name) for part in (left, right)]
            if parts[0] is None or parts[1] is None:
                return None
            joined = SQL("({} and {})") if isinstance(filter, Both) else SQL("({} or {})")
            return joined.format(parts[0], parts[1])
        case Negation(inner):
            condition = _condition(inner, columns, alias, display_name)
            # Not known (null) is the same as false here, also in a negation.
            return None if condition is None else SQL("not coalesce({}, false)").format(condition)
        case ItemMatch(path, Comparison(sub_path, operator, value)) if path.attribute.name in ("members", "groups"):
            return _condition(Comparison(sub_path, operator, value), columns, alias, display_name)
        case Comparison(path, operator, value) if path.name in columns:
            return _comparison(path, operator, value, columns[path.name], alias, display_name)
        case _:
            return None


def _comparison(
    path: AttributePath, operator: Operator, value: Value, kind: str, alias: Composable, display_name: Composable
) -> Composable | None:
    """The condition of one comparison. It may be null, which counts as false."""
    if operator == "ne":
        equal = _comparison(path, "eq", value, kind, alias, display_name)
        return None if equal is None else SQL("not coalesce({}, false)").format(equal)
    if kind == "address":
        return _address_comparison(operator, value)
    if kind in ("member", "group"):
        return _membership_comparison(operator, value, MEMBERSHIPS[kind])
    column = display_name if path.name == "displayName" else alias + COLUMNS[path.name]
    if operator == "pr":
        return SQL("({} is not null)").format(column)
    if value is None:
        return SQL("({} is null)").format(column) if operator == "eq" else SQL("false")
    if kind == "boolean":
        return SQL("({} = {})").format(column, Literal(value)) if isinstance(value, bool) else SQL("false")
    if not isinstance(value, str):
        return SQL("false")
    if kind == "moment":
        moment = read_time(value)
        if operator in SUBSTRINGS or moment is None:
            return None
        return SQL("({} {} {})").format(column, SIGNS[operator], Literal(moment))
    if kind == "id":
        if operator != "eq":
            return None
        return SQL("({} = {})").format(column, Literal(as_id(value)))
    text = value if kind == "exact" else value.casefold() if path.name != "displayName" else value.lower()
    return SQL("({})").format(_text_comparison(column, operator, text))


def _text_comparison(column: Composable, operator: Operator, text: str) -> Composable:
    literal = text_literal(text)
    if operator == "co":
        return SQL("strpos({}, {}) > 0").format(column, literal)
    if operator == "sw":
        return SQL("starts_with({}, {})").format(column, literal)
    if operator == "ew":
        return SQL("right({}, {}) = {}").format(column, Literal(len(text)), literal) if text else SQL("true")
    if operator in ORDERING:
        return SQL('{} collate "C" {} {}').format(column, SIGNS[operator], literal)
    return SQL("{} = {}").format(column, literal)


def _address_comparison(operator: Operator, value: Value) -> Composable | None:
    """Compares the lookup keys of addresses, which for equality is the same as comparing the addresses."""
    if operator == "eq" and isinstance(value, str):
        try:
            _, key = read_email(value)
        except Invalid:
            return None
        return SQL("(u.email_keys @> array[{}]::text[])").format(text_literal(key))
    return None


def _membership_comparison(operator: Operator, value: Value, membership: Composable) -> Composable | None:
    if operator != "eq" or not isinstance(value, str):
        return None
    return membership + SQL(" = {})").format(Literal(as_id(value)))


def read_count(text: str | None, default: int, lowest: int) -> int:
    """The number in a query parameter; values below `lowest` count as `lowest` (RFC 7644 §3.4.2.4).

    Raises ScimRequestInvalid.
    """
    if text is None:
        return default
    try:
        number = int(text) if len(text) < NAME_LIMIT else None
    except ValueError:
        number = None
    if number is None or abs(number) >= 1 << 31:
        raise ScimRequestInvalid("invalidValue", "`startIndex` and `count` must be integers.")
    return max(number, lowest)


def names_in(text: Any) -> list[str] | None:
    """The names of attributes in a query parameter, separated by commas, or in the list of a search request.

    Raises ScimRequestInvalid if there are more than NAMES_LIMIT.
    """
    names: list[Any] = text.split(",") if isinstance(text, str) else text if isinstance(text, list) else []
    if len(names) > NAMES_LIMIT:
        raise ScimRequestInvalid("tooMany", f"At most {NAMES_LIMIT} attributes can be named.")
    return [name for name in names if isinstance(name, str) and name.strip()] or None
