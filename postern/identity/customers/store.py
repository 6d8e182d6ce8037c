"""SQL of customers: their rows, identities, addresses, counts, identity requests and merges."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from psycopg.sql import Composable

from postern.identity.customers.model import CustomerRow, CustomerStats, IdentityKey, IdentityRequest
from postern.kernel.database.statements import Jsonb, Queries, Transaction, moment_text, statement, streamed_statement
from postern.kernel.values import Moment, Record


class IdentityRow(Record):
    """A row of `customer_identities`."""

    customer_id: UUID
    provider: str
    created_at: Moment


class FailureRow(Record):
    """Failed sign-in attempts of one identifier, summed over IP addresses."""

    identifier: bytes
    failures: int
    locked_until: Moment | None


class RowExists(Record):
    """Whether a row exists."""

    row_exists: bool


class NewCustomerRow(Record):
    """The columns of a new customer that the caller of `operations.insert_customer` determines."""

    external_id: str | None = None
    email: str | None
    email_key: str | None
    email_verified_at: Moment | None
    phone: str | None = None
    name: str | None
    language: str | None = None
    metadata: dict[str, Any] = {}
    roles: list[str] = []
    password_hash: str | None


# None if another row of `customers` has the address or the external id.
@statement("insert into customers {row} on conflict do nothing returning *")
async def insert_customer(
    tx: Transaction,
    row: NewCustomerRow,
    *,
    project_id: UUID,
    id: UUID,
    identifier: bytes | None,
    created_at: Moment,
    updated_at: Moment,
) -> CustomerRow | None: ...


@statement("select * from customers where project_id = %(project_id)s and id = %(id)s")
async def get_customer(db: Queries, *, project_id: UUID, id: UUID) -> CustomerRow | None: ...


class Scheme(Record):
    """Scheme and cost of imported password hashes of a project: `$2b$12`, `$scrypt$ln=17,r=8,p=1`."""

    scheme: str


# At most 100 distinct schemes, by a loose index scan of `customers_imported_hashes`: one step per scheme, not per row.
# Hashes that this server made (argon2id with the parameters in the pattern below) are left out.
@statement("""
    with recursive schemes as (
        (select substring(password_hash from '^\\$[^$]+\\$(?:v=\\d+\\$)?[^$]+') as scheme from customers
         where project_id = %(project_id)s and password_hash not like '$argon2id$v=19$m=19456,t=2,p=1$%%'
         order by 1 limit 1)
        union all
        select (select substring(password_hash from '^\\$[^$]+\\$(?:v=\\d+\\$)?[^$]+') from customers
                where project_id = %(project_id)s and password_hash not like '$argon2id$v=19$m=19456,t=2,p=1$%%'
                  and substring(password_hash from '^\\$[^$]+\\$(?:v=\\d+\\$)?[^$]+') > schemes.scheme
                order by 1 limit 1)
        from schemes where schemes.scheme is not null
    )
    select scheme from schemes where scheme is not null limit 100
""")
async def imported_schemes(db: Queries, *, project_id: UUID) -> list[Scheme]: ...


# Locks the customer for update.
@statement("select * from customers where project_id = %(project_id)s and id = %(id)s for update")
async def lock_customer(tx: Transaction, *, project_id: UUID, id: UUID) -> CustomerRow | None: ...


class AddressHolder(CustomerRow):
    """A customer and the matched address: the primary one, or a secondary one that came from a merge."""

    matched_email: str
    matched_verified_at: Moment | None
    """When the matched address was verified."""


class OtherAddress(Record):
    """A row of `customer_other_addresses`: a secondary address that can be used to sign in."""

    customer_id: UUID
    email: str
    email_key: str
    identifier: bytes
    verified_at: Moment | None


# The customer with this primary or secondary address.
@statement("""
    select c.*, c.email as matched_email, c.email_verified_at as matched_verified_at
    from customers c where c.project_id = %(project_id)s and c.email_key = %(email_key)s
    union all
    select c.*, o.email, o.verified_at
    from customer_other_addresses o join customers c on c.project_id = o.project_id and c.id = o.customer_id
    where o.project_id = %(project_id)s and o.email_key = %(email_key)s
    limit 1
