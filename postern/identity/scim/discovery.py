"""What a directory reads about the service: supported parts, resource types and schemas (RFC 7644 §4)."""

from collections.abc import Mapping, Sequence

from postern.identity.scim.model import BULK_OPERATIONS, PAGE_LIMIT
from postern.identity.scim.users import ScimResourceMissing
from postern.kernel.http.operation import BODY_LIMIT
from postern.kernel.http.problems import ContentTooLarge, Forbidden
from postern.protocols.scim.schemas import GROUP, USER, Document

CONFIG_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"
RESOURCE_TYPE_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:ResourceType"
SCHEMA_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Schema"
BULK_RESPONSE_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:BulkResponse"


class DiscoveryFilterRefused(Forbidden):
    """Schemas and resource types cannot be filtered."""


class BulkTooLarge(ContentTooLarge):
    """A bulk request can have at most 100 operations."""


def service_provider_config(base_url: str) -> Document:
    """The supported parts of the protocol (RFC 7643 §5)."""
    return {
        "schemas": [CONFIG_SCHEMA],
        "documentationUri": "https://datatracker.ietf.org/doc/html/rfc7644",
        "patch": {"supported": True},
        "bulk": {"supported": True, "maxOperations": BULK_OPERATIONS, "maxPayloadSize": BODY_LIMIT},
        "filter": {"supported": True, "maxResults": PAGE_LIMIT},
        "changePassword": {"supported": False},
        "sort": {"supported": False},
        "etag": {"supported": True},
        "authenticationSchemes": [
            {
                "type": "oauthbearertoken",
                "name": "Bearer token",
                "description": "The token of the directory connection, as `Authorization: Bearer …`.",
                "specUri": "https://datatracker.ietf.org/doc/html/rfc6750",
                "primary": True,
            }
        ],
        "meta": {"resourceType": "ServiceProviderConfig", "location": f"{base_url}/ServiceProviderConfig"},
    }


def resource_types(base_url: str) -> list[Document]:
    """The resource types (RFC 7643 §6)."""
    return [
        {
            "schemas": [RESOURCE_TYPE_SCHEMA],
            "id": resource_type.name,
            "name": resource_type.name,
            "endpoint": resource_type.endpoint,
            "description": resource_type.schema.description,
            "schema": resource_type.schema.id,
            "schemaExtensions": [{"schema": extension.id, "required": False} for extension in resource_type.extensions],
            "meta": {"resourceType": "ResourceType", "location": f"{base_url}/ResourceTypes/{resource_type.name}"},
        }
        for resource_type in (USER, GROUP)
    ]


def schemas(base_url: str) -> list[Document]:
    """The schemas (RFC 7643 §7)."""
    return [
        {
            "schemas": [SCHEMA_SCHEMA],
            "id": schema.id,
            "name": schema.name,
            "description": schema.description,
            "attributes": [attribute.definition() for attribute in schema.attributes],
            "meta": {"resourceType": "Schema", "location": f"{base_url}/Schemas/{schema.id}"},
        }
        for schema in (USER.schema, *USER.extensions, GROUP.schema)
    ]


def one_of(documents: Sequence[Document], id: str) -> Document:
    """The document with this id. Raises ScimResourceMissing."""
    for document in documents:
        if document["id"].lower() == id.lower():
            return document
    raise ScimResourceMissing


def refuse_filter(parameters: Mapping[str, str]) -> None:
    """Raise DiscoveryFilterRefused if there is a filter (RFC 7644 §4)."""
    if "filter" in parameters:
        raise DiscoveryFilterRefused
