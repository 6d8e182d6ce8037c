"""What receivers object to in the URL of a link: by its syntax only, nothing is looked up."""

import ipaddress
import re
import unicodedata
from typing import Final, Literal
from urllib.parse import SplitResult, unquote, urlsplit

import idna

from postern.protocols.mail.address import AddressInvalid, parse_address
from postern.protocols.mail.public_suffixes import has_public_suffix, registered_domain

LinkErrorCode = Literal[
    "link_empty", "link_relative", "link_invalid", "link_scheme", "link_host", "link_ip_address", "link_user_info",
    "link_look_alike", "link_not_https", "link_shortener", "link_mailto",
]  # fmt: skip

URL_CHARACTERS: Final = 8_000
"""Longer URLs are not analysed."""
HOST_CHARACTERS: Final = 253
"""The longest name in the DNS (RFC 1035 §2.3.4)."""
SHOWN_CHARACTERS: Final = 300
"""A longer text of a link is not taken as a URL."""
SHORTENERS: Final = frozenset([
    "adf.ly", "bit.ly", "bl.ink", "buff.ly", "cutt.ly", "goo.gl", "is.gd", "lnkd.in", "ow.ly", "rb.gy", "rebrand.ly",
    "s.id", "shorturl.at", "t.co", "t.ly", "tiny.cc", "tinyurl.com", "v.gd",
])  # fmt: skip
"""Hosts whose links hide their target. Filters block all their links if some are abused."""
OTHER_SCHEMES: Final = frozenset(["tel", "sms", "cid", "webcal", "geo", "xmpp", "sip", "sips", "whatsapp", "facetime"])
"""Schemes that mail clients open besides http, https and mailto."""
RESERVED_SUFFIXES: Final = frozenset(["test", "invalid", "localhost", "local", "internal", "example"])
"""Top-level domains that do not exist in the public DNS (RFC 6761, RFC 6762; ICANN has reserved `internal`)."""
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_NUMERIC_HOST = re.compile(r"(?:0x[0-9a-f]+|[0-9]+)(?:\.(?:0x[0-9a-f]+|[0-9]+)){0,3}")

_LATIN_LOOK_ALIKES: Final = frozenset("асԁеһіјӏорԛѕԝхуьѵҽ" + "αονρτυικ" + "օսոհց")
"""Letters of the Cyrillic, Greek and Armenian scripts that look like Latin ones."""


def link_error(url: str) -> LinkErrorCode | None:
    """The first thing that receivers object to in the URL of a link; None if there is none."""
    if not url or url == "#":
        return "link_empty"
    if url.startswith("#") or len(url) > URL_CHARACTERS:
        return None
    scheme_match = _SCHEME.match(url)
    if scheme_match is None:
        return "link_relative"
    scheme = scheme_match[1].lower()
    if scheme == "mailto":
        return _mailto_error(url[len("mailto:") :])
    if scheme not in ("http", "https"):
        return None if scheme in OTHER_SCHEMES else "link_scheme"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "link_invalid"
    return _web_error(scheme, parts)


def _web_error(scheme: str, parts: SplitResult) -> LinkErrorCode | None:
    host = (parts.hostname or "").rstrip(".")
    if not parts.netloc or not host:
        return "link_invalid"
    if is_ip_address(host):
        return "link_ip_address"
    if parts.username is not None:
        return "link_user_info"
    name = ascii_host(host)
    if name is None or not _is_public_name(name):
        return "link_host"
    if looks_like_other_name(name):
        return "link_look_alike"
    if scheme == "http":
        return "link_not_https"
    return "link_shortener" if name in SHORTENERS or name.removeprefix("www.") in SHORTENERS else None


def _mailto_error(address: str) -> LinkErrorCode | None:
    for part in unquote(address.partition("?")[0]).split(","):
        try:
            parse_address(part.strip())
        except AddressInvalid:
            return "link_mailto"
    return None


def is_ip_address(host: str) -> bool:
    """Whether a host of a URL is an IP address, also in the forms that only browsers accept (`0x7f.1`)."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return _NUMERIC_HOST.fullmatch(host.lower()) is not None
    return True


def ascii_host(host: str) -> str | None:
    """A host name in lower-case A-labels; None if it is not a valid name."""
    if len(host) > HOST_CHARACTERS:
        return None
    if host.isascii():
        return host.lower()
    try:
        return idna.encode(host, uts46=True).decode().lower()
    except (idna.IDNAError, UnicodeError):
        return None


def _is_public_name(name: str) -> bool:
    labels = name.split(".")
    return (
        len(labels) > 1
        and len(name) <= HOST_CHARACTERS
        and all(_LABEL.fullmatch(label) for label in labels)
        and labels[-1] not in RESERVED_SUFFIXES
    )


def looks_like_other_name(name: str) -> bool:
    """Whether a label of a domain in A-labels mixes Latin letters with those of similar scripts, or consists of letters
    that all look like Latin ones, so that it can be taken for another name (UTS #39)."""
    return any(_is_look_alike(label) for label in name.split(".") if label.startswith("xn--"))


def _is_look_alike(label: str) -> bool:
    try:
        text = idna.decode(label)
    except (idna.IDNAError, UnicodeError):
        return True  # Browsers show the A-label, and filters distrust it.
    letters = [letter for letter in text if letter.isalpha()]
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in letters}
    if "LATIN" in scripts and scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}:
        return True
    return bool(letters) and all(letter in _LATIN_LOOK_ALIKES for letter in letters)


_SHOWN_HOST = re.compile(
    r"(?:https?://)?((?:[^\s/@:.<>()\[\]\"',;!?]{1,63}\.){1,8}[^\W\d_]{2,24})(?::\d{1,5})?(?:[/?#]\S*)?", re.IGNORECASE
)


def shown_host(text: str) -> str | None:
    """The host name that the text of a link shows, if the text is nothing but a URL or a name with a dot; otherwise
    None. Also returned for file names such as `report.pdf`, of which `shows_other_domain` rules out most."""
    text = text.strip()
    match = _SHOWN_HOST.fullmatch(text) if len(text) <= SHOWN_CHARACTERS else None
    return ascii_host(match[1]) if match else None


def shows_other_domain(shown: str, url: str) -> bool:
    """Whether a link that shows the host `shown` (in A-labels) leads to a host of another registered domain.

    False if the host of the URL cannot be read, or if `shown` has no public suffix. The list of public suffixes loads
    slowly the first time.
    """
    try:
        host = ascii_host((urlsplit(url).hostname or "").rstrip("."))
    except ValueError:
        return False
    return bool(host) and has_public_suffix(shown) and registered_domain(host or "") != registered_domain(shown)
