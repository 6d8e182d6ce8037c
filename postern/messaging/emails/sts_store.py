"""SQL statements on the MTA-STS policies of recipients' domains, which belong to no project."""

from postern.kernel.database.statements import Queries, statement
from postern.kernel.values import Moment, Record
from postern.protocols.mail.mta_sts import StsMode


class StoredStsPolicy(Record):
    """A policy as it was fetched."""

    domain: str
    policy_id: str
    mode: StsMode
    mx: list[str]
    max_age: int
    """In seconds."""
    fetched_at: Moment
    expires_at: Moment


@statement("select * from mta_sts_policies where domain = %(domain)s and expires_at > %(now)s")
async def valid_policy(db: Queries, *, domain: str, now: Moment) -> StoredStsPolicy | None: ...


# Two processes may fetch a policy at the same time; the one that was fetched last stays.
@statement("""
    insert into mta_sts_policies {row}
    on conflict (domain) do update
    set policy_id = excluded.policy_id, mode = excluded.mode, mx = excluded.mx, max_age = excluded.max_age,
        fetched_at = excluded.fetched_at, expires_at = excluded.expires_at
    where mta_sts_policies.fetched_at <= excluded.fetched_at
""")
async def save_policy(db: Queries, policy: StoredStsPolicy) -> None: ...


# Delete up to `limit` expired policies; False if there are none.
@statement("""
    delete from mta_sts_policies where domain = any (array(
        select domain from mta_sts_policies where expires_at <= %(now)s order by domain limit %(limit)s
        for update skip locked
    ))
""")
async def delete_expired_policies(db: Queries, *, now: Moment, limit: int) -> bool: ...