""")
async def find_by_email(db: Queries, *, project_id: UUID, email_key: str) -> AddressHolder | None: ...


# Locks for update the customer with this primary or secondary address. The condition on the outer row is checked again
# after waiting for its lock: the address may have moved to another customer meanwhile.
@statement("""
    select c.* from customers c where c.project_id = %(project_id)s and c.id = (
        select id from customers where project_id = %(project_id)s and email_key = %(email_key)s
        union all
        select customer_id from customer_other_addresses
        where project_id = %(project_id)s and email_key = %(email_key)s
        limit 1)
      and (c.email_key = %(email_key)s or exists (
        select from customer_other_addresses o where o.project_id = c.project_id and o.customer_id = c.id
          and o.email_key = %(email_key)s /*distributed and o.project_id = %(project_id)s */))
    for update of c
""")
async def lock_by_email(tx: Transaction, *, project_id: UUID, email_key: str) -> CustomerRow | None: ...


@statement("""
    select customer_id, email, email_key, identifier, verified_at from customer_other_addresses
    where project_id = %(project_id)s and email_key = %(email_key)s
""")
async def other_address(db: Queries, *, project_id: UUID, email_key: str) -> OtherAddress | None: ...


@statement("""
    select customer_id, email, email_key, identifier, verified_at from customer_other_addresses
    where project_id = %(project_id)s and customer_id = any (%(customer_ids)s) order by created_at, email_key
""")
async def other_addresses(db: Queries, *, project_id: UUID, customer_ids: list[UUID]) -> list[OtherAddress]: ...


@statement("insert into customer_other_addresses {row}")
async def insert_other_address(
    tx: Transaction,
    *,
    project_id: UUID,
    email_key: str,
    customer_id: UUID,
    email: str,
    identifier: bytes,
    verified_at: Moment | None,
    created_at: Moment,
) -> None:
    """Add a secondary address. Raises UniqueViolation if a customer has it as a secondary address."""


@statement("""
    update customer_other_addresses set verified_at = %(now)s
    where project_id = %(project_id)s and customer_id = %(customer_id)s and email_key = %(email_key)s
""")
async def verify_other_address(
    tx: Transaction, *, project_id: UUID, customer_id: UUID, email_key: str, now: Moment
) -> None:
    """Set the time when a secondary address was verified to `now`."""


@statement("""
    delete from customer_other_addresses
    where project_id = %(project_id)s and customer_id = %(customer_id)s and email_key = %(email_key)s
""")
async def delete_other_address(tx: Transaction, *, project_id: UUID, customer_id: UUID, email_key: str) -> bool: ...


# Delete the secondary addresses that were added since a Unix time in seconds; returns their identifiers.
@statement("""
    delete from customer_other_addresses
    where project_id = %(project_id)s and customer_id = %(customer_id)s
      and created_at >= to_timestamp(%(since)s::float8)
    returning identifier
""")
async def delete_other_addresses_since(
    tx: Transaction, *, project_id: UUID, customer_id: UUID, since: float
) -> list[bytes]: ...


@statement("""
    update customer_other_addresses set customer_id = %(survivor)s
    where project_id = %(project_id)s and customer_id = %(loser)s
""")
async def move_other_addresses(tx: Transaction, *, project_id: UUID, survivor: UUID, loser: UUID) -> None:
    """Move the secondary addresses of the merged customer `loser` to `survivor`."""


@statement("select * from customers where project_id = %(project_id)s and external_id = %(external_id)s")
async def find_by_external_id(db: Queries, *, project_id: UUID, external_id: str) -> CustomerRow | None: ...


class CustomerSearchRow(CustomerRow):
    """A customer of a page of search results, and the total number of results."""

    total: int


# The offset is skipped in an index on ids; only the rows of the page are read in full.
@statement("""
    select c.* from (
        select c.project_id, c.id from customers c where c.project_id = %(project_id)s and {where}
        order by c.id desc limit %(limit)s offset %(offset)s
    ) as page join customers c on c.project_id = page.project_id and c.id = page.id
        /*distributed and c.project_id = %(project_id)s */
    order by c.id desc
""")
async def list_customers(
    db: Queries, *, project_id: UUID, where: Composable, limit: int, offset: int
) -> list[CustomerRow]: ...


# Scans the search index once for both the page and the total. An offset beyond the last result returns no rows.
@statement("""
    with matching as materialized (select c.id from customers c where c.project_id = %(project_id)s and {where})
    select c.*, (select count(*)::int from matching) as total
    from (select id from matching order by id desc limit %(limit)s offset %(offset)s) as page
    join customers c on c.project_id = %(project_id)s and c.id = page.id
    order by c.id desc
