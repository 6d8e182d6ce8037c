"""SQL statements of sending domains."""

from collections.abc import AsyncIterator
from uuid import UUID

from postern.kernel.database.statements import Jsonb, Queries, Transaction, statement, streamed_statement
from postern.kernel.values import Moment
from postern.messaging.domains.model import BlocklistEntry, KeysOfDomain, SealedKey, SendingDomain, StoredDomain


# Insert a PENDING domain that is due for a check now. None if the project already has this domain.
@statement("""
    insert into domains (project_id, id, domain, status, keys, watched_since, due_at, created_at, updated_at)
    values (%(project_id)s, %(id)s, %(domain)s, 'PENDING', %(keys)s, %(now)s, %(now)s, %(now)s, %(now)s)
    on conflict (project_id, domain) do nothing
    returning *
""")
async def insert_domain(
    tx: Transaction, *, project_id: UUID, id: UUID, domain: str, keys: Jsonb, now: Moment
) -> StoredDomain | None: ...


# Store an encrypted private key; replaces the key with the same selector.
@statement("""
    insert into domain_keys {row}
    on conflict (project_id, domain_id, selector) do update
    set private_key = excluded.private_key, created_at = excluded.created_at
""")
async def upsert_key(
    tx: Transaction, *, project_id: UUID, domain_id: UUID, selector: str, private_key: bytes, created_at: Moment
) -> None: ...


# Start the periodic checks of a domain against blocklists; the first one is due now.
@statement("insert into blocklist_watches {row}")
async def insert_blocklist_watch(tx: Transaction, *, project_id: UUID, id: UUID, due_at: Moment) -> None: ...


@statement("select count(*) as count from domains where project_id = %(project_id)s")
async def count_domains(db: Queries, *, project_id: UUID) -> int: ...


@statement("select * from domains where project_id = %(project_id)s and id = %(id)s")
async def get_domain(db: Queries, *, project_id: UUID, id: UUID) -> StoredDomain | None: ...


# The domain, locked for update.
@statement("select * from domains where project_id = %(project_id)s and id = %(id)s for update")
async def lock_domain(tx: Transaction, *, project_id: UUID, id: UUID) -> StoredDomain | None: ...


