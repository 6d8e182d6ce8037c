"""Links that know who clicked: found once per template, signed for every recipient.

URL shapes: `{base}/t/o/{sendId}` (open), `{base}/t/c/{sendId}?u=…&s=…` (click), `{base}/t/u/{sendId}?s=…`
(unsubscribe). A signature covers purpose, send and target, so a link cannot be bent to lead elsewhere.
"""

import html
import re
import secrets
from binascii import b2a_base64
from collections.abc import Sequence
from functools import lru_cache
from hmac import HMAC, compare_digest
from typing import Final
from urllib.parse import quote

import msgspec

from postern.kernel.problems import Refused, Unprocessable
from postern.mail.template import holes_of

LINKS_LIMIT: Final = 1_000
"""Links of one message that are rewritten; a message with more is refused."""
SIGNATURE_OCTETS: Final = 16
"""128 bits of HMAC-SHA256, 22 characters."""
CLICK: Final = "c"
UNSUBSCRIBE: Final = "u"


class TooManyLinks(Refused):
    """A message has at most 1,000 links."""


class TooManyLinksRendered(Unprocessable):
    """With these values the message has more than 1,000 links."""


def sign_link(key: bytes, purpose: str, send_id: str, url: str = "") -> str:
    """The signature of a link: 22 characters of base64url over purpose, send and target."""
    mac = _keyed(key).copy()
    mac.update(f"{purpose}|{send_id}|{url}".encode("utf-8", "surrogatepass"))
    return b2a_base64(mac.digest()[:SIGNATURE_OCTETS], newline=False).translate(_URLSAFE, b"=").decode()


_URLSAFE: Final = bytes.maketrans(b"+/", b"-_")
"""RFC 4648 §5."""


@lru_cache(maxsize=64)
def _keyed(key: bytes) -> HMAC:
    """HMAC-SHA256 with its key set, to be copied: a message has many links, and keying is half of each."""
    return HMAC(key, digestmod="sha256")


def verify_link(keys: Sequence[bytes], purpose: str, send_id: str, signature: str, url: str = "") -> bool:
    """Whether one of the keys (the current one, then older ones) made the signature; in constant time."""
    given = signature.encode("utf-8", "replace")
    # Every key is tried, so the time tells nobody which one fits.
    matches = [compare_digest(sign_link(key, purpose, send_id, url).encode(), given) for key in keys]
    return any(matches)


def open_url(base: str, send_id: str) -> str:
    """Where the pixel of a send lives."""
    return f"{base}/t/o/{send_id}"


def click_url(base: str, send_id: str, key: bytes, url: str) -> str:
    """The link that counts a click and leads on to `url`."""
    return f"{base}/t/c/{send_id}?u={quote(url, safe='')}&s={sign_link(key, CLICK, send_id, url)}"


def unsubscribe_url(base: str, send_id: str, key: bytes) -> str:
    """The link that unsubscribes the recipient of a send (RFC 8058)."""
    return f"{base}/t/u/{send_id}?s={sign_link(key, UNSUBSCRIBE, send_id)}"


class Tracked(msgspec.Struct, frozen=True, kw_only=True):
    """A template whose links and place for the pixel are marked, ready to be compiled and rendered."""

    source: str
    """The template, with a marker that cannot be guessed before and after every link."""
    marker: str
    targets: tuple[tuple[str, str], ...]
    """The targets known beforehand, and the same percent-encoded."""

    def rewrite(self, rendered: str, *, base: str, send_id: str, key: bytes, clicks: bool, opens: bool) -> str:
        """The rendered template with its links signed for one send. `base` has no slash at its end."""
        pieces = rendered.split(self.marker)
        if len(pieces) // 2 > LINKS_LIMIT + 1:
            raise TooManyLinksRendered
        for at in range(1, len(pieces), 2):
            kind, rest = pieces[at][:1], pieces[at][1:]
            if kind == "P":
                pieces[at] = _pixel(open_url(base, send_id)) if opens else ""
            elif kind == "L":
                url, encoded = self.targets[int(rest)]
                pieces[at] = _click(base, send_id, key, url, encoded) if clicks else html.escape(url)
            elif clicks:
                pieces[at] = _rendered_href(rest, base, send_id, key)
            else:
                pieces[at] = rest
        return "".join(pieces)


