"""Registered domains by the public suffix list of the tldextract package, without downloads."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tldextract import TLDExtract


def is_public_suffix(domain: str) -> bool:
    """Whether a name in lower-case A-labels is a public suffix, under which anybody can register a name."""
    return _public_suffixes()(domain).suffix == domain


def has_public_suffix(domain: str) -> bool:
    """Whether the list has a suffix of this name, so that it can exist in the public DNS."""
    return bool(_public_suffixes()(domain).suffix)


def registered_domain(domain: str) -> str:
    """The registered domain by the public suffix list; the domain itself if it has no public suffix."""
    return _public_suffixes()(domain).top_domain_under_public_suffix or domain


def registered_name(domain: str) -> str:
    """The label before the public suffix, such as `acme` of `mail.acme.co.uk`."""
    return _public_suffixes()(domain).domain


@cache
def _public_suffixes() -> "TLDExtract":
    """The list. The library is imported here, because that takes long."""
    import tldextract

    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
