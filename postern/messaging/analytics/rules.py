"""The period that a request means: pure decisions."""

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.http.problems import Invalid
from postern.messaging.analytics.model import DAYS_LIMIT, DEFAULT_DAYS


class Period(msgspec.Struct, frozen=True):
    """Whole days of one time zone."""

    first: date
    last: date
    zone: str

    @property
    def begins(self) -> datetime:
        return self.midnights([self.first])[0]

    @property
    def ends(self) -> datetime:
        """The moment after the last day."""
        return self.midnights([self.last + timedelta(days=1)])[0]

    def midnights(self, days: list[date]) -> list[datetime]:
        """When days begin. Reckoned here: the database's own time zones may be of another year."""
        zone = ZoneInfo(self.zone)
        return [datetime.combine(day, time(), zone).astimezone(UTC) for day in days]

    def days(self) -> list[date]:
        return [self.first + timedelta(days=number) for number in range((self.last - self.first).days + 1)]


def read_period(now: Moment, first: str | None, last: str | None, zone: str) -> Period:
    """The period that `from`, `to` and `timezone` mean; the last 30 days where they are absent. Raises Invalid."""
    if zone not in _zones():
        raise Invalid.at("query/timezone", f"There is no time zone `{zone}`.", "unknown_timezone")
    today = now.astimezone(ZoneInfo(zone)).date()
    until = _date("query/to", last) if last else today
    since = _date("query/from", first) if first else until - timedelta(days=DEFAULT_DAYS - 1)
    if since > until:
        raise Invalid.at("query/from", "It is after `to`.", "reversed")
    if (until - since).days >= DAYS_LIMIT:
        raise Invalid.at("query/from", f"At most {DAYS_LIMIT} days.", "too_long")
    return Period(since, until, zone)


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    """The IANA names. Files such as `localtime` or `right/UTC` are beside them, and are none."""
    return frozenset(available_timezones() - {"localtime"})


def _date(path: str, text: str) -> date:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        raise Invalid.at(path, "Expected a calendar date, YYYY-MM-DD.") from None
    if not 1970 < found.year < 9000:
        raise Invalid.at(path, "This date is out of range.")
    return found
