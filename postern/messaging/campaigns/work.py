"""The background work of campaigns."""

from datetime import timedelta

from postern.kernel.due import Work, one_by_one
from postern.messaging.campaigns.model import CampaignRow
from postern.messaging.campaigns.running import run

WORK: list[Work[CampaignRow]] = [
    Work(
        name="campaigns",
        table="campaigns",
        kind=CampaignRow,
        lease=timedelta(seconds=30),
        do=one_by_one(run, max_concurrent=4),
        claim_size=4,
        max_claims=4,
    )
]
