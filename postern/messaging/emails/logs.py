"""The log of sends: list and export with filters."""

import re
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from msgspec.structs import replace
from psycopg.sql import SQL, Composable, Literal

from postern.kernel.database.statements import first_id_at, like_pattern, text_literal
from postern.kernel.http.call import Call
from postern.kernel.http.operation import QueryParameter, get
from postern.kernel.http.pagination import COUNT_LIMIT, CountedPageQuery, Page, csv_stream, page_at, position_of
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import ID_TOLERANCE, NO_ID, QueryString, Timestamp, as_id
from postern.messaging.emails import store
from postern.messaging.emails.model import EmailLogEntry, SendStatus
from postern.messaging.emails.operations import counts_by_status, entry_of
from postern.protocols.mail.address import normalize_part

Search = Annotated[
    str, msgspec.Meta(max_length=320, description="Part of a recipient (to, cc or bcc), the subject or the message id.")
]
Statuses = Annotated[list[SendStatus], msgspec.Meta(description="One or several statuses, separated by commas.")]
CreatedFrom = Annotated[Timestamp, msgspec.Meta(description="Only sends that were created at this time or later.")]
CreatedBefore = Annotated[Timestamp, msgspec.Meta(description="Only sends that were created before this time.")]
TagName = Annotated[str, msgspec.Meta(max_length=256, description="Only sends with this tag.")]
CampaignId = Annotated[str, msgspec.Meta(max_length=36, description="Only the sends of this campaign.")]
DomainId = Annotated[str, msgspec.Meta(max_length=36, description="Only sends from this sending domain, by its id.")]
Recipient = Annotated[
    str, msgspec.Meta(max_length=320, description="Only sends to exactly this address in to, cc or bcc.")
]

COMMON_STATUSES = frozenset[SendStatus](("SENT", "DELIVERED"))
"""The statuses that almost all sends have in the end; the index on rare statuses leaves these sends out."""


class LogFilter(QueryString, omit_defaults=True):
    """The filters of the log. A send must match all that are not None."""

    status: Statuses | None = None
    q: Search | None = None
    since: Annotated[CreatedFrom | None, QueryParameter("from")] = None
    until: Annotated[CreatedBefore | None, QueryParameter("to")] = None
    tag: TagName | None = None
    campaign_id: CampaignId | None = None
    domain_id: DomainId | None = None
    recipient: Recipient | None = None

    @property
    def has_counted_total(self) -> bool:
        """Whether the total can be read from the counters, so that no rows have to be counted."""
        if self.campaign_id and as_id(self.campaign_id) == NO_ID:  # Counters have the nil id for sends of no campaign.
            return False
        return not (self.q or self.since or self.until or self.tag or self.domain_id or self.recipient)

    @property
    def has_only_text(self) -> bool:
        """Whether `q` is the only filter."""
        return self == LogFilter(q=self.q)

    def condition(
        self, project_id: UUID, *, matching_ids: Sequence[UUID] | None = None, is_frequent: bool = False
    ) -> Composable:
        """The filters as an SQL condition on `sends s` that contains their values as literals.

        `matching_ids` are the ids of all sends that contain the text `q`, if they were looked up. `is_frequent`: so
        many sends contain `q` that it is faster to compare it with one send of the log after the other.
        """
        parts: list[Composable] = [SQL("true")]
        if self.status:
            parts.append(_has_status(self.status))
        if self.since is not None:
            parts.append(_since(self.since))
        if self.until is not None:
            parts.append(_until(self.until))
        if self.tag:
            parts.append(SQL("s.tags @> array[{}]::text[]").format(text_literal(self.tag)))
        if self.campaign_id:
            parts.append(SQL("s.campaign_id = {}").format(Literal(as_id(self.campaign_id))))
        if self.domain_id:
            parts.append(SQL("s.domain_id = {}").format(Literal(as_id(self.domain_id))))
        if self.recipient:
            parts.append(_has_recipient(project_id, normalize_part(self.recipient.strip())))
        if self.q and self.q.strip():
            if is_frequent:
                parts.append(_contains_each(project_id, self.q))
            elif matching_ids is not None:
                parts.append(SQL("s.id = any({}::uuid[])").format(Literal(list(matching_ids))))
            else:
                parts.append(_contains(project_id, self.q))
        return SQL(" and ").join(parts)


