"""The HTML of a message as a page for a sandboxed frame.

The sender of the message wrote the HTML, so it is not trusted. The Content-Security-Policy gives it an opaque origin:
it has no cookies and no storage, runs no scripts, submits no forms, and cannot navigate the page around it. The
Referrer-Policy keeps the URL of the page from the servers of images and links. Links open in a new tab.
"""

import re

from postern.kernel.http.responses import HttpResponse

POLICY = (
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src {images}; "
    "style-src 'unsafe-inline'; font-src data:; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
)
EMBEDDED_IMAGES, ALL_IMAGES = "data:", "data: https: http:"
"""The sources of images. Loading an image from a server tells that server that the message is being read."""
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "SAMEORIGIN",
    "Cross-Origin-Resource-Policy": "same-origin",
    # The Content-Security-Policy does not cover `<link rel="dns-prefetch">`, which tells the sender's name server that
    # the message is being read.
    "X-DNS-Prefetch-Control": "off",
}
HEAD = re.compile(r"<head(?:\s[^>]{0,1000})?>", re.IGNORECASE)
DOCTYPE = re.compile(r"\s*<!doctype[^>]{0,1000}>", re.IGNORECASE)


def framed_html(html: str, *, images: bool, status: int = 200) -> HttpResponse:
    """The page for a frame of this server's pages. `images`: whether images of other servers are loaded."""
    policy = POLICY.format(images=ALL_IMAGES if images else EMBEDDED_IMAGES)
    headers = {**HEADERS, "Content-Security-Policy": policy}
    return HttpResponse(_with_link_target(html), media_type="text/html", status=status, headers=headers)


def _with_link_target(html: str) -> str:
    """Make links open in a new tab: in the frame, `frame-src` of the page around it blocks pages of other servers."""
    match = HEAD.search(html) or DOCTYPE.match(html)
    position = match.end() if match else 0
    return f'{html[:position]}<base target="_blank">{html[position:]}'