# Up to `limit` domains, newest first; with `before`, only domains with a smaller id.
@statement("""
    select * from domains where project_id = %(project_id)s and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def list_domains(db: Queries, *, project_id: UUID, before: UUID | None, limit: int) -> list[StoredDomain]: ...


# The number of waiting sends of a domain; each of the three kinds is counted up to `limit`.
# Reads the table of the `emails` package, which imports this one and so cannot be called. Each part of the union has
# a partial index: the transactional sends that are due (lane 0), the marketing sends that are due (lane 1), and the
# sends that a paused campaign holds.
@statement("""
    select count(*)::int from (
        (select from sends where project_id = %(project_id)s and domain_id = %(id)s and not test
            and lane = 0 and due_at is not null limit %(limit)s)
        union all
        (select from sends where project_id = %(project_id)s and domain_id = %(id)s and not test
            and lane = 1 and due_at is not null limit %(limit)s)
        union all
        (select from sends where project_id = %(project_id)s and domain_id = %(id)s and not test
            and campaign_id is not null and status in ('QUEUED', 'DELAYED') and due_at is null limit %(limit)s)
    ) as waiting
""")
async def count_waiting_sends(db: Queries, *, project_id: UUID, id: UUID, limit: int) -> int: ...


# Delete a domain and return it; None if it does not exist.
@statement("delete from domains where project_id = %(project_id)s and id = %(id)s returning *")
async def delete_domain(tx: Transaction, *, project_id: UUID, id: UUID) -> StoredDomain | None: ...


# Store the verification state of a domain: all columns of `domain` except its name and keys.
@statement("""
    update domains set status = %(status)s, checks = %(checks)s, findings = %(findings)s,
        spf_verified = %(spf_verified)s, dkim_verified = %(dkim_verified)s,
        ed25519_verified = %(ed25519_verified)s,
        return_path_verified = %(return_path_verified)s, tracking_verified = %(tracking_verified)s,
        dmarc_verified = %(dmarc_verified)s, verified_at = %(verified_at)s, watched_since = %(watched_since)s,
        failing_since = %(failing_since)s, last_checked_at = %(last_checked_at)s, due_at = %(due_at)s,
        updated_at = %(updated_at)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def update_domain(tx: Transaction, domain: StoredDomain) -> StoredDomain: ...


# Make due the checks of other projects' domains that have one of these names or are below `domain`. Rows that another
# transaction has locked are being checked, so they are left out.
@statement("""
    update domains set due_at = %(now)s
    from (
        select other.project_id, other.id from domains other
        where other.project_id <> %(project_id)s and other.status in ('VERIFIED', 'DEGRADED')
          and (other.domain = any (%(names)s)
              or (reverse(other.domain) collate "C" >= reverse('.' || %(domain)s::text) collate "C"
                  and reverse(other.domain) collate "C" < reverse('/' || %(domain)s::text) collate "C"))
        /*single*/for update skip locked/*end*/
    ) as others
    where (domains.project_id, domains.id) = (others.project_id, others.id) and domains.due_at > %(now)s
""")
async def check_others_now(
    tx: Transaction, *, project_id: UUID, domain: str, names: list[str], now: Moment
) -> None: ...


@statement("""
    update domains set keys = %(keys)s, updated_at = %(now)s where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def set_keys(tx: Transaction, *, project_id: UUID, id: UUID, keys: Jsonb, now: Moment) -> StoredDomain: ...


@statement("""
    select project_id, id, domain, status, status = 'VERIFIED' as may_send, keys, dkim_verified,
           ed25519_verified, return_path_verified, tracking_verified, updated_at
    from domains where project_id = %(project_id)s and domain = %(domain)s
""")
async def get_sending_domain(db: Queries, *, project_id: UUID, domain: str) -> SendingDomain | None: ...


# The 1,000 newest domains of a project, newest first.
@statement("""
    select project_id, id, domain, status, status = 'VERIFIED' as may_send, keys, dkim_verified,
           ed25519_verified, return_path_verified, tracking_verified, updated_at
    from domains where project_id = %(project_id)s order by id desc limit 1000
""")
async def list_sending_domains(db: Queries, *, project_id: UUID) -> list[SendingDomain]: ...


# The domains with these names in these projects (parallel lists), in any order; unknown names are left out.
# Reads the table of the `reputation` package, which imports this one.
@statement("""
    select d.project_id, d.id, d.domain, d.status, d.status = 'VERIFIED' as may_send, d.keys, d.dkim_verified,
           d.ed25519_verified, d.return_path_verified, d.tracking_verified, d.updated_at,
           exists (select from domain_warm_ups w
                   where (w.project_id, w.id) = (d.project_id, d.id) and w.status = 'ACTIVE'
                         /*distributed and w.project_id = :project */) as warms_up
    from domains d join unnest(%(project_id)s::uuid[], %(domains)s::text[]) as pair (project_id, domain)
         on (d.project_id, d.domain) = (pair.project_id, pair.domain) /*distributed and d.project_id = :project */
""")
async def sending_domains_by_name(
    db: Queries, *, project_id: list[UUID], domains: list[str]
) -> list[SendingDomain]: ...


# The domains with these ids, in any order; unknown ids are left out.
@statement("""
    select project_id, id, domain, status, status = 'VERIFIED' as may_send, keys, dkim_verified,
           ed25519_verified, return_path_verified, tracking_verified, updated_at
    from domains where project_id = %(project_id)s and id = any (%(ids)s)
""")
async def sending_domains_by_id(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[SendingDomain]: ...


# The oldest verified domain with this name, of any project; None if there is none.
@statement("""
    select project_id, id, domain, status, status = 'VERIFIED' as may_send, keys, dkim_verified,
           ed25519_verified, return_path_verified, tracking_verified, updated_at
    from domains where domain = %(domain)s and status = 'VERIFIED' order by id limit 1
""")
async def verified_domain_of_any_project(db: Queries, *, domain: str) -> SendingDomain | None: ...


@statement("""
    select selector, private_key from domain_keys
    where project_id = %(project_id)s and domain_id = %(domain_id)s
""")
async def private_keys(db: Queries, *, project_id: UUID, domain_id: UUID) -> list[SealedKey]: ...


# The keys of every domain of all projects, streamed.
@streamed_statement("select keys from domains order by project_id, id")
def all_keys(tx: Transaction) -> AsyncIterator[KeysOfDomain]: ...


@statement("""
    select * from blocklist_entries where project_id = %(project_id)s and domain_id = %(domain_id)s
    order by list_name, subject_value
""")
async def list_entries(db: Queries, *, project_id: UUID, domain_id: UUID) -> list[BlocklistEntry]: ...


# Insert entries (parallel lists) that do not exist yet; existing entries stay unchanged.
@statement("""
    insert into blocklist_entries (project_id, domain_id, id, list_name, subject_value)
    select %(project_id)s, %(domain_id)s, entry.* from unnest(
        %(ids)s::uuid[], %(list_names)s::text[], %(subject_values)s::text[]
    ) as entry (id, list_name, subject_value)
    on conflict (project_id, domain_id, list_name, subject_value) do nothing
""")
async def insert_entries(
    tx: Transaction,
    *,
    project_id: UUID,
    domain_id: UUID,
    ids: list[UUID],
    list_names: list[str],
    subject_values: list[str],
) -> None: ...


# Delete the entries of a domain that are not in the parallel lists `list_names` and `subject_values`.
@statement("""
    delete from blocklist_entries
    where project_id = %(project_id)s and domain_id = %(domain_id)s
      and (list_name, subject_value) not in (
          select * from unnest(%(list_names)s::text[], %(subject_values)s::text[])
      )
""")
async def delete_other_entries(
    tx: Transaction, *, project_id: UUID, domain_id: UUID, list_names: list[str], subject_values: list[str]
) -> None: ...


# Store check results (parallel lists); an element of `codes` is a list separated by spaces. A status other than LISTED
# and CLEAR does not change `listed`.
@statement("""
    update blocklist_entries as entry set status = result.status, codes = string_to_array(result.codes, ' '),
        reason = result.reason,
        listed = case when result.status = 'LISTED' then true when result.status = 'CLEAR' then false
                      else entry.listed end,
        first_listed_at = case
            when result.status = 'LISTED' then coalesce(entry.first_listed_at, %(now)s)
            when result.status = 'CLEAR' then null
            else entry.first_listed_at
        end,
        last_checked_at = %(now)s
    from unnest(%(list_names)s::text[], %(subject_values)s::text[], %(statuses)s::text[], %(codes)s::text[],
                %(reasons)s::text[]) as result (list_name, subject_value, status, codes, reason)
    where entry.project_id = %(project_id)s and entry.domain_id = %(domain_id)s
      and (entry.list_name, entry.subject_value) = (result.list_name, result.subject_value)
""")
async def update_entries(
    tx: Transaction,
    *,
    project_id: UUID,
    domain_id: UUID,
    list_names: list[str],
    subject_values: list[str],
    statuses: list[str],
    codes: list[str],
    reasons: list[str],
    now: Moment,
) -> None: ...


# Whether an IP address of the server is on a blocklist, by the checks of the domains of all projects.
@statement("""
    select from blocklist_entries where subject_value = %(subject_value)s and listed limit 1
""")
async def is_listed(db: Queries, *, subject_value: str) -> bool: ...


# Set the time of the next blocklist check; False if `attempt` is not the latest or the watch is deleted.
@statement("""
    update blocklist_watches set due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s
""")
async def reschedule_watch(tx: Transaction, *, project_id: UUID, id: UUID, attempt: int, due_at: Moment) -> bool: ...


# Whether a project has a verified domain with one of these names.
@statement("""
    select id from domains where project_id = %(project_id)s and domain = any (%(names)s) and status = 'VERIFIED'
    limit 1
""")
async def has_verified_domain(db: Queries, *, project_id: UUID, names: list[str]) -> bool: ...


# Whether a project has the host of its tracking links in its settings.
@statement("""
    select id from projects where deleted_at is null and lower(settings ->> 'trackingDomain') = %(name)s limit 1
""")
async def is_tracking_domain(db: Queries, *, name: str) -> bool: ...


# Whether the tracking record of a sending domain with this name is verified, in any project.
@statement("select id from domains where domain = %(domain)s and tracking_verified limit 1")
async def has_tracking_record(db: Queries, *, domain: str) -> bool: ...
