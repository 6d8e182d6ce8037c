"""The schemas of users and groups (RFC 7643 §4), and the canonical form of resources."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from postern.protocols.scim.problems import ScimRequestInvalid

Document = dict[str, Any]
"""A resource in its canonical form: attributes with the names of the schema, those of an extension below its URN."""

USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group"
ENTERPRISE_SCHEMA = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"

TEXT_LIMIT = 1_024
"""Characters of a text attribute."""
ITEMS_LIMIT = 20
"""Items of a multi-valued attribute of a user."""

Mutability = Literal["readOnly", "readWrite", "immutable"]
Returned = Literal["always", "default"]
AttributeType = Literal["string", "boolean", "complex", "dateTime", "reference"]


@dataclass(frozen=True)
class ScimAttribute:
    """An attribute of a schema (RFC 7643 §7)."""

    name: str
    description: str
    type: AttributeType = "string"
    multi_valued: bool = False
    required: bool = False
    case_exact: bool = False
    mutability: Mutability = "readWrite"
    returned: Returned = "default"
    uniqueness: Literal["none", "server"] = "none"
    canonical_values: tuple[str, ...] = ()
    reference_types: tuple[str, ...] = ()
    sub_attributes: tuple["ScimAttribute", ...] = ()

    @cached_property
    def by_name(self) -> Mapping[str, "ScimAttribute"]:
        """The sub-attributes by their names in lower case."""
        return {attribute.name.lower(): attribute for attribute in self.sub_attributes}

    def definition(self) -> dict[str, Any]:
        """The attribute as the endpoint `/Schemas` returns it."""
        definition: dict[str, Any] = {
            "name": self.name,
            "type": self.type,
            "multiValued": self.multi_valued,
            "description": self.description,
            "required": self.required,
            "mutability": self.mutability,
            "returned": self.returned,
        }
        if self.type in ("string", "reference"):
            definition |= {"caseExact": self.case_exact, "uniqueness": self.uniqueness}
        if self.canonical_values:
            definition["canonicalValues"] = list(self.canonical_values)
        if self.reference_types:
            definition["referenceTypes"] = list(self.reference_types)
        if self.sub_attributes:
            definition["subAttributes"] = [attribute.definition() for attribute in self.sub_attributes]
        return definition


@dataclass(frozen=True)
class Schema:
    """A schema: its URN and its attributes."""

    id: str
    name: str
    description: str
    attributes: tuple[ScimAttribute, ...]

    @cached_property
    def by_name(self) -> Mapping[str, ScimAttribute]:
        """The attributes by their names in lower case."""
        return {attribute.name.lower(): attribute for attribute in self.attributes}


@dataclass(frozen=True)
class ResourceType:
    """A type of resources: its endpoint, its schema and the extensions of the schema."""

    name: str
    endpoint: str
    schema: Schema
    extensions: tuple[Schema, ...] = field(default=())

    @cached_property
    def schemas_by_id(self) -> Mapping[str, Schema]:
        """The schema and its extensions by their URNs in lower case."""
        return {schema.id.lower(): schema for schema in (self.schema, *self.extensions)}


def _typed_values(
    name: str, description: str, value: ScimAttribute, types: tuple[str, ...], *more: ScimAttribute
) -> ScimAttribute:
    """A multi-valued attribute with the usual sub-attributes (RFC 7643 §2.4)."""
    sub_attributes = (
        value,
        ScimAttribute("display", "A name for display."),
        ScimAttribute("type", "A label that tells the values apart.", canonical_values=types),
        ScimAttribute("primary", "Whether this is the preferred value; true for at most one.", "boolean"),
        *more,
    )
    return ScimAttribute(name, description, "complex", multi_valued=True, sub_attributes=sub_attributes)


COMMON_ATTRIBUTES = (
    ScimAttribute("id", "The id of the resource.", case_exact=True, mutability="readOnly", returned="always"),
    ScimAttribute("externalId", "The id of the resource in the directory.", case_exact=True),
    ScimAttribute(
        "meta",
        "When the resource was created and changed.",
        "complex",
        mutability="readOnly",
        sub_attributes=(
            ScimAttribute("resourceType", "User or Group.", case_exact=True, mutability="readOnly"),
            ScimAttribute("created", "When the resource was created.", "dateTime", mutability="readOnly"),
            ScimAttribute("lastModified", "When the resource was last changed.", "dateTime", mutability="readOnly"),
            ScimAttribute("location", "The URL of the resource.", case_exact=True, mutability="readOnly"),
            ScimAttribute("version", "The entity tag of the resource.", case_exact=True, mutability="readOnly"),
        ),
    ),
)
"""Attributes of all resources (RFC 7643 §3.1). Schemas do not list them."""

USER = ResourceType(
    "User",
    "/Users",
    Schema(
        USER_SCHEMA,
        "User",
        "A user of the directory",
        (
            ScimAttribute("userName", "The name with which the user signs in.", required=True, uniqueness="server"),
            ScimAttribute(
                "name",
                "The parts of the name.",
                "complex",
                sub_attributes=(
                    ScimAttribute("formatted", "The full name."),
                    ScimAttribute("familyName", "The family name."),
                    ScimAttribute("givenName", "The given name."),
                    ScimAttribute("middleName", "The middle names."),
                    ScimAttribute("honorificPrefix", "The title, such as Dr."),
                    ScimAttribute("honorificSuffix", "The suffix, such as III."),
                ),
            ),
            ScimAttribute("displayName", "The name for display."),
            ScimAttribute("nickName", "The casual name."),
            ScimAttribute("title", "The title of the position."),
            ScimAttribute("userType", "The relation to the organization, such as Employee."),
            ScimAttribute("preferredLanguage", "The preferred language, such as en-US."),
            ScimAttribute("locale", "The locale of dates and numbers, such as en-US."),
            ScimAttribute("timezone", "The time zone, such as Europe/Berlin."),
            ScimAttribute("active", "Whether the user is a member of the organization.", "boolean"),
            _typed_values(
                "emails", "E-mail addresses.", ScimAttribute("value", "The address."), ("work", "home", "other")
            ),
            _typed_values(
                "phoneNumbers",
                "Phone numbers.",
                ScimAttribute("value", "The number."),
                ("work", "home", "mobile", "fax", "pager", "other"),
            ),
            ScimAttribute(
                "groups",
                "The groups that have the user as a member.",
                "complex",
                multi_valued=True,
                mutability="readOnly",
                sub_attributes=(
                    ScimAttribute("value", "The id of the group.", case_exact=True, mutability="readOnly"),
                    ScimAttribute(
                        "$ref", "The URL of the group.", "reference", mutability="readOnly", reference_types=("Group",)
                    ),
                    ScimAttribute("display", "The name of the group.", mutability="readOnly"),
                ),
            ),
        ),
    ),
    (
        Schema(
            ENTERPRISE_SCHEMA,
            "EnterpriseUser",
            "A user who works for an organization",
            (
                ScimAttribute("employeeNumber", "The number of the employee."),
                ScimAttribute("costCenter", "The cost center."),
                ScimAttribute("organization", "The organization."),
                ScimAttribute("division", "The division."),
                ScimAttribute("department", "The department."),
                ScimAttribute(
                    "manager",
                    "The manager of the user.",
                    "complex",
                    sub_attributes=(
                        ScimAttribute("value", "The id of the manager.", case_exact=True),
                        ScimAttribute("displayName", "The name of the manager."),
                    ),
                ),
            ),
        ),
    ),
)
"""Users."""

GROUP = ResourceType(
    "Group",
    "/Groups",
    Schema(
        GROUP_SCHEMA,
        "Group",
        "A group of users",
        (
            ScimAttribute("displayName", "The name of the group.", required=True, uniqueness="server"),
            ScimAttribute(
                "members",
                "The users in the group.",
                "complex",
                multi_valued=True,
                sub_attributes=(
                    ScimAttribute("value", "The id of the user.", case_exact=True, mutability="immutable"),
                    ScimAttribute(
                        "$ref", "The URL of the user.", "reference", mutability="immutable", reference_types=("User",)
                    ),
                ),
            ),
        ),
    ),
)
"""Groups. Their members are users; groups in groups are not supported."""

COMMON_BY_NAME = {attribute.name.lower(): attribute for attribute in COMMON_ATTRIBUTES}
MAX_QUOTED = 100
"""Characters of a name from a request that a message repeats."""


def invalid_value(name: str, expected: str) -> ScimRequestInvalid:
    """The problem for a value of the wrong type."""
    return ScimRequestInvalid("invalidValue", f"`{name[:MAX_QUOTED]}` must be {expected}.")


def read_resource(resource_type: ResourceType, data: Any) -> Document:
    """The canonical form of a resource in the body of a POST or PUT.

    Names are compared without case (RFC 7643 §2.1). Unknown attributes and read-only ones are left out, as RFC 7644
    §3.3 allows: directories send attributes that Postern does not have, such as `password`. Raises ScimRequestInvalid
    if `schemas` does not name the schema, a required attribute is missing, or a value has the wrong type.
    """
    fields = _lower_names(data)
    declared = fields.pop("schemas", None)
    if not isinstance(declared, list) or resource_type.schema.id.lower() not in {
        urn.lower()
        for urn in declared  # pyright: ignore[reportUnknownVariableType]
        if isinstance(urn, str)
    }:
        raise ScimRequestInvalid("invalidSyntax", f"`schemas` must contain {resource_type.schema.id}.")
    document: Document = {}
    for name, value in fields.items():
        extension = resource_type.schemas_by_id.get(name)
        if extension is not None and extension is not resource_type.schema:
            document |= _extension(extension, value)
            continue
        attribute = COMMON_BY_NAME.get(name) or resource_type.schema.by_name.get(name)
        if attribute is not None:
            document |= _assigned(attribute, value)
    require_complete(resource_type, document)
    return document


def require_complete(resource_type: ResourceType, document: Document) -> None:
    """Raise ScimRequestInvalid unless a canonical document has all required attributes, at most ITEMS_LIMIT items in
    each list, and at most one primary item in each."""
    for attribute in resource_type.schema.attributes:
        value = document.get(attribute.name)
        if attribute.required and (value is None or (isinstance(value, str) and not value.strip())):
            raise ScimRequestInvalid("invalidValue", f"`{attribute.name}` is required.")
        if isinstance(value, list) and attribute.name != "members":
            items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
            if len(items) > ITEMS_LIMIT:
                raise ScimRequestInvalid("invalidValue", f"`{attribute.name}` can have at most {ITEMS_LIMIT} values.")
            if sum(item.get("primary") is True for item in items) > 1:
                raise ScimRequestInvalid("invalidValue", f"Only one value of `{attribute.name}` can be primary.")


def read_value(attribute: ScimAttribute, value: Any) -> Any:
    """The canonical form of the value of an attribute: a list if it is multi-valued. None if there is no value.

    A single value is accepted for a list, and a list with one `{"value": …}` for a text or boolean, as Entra ID sends
    it. Raises ScimRequestInvalid.
    """
    if value is None:
        return None
    if not attribute.multi_valued:
        if isinstance(value, list) and len(value) == 1 and attribute.type != "complex":  # pyright: ignore[reportUnknownArgumentType]
            value = value[0]  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, dict) and attribute.type != "complex" and "value" in value:
            value = value["value"]  # pyright: ignore[reportUnknownVariableType]
        return read_item(attribute, value)
    values: list[Any] = value if isinstance(value, list) else [value]
    items = [read_item(attribute, item) for item in values]
    return [item for item in items if item not in (None, {})] or None


def read_item(attribute: ScimAttribute, value: Any) -> Any:
    """The canonical form of one value of an attribute, even if it is multi-valued. Raises ScimRequestInvalid."""
    if value is None:
        return None
    if attribute.type == "complex":
        if isinstance(value, str) and "value" in attribute.by_name:
            value = {"value": value}  # Entra ID sends the manager as a text.
        fields = _lower_names(value, attribute.name)
        item: Document = {}
        for name, sub_value in fields.items():
            sub_attribute = attribute.by_name.get(name)
            if sub_attribute is not None:
                item |= _assigned(sub_attribute, sub_value)
        return item or None
    if attribute.type == "boolean":
        return read_boolean(attribute.name, value)
    if not isinstance(value, str):
        # Directories send numbers for texts, such as an employee number.
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise invalid_value(attribute.name, "a text")
        value = str(value)
    if len(value) > TEXT_LIMIT:
        raise invalid_value(attribute.name, f"a text of at most {TEXT_LIMIT} characters")
    return value


def read_boolean(name: str, value: Any) -> bool:
    """A boolean, or the text "True" or "False", which Entra ID sends. Raises ScimRequestInvalid."""
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise invalid_value(name, "true or false")
    return value


def _assigned(attribute: ScimAttribute, value: Any) -> Document:
    """A document with the attribute, if it can be written and has a value."""
    if attribute.mutability == "readOnly":
        return {}
    canonical = read_value(attribute, value)
    return {} if canonical is None else {attribute.name: canonical}


def _extension(schema: Schema, value: Any) -> Document:
    if value is None:
        return {}
    attributes: Document = {}
    for name, sub_value in _lower_names(value, schema.id).items():
        attribute = schema.by_name.get(name)
        if attribute is not None:
            attributes |= _assigned(attribute, sub_value)
    return {schema.id: attributes} if attributes else {}


def _lower_names(value: Any, name: str = "The body") -> dict[str, Any]:
    if not isinstance(value, dict):
        raise (
            invalid_value(name, "an object")
            if name != "The body"
            else ScimRequestInvalid("invalidSyntax", "The body must be a JSON object.")
        )
    fields: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
    return {key.lower(): field_value for key, field_value in fields.items()}


def schemas_of(resource_type: ResourceType, document: Document) -> list[str]:
    """The value of `schemas` of a resource: its schema, and the extensions of which it has attributes."""
    return [resource_type.schema.id, *(schema.id for schema in resource_type.extensions if schema.id in document)]


def selected(
    resource_type: ResourceType,
    document: Document,
    included: Iterable[str] | None,
    excluded: Iterable[str],
) -> Document:
    """The part of a resource that a client asks for by `attributes` and `excludedAttributes` (RFC 7644 §3.9).

    `included` is None without `attributes`. Names may have the URN of the schema before them, and a sub-attribute after
    a dot. `id` and `schemas` are always returned. Unknown names are ignored.
    """
    if included is not None:
        requested = [_parts_of(resource_type, name) for name in included]
        return {
            key: _only(value, [sub for attribute, sub in requested if attribute == key.lower()])
            for key, value in document.items()
            if key in ("id", "schemas") or any(attribute == key.lower() for attribute, _ in requested)
        }
    omitted = [_parts_of(resource_type, name) for name in excluded]
    return {
        key: _without(value, {sub for attribute, sub in omitted if attribute == key.lower() and sub})
        for key, value in document.items()
        if key in ("id", "schemas") or (key.lower(), "") not in omitted
    }


def _parts_of(resource_type: ResourceType, name: str) -> tuple[str, str]:
    """The key of a document and the sub-attribute (or an empty text) that a name means, both in lower case."""
    lowered = name.strip().lower()
    for urn in resource_type.schemas_by_id:
        if lowered == urn:
            return urn, ""
        if lowered.startswith(f"{urn}:"):
            rest = lowered[len(urn) + 1 :]
            if urn != resource_type.schema.id.lower():
                return urn, rest.partition(".")[0]
            lowered = rest
    attribute, _, sub = lowered.partition(".")
    return attribute, sub


def _only(value: Any, subs: list[str]) -> Any:
    if "" in subs:
        return value
    if isinstance(value, list):
        return [_only(item, subs) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        fields: Document = value  # pyright: ignore[reportUnknownVariableType]
        return {key: item for key, item in fields.items() if key.lower() in subs}
    return value


def _without(value: Any, subs: set[str]) -> Any:
    if not subs:
        return value
    if isinstance(value, list):
        return [_without(item, subs) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        fields: Document = value  # pyright: ignore[reportUnknownVariableType]
        return {key: item for key, item in fields.items() if key.lower() not in subs}
    return value
