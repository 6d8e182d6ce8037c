"""Records and problems of billing: plans, limits, usage, and the subscription of an account."""

from typing import Literal
from uuid import UUID

import msgspec

from postern.kernel.http.problems import BadRequest, Conflict, Unavailable
from postern.kernel.values import Body, Moment, Record

Plan = Literal["free", "pro"]
Cycle = Literal["monthly", "yearly"]
"""How often a plan is paid. Lower case, unlike other enumerations, as the API contract requires."""
Status = Literal["none", "active", "past_due", "cancelled"]


class AlreadyBooked(Conflict):
    """The account has this plan or add-on already. Change or cancel it in the billing portal."""


class NothingBooked(Conflict):
    """The account has no subscription to manage. Start one with POST /account/auth-billing/checkout."""


class BillingUnavailable(Unavailable):
    """The payment provider is unavailable. Nothing was changed; try again in a few seconds."""


class NotForSale(Conflict):
    """The operator of this server has not set a price for this plan or add-on and billing cycle."""


class SignatureInvalid(BadRequest):
    """The `Stripe-Signature` header is invalid or older than five minutes."""


class CheckoutRequest(Body):
    """How often to pay: `monthly` or `yearly`."""

    billing_cycle: Cycle = "monthly"


class Usage(Record):
    """Usage of all projects of an account: customers now, and live emails accepted in this calendar month (UTC)."""

    customers: int
    emails: int


class PlanLimits(Record):
    """The limits of a plan; null means no limit."""

    projects: int | None = None
    customers: int | None = None
    emails: int | None = None
    """Per calendar month (UTC)."""


class Billing(Record):
    """The plan, usage and limits of an account."""

    plan: Plan
    billing_cycle: Cycle | None
    status: Status
    current_period_end: Moment | None
    b2b_enhanced: bool
    """Whether the account has the B2B add-on."""
    usage: Usage
    limits: PlanLimits
    provider: str


class BillingPageUrl(Record):
    """The URL of a page to open in a browser."""

    url: str


class BillingAccount(Record):
    """The stored billing state of an account."""

    account_id: UUID
    id: UUID
    provider: str
    plan: Plan
    billing_cycle: Cycle | None
    status: Status
    current_period_end: Moment | None
    b2b_enhanced: bool
    """Whether the account has the B2B add-on."""
    customer_ref: str | None
    """Id of the account's customer at Stripe; null before the first checkout."""
    closing: bool
    """Whether the account was deleted; a worker cancels its subscriptions and deletes this row."""
    version: int
    """Number of changes of the subscription. A link to the manual provider's page that was made before the last change
    is invalid."""
    attempt: int
    """Number of claims by workers and of events received. A worker stores its result only if this number is still the
    one it claimed with."""


class SubscriptionState(msgspec.Struct, frozen=True, kw_only=True):
    """The subscription of an account, as its payment provider reports it."""

    plan: Plan = "free"
    billing_cycle: Cycle | None = None
    status: Status = "none"
    current_period_end: Moment | None = None
    b2b_enhanced: bool = False
    """Whether the account has the B2B add-on."""


class Purchase(msgspec.Struct, frozen=True, kw_only=True):
    """A plan or add-on to buy."""

    item: Literal["pro", "b2b"]
    cycle: Cycle
