"""Contact attributes: operations on their types, which decide how CSV cells are parsed and written."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

import msgspec
from msgspec.structs import replace

from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.operation import get, patch, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, newest_first
from postern.kernel.http.problems import Invalid, require_found
from postern.kernel.values import Body, Deleted, Moment, fields_set, new_id
from postern.messaging.audiences import store
from postern.messaging.audiences.csv_cells import KnownType, types_of
from postern.messaging.audiences.model import (
    ATTRIBUTE_NAME_LIMIT,
    ATTRIBUTES_PER_PROJECT,
    AttributeType,
    ContactAttribute,
    ContactAttributeDeclared,
    ContactAttributeExists,
    ContactAttributeMissing,
    InferredAttributeTypes,
    TooManyContactAttributes,
    attribute_error,
)
from postern.platform.audit import operations as audit

Unset = msgspec.UnsetType
UNSET = msgspec.UNSET
Description = Annotated[str, msgspec.Meta(max_length=500)]


class NewContactAttribute(Body):
    """An attribute to declare."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=ATTRIBUTE_NAME_LIMIT)]
    type: AttributeType
    """Type by which imports read cells of this attribute: `string`, `number`, `boolean`, `date` or `list`."""
    description: Description = ""


class ContactAttributeChange(Body):
    """What to change about an attribute."""

    type: AttributeType | Unset = UNSET
    """Type by which imports read cells of this attribute: `string`, `number`, `boolean`, `date` or `list`."""
    description: Description | Unset = UNSET


