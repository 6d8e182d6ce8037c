"""Hits, and who is behind them."""

from typing import Literal
from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.values import Record
from postern.protocols.mail.templates.links import TARGET_LIMIT

HitKind = Literal["OPEN", "CLICK", "UNSUBSCRIBE"]
Verdict = Literal["human", "machine", "proxy"]

URL_LIMIT = TARGET_LIMIT
"""Characters of a link: what the links of messages are tracked up to."""
USER_AGENT_LIMIT = 512


class HitRequest(Record):
    """One request for a pixel or a link."""

    send_id: UUID
    kind: HitKind
    url: str | None
    ip_address: str
    user_agent: str
    occurred_at: Moment


class HitJudgement(Record):
    """Who was behind a hit, and by what sign."""

    verdict: Verdict
    reason: str | None


class TrackingHit(Record):
    """A hit as it is shown."""

    id: UUID
    kind: HitKind
    url: str | None
    verdict: Verdict
    reason: str | None
    ip_address: str
    user_agent: str
    occurred_at: Moment


class RecentClick(Record):
    """A link of a send that was followed moments ago."""

    send_id: UUID
    url: str | None
    occurred_at: Moment
