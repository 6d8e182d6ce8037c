"""The API's document, made once for all tests of the SDKs in a process."""

import json
from functools import cache
from typing import Any

from postern.app import OPERATIONS
from postern.examples import EXAMPLES
from postern.kernel.http.openapi import document
from postern.kernel.values import to_json
from postern.platform.events.payloads import PAYLOADS
from postern.reference import REFERENCE


@cache
def api_document() -> dict[str, Any]:
    """The OpenAPI document as JSON."""
    return json.loads(to_json(document(OPERATIONS, EXAMPLES, REFERENCE, PAYLOADS)))
