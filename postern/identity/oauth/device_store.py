"""SQL of devices that wait for a customer to allow them (RFC 8628)."""

from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment, Record


class DeviceRow(Record):
    """A row of `oauth_devices`."""

    project_id: UUID
    id: UUID
    client_id: UUID
    scopes: list[str]
    user_code: str
    code_hash: bytes
    interval_seconds: int
    """How long the device must wait between two requests."""
    polled_at: Moment | None
    denied_at: Moment | None
    created_at: Moment
    expires_at: Moment
    resource: str | None = None
    """The identifier of the API for which the device wants tokens."""


# Returns False if another device has this user code.
@statement("""
    insert into oauth_devices (project_id, id, client_id, scopes, user_code, code_hash, interval_seconds, created_at,
                               expires_at, due_at, resource)
    values (%(project_id)s, %(id)s, %(client_id)s, %(scopes)s, %(user_code)s, %(code_hash)s, %(interval_seconds)s,
            %(now)s, %(expires_at)s, %(expires_at)s, %(resource)s)
    on conflict (project_id, user_code) do nothing
""")
async def insert_device(
    db: Queries,
    *,
    project_id: UUID,
    id: UUID,
    client_id: UUID,
    scopes: list[str],
    resource: str | None,
    user_code: str,
    code_hash: bytes,
    interval_seconds: int,
    expires_at: Moment,
    now: Moment,
) -> bool: ...


@statement("select * from oauth_devices where project_id = %(project_id)s and id = %(id)s")
async def device(db: Queries, *, project_id: UUID, id: UUID) -> DeviceRow | None: ...


# A device that has neither expired nor been allowed or denied. A device that was allowed has a grant with its id.
@statement("""
    select device.* from oauth_devices device
    where device.project_id = %(project_id)s and device.user_code = %(user_code)s and device.expires_at > %(now)s
      and device.denied_at is null
      and not exists (select from oauth_grants allowed
                      where allowed.project_id = device.project_id and allowed.id = device.id
                          /*distributed and allowed.project_id = %(project_id)s */)
""")
async def device_of_user_code(db: Queries, *, project_id: UUID, user_code: str, now: Moment) -> DeviceRow | None: ...


# Note the time of a request for tokens. After one that came too early, the device must wait 5 seconds longer (RFC 8628
# §3.5).
@statement("""
    update oauth_devices set polled_at = %(now)s, interval_seconds = interval_seconds
        + case when extract(epoch from %(now)s - polled_at) < interval_seconds then 5 else 0 end
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def poll(db: Queries, *, project_id: UUID, id: UUID, now: Moment) -> DeviceRow | None: ...


# Returns False if the device was allowed or denied already.
@statement("""
    update oauth_devices set denied_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s and denied_at is null
      and not exists (select from oauth_grants where project_id = %(project_id)s and id = %(id)s)
""")
async def deny(tx: Transaction, *, project_id: UUID, id: UUID, now: Moment) -> bool: ...


@statement("""
    delete from oauth_devices where project_id = %(project_id)s and id = any (%(ids)s) and expires_at <= %(now)s
""")
async def delete_expired_devices(db: Queries, *, project_id: UUID, ids: list[UUID], now: Moment) -> None: ...
