"""A project with a verified domain that sends marketing mail through a server on this machine."""

from tests.messaging.emails.conftest import settings
from tests.messaging.emails.test_relay import sender, sink

__all__ = ["sender", "settings", "sink"]
