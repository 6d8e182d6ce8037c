"""PATCH of resources (RFC 7644 §3.5.2), including the forms that Entra ID and Okta send."""

import copy
from collections.abc import Sequence
from typing import Any, Literal

from postern.kernel.values import Record
from postern.protocols.scim.filters import (
    Both,
    ChangePath,
    Comparison,
    Filter,
    comparison_paths,
    item_matches,
    parse_path,
)
from postern.protocols.scim.problems import ScimRequestInvalid
from postern.protocols.scim.schemas import (
    ITEMS_LIMIT,
    MAX_QUOTED,
    Document,
    ResourceType,
    ScimAttribute,
    read_item,
    read_value,
    require_complete,
)

PATCH_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
OPERATIONS_LIMIT = 1_000
"""Operations of one PATCH request."""
CHANGES_LIMIT = 100
"""Operations of one PATCH request on a user, or on attributes of a group besides its members. Each attribute of an
operation without a path counts."""
WORK_LIMIT = 50_000
"""Comparisons of filters in paths with items that one PATCH request may need."""

Action = Literal["add", "replace", "remove"]


class PatchStep(Record):
    """One operation of a PATCH request."""

    action: Action
    path: str | None
    value: Any


class PatchChange(Record):
    """A change of the value at one path."""

    action: Action
    path: ChangePath
    value: Any


def read_steps(body: Any) -> list[PatchStep]:
    """The operations of a PATCH request. `op` may be in upper case, as Entra ID sends it. Raises ScimRequestInvalid."""
    if not isinstance(body, dict):
        raise ScimRequestInvalid("invalidSyntax", "The body must be a JSON object.")
    fields = {str(name).lower(): value for name, value in body.items()}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    schemas = fields.get("schemas")
    if schemas is not None and (not isinstance(schemas, list) or PATCH_SCHEMA not in schemas):
        raise ScimRequestInvalid("invalidSyntax", f"`schemas` must contain {PATCH_SCHEMA}.")
    operations = fields.get("operations")
    if not isinstance(operations, list) or not operations:
        raise ScimRequestInvalid("invalidSyntax", "`Operations` must be a list of operations.")
    if len(operations) > OPERATIONS_LIMIT:  # pyright: ignore[reportUnknownArgumentType]
        raise ScimRequestInvalid("tooMany", f"A PATCH request can have at most {OPERATIONS_LIMIT} operations.")
    return [_read_step(operation) for operation in operations]  # pyright: ignore[reportUnknownVariableType]


def _read_step(operation: Any) -> PatchStep:
    if not isinstance(operation, dict):
        raise ScimRequestInvalid("invalidSyntax", "An operation must be a JSON object.")
    fields = {str(name).lower(): value for name, value in operation.items()}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    action, path = fields.get("op"), fields.get("path")
    action = action.lower() if isinstance(action, str) else ""
    if action not in ("add", "replace", "remove"):
        raise ScimRequestInvalid("invalidSyntax", "`op` must be add, replace or remove.")
    if path is not None and not isinstance(path, str):
        raise ScimRequestInvalid("invalidPath", "`path` must be a text.")
    path = path or None
    if path is None and action == "remove":
        raise ScimRequestInvalid("noTarget", "`remove` needs a path.")
    value = fields.get("value")
    if path is None and not isinstance(value, dict):
        raise ScimRequestInvalid("invalidValue", "Without a path, `value` must be an object with attributes.")
    if action == "add" and value is None:
        raise ScimRequestInvalid("invalidValue", "`add` needs a value.")
    return PatchStep(action=action, path=path, value=value)  # pyright: ignore[reportArgumentType]


def read_changes(resource_type: ResourceType, steps: Sequence[PatchStep]) -> list[PatchChange]:
    """The changes that operations mean, with parsed paths. Raises ScimRequestInvalid.

    An operation without a path has an object with attributes, whose names may be paths. Of these attributes, unknown
    and read-only ones are ignored, because Okta sends the `id` with a new name.
    """
    if sum(1 if step.path is not None else len(step.value) for step in steps) > CHANGES_LIMIT:
        raise ScimRequestInvalid("tooMany", f"A PATCH request can change at most {CHANGES_LIMIT} attributes.")
    changes: list[PatchChange] = []
    for step in steps:
        if step.path is not None:
            path = parse_path(resource_type, step.path)
            changes.append(PatchChange(action=step.action, path=path, value=step.value))
            continue
        for name, value in step.value.items():
            changes += [
                PatchChange(action=step.action, path=path, value=value)
                for path in _paths_of_name(resource_type, name)
                if path.attribute is None or path.attribute.mutability != "readOnly"
            ]
    return changes