@get("/projects/{project_id}/emails/logs", needs="emails:read", reads_replica=True)
async def list_email_logs(call: Call, filters: LogFilter, page: CountedPageQuery) -> Page[EmailLogEntry]:
    """The log of sends, newest first.

    All given filters must match. `status` takes one or several statuses, separated by commas; `q` searches recipients,
    subject and message id. To read more than 10,000 rows, follow `nextCursor` or export the log.
    """
    scope = f"email-logs|{msgspec.json.encode(filters).decode()}"
    position = position_of(call, scope, page)
    campaign = as_id(filters.campaign_id) if filters.campaign_id else None
    is_counted = filters.status or filters.has_counted_total
    counts = await counts_by_status(call.db, call.project_id, campaign) if is_counted else {}
    if filters.status:
        # Without the statuses that no send has, the index on rare statuses can be used for the others.
        filters = replace(filters, status=[status for status in filters.status if counts.get(status)])
        if not filters.status:
            return page_at(call, scope, [], 0, position, page.limit)
    matching_ids = None if page.count_limit is None else await _ids_with_text(call, filters)
    is_frequent = matching_ids is not None and len(matching_ids) >= COUNT_LIMIT
    where = filters.condition(call.project_id, matching_ids=matching_ids, is_frequent=is_frequent)
    total = await _total(call, filters, counts, where, page, is_frequent=is_frequent)
    if position.after is not None:
        where = SQL("s.id < {} and {}").format(Literal(position.after), where)
    rows = await store.list_log(
        call.db, project_id=call.project_id, where=where, limit=page.limit + 1, offset=position.offset
    )
    return page_at(call, scope, [entry_of(row) for row in rows], total, position, page.limit)


async def _ids_with_text(call: Call, filters: LogFilter) -> list[UUID] | None:
    """The ids of the sends that contain the text `q`, regardless of the other filters; None without a text.

    If COUNT_LIMIT or more ids are returned, there may be more such sends.
    """
    if not filters.q or not filters.q.strip():
        return None
    pattern = text_literal(like_pattern(filters.q))
    ids = await store.ids_containing(
        call.db,
        project_id=call.project_id,
        text_matches=SQL("search_text like {}").format(pattern),
        address_matches=SQL("c.email_key like {}").format(pattern),
        limit=COUNT_LIMIT,
    )
    send_id = _id_in(filters.q)
    return ids if send_id is None else [*ids, send_id]


async def _total(
    call: Call,
    filters: LogFilter,
    counts: dict[str, int],
    where: Composable,
    page: CountedPageQuery,
    *,
    is_frequent: bool,
) -> int:
    """The number of sends that match, or `page.count_limit` if they are as many or more."""
    limit = page.count_limit
    if filters.has_counted_total:
        total = sum(counts.get(status, 0) for status in {*(filters.status or counts)})
        return total if limit is None else min(total, limit)
    if limit is None:
        return await store.count_log(call.db, project_id=call.project_id, where=where)
    if is_frequent and filters.has_only_text:
        return limit
    return await store.count_log_up_to(call.db, project_id=call.project_id, where=where, limit=limit)


@get("/projects/{project_id}/emails/logs/export", needs="emails:read", media_types=["text/csv"], reads_replica=True)
async def export_email_logs(call: Call, filters: LogFilter) -> HttpResponse:
    """The log of sends as CSV, newest first, with the filters of the list."""
    where = filters.condition(call.project_id)
    header = ["id", "createdAt", "status", "from", "to", "cc", "bcc", "subject", "messageId", "tags", "campaignId"]
    header += ["contactId", "reason", "scheduledAt", "sentAt", "deliveredAt", "openedAt", "clickedAt", "bouncedAt"]
    header += ["complainedAt"]

    async def csv_rows() -> AsyncIterator[list[tuple[Any, ...]]]:
        async with call.db.transaction() as tx:
            async for rows in store.stream_log(tx, project_id=call.project_id, where=where):
                yield rows

    headers = {"Content-Disposition": 'attachment; filename="email-logs.csv"'}
    return HttpResponse(csv_stream(header, csv_rows()), media_type="text/csv", headers=headers)


