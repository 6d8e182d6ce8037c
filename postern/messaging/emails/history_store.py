"""The SQL statement that lists the sends to one recipient."""

from uuid import UUID

from postern.kernel.database.statements import Queries, statement
from postern.kernel.values import Moment, Record


class MailHistoryEntry(Record):
    """A send to the recipient."""

    id: UUID
    status: str
    subject: str
    message_id: str
    created_at: Moment


# Sends to the address that belong to no campaign, and campaign sends to the contact, newest first. Only sends older
# than the pair `before` (creation time) and `before_id`; all if `before` is null. Without a contact, no campaign sends.
@statement("""
    (
        select id, status, subject, message_id, created_at from sends
        where project_id = %(project_id)s and lower(recipient) = lower(%(address)s) and campaign_id is null
          and (%(before)s::timestamptz is null or (created_at, id) < (%(before)s, %(before_id)s::uuid))
        order by created_at desc, id desc limit %(limit)s
    ) union (
        select id, status, subject, message_id, created_at from sends
        where project_id = %(project_id)s and contact_id = %(contact_id)s and campaign_id is not null
          and (%(before)s::timestamptz is null or (created_at, id) < (%(before)s, %(before_id)s::uuid))
        order by created_at desc, id desc limit %(limit)s
    )
    order by created_at desc, id desc limit %(limit)s
""")
async def mails_to(
    db: Queries,
    *,
    project_id: UUID,
    address: str,
    contact_id: UUID | None,
    before: Moment | None,
    before_id: UUID | None,
    limit: int,
) -> list[MailHistoryEntry]: ...
