"""Campaigns that are due."""

from datetime import timedelta

from postern.kernel.due import Work, each
from postern.messaging.campaigns.model import Row
from postern.messaging.campaigns.running import run

WORK: list[Work[Row]] = [
    Work(
        name="campaigns",
        table="campaigns",
        kind=Row,
        lease=timedelta(seconds=30),
        do=each(run, at_once=4),
        share=4,
        at_once=4,
    )
]
