"""Rates, and the period that a request means: pure decisions."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from postern.analytics.model import DAYS_LIMIT, DEFAULT_DAYS
from postern.kernel.clock import Moment
from postern.kernel.problems import Invalid


class Period(msgspec.Struct, frozen=True):
    """Whole days of one time zone."""

    first: date
    last: date
    zone: str

    @property
    def begins(self) -> datetime:
        return datetime.combine(self.first, time(), ZoneInfo(self.zone)).astimezone(UTC)

    @property
    def ends(self) -> datetime:
        """The moment after the last day."""
        return datetime.combine(self.last + timedelta(days=1), time(), ZoneInfo(self.zone)).astimezone(UTC)

    def days(self) -> list[date]:
        return [self.first + timedelta(days=number) for number in range((self.last - self.first).days + 1)]


def read_period(now: Moment, first: str | None, last: str | None, zone: str) -> Period:
    """The period that `from`, `to` and `timezone` mean; the last 30 days where they are absent. Raises Invalid."""
    try:
        today = now.astimezone(ZoneInfo(zone)).date()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid.at("query/timezone", f"There is no time zone `{zone}`.", "unknown_timezone") from None
    until = _date("query/to", last) if last else today
    since = _date("query/from", first) if first else until - timedelta(days=DEFAULT_DAYS - 1)
    if since > until:
        raise Invalid.at("query/from", "It is after `to`.", "reversed")
    if (until - since).days >= DAYS_LIMIT:
        raise Invalid.at("query/from", f"At most {DAYS_LIMIT} days.", "too_long")
    return Period(since, until, zone)


def _date(path: str, text: str) -> date:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        raise Invalid.at(path, "Expected a calendar date, YYYY-MM-DD.") from None
    if not 1970 < found.year < 9000:
        raise Invalid.at(path, "This date is out of range.")
    return found


def rate(part: int, whole: int) -> float:
    """A share from 0 to 1; 0 of nothing."""
    return round(min(part / whole, 1.0), 6) if whole > 0 else 0.0


def reached(counts: Mapping[str, int]) -> int:
    """The messages that rates are shares of: delivered ones, or sent ones where delivery is unknown."""
    return counts.get("delivered", 0) or counts.get("sent", 0)
