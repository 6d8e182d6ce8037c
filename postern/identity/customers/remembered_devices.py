"""Devices on which a customer is not asked for the second factor again for some days.

A device is remembered by a random token that it keeps. The server stores it as a challenge of the customer
(`security.challenges`): as a keyed hash, until it expires. So everything that revokes the open challenges of a customer
revokes the devices, too: a new password, a changed second factor, ended sessions, “This was not me”, a ban, an erasure.
See docs/decisions/0158-remembered-devices-are-challenges.md.
"""

from datetime import UTC, timedelta
from uuid import UUID

from postern.identity.customers.challenge_payloads import RememberedDevice
from postern.identity.customers.model import CUSTOMER, CustomerRow
from postern.identity.customers.requirements import SignInRequirement
from postern.identity.customers.sessions import bearer_of, lock_calling_customer
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get
from postern.kernel.http.problems import Missing
from postern.kernel.values import Moment, Record
from postern.platform.projects.model import Project
from postern.security import challenges
from postern.security.challenges import Challenge, CodeInvalid

DEVICES_LIMIT = 20
"""Maximum number of remembered devices of a customer; a further one replaces the oldest."""
DEVICE_TRIES = 1_000_000
"""How often the token of a device may be sent. It cannot be guessed."""
USER_AGENT_LIMIT = 500
DEVICES = "/projects/{project_id}/auth/remembered-devices"


class RememberedDeviceMissing(Missing):
    """There is no such remembered device."""


class MyRememberedDevice(Record):
    """A device on which you are not asked for the second factor."""

    id: UUID
    user_agent: str
    ip_address: str
    created_at: Moment
    expires_at: Moment
    """When the second factor is asked for again at the latest."""


@get(DEVICES, accepts=CUSTOMER)
async def list_remembered_devices(call: Call) -> list[MyRememberedDevice]:
    """The devices on which you are not asked for the second factor, newest first."""
    customer_id, _ = bearer_of(call)
    devices = await challenges.open_of(call.db, call, call.project_id, customer_id, RememberedDevice)
    return [
        MyRememberedDevice(
            id=device.id,
            user_agent=device.payload.user_agent,
            ip_address=device.payload.ip_address,
            created_at=Moment.fromtimestamp(device.payload.created_at, UTC),
            expires_at=Moment.fromtimestamp(device.payload.expires_at, UTC),
        )
        for device in devices
    ]


@delete(f"{DEVICES}/{{id}}", accepts=CUSTOMER, problems=[RememberedDeviceMissing])
async def forget_remembered_device(call: Call, id: UUID) -> None:
    """Ask for the second factor on this device again. Its sessions continue."""
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        if id not in await _device_ids(tx, call, customer):
            raise RememberedDeviceMissing
        await challenges.consume_id(tx, call.project_id, id)


async def device_of_token(call: Call, token: str | None) -> Challenge[RememberedDevice] | None:
    """The remembered device with this token; None if there is none, or it was revoked or has expired. Whether it is
    the customer's must be checked with `is_remembered`."""
    if token is None:
        return None
    try:
        return await challenges.answer_token(call, RememberedDevice, token, max_tries=DEVICE_TRIES)
    except CodeInvalid:
        return None


async def device_of_id(call: Call, id: UUID | None) -> Challenge[RememberedDevice] | None:
    """The remembered device with this id, whose token an earlier request of the sign-in has sent; like
    `device_of_token`."""
    return None if id is None else await challenges.get(call, RememberedDevice, id)


async def is_remembered(
    tx: Transaction,
    call: Call,
    project: Project,
    customer: CustomerRow,
    required: SignInRequirement,
    device: Challenge[RememberedDevice] | None,
) -> bool:
    """Whether a sign-in of the locked customer needs no second factor, because the customer has completed one on this
    device. Never if the project or an organization requires one: then each session must have it."""
    if device is None or device.subject_id != customer.id or not _is_allowed(project, required):
        return False
    # It was read before the row of the customer was locked: it may have been revoked since. If the project has
    # shortened the time since, the new one counts.
    since = Moment.fromtimestamp(device.payload.created_at, UTC)
    return since + _life(project) > call.now and device.id in await _device_ids(tx, call, customer)


async def remember_device(
    tx: Transaction, call: Call, project: Project, customer: CustomerRow, required: SignInRequirement
) -> tuple[str, Moment] | None:
    """Remember the device of a request with which the locked customer has completed the second factor. Returns its
    token, and when that expires; None if devices are not remembered here."""
    if not _is_allowed(project, required):
        return None
    known = await challenges.open_of(tx, call, call.project_id, customer.id, RememberedDevice)
    for oldest in known[DEVICES_LIMIT - 1 :]:
        await challenges.consume_id(tx, call.project_id, oldest.id)
    life = _life(project)
    device = RememberedDevice(
        user_agent=call.origin.user_agent[:USER_AGENT_LIMIT],
        ip_address=call.origin.ip,
        created_at=call.now.timestamp(),
        expires_at=(call.now + life).timestamp(),
    )
    return await challenges.issue_token(tx, call, device, life, subject_id=customer.id)


def days_offered(project: Project) -> int | None:
    """For how many days pages offer to remember a device; None if they do not."""
    settings = project.settings.sign_in
    return None if settings.require_mfa else settings.remembered_device_days


def _is_allowed(project: Project, required: SignInRequirement) -> bool:
    return days_offered(project) is not None and not required.mfa


def _life(project: Project) -> timedelta:
    return timedelta(days=project.settings.sign_in.remembered_device_days or 0)


async def _device_ids(tx: Transaction, call: Call, customer: CustomerRow) -> set[UUID]:
    """The ids of the remembered devices of a customer, whose row is locked."""
    return {device.id for device in await challenges.open_of(tx, call, call.project_id, customer.id, RememberedDevice)}
