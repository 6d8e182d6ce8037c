"""Parsing of the period of a statistics request. The functions read nothing but the time zone files."""

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

import msgspec

from postern.kernel.http.problems import Invalid
from postern.kernel.values import Moment
from postern.messaging.analytics.model import DAYS_LIMIT, DEFAULT_DAYS


class Period(msgspec.Struct, frozen=True):
    """A range of whole days in one time zone."""

    first: date
    last: date
    zone: str

    @property
    def begins(self) -> datetime:
        """The start of the first day."""
        return self.midnights([self.first])[0]

    @property
    def ends(self) -> datetime:
        """The start of the day after the last day."""
        return self.midnights([self.last + timedelta(days=1)])[0]

    def midnights(self, days: list[date]) -> list[datetime]:
        """The start of each day in UTC. Computed here, because the time zone data of PostgreSQL may be outdated."""
        zone = ZoneInfo(self.zone)
        return [datetime.combine(day, time(), zone).astimezone(UTC) for day in days]

    def days(self) -> list[date]:
        """All days of the period, oldest first."""
        return [self.first + timedelta(days=index) for index in range((self.last - self.first).days + 1)]


def read_period(now: Moment, first: str | None, last: str | None, zone: str) -> Period:
    """Parse the parameters `from`, `to` and `timezone`. Raises Invalid.

    `to` defaults to today; `from` defaults to 29 days before `to`, so that the period has 30 days.
    """
    if zone not in _zones():
        message = f"There is no time zone `{zone}`. Use an IANA name such as `Europe/Berlin`."
        raise Invalid.at("query/timezone", message, "unknown_timezone")
    today = now.astimezone(ZoneInfo(zone)).date()
    until = _date("query/to", last) if last else today
    since = _date("query/from", first) if first else until - timedelta(days=DEFAULT_DAYS - 1)
    if since > until:
        raise Invalid.at("query/from", "`from` is after `to`.", "reversed")
    if (until - since).days >= DAYS_LIMIT:
        raise Invalid.at("query/from", f"The period can have at most {DAYS_LIMIT} days.", "too_long")
    return Period(since, until, zone)


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    """The IANA time zone names. `localtime` is listed among them, but depends on the machine."""
    return frozenset(available_timezones() - {"localtime"})


def _date(path: str, text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise Invalid.at(path, "Expected a calendar date, YYYY-MM-DD.") from None
    if not 1970 < day.year < 9000:
        raise Invalid.at(path, "The year of this date must be between 1971 and 8999.")
    return day
