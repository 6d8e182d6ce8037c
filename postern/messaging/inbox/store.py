"""SQL statements of captured messages."""

from uuid import UUID

from postern.kernel.database.statements import Queries, statement
from postern.messaging.inbox.model import CapturedMessage, CapturedRow


# Captured messages with ids below `before` (None: all), newest first. `pattern`, a LIKE pattern in lower case, filters
# by subject and recipients.
@statement("""
    select id, send_id, mail_from, recipients, sender, subject, size, captured_at from captured_messages
    where project_id = %(project_id)s
      and (%(pattern)s::text is null or lower(subject || ' ' || array_to_string(recipients, ' ')) like %(pattern)s)
      and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s offset %(offset)s
""")
async def list_messages(
    db: Queries, *, project_id: UUID, pattern: str | None, before: UUID | None, limit: int, offset: int
) -> list[CapturedMessage]: ...


# The number of captured messages. `pattern`, a LIKE pattern in lower case, filters by subject and recipients.
@statement("""
    select count(*)::int from captured_messages
    where project_id = %(project_id)s
      and (%(pattern)s::text is null or lower(subject || ' ' || array_to_string(recipients, ' ')) like %(pattern)s)
""")
async def count(db: Queries, *, project_id: UUID, pattern: str | None) -> int: ...


# A captured message with its content: `message`, and `sealed`, the encrypted form that also has the one-time secrets.
@statement("""
    select id, send_id, mail_from, recipients, sender, subject, size, captured_at, message, sealed
    from captured_messages
    where project_id = %(project_id)s and id = %(id)s
""")
async def get_message(db: Queries, *, project_id: UUID, id: UUID) -> CapturedRow | None: ...
