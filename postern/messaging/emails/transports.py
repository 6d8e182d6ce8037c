"""Creates the transports of projects, and caches them per process."""

import asyncio
from datetime import timedelta
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import UUID

import msgspec

from postern.kernel.config import DOMAIN, SettingInvalid
from postern.kernel.http.problems import Unavailable
from postern.kernel.outbound.ssrf import permitted
from postern.kernel.values import NO_ID
from postern.messaging.emails import store
from postern.messaging.emails.model import CapturedMail
from postern.messaging.emails.sts_policies import sts_policies
from postern.platform.projects import operations as projects
from postern.platform.projects.model import MailTransport, ProjectSettings
from postern.protocols.mail.smtp import Tls
from postern.protocols.mail.transports.capture import CaptureTransport
from postern.protocols.mail.transports.direct import MAX_SOURCES, DirectTransport, Lane, Source
from postern.protocols.mail.transports.mx import MailRoutes
from postern.protocols.mail.transports.relay import RelayServer, RelayTransport
from postern.protocols.mail.transports.transport import Envelope, Transport

if TYPE_CHECKING:
    from postern.world import World


MAX_LEASE_AHEAD = timedelta(seconds=5)
"""How far ahead a process may lease time spans of a relay's rate limit. A process sends only in spans it has leased."""


class NoSmartHost(Unavailable):
    """This project uses the server's relay, but the server has none. Set POSTERN_RELAY, or `relays` in its settings."""


class DirectNotOffered(Unavailable):
    """This project sends to the recipients' mail servers, which this server does not offer: set POSTERN_SOURCES, or
    change `transport` in the settings of the project."""


def transport_name(world: "World", settings: ProjectSettings) -> MailTransport:
    """The name of the transport of a project's LIVE mail."""
    return settings.transport or cast("MailTransport", world.settings.transport)


def is_captured(world: "World", settings: ProjectSettings, *, test: bool) -> bool:
    """Whether a send of this project is captured for the inbox view; always True for TEST credentials (`test`)."""
    return test or transport_name(world, settings) == "capture"


def require_transport(world: "World", settings: ProjectSettings, *, test: bool) -> None:
    """Raises NoSmartHost or DirectNotOffered if mail of this project is not captured and cannot be sent either."""
    if is_captured(world, settings, test=test):
        return
    if transport_name(world, settings) == "direct":
        _require_direct(world)
    else:
        _require_relay(world, settings)


def transport_of(world: "World", project_id: UUID, settings: ProjectSettings) -> Transport:
    """The transport of a project whose mail is not captured. Raises the same as `require_transport`, and
    SettingInvalid if a setting of the server is invalid."""
    if transport_name(world, settings) == "direct":
        return direct_transport(world)
    return relay_transport(world, project_id, settings)


# Direct ---------------------------------------------------


def _require_direct(world: "World") -> None:
    if not world.settings.offers_direct:
        raise DirectNotOffered


def direct_transport(world: "World") -> DirectTransport:
    """The direct transport, created once per process. Raises DirectNotOffered, or SettingInvalid for invalid sources.

    Mail servers with special-purpose addresses are refused, unless POSTERN_OUTBOUND_ALLOW has the address.
    """
    _require_direct(world)
    transport: DirectTransport | None = world.transports.get("direct")
    if transport is None:
        settings = world.settings
        sources = parse_sources(settings.sources)
        is_validating = settings.dnssec == "yes" or (settings.dnssec == "auto" and world.resolver.uses_loopback)
        routes = MailRoutes(
            world.resolver.caching(dnssec=is_validating),
            port=settings.direct_port,
            check_addresses=partial(permitted, allowed=settings.outbound_allow),
            find_policy=sts_policies(world).find,
            own_names=[source.name for source in sources],
            own_addresses=[*settings.sending_addresses, *[source.address for source in sources]],
            clock=lambda: world.clock().timestamp(),
        )
        transport = world.transports["direct"] = DirectTransport(
            routes.find,
            port=settings.direct_port,
            ehlo_host=_ehlo_host(world),
            sources=sources,
            clock=asyncio.get_running_loop().time,
            now=world.clock,
            chance=world.random.random,
        )
    return transport


def parse_sources(text: str | None) -> list[Source]:
    """Parse POSTERN_SOURCES: `address=name?lane=…&project=…`, separated by spaces. Raises SettingInvalid."""
    sources = [_parse_source(part) for part in (text or "").split()]
    if len(sources) > MAX_SOURCES:
        raise SettingInvalid(f"POSTERN_SOURCES has more than {MAX_SOURCES} addresses.")
    return sources


def _parse_source(text: str) -> Source:
    address, _, rest = text.partition("=")
    name, _, query = rest.partition("?")
    options = {option: values[-1] for option, values in parse_qs(query, keep_blank_values=True).items()}
    try:
        address = str(ip_address(address))
        tenant = str(UUID(options["project"])) if "project" in options else None
    except ValueError:
        address, tenant = "", None
    lanes: dict[str | None, Lane | None] = {
        None: None,
        "transactional": "transactional",
        "marketing": "marketing",
    }
    lane = options.get("lane")
    if not address or not DOMAIN.fullmatch(name) or "." not in name or options.keys() - {"lane", "project"}:
        raise SettingInvalid(
            f"POSTERN_SOURCES: {text!r}: expected address=name, such as 203.0.113.5=mx1.example.com, perhaps with "
            "?lane=transactional|marketing and &project=<id>."
        )
    if lane not in lanes:
        raise SettingInvalid(f"POSTERN_SOURCES: lane={lane} is not one of transactional, marketing.")
    return Source(address=address, name=name.lower(), lane=lanes[lane], tenant=tenant)


