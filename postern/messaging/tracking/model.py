"""Tracking hits (requests for a pixel or a tracked link) and their classification."""

from typing import Literal
from uuid import UUID

from postern.kernel.values import Moment, Record
from postern.platform.projects.archive import ArchivedTable
from postern.protocols.mail.templates.links import TARGET_LIMIT

HitKind = Literal["OPEN", "CLICK", "UNSUBSCRIBE"]
"""UNSUBSCRIBE is not recorded as a hit; an unsubscribe is recorded as the event `email.unsubscribed`."""
Verdict = Literal["human", "machine", "proxy"]
"""What caused a hit: a person, a machine, or the image proxy of a mail provider when a person opened the message."""

URL_LIMIT = TARGET_LIMIT
"""Maximum characters of a link target; longer links of a message are not tracked."""
USER_AGENT_LIMIT = 512


class HitRequest(Record):
    """One request for a tracking pixel or a tracked link."""

    send_id: UUID
    kind: HitKind
    url: str | None
    ip_address: str
    user_agent: str
    occurred_at: Moment


class HitClassification(Record):
    """Whether a person, a machine or an image proxy caused a hit."""

    verdict: Verdict
    reason: str | None
    """The criterion that decided it (see `TrackingHit.reason`); None for `human`."""


class TrackingHit(Record):
    """A recorded request for the tracking pixel (OPEN) or a tracked link (CLICK) of a send."""

    id: UUID
    kind: HitKind
    url: str | None
    """The target of the link; null for OPEN, and if it was erased."""
    verdict: Verdict
    reason: str | None
    """The criterion that decided `verdict`: `no_user_agent`, `apple_mail_privacy_protection`, `image_proxy`,
    `user_agent` (of a program), `too_soon` (within 5 seconds of delivery), or `all_links_at_once` (three or more
    different links of the message were followed within a second); null for `human`."""
    ip_address: str
    user_agent: str
    occurred_at: Moment


class StoredHit(TrackingHit):
    """A row of `tracking_hits`."""

    project_id: UUID
    send_id: UUID


class RecentClick(Record):
    """A recent click on a link of a send, used to detect bursts."""

    send_id: UUID
    url: str | None
    occurred_at: Moment


ARCHIVED_HITS = ArchivedTable(
    "opens-and-clicks",
    {
        "id": "UUID",
        "send_id": "UUID",
        "kind": "VARCHAR",
        "url": "VARCHAR",
        "verdict": "VARCHAR",
        "reason": "VARCHAR",
        "ip_address": "VARCHAR",
        "user_agent": "VARCHAR",
        "occurred_at": "TIMESTAMPTZ",
    },
)
"""Opens and clicks in the archive."""
