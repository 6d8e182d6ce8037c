"""Time, as one type that knows how it is written."""

from datetime import UTC, datetime, timedelta
from typing import Protocol, Self


class Moment(datetime):
    """A point in time in UTC. Its own type, so that JSON always shows exactly three decimals."""

    @classmethod
    def of(cls, moment: datetime) -> Self:
        # By way of a float, the last moments of the year 9999 would become the year 10000.
        utc = moment.astimezone(UTC)
        return cls.combine(utc.date(), utc.time(), UTC)


class Clock(Protocol):
    """Whatever says what time it is."""

    def __call__(self) -> Moment: ...


def system_clock() -> Moment:
    """The machine's clock."""
    return Moment.now(UTC)


class FixedClock:
    """A clock that stands until it is moved; it ships because tests move time instead of waiting."""

    def __init__(self, start: datetime | None = None) -> None:
        self.offset = timedelta()
        self.start = Moment.of(start) if start else None

    def __call__(self) -> Moment:
        return (self.start or Moment.now(UTC)) + self.offset

    def move(self, by: timedelta) -> None:
        self.offset += by