def apply_changes(resource_type: ResourceType, document: Document, changes: Sequence[PatchChange]) -> Document:
    """The document after all changes; `document` itself is not changed. Raises ScimRequestInvalid, also (`tooMany`) if
    filters would need more than WORK_LIMIT comparisons."""
    changed, work = copy.deepcopy(document), 0
    for change in changes:
        if change.path.filter is not None and change.path.attribute is not None:
            container: Document = changed if change.path.extension is None else changed.get(change.path.extension, {})
            items = container.get(change.path.attribute.name)
            item_count = len(items) if isinstance(items, list) else 1  # pyright: ignore[reportUnknownArgumentType]
            work += item_count * len(comparison_paths(change.path.filter))
            if work > WORK_LIMIT:
                raise ScimRequestInvalid("tooMany", "The filters of these operations need too many comparisons.")
        _apply(resource_type, changed, change.action, change.path, change.value)
    require_complete(resource_type, changed)
    return changed


def _paths_of_name(resource_type: ResourceType, name: str) -> list[ChangePath]:
    """The path of one attribute of an object without a path; empty if there is no such attribute."""
    if name.lower() == "schemas":
        return []
    try:
        return [parse_path(resource_type, name)]
    except ScimRequestInvalid as problem:
        if "[" in name:
            raise problem from None
        return []


def _apply(resource_type: ResourceType, document: Document, action: Action, path: ChangePath, value: Any) -> None:
    if path.attribute is None:
        _apply_to_extension(resource_type, document, action, path, value)
        return
    target = path.sub or path.attribute
    if path.attribute.mutability == "readOnly" or target.mutability == "readOnly":
        raise ScimRequestInvalid("mutability", f"`{target.name[:MAX_QUOTED]}` cannot be changed.")
    container: Document = document if path.extension is None else document.setdefault(path.extension, {})
    if value is None and action != "remove":
        action = "remove"  # RFC 7643 §2.5: null is the same as no value.
    if path.filter is not None:
        _apply_to_items(container, action, path.attribute, path.filter, path.sub, value)
    elif path.sub is not None:
        _apply_to_sub_attribute(container, action, path.attribute, path.sub, value)
    elif action == "remove":
        _remove(container, path.attribute, value)
    else:
        _set(container, action, path.attribute, value)
    if path.extension is not None and not container:
        del document[path.extension]


def _apply_to_extension(
    resource_type: ResourceType, document: Document, action: Action, path: ChangePath, value: Any
) -> None:
    assert path.extension is not None
    if action == "remove":
        document.pop(path.extension, None)
        return
    if not isinstance(value, dict):
        raise ScimRequestInvalid("invalidValue", f"`{path.extension}` must be an object.")
    schema = resource_type.schemas_by_id[path.extension.lower()]
    for name, item in value.items():  # pyright: ignore[reportUnknownVariableType]
        attribute = schema.by_name.get(str(name).lower())  # pyright: ignore[reportUnknownArgumentType]
        if attribute is not None:
            _apply(resource_type, document, action, ChangePath(path.extension, attribute), item)


def _set(container: Document, action: Action, attribute: ScimAttribute, value: Any) -> None:
    """Add or replace the value of an attribute."""
    new = read_value(attribute, value)
    if new is None:
        if action == "replace":
            container.pop(attribute.name, None)
        return
    old = container.get(attribute.name)
    if attribute.multi_valued and action == "add":
        items = list(old or [])
        if any(item.get("primary") is True for item in new):
            items = [{key: part for key, part in item.items() if key != "primary"} for item in items]
        items += [item for item in new[: ITEMS_LIMIT + 1] if item not in items]
        if len(items) > ITEMS_LIMIT:  # Here, too, so that many operations cannot compare many items with each other.
            raise ScimRequestInvalid("invalidValue", f"`{attribute.name}` can have at most {ITEMS_LIMIT} values.")
        container[attribute.name] = items
    elif attribute.type == "complex" and not attribute.multi_valued:
        container[attribute.name] = {**(old or {}), **new}
    else:
        container[attribute.name] = new


