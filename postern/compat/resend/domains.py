"""Sending domains in Resend's form."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from postern.compat.resend.errors import RESEND
from postern.compat.resend.lists import ResendListQuery, read_list
from postern.compat.resend.model import build_validated
from postern.kernel.http.call import Call
from postern.kernel.http.compatible_api import NotOffered
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.operation import get, post
from postern.kernel.values import LenientBody
from postern.messaging.domains import operations as domains
from postern.messaging.domains.model import DnsRecord, Domain, NewDomain
from postern.platform.projects import operations as projects
from postern.platform.projects.model import ProjectSettings

RECORDS: Mapping[str, str] = {
    "DKIM": "DKIM",
    "DKIM_NEXT": "DKIM",
    "DKIM_ED25519": "DKIM",
    "SPF": "SPF",
    "RETURN_PATH": "SPF",
    "DMARC": "DMARC",
    "TRACKING": "Tracking",
}
"""Resend's `record`, keyed by the purpose of a DNS record."""
RECORD_STATUSES: Mapping[str, str] = {
    "PENDING": "pending",
    "VERIFIED": "verified",
    "WRONG": "failed",
    "UNKNOWN": "temporary_failure",
}
"""Resend's `status` of a DNS record, keyed by our status."""
STATUSES: Mapping[str, str] = {
    "PENDING": "pending",
    "VERIFIED": "verified",
    "DEGRADED": "partially_failed",
    "FAILED": "failed",
}
"""Resend's `status` of a domain, keyed by our status."""


class ResendCapabilities(LenientBody):
    """What a domain is used for."""

    sending: str | None = None
    receiving: str | None = None


class ResendDomain(LenientBody):
    """A domain to send from."""

    name: str
    tls: str | None = None
    open_tracking: bool | None = None
    click_tracking: bool | None = None
    capabilities: ResendCapabilities | None = None


@post("/domains", needs="domains:write", compatible_api=RESEND, status=201)
async def create_resend_domain(call: Call, data: ResendDomain) -> dict[str, Any]:
    """Add a domain to send from. Regions and names of return paths are ignored."""
    settings = await projects.settings_of(call)
    if data.tls == "enforced":
        raise NotOffered("Enforced TLS is a setting of the relay that delivers the mail, not of a domain.")
    if data.capabilities and data.capabilities.receiving == "enabled":
        raise NotOffered(
            "Receiving is not a setting of a domain: add an address with POST …/inbound/routes of our API."
        )
    if (data.open_tracking or False) > settings.track_opens or (data.click_tracking or False) > settings.track_clicks:
        raise NotOffered("Tracking is a setting of the project, not of a domain: it is switched off.")
    domain = await domains.create_domain(call, build_validated(NewDomain, domain=data.name))
    return _detail(domain, settings)


@get("/domains", needs="domains:read", compatible_api=RESEND)
async def list_resend_domains(call: Call, query: ResendListQuery) -> dict[str, Any]:
    """The sending domains, newest first."""
    settings = await projects.settings_of(call)

    def render(domain: Domain) -> dict[str, Any]:
        return _summary(domain, settings)

    return await read_list(call, query, domains.list_domains, "domains", render)


@get("/domains/{id}", needs="domains:read", compatible_api=RESEND)
async def get_resend_domain(call: Call, id: UUID) -> dict[str, Any]:
    """A domain with its DNS records."""
    return _detail(await domains.get_domain(call, id), await projects.settings_of(call))


@post("/domains/{id}/verify", needs="domains:write", compatible_api=RESEND)
async def verify_resend_domain(call: Call, id: UUID) -> dict[str, Any]:
    """Check the DNS records of a domain now."""
    await domains.verify_domain(call, id)
    return {"object": "domain", "id": id}


@delete_("/domains/{id}", needs="domains:write", compatible_api=RESEND)
async def delete_resend_domain(call: Call, id: UUID) -> dict[str, Any]:
    """Delete a domain; 409 if messages wait to be sent from it."""
    await domains.delete_domain(call, id)
    return {"object": "domain", "id": id, "deleted": True}


def _summary(domain: Domain, settings: ProjectSettings) -> dict[str, Any]:
    return {
        "id": domain.id,
        "name": domain.domain,
        "status": domain_status(domain),
        "created_at": domain.created_at,
        "region": None,
        "open_tracking": settings.track_opens,
        "click_tracking": settings.track_clicks,
        "capabilities": {"sending": "enabled", "receiving": "disabled"},
    }


def _detail(domain: Domain, settings: ProjectSettings) -> dict[str, Any]:
    records = [_record(record, domain) for record in domain.records]
    return {"object": "domain", **_summary(domain, settings), "records": records}


def domain_status(domain: Domain) -> str:
    """Resend's status of a domain."""
    return "not_started" if domain.last_checked_at is None else STATUSES[domain.status]


def _record(record: DnsRecord, domain: Domain) -> dict[str, Any]:
    return {
        "record": RECORDS[record.purpose],
        "name": record.name,
        "type": record.type,
        "ttl": "Auto",
        "status": "not_started" if domain.last_checked_at is None else RECORD_STATUSES[record.status],
        "value": record.value,
    }
