"""The names that get certificates: those of this server, and those of projects below verified domains: for tracking
links, and for hosted pages."""

import asyncio
from collections.abc import Collection
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID

import msgspec

from postern.kernel.config import Settings
from postern.kernel.outbound.client import OutboundResponse
from postern.messaging.certificates import store
from postern.messaging.certificates.model import PAGES_CHECK_TIME
from postern.messaging.certificates.pages_domains import PagesDomains
from postern.messaging.domains.dns_check import check_cname
from postern.messaging.domains.model import DnsRecord
from postern.messaging.domains.rules import TRACKING_LABEL, is_domain_name
from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord

if TYPE_CHECKING:
    from postern.world import World

PAGES_PROBE_TIME = timedelta(seconds=5)
"""How long a request to the host name of hosted pages may take."""
DISCOVERY_PATH = "/.well-known/openid-configuration"
PATH_OF_API = "/readyz"
"""A path that exists at the host of this server, and not at those of pages."""
DISCOVERY_BYTES = 16_384
"""Maximum size of the metadata of the OpenID provider, in bytes."""


def own_names(settings: Settings) -> list[str]:
    """The names of this server that need a certificate by ACME: the host of the base URL if this server serves HTTPS,
    and the names of the SMTP servers without a certificate in files."""
    names = [public_host(settings)] if settings.https_port is not None else []
    return list(dict.fromkeys(name for name in [*names, *settings.smtp_names] if is_domain_name(name)))


def public_host(settings: Settings) -> str:
    """The host of the base URL, in lower case."""
    return (urlsplit(settings.public_url).hostname or "").lower()


async def may_have_certificate(world: "World", name: str) -> bool:
    """Whether a name is one of this server, or a name for tracking links or hosted pages that a project may use."""
    settings = world.settings
    if name in (public_host(settings), *own_names(settings)):
        return True
    return bool(await store.domains_of_name(world.db, label=TRACKING_LABEL, name=name))


async def address_problem(world: "World", name: str) -> str | None:
    """Why the authority would not reach this server under a name; None if all its addresses are those of this server.

    Without this check, a project could make the authority refuse further orders of this instance.
    """
    settings = world.settings
    try:
        addresses = await world.resolver.addresses(name)
        if name in own_names(settings):
            return None
        expected = await world.resolver.addresses(public_host(settings))
    except (NoSuchRecord, DnsUnavailable) as error:
        return str(error)
    return _foreign_addresses(settings, name, addresses, expected)


def _foreign_addresses(settings: Settings, name: str, addresses: Collection[str], own: Collection[str]) -> str | None:
    """Which addresses of a name are not those of this server, in a sentence; None if all are."""
    foreign = sorted(set(addresses) - set(own))
    if foreign:
        return f"{name} resolves to {', '.join(foreign[:5])} and not only to this server, {public_host(settings)}."
    return None


async def check_pages_record(world: "World", project_id: UUID, name: str) -> DnsRecord | None:
    """The DNS record to publish for a name of a project's hosted pages, with what a lookup finds now.

    Instead of the CNAME record, the name may have address records of this server's addresses, or of a proxy, such as a
    CDN, through which this server answers at the name. A failed lookup gives the status UNKNOWN. None if the host of
    the base URL is an IP address or `localhost`: no CNAME record leads there.
    """
    host = public_host(world.settings)
    if not is_domain_name(host):
        return None
    record = DnsRecord(type="CNAME", name=name, value=host, purpose="PAGES", required=True)
    try:
        async with asyncio.timeout(PAGES_CHECK_TIME.total_seconds()):
            checked = await _check_pages_record(world, record)
    except DnsUnavailable as error:
        reason = str(error)
    except TimeoutError:
        reason = "The lookups took too long."
    else:
        if checked.status == "WRONG" and await _answers_at(world, project_id, name):
            return msgspec.structs.replace(checked, status="VERIFIED", reason=None)
        return checked
    return msgspec.structs.replace(record, status="UNKNOWN", reason=reason)


async def _answers_at(world: "World", project_id: UUID, name: str) -> bool:
    """Whether this server answers at the name of a project's hosted pages: the metadata of the OpenID provider there
    (OpenID Connect Discovery §4) are those of the project. This proves nothing to others, because anybody can copy
    them; whoever sets the name also chooses where it leads."""
    base = urlsplit(world.settings.public_url)
    path = f"/projects/{project_id}"
    origin = f"{base.scheme}://{name}{'' if base.port is None else f':{base.port}'}"
    try:
        async with asyncio.timeout(PAGES_PROBE_TIME.total_seconds()):
            return await _is_own_answer(world, origin, name, path)
    except TimeoutError:
        return False


async def _is_own_answer(world: "World", origin: str, name: str, path: str) -> bool:
    outcome = await world.outbound.get(f"{origin}{path}{DISCOVERY_PATH}", keep=DISCOVERY_BYTES)
    if not isinstance(outcome, OutboundResponse) or outcome.status != HTTPStatus.OK:
        return False
    try:
        document = msgspec.json.decode(outcome.body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    if document.get("issuer") != f"{world.settings.public_url}{path}":
        return False
    # A proxy that sends this server another `Host` would lead every visit in a circle: at the name, the API is 404.
    if not world.resources[PagesDomains].is_known(name):
        return True
    outcome = await world.outbound.get(f"{origin}{PATH_OF_API}", keep=0)
    return isinstance(outcome, OutboundResponse) and outcome.status == HTTPStatus.NOT_FOUND


async def _check_pages_record(world: "World", record: DnsRecord) -> DnsRecord:
    """A CNAME record with the result of the lookups. Raises DnsUnavailable."""
    # Caches may lack a record that was just published. If the operator configured DNS servers, only those are queried.
    resolver = world.resolver if world.settings.dns else await world.resolver.authoritative(record.name)
    checked = await check_cname(resolver, record)
    if checked.status in ("VERIFIED", "UNKNOWN"):
        return checked
    try:
        addresses = await resolver.addresses(record.name)
    except NoSuchRecord:
        return checked
    own = await _own_addresses(world, record.value)
    problem = _foreign_addresses(world.settings, record.name, addresses, own)
    if problem is None:
        return msgspec.structs.replace(checked, status="VERIFIED", found=checked.found or addresses, reason=None)
    return msgspec.structs.replace(checked, status="WRONG", found=checked.found or addresses, reason=problem)


async def _own_addresses(world: "World", host: str) -> list[str]:
    """The addresses of this server; none if its host has no record. Raises DnsUnavailable."""
    try:
        return await world.resolver.addresses(host)
    except NoSuchRecord:
        return []