""")
async def search_customers(
    db: Queries, *, project_id: UUID, where: Composable, limit: int, offset: int
) -> list[CustomerSearchRow]: ...


@statement("select count(*)::int from customers c where c.project_id = %(project_id)s and {where}")
async def count_customers(db: Queries, *, project_id: UUID, where: Composable) -> int: ...


# The cells of the CSV export. A ban that has ended is left out.
@streamed_statement(
    "select c.id::text, c.email, "
    + moment_text("c.email_verified_at")
    + ", c.phone, c.name, c.external_id, array_to_string(c.roles, ' '), array_to_string(c.providers, ' '), "
    + moment_text("c.last_sign_in_at")
    + ", case when c.ban_expires_at <= %(now)s then null else "
    + moment_text("c.banned_at")
    + " end, "
    + moment_text("c.mfa_enabled_at")
    + ", c.metadata, "
    + moment_text("c.created_at")
    + ", c.language"
    + " from customers c where c.project_id = %(project_id)s and {where} order by c.id desc"
)
def export_customers(
    tx: Transaction, *, project_id: UUID, where: Composable, now: Moment
) -> AsyncIterator[list[tuple[Any, ...]]]: ...


# Counts customers from the totals in `customer_facets`, one for each combination of verified address, second factor and
# providers. None leaves a filter out.
@statement("""
    select coalesce(sum(number), 0)::int from customer_facets
    where project_id = %(project_id)s and (%(verified)s::bool is null or verified = %(verified)s)
      and (%(mfa)s::bool is null or mfa = %(mfa)s)
      and (%(provider)s::text is null or %(provider)s = any (providers))
""")
async def count_facets(
    db: Queries, *, project_id: UUID, verified: bool | None, mfa: bool | None, provider: str | None
) -> int: ...


# `banned` leaves out bans that have ended.
@statement("""
    select coalesce(sum(number), 0)::int as total,
           coalesce(sum(number) filter (where verified), 0)::int as verified,
           (select count(*)::int from customers c where c.project_id = %(project_id)s and c.banned_at is not null
            and (c.ban_expires_at is null or c.ban_expires_at > %(now)s)) as banned,
           coalesce(sum(number) filter (where mfa), 0)::int as mfa_enabled
    from customer_facets where project_id = %(project_id)s
""")
async def stats(db: Queries, *, project_id: UUID, now: Moment) -> CustomerStats: ...


@statement("""
    select customer_id, provider, created_at from customer_identities
    where project_id = %(project_id)s and customer_id = any (%(customer_ids)s) order by created_at, provider
""")
async def identities(db: Queries, *, project_id: UUID, customer_ids: list[UUID]) -> list[IdentityRow]: ...


# Leaves out the rows with an empty IP address, which count the attempts from all networks together.
@statement("""
    select identifier, sum(failures)::int as failures, max(locked_until) as locked_until from sign_in_attempts
    where project_id = %(project_id)s and identifier = any (%(identifiers)s) and ip_address <> ''
    group by identifier
""")
async def failures_of(db: Queries, *, project_id: UUID, identifiers: list[bytes]) -> list[FailureRow]: ...


class AccountName(Record):
    """The address or name of a linked account, to show it to the customer."""

    provider: str
    account_name: str


# Without the accounts of which neither is known.
@statement("""
    select provider, coalesce(account_name, email_key) as account_name from customer_identities
    where project_id = %(project_id)s and customer_id = %(customer_id)s
      and coalesce(account_name, email_key) is not null
    order by created_at
""")
async def account_names(db: Queries, *, project_id: UUID, customer_id: UUID) -> list[AccountName]: ...


# False if this account is linked already, to this customer or another one.
@statement("insert into customer_identities {row} on conflict do nothing")
async def insert_identity(
    tx: Transaction,
    identity: IdentityKey,
    *,
    project_id: UUID,
    id: UUID,
    customer_id: UUID,
    created_at: Moment,
    account_name: str | None,
) -> bool: ...


# Locks for update the customer to whom this account at a provider is linked.
@statement("""
    select c.* from customer_identities i
    join customers c on c.project_id = i.project_id and c.id = i.customer_id
    where i.project_id = %(project_id)s and i.provider = %(provider)s and i.issuer = %(issuer)s
      and i.subject = %(subject)s
    for update of c
