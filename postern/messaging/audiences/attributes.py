"""Attributes of contacts: their declared types, which decide how CSV files are read and written."""

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.operation import get, patch, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, before_id, linked_list
from postern.kernel.http.problems import Invalid
from postern.kernel.values import Body, Deleted, new_id
from postern.messaging.audiences import store
from postern.messaging.audiences.csv_cells import DeclaredType, types_of
from postern.messaging.audiences.model import (
    ATTRIBUTE_NAME_LIMIT,
    ATTRIBUTES_PER_PROJECT,
    AttributeType,
    ContactAttribute,
    ContactAttributeDeclared,
    ContactAttributeExists,
    ContactAttributeMissing,
    TooManyContactAttributes,
    attribute_fault,
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


class InferredAttributeTypes(TypedDict):
    """Parameters of statements that write attributes: which to declare if they have no type yet."""

    inferred: Jsonb
    attributes_per_project: int


@get("/projects/{project_id}/contact-attributes", needs="contacts:read")
async def list_contact_attributes(
    call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[ContactAttribute]:
    """The attributes of the project's contacts with their types, newest first.

    The first value of an attribute declares its type (`inferred`): a number, a boolean, a list, a text, or a text that
    spells an ISO 8601 date. Objects, null and the empty text declare nothing. A project has at most 1,000 attributes
    with a type; values of further ones are kept all the same.
    """
    before = before_id(call, "contact-attributes", cursor)
    rows = await store.contact_attributes(call.db, project_id=call.project_id, before=before, limit=limit + 1)
    return linked_list(call, "contact-attributes", rows, limit)


@post(
    "/projects/{project_id}/contact-attributes",
    needs="contacts:write",
    status=201,
    problems=[ContactAttributeExists, TooManyContactAttributes],
    example={"name": "zip", "type": "string", "description": "Postal code"},
)
async def create_contact_attribute(call: Call, data: NewContactAttribute) -> ContactAttribute:
    """Declare the type of an attribute before contacts have it.

    An import refuses rows whose cell does not fit a type that was declared. JSON is taken as it is: values of another
    type stay what they are.
    """
    if fault := attribute_fault(data.name, None):
        raise Invalid.at("/name", fault)
    async with call.db.transaction() as tx:
        await _lock_attributes(tx, call.project_id, [data.name])
        if await store.count_contact_attributes(tx, project_id=call.project_id) >= ATTRIBUTES_PER_PROJECT:
            raise TooManyContactAttributes
        made = await store.insert_contact_attribute(
            tx,
            project_id=call.project_id,
            id=new_id(),
            name=data.name,
            type=data.type,
            description=data.description,
            now=call.now,
        )
        if made is None:
            raise ContactAttributeExists
        await audit.record(
            tx, call, "contact_attribute.created", "ContactAttribute", made.id, name=made.name, type=made.type
        )
    return made


@get("/projects/{project_id}/contact-attributes/{id}", needs="contacts:read", problems=[ContactAttributeMissing])
async def get_contact_attribute(call: Call, id: UUID) -> ContactAttribute:
    """One attribute with its type."""
    found = await store.contact_attribute(call.db, project_id=call.project_id, id=id)
    if found is None:
        raise ContactAttributeMissing
    return found


@patch(
    "/projects/{project_id}/contact-attributes/{id}",
    needs="contacts:write",
    problems=[ContactAttributeMissing],
    example={"type": "string"},
)
async def change_contact_attribute(call: Call, id: UUID, data: ContactAttributeChange) -> ContactAttribute:
    """Change the type or the description of an attribute.

    The values that contacts have stay as they are. From now on imports read cells by the new type, and refuse rows
    whose cell does not fit it; an export puts values of another type into its column `attributes`. A type that is
    given counts as declared, also if it is the inferred one.
    """
    async with call.db.transaction() as tx:
        known = await store.lock_contact_attribute(tx, project_id=call.project_id, id=id)
        if known is None:
            raise ContactAttributeMissing
        call.require_match(known.updated_at)
        changed = await store.update_contact_attribute(
            tx,
            project_id=call.project_id,
            id=id,
            type=known.type if data.type is UNSET else data.type,
            inferred=known.inferred and data.type is UNSET,
            description=known.description if data.description is UNSET else data.description,
            now=call.now,
        )
        await audit.record(
            tx, call, "contact_attribute.updated", "ContactAttribute", id, name=changed.name, type=changed.type
        )
    return changed


@delete_("/projects/{project_id}/contact-attributes/{id}", needs="contacts:write", problems=[ContactAttributeMissing])
async def delete_contact_attribute(call: Call, id: UUID) -> Deleted:
    """Forget the type of an attribute. The values that contacts have stay, and the next one declares a type anew."""
    async with call.db.transaction() as tx:
        known = await store.lock_contact_attribute(tx, project_id=call.project_id, id=id)
        if known is None:
            raise ContactAttributeMissing
        call.require_match(known.updated_at)
        await store.delete_contact_attribute(tx, project_id=call.project_id, id=id)
        await audit.record(tx, call, "contact_attribute.deleted", "ContactAttribute", id, name=known.name)
    return Deleted()


async def _lock_attributes(tx: Transaction, project_id: UUID, names: list[str]) -> None:
    """Let nobody else declare these attributes until the transaction ends."""
    await tx.lock_quota("contact-attributes", project_id)
    await store.lock_attribute_names(tx, project_id=project_id, names=names)


def inferred_from(attributes: dict[str, Any]) -> InferredAttributeTypes:
    """What the attributes of one contact declare, for the statement that writes them."""
    return inferred_as(types_of([attributes]))


def inferred_as(types: Mapping[str, AttributeType]) -> InferredAttributeTypes:
    """What a statement that writes attributes declares, where they have no type yet."""
    return {"inferred": _declaring(types), "attributes_per_project": ATTRIBUTES_PER_PROJECT}


def _declaring(types: Mapping[str, AttributeType]) -> Jsonb:
    return Jsonb([{"id": new_id(), "name": name, "type": kind} for name, kind in types.items()])


async def declarations(db: Queries, project_id: UUID) -> dict[str, DeclaredType]:
    """The types of a project's attributes by name."""
    known = await store.attribute_types(db, project_id=project_id)
    return {each.name: DeclaredType(each.type, each.inferred) for each in known}


def read_types(text: str | None) -> dict[str, AttributeType]:
    """Types from the query parameter `attributeTypes`. Raises Invalid."""
    if text is None:
        return {}
    try:
        types = msgspec.json.decode(text, type=dict[str, AttributeType])
    except (msgspec.DecodeError, RecursionError):
        message = 'Give a JSON object of names and types, like {"zip": "string"}; types are string, number, boolean, '
        raise Invalid.at("query/attributeTypes", message + "date and list.") from None
    for name in types:
        if fault := attribute_fault(name, None):
            raise Invalid.at("query/attributeTypes", fault)
    return types


async def require_declarable(tx: Transaction, project_id: UUID, types: Mapping[str, AttributeType]) -> None:
    """Raises ContactAttributeDeclared where somebody declared another type, and TooManyContactAttributes."""
    if not types:
        return
    known = await declarations(tx, project_id)
    for name, kind in types.items():
        if name in known and not known[name].inferred and known[name].type != kind:
            raise ContactAttributeDeclared(
                f"The attribute `{name}` is declared as {known[name].type}; change that first."
            )
    if len(known.keys() | types.keys()) > ATTRIBUTES_PER_PROJECT:
        raise TooManyContactAttributes


async def declare_all(tx: Transaction, project_id: UUID, types: Mapping[str, AttributeType], now: Moment) -> None:
    """Declare types; inferred ones give way, those that somebody declared meanwhile stay."""
    if types:
        await _lock_attributes(tx, project_id, list(types))
        await store.declare_attributes(tx, project_id=project_id, types=_declaring(types), now=now)
