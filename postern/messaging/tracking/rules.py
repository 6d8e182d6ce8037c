"""Who is behind a hit: a person, a machine, or a person behind an image proxy. Pure decisions.

Signs, in the order they count: the user agent of a robot or prefetcher, a hit within seconds of delivery (mail
gateways follow links before anybody can read), several different links in one moment. Image proxies of mail
providers fetch when a person opens, so they count as people; Apple's prefetches everything and does not.
"""

import re
from collections.abc import Sequence
from datetime import timedelta

from postern.kernel.clock import Moment
from postern.messaging.tracking.model import HitJudgement, HitRequest, RecentClick

TOO_SOON = timedelta(seconds=5)
"""Nobody reads and clicks faster than this after delivery."""
AT_ONCE, AT_ONCE_WITHIN = 3, timedelta(seconds=1)
"""So many different links of one message in so short a time are a scanner's."""

_PROXIES = re.compile(r"GoogleImageProxy|YahooMailProxy|YahooCacheSystem|ggpht\.com|DuckDuckGo-Email", re.IGNORECASE)
_ROBOTS = re.compile(
    r"bot\b|bot/|crawl|spider|slurp|scan|preview|prefetch|fetch/|monitor|headless|phantom|python-requests|"
    r"python-urllib|aiohttp|curl/|wget/|libwww|go-http-client|java/|okhttp|axios|node-fetch|httpclient|"
    r"barracuda|mimecast|proofpoint|symantec|messagelabs|trendmicro|fireeye|zscaler|cloudmark|ironport|"
    r"safelinks|microsoft office existence discovery|bingpreview|facebookexternalhit|slackbot|whatsapp|telegram",
    re.IGNORECASE,
)


def judge(hit: HitRequest, delivered_at: Moment | None, recent: Sequence[RecentClick | HitRequest]) -> HitJudgement:
    """Who is behind `hit`. `recent` are the clicks on links of the same send within the last moments."""
    agent = hit.user_agent.strip()
    if not agent:
        return HitJudgement(verdict="machine", reason="no_user_agent")
    if hit.kind == "OPEN" and agent == "Mozilla/5.0":
        return HitJudgement(verdict="machine", reason="apple_mail_privacy_protection")
    if _PROXIES.search(agent):
        return HitJudgement(verdict="proxy", reason="image_proxy")
    if _ROBOTS.search(agent):
        return HitJudgement(verdict="machine", reason="user_agent")
    if delivered_at is not None and hit.occurred_at - delivered_at < TOO_SOON:
        return HitJudgement(verdict="machine", reason="too_soon")
    if hit.kind == "CLICK" and _is_burst(hit, recent):
        return HitJudgement(verdict="machine", reason="all_links_at_once")
    return HitJudgement(verdict="human", reason=None)


def _is_burst(hit: HitRequest, recent: Sequence[RecentClick | HitRequest]) -> bool:
    close = {each.url for each in recent if abs(hit.occurred_at - each.occurred_at) <= AT_ONCE_WITHIN}
    return len(close | {hit.url}) >= AT_ONCE