""")
async def lock_by_identity(tx: Transaction, identity: IdentityKey, *, project_id: UUID) -> CustomerRow | None: ...


@statement("""
    delete from customer_identities
    where project_id = %(project_id)s and customer_id = %(customer_id)s
      and (%(provider)s::text is null or provider = %(provider)s)
""")
async def delete_identities(tx: Transaction, *, project_id: UUID, customer_id: UUID, provider: str | None) -> None:
    """Delete the identities of a customer; all of them if `provider` is None. Does not update `customers.providers`."""


@statement("""
    delete from customer_identities
    where project_id = %(project_id)s and customer_id = %(customer_id)s and issuer <> 'local'
      and created_at >= to_timestamp(%(since)s::float8)
""")
async def delete_identities_since(tx: Transaction, *, project_id: UUID, customer_id: UUID, since: float) -> None:
    """Unlink the accounts at providers that were linked since a Unix time in seconds. Does not update
    `customers.providers`."""


class IdentityEmail(Record):
    """The address that the provider last reported for an account; null if it never reported one."""

    email_key: str | None


# None if this account is not linked to a customer.
@statement("""
    select email_key from customer_identities
    where project_id = %(project_id)s and provider = %(provider)s and issuer = %(issuer)s and subject = %(subject)s
""")
async def identity_email(db: Queries, identity: IdentityKey, *, project_id: UUID) -> IdentityEmail | None: ...


@statement("""
    update customer_identities set email_key = %(email_key)s, account_name = %(account_name)s
    where project_id = %(project_id)s and provider = %(provider)s and issuer = %(issuer)s and subject = %(subject)s
""")
async def set_identity_email(
    tx: Transaction, identity: IdentityKey, *, project_id: UUID, email_key: str, account_name: str
) -> None:
    """Store the address that the provider has reported for an account now: its lookup key, and how it is shown."""


# Whether the customer is linked to another account (subject) at the same provider and issuer.
@statement("""
    select exists (
        select from customer_identities
        where project_id = %(project_id)s and customer_id = %(customer_id)s and provider = %(provider)s
          and issuer = %(issuer)s and subject <> %(subject)s) as row_exists
""")
async def has_other_subject(
    tx: Transaction, identity: IdentityKey, *, project_id: UUID, customer_id: UUID
) -> RowExists: ...


@statement("""
    delete from customer_identities
    where project_id = %(project_id)s and customer_id = %(customer_id)s and provider = %(provider)s
      and issuer = %(issuer)s
""")
async def delete_identities_at_issuer(
    tx: Transaction, *, project_id: UUID, customer_id: UUID, provider: str, issuer: str
) -> None:
    """Unlink the customer's account at this provider and issuer. Does not update `customers.providers`."""


# False if the customer has a request for the same account, or `max_requests` for the provider, decided ones included.
@statement("""
    insert into customer_identity_requests (project_id, id, customer_id, provider, issuer, subject, connection_id,
                                            email, name, status, created_at, decided_at)
    select %(project_id)s, %(id)s, %(customer_id)s, %(provider)s, %(issuer)s, %(subject)s, %(connection_id)s,
           %(email)s, %(name)s, %(status)s, %(created_at)s, %(decided_at)s
    where %(max_requests)s > (
        select count(*) from customer_identity_requests
        where project_id = %(project_id)s and customer_id = %(customer_id)s and provider = %(provider)s)
    on conflict (project_id, customer_id, provider, issuer, subject) do nothing
""")
async def insert_identity_request(
    tx: Transaction, request: IdentityRequest, *, project_id: UUID, max_requests: int
) -> bool: ...


@statement("select * from customer_identity_requests where project_id = %(project_id)s and id = %(id)s")
async def identity_request(db: Queries, *, project_id: UUID, id: UUID) -> IdentityRequest | None: ...


