"""The interface of payment providers, and the selection of the provider that this server uses."""

from typing import TYPE_CHECKING, Protocol

from postern.kernel.http.call import Call
from postern.platform.billing.manual import ManualProvider
from postern.platform.billing.model import BillingAccount, Purchase, SubscriptionState

if TYPE_CHECKING:
    from postern.world import World


class BillingProvider(Protocol):
    """A payment provider: Stripe, or ManualProvider, which changes plans without payment."""

    name: str

    async def checkout(self, call: Call, account: BillingAccount, purchase: Purchase) -> str:
        """Return the URL of a page where the user completes the purchase. Raises NotForSale and BillingUnavailable."""
        ...

    async def portal(self, call: Call, account: BillingAccount) -> str:
        """Return the URL of a page where the subscription is changed or cancelled. Raises BillingUnavailable."""
        ...

    async def subscription_state(self, account: BillingAccount) -> SubscriptionState | None:
        """Read the account's subscription from the provider. Raises BillingUnavailable.

        Returns None if the provider has no data about the account: then the stored subscription applies.
        """
        ...

    async def cancel_all(self, account: BillingAccount) -> None:
        """Cancel all subscriptions of an account that is being deleted. Raises BillingUnavailable."""
        ...

    async def aclose(self) -> None:
        """Close the provider's HTTP connections."""
        ...


def provider_of(world: "World") -> BillingProvider:
    """The provider that POSTERN_BILLING selects. The first call creates it and stores it in `world.transports`, the
    clients that are closed at shutdown."""
    name = f"billing:{world.settings.billing}"
    provider: BillingProvider | None = world.transports.get(name)
    if provider is None:
        if world.settings.billing == "stripe":
            from postern.platform.billing.stripe_provider import StripeProvider  # Stripe's library imports slowly.

            provider = StripeProvider(world)
        else:
            provider = ManualProvider(world)
        world.transports[name] = provider
    return provider
