"""The tokens of a dashboard session, and the problems of requests from the dashboard."""

from datetime import datetime, timedelta

import msgspec

from postern.kernel.http.problems import Forbidden, Unauthenticated

API_PATH = "/dashboard/api"
"""Below this path, the dashboard calls the API with the cookie of its session."""
COOKIE = "postern-dashboard"
"""The name of the cookie, which with TLS has the prefix `__Host-`."""
COOKIE_LIMIT = 4_096
"""Longest value of the cookie that is decrypted, in characters."""
OWN_PAGE_HEADER = b"x-postern-dashboard"
"""A header with the value `1` that only scripts of this server's pages can send: for a page of another origin, browsers
first ask this server (CORS preflight, Fetch §4.8), which does not allow it."""
REFRESH_BEFORE = timedelta(minutes=1)
"""How long before the expiry of the access token the session is refreshed."""


class CrossSiteRequest(Forbidden):
    """Only pages of this server may use the session of the dashboard. A request needs `Sec-Fetch-Site: same-origin` or
    the `Origin` of this server, and `X-Postern-Dashboard: 1` unless it is a GET."""


class DashboardSessionEnded(Unauthenticated, code="session_ended"):
    """Your session has ended. Sign in again."""


class SessionTokens(msgspec.Struct, frozen=True, array_like=True):
    """The tokens of a session. The cookie contains them in encrypted form."""

    access_token: str
    access_token_expires_at: datetime
    refresh_token: str
    refresh_token_expires_at: datetime
