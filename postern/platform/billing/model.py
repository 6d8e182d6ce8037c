"""Plans, what they allow, and what an account has booked."""

from typing import Literal
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.http.problems import BadRequest, Conflict, Unavailable
from postern.kernel.values import Body, Record

Plan = Literal["free", "pro"]
Cycle = Literal["monthly", "yearly"]
"""How often a plan is paid. In lower case, unlike other enumerations, because the contract writes it so."""
Status = Literal["none", "active", "past_due", "cancelled"]


class AlreadyBooked(Conflict):
    """The account has this already; change or cancel it in the portal."""


class NothingBooked(Conflict):
    """The account has booked nothing yet, so there is nothing to manage; begin with the checkout."""


class BillingUnavailable(Unavailable):
    """The payment provider does not answer; nothing was changed. Try again shortly."""


class NotForSale(Conflict):
    """The operator of this server has set no price for this."""


class SignatureInvalid(BadRequest):
    """This signal is not signed by the payment provider, or is too old."""


class CheckoutRequest(Body):
    """How often to pay."""

    billing_cycle: Cycle = "monthly"


class Usage(Record):
    """What counts: customers now, and live e-mails accepted in this calendar month (UTC), over all projects."""

    customers: int
    emails: int


class PlanLimits(Record):
    """What a plan allows; null is without limit."""

    projects: int | None = None
    customers: int | None = None
    emails: int | None = None
    """A calendar month."""


class Billing(Record):
    """What an account has booked and used."""

    plan: Plan
    billing_cycle: Cycle | None
    status: Status
    current_period_end: Moment | None
    b2b_enhanced: bool
    usage: Usage
    limits: PlanLimits
    provider: str


class BillingPageUrl(Record):
    """Where to go on in a browser."""

    url: str


class BillingAccount(Record):
    """The row of an account."""

    account_id: UUID
    id: UUID
    provider: str
    plan: Plan
    billing_cycle: Cycle | None
    status: Status
    current_period_end: Moment | None
    b2b_enhanced: bool
    customer_ref: str | None
    closing: bool
    version: int
    attempt: int


class SubscriptionState(msgspec.Struct, frozen=True, kw_only=True):
    """What an account has booked, as its provider tells it."""

    plan: Plan = "free"
    billing_cycle: Cycle | None = None
    status: Status = "none"
    current_period_end: Moment | None = None
    b2b_enhanced: bool = False


class Purchase(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants to book."""

    item: Literal["pro", "b2b"]
    cycle: Cycle