_ANCHOR = re.compile(
    r"""(?P<before><a\b[^<>]*?\shref\s*=\s*)(?:"(?P<double>[^"<>]*)"|'(?P<single>[^'<>]*)'|(?P<bare>[^\s"'<>=`]+))"""
    r"""(?P<after>[^<>]*>)""",
    re.IGNORECASE,
)
_UNTRACKED = re.compile(r"""\sdata-track\s*=\s*["']?(?:false|off|no)\b""", re.IGNORECASE)
_BODY_END = re.compile(r"</body\s*>", re.IGNORECASE)
_MASK = re.compile("\ue000(\\d+)\ue001")


def compile_links(source: str, *, template: bool = True) -> Tracked:
    """Find the links of a template, or of finished html when `template` is False.

    `http` and `https` links are marked; mail addresses, phone numbers, fragments and links with
    `data-track="false"` stay as they are. A link with holes in it is decided on once it is rendered.
    Raises TooManyLinks.
    """
    marker = f"\ue002{secrets.token_hex(8)}\ue003"
    masked, holes = mask(source) if template else (source.replace("\ue000", ""), [])
    targets: list[tuple[str, str]] = []
    found = 0

    def mark(anchor: re.Match[str]) -> str:
        nonlocal found
        if _UNTRACKED.search(anchor["before"]) or _UNTRACKED.search(anchor["after"]):
            return anchor[0]
        href = anchor["double"] or anchor["single"] or anchor["bare"] or ""
        url = html.unescape(href).strip()
        held = _MASK.match(url)
        if not held and not url.lower().startswith(("http://", "https://")):
            return anchor[0]
        found += 1
        if "\ue000" in url:
            inside = f"H{href}"
        else:
            inside = f"L{len(targets)}"
            targets.append((url, quote(url, safe="", errors="replace")))
        mark = "'" if anchor["single"] is not None else '"'
        return f"{anchor['before']}{mark}{marker}{inside}{marker}{mark}{anchor['after']}"

    marked = _ANCHOR.sub(mark, masked)
    if found > LINKS_LIMIT:
        raise TooManyLinks
    ends = list(_BODY_END.finditer(marked))
    at = ends[-1].start() if ends else len(marked)
    marked = f"{marked[:at]}{marker}P{marker}{marked[at:]}"
    return Tracked(source=unmask(marked, holes), marker=marker, targets=tuple(targets))


def mask(source: str) -> tuple[str, list[str]]:
    """The text with every template hole replaced by a short token, and the holes."""
    source = source.replace("\ue000", "")
    holes: list[str] = []
    pieces: list[str] = []
    end = 0
    for hole in holes_of(source):
        pieces += (source[end : hole.start()], f"\ue000{len(holes)}\ue001")
        holes.append(hole[0])
        end = hole.end()
    return "".join(pieces) + source[end:], holes


def unmask(masked: str, holes: Sequence[str]) -> str:
    """The holes back where `mask` found them."""
    return _MASK.sub(lambda token: holes[int(token[1])] if int(token[1]) < len(holes) else "", masked)


def _click(base: str, send_id: str, key: bytes, url: str, encoded: str) -> str:
    """A finished href: nothing in it needs escaping but the ampersand."""
    return f"{base}/t/c/{send_id}?u={encoded}&amp;s={sign_link(key, CLICK, send_id, url)}"


def _rendered_href(href: str, base: str, send_id: str, key: bytes) -> str:
    url = html.unescape(href).strip()
    if not url.lower().startswith(("http://", "https://")) or url.startswith(f"{base}/t/"):
        return href
    return _click(base, send_id, key, url, quote(url, safe="", errors="replace"))


def _pixel(url: str) -> str:
    return f'<img src="{html.escape(url)}" width="1" height="1" alt="" style="width:1px;height:1px;border:0">'
