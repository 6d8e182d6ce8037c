"""Evaluation of a filter on many resources in Python, for filters that the database cannot evaluate."""

import asyncio
from datetime import timedelta

from postern.identity.scim.authentication import Directory
from postern.kernel.limits import RateLimit
from postern.protocols.scim.filters import Filter, comparison_paths, matches, work_on
from postern.protocols.scim.problems import ScimRequestInvalid
from postern.protocols.scim.schemas import Document

SCAN_RATE = RateLimit("scim-scans", 5, timedelta(seconds=10))
"""Limit of the requests of one connection to one process whose filter is evaluated in Python."""
SCAN_WORK = 200_000
"""Comparisons with values of resources that one request may need."""
CHUNK = 50
"""Resources that are compared before other requests have their turn."""


class FilterScan:
    """The evaluation of one filter for one request. Its work is limited by SCAN_WORK and SCAN_RATE."""

    def __init__(self, directory: Directory, filter: Filter) -> None:
        """Raises TooManyRequests."""
        directory.call.world.limiter.take(SCAN_RATE, str(directory.connection.id))
        self._filter, self._paths = filter, comparison_paths(filter)
        self._count = self._work = 0

    async def matches(self, document: Document) -> bool:
        """Whether the next resource matches the filter. Raises ScimRequestInvalid (`tooMany`)."""
        self._count += 1
        if self._count % CHUNK == 0:
            await asyncio.sleep(0)
        self._work += work_on(self._paths, document)
        if self._work > SCAN_WORK:
            raise ScimRequestInvalid(
                "tooMany",
                f"This filter needs more than {SCAN_WORK:,} comparisons. Filter by userName, externalId, emails.value, "
                "displayName, active or meta.lastModified, too.",
            )
        return matches(self._filter, document)
