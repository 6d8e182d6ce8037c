"""What a process holds and a test may replace: settings, database, clock, network clients, caches."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any, TypeVar

from postern.kernel.batching import GROUP_LIMIT, Batcher
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
    from postern.identity.customers.invitation_check import IsInvited
    from postern.identity.customers.requirements import OrganizationRequiringSso, RequirementsOfCustomers
    from postern.identity.customers.sso_lookup import HasActiveSso, SsoEntryOfAddress, SsoEntryOfOrganization
    from postern.platform.accounts.deletion import CloseAccount
    from postern.platform.accounts.mailer import DeliverAccountMail
    from postern.platform.events.operations import Reaction
    from postern.platform.projects.quotas import FindQuotaLeft
    from postern.platform.projects.sso_check import HasWorkingSso

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """Functions of higher rings that lower ones call. Each type is declared by the module that calls; `app.py` lists
    the functions."""

    reactions: "Sequence[Reaction]"
    """Who reacts to events, in order."""
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


@dataclass
class World:
    """What operations and work reach for: never the machine's clock, network or random numbers directly."""

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
    """Where everything that people wrote is parsed and rendered."""

    transports: dict[str, Any] = field(default_factory=dict[str, Any])
    """Open transports, keyed by name."""
    resources: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """What features keep for the life of a process, each under a type of its own; closed with the world."""
    _groups: dict[Any, Batcher[Any, Any]] = field(default_factory=dict[Any, Batcher[Any, Any]])
    _later: set[asyncio.Task[Any]] = field(default_factory=set[asyncio.Task[Any]])

    def batcher(
        self,
        do: Callable[["World", list[Item]], Awaitable[Sequence[Result | BaseException]]],
        *,
        at_most: int = GROUP_LIMIT,
        side_by_side: int = 1,
        pause_seconds: float = 0,
    ) -> Batcher[Item, Result]:
        """The batcher of `do` in this process: calls that come together are done together. See Batcher."""
        found = self._groups.get((do, pause_seconds))
        if found is None:

            async def do_here(items: list[Item]) -> Sequence[Result | BaseException]:
                return await do(self, items)

            found = self._groups[do, pause_seconds] = Batcher(
                do_here, at_most=at_most, side_by_side=side_by_side, pause_seconds=pause_seconds
            )
        return found

    def run_after(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run `work` as a task that may outlive the request; closing waits for it, at most `settings.drain`."""
        task = asyncio.create_task(work)
        self._later.add(task)
        task.add_done_callback(self._later.discard)
        return task

    async def aclose(self) -> None:
        """Wait for running tasks, at most `settings.drain`, and close transports and other resources."""
        if self._later:
            await asyncio.wait(self._later, timeout=self.settings.drain.total_seconds())
        await self.due_notifier.aclose()
        for part in [*self.resources.values(), *self.transports.values(), self.rendering]:
            await part.aclose()

    @property
    def hooks(self) -> Hooks:
        """Functions of higher rings that lower ones call."""
        return self.db.hooks


@asynccontextmanager
async def open_world(
    settings: Settings, url: str, hooks: Hooks, *, clock: Clock = system_clock
) -> AsyncIterator[World]:
    """Open everything for the database at `url`; closed on leaving."""
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
