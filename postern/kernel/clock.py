"""The timestamp type `Moment` and replaceable clocks."""

from datetime import UTC, datetime, timedelta
from typing import Protocol, Self


class Moment(datetime):
    """A UTC timestamp. It is a separate type so that `to_json` writes it with exactly three decimals."""

    @classmethod
    def of(cls, moment: datetime) -> Self:
        """Convert a datetime with a time zone."""
        # Conversion through a float would round the end of the year 9999 up to the year 10000.
        utc = moment.astimezone(UTC)
        return cls.combine(utc.date(), utc.time(), UTC)


class Clock(Protocol):
    """A callable that returns the current time."""

    def __call__(self) -> Moment: ...


def system_clock() -> Moment:
    """The system's current time."""
    return Moment.now(UTC)


class FixedClock:
    """A clock for tests: always `start`, or the system's time if there is no `start`. `move` adds an offset to it."""

    def __init__(self, start: datetime | None = None) -> None:
        self.offset = timedelta()
        self.start = Moment.of(start) if start else None

    def __call__(self) -> Moment:
        return (self.start or Moment.now(UTC)) + self.offset

    def move(self, by: timedelta) -> None:
        """Set the clock forward by `by`, or back if `by` is negative."""
        self.offset += by
