"""The events that webhooks deliver. `type` tells them apart.

Generated from the API by script/client: do not edit.
"""

from typing import TypeAlias

from postern_sdk._record import UnknownEvent, WebhookEvent

Event: TypeAlias = UnknownEvent
"""Any event; a type that this version of the package does not know is an `UnknownEvent`."""

BY_TYPE: dict[str, type[WebhookEvent]] = {}
"""The class of each event."""
