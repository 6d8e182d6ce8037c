"""Facts about a received message that are common in unwanted mail. No message is refused because of them."""

import re
from datetime import timedelta
from typing import Literal

from postern.kernel.values import Moment, Record
from postern.protocols.mail.dkim_verification import DkimVerdict
from postern.protocols.mail.message_authentication import MessageAuthentication
from postern.protocols.mail.public_suffixes import registered_domain
from postern.protocols.mail.received_content import MailContact, ReceivedContent
from postern.protocols.mail.spf import SpfVerdict

AHEAD_LIMIT = timedelta(days=1)
"""A Date further in the future is reported, because clocks and time zones differ by less."""
AGE_LIMIT = timedelta(days=7)
"""A Date further in the past is reported: servers try to deliver for about five days (RFC 5321 §4.5.4.1)."""

HintCode = Literal[
    "dmarc_fail",
    "spf_fail",
    "not_authenticated",
    "several_authors",
    "no_message_id",
    "no_date",
    "date_far_off",
    "client_name_invalid",
    "reply_to_other_domain",
    "name_has_other_address",
    "program_attached",
]

_HOST_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]\.?", re.IGNORECASE)
_LITERAL = re.compile(r"\[[0-9A-Fa-f:.]{2,60}\]|\[IPv6:[0-9A-Fa-f:.]{2,60}\]", re.IGNORECASE)
_ADDRESS = re.compile(r"[\w.+-]{1,64}@((?:[\w-]{1,63}\.)+[a-z]{2,63})", re.IGNORECASE)
_PROGRAM = re.compile(
    r"\.(?:bat|chm|cmd|com|cpl|exe|hta|iso|img|jar|js|jse|lnk|msi|msp|pif|ps1|reg|scr|sct|shb|sys|vb|vbe|vbs|vhd|wsc|wsf|wsh)$",
    re.IGNORECASE,
)


class SpamHint(Record):
    """A fact about a message that is common in unwanted mail."""

    code: HintCode
    message: str
    """The fact in words."""


def spam_hints(
    content: ReceivedContent, authentication: MessageAuthentication, *, client_name: str | None, received_at: Moment
) -> list[SpamHint]:
    """What is suspicious about a message. `client_name` is the client's name in EHLO, None if it is not known."""
    hints = [
        *_authentication_hints(authentication),
        *_header_hints(content, received_at),
        *_address_hints(content),
    ]
    if client_name is not None and not (_HOST_NAME.fullmatch(client_name) or _LITERAL.fullmatch(client_name)):
        hints.append(("client_name_invalid", "The client did not greet with the name of a host (RFC 5321 §4.1.1.1)."))
    programs = [attachment.filename for attachment in content.attachments if _PROGRAM.search(attachment.filename)]
    if programs:
        hints.append(("program_attached", f"The attachment {programs[0]} can be run as a program."))
    return [SpamHint(code=code, message=message) for code, message in hints]


def _authentication_hints(authentication: MessageAuthentication) -> list[tuple[HintCode, str]]:
    hints: list[tuple[HintCode, str]] = []
    spf, dmarc = authentication.spf, authentication.dmarc
    if dmarc.verdict == "fail":
        hints.append(("dmarc_fail", f"DMARC fails: the message is not authenticated for {dmarc.domain}."))
    if spf.verdict is SpfVerdict.FAIL:
        hints.append(("spf_fail", f"SPF fails: {authentication.spf_domain} does not allow this client to send."))
    is_signed = any(result.verdict is DkimVerdict.PASS for result in authentication.dkim)
    is_dkim_conclusive = not any(result.verdict is DkimVerdict.TEMPERROR for result in authentication.dkim)
    if not is_signed and is_dkim_conclusive and spf.verdict not in (SpfVerdict.PASS, SpfVerdict.TEMPERROR):
        hints.append(("not_authenticated", "Neither SPF nor a DKIM signature passes for any domain."))
    return hints


def _header_hints(content: ReceivedContent, received_at: Moment) -> list[tuple[HintCode, str]]:
    hints: list[tuple[HintCode, str]] = []
    if len(content.from_) != 1:
        hints.append(("several_authors", f"From has {len(content.from_) or 'no'} addresses."))
    if content.message_id is None:
        hints.append(("no_message_id", "There is no Message-ID."))
    if content.date is None:
        hints.append(("no_date", "There is no valid Date."))
    elif not received_at - AGE_LIMIT <= content.date <= received_at + AHEAD_LIMIT:
        hints.append(("date_far_off", "Date is more than a week ago or more than a day ahead."))
    return hints


def _address_hints(content: ReceivedContent) -> list[tuple[HintCode, str]]:
    hints: list[tuple[HintCode, str]] = []
    authors = {domain for contact in content.from_ if (domain := _domain(contact))}
    others = {domain for contact in content.reply_to if (domain := _domain(contact))} - authors
    if authors and others:
        hints.append(("reply_to_other_domain", f"Replies go to another domain: {min(others)}."))
    for contact in content.from_:
        named = _ADDRESS.search(contact.name)
        if named and registered_domain(named[1].lower()) != _domain(contact):
            hints.append(("name_has_other_address", f"The name in From is an address of {named[1].lower()}."))
            break
    return hints


def _domain(contact: MailContact) -> str:
    """The registered domain of an address; empty if it has no domain."""
    domain = contact.email.rpartition("@")[2].rstrip(".").lower() if "@" in contact.email else ""
    return registered_domain(domain) if domain else ""
