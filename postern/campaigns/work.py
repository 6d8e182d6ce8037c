"""Campaigns that are due."""

from datetime import timedelta

from postern.campaigns.model import Row
from postern.campaigns.running import run
from postern.kernel.due import Work, each

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
