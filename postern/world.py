"""The dependencies of a process, which tests can replace: settings, database, clock, network clients, caches."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any, TypeVar

from postern.kernel.batching import MAX_BATCH_SIZE, Batcher
from postern.kernel.clock import Clock, system_clock
from postern.kernel.config import Settings
from postern.kernel.database.statements import Database, open_database
from postern.kernel.due import DueNotifier
from postern.kernel.limits import RateLimiter
from postern.kernel.outbound.client import Outbound, open_outbound
from postern.kernel.outbound.ssrf import CachedLookup
from postern.protocols.mail.blocklists import ZONES, Blocklists, parse_zones
from postern.protocols.mail.dns import Resolver, parse_nameservers
from postern.protocols.mail.templates.rendering import RenderProcesses
from postern.security.secrets import Secrets, load_master_key

if TYPE_CHECKING:
    from postern.identity.customers.requirements import (
        HasActiveSso,
        IsInvited,
        OrganizationRequiringSso,
        RequirementsOfCustomers,
        SsoEntryOfAddress,
        SsoEntryOfOrganization,
    )
    from postern.platform.accounts.deletion import CloseAccount
    from postern.platform.accounts.mailer import DeliverAccountMail
    from postern.platform.events.operations import Reaction
    from postern.platform.projects.quotas import FindQuotaLeft
    from postern.platform.projects.sso_check import HasWorkingSso
    from postern.platform.webhooks.model import WebhookFormat
    from postern.platform.webhooks.operations import WritePayloads

Item = TypeVar("Item")
Result = TypeVar("Result")
Resource = TypeVar("Resource")


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """Functions of higher layers that lower layers call. The calling module declares the type of each; `app.py` sets
    the functions."""

    reactions: "Sequence[Reaction]"
    """The reactions to events, in the order in which they are called."""
    quota_left: "FindQuotaLeft"
    deliver_account_mail: "DeliverAccountMail"
    close_account: "CloseAccount"
    is_invited: "IsInvited"
    requirements_of_customers: "RequirementsOfCustomers"
    organization_requiring_sso: "OrganizationRequiringSso"
    sso_entry_of_address: "SsoEntryOfAddress"
    sso_entry_of_organization: "SsoEntryOfOrganization"
    has_active_sso: "HasActiveSso"
    has_working_sso: "HasWorkingSso"
    webhook_formats: "Mapping[WebhookFormat, WritePayloads]"
    """Writes the payloads of webhook subscriptions, by their format; `postern` is not among them."""


@dataclass
class World:
    """Everything that operations and background work use, instead of the machine's clock, network or random numbers."""

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

    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the process begins to shut down: responses that would take minutes end then."""
    transports: dict[str, Any] = field(default_factory=dict[str, Any])
    """Open transports of mail, keyed by name."""
    resources: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """Objects that features keep for the lifetime of the process, keyed by type; closed with the world."""
    _batchers: dict[Any, Batcher[Any, Any]] = field(default_factory=dict[Any, Batcher[Any, Any]])
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set[asyncio.Task[Any]])

    def batcher(
        self,
        do: Callable[["World", list[Item]], Awaitable[Sequence[Result | BaseException]]],
        *,
        max_batch_size: int = MAX_BATCH_SIZE,
        max_concurrent: int = 1,
        pause_seconds: float = 0,
    ) -> Batcher[Item, Result]:
        """Return the Batcher that combines concurrent calls of `do` in this process; the first call creates it.

        There is one per `do` and `pause_seconds`. Later calls must pass the same limits: other values have no effect.
        """
        batcher = self._batchers.get((do, pause_seconds))
        if batcher is None:

            async def do_in_world(items: list[Item]) -> Sequence[Result | BaseException]:
                return await do(self, items)

            batcher = self._batchers[do, pause_seconds] = Batcher(
                do_in_world, max_batch_size=max_batch_size, max_concurrent=max_concurrent, pause_seconds=pause_seconds
            )
        return batcher

    def resource(self, kind: type[Resource], create: Callable[[], Resource]) -> Resource:
        """The object of the type `kind` that a feature keeps for the lifetime of the process; the first call creates
        it."""
        resource = self.resources.get(kind)
        if resource is None:
            resource = self.resources[kind] = create()
        return resource

    def run_in_background(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start `work` as a task that may outlive the request. `aclose` waits for it, at most `settings.drain`."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def aclose(self) -> None:
        """Wait for running tasks for at most `settings.drain`, then close transports and other resources."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self.settings.drain.total_seconds())
        await self.due_notifier.aclose()
        for resource in [*self.resources.values(), *self.transports.values(), self.rendering]:
            await resource.aclose()

    @property
    def hooks(self) -> Hooks:
        """The hooks of this world's database."""
        return self.db.hooks


@asynccontextmanager
async def open_world(
    settings: Settings, url: str, hooks: Hooks, *, clock: Clock = system_clock
) -> AsyncIterator[World]:
    """Open a world on the database at `url`; its connections and processes are closed at the end of the block.

    Raises WrongMasterKey if the master key cannot be read, and creates a key file if there is none.
    """
    resolver = Resolver(parse_nameservers(" ".join(settings.dns)))
    async with (
        open_database(url, size=settings.database_pool, hooks=hooks) as db,
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
            yield world
        finally:
            await world.aclose()
