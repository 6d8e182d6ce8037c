"""Where an account pays: one interface, and who stands behind it."""

from typing import TYPE_CHECKING, Protocol

from postern.kernel.http.call import Call
from postern.platform.billing.manual import ManualProvider
from postern.platform.billing.model import BillingAccount, Purchase, SubscriptionState

if TYPE_CHECKING:
    from postern.world import World


class BillingProvider(Protocol):
    """Somewhere accounts book plans."""

    name: str

    async def checkout(self, call: Call, account: BillingAccount, purchase: Purchase) -> str:
        """The address of a page where the purchase is confirmed. Raises NotForSale and BillingUnavailable."""
        ...

    async def portal(self, call: Call, account: BillingAccount) -> str:
        """The address of a page where what is booked is changed or cancelled. Raises BillingUnavailable."""
        ...

    async def standing(self, account: BillingAccount) -> SubscriptionState | None:
        """What the account has booked, or None where our own row is the truth. Raises BillingUnavailable."""
        ...

    async def cancel_all(self, account: BillingAccount) -> None:
        """End everything the account has booked: it is being deleted. Raises BillingUnavailable."""
        ...

    async def aclose(self) -> None: ...


def provider_of(world: "World") -> BillingProvider:
    """The instance's provider, by POSTERN_BILLING."""
    name = f"billing:{world.settings.billing}"
    found: BillingProvider | None = world.transports.get(name)
    if found is None:
        if world.settings.billing == "stripe":
            from postern.platform.billing.stripe_provider import StripeProvider  # The library takes a second to import.

            found = StripeProvider(world)
        else:
            found = ManualProvider(world)
        world.transports[name] = found
    return found