def _remove(container: Document, attribute: ScimAttribute, value: Any) -> None:
    """Remove an attribute, or, of a multi-valued one, only the items in `value`, as Entra ID sends them."""
    if attribute.required:
        raise ScimRequestInvalid("mutability", f"`{attribute.name}` is required and cannot be removed.")
    if attribute.multi_valued and value is not None:
        unwanted = [item.get("value") for item in read_value(attribute, value) or []]
        items = [item for item in container.get(attribute.name, []) if item.get("value") not in unwanted]
        container[attribute.name] = items
    if not attribute.multi_valued or value is None or not container[attribute.name]:
        container.pop(attribute.name, None)


def _apply_to_sub_attribute(
    container: Document, action: Action, attribute: ScimAttribute, sub: ScimAttribute, value: Any
) -> None:
    if attribute.multi_valued:
        items: list[Document] = container.get(attribute.name) or ([] if action == "remove" else [{}])
    else:
        items = [container.get(attribute.name) or {}]
    for item in items:
        _set_sub_attribute(item, action, sub, value)
    _store_items(container, attribute, items)


def _apply_to_items(
    container: Document, action: Action, attribute: ScimAttribute, filter: Filter, sub: ScimAttribute | None, value: Any
) -> None:
    """Apply an operation to the items that match a filter in brackets.

    `add` with a filter that no item matches adds an item with the values of the filter, as Entra ID expects it: its
    first address is `add emails[type eq "work"].value`. `replace` without a matching item fails (RFC 7644 §3.5.2.3).
    """
    present = container.get(attribute.name) or []
    items: list[Document] = present if isinstance(present, list) else [present]  # pyright: ignore[reportUnknownVariableType]
    matching = [item for item in items if item_matches(filter, item)]
    if not matching and action == "replace":
        raise ScimRequestInvalid("noTarget", f"No value of `{attribute.name}` matches the filter.")
    if not matching and action == "add":
        matching = [_item_of_filter(attribute, filter)]
        items = [*items, *matching]
    if action == "remove" and sub is None:
        items = [item for item in items if not any(item is removed for removed in matching)]
    elif sub is not None:
        for item in matching:
            _set_sub_attribute(item, action, sub, value)
            if sub.name == "primary" and item.get("primary") is True:
                _make_only_primary(items, item)
    else:
        new = read_item(attribute, value) or {}
        for item in matching:
            if action == "replace":
                item.clear()
            item |= new
            if item.get("primary") is True:
                _make_only_primary(items, item)
    _store_items(container, attribute, items)


def _make_only_primary(items: list[Document], primary: Document) -> None:
    for item in items:
        if item is not primary:
            item.pop("primary", None)


def _item_of_filter(attribute: ScimAttribute, filter: Filter) -> Document:
    """A new item with the values that the filter compares for equality. Raises ScimRequestInvalid for other filters."""
    match filter:
        case Both(left, right):
            return {**_item_of_filter(attribute, left), **_item_of_filter(attribute, right)}
        case Comparison(path, "eq", value) if path.sub is not None and value is not None:
            return {path.sub.name: read_value(path.sub, value)}
        case _:
            raise ScimRequestInvalid("noTarget", f"No value of `{attribute.name}` matches the filter.")


def _set_sub_attribute(item: Document, action: Action, sub: ScimAttribute, value: Any) -> None:
    new = None if action == "remove" else read_value(sub, value)
    if new is None:
        item.pop(sub.name, None)
    else:
        item[sub.name] = new


def _store_items(container: Document, attribute: ScimAttribute, items: list[Document]) -> None:
    kept = [item for item in items if item]
    if not kept:
        container.pop(attribute.name, None)
    else:
        container[attribute.name] = kept if attribute.multi_valued else kept[0]
