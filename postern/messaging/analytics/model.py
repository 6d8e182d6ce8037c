"""Response bodies of statistics. Rates are numbers from 0 to 1 (`rate` in `emails/rules.py`)."""

import datetime as dt
from typing import Annotated
from uuid import UUID

import msgspec

from postern.kernel.values import Record

DAYS_LIMIT = 3_650
DEFAULT_DAYS = 30

Days = Annotated[
    int, msgspec.Meta(ge=1, le=DAYS_LIMIT, description="Only this number of past days; all time if absent.")
]
Day = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}(?!\n)$", description="A calendar date, YYYY-MM-DD.")]
Zone = Annotated[str, msgspec.Meta(max_length=64, description="An IANA time zone, such as Europe/Berlin.")]


class ContactTotals(Record):
    """Numbers of the project's contacts."""

    total: int
    unsubscribed: int
    unsubscribe_rate: float
    new_last30_days: int = msgspec.field(name="newLast30Days")


class SendTotals(Record):
    """Numbers and rates of the project's sends. Opens and clicks by machines are counted separately."""

    total: int
    """Sends that were created, whether they were sent or not."""
    sent: int
    """Sends that a mail server accepted, without those that bounced later."""
    delivered: int
    opened: int
    clicked: int
    bounced: int
    complained: int
    failed: int
    machine_opened: int
    """Sends that were opened by machines only."""
    machine_clicked: int
    """Sends in which only machines clicked."""
    last30_days: int = msgspec.field(name="last30Days")
    """Sends that were created in the last 30 days, whatever `days` is."""
    open_rate: float
    click_rate: float
    bounce_rate: float
    complaint_rate: float


class CampaignTotals(Record):
    """How many campaigns the project has (`total`), and how many of them are SENT (`sent`)."""

    total: int
    sent: int


class AutomationTotals(Record):
    """Numbers of runs of the project's automations."""

    total_runs: int
    completed: int
    failed: int
    success_rate: float


class ProjectSummary(Record):
    """The statistics of a project."""

    project_id: UUID
    project_name: str
    contacts: ContactTotals
    sends: SendTotals
    campaigns: CampaignTotals
    automations: AutomationTotals


class TimeSeriesItem(Record):
    """The statistics of one day."""

    date: dt.date
    sent: int
    delivered: int
    opened: int
    clicked: int
    bounced: int
    complained: int
    failed: int


class ByDomainItem(Record):
    """The statistics of one sending domain."""

    domain: str
    domain_id: UUID
    status: str
    total: int
    delivered: int
    bounced: int
    complained: int
    opened: int
    clicked: int
    bounce_rate: float
    complaint_rate: float
    open_rate: float
