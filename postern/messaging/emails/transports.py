"""Creates the transports of projects, and caches them per process."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, timedelta
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import UUID

import msgspec

from postern.kernel.config import SettingInvalid, Settings
from postern.kernel.database.statements import Queries
from postern.kernel.http.problems import Unavailable
from postern.kernel.outbound.client import default_tls
from postern.kernel.outbound.ssrf import permitted
from postern.kernel.values import NO_ID
from postern.messaging.emails import store
from postern.messaging.emails.sites import sites
from postern.messaging.emails.sources import grant_sources, parse_sources, source_warm_ups
from postern.messaging.emails.sts_policies import sts_policies
from postern.messaging.emails.tls_results import tls_results
from postern.messaging.reputation.source_warm_up import SourceRequest
from postern.platform.projects import operations as projects
from postern.platform.projects.model import ProjectSettings
from postern.protocols.aws.signature import AwsCredentials
from postern.protocols.mail.smtp import Tls
from postern.protocols.mail.transports.direct import DirectTransport, NoSourceLeft
from postern.protocols.mail.transports.failover import FailoverTransport
from postern.protocols.mail.transports.mx import MailRoutes
from postern.protocols.mail.transports.relay import RelayServer, RelayTransport
from postern.protocols.mail.transports.ses import SesAccount, SesTransport, is_region
from postern.protocols.mail.transports.tls_sessions import tlsa_lookup_failure
from postern.protocols.mail.transports.transport import Envelope, Transport

if TYPE_CHECKING:
    from postern.world import World


ReceivesMailFor = Callable[[Queries, str], Awaitable[bool]]
"""Whether this server receives mail for addresses of a domain (A-labels, lower case)."""
MAX_LEASE_AHEAD = timedelta(seconds=5)
"""How far ahead a process may lease time spans of a relay's rate limit. A process sends only in spans it has leased."""


class NoSmartHost(Unavailable):
    """This project uses the server's relay, but the server has none. Set POSTERN_RELAY, or `relays` in the
    settings of the project."""


class NoSesAccount(NoSmartHost):
    """This project uses the server's account of Amazon SES, but the server has none. Set POSTERN_SES_REGION and the
    access key, or `ses` in the settings of the project."""


class DirectNotOffered(NoSmartHost):
    """This project sends to the recipients' mail servers, which this server does not offer: set POSTERN_SOURCES, or
    change `transport` in the settings of the project."""


def is_captured(world: "World", settings: ProjectSettings, *, test: bool) -> bool:
    """Whether a send of this project is captured for the inbox view; always True for TEST credentials (`test`)."""
    return test or (settings.transport or world.settings.transport) == "capture"


def transport_names(world: "World", settings: ProjectSettings) -> tuple[str, ...]:
    """The names of a project's transport and of its fallbacks (used if the first cannot be reached), in order.

    A project that sets neither a transport nor fallbacks has those of the server. If it sets one of them, the fallbacks
    of the server do not apply.
    """
    fallback = settings.fallback_transports
    if settings.transport is None and fallback is None:
        return world.settings.transports
    first = settings.transport or world.settings.transport
    return (first, *(name for name in fallback or () if name != first))


def require_transport(world: "World", settings: ProjectSettings, *, test: bool) -> None:
    """Raises NoSmartHost if mail of this project is not captured and no transport of it is configured."""
    if not is_captured(world, settings, test=test):
        configured_transports(world, settings)


def transport_of(
    world: "World", project_id: UUID, settings: ProjectSettings, names: Sequence[str] | None = None
) -> Transport:
    """The transport of a project, which includes its fallbacks; `names` are its `configured_transports`, if the caller
    has them.

    Created once per process and settings. When the settings of a project have changed, its former transports are closed
    in the background. Raises NoSmartHost if no transport of the project is configured, and SettingInvalid if the
    settings of the server are invalid.
    """
    names = names or configured_transports(world, settings)
    keys = {name: KINDS[name].open(world, project_id, settings) for name in names}
    if len(keys) == 1:
        return world.transports[next(iter(keys.values()))]
    is_own = any(key.startswith(f"{name}:") for name, key in keys.items())
    prefix = f"failover:{project_id if is_own else ''}:"
    key = prefix + " ".join(keys.values())
    if key not in world.transports:
        world.transports[key] = FailoverTransport({name: world.transports[part] for name, part in keys.items()})
        if is_own:
            _close_former(world, prefix, key)
    return world.transports[key]