def _has_status(statuses: list[SendStatus]) -> Composable:
    """A condition: the send has one of these statuses."""
    # Equality with one status lets the index on rare statuses be read in the order of the log.
    equality = SQL("s.status = {}").format(Literal(statuses[0]))
    condition = equality if len(statuses) == 1 else SQL("s.status = any({})").format(Literal(statuses))
    if "QUEUED" not in statuses or not COMMON_STATUSES.isdisjoint(statuses):
        return condition
    # No index has just the QUEUED sends. A QUEUED send is due or held by its campaign; there is an index for each case.
    others = [status for status in statuses if status != "QUEUED"]
    indexed_cases = SQL(
        "(s.lane = 0 and s.due_at is not null or s.lane = 1 and s.due_at is not null "
        "or s.campaign_id is not null and s.status = 'QUEUED' "
        "or s.status = any({others}::text[]) and s.status not in ('QUEUED', 'SENT', 'DELIVERED'))"
    )
    return SQL("{} and {}").format(condition, indexed_cases.format(others=Literal(others)))


def _since(moment: datetime) -> Composable:
    # A UUIDv7 begins with its time, so a range of ids finds the rows by the primary key, without an index on the time.
    return SQL("s.id >= {} and s.created_at >= {}").format(first_id_at(moment, -ID_TOLERANCE), Literal(moment))


def _until(moment: datetime) -> Composable:
    return SQL("s.id < {} and s.created_at < {}").format(first_id_at(moment, ID_TOLERANCE), Literal(moment))


def _contains(project_id: UUID, q: str) -> Composable:
    """A condition: the search text of a single send, or the contact's address of a campaign send, contains the text."""
    condition = SQL(
        "s.id in (select send_id from send_search where project_id = {project} and search_text like {pattern} "
        "union all select o.id from contacts c join sends o on (o.project_id, o.contact_id) = (c.project_id, c.id) "
        "where c.project_id = {project} and c.email_key like {pattern} and o.campaign_id is not null "
        "union all select {id}::uuid)"
    )
    return condition.format(project=Literal(project_id), pattern=text_literal(like_pattern(q)), id=Literal(_id_in(q)))


def _contains_each(project_id: UUID, q: str) -> Composable:
    """The same condition as `_contains`, in a form that is evaluated for one send after the other.

    PostgreSQL would turn `exists` into a scan of all search texts and contacts. It cannot do so with these subqueries,
    which give a value for each send.
    """
    condition = SQL(
        "coalesce(case when s.campaign_id is null "
        "then (select t.search_text like {pattern} from send_search t "
        "where t.project_id = {project} and t.send_id = s.id) "
        "else (select c.email_key like {pattern} from contacts c "
        "where c.project_id = {project} and c.id = s.contact_id) end, false)"
    )
    return condition.format(project=Literal(project_id), pattern=text_literal(like_pattern(q)))


def _has_recipient(project_id: UUID, address: str) -> Composable:
    """A condition: the send has exactly this address in to, cc or bcc.

    The indexes on search text and contacts find candidates, and then the recipients of these are compared.
    """
    condition = SQL(
        "s.id in (select send_id from send_search where project_id = {project} and search_text like {pattern} "
        "union all select o.id from contacts c join sends o on (o.project_id, o.contact_id) = (c.project_id, c.id) "
        "where c.project_id = {project} and c.email_key = {address} and o.campaign_id is not null) "
        "and exists (select from unnest(s.recipient || s.to_addresses || s.cc_addresses || s.bcc_addresses) as entry "
        "where lower(entry) = {address} or lower(entry) like {ending})"
    )
    return condition.format(
        project=Literal(project_id),
        pattern=text_literal(like_pattern(address)),
        address=text_literal(address),
        ending=text_literal(like_pattern(f"<{address}>").removesuffix("%")),
    )


def _id_in(q: str) -> UUID | None:
    """The first UUID in a search text."""
    match = re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", q.lower())
    return as_id(match[0]) if match else None
