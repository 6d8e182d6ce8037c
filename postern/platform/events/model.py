"""Events and their names."""

import re
from typing import Any, Final, NamedTuple
from uuid import UUID

from postern.kernel.values import Moment, Record
from postern.platform.projects.archive import ArchivedTable


class EventContact(Record):
    """The contact that an event concerns."""

    id: UUID
    email: str | None
    """The address of the contact; null if the contact has been deleted."""


class EventContent(Record):
    """An event without its project."""

    id: UUID
    type: str
    """A name in `EVENT_NAMES`, or the name of a custom event."""
    subject_id: UUID | None
    """Id of the record that the event is about: a send, a contact, a customer, a campaign …; null if there is none."""
    actor_type: str
    actor_id: UUID | None
    actor_label: str | None
    data: dict[str, Any]
    occurred_at: Moment


class EventFields(EventContent):
    """The stored fields of an event that the API returns."""

    project_id: UUID


class EventRow(EventFields):
    """A row of `events`."""

    test: bool
    """Whether a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
    then captured in the inbox and not delivered."""


class Event(EventFields):
    """Something that happened in a project."""

    contact: EventContact | None = None
    """The contact that the event concerns, or null."""


TEST_MARKED_AREAS: Final = ("customer", "invitation", "organization", "setup_link")
"""First words of event names. The data of these events has `test: true` if a TEST key caused them but is not their
actor: the actor is a customer, for example."""


class EventPosition(NamedTuple):
    """A position in the event log: after the event with this time and id, or after all events of this time."""

    at: Moment
    event_id: UUID = UUID(int=2**128 - 1)
    """By default the greatest UUID, for a position after all events of the time."""


class FirstEventSince(Record):
    """The first event after a position; `key` is the id that the caller gave to this position."""

    key: UUID
    id: UUID
    occurred_at: Moment


class RecentEvents(Record):
    """The number of events of a project with the same bucket (see `feed.BUCKET_BITS`) in their ids."""

    project_id: UUID
    bucket: bytes | None
    """None if there are no recent events."""
    count: int
    read_at: Moment
    oldest_writer: Moment | None
    """Begin of the oldest open transaction that writes; None if there is none."""


class EventRange(Record):
    """Events that one SQL statement inserted in bulk, as a range of ids."""

    project_id: UUID
    types: tuple[str, ...]
    first_id: UUID
    last_id: UUID
    """The range includes both ends."""
    count: int


_NAMES = {
    "email": "scheduled queued sent delivered delayed bounced complained opened clicked failed suppressed expired"
    " cancelled unsubscribed",
    "contact": "created updated deleted unsubscribed",
    "audience": "created updated deleted refilled joined left",
    "campaign": "scheduled started tested sent cancelled failed paused resumed",
    "automation": "started completed failed",
    "inbound": "received",
    "domain": "created verified degraded deleted blocklisted delisted sender_verified sender_removed"
    " reputation_warning reputation_held reputation_recovered reputation_released warm_up_started warm_up_ended"
    " certificate_issued certificate_failed",
    "customer": "signed_up signed_in sign_in_failed signed_out stepped_up locked unlocked email_verified"
    " password_changed mfa_enabled mfa_disabled mfa_reset passkey_added passkey_removed session_revoked sign_in_denied"
    " impersonated impersonation_ended terms_accepted banned unbanned updated metadata_updated roles_updated linked"
    " unlinked identity_held mail_failed mail_text_failed deleted",
    "organization": "created updated deleted member_added member_removed domain_verified domain_lapsed",
    "invitation": "created resent accepted revoked expired",
    "setup_link": "created opened completed revoked",
    "sso": "activated deactivated signed_in certificate_expiring metadata_changed metadata_failing",
    "entitlement": "changed expired",
    "hook": "failed recovered",
    "webhook": "disabled",
}

_NOT_OF_CAMPAIGN_SENDS = ("scheduled", "queued", "cancelled")

EVENT_NAMES: tuple[str, ...] = tuple(f"{area}.{verb}" for area, verbs in _NAMES.items() for verb in verbs.split())
"""The names of all events that Postern records; callers name custom events."""

CAMPAIGN_SEND_EVENTS: tuple[str, ...] = tuple(
    name for name in EVENT_NAMES if name.startswith("email.") and name.partition(".")[2] not in _NOT_OF_CAMPAIGN_SENDS
)
"""Events that are recorded for each send of a campaign. The scheduling, start and cancellation of the campaign are each
recorded once, as a `campaign.` event."""

AREAS: frozenset[str] = frozenset(_NAMES) | {"custom"}
"""Reserved first words of event names; webhooks subscribe to custom events as `custom.<name>`."""

CUSTOM_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,4}")


def is_custom_name(name: str) -> bool:
    """Whether a name is valid for a custom event: at most 100 characters, in one to five words separated by dots, each
    of 1 to 64 ASCII letters, digits, `_` and `-`; the first word is not in AREAS."""
    return len(name) <= 100 and bool(CUSTOM_NAME.fullmatch(name)) and name.partition(".")[0] not in AREAS


NAMES_ABOUT_CONTACTS: frozenset[str] = frozenset(
    name
    for name in EVENT_NAMES
    if name.partition(".")[0] in ("email", "contact", "automation") or name in ("audience.joined", "audience.left")
)
"""Types of events that concern a contact, always or sometimes. Custom events, which can also concern one, are not
listed."""


def is_about_contacts(type: str) -> bool:
    """Whether events of a type can concern a contact: those in NAMES_ABOUT_CONTACTS, and custom events."""
    return type not in EVENT_NAMES or type in NAMES_ABOUT_CONTACTS


def contact_id_of(event: EventRow) -> UUID | None:
    """The id of the contact that an event concerns; None if it concerns no contact."""
    if event.type not in EVENT_NAMES or event.type.startswith("contact."):
        return event.subject_id
    text = event.data.get("contactId", event.data.get("contact_id")) if is_about_contacts(event.type) else None
    try:
        return UUID(str(text)) if text else None
    except ValueError:
        return None


def address_in_event(event: EventRow) -> str | None:
    """The address in the event's data: the first recipient of an `email.` event, the address of a `contact.` event.
    None for other events, custom ones too."""
    if event.type not in EVENT_NAMES:
        return None
    area = event.type.partition(".")[0]
    if area == "email" and isinstance(recipients := event.data.get("to"), list) and recipients:
        text = str(recipients[0])  # pyright: ignore[reportUnknownArgumentType]
        return text.rpartition("<")[2].rstrip(">") or None
    address = event.data.get("email") if area == "contact" else None
    return address if isinstance(address, str) else None


ALIASES = {"send.delivered": "email.delivered"}
"""The present name of each former event name. Subscriptions can still use the former names."""


ARCHIVED_EVENTS = ArchivedTable(
    "events",
    {
        "id": "UUID",
        "type": "VARCHAR",
        "subject_id": "UUID",
        "actor_type": "VARCHAR",
        "actor_id": "UUID",
        "actor_label": "VARCHAR",
        "data": "JSON",
        "occurred_at": "TIMESTAMPTZ",
        "erased_at": "TIMESTAMPTZ",
        "test": "BOOLEAN",
    },
)
"""Events in the archive."""
