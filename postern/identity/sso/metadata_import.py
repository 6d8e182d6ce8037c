"""Import of an identity provider's settings from SAML metadata, uploaded or fetched."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from postern.identity.sso import rules
from postern.identity.sso.model import MetadataUnreachable
from postern.kernel.http.problems import ProblemError
from postern.kernel.outbound.client import OutboundFailed, OutboundRefused
from postern.protocols.saml.metadata import (
    MAX_METADATA_BYTES,
    IdentityProvider,
    SamlMetadataRefused,
    SamlMetadataTooLarge,
    read_metadata,
)

if TYPE_CHECKING:
    from postern.world import World


async def import_metadata(
    world: "World", now: datetime, *, xml: str | None, url: str | None, entity_id: str | None
) -> dict[str, Any]:
    """Read SAML metadata from `url`, or from `xml` if `url` is None. Returns the values of the columns of
    `sso_connections` that the metadata sets.

    `entity_id` selects one of several identity providers in the metadata. Raises MetadataUnreachable,
    SamlMetadataTooLarge, SamlMetadataRefused or Invalid.
    """
    path = "/idpMetadataUrl" if url is not None else "/idpMetadataXml"
    raw = await _fetch(world, url) if url is not None else (xml or "").encode()
    allow_http = bool(world.settings.outbound_allow)
    try:
        provider = read_metadata(raw, now=now, entity_id=entity_id, allow_http=allow_http)
    except SamlMetadataRefused as refused:
        error = ProblemError(path=path, code=SamlMetadataRefused.code(), message=refused.detail)
        raise SamlMetadataRefused(refused.detail, errors=[error]) from None
    return {**_columns_of(provider), "idp_metadata_url": url}


async def _fetch(world: "World", url: str) -> bytes:
    rules.require_web_url(url, "/idpMetadataUrl", allow_http=bool(world.settings.outbound_allow))
    outcome = await world.outbound.get(
        url, headers={"Accept": "application/samlmetadata+xml, application/xml, text/xml"}, keep=MAX_METADATA_BYTES
    )
    if isinstance(outcome, OutboundRefused | OutboundFailed):
        raise _unreachable(outcome.reason)
    if not outcome.ok:
        raise _unreachable(f"The server responded with status {outcome.status}.")
    if not outcome.complete:
        raise SamlMetadataTooLarge
    return outcome.body


def _unreachable(reason: str) -> MetadataUnreachable:
    error = ProblemError(path="/idpMetadataUrl", code=MetadataUnreachable.code(), message=reason)
    return MetadataUnreachable(f"The metadata could not be fetched: {reason}", errors=[error])


def _columns_of(provider: IdentityProvider) -> dict[str, Any]:
    return {
        "idp_entity_id": provider.entity_id,
        "idp_sso_url": provider.sso_redirect_url or provider.sso_post_url,
        "idp_sso_binding": "REDIRECT" if provider.sso_redirect_url else "POST",
        "idp_slo_url": provider.slo_redirect_url or provider.slo_post_url,
        "idp_slo_binding": "REDIRECT" if provider.slo_redirect_url or not provider.slo_post_url else "POST",
        "idp_slo_response_url": provider.slo_response_url,
        "idp_certificate": [certificate.pem for certificate in provider.certificates],
    }
