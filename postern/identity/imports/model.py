"""Imports of customers: batches of rows, and the report on each row."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec

from postern.identity.customers.importing import ImportedCustomer
from postern.identity.organizations.model import ExternalId, Name, Roles
from postern.kernel.http.problems import ProblemError
from postern.kernel.values import Body, Record

BATCH_LIMIT = 200
"""Maximum number of rows of one request. A row with a weak digest takes 30 ms of a processor."""
BATCH_BYTES_LIMIT = 8_388_608
MEMBERSHIPS_LIMIT = 50
RowOutcome = Literal["CREATED", "UNCHANGED", "FAILED"]


class ImportedMembership(Body):
    """A membership of an organization, which is created if there is none with this external id."""

    external_id: ExternalId
    """The id of the organization in the other system."""
    name: Name | None = None
    """The name of a new organization. Default: the external id."""
    roles: Roles = msgspec.field(default_factory=lambda: ["MEMBER"])
    """Keys of roles with the scope ORGANIZATION."""


class CustomerImportRow(ImportedCustomer):
    """A customer from another system, with the organizations of which it is a member."""

    organizations: Annotated[list[ImportedMembership], msgspec.Meta(max_length=MEMBERSHIPS_LIMIT)] = []


class CustomerRows(Body):
    """Rows to import."""

    rows: Annotated[
        list[
            Annotated[
                msgspec.Raw,
                msgspec.Meta(
                    extra_json_schema={"$ref": "#/components/schemas/CustomerImportRow"},
                    extra={"decoded_as": CustomerImportRow},
                ),
            ]
        ],
        msgspec.Meta(min_length=1, max_length=BATCH_LIMIT),
    ]
    """Each row is checked on its own, so an invalid one does not affect the others."""
    dry_run: bool = False
    """Only report what an import would do."""


class ImportedRow(Record):
    """What happened to one row. `UNCHANGED`: there is a customer with this `externalUserId` already."""

    index: int
    external_user_id: str | None
    outcome: RowOutcome
    customer_id: UUID | None
    """Null if the row failed, or would be created after a dry run."""
    faults: list[ProblemError]
    """Why the row failed; `path` is a JSON pointer into the row."""


class CustomerRowsResult(Record):
    """The numbers of rows by outcome, and the report on each row."""

    created: int
    unchanged: int
    """How many rows have the `externalUserId` of an existing customer."""
    failed: int
    rows: list[ImportedRow]
