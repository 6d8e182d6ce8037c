"""The export of an account as one JSON document, and its audit log.

The document is streamed while the rows are read in chunks, so that memory use does not depend on its size.
"""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import msgspec

from postern.kernel.database.catalog import Column, Table, rows_as_json, tenant_tables
from postern.kernel.http.call import Call, CredentialInvalid
from postern.kernel.http.operation import DEVELOPER_ONLY, camel, get
from postern.kernel.http.pagination import LIST_LIMIT, Page, PageQuery
from postern.kernel.http.responses import HttpResponse
from postern.kernel.limits import RateLimit, TooManyRequests
from postern.kernel.values import Timestamp, as_id, timestamp, to_json
from postern.platform.accounts import store
from postern.platform.audit import operations as audit
from postern.platform.audit.model import AccountAuditEntry, AuditFilter
from postern.platform.projects import operations as projects
from postern.platform.projects.model import Project

if TYPE_CHECKING:
    from postern.world import World

EXPORT_RATE = RateLimit("account-export", 10, timedelta(hours=1))

NOT_EXPORTED = frozenset(("idempotency_keys", "send_search", "projects", "content_objects"))
"""Tables that are not exported. `projects` is exported in another way; `send_search` repeats data of other tables;
`idempotency_keys` has responses that are kept for a day; `content_objects` is the work of moving contents, which are
exported with `send_bodies`."""

BILLING_TABLE = "billing_accounts"

SECRET_COLUMN = re.compile(r"(^|_)(hash|secret|secrets|password|private|token|tokens|sealed|salt|digest)(_|$)")
"""Columns with secrets, which are not exported."""
WORKER_COLUMNS = frozenset(("due_at", "attempt", "search"))
"""Columns that only workers and searches use, which are not exported."""
INTERNAL_COLUMNS = frozenset((("inbound_messages", "object_octets"),))
"""Other columns that are not exported: where the octets of a received message are, which are not exported either."""
BINARY_EXPORTED = frozenset((("captured_messages", "message"), ("assets", "content")))
"""Binary columns that are exported, as hexadecimal; all others are keys and hashes."""

CompleteRows = Callable[["World", UUID, AsyncIterator[list[str]]], AsyncIterator[list[str]]]
"""Type of the hooks `exported_rows`: completes the rows of a table of a project, JSON objects, by what is stored
elsewhere."""

FilterText = Annotated[str, msgspec.Meta(max_length=200)]


@get("/account/audit-log", needs="account:read", accepts=DEVELOPER_ONLY)
async def list_account_audit_log(
    call: Call,
    action: FilterText | None = None,
    target_type: FilterText | None = None,
    target_id: FilterText | None = None,
    actor_id: FilterText | None = None,
    project_id: FilterText | None = None,
    from_: Timestamp | None = None,
    to: Timestamp | None = None,
    *,
    page: PageQuery,
) -> Page[AccountAuditEntry]:
    """List the changes in your account and its projects, newest first.

    Filter by `action` (a name, or `noun.*`) and by time: `from` is inclusive, `to` exclusive.
    """
    audit_filter = AuditFilter(
        action=action,
        target_type=target_type,
        target_id=target_id,
        actor_id=None if actor_id is None else as_id(actor_id),
        project_id=None if project_id is None else as_id(project_id),
        since=from_,
        until=to,
    )
    return await audit.of_account(call, audit_filter, page)


