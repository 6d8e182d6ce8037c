"""Lazy migration: create a customer at the first sign-in, after the system that the project leaves has confirmed the
password.

The answer of that system is checked like a row of an import, and added by the same function.
"""

from uuid import UUID

import msgspec
from msgspec.structs import replace

from postern.identity.customers import rules
from postern.identity.customers.credentials import set_first_password
from postern.identity.customers.model import CustomerRow
from postern.identity.hooks import calling as hooks
from postern.identity.imports.model import CustomerImportRow
from postern.identity.imports.operations import ROW_DECODER, add_row
from postern.kernel.http.call import Call
from postern.kernel.http.handler import read_item
from postern.kernel.http.problems import Invalid, Problem
from postern.platform.projects.model import Project
from postern.platform.projects.quotas import PlanLimitReached
from postern.security.passwords import hash_password


async def migrate_customer(
    call: Call, project: Project, customer_id: UUID | None, email: str, password: str
) -> tuple[UUID, str] | None:
    """Ask the other system about an address and a password, and create the customer, or store the first password of
    the customer `customer_id`, who has this address. See `sign_in.MigrateCustomer`.

    An existing customer gets the password only if the other system has verified the address, or has the account under
    the customer's `externalUserId`: otherwise, whoever has registered the address there would take over the account. An
    address that the other system has verified is verified here, too, and what was added before that is removed:
    otherwise, whoever has registered the address here would keep the account.
    """
    if not password:
        return None
    answer = await hooks.ask_old_system(call, project.settings.sign_in.hooks, email, password)
    if answer is None or not answer.authenticated:
        return None
    try:
        row = _read_row(answer.customer, email)
        password_hash = await hash_password(password)
        async with call.db.transaction() as tx:
            if customer_id is not None:
                is_same = await set_first_password(
                    tx,
                    call,
                    project,
                    customer_id,
                    password_hash,
                    lambda customer: _is_same_person(customer, row),
                    verified_key=rules.read_email(email)[1] if row.email_verified else None,
                )
                return (customer_id, password_hash) if is_same else None
            customer, is_new = await add_row(tx, call, project, row, password_hash, trusted=True)
            return (customer.id, password_hash) if is_new else None
    except PlanLimitReached:
        raise
    except Problem as problem:
        errors = "; ".join(f"{error.path} {error.message}" for error in problem.errors)
        await hooks.reject_answer(call, "MIGRATION", f"/customer cannot be used: {errors or problem.detail}")
        return None


def _read_row(raw: msgspec.Raw, email: str) -> CustomerImportRow:
    """The row of an answer, with the address that was entered. Raises Problem."""
    if not bytes(raw):
        raise Invalid.at("", "`customer` is missing.", "required")
    row = read_item(ROW_DECODER, raw)
    if isinstance(row, Problem):
        raise row
    if row.password_hash is not None:
        raise Invalid.at("/passwordHash", "The password was sent to you, so there is no need for its hash.")
    if row.email is not None and rules.read_email(row.email)[1] != rules.read_email(email)[1]:
        raise Invalid.at("/email", "This is not the address that was sent to you.")
    return replace(row, email=email)


def _is_same_person(customer: CustomerRow, row: CustomerImportRow) -> bool:
    if "PASSWORD" in customer.providers:  # The password was removed because others knew it.
        return False
    if customer.external_id is not None:
        return customer.external_id == row.external_user_id
    return row.email_verified
