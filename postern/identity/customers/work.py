"""What becomes due with customers: letters to write, and what has passed and may be forgotten."""

from datetime import timedelta
from typing import Any

from postern.identity.customers.challenge_store import QueuedMail
from postern.identity.customers.mailer import send_queued_mail
from postern.kernel.due import Work, one_by_one

MAIL_LEASE = timedelta(minutes=1)


WORK: list[Work[Any]] = [
    Work("customers.mails", "customer_mails", QueuedMail, MAIL_LEASE, one_by_one(send_queued_mail)),
]
