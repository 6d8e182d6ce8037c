"""Link tracking: links are found once per template and signed for every recipient.

The HTML tokenizer (`html_tokens.py`) finds the links in one pass.

URLs: `{base}/t/o/{sendId}` (open), `{base}/t/c/{sendId}?u=…&s=…` (click), `{base}/t/u/{sendId}?s=…` (unsubscribe). The
signature covers purpose, send and target, so links cannot be changed into open redirects.
"""

import re
import secrets
from binascii import b2a_base64
from collections.abc import Sequence
from functools import lru_cache
from hmac import compare_digest
from html import escape
from typing import Final, NamedTuple
from urllib.parse import quote

import msgspec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC

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
"""Maximum number of rewritten links in one message. Messages with more are rejected."""
TARGET_LIMIT: Final = 4_096
"""Characters of a tracked link's URL; longer links are not tracked."""
ENCODED_TARGET_LIMIT: Final = 7_000
"""Octets of the percent-encoded URL, so that the request line stays below the 8 KiB limit of common proxies."""
SIGNATURE_OCTETS: Final = 16
"""The length of a signature: 128 bits of HMAC-SHA256, which are 22 characters of base64url."""
SIGNATURE_LENGTH: Final = 22
"""Characters of a signature."""
CLICK: Final = "c"
UNSUBSCRIBE: Final = "u"
"""The purposes of a signature."""


class TooManyLinks(BadRequest):
    """The message has more than 1,000 links."""


class TooManyLinksRendered(Unprocessable):
    """The message has more than 1,000 links with these values."""


def sign_link(key: bytes, purpose: str, send_id: str, url: str = "") -> str:
    """The signature of a link: 22 characters of base64url over purpose, send and target."""
    return sign_links(key, purpose, send_id, (signed_url(url),))[0].decode()


def sign_links(key: bytes, purpose: str, send_id: str, urls: Sequence[bytes]) -> list[bytes]:
    """The signatures of several links of one send. `urls` are the targets as `signed_url` encodes them."""
    # Copying the state after what the links have in common takes half as long as a new one for each link.
    shared = _keyed_hmac(key).copy()
    shared.update(f"{purpose}|{send_id}|".encode("utf-8", "surrogatepass"))
    digests: list[bytes] = []
    for url in urls:
        mac = shared.copy()
        mac.update(url)
        digests.append(mac.finalize()[:SIGNATURE_OCTETS])
    # 16 octets and 2 of padding give 24 characters, of which the first 22 are the signature.
    encoded = b2a_base64(b"\0\0".join(digests), newline=False).translate(_URLSAFE)
    return [encoded[start : start + SIGNATURE_LENGTH] for start in range(0, 24 * len(digests), 24)]


def signed_url(url: str) -> bytes:
    """A link's target as its signature covers it."""
    return url.encode("utf-8", "surrogatepass")


_URLSAFE: Final = bytes.maketrans(b"+/", b"-_")
"""The translation of base64 to base64url (RFC 4648 §5)."""


@lru_cache(maxsize=64)
def _keyed_hmac(key: bytes) -> HMAC:
    """HMAC-SHA256 with its key set, to be copied: keying takes as long as two signatures. This implementation is copied
    in half the time of that in the standard library."""
    return HMAC(key, SHA256())


def verify_link(keys: Sequence[bytes], purpose: str, send_id: str, signature: str, url: str = "") -> bool:
    """Whether the signature was made with any of `keys` (current and older keys). Compares in constant time."""
    received = signature.encode("utf-8", "replace")
    # Always compare with every key, so that the time does not reveal which key matched.
    matches = [compare_digest(sign_link(key, purpose, send_id, url).encode(), received) for key in keys]
    return any(matches)


def open_url(base: str, send_id: str) -> str:
    """The URL of a send's tracking pixel."""
    return f"{base}/t/o/{send_id}"


@lru_cache(maxsize=16)
def unsubscribe_url(base: str, send_id: str, key: bytes) -> str:
    """The URL that unsubscribes the recipient of a send (RFC 8058), cached because a message has it several times."""
    return signed_unsubscribe_url(base, send_id, sign_link(key, UNSUBSCRIBE, send_id))


def signed_unsubscribe_url(base: str, send_id: str, signature: str) -> str:
    """The URL of `unsubscribe_url` with this signature."""
    return f"{base}/t/u/{send_id}?s={signature}"


def click_href(base: str, send_id: str, encoded: str, signature: str) -> str:
    """The value of a click link's href. `encoded` is the percent-encoded URL, so only the ampersand needs escaping."""
    return f"{base}/t/c/{send_id}?u={encoded}&amp;s={signature}"


def leads_to_tracking(url: str, base: str) -> bool:
    """Whether a URL is one of this module's, which stays as it is."""
    return url.startswith(f"{base}/t/")


class TrackedLink(NamedTuple):
    """A link whose URL is known before rendering."""

    url: str
    encoded: str
    """The percent-encoded URL."""
    written: str
    """The attribute's value as written in the template, with quotes."""


class TrackedTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """A template with marked links and pixel position, ready to be compiled and rendered."""

    source: str
    """The template with a random marker before and after every link."""
    marker: str
    targets: tuple[TrackedLink, ...]
    """The links whose URLs are known before rendering."""
    has_unsubscribe: bool = False
    """Whether a link has `data-postern-unsubscribe`."""

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
        """Replace the marked links of `rendered` by links signed for one send, and insert the tracking pixel.

        `base` has no trailing slash. Without `clicks` links stay as written; without `opens` there is no pixel.
        `unsubscribe` is the URL for links with `data-postern-unsubscribe`; if None, they stay as written.
        Raises TooManyLinksRendered.
        """
        # Every second piece is a link or the pixel. Its first letter is the kind: `P` for the pixel, `L` for a link of
        # `targets` (followed by its index), `U` for an unsubscribe link, and `H` for a link whose URL was rendered.
        pieces = rendered.split(self.marker)
        if len(pieces) // 2 > LINKS_LIMIT + 1:
            raise TooManyLinksRendered
        for position in range(1, len(pieces), 2):
            kind, content = pieces[position][:1], pieces[position][1:]
            if kind == "P":
                pieces[position] = pixel(open_url(base, send_id)) if opens else ""
            elif kind == "L":
                url, encoded, written = self.targets[int(content)]
                is_tracked = clicks and not leads_to_tracking(url, base)
                pieces[position] = f'"{_click(base, send_id, key, url, encoded)}"' if is_tracked else written
            elif kind == "U":
                pieces[position] = content if unsubscribe is None else f'"{escape(unsubscribe)}"'
            elif clicks:
                pieces[position] = _rendered_href(content, base, send_id, key)
            else:
                pieces[position] = content
        return "".join(pieces)


_MASK = re.compile("\ue000(\\d+)\ue001")
_BLANK: Final = "".join(map(chr, range(0x21)))
"""Characters that a URL parser removes from both ends of a URL (WHATWG URL §4.4)."""
_LINE_ENDS = re.compile("[\t\n\r]")
"""Characters that a URL parser removes anywhere in a URL."""


def compile_links(source: str, *, template: bool = True) -> TrackedTemplate:
    """Mark the links of a template, or of HTML without template tags if `template` is False.

    `http` and `https` links are marked; mail addresses, phone numbers, fragments, links with `data-track="false"` or
    `data-postern-no-track`, and links longer than TARGET_LIMIT stay unchanged. Links with `data-postern-unsubscribe`
    lead to the unsubscribe page whatever their `href` is. A link with template tags in it is checked after rendering.
    The pixel is placed before `</body>`, or at the end. Raises TooManyLinks.
    """
    marker = f"\ue002{secrets.token_hex(8)}\ue003"
    masked, template_tags = mask(source) if template else (source.replace("\ue000", ""), [])
    targets: list[TrackedLink] = []
    pieces: list[str] = []
    count = copied_to = 0
    has_unsubscribe = False
    pixel_at = len(masked), -1
    """The position of the pixel: the offset in the masked source, and the index in `pieces` (-1 for the end)."""
    for token in tokens(masked):
        if token.kind is HtmlTokenKind.END and token.name == "body":
            pieces.append(masked[copied_to : token.start])
            copied_to = token.start
            pixel_at = token.start, len(pieces)
        elif token.kind is HtmlTokenKind.START and token.name.partition("\ue000")[0] == "a":
            hrefs, is_unsubscribe = _tracked_hrefs(masked, token, template_tags)
            for href in hrefs:
                content = (
                    f"U{_quoted_source(href, masked)}" if is_unsubscribe else _marked_content(href, masked, targets)
                )
                if not content:
                    continue
                has_unsubscribe = has_unsubscribe or is_unsubscribe
                count += 1
                quote_length = len(href.quote)
                pieces += (masked[copied_to : href.start - quote_length], f"{marker}{content}{marker}")
                copied_to = href.end + quote_length
    if count > LINKS_LIMIT:
        raise TooManyLinks
    pieces.append(masked[copied_to:])
    pieces.insert(pixel_at[1] if pixel_at[1] >= 0 else len(pieces), f"{marker}P{marker}")
    return TrackedTemplate(
        source=unmask("".join(pieces), template_tags),
        marker=marker,
        targets=tuple(targets),
        has_unsubscribe=has_unsubscribe,
    )


def _tracked_hrefs(source: str, link_tag: HtmlToken, template_tags: Sequence[str]) -> tuple[list[Attribute], bool]:
    """The `href` attributes of a link to rewrite; several if a template condition inside the tag chooses between them.

    Also returns whether the link is an unsubscribe link.
    """
    hrefs: list[Attribute] = []
    is_conditional = is_unsubscribe = is_untracked = False
    for attribute in attributes(source, link_tag):
        name = attribute.name
        if "\ue000" in name:
            is_conditional = True
            name = _without_statements(name, template_tags)
        if name == "href":
            hrefs.append(attribute if attribute.quote else _cut_at_condition_end(source, attribute, template_tags))
        elif name == "data-postern-no-track" or (
            name == "data-track" and attribute.value.strip().lower() in {"false", "off", "no"}
        ):
            is_untracked = True
        elif name == "data-postern-unsubscribe":
            is_unsubscribe = True
    if is_untracked and not is_unsubscribe:
        return [], False
    return hrefs if is_conditional else hrefs[:1], is_unsubscribe