@statement("""
    select * from customer_identity_requests
    where project_id = %(project_id)s and (%(status)s::text is null or status = %(status)s)
      and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def identity_requests(
    db: Queries, *, project_id: UUID, status: str | None, before: UUID | None, limit: int
) -> list[IdentityRequest]: ...


# False if the request was decided before or does not exist. `status` is APPROVED or REJECTED.
@statement("""
    update customer_identity_requests set status = %(status)s, decided_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s and status = 'PENDING'
""")
async def decide_identity_request(tx: Transaction, *, project_id: UUID, id: UUID, status: str, now: Moment) -> bool: ...


# Whether a request to link this account to the customer was rejected.
@statement("""
    select exists (
        select from customer_identity_requests
        where project_id = %(project_id)s and customer_id = %(customer_id)s and provider = %(provider)s
          and issuer = %(issuer)s and subject = %(subject)s and status = 'REJECTED') as row_exists
""")
async def was_rejected(tx: Transaction, identity: IdentityKey, *, project_id: UUID, customer_id: UUID) -> RowExists: ...


# Moves the requests of the merged customer to the survivor, unless the survivor has one for the same account.
@statement("""
    update customer_identity_requests r set customer_id = %(survivor)s
    where r.project_id = %(project_id)s and r.customer_id = %(loser)s and not exists (
        select from customer_identity_requests o where o.project_id = r.project_id and o.customer_id = %(survivor)s
          and o.provider = r.provider and o.issuer = r.issuer and o.subject = r.subject)
""")
async def move_identity_requests(tx: Transaction, *, project_id: UUID, survivor: UUID, loser: UUID) -> None: ...


@statement("""
    update customers c set providers = coalesce((
        select array_agg(distinct i.provider order by i.provider) from customer_identities i
        where i.project_id = c.project_id and i.customer_id = c.id
            /*distributed and i.project_id = %(project_id)s */), array[]::text[])
    where c.project_id = %(project_id)s and c.id = %(id)s
""")
async def refresh_providers(tx: Transaction, *, project_id: UUID, id: UUID) -> None:
    """Set `customers.providers` to the providers of the customer's identities."""


# Stores the ban of the row; None for all three values removes it.
@statement("""
    update customers set banned_at = %(banned_at)s, ban_reason = %(ban_reason)s, ban_expires_at = %(ban_expires_at)s,
        updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def set_ban(tx: Transaction, row: CustomerRow, *, now: Moment) -> CustomerRow: ...


@statement("""
    update customers set metadata = %(metadata)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def set_metadata(tx: Transaction, *, project_id: UUID, id: UUID, metadata: Jsonb, now: Moment) -> CustomerRow: ...


@statement("""
    update customers set roles = %(roles)s, updated_at = %(now)s where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def set_roles(tx: Transaction, *, project_id: UUID, id: UUID, roles: list[str], now: Moment) -> CustomerRow: ...


# None removes the password.
@statement("""
    update customers set password_hash = %(password_hash)s, password_changed_at = %(now)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def set_password(
    tx: Transaction, *, project_id: UUID, id: UUID, password_hash: str | None, now: Moment
) -> CustomerRow: ...


# False if the stored hash is no longer `before`. `updated_at` stays, because the password is the same.
@statement("""
    update customers set password_hash = %(password_hash)s
    where project_id = %(project_id)s and id = %(id)s and password_hash = %(before)s
""")
async def replace_password_hash(
    db: Queries, *, project_id: UUID, id: UUID, password_hash: str, before: str
) -> bool: ...


@statement("""
    update customers set mfa_enabled_at = %(mfa_enabled_at)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def set_mfa(
    tx: Transaction, *, project_id: UUID, id: UUID, mfa_enabled_at: Moment | None, now: Moment
) -> CustomerRow: ...


# Stores the primary address of the row. Keeps the former address, so that erasing the customer finds the e-mails that
# were sent to it.
@statement("""
    with former as (
        insert into customer_former_addresses (project_id, customer_id, email, email_key)
        select project_id, id, email, email_key from customers
        where project_id = %(project_id)s and id = %(id)s and email_key <> coalesce(%(email_key)s, '')
        on conflict do nothing
    )
    update customers set email = %(email)s, email_key = %(email_key)s, identifier = %(identifier)s,
        email_verified_at = %(email_verified_at)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def set_email(tx: Transaction, row: CustomerRow, *, now: Moment) -> CustomerRow: ...


# Stores the name, language, phone number and external id of the row. A phone number that changes becomes unverified.
@statement("""
    update customers set name = %(name)s, language = %(language)s, phone = %(phone)s,
        phone_verified_at = case when phone is not distinct from %(phone)s then phone_verified_at end,
        external_id = %(external_id)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def set_profile(tx: Transaction, row: CustomerRow, *, now: Moment) -> CustomerRow: ...


@statement("""
    update customers set phone = %(phone)s, phone_verified_at = %(verified_at)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def set_phone(
    tx: Transaction, *, project_id: UUID, id: UUID, phone: str | None, verified_at: Moment | None, now: Moment
) -> CustomerRow: ...


@statement("""
    update customers set last_sign_in_at = %(now)s where project_id = %(project_id)s and id = %(id)s
""")
async def record_sign_in(tx: Transaction, *, project_id: UUID, id: UUID, now: Moment) -> None:
    """Set the time of the customer's last sign-in to `now`."""


@statement("update customers set contact_id = %(contact_id)s where project_id = %(project_id)s and id = %(id)s")
async def set_contact(tx: Transaction, *, project_id: UUID, id: UUID, contact_id: UUID | None) -> None:
    """Link the customer to a contact; None removes the link."""


@statement("delete from customers where project_id = %(project_id)s and id = %(id)s")
async def delete_customer(tx: Transaction, *, project_id: UUID, id: UUID) -> bool: ...


# Merging: `survivor` is the customer that stays, `loser` the customer that is merged into it.


@statement("""
    update customer_identities i set customer_id = %(survivor)s
    where i.project_id = %(project_id)s and i.customer_id = %(loser)s
      and i.provider <> all (array['PASSWORD', 'EMAIL_CODE', 'PASSKEY'])
""")
async def move_identities(tx: Transaction, *, project_id: UUID, survivor: UUID, loser: UUID) -> None:
    """Move the linked accounts at providers. Identities of local methods (such as PASSWORD) stay with `loser`."""


@statement("""
    update customer_merges set customer_id = %(survivor)s
    where project_id = %(project_id)s and customer_id = %(loser)s
""")
async def repoint_earlier_merges(tx: Transaction, *, project_id: UUID, survivor: UUID, loser: UUID) -> None:
    """Record that the customers that were merged into `loser` earlier are now merged into `survivor`."""


@statement("""
    insert into customer_former_addresses (project_id, customer_id, email, email_key)
    select project_id, %(survivor)s::uuid, email, email_key from customers
    where project_id = %(project_id)s and id = %(loser)s and email_key is not null
    union
    select project_id, %(survivor)s::uuid, email, email_key from customer_former_addresses
    where project_id = %(project_id)s and customer_id = %(loser)s
    on conflict do nothing
""")
async def copy_former_addresses(tx: Transaction, *, project_id: UUID, survivor: UUID, loser: UUID) -> None:
    """Make the current and former addresses of `loser` former addresses of `survivor`."""


# Primary, secondary and former addresses of a customer, except former ones that are now primary for another customer.
@statement("""
    select email from customers where project_id = %(project_id)s and id = %(id)s and email is not null
    union
    select f.email from customer_former_addresses f
    where f.project_id = %(project_id)s and f.customer_id = %(id)s and not exists (
        select from customers c where c.project_id = f.project_id and c.email_key = f.email_key)
    union
    select email from customer_other_addresses where project_id = %(project_id)s and customer_id = %(id)s
""")
async def addresses_of(db: Queries, *, project_id: UUID, id: UUID) -> list[str]: ...


@statement("insert into customer_merges {row}")
async def insert_merge(
    tx: Transaction, *, project_id: UUID, customer_id: UUID, merged_id: UUID, merged_at: Moment
) -> None:
    """Record that `merged_id` was merged into `customer_id`."""


# Ids of the customers that were merged into this one.
@statement("""
    select merged_id from customer_merges where project_id = %(project_id)s and customer_id = %(customer_id)s
""")
async def merged_ids_of(db: Queries, *, project_id: UUID, customer_id: UUID) -> list[UUID]: ...


# Security mails.


class QueuedMail(Record):
    """A security mail that the worker has yet to send; its content is sealed."""

    project_id: UUID
    id: UUID
    customer_id: UUID | None
    sealed: bytes
    attempt: int
    created_at: Moment


@statement("insert into customer_mails {row}")
async def insert_mail(
    tx: Transaction,
    *,
    project_id: UUID,
    id: UUID,
    customer_id: UUID | None,
    sealed: bytes,
    created_at: Moment,
    due_at: Moment,
) -> None:
    """Queue a mail that is due now. Does not wake the worker."""


# False if the mail was deleted, or another attempt to send it has begun since `attempt`.
@statement("""
    delete from customer_mails where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s
""")
async def delete_mail(db: Queries, *, project_id: UUID, id: UUID, attempt: int) -> bool: ...
