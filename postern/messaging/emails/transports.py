"""Creates the transports of projects, and caches them per process."""

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import UUID

import msgspec

from postern.kernel.config import SettingInvalid
from postern.kernel.http.problems import Unavailable
from postern.kernel.values import NO_ID
from postern.messaging.emails import store
from postern.messaging.emails.model import CapturedMail
from postern.platform.projects import operations as projects
from postern.platform.projects.model import ProjectSettings
from postern.protocols.mail.smtp import Tls
from postern.protocols.mail.transports.capture import CaptureTransport
from postern.protocols.mail.transports.relay import RelayServer, RelayTransport
from postern.protocols.mail.transports.transport import Envelope, Transport

if TYPE_CHECKING:
    from postern.world import World


MAX_LEASE_AHEAD = timedelta(seconds=5)
"""How far ahead a process may lease time spans of a relay's rate limit. A process sends only in spans it has leased."""


class NoSmartHost(Unavailable):
    """This project uses the server's relay, but the server has none. Set POSTERN_RELAY, or `relays` in its settings."""


def is_captured(world: "World", settings: ProjectSettings, *, test: bool) -> bool:
    """Whether a send of this project is captured for the inbox view; always True for TEST credentials (`test`)."""
    return test or (settings.transport or world.settings.transport) == "capture"


def require_transport(world: "World", settings: ProjectSettings, *, test: bool) -> None:
    """Raises NoSmartHost if mail of this project is not captured and there is no relay to send it through."""
    if not is_captured(world, settings, test=test) and not settings.relays and not world.settings.relay:
        raise NoSmartHost


def transport_of(world: "World", project_id: UUID, settings: ProjectSettings) -> Transport:
    """The relay transport of a project: through its own relays, or through the server's if it has none.

    Created once per process and set of relays. When a project's relays have changed, the transport of its former relays
    is closed in the background. Raises NoSmartHost if neither the project nor the server has a relay, and
    SettingInvalid if POSTERN_RELAY is invalid.
    """
    project_relays = settings.relays
    if not project_relays and not world.settings.relay:
        raise NoSmartHost
    name = f"relay:{project_id}:{msgspec.json.encode(project_relays).decode()}" if project_relays else "relay"
    transport: Transport | None = world.transports.get(name)
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