# Relay ---------------------------------------------------


def _require_relay(world: "World", settings: ProjectSettings) -> None:
    if not settings.relays and not world.settings.relay:
        raise NoSmartHost


def relay_transport(world: "World", project_id: UUID, settings: ProjectSettings) -> RelayTransport:
    """The relay transport of a project: through its own relays, or through the server's if it has none.

    Created once per process and set of relays. When a project's relays have changed, the transport of its former relays
    is closed in the background. Raises NoSmartHost if neither the project nor the server has a relay, and
    SettingInvalid if POSTERN_RELAY is invalid.
    """
    _require_relay(world, settings)
    project_relays = settings.relays
    name = f"relay:{project_id}:{msgspec.json.encode(project_relays).decode()}" if project_relays else "relay"
    transport: RelayTransport | None = world.transports.get(name)
    if transport is None:
        relays = (
            [_relay(world, project_id, relay) for relay in project_relays]
            if project_relays
            else parse_relays(world.settings.relay)
        )
        transport = world.transports[name] = RelayTransport(
            relays,
            ehlo_host=_ehlo_host(world),
            # The operator's relay may have a private address; a project's relay must have a public one.
            resolve=world.outbound.resolve if project_relays else None,
            lease=partial(_lease_times, world, project_id if project_relays else NO_ID),
            chance=world.random.random,
        )
        _close_former(world, project_id, name)
    return transport


async def _lease_times(world: "World", project_id: UUID, name: str, seconds: float) -> float | None:
    """Lease a time span of the rate limit that all processes share; see `relay.Lease`."""
    span = await store.lease_times(
        world.db, project_id=project_id, name=name, span=timedelta(seconds=seconds), ahead=MAX_LEASE_AHEAD
    )
    return None if span is None else span.begin_seconds


def _close_former(world: "World", project_id: UUID, name: str) -> None:
    """Close the connections to the former relays of a project that changed them."""
    prefix = f"relay:{project_id}:"
    for former in [key for key in world.transports if key.startswith(prefix) and key != name]:
        world.run_in_background(world.transports.pop(former).aclose())


def _ehlo_host(world: "World") -> str:
    return urlsplit(world.settings.public_url).hostname or "localhost"


def _relay(world: "World", project_id: UUID, relay: projects.ProjectRelay) -> RelayServer:
    return RelayServer(
        host=relay.host,
        port=relay.port,
        tls=Tls(relay.tls),
        user=relay.username,
        password=projects.relay_password(world, project_id, relay) or "",
        weight=relay.weight,
        per_second=relay.messages_per_second,
    )


def parse_relays(text: str | None) -> list[RelayServer]:
    """Parse POSTERN_RELAY: URLs separated by spaces. Raises SettingInvalid if it is empty or a URL is invalid."""
    if not text:
        raise SettingInvalid("The transport is `relay`, but POSTERN_RELAY is not set.")
    return [_parse_relay(part) for part in text.split()]


def _parse_relay(text: str) -> RelayServer:
    """Parse one relay of POSTERN_RELAY. Raises SettingInvalid with a message that does not contain the password."""
    try:
        url = urlsplit(text)
        host, port = url.hostname, url.port
    except ValueError:
        host, port, url = None, None, urlsplit("")
    options = {name: values[-1] for name, values in parse_qs(url.query).items()}
    if url.scheme not in ("smtp", "smtps") or not host:
        raise SettingInvalid(
            "POSTERN_RELAY: expected smtp://user:password@host:port?tls=…, with a port from 1 to 65535, and with "
            "characters like # / @ of the password percent-encoded."
        )
    tls = options.get("tls", "implicit" if url.scheme == "smtps" else "starttls-required")
    if tls not in list(Tls):
        raise SettingInvalid(f"POSTERN_RELAY: tls={tls} is not one of {', '.join(Tls)}.")
    try:
        weight, connections = int(options.get("weight", "1")), int(options.get("connections", "10"))
        per_second = float(options["rate"]) if "rate" in options else None
    except ValueError:
        weight, connections, per_second = 0, 0, None
    if weight < 1 or connections < 1 or not (per_second is None or 0 < per_second < float("inf")):
        raise SettingInvalid("POSTERN_RELAY: weight and connections must be integers from 1, and rate greater than 0.")
    return RelayServer(
        host=host,
        port=port or (465 if url.scheme == "smtps" else 587),
        tls=Tls(tls),
        verify=options.get("verify", "yes") != "no",
        user=unquote(url.username) if url.username else None,
        password=unquote(url.password or ""),
        weight=weight,
        per_second=per_second,
        max_connections=connections,
    )


def capture_transport(world: "World", capture: CapturedMail) -> CaptureTransport:
    """A transport whose `deliver` stores `capture` for the inbox view and ignores its arguments."""

    async def store_capture(_envelope: Envelope, _message: bytes) -> None:
        await world.batcher(capture_all)(capture)

    return CaptureTransport(store_capture)


async def capture_all(world: "World", captures: list[CapturedMail]) -> list[None]:
    """Store captured messages by one statement. A send that already has one keeps it. Returns one None per message."""
    await store.capture(world.db, captures)
    return [None] * len(captures)
