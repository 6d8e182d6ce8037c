"""Links that know who clicked: found once per template, signed for every recipient.

Links are found as the HTML standard reads a document (`mail/html_tokens.py`), in one pass over it.

URL shapes: `{base}/t/o/{sendId}` (open), `{base}/t/c/{sendId}?u=…&s=…` (click), `{base}/t/u/{sendId}?s=…`
(unsubscribe). A signature covers purpose, send and target, so a link cannot be bent to lead elsewhere.
"""

import re
import secrets
from binascii import b2a_base64
from collections.abc import Sequence
from functools import lru_cache
from hmac import HMAC, compare_digest
from html import escape
from typing import Final, NamedTuple
from urllib.parse import quote

import msgspec

from postern.kernel.http.problems import BadRequest, Unprocessable
from postern.protocols.mail.templates.html_tokens import (
    Attribute,
    HtmlToken,
    HtmlTokenKind,
    attribute_value,
    attributes,
    decode_attribute,
    tokens,
)
from postern.protocols.mail.templates.template import tags_of

LINKS_LIMIT: Final = 1_000
"""Links of one message that are rewritten; a message with more is refused."""
TARGET_LIMIT: Final = 4_096
"""Characters of a link that is tracked; a longer one leads where it leads without being counted."""
ENCODED_TARGET_LIMIT: Final = 7_000
"""Octets of the same, percent-encoded: with the rest of the request line it stays below the 8 KiB that proxies take."""
SIGNATURE_OCTETS: Final = 16
"""128 bits of HMAC-SHA256, 22 characters."""
CLICK: Final = "c"
UNSUBSCRIBE: Final = "u"


class TooManyLinks(BadRequest):
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


class TrackedLink(NamedTuple):
    """A link that is known before anything is rendered."""

    url: str
    encoded: str
    """Percent-encoded."""
    written: str
    """The attribute's value as it stands in the template, with its quotes."""


class TrackedTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """A template whose links and place for the pixel are marked, ready to be compiled and rendered."""

    source: str
    """The template, with a marker that cannot be guessed before and after every link."""
    marker: str
    targets: tuple[TrackedLink, ...]
    """The links known beforehand."""
    has_unsubscribe: bool = False
    """Whether a link is to lead to the page that unsubscribes the recipient."""

    def rewrite(
        self,
        rendered: str,
        *,
        base: str,
        send_id: str,
        key: bytes,
        clicks: bool,
        opens: bool,
        unsubscribe: str | None = None,
    ) -> str:
        """The rendered template with its links signed for one send. `base` has no slash at its end.

        `unsubscribe` is where links with `data-postern-unsubscribe` lead; without it they stay as written.
        """
        pieces = rendered.split(self.marker)
        if len(pieces) // 2 > LINKS_LIMIT + 1:
            raise TooManyLinksRendered
        own = f"{base}/t/"
        for at in range(1, len(pieces), 2):
            kind, rest = pieces[at][:1], pieces[at][1:]
            if kind == "P":
                pieces[at] = _pixel(open_url(base, send_id)) if opens else ""
            elif kind == "L":
                url, encoded, written = self.targets[int(rest)]
                tracked = clicks and not url.startswith(own)
                pieces[at] = f'"{_click(base, send_id, key, url, encoded)}"' if tracked else written
            elif kind == "U":
                pieces[at] = rest if unsubscribe is None else f'"{escape(unsubscribe)}"'
            elif clicks:
                pieces[at] = _rendered_href(rest, base, send_id, key)
            else:
                pieces[at] = rest
        return "".join(pieces)


_MASK = re.compile("\ue000(\\d+)\ue001")
_BLANK: Final = "".join(map(chr, range(0x21)))
"""What a URL parser removes from both ends of a link (WHATWG URL §4.4)."""
_LINE_ENDS = re.compile("[\t\n\r]")
"""What it removes from within."""


def compile_links(source: str, *, template: bool = True) -> TrackedTemplate:
    """Find the links of a template, or of finished html when `template` is False.

    `http` and `https` links are marked; mail addresses, phone numbers, fragments and links with
    `data-track="false"` or `data-postern-no-track` stay as they are, and so do links longer than TARGET_LIMIT.
    Links with `data-postern-unsubscribe` lead to the page that unsubscribes the recipient, whatever their `href` says.
    A link with holes in it is decided on once it is rendered. Raises TooManyLinks.
    """
    marker = f"\ue002{secrets.token_hex(8)}\ue003"
    masked, holes = mask(source) if template else (source.replace("\ue000", ""), [])
    targets: list[TrackedLink] = []
    pieces: list[str] = []
    found = done = 0
    has_unsubscribe = False
    pixel = len(masked), -1
    """Where the pixel stands: before which character, and before which piece."""
    for token in tokens(masked):
        if token.kind is HtmlTokenKind.END and token.name == "body":
            pieces.append(masked[done : token.start])
            done = token.start
            pixel = token.start, len(pieces)
        elif token.kind is HtmlTokenKind.START and token.name.partition("\ue000")[0] == "a":
            hrefs, leaves = _tracked_hrefs(masked, token, holes)
            for href in hrefs:
                mark = f"U{_written(href, masked)}" if leaves else _mark(href, masked, targets)
                if not mark:
                    continue
                has_unsubscribe = has_unsubscribe or leaves
                found += 1
                quoted = len(href.quote)
                pieces += (masked[done : href.start - quoted], f"{marker}{mark}{marker}")
                done = href.end + quoted
    if found > LINKS_LIMIT:
        raise TooManyLinks
    pieces.append(masked[done:])
    pieces.insert(pixel[1] if pixel[1] >= 0 else len(pieces), f"{marker}P{marker}")
    return TrackedTemplate(
        source=unmask("".join(pieces), holes), marker=marker, targets=tuple(targets), has_unsubscribe=has_unsubscribe
    )