@get("/projects/{project_id}/contact-attributes", needs="contacts:read")
async def list_contact_attributes(
    call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[ContactAttribute]:
    """List the attributes of the project's contacts with their types, newest first.

    The first value of an attribute sets its type (`inferred`): number, boolean, list, date (an ISO 8601 string) or
    string. Objects, null and empty strings set no type. A project has at most 1,000 attributes with a type; values of
    further attributes are stored without one.
    """
    return await newest_first(call, "contact-attributes", cursor, limit, store.contact_attributes)


@post(
    "/projects/{project_id}/contact-attributes",
    needs="contacts:write",
    status=201,
    problems=[ContactAttributeExists, TooManyContactAttributes],
    example={"name": "zip", "type": "string", "description": "Postal code"},
)
async def create_contact_attribute(call: Call, data: NewContactAttribute) -> ContactAttribute:
    """Declare the type of an attribute before contacts have it.

    An import rejects rows with a cell that does not match a declared type. Values in JSON requests are not converted
    and may have another type.
    """
    if error := attribute_error(data.name, value=None):
        raise Invalid.at("/name", error)
    async with call.db.transaction() as tx:
        await _lock_attributes(tx, call.project_id, [data.name])
        if await store.count_contact_attributes(tx, project_id=call.project_id) >= ATTRIBUTES_PER_PROJECT:
            raise TooManyContactAttributes
        attribute = await store.insert_contact_attribute(
            tx,
            project_id=call.project_id,
            id=new_id(),
            name=data.name,
            type=data.type,
            description=data.description,
            now=call.now,
        )
        if attribute is None:
            raise ContactAttributeExists
        await audit.record(
            tx,
            call,
            "contact_attribute.created",
            "ContactAttribute",
            attribute.id,
            name=attribute.name,
            type=attribute.type,
        )
    return attribute


@get("/projects/{project_id}/contact-attributes/{id}", needs="contacts:read", problems=[ContactAttributeMissing])
async def get_contact_attribute(call: Call, id: UUID) -> ContactAttribute:
    """Get an attribute with its type."""
    return require_found(
        await store.contact_attribute(call.db, project_id=call.project_id, id=id), ContactAttributeMissing
    )


@patch(
    "/projects/{project_id}/contact-attributes/{id}",
    needs="contacts:write",
    problems=[ContactAttributeMissing],
    example={"type": "string"},
)
async def change_contact_attribute(call: Call, id: UUID, data: ContactAttributeChange) -> ContactAttribute:
    """Change the type or the description of an attribute.

    Stored values do not change. Later imports parse cells by the new type and reject rows with a cell that does not
    match it; an export puts values of another type into its column `attributes`. A `type` in the request counts as
    declared, even if it equals the inferred one. Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        attribute = require_found(
            await store.lock_contact_attribute(tx, project_id=call.project_id, id=id), ContactAttributeMissing
        )
        call.require_match(attribute.updated_at)
        inferred = attribute.inferred and data.type is UNSET
        new = replace(attribute, **fields_set(data), inferred=inferred, updated_at=call.now)
        changed = await store.update_contact_attribute(tx, new, project_id=call.project_id)
        await audit.record(
            tx, call, "contact_attribute.updated", "ContactAttribute", id, name=changed.name, type=changed.type
        )
    return changed


@delete_("/projects/{project_id}/contact-attributes/{id}", needs="contacts:write", problems=[ContactAttributeMissing])
async def delete_contact_attribute(call: Call, id: UUID) -> Deleted:
    """Delete the type of an attribute. Contacts keep their values; the next value written sets the type again.

    Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        attribute = require_found(
            await store.lock_contact_attribute(tx, project_id=call.project_id, id=id), ContactAttributeMissing
        )
        call.require_match(attribute.updated_at)
        await store.delete_contact_attribute(tx, project_id=call.project_id, id=id)
        await audit.record(tx, call, "contact_attribute.deleted", "ContactAttribute", id, name=attribute.name)
    return Deleted()


async def _lock_attributes(tx: Transaction, project_id: UUID, names: list[str]) -> None:
    """Until the transaction ends, keep other transactions from declaring attributes of the project, and from inserting
    inferred types for these names."""
    await tx.lock_quota("contact-attributes", project_id)
    await store.lock_attribute_names(tx, project_id=project_id, names=names)


def inferred_from(attributes: dict[str, Any]) -> InferredAttributeTypes:
    """The types of one contact's attributes, as a parameter of the statement that writes the attributes."""
    return inferred_parameter(types_of([attributes]))


def inferred_parameter(types: Mapping[str, AttributeType]) -> InferredAttributeTypes:
    """The parameter of a statement that writes attributes and inserts `types` for those that have no type yet."""
    return InferredAttributeTypes(inferred=_type_rows(types), attributes_per_project=ATTRIBUTES_PER_PROJECT)


def _type_rows(types: Mapping[str, AttributeType]) -> list[dict[str, Any]]:
    return [{"id": new_id(), "name": name, "type": kind} for name, kind in types.items()]


async def known_types(db: Queries, project_id: UUID) -> dict[str, KnownType]:
    """The declared and inferred types of a project's attributes, keyed by name."""
    attributes = await store.attribute_types(db, project_id=project_id)
    return {attribute.name: KnownType(attribute.type, attribute.inferred) for attribute in attributes}


def read_types(text: str | None) -> dict[str, AttributeType]:
    """Parse the query parameter `attributeTypes`; without a value, returns no types. Raises Invalid."""
    if text is None:
        return {}
    try:
        types = msgspec.json.decode(text, type=dict[str, AttributeType])
    except (msgspec.DecodeError, RecursionError):
        message = (
            'Expected a JSON object of names and types, like {"zip": "string"}; types are string, number, boolean, '
        )
        raise Invalid.at("query/attributeTypes", message + "date and list.") from None
    for name in types:
        if error := attribute_error(name, value=None):
            raise Invalid.at("query/attributeTypes", error)
    return types


async def require_declarable(tx: Transaction, project_id: UUID, types: Mapping[str, AttributeType]) -> None:
    """Check that `types` can be declared.

    Raises ContactAttributeDeclared if an attribute is declared with another type, or TooManyContactAttributes.
    """
    if not types:
        return
    known = await known_types(tx, project_id)
    for name, kind in types.items():
        if name in known and not known[name].inferred and known[name].type != kind:
            raise ContactAttributeDeclared(
                f"The attribute `{name}` is declared as {known[name].type}; change its declared type first."
            )
    if len(known.keys() | types.keys()) > ATTRIBUTES_PER_PROJECT:
        raise TooManyContactAttributes


async def declare_all(tx: Transaction, project_id: UUID, types: Mapping[str, AttributeType], now: Moment) -> None:
    """Declare types. They replace inferred types; types that were declared before stay as they are."""
    if types:
        await _lock_attributes(tx, project_id, list(types))
        await store.declare_attributes(tx, project_id=project_id, types=Jsonb(_type_rows(types)), now=now)
