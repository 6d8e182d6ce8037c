"""A SAML connection between Postern and the test identity provider, and valid responses of that provider."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import saml2
import xmlschema

from postern.protocols.saml.connection import SamlConnection
from tests.peers.identity_provider import IdentityProvider, keys

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
REQUEST = "_request-1"
SP = "https://mail.example/sso/saml/1"


SCHEMAS = Path(saml2.__file__).parent / "data" / "schemas"
"""The OASIS schemas that pysaml2 contains."""
LOCATIONS = {
    "http://www.w3.org/XML/1998/namespace": "xml.xsd",
    "http://www.w3.org/2000/09/xmldsig#": "xmldsig-core-schema.xsd",
    "http://www.w3.org/2001/04/xmlenc#": "xenc-schema.xsd",
    "urn:oasis:names:tc:SAML:2.0:assertion": "saml-schema-assertion-2.0.xsd",
    "urn:oasis:names:tc:SAML:2.0:metadata": "saml-schema-metadata-2.0.xsd",
    "urn:oasis:names:tc:SAML:2.0:protocol": "saml-schema-protocol-2.0.xsd",
}


@pytest.fixture(scope="session")
def metadata_schema() -> xmlschema.XMLSchema:
    return schema("saml-schema-metadata-2.0.xsd")


@pytest.fixture(scope="session")
def protocol_schema() -> xmlschema.XMLSchema:
    return schema("saml-schema-protocol-2.0.xsd")


def schema(name: str) -> xmlschema.XMLSchema:
    """A schema that is read from disk only: nothing is fetched."""
    return xmlschema.XMLSchema(
        str(SCHEMAS / name),
        locations={namespace: str(SCHEMAS / file) for namespace, file in LOCATIONS.items()},
        base_url=str(SCHEMAS / name),
        allow="sandbox",
        use_fallback=False,
    )


@pytest.fixture
def idp() -> IdentityProvider:
    return IdentityProvider(now=NOW)


@pytest.fixture
def connection(idp) -> SamlConnection:
    return connection_with(idp)


def connection_with(idp: IdentityProvider, **changes: object) -> SamlConnection:
    settings: dict = {
        "sp_entity_id": SP,
        "acs_url": f"{SP}/acs",
        "slo_url": f"{SP}/slo",
        "idp_entity_id": idp.entity_id,
        "idp_certificates": (idp.certificate,),
        "decryption_keys": (keys("sp").private_pem,),
    }
    return SamlConnection(**(settings | changes))


def valid_response(idp: IdentityProvider, **changes: object) -> bytes:
    """A valid, signed Response to the request REQUEST, with some claims changed."""
    return idp.sign_on(idp.claims(**{"acs_url": f"{SP}/acs", "audience": SP, "in_response_to": REQUEST, **changes}))
