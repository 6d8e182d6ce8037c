"""Everything an account holds as one JSON document, and its audit log as pages.

The document is written as it is read: a chunk of rows at a time, so that memory stays flat however much there is.
"""

import re
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import msgspec

from postern.kernel.database.catalog import Column, Table, rows_as_json, tenant_tables
from postern.kernel.http.call import Call, CredentialInvalid
from postern.kernel.http.operation import DEVELOPER_ONLY, camel, get
from postern.kernel.http.pagination import LIST_LIMIT, Cursor, Page, PageLimit, PageNumber
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

NOT_EXPORTED = frozenset(("idempotency_keys", "send_search", "projects"))
"""Tables that repeat what others say, or hold answers for a day."""

BOOKED = "billing_accounts"
"""What an account has booked."""

SECRET_COLUMN = re.compile(r"(^|_)(hash|secret|secrets|password|private|token|tokens|sealed|salt|digest)(_|$)")
"""Columns that prove something to somebody: they stay here."""
WORK_COLUMNS = frozenset(("due_at", "attempt", "search"))
BINARY_EXPORTED = frozenset((("captured_messages", "message"),))
"""Binary columns that are content (written as hexadecimal); others are keys and hashes."""

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
    page: PageNumber = 1,
    limit: PageLimit = 25,
    cursor: Cursor | None = None,
) -> Page[AccountAuditEntry]:
    """Who changed what in your account and its projects, newest first.

    `action` is a name, or `noun.*`; `from` is included, `to` is not.
    """
    wanted = AuditFilter(
        action=action,
        target_type=target_type,
        target_id=target_id,
        actor_id=None if actor_id is None else as_id(actor_id),
        project_id=None if project_id is None else as_id(project_id),
        since=from_,
        until=to,
    )
    return await audit.of_account(call, wanted, page, limit, cursor)


@get(
    "/account/export",
    needs="account:export",
    accepts=DEVELOPER_ONLY,
    problems=[TooManyRequests],
    answers=dict[str, Any],
    shows={
        "exportedAt": "2026-01-31T12:00:00.000Z",
        "account": {"id": "019c13f9-5a00-79af-8211-329b2fc82e5e", "name": "Acme"},
        "members": [{"email": "ada@example.com", "role": "OWNER"}],
        "invitations": [],
        "auditLog": [],
        "projects": [{"name": "Acme", "contacts": [{"email": "grace@example.com"}]}],
    },
)
async def export_account(call: Call) -> HttpResponse:
    """Everything your account holds, as one JSON document that is streamed as it is read.

    `account`, `members`, `invitations`, `sessions` (where members are and were signed in), `billing` (what is booked),
    `auditLog`, and for each of `projects` its settings and, under the name of each kind of record, every row. Left
    out is what proves something to somebody: hashes of passwords and keys, private keys, tokens and relay passwords.
    It is read chunk by chunk, not at one moment: what changes meanwhile may be in it or not.
    """
    call.world.limiter.take(EXPORT_RATE, str(call.account_id))
    account = await store.account(call.db, id=call.account_id)
    if account is None:
        raise CredentialInvalid
    async with call.db.transaction() as tx:
        await audit.record(tx, call, "account.exported", "Account", call.account_id, account_wide=True)
    opening = {"exportedAt": timestamp(call.now), "account": account}
    name = f"postern-{call.now:%Y-%m-%d}.json"
    return HttpResponse(
        _document(call.world, call.account_id, opening),
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )


async def _document(world: "World", account_id: UUID, opening: dict[str, Any]) -> AsyncIterator[bytes]:
    yield to_json(opening)[:-1]
    members = await store.members(world.db, account_id=account_id, before=None, limit=LIST_LIMIT)
    invitations = await store.invitations(world.db, account_id=account_id, before=None, limit=LIST_LIMIT)
    yield b',"members":' + to_json(members) + b',"invitations":' + to_json(invitations)
    async for part in _array("sessions", _sessions(world, account_id)):
        yield part
    found = await tenant_tables(world.db)
    booked = next(each for each in await tenant_tables(world.db, "account_id") if each.name == BOOKED)
    async for part in _array("billing", rows_as_json(world.db, booked, account_id, exported_columns(booked))):
        yield part
    async for part in _array("auditLog", _entries(world, account_id)):
        yield part
    yield b',"projects":['
    tables = [each for each in found if each.name not in NOT_EXPORTED]
    begun = False
    async for project in _projects(world, account_id):
        yield (b"," if begun else b"") + to_json(project)[:-1]
        for table in tables:
            rows = rows_as_json(world.db, table, project.id, exported_columns(table))
            async for part in _array(camel(table.name), rows):
                yield part
        yield b"}"
        begun = True
    yield b"]}\n"


async def _projects(world: "World", account_id: UUID) -> AsyncIterator[Project]:
    before: UUID | None = None
    while found := await projects.projects_of_account(world.db, account_id, before=before):
        for project in found:
            yield project
        before = found[-1].id


async def _sessions(world: "World", account_id: UUID) -> AsyncIterator[list[str]]:
    before: UUID | None = None
    while found := await store.sessions_of_account(world.db, account_id=account_id, before=before, limit=LIST_LIMIT):
        yield [to_json(each).decode() for each in found]
        before = found[-1].id


async def _entries(world: "World", account_id: UUID) -> AsyncIterator[list[str]]:
    async for entries in audit.all_of_account(world.db, account_id):
        yield [to_json(each).decode() for each in entries]


async def _array(name: str, chunks: AsyncIterator[Sequence[str]]) -> AsyncIterator[bytes]:
    """`,"name":[…]` of rows that are JSON already."""
    yield f',"{name}":['.encode()
    begun = False
    async for rows in chunks:
        yield ("," if begun else "").encode() + ",".join(rows).encode()
        begun = True
    yield b"]"


def exported_columns(table: Table) -> list[Column]:
    """The columns of a table that an export shows."""
    return [
        each
        for each in table.columns
        if each.name not in WORK_COLUMNS
        and each.name != table.owner
        and not SECRET_COLUMN.search(each.name)
        and (each.type != "bytea" or (table.name, each.name) in BINARY_EXPORTED)
    ]
