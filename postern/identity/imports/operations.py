"""Import customers from another system in batches that can be repeated."""

from uuid import UUID

import msgspec
from msgspec.structs import replace

from postern.identity.access import operations as access
from postern.identity.customers.importing import add_imported_customer, stored_hash
from postern.identity.customers.model import CustomerRow, ExternalId
from postern.identity.imports.model import (
    BATCH_BYTES_LIMIT,
    CustomerImportRow,
    CustomerRows,
    CustomerRowsResult,
    ImportedMembership,
    ImportedRow,
)
from postern.identity.organizations import operations as organizations
from postern.identity.organizations.members import join
from postern.identity.organizations.model import NewOrganization, OrganizationExternalIdTaken
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.handler import read_item
from postern.kernel.http.operation import post
from postern.kernel.http.problems import Problem, ProblemError
from postern.kernel.values import Record
from postern.platform.audit import operations as audit
from postern.platform.projects import operations as projects
from postern.platform.projects.model import Project

PreparedRow = tuple[CustomerImportRow, str | None]
"""A valid row, and the password hash to store."""


ROW_DECODER = msgspec.json.Decoder(CustomerImportRow)


class RowId(Record):
    """The only field that is read of a row that failed."""

    external_user_id: ExternalId


EXTERNAL_ID_DECODER = msgspec.json.Decoder(RowId)


class _DryRunEnds(Exception):
    """Undoes the transaction of a dry run."""


@post(
    "/projects/{project_id}/customers/import/rows",
    needs="customers:write",
    body_limit=BATCH_BYTES_LIMIT,
    example={
        "rows": [
            {
                "externalUserId": "auth0|5f7c8ec7",
                "email": "ada@example.com",
                "emailVerified": True,
                "passwordHash": "$2b$10$C9hB01.YxRSTcn/ZOOo4j.TW7xCKKFKBSF.C7E0xiUwumqIDqWUXG",
                "totpSecret": "JBSWY3DPEHPK3PXP",
                "organizations": [{"externalId": "org_acme", "name": "Acme Ltd", "roles": ["ADMIN"]}],
            }
        ],
        "dryRun": True,
    },
)
async def import_customer_rows(call: Call, data: CustomerRows) -> CustomerRowsResult:
    """Import up to 200 customers from another system: password hashes, second factors, passkeys, accounts at providers,
    addresses, organizations. The guide lists the fields of a row.

    Each row is imported completely or not at all, and a row that fails does not stop the others; the report says why.
    A customer with the same `externalUserId` is left as it is, so a batch can be sent again. With `dryRun`, nothing is
    stored. Rows with `organizations` need the permission `organizations:write`.
    """
    project = await projects.require_project(call.db, call.project_id)
    # One after the other: 200 digests at once would keep all threads from those who sign in meanwhile.
    prepared = [await _prepare(row, dry_run=data.dry_run) for row in data.rows]
    if data.dry_run:
        reports = await _try_rows(call, project, data.rows, prepared)
    else:
        reports = await _import_rows(call, project, data.rows, prepared)
    outcomes = [report.outcome for report in reports]
    return CustomerRowsResult(
        created=outcomes.count("CREATED"),
        unchanged=outcomes.count("UNCHANGED"),
        failed=outcomes.count("FAILED"),
        rows=reports,
    )


async def _prepare(item: msgspec.Raw, *, dry_run: bool) -> PreparedRow | Problem:
    """Check a row and its hash, without a connection to the database."""
    row = read_item(ROW_DECODER, item)
    if isinstance(row, Problem):
        return row
    try:
        return row, await stored_hash(row, dry_run=dry_run)
    except Problem as problem:
        return problem


async def _import_rows(
    call: Call, project: Project, rows: list[msgspec.Raw], prepared: list[PreparedRow | Problem]
) -> list[ImportedRow]:
    """Import each row in a transaction of its own."""
    async with call.db.transaction() as tx:
        await audit.record(tx, call, "customers.imported", "Project", call.project_id, rows=len(rows))
    reports: list[ImportedRow] = []
    for index, (row, item) in enumerate(zip(rows, prepared, strict=True)):
        try:
            if isinstance(item, Problem):
                raise item
            async with call.db.transaction() as tx:
                report = await _add_row(tx, call, project, index, item)
        except Problem as problem:
            report = _failure(index, row, problem)
        reports.append(report)
    return reports