def _tracked_hrefs(source: str, tag: HtmlToken, holes: Sequence[str]) -> tuple[list[Attribute], bool]:
    """The `href` of a link that may be rewritten; several where a condition within the tag chooses among them.

    Also returned is whether the link is to unsubscribe the recipient.
    """
    found: list[Attribute] = []
    conditional = leaves = untracked = False
    for attribute in attributes(source, tag):
        name = attribute.name
        if "\ue000" in name:
            conditional = True
            name = _without_statements(name, holes)
        if name == "href":
            found.append(attribute if attribute.quote else _without_the_end_of_a_condition(source, attribute, holes))
        elif name == "data-postern-no-track" or (
            name == "data-track" and attribute.value.strip().lower() in {"false", "off", "no"}
        ):
            untracked = True
        elif name == "data-postern-unsubscribe":
            leaves = True
    if untracked and not leaves:
        return [], False
    return found if conditional else found[:1], leaves


def _without_statements(name: str, holes: Sequence[str]) -> str:
    """The name of an attribute without the statements that touch it: `{% if x %}href` is `href`."""
    return _MASK.sub(lambda token: token[0] if holes[int(token[1])].startswith("{{") else "", name)


def _without_the_end_of_a_condition(source: str, href: Attribute, holes: Sequence[str]) -> Attribute:
    """An unquoted value up to where a condition goes on that began before it: `href=https://a.test/{% endif %}`."""
    depth = 0
    for token in _MASK.finditer(source, href.start, href.end):
        word = _STATEMENT.match(holes[int(token[1])])
        if word is None:
            continue
        depth += {"if": 1, "for": 1, "endif": -1, "endfor": -1}.get(word[1], 0)
        if depth < 0 or (not depth and word[1] in {"else", "elif"}):
            value = attribute_value(source[href.start : token.start()])
            return href._replace(value=value, end=token.start())
    return href


_STATEMENT = re.compile(r"\{%[-+]?\s*(\w+)")


def _mark(href: Attribute, source: str, targets: list[TrackedLink]) -> str:
    """What stands between the markers in place of an attribute's value; nothing where it is no link to track."""
    url = url_of(href.value)
    if not _MASK.match(url) and not _is_web(url):
        return ""
    written = _written(href, source)
    if "\ue000" in url:
        return f"H{written}"
    encoded = quote(url, safe="", errors="replace")
    if not _is_short(url, encoded):
        return ""
    targets.append(TrackedLink(url, encoded, written))
    return f"L{len(targets) - 1}"


def _written(href: Attribute, source: str) -> str:
    """The value of an attribute as it stands in the source, in quotes."""
    written = source[href.start : href.end]
    if not href.quote:  # What is rendered into it may hold blanks.
        written = written.replace('"', "&quot;")
    mark = href.quote or '"'
    return f"{mark}{written}{mark}"


def url_of(value: str) -> str:
    """The link that an attribute's value stands for: without blanks around it and line ends within."""
    return _LINE_ENDS.sub("", value.strip(_BLANK))


def _is_web(url: str) -> bool:
    return url[:8].lower().startswith(("http://", "https://"))


def _is_short(url: str, encoded: str) -> bool:
    return len(url) <= TARGET_LIMIT and len(encoded) <= ENCODED_TARGET_LIMIT


def split_after_body_tag(source: str, *, template: bool = True) -> tuple[str, str]:
    """A template up to the end of its `<body>` tag, and the rest; all is the rest where there is no such tag.

    Finished html, which has no holes, is given with `template=False`.
    """
    masked, holes = mask(source) if template else (source, [])
    for token in tokens(masked):
        if token.kind is HtmlTokenKind.START and token.name.partition("\ue000")[0] == "body":
            return unmask(masked[: token.end], holes), unmask(masked[token.end :], holes)
    return "", source


def mask(source: str) -> tuple[str, list[str]]:
    """The text with every template hole replaced by a short token, and the holes."""
    source = source.replace("\ue000", "")
    holes: list[str] = []
    pieces: list[str] = []
    end = 0
    for hole in tags_of(source):
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


def _rendered_href(written: str, base: str, send_id: str, key: bytes) -> str:
    """The value of an attribute that was rendered, with its quotes: tracked if it is a link to the web."""
    # Line ends in a value are the value's own, and lead on percent-encoded.
    url = decode_attribute(written[1:-1]).strip(_BLANK)
    if not _is_web(url) or url.startswith(f"{base}/t/"):
        return written
    encoded = quote(url, safe="", errors="replace")
    return f'"{_click(base, send_id, key, url, encoded)}"' if _is_short(url, encoded) else written


def _pixel(url: str) -> str:
    return f'<img src="{escape(url)}" width="1" height="1" alt="" style="width:1px;height:1px;border:0">'