def _without_statements(name: str, template_tags: Sequence[str]) -> str:
    """An attribute name without adjacent template statements: `{% if x %}href` is `href`."""
    return _MASK.sub(lambda token: token[0] if template_tags[int(token[1])].startswith("{{") else "", name)


def _cut_at_condition_end(source: str, href: Attribute, template_tags: Sequence[str]) -> Attribute:
    """Cut an unquoted value at the end of an enclosing condition: `href=https://a.test/{% endif %}`."""
    depth = 0
    for token in _MASK.finditer(source, href.start, href.end):
        statement = _STATEMENT.match(template_tags[int(token[1])])
        if statement is None:
            continue
        depth += {"if": 1, "for": 1, "endif": -1, "endfor": -1}.get(statement[1], 0)
        if depth < 0 or (not depth and statement[1] in {"else", "elif"}):
            value = attribute_value(source[href.start : token.start()])
            return href._replace(value=value, end=token.start())
    return href


_STATEMENT = re.compile(r"\{%[-+]?\s*(\w+)")


def _marked_content(href: Attribute, source: str, targets: list[TrackedLink]) -> str:
    """The text to put between two markers instead of the attribute value; empty if the link is not tracked.

    Adds the link to `targets` if its URL is known.
    """
    url = url_of(href.value)
    if not _MASK.match(url) and not _is_web(url):
        return ""
    quoted = _quoted_source(href, source)
    if "\ue000" in url:
        return f"H{quoted}"
    encoded = quote(url, safe="", errors="replace")
    if not _is_short(url, encoded):
        return ""
    targets.append(TrackedLink(url, encoded, quoted))
    return f"L{len(targets) - 1}"


def _quoted_source(href: Attribute, source: str) -> str:
    """The attribute value as written in the source, in quotes."""
    written = source[href.start : href.end]
    if not href.quote:  # Values rendered into the attribute may contain spaces.
        written = written.replace('"', "&quot;")
    quote_mark = href.quote or '"'
    return f"{quote_mark}{written}{quote_mark}"


def url_of(value: str) -> str:
    """The URL of an attribute value: without surrounding white space and line ends."""
    return _LINE_ENDS.sub("", value.strip(_BLANK))


def _is_web(url: str) -> bool:
    return url[:8].lower().startswith(("http://", "https://"))


def _is_short(url: str, encoded: str) -> bool:
    return len(url) <= TARGET_LIMIT and len(encoded) <= ENCODED_TARGET_LIMIT


def split_after_body_tag(source: str, *, template: bool = True) -> tuple[str, str]:
    """Split a template after its `<body>` tag; the first part is empty if there is none.

    For HTML without template tags use `template=False`.
    """
    masked, tags = mask(source) if template else (source, [])
    for token in tokens(masked):
        if token.kind is HtmlTokenKind.START and token.name.partition("\ue000")[0] == "body":
            return unmask(masked[: token.end], tags), unmask(masked[token.end :], tags)
    return "", source


def mask(source: str) -> tuple[str, list[str]]:
    """Replace every template tag by a short token; returns the masked text and the tags in order, for `unmask`."""
    source = source.replace("\ue000", "")
    tags: list[str] = []
    pieces: list[str] = []
    end = 0
    for tag in tags_of(source):
        pieces += (source[end : tag.start], f"\ue000{len(tags)}\ue001")
        tags.append(tag.text)
        end = tag.end
    return "".join(pieces) + source[end:], tags


def unmask(masked: str, tags: Sequence[str]) -> str:
    """Restore the tags that `mask` replaced. A token without a tag is removed."""
    return _MASK.sub(lambda token: tags[int(token[1])] if int(token[1]) < len(tags) else "", masked)


def _click(base: str, send_id: str, key: bytes, url: str, encoded: str) -> str:
    """The signed value of a click link's href."""
    return click_href(base, send_id, encoded, sign_link(key, CLICK, send_id, url))


def _rendered_href(written: str, base: str, send_id: str, key: bytes) -> str:
    """The replacement of a rendered attribute value, with quotes: tracked if it is an http or https URL."""
    # Line ends inside a rendered value are kept and percent-encoded.
    url = decode_attribute(written[1:-1]).strip(_BLANK)
    if not _is_web(url) or leads_to_tracking(url, base):
        return written
    encoded = quote(url, safe="", errors="replace")
    return f'"{_click(base, send_id, key, url, encoded)}"' if _is_short(url, encoded) else written


def pixel(url: str) -> str:
    """The image that shows that a message was opened."""
    return f'<img src="{escape(url)}" width="1" height="1" alt="" style="width:1px;height:1px;border:0">'