def configured_transports(world: "World", settings: ProjectSettings) -> list[str]:
    """The names of a project's transports that are configured, in order.

    If there is none, raises the subclass of NoSmartHost for the first transport of the project.
    """
    names = [name for name in transport_names(world, settings) if name in KINDS]
    configured = [name for name in names if KINDS[name].is_configured(world, settings)]
    if not configured:
        raise KINDS[names[0]].missing if names else NoSmartHost
    return configured


class TransportKind(NamedTuple):
    """How transports of one kind are created."""

    missing: type[NoSmartHost]
    """The problem if it is not configured."""
    is_configured: Callable[["World", ProjectSettings], bool]
    """Whether the project or the server has the settings that it needs."""
    open: Callable[["World", UUID, ProjectSettings], str]
    """Creates the transport unless it exists, and returns its key in `world.transports`: the name of the kind for that
    of the server, and `<kind>:<project>:…` for one of a project."""


def _open_relays(world: "World", project_id: UUID, settings: ProjectSettings) -> str:
    """The project's own relays, or those of the server if it has none."""
    project_relays = settings.relays
    key = f"relay:{project_id}:{msgspec.json.encode(project_relays).decode()}" if project_relays else "relay"
    if key not in world.transports:
        relays = (
            [_relay(world, project_id, relay) for relay in project_relays]
            if project_relays
            else parse_relays(world.settings.relay)
        )
        world.transports[key] = RelayTransport(
            relays,
            ehlo_host=_ehlo_host(world),
            # The operator's relay may have a private address; a project's relay must have a public one.
            resolve=world.outbound.resolve if project_relays else None,
            lease=partial(_lease_times, world, project_id if project_relays else NO_ID),
            controls=sites(world),
            scope=str(project_id) if project_relays else "",
            chance=world.random.random,
        )
        _close_former(world, f"relay:{project_id}:", key)
    return key


def _open_ses(world: "World", project_id: UUID, settings: ProjectSettings) -> str:
    """The project's own account of Amazon SES, or that of the server if it has none."""
    own = settings.ses
    key = f"ses:{project_id}:{msgspec.json.encode(own).decode()}" if own else "ses"
    if key not in world.transports:
        account = _project_ses_account(world, project_id, own) if own else ses_account(world.settings)
        world.transports[key] = SesTransport(
            account,
            now=lambda: world.clock().astimezone(UTC),
            context=default_tls(),
            chance=world.random.random,
            controls=sites(world),
            scope=str(project_id) if own else "",
        )
        _close_former(world, f"ses:{project_id}:", key)
    return key


def _open_direct(world: "World", project_id: UUID, settings: ProjectSettings) -> str:
    """The direct transport, which all projects share.

    Mail servers with special-purpose addresses are refused, unless POSTERN_OUTBOUND_ALLOW has the address.
    """
    if "direct" not in world.transports:
        server = world.settings
        sources = parse_sources(server.sources)
        is_validating = server.dnssec == "yes" or (server.dnssec == "auto" and world.resolver.is_local)
        routes = MailRoutes(
            world.resolver.separate(cache=True, dnssec=is_validating),
            port=server.direct_port,
            check_addresses=partial(permitted, allowed=server.outbound_allow),
            find_policy=sts_policies(world).find,
            own_names=[source.name for source in sources],
            own_addresses=[*server.sending_addresses, *[source.address for source in sources]],
            receives_mail_for=partial(world.hooks.receives_mail_for, world.db),
            clock=lambda: world.clock().timestamp(),
            report_tlsa_failure=lambda domain, host: tls_results(world).record(tlsa_lookup_failure(domain, host)),
        )
        world.transports["direct"] = DirectTransport(
            routes.find,
            port=server.direct_port,
            ehlo_host=_ehlo_host(world),
            sources=sources,
            controls=sites(world),
            clock=asyncio.get_running_loop().time,
            now=world.clock,
            chance=world.random.random,
            report_session=tls_results(world).record,
            choose_sources=partial(_choose_sources, world) if source_warm_ups(world).warming else None,
        )
    return "direct"


