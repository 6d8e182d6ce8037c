"""SQL of billing accounts and usage."""

from datetime import date
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment
from postern.platform.billing.model import BillingAccount, SubscriptionState, Usage


@statement("select * from billing_accounts where account_id = %(account_id)s")
async def billing_account(db: Queries, *, account_id: UUID) -> BillingAccount | None: ...


# Insert the billing account unless it exists. `on conflict` has no target, because a concurrent insert may conflict on
# either of the two unique indexes.
@statement("""
    insert into billing_accounts (account_id, id, provider, created_at, updated_at)
    values (%(account_id)s, %(account_id)s, %(provider)s, %(now)s, %(now)s)
    on conflict do nothing
""")
async def insert_billing_account(db: Queries, *, account_id: UUID, provider: str, now: Moment) -> None: ...


@statement("update billing_accounts set provider = %(provider)s where account_id = %(account_id)s returning *")
async def set_provider(db: Queries, *, account_id: UUID, provider: str) -> BillingAccount: ...


# Store the Stripe customer unless the account has one; returns the account with the customer that is stored now.
@statement("""
    update billing_accounts set customer_ref = coalesce(customer_ref, %(customer_ref)s), updated_at = %(now)s
    where account_id = %(account_id)s
    returning *
""")
async def set_stripe_customer(db: Queries, *, account_id: UUID, customer_ref: str, now: Moment) -> BillingAccount: ...


# Store the subscription of an account, unless the account is closing, or the stored `attempt` or `version` differs from
# the parameter; None is not compared. Returns whether the subscription was stored.
@statement("""
    update billing_accounts set plan = %(plan)s, billing_cycle = %(billing_cycle)s, status = %(status)s,
        current_period_end = %(current_period_end)s, b2b_enhanced = %(b2b_enhanced)s, version = version + 1,
        due_at = null, updated_at = %(now)s
    where account_id = %(account_id)s and not closing
      and (%(attempt)s::int is null or attempt = %(attempt)s) and (%(version)s::int is null or version = %(version)s)
""")
async def store_subscription(
    db: Queries, state: SubscriptionState, *, account_id: UUID, attempt: int | None, version: int | None, now: Moment
) -> bool: ...


# Record a Stripe event, delete expired ones, and make the account of the customer due. Returns False if the event was
# recorded before or no account has the customer.
@statement("""
    with recorded as (
        insert into billing_events (id, type, received_at) values (%(id)s, %(type)s, %(now)s)
        on conflict do nothing returning id
    ), expired as (
        delete from billing_events where received_at < %(expired_before)s
    )
    update billing_accounts set due_at = %(now)s, attempt = attempt + 1
    where customer_ref = %(customer_ref)s and exists (select from recorded)
""")
async def record_stripe_event(
    tx: Transaction, *, id: str, type: str, customer_ref: str | None, expired_before: Moment, now: Moment
) -> bool: ...


# Mark a billing account as closing, and make the cancellation of its subscriptions due; returns False if there is none.
@statement("""
    update billing_accounts set closing = true, due_at = %(now)s, attempt = attempt + 1, updated_at = %(now)s
    where account_id = %(account_id)s
""")
async def mark_closing(tx: Transaction, *, account_id: UUID, now: Moment) -> bool: ...


# Delete the billing data of a deleted account. Returns False if the account is not closing or was claimed again since
# the claim `attempt`.
@statement("delete from billing_accounts where account_id = %(account_id)s and attempt = %(attempt)s and closing")
async def delete_closed_account(db: Queries, *, account_id: UUID, attempt: int) -> bool: ...


# Make an account due at `due_at`. Returns False if it was claimed again since the claim `attempt`.
@statement("""
    update billing_accounts set due_at = %(due_at)s where account_id = %(account_id)s and attempt = %(attempt)s
""")
async def reschedule(db: Queries, *, account_id: UUID, attempt: int, due_at: Moment) -> bool: ...


# Customers now, and live e-mails in the month that begins on `month`, of all projects of an account.
@statement("""
    select (select coalesce(sum(number), 0) from customer_facets
            where project_id in (select id from projects where account_id = %(account_id)s))::bigint as customers,
           (select coalesce(sum(emails), 0) from email_usage
            where month = %(month)s
              and project_id in (select id from projects where account_id = %(account_id)s))::bigint as emails
""")
async def usage(db: Queries, *, account_id: UUID, month: date) -> Usage: ...


# The id of the account of a project, or None.
@statement("select account_id from projects where id = %(project_id)s")
async def account_of(db: Queries, *, project_id: UUID) -> UUID | None: ...


# Lock an account for update.
@statement("select id from accounts where id = %(account_id)s for update")
async def lock_account(tx: Transaction, *, account_id: UUID) -> UUID | None: ...


@statement("select count(*)::int from projects where account_id = %(account_id)s and deleted_at is null")
async def count_projects(db: Queries, *, account_id: UUID) -> int: ...
