"""The background work of campaigns."""

from datetime import timedelta

from postern.kernel.due import Work, for_each_row
from postern.messaging.campaigns.model import CampaignRow
from postern.messaging.campaigns.running import run

WORK: list[Work[CampaignRow]] = [
    Work(
        name="campaigns",
        table="campaigns",
        row_type=CampaignRow,
        lease=timedelta(seconds=30),
        do=for_each_row(run, max_concurrent=4),
        claim_size=4,
        max_claims=4,
    )
]
