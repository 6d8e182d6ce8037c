"""Bot detection: whether a person, a machine, or an image proxy for a person caused a hit. Pure functions without I/O.

The criteria, in this order: no user agent; the user agent of Apple Mail Privacy Protection, of an image proxy, or of a
machine; a hit within seconds of delivery, because mail gateways follow links before a person can read; clicks on
several different links of one message at once. The image proxies of mail providers fetch when a person opens the
message, so they count as opens. Apple Mail Privacy Protection prefetches every image, so it does not count.
"""

import re
from collections.abc import Sequence
from datetime import timedelta

from postern.kernel.values import Moment
from postern.messaging.tracking.model import HitClassification, HitRequest, RecentClick

MIN_READING_TIME = timedelta(seconds=5)
"""A hit sooner than this after delivery is by a machine."""
BURST_LINKS, BURST_WINDOW = 3, timedelta(seconds=1)
"""A click is by a machine if at least this many different links of its message were clicked at most this long before or
after it."""
APPLE_PREFETCH_AGENT = "Mozilla/5.0"
"""The whole user agent of Apple Mail Privacy Protection, which fetches images only."""

_PROXIES = re.compile(r"GoogleImageProxy|YahooMailProxy|YahooCacheSystem|ggpht\.com|DuckDuckGo-Email", re.IGNORECASE)
_MACHINES = re.compile(
    r"bot\b|bot/|crawl|spider|slurp|scan|preview|prefetch|fetch/|monitor|headless|phantom|python-requests|"
    r"python-urllib|aiohttp|curl/|wget/|libwww|go-http-client|java/|okhttp|axios|node-fetch|httpclient|"
    r"barracuda|mimecast|proofpoint|symantec|messagelabs|trendmicro|fireeye|zscaler|cloudmark|ironport|"
    r"safelinks|microsoft office existence discovery|bingpreview|facebookexternalhit|slackbot|whatsapp|telegram",
    re.IGNORECASE,
)


def classify(
    hit: HitRequest, delivered_at: Moment | None, nearby: Sequence[RecentClick | HitRequest]
) -> HitClassification:
    """Classify a hit by the criteria that the module's docstring lists.

    `delivered_at` is when the message was delivered; None if that is not known. `nearby` are clicks on links of the
    same message, stored ones and those of the same batch; only those within BURST_WINDOW of the hit count.
    """
    agent = hit.user_agent.strip()
    if not agent:
        return HitClassification(verdict="machine", reason="no_user_agent")
    if hit.kind == "OPEN" and agent == APPLE_PREFETCH_AGENT:
        return HitClassification(verdict="machine", reason="apple_mail_privacy_protection")
    if _PROXIES.search(agent):
        return HitClassification(verdict="proxy", reason="image_proxy")
    if _MACHINES.search(agent):
        return HitClassification(verdict="machine", reason="user_agent")
    if delivered_at is not None and hit.occurred_at - delivered_at < MIN_READING_TIME:
        return HitClassification(verdict="machine", reason="too_soon")
    if hit.kind == "CLICK" and _is_burst(hit, nearby):
        return HitClassification(verdict="machine", reason="all_links_at_once")
    return HitClassification(verdict="human", reason=None)


def _is_burst(hit: HitRequest, nearby: Sequence[RecentClick | HitRequest]) -> bool:
    urls = {click.url for click in nearby if abs(hit.occurred_at - click.occurred_at) <= BURST_WINDOW}
    return len(urls | {hit.url}) >= BURST_LINKS
