"""Users and groups as SCIM resources, lists of them, and the parameters of lists."""

from collections.abc import Sequence
from typing import Any

from postern.identity.scim import rules
from postern.identity.scim.group_store import GroupMember
from postern.identity.scim.model import PAGE_LIMIT, GroupRow, UserRow
from postern.identity.scim.user_store import UserGroup
from postern.kernel.values import Moment, Record, timestamp
from postern.protocols.scim.problems import ScimRequestInvalid
from postern.protocols.scim.schemas import GROUP, USER, Document, ResourceType, schemas_of, selected

LIST_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:ListResponse"


class ListRequest(Record):
    """The parameters of a list, or of a search request (RFC 7644 §3.4.2, §3.4.3)."""

    filter: str | None
    offset: int
    """Resources before the first one of the page: `startIndex` is one more."""
    count: int
    attributes: list[str] | None
    excluded: list[str]

    def total_after(self, row_count: int) -> int | None:
        """The number of all results if this page, which has `row_count`, is the last one; None if it must be
        counted."""
        is_last = row_count < self.count and (row_count or not self.offset)
        return self.offset + row_count if is_last else None

    def returns(self, resource_type: ResourceType, attribute: str) -> bool:
        """Whether the response has an attribute, which has to be read for it."""
        return attribute in selected(resource_type, {attribute: True}, self.attributes, self.excluded)

    def select(self, resource_type: ResourceType, document: Document) -> Document:
        """The part of a resource that the request asks for."""
        return selected(resource_type, document, self.attributes, self.excluded)


def read_list_request(values: Any) -> ListRequest:
    """The parameters in a query or in the body of a search request. Raises ScimRequestInvalid."""
    if not hasattr(values, "get"):
        raise ScimRequestInvalid("invalidSyntax", "The body must be a JSON object.")
    filter_text = values.get("filter") or None
    if filter_text is not None and not isinstance(filter_text, str):
        raise ScimRequestInvalid("invalidFilter", "`filter` must be a text.")
    start, count = (None if (value := values.get(name)) is None else str(value) for name in ("startIndex", "count"))
    return ListRequest(
        filter=filter_text,
        offset=rules.read_count(start, 1, 1) - 1,
        count=min(rules.read_count(count, PAGE_LIMIT, 0), PAGE_LIMIT),
        attributes=rules.names_in(values.get("attributes")),
        excluded=rules.names_in(values.get("excludedAttributes")) or [],
    )


def list_document(documents: Sequence[Document], total: int, offset: int) -> Document:
    """A list of resources. It begins with the resource number `offset` + 1."""
    return {
        "schemas": [LIST_SCHEMA],
        "totalResults": total,
        "startIndex": offset + 1,
        "itemsPerPage": len(documents),
        "Resources": list(documents),
    }


def user_document(base_url: str, row: UserRow, groups: Sequence[UserGroup]) -> Document:
    """A user as a SCIM resource."""
    document: Document = {"schemas": schemas_of(USER, row.attributes), "id": str(row.id), **row.attributes}
    if groups:
        document["groups"] = [
            {"value": str(group.id), "$ref": f"{base_url}/Groups/{group.id}", "display": group.display_name}
            for group in groups
        ]
    document["meta"] = _meta(base_url, USER, row)
    return document


def group_document(base_url: str, row: GroupRow, members: Sequence[GroupMember]) -> Document:
    """A group as a SCIM resource."""
    document: Document = {"schemas": [GROUP.schema.id], "id": str(row.id)}
    if row.external_id is not None:
        document["externalId"] = row.external_id
    document["displayName"] = row.display_name
    if members:
        document["members"] = [{"value": str(member.id), "$ref": f"{base_url}/Users/{member.id}"} for member in members]
    document["meta"] = _meta(base_url, GROUP, row)
    return document


def _meta(base_url: str, resource_type: ResourceType, row: UserRow | GroupRow) -> Document:
    return {
        "resourceType": resource_type.name,
        "created": _time(row.created_at),
        "lastModified": _time(row.updated_at),
        "location": f"{base_url}{resource_type.endpoint}/{row.id}",
        "version": rules.version_tag(row.version),
    }


def _time(moment: Moment) -> str:
    return timestamp(moment)
