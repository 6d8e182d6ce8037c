"""The dependencies of a process, which tests can replace: settings, database, clock, network clients, caches."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any

from postern.kernel.batching import BackgroundTasks, Batchers
from postern.kernel.config import Settings
from postern.kernel.database.replica import Replica
from postern.kernel.database.statements import PROCESS_NAME, Database, open_database
from postern.kernel.due_notifications import DueNotifier
from postern.kernel.limits import RateLimiter
from postern.kernel.outbound.client import Outbound, open_outbound
from postern.kernel.outbound.ssrf import CachedLookup
from postern.kernel.values import Clock, system_clock
from postern.protocols.mail.blocklists import ZONES, Blocklists, parse_zones
from postern.protocols.mail.dns import Resolver, parse_nameservers
from postern.protocols.mail.templates.rendering import RenderProcesses
from postern.security.secrets import Secrets, load_master_key

if TYPE_CHECKING:
    from postern.identity.customers.error_pages import FindProjectOfConnection
    from postern.identity.customers.requirements import (
        HasActiveSso,
        HasWorkingSsoAccount,
        IsInvited,
        SsoEntryOfAddress,
        SsoEntryOfOrganization,
    )
    from postern.identity.customers.sign_in import MigrateCustomer
    from postern.messaging.content_store.model import Kind, MovedContents
    from postern.messaging.emails.transports import ReceivesMailFor
    from postern.platform.accounts.deletion import CloseAccount
    from postern.platform.accounts.export import CompleteRows
    from postern.platform.accounts.mailer import DeliverAccountMail
    from postern.platform.events.operations import Reaction
    from postern.platform.projects.operations import ClaimPagesDomain
    from postern.platform.projects.quotas import FindQuotaLeft
    from postern.platform.projects.sso_check import HasWorkingSso
    from postern.platform.webhooks.model import WebhookFormat
    from postern.platform.webhooks.operations import WritePayloads
    from postern.security.work import OnExpiredImpersonations


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """Functions of higher layers that lower layers call. The calling module declares the type of each; `app.py` sets
    the functions."""

    reactions: "Sequence[Reaction]"
    """The reactions to events, in the order in which they are called."""
    quota_left: "FindQuotaLeft"
    deliver_account_mail: "DeliverAccountMail"
    close_account: "CloseAccount"
    exported_rows: "Mapping[str, CompleteRows]"
    """Functions that complete the rows of an export, keyed by the table. Most tables need none."""
    moved_contents: "Mapping[Kind, MovedContents]"
    """The contents of messages that are moved to the store, by their kind."""
    migrate_customer: "MigrateCustomer"
    is_invited: "IsInvited"
    sso_entry_of_address: "SsoEntryOfAddress"
    sso_entry_of_organization: "SsoEntryOfOrganization"
    has_active_sso: "HasActiveSso"
    project_of_connection: "FindProjectOfConnection"
    has_working_sso_account: "HasWorkingSsoAccount"
    has_working_sso: "HasWorkingSso"
    receives_mail_for: "ReceivesMailFor"
    claim_pages_domain: "ClaimPagesDomain"
    on_expired_impersonations: "OnExpiredImpersonations"
    webhook_formats: "Mapping[WebhookFormat, WritePayloads]"
    """Functions that write the payloads of webhooks, keyed by their format. The format `postern` needs no function."""


@dataclass
class World:
    """The dependencies of operations and background work. They take time, network and random numbers only from here, so
    that tests can replace them."""

    settings: Settings
    db: Database
    secrets: Secrets
    clock: Clock
    random: Random
    limiter: RateLimiter
    due_notifier: DueNotifier
    resolver: Resolver
    outbound: Outbound
    blocklists: Blocklists
    rendering: RenderProcesses
    """The processes that parse and render templates, under limits of time and memory."""
    replica: Replica | None = None
    """The read replica, if the settings name one."""

    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the process begins to shut down: responses that would take minutes end then."""
    transports: dict[str, Any] = field(default_factory=dict[str, Any])
    """Open mail transports and the payment provider, keyed by name."""
    run_in_background: BackgroundTasks = field(default_factory=BackgroundTasks)
    """Starts tasks that may outlive the request. `aclose` waits for them, at most `settings.drain`."""

    def __post_init__(self) -> None:
        self.batcher = Batchers(self, divides=lambda: self.db.is_distributed)
        """`await world.batcher(do)(item)` adds `item` to the next batch of `do(world, items)` in this process."""
        self.resources = Resources(self)
        """`world.resources[Kind]` is the object of the class `Kind` that a feature keeps for the lifetime of the
        process: `Kind(world)`, created on first use, and closed with the world."""

    async def aclose(self) -> None:
        """Wait for running tasks for at most `settings.drain`, then close transports and other resources."""
        await self.run_in_background.wait(self.settings.drain.total_seconds())
        await self.due_notifier.aclose()
        for resource in [*self.resources.values(), *self.transports.values(), self.rendering]:
            await resource.aclose()

    @property
    def hooks(self) -> Hooks:
        """The hooks of this world's database."""
        return self.db.hooks


class Resources(dict[type[Any], Any]):
    """Objects that features keep for the lifetime of the process, keyed by their class, which is called with the world
    on first use."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def __missing__(self, kind: type[Any]) -> Any:
        resource = self[kind] = kind(self._world)
        return resource


@asynccontextmanager
async def open_world(
    settings: Settings,
    url: str,
    hooks: Hooks,
    *,
    clock: Clock = system_clock,
    with_replica: bool = False,
    process: str | None = None,
) -> AsyncIterator[World]:
    """Open a world on the database at `url`, or at the connection pooler in front of it if the settings name one. Its
    connections and processes are closed at the end of the block. The read replica is opened only `with_replica`. The
    connections are named after `process` (`api`, `worker` or `smtp`) and this release.

    Raises WrongMasterKey if the master key cannot be read, and creates a key file if there is none.
    """
    resolver = Resolver(parse_nameservers(" ".join(settings.dns)))
    name = None if process is None else PROCESS_NAME.format(process=process, release=version("postern-server"))
    async with (
        open_database(
            url, pooler_url=settings.database_pooler_url, size=settings.database_pool, hooks=hooks, name=name
        ) as db,
        open_outbound(CachedLookup(resolver.addresses), allowed=settings.outbound_allow) as outbound,
    ):
        world = World(
            settings=settings,
            db=db,
            secrets=Secrets(load_master_key(settings.secret, settings.data)),
            clock=clock,
            random=SystemRandom(),
            limiter=RateLimiter(),
            due_notifier=DueNotifier(db),
            resolver=resolver,
            outbound=outbound,
            blocklists=Blocklists(resolver, parse_zones(settings.blocklists) if settings.blocklists else ZONES),
            rendering=RenderProcesses(),
        )
        try:
            async with AsyncExitStack() as stack:
                if with_replica and settings.database_replica_url:
                    replica = await stack.enter_async_context(
                        open_database(
                            settings.database_replica_url, size=settings.database_pool, is_replica=True, hooks=hooks
                        )
                    )
                    world.replica = Replica(replica, db)
                yield world
        finally:
            await world.aclose()