@get(
    "/account/export",
    needs="account:export",
    accepts=DEVELOPER_ONLY,
    problems=[TooManyRequests],
    response_type=dict[str, Any],
    response_example={
        "exportedAt": "2026-01-31T12:00:00.000Z",
        "account": {"id": "019c13f9-5a00-79af-8211-329b2fc82e5e", "name": "Acme"},
        "members": [{"email": "ada@example.com", "role": "OWNER"}],
        "invitations": [],
        "auditLog": [],
        "projects": [{"name": "Acme", "contacts": [{"email": "grace@example.com"}]}],
    },
)
async def export_account(call: Call) -> HttpResponse:
    """Export all data of your account as one JSON document, which is streamed.

    It contains `account`, `members`, `invitations`, `sessions` of members, `billing`, `auditLog`, and for each of
    `projects` its settings and all rows by kind of record. It does not contain secrets: hashes of passwords and keys,
    private keys, tokens and relay passwords. The rows are read in chunks, not as a snapshot: changes during the export
    may or may not be included.
    """
    call.world.limiter.take(EXPORT_RATE, str(call.account_id))
    account = await store.account(call.db, id=call.account_id)
    if account is None:
        raise CredentialInvalid
    async with call.db.transaction() as tx:
        await audit.record(tx, call, "account.exported", "Account", call.account_id, account_wide=True)
    first_fields = {"exportedAt": timestamp(call.now), "account": account}
    file_name = f"postern-{call.now:%Y-%m-%d}.json"
    return HttpResponse(
        _document(call.world, call.account_id, first_fields),
        headers={"Content-Disposition": f'attachment; filename="{file_name}"', "Cache-Control": "no-store"},
    )


async def _document(world: "World", account_id: UUID, first_fields: dict[str, Any]) -> AsyncIterator[bytes]:
    """Write the document in parts: `first_fields` without the closing brace, and then one array after the other."""
    yield to_json(first_fields)[:-1]
    members = await store.members(world.db, account_id=account_id, before=None, limit=LIST_LIMIT)
    invitations = await store.invitations(world.db, account_id=account_id, before=None, limit=LIST_LIMIT)
    yield b',"members":' + to_json(members) + b',"invitations":' + to_json(invitations)
    async for part in _array("sessions", _sessions(world, account_id)):
        yield part
    project_tables = await tenant_tables(world.db)
    billing = next(table for table in await tenant_tables(world.db, "account_id") if table.name == BILLING_TABLE)
    async for part in _array("billing", rows_as_json(world.db, billing, account_id, exported_columns(billing))):
        yield part
    async for part in _array("auditLog", _audit_entries(world, account_id)):
        yield part
    yield b',"projects":['
    tables = [table for table in project_tables if table.name not in NOT_EXPORTED]
    is_first = True
    async for project in _projects(world, account_id):
        yield (b"" if is_first else b",") + to_json(project)[:-1]
        for table in tables:
            rows = rows_as_json(world.db, table, project.id, exported_columns(table))
            if complete := world.hooks.exported_rows.get(table.name):
                rows = complete(world, project.id, rows)
            async for part in _array(camel(table.name), rows):
                yield part
        yield b"}"
        is_first = False
    yield b"]}\n"


async def _projects(world: "World", account_id: UUID) -> AsyncIterator[Project]:
    before: UUID | None = None
    while rows := await projects.projects_of_account(world.db, account_id, before=before):
        for project in rows:
            yield project
        before = rows[-1].id


async def _sessions(world: "World", account_id: UUID) -> AsyncIterator[list[str]]:
    before: UUID | None = None
    while rows := await store.sessions_of_account(world.db, account_id=account_id, before=before, limit=LIST_LIMIT):
        yield [to_json(row).decode() for row in rows]
        before = rows[-1].id


async def _audit_entries(world: "World", account_id: UUID) -> AsyncIterator[list[str]]:
    async for entries in audit.all_of_account(world.db, account_id):
        yield [to_json(entry).decode() for entry in entries]


async def _array(name: str, chunks: AsyncIterator[Sequence[str]]) -> AsyncIterator[bytes]:
    """Write `,"name":[…]` with chunks of rows that are JSON already."""
    yield f',"{name}":['.encode()
    is_first = True
    async for rows in chunks:
        yield ("" if is_first else ",").encode() + ",".join(rows).encode()
        is_first = False
    yield b"]"


def exported_columns(table: Table) -> list[Column]:
    """The columns of a table that are exported: all except secrets, columns of workers, the column with the project or
    account, and binary columns that are not in BINARY_EXPORTED."""
    return [
        column
        for column in table.columns
        if column.name not in WORKER_COLUMNS
        and column.name != table.owner
        and (table.name, column.name) not in INTERNAL_COLUMNS
        and not SECRET_COLUMN.search(column.name)
        and (column.type != "bytea" or (table.name, column.name) in BINARY_EXPORTED)
    ]