async def _choose_sources(world: "World", envelope: Envelope) -> tuple[str, ...] | None:
    """The IP addresses from which a message may leave; None for all of its pool, if none of the pool is warming up.

    Raises NoSourceLeft if the message must wait for the next day.
    """
    plans = source_warm_ups(world)
    pool = plans.pool(envelope.tenant, bulk=envelope.bulk)
    if plans.warming.isdisjoint(pool):
        return None
    request = SourceRequest(message_id=envelope.message_id, pool=pool, waits=envelope.bulk)
    granted = await world.batcher(grant_sources)(request)
    if granted.wait_until is not None:
        raise NoSourceLeft(granted.reason, granted.wait_until - world.clock())
    return granted.addresses


def direct_transport(world: "World") -> DirectTransport:
    """The direct transport, for mail of the server itself."""
    return world.transports[_open_direct(world, NO_ID, ProjectSettings())]


KINDS = {
    "relay": TransportKind(
        NoSmartHost, lambda world, settings: bool(settings.relays or world.settings.relay), _open_relays
    ),
    "ses": TransportKind(
        NoSesAccount, lambda world, settings: bool(settings.ses or world.settings.ses_region), _open_ses
    ),
    "direct": TransportKind(DirectNotOffered, lambda world, _settings: world.settings.offers_direct, _open_direct),
}
"""The kinds of transports that transmit mail, keyed by name."""


async def _lease_times(world: "World", project_id: UUID, name: str, seconds: float) -> float | None:
    """Lease a time span of the rate limit that all processes share; see `relay.Lease`."""
    span = await store.lease_times(
        world.db, project_id=project_id, name=name, span=timedelta(seconds=seconds), ahead=MAX_LEASE_AHEAD
    )
    return None if span is None else span.begin_seconds


def _close_former(world: "World", prefix: str, current: str) -> None:
    """Close the former transports of a project that changed its settings: those whose keys begin with `prefix`."""
    for former in [key for key in world.transports if key.startswith(prefix) and key != current]:
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


def _project_ses_account(world: "World", project_id: UUID, ses: projects.ProjectSes) -> SesAccount:
    # A project chooses only the region, so that requests go to no other host than Amazon's.
    return SesAccount(
        credentials=AwsCredentials(
            access_key_id=ses.access_key_id, secret_access_key=projects.ses_secret(world, project_id, ses)
        ),
        region=ses.region,
        configuration_set=ses.configuration_set,
        forward_feedback=ses.forward_feedback,
    )


def ses_account(settings: Settings) -> SesAccount:
    """The server's account of Amazon SES. Raises SettingInvalid if a setting is missing or invalid."""
    if not (settings.ses_region and settings.ses_access_key_id and settings.ses_secret_access_key):
        raise SettingInvalid(
            "The transport is `ses`, but one of POSTERN_SES_REGION, POSTERN_SES_ACCESS_KEY_ID and "
            "POSTERN_SES_SECRET_ACCESS_KEY is not set."
        )
    if not is_region(settings.ses_region):
        raise SettingInvalid(
            f"POSTERN_SES_REGION={settings.ses_region!r}: expected the name of a region, like eu-central-1."
        )
    return SesAccount(
        credentials=AwsCredentials(
            access_key_id=settings.ses_access_key_id, secret_access_key=settings.ses_secret_access_key
        ),
        region=settings.ses_region,
        configuration_set=settings.ses_configuration_set,
        endpoint=settings.ses_endpoint,
        forward_feedback=settings.ses_forward_feedback,
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
        allows_provider_headers=options.get("provider-headers") == "yes",
        user=unquote(url.username) if url.username else None,
        password=unquote(url.password or ""),
        weight=weight,
        per_second=per_second,
        max_connections=connections,
    )
