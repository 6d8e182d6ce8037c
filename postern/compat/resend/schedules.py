"""The forms in which Resend accepts the time of a scheduled e-mail."""

import re
from datetime import UTC, datetime, timedelta

import msgspec

from postern.kernel.http.problems import Invalid
from postern.kernel.values import Moment

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
DURATION = re.compile(
    r"in (?:(an?|\d{1,4})) ?(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)", re.IGNORECASE
)
DAY_AND_TIME = re.compile(r"(today|tomorrow)(?: at (\d{1,2})(?::([0-5]\d))? ?(am|pm)?)?", re.IGNORECASE)


def parse_schedule(text: str, now: Moment, path: str = "/scheduled_at") -> datetime:
    """The time that `text` names: ISO 8601 (without a zone, in UTC), `in 5 minutes`, or `tomorrow at 9am` (in UTC).

    Raises Invalid for other forms.
    """
    text = text.strip()
    # A plain datetime, because bodies are converted by msgspec, which rejects subclasses.
    present = datetime.combine(now.date(), now.time(), UTC)
    if match := DURATION.fullmatch(text):
        count = 1 if match[1].lower() in ("a", "an") else int(match[1])
        return present + timedelta(**{UNITS[match[2][0].lower()]: count})
    if (match := DAY_AND_TIME.fullmatch(text)) and (moment := _at_time_of_day(match, present)):
        return moment
    try:
        moment = msgspec.convert(re.sub(r"(\d) (\d)", r"\1T\2", text, count=1), datetime)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (msgspec.ValidationError, OverflowError):
        message = "`scheduled_at` must be a time in ISO 8601, or text such as `in 5 minutes` or `tomorrow at 9am`."
        raise Invalid.at(path, message) from None


def _at_time_of_day(match: re.Match[str], now: datetime) -> datetime | None:
    """The time that DAY_AND_TIME has matched; without a time of day, the present one. None if the hour is not valid."""
    hour, minute = int(match[2] or now.hour), int(match[3] or (0 if match[2] else now.minute))
    if match[4]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match[4].lower() == "pm" else 0)
    if hour > 23:
        return None
    days = 1 if match[1].lower() == "tomorrow" else 0
    return now.replace(hour=hour, minute=minute, second=0, microsecond=0) + timedelta(days=days)