async def _try_rows(
    call: Call, project: Project, rows: list[msgspec.Raw], prepared: list[PreparedRow | Problem]
) -> list[ImportedRow]:
    """Import the rows in one transaction, so that each sees those before it, and undo it."""
    reports: list[ImportedRow] = []
    try:
        async with call.db.transaction() as tx:
            for index, (row, item) in enumerate(zip(rows, prepared, strict=True)):
                try:
                    if isinstance(item, Problem):
                        raise item
                    async with tx.savepoint():
                        report = await _add_row(tx, call, project, index, item)
                except Problem as problem:
                    report = _failure(index, row, problem)
                created_before = {entry.external_user_id for entry in reports if entry.outcome == "CREATED"}
                if report.outcome == "CREATED" or report.external_user_id in created_before:
                    report = replace(report, customer_id=None)
                reports.append(report)
            raise _DryRunEnds
    except _DryRunEnds:
        return reports


async def _add_row(tx: Transaction, call: Call, project: Project, index: int, item: PreparedRow) -> ImportedRow:
    row, password_hash = item
    customer, is_new = await add_row(tx, call, project, row, password_hash)
    return ImportedRow(
        index=index,
        external_user_id=row.external_user_id,
        outcome="CREATED" if is_new else "UNCHANGED",
        customer_id=customer.id,
        faults=[],
    )


async def add_row(
    tx: Transaction,
    call: Call,
    project: Project,
    row: CustomerImportRow,
    password_hash: str | None,
    *,
    trusted: bool = False,
) -> tuple[CustomerRow, bool]:
    """Add the customer of a row with its memberships. Returns the customer, and False if there was one with this
    external id already, which stays as it is. Memberships need the permission `organizations:write`, unless the row is
    `trusted`, because it comes from a server of the project.

    Raises a Problem that names the location in the row. The caller undoes the transaction then.
    """
    customer, is_new = await add_imported_customer(tx, call, project, row, password_hash)
    if is_new:
        # In the same order in all transactions, because joining locks the organization.
        for number, membership in sorted(enumerate(row.organizations), key=lambda entry: entry[1].external_id):
            try:
                if not trusted:
                    call.require("organizations:write")
                await _join(tx, call, customer.id, membership, f"/organizations/{number}")
            except Problem as problem:
                problem.errors = problem.errors or _errors_at(f"/organizations/{number}", problem)
                raise
    return customer, is_new


async def _join(tx: Transaction, call: Call, customer_id: UUID, membership: ImportedMembership, path: str) -> None:
    """Make a customer a member of an organization, which is created if there is none with its external id."""
    roles = list(dict.fromkeys(membership.roles))
    await access.require_roles(tx, call.project_id, "ORGANIZATION", roles, f"{path}/roles/{{}}")
    external_id = membership.external_id
    organization_id = await organizations.id_of_external_id(tx, call, external_id)
    if organization_id is None:
        new = NewOrganization(name=membership.name or external_id, external_id=external_id)
        try:
            organization_id = (await organizations.add_organization(tx, call, new)).id
        except OrganizationExternalIdTaken:  # Another request has created it meanwhile.
            organization_id = await organizations.id_of_external_id(tx, call, external_id)
            if organization_id is None:
                raise
    # Also of one that is suspended, which gives its members no permissions: it would be resumed without them.
    await join(tx, call, organization_id, customer_id, roles, "API", allow_suspended=True)


def _failure(index: int, row: msgspec.Raw, problem: Problem) -> ImportedRow:
    return ImportedRow(
        index=index,
        external_user_id=_external_id_of(row),
        outcome="FAILED",
        customer_id=None,
        faults=problem.errors or _errors_at("", problem),
    )


def _external_id_of(row: msgspec.Raw) -> str | None:
    """The `externalUserId` of a row that may be invalid; None if it has none that the API accepts."""
    try:
        return EXTERNAL_ID_DECODER.decode(row).external_user_id
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _errors_at(path: str, problem: Problem) -> list[ProblemError]:
    return [ProblemError(path=path, code=problem.code(), message=problem.detail)]
