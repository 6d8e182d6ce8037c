"""Bounces that do not have the form of RFC 3464: of qmail, Exim, Exchange, old Sendmail, webmail providers and others.

Such a bounce is human-readable text. Sender, subject and text decide whether a message is a bounce. Its recipients are
the addresses at the usual places of the text, before the original message. Messages may be hostile: each function takes
linear time and bounded memory, and raises no exception.
"""

import re
from collections.abc import Collection
from email.message import Message
from email.utils import getaddresses

import msgspec

from postern.protocols.mail.received import MessagePart, ReceivedMessage

TEXT_CHARACTERS = 20_000
"""The notification is searched up to this length."""
LINE_CHARACTERS = 1_000
"""Longer lines are cut."""
FLUFL_CHARACTERS, FLUFL_LINE_CHARACTERS = 5_000, 200
"""Characters of the text, and of each line, that flufl.bounce gets: some of its patterns take quadratic time."""
FAILURES_LIMIT = 100
"""Further recipients are left out."""
NEAR_LINES = 12
"""How many lines after a recipient are taken as the reason of its failure."""

_ADDRESS = r"[^\s<>()\[\]\",;:@\\'`|]{1,64}@[A-Za-z0-9][A-Za-z0-9_.-]{0,252}"
_ANY_ADDRESS = re.compile(_ADDRESS)
_CODES = r"[45]\d\d[ -](?:[45]\.\d{1,3}\.\d{1,3} )?"
"""Codes before an address: Sendmail's transcripts have lines such as `550 5.1.1 <address>... User unknown`."""
_LISTED_ADDRESS = re.compile(
    rf"^[\s>*•\-]{{0,40}}(?:\d{{1,3}}[.)]\s{{1,5}}|{_CODES})?(?:\(expanded from: )?['\"(]?"
    rf"(?:<(?P<angled>{_ADDRESS})>|(?P<bare>{_ADDRESS}))['\")]?\s{{0,20}}(?:$|:|\.\.\.|\(|\)|\[|;|,|-\s|=|on\s)"
)
_NAMED_ADDRESS = re.compile(
    r"(?:rcpt to|recipients?|addressed(?: to)?|address(?:es)?|e-?mail|failed|mailbox|user(?:name)?|account"
    r"|error-for|smtp"
    r"|rfc822|delivered to|deliver(?:y)? to|message to|mail to|reach|to|for|an|a|à|para)"
    rf"[^\w@\n]{{1,20}}(?:(?:smtp|rfc822|mailto)[:;=]\s?)?['\"<\[(]{{0,3}}(?P<address>{_ADDRESS})",
    re.IGNORECASE,
)
_NOT_RECIPIENTS = re.compile(
    r"^(?:mailer-?daemon|postmaster|hostmaster|abuse|help(?:desk)?|support|admin(?:istrator)?|no-?reply"
    r"|mail-?master)@",
    re.IGNORECASE,
)
"""Addresses that bounces name as contacts for questions."""

_DAEMON = re.compile(
    r"mailer-?daemon|post[-_]?master|mail-?daemon|mail ?delivery|delivery (?:sub)?system|mail system"
    r"|mail administrator"
    r"|microsoftexchange|<>|^$|maildelivery|mdaemon|smtp32|mail server|bounce",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"undeliver|deliver[a-z]* (?:status|fail|report|problem|error|notification|unsuccess|impossible|incomplete|delay)"
    r"|failure (?:notice|notification|delivery)|fail(?:ed|ure)[^a-z]{1,3}(?:mail|delivery|message)"
    r"|returned (?:mail|message|to sender)"
    r"|(?:could not|couldn't|cannot|can't|not) (?:be )?deliver|non-?deliver|mail (?:delivery|system|failure|error"
    r"|could not)"
    r"|message (?:delivery|status|you sent|not delivered|could not)|warning: (?:message|could not)|delayed mail"
    r"|deliver[a-z]*[: ]+delay|(?:e-?mail|message|mail) (?:was )?(?:rejected|blocked|bounced|returned|refused"
    r"|delayed)"
    r"|unzustellbar|nicht zugestellt|unable to deliver|nicht zustell|rejected(?: mail| posting|:)"
    r"|inval[a-z]* (?:address|recipient)"
    r"|non (?:remis|distribu)|[ée]chec|no (?:se )?(?:ha podido|pudo|entreg)|mancata consegna|error (?:de|en"
    r"|sending)"
    r"|processing error|エラー|配信|mail ?error|postmaster notify|permanent (?:delivery )?fail",
    re.IGNORECASE,
)
_ANSWER = re.compile(r"\s*(?:re|aw|sv|vs|antw|odp|r[ée]f|automatic[^:]{0,20}|auto[^:]{0,20})\s?:", re.IGNORECASE)
_FAILED = re.compile(
    r"(?:could|can|was|were|is|be|has|have|been)\s?n(?:o|')t (?:be |been |yet been )?(?:successfully )?"
    r"(?:deliver|reach|receiv|sent|accept|complet|find|found|process|exist|relay|transmit)"
    r"|(?:unable|not able|failed|impossible) to (?:be )?(?:deliver|send|reach|relay|process|find|complete"
    r"|transfer|contact|accept)"
    r"|cannot (?:be )?(?:deliver|send|reach|relay|process|find)|undeliver|not deliver|non-?deliver"
    r"|has failed|deliver[a-z]* (?:to [^.\n]{1,120} )?(?:has |have )?(?:permanently )?(?:fail|error|unsuccess|problem"
    r"|was aborted|incomplete)"
    r"|(?:permanent|fatal|delivery|following) (?:fatal )?(?:fail|error)|did not reach|not reach|fail(?:ed|ure"
    r"|ing) (?:addresses|recipients?|reason|notice)"
    r"|rejected|refused|returned (?:mail|to|message)|had (?:permanent|transient|delivery)|does ?n(?:o|')t exist"
    r"|no such (?:user|recipient|address|mailbox|person)|not a (?:valid|known) (?:user|recipient|address|mailbox)"
    r"|(?:user|recipient|mailbox|address"
    r"|account)[^.\n]{0,40} (?:unknown|not found|is full|disabled|does not|invalid|unavailable)"
    r"|unknown (?:user|recipient|address|local)|mailbox (?:is )?(?:full|unavailable)|(?:over"
    r"|exceed)[a-z]* (?:the )?(?:maximum )?quota|invalid (?:user|recipient|address|final)"
    r"|nicht zugestellt|konnte nicht|unzustellbar|n'a pas pu|pas [ée]t[ée]|no se pudo|no se ha podido|não p[ôo]de"
    r"|impossibile"
    r"|(?<!\d)5\d\d[ -]\d\.\d\.\d|(?<!\d)5[0-7]\d [a-z<]|(?<!\d)5\.\d\.\d|undeliverable|did not receive"
    r"|has encountered"
    r"|did not (?:exactly )?match|returned because|encountered an error|error delivering|deferred|timed out"
    r"|lookup fail"
    r"|(?:connection|message) refused|exceed(?:s|ed)|expired|host [^\n]{1,80} not found|not accepting"
    r"|incorrectly constructed"
    r"|届け|配信|送信|宛先|不明|エラー|退信|失败|无法|доставлен|не удалось",
    re.IGNORECASE,
)
_DELAYED = re.compile(
    r"not yet been delivered|has (?:not )?been delayed|(?:is|still) being retried|will (?:be|keep"
    r"|continue)[a-z ]{0,30} (?:retri|try|attempt)"
    r"|attempts will continue|still (?:being )?(?:try|retr|queued)|(?:you )?do(?:es)? not need to (?:resend"
    r"|take any action|re-?send)"
    r"|no action is required|has been postponed|just a warning|this is a warning|delivery (?:is|was"
    r"|has been) delayed|will keep trying"
    r"|advisory-only|has been delayed|could not be delivered (?:yet|for \d+ )|warning message only|delayed delivery"
    r"|temporary (?:fail|error|problem)[^.\n]{0,80}(?:retry|try|queue)|\bwill retry for\b|delivery incomplete"
    r"|noch nicht zugestellt|continue (?:to try"
    r"|trying)",
    re.IGNORECASE,
)
_DELAYED_SUBJECT = re.compile(r"\s*warning: |.{0,40}\bdelay(?:ed)?\b", re.IGNORECASE)
_GAVE_UP = re.compile(
    r"giving up|given up|gave up|permanent(?:ly)? (?:fatal )?(?:fail|error)|too long|has been (?:returned"
    r"|removed)|returned to (?:the )?sender",
    re.IGNORECASE,
)
_ANCHOR = re.compile(
    r"(?:following|these|failed|undeliverable)[^.\n]{0,40} (?:recipient|address|user|destination)|did not reach"
    r"|not delivered to"
    r"|failed addresses|could not be delivered to|deliver[a-z]* (?:of|to)[^.\n]{0,60}(?:failed|fails)"
    r"|had [^.\n]{0,40}errors?"
    r"|folgende|siguiente|suivant|seguent|seguint|destinat[aá]r",
    re.IGNORECASE,
)
"""A line below which the list of recipients begins."""
_IDENTIFIERS = re.compile(r"(?:message-id|in-reply-to|references):", re.IGNORECASE)
"""Fields whose values look like addresses."""
_SENDER = re.compile(rf"(?:mail )?from:?[^\w@\n]{{1,10}}{_ADDRESS}", re.IGNORECASE)
"""An address that a text names as the sender."""

_ORIGINAL = re.compile(
    r"^\s{0,10}[->*=_# ]{0,80}\s?(?:original (?:message|mail)|your (?:original )?message (?:follows|reads|headers)"
    r"|(?:the )?(?:header|message|text)s? (?:of (?:the|your) )?(?:original|returned|message"
    r"|text)[^:\n]{0,40}(?:follow|attached|message|:)"
    r"|below (?:this|the next) line|this is a copy of|(?:included |here )?is (?:a copy of|your returned)"
    r"|a copy of (?:the|your)"
    r"|forwarded message|returned (?:mail|message)|start of returned|unsent message|undelivered message|old message"
    r"|message (?:header|text|body|content)s?\b|the header (?:of|from)|message headers? follow|received: "
    r"|return-path: |copy of the message"
    r"|urspr|message d'origine|included is a copy|begin (?:forwarded|original|returned))",
    re.IGNORECASE,
)
_HEADER_LINE = re.compile(r"^[A-Za-z][A-Za-z0-9-]{1,50}:\s")

_AUTOMATIC_SUBJECT = re.compile(
    r"^\W{0,5}(?:auto(?:matic|matische|matisch)?[- ]?(?:re(?:ply|sponse|sponder)|antwort|d[ie]gest|mated)"
    r"|out of (?:the )?office|ooo\b|abwesen|absen[ct]e|r[ée]ponse automatique|respuesta autom|vacation|away from"
    r"|fuera de"
    r"|i am (?:away|out)|on (?:leave|holiday|vacation)|不在|自動|自动|автоответ)",
    re.IGNORECASE,
)
_ABSENCE_SUBJECT = re.compile(
    r"^auto: |\bis (?:currently )?(?:out of (?:the )?office|away|on (?:leave|holiday|vacation))\b", re.IGNORECASE
)
"""The beginning of subjects of vacation notices from Notes, and phrases that follow a person's name in subjects."""
_CHALLENGE = re.compile(
    r"(?:please )?(?:confirm|verify)[^.\n]{0,60}(?:your (?:message|e-?mail|identity|address)"
    r"|you are (?:a )?(?:human|person))"
    r"|challenge[- /]response|sender verification|anti-?spam[^.\n]{0,40}(?:confirm|verif)"
    r"|requires? (?:confirmation|verification)"
    r"|held[^.\n]{0,60}(?:confirm|verif|approv)",
    re.IGNORECASE,
)
_LINE_BREAKS = {ord("\r"): " ", ord("\n"): " "}
_AUTOMATIC_FIELDS = ("x-autoreply", "x-autorespond", "x-autoresponder", "x-auto-response-suppress-reply", "x-vacation")


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A recipient that a bounce names, with the text about it."""

    address: str
    """Empty if no address was found."""
    text: str
    is_delayed: bool


def recognize(message: ReceivedMessage) -> list[Failure]:
    """The failures that a message reports; empty if it is no bounce, for example an automatic reply."""
    text = notification_text(message)
    failed = _addresses_of(message, "x-failed-recipients")
    if failed:
        is_delayed = bool(_DELAYED.search(text)) and not _GAVE_UP.search(text)
        return _failures(failed[:FAILURES_LIMIT], text, is_delayed=is_delayed)
    if is_automatic_reply(message) or not _is_bounce(message, text):
        return []
    says_delayed = _DELAYED.search(text) or (_DELAYED_SUBJECT.match(message.subject) and not _FAILED.search(text))
    is_delayed = bool(says_delayed) and not _GAVE_UP.search(text)
    addresses = _recipients_in(message, text) or _recipients_by_flufl(message, text) or _recipients_of_original(message)
    return _failures(addresses[:FAILURES_LIMIT] or [""], text, is_delayed=is_delayed)


def _recipients_by_flufl(message: ReceivedMessage, text: str) -> list[str]:
    """The recipients that flufl.bounce finds, also those of temporary failures; [] if it fails.

    It gets only four header fields and the text, whose length is limited, because its parser has no limits.
    """
    from flufl.bounce import all_failures

    copy = Message()
    for name in ("From", "To", "Subject", "X-Mailer"):
        copy[name] = message.field(name.lower()).translate(_LINE_BREAKS)[:200]
    copy.set_payload("\n".join(line[:FLUFL_LINE_CHARACTERS] for line in text[:FLUFL_CHARACTERS].splitlines()))
    try:
        temporary, permanent = all_failures(copy)
    except Exception:  # The library's heuristics may fail in any way for hostile text.
        return []
    return sorted(address.decode("ascii", "replace") for address in temporary | permanent)


def is_automatic_reply(message: ReceivedMessage) -> bool:
    """Whether a message is a vacation notice, another automatic reply (RFC 3834), or a challenge to the sender.

    Bounces have `Auto-Submitted`, too. So a message with such a field is not an automatic reply if its sender or its
    subject is that of a bounce.
    """
    subject = message.subject
    if _AUTOMATIC_SUBJECT.search(subject):
        return True
    is_from_daemon = bool(_DAEMON.search(message.field("from")))
    submitted = message.field("auto-submitted").lower()
    marked = submitted.startswith(("auto-replied", "auto-notified")) or any(map(message.field, _AUTOMATIC_FIELDS))
    marked = marked or message.field("precedence").lower() in ("auto_reply", "auto-reply")
    marked = marked or bool(_ABSENCE_SUBJECT.search(subject))
    is_challenge = bool(_CHALLENGE.search(f"{subject}\n{notification_text(message)[:2_000]}"))
    return is_challenge or (marked and not is_from_daemon and not _says_bounce(subject))


def notification_text(message: ReceivedMessage) -> str:
    """The human-readable text of a bounce, without the original message."""
    texts = [part for part in message.parts if part.content_type in ("text/plain", "text/html")]
    plain = [part for part in texts if part.content_type == "text/plain"] or texts
    if not plain:
        plain = [
            part for part in message.parts if not part.content_type.startswith(("message/", "text/rfc822", "image/"))
        ]
    return "\n".join(_without_original(part) for part in plain[:3])[:TEXT_CHARACTERS]


def quoted_message(text: str) -> str:
    """The header of the original message that a text contains after the notification; empty if there is none."""
    lines = text[: TEXT_CHARACTERS * 5].splitlines()
    start = _start_of_original(lines)
    while start < len(lines) and not _HEADER_LINE.match(lines[start]):
        start += 1
    end = start
    while end < len(lines) and (_HEADER_LINE.match(lines[end]) or lines[end][:1] in (" ", "\t")):
        end += 1
    return "\n".join(lines[start:end])


_REPLY_CODES = re.compile(r"[45]\d\d[ -]|[45]\.\d+\.\d+")
_REASON_FOLLOWS = re.compile(r">?:\s{1,20}[^\W\d_]{2}")
"""Between an address and the reason of its failure on the same line."""
_SENDMAIL_REASON = re.compile(r"\(reason: .{3,}\)$")
"""A line with the whole reply of the server. Below, in its transcript, Sendmail adds a reply of its own, such as
`550 5.1.1 … User unknown`."""


def text_near(text: str, address: str, others: Collection[str] = ()) -> str:
    """The lines of a notification that tell why an address failed, from its first mention, or else the first 40 lines.

    `others` are the other recipients, in lower case: the text ends before a line that begins with one of them.
    """
    return text_about(text, address, others) or " ".join(_lines_of(text)[:40])


def text_about(text: str, address: str, others: Collection[str] = ()) -> str:
    """The lines that tell why an address failed, like `text_near`; empty if no line names it with a reason."""
    lines = _lines_of(text)
    named = [number for number, line in enumerate(lines) if address and address.lower() in line.lower()]
    for number in named:
        near = lines[number : number + NEAR_LINES]
        near = near[: next((at for at, line in enumerate(near) if at and _listed_address(line) in others), NEAR_LINES)]
        reason = next((line for line in near[1:3] if _SENDMAIL_REASON.match(line)), "")
        if reason:
            return f"{near[0]} {reason}"
        has_reason = _listed_address(near[0]) == address.lower() and _REASON_FOLLOWS.search(near[0])
        if has_reason or any(_REPLY_CODES.search(line) or _FAILED.search(line) for line in near):
            return " ".join(near)
    return ""


def _lines_of(text: str) -> list[str]:
    lines = [line.strip()[:LINE_CHARACTERS] for line in text[:TEXT_CHARACTERS].splitlines()]
    return [line for line in lines if line]


def _failures(addresses: list[str], text: str, *, is_delayed: bool) -> list[Failure]:
    recipients = {address.lower() for address in addresses if address}
    return [
        Failure(address=address, text=text_near(text, address, recipients - {address.lower()}), is_delayed=is_delayed)
        for address in addresses
    ]


def _listed_address(line: str) -> str | None:
    """The address that a line of a list of recipients begins with, in lower case."""
    match = _LISTED_ADDRESS.match(line)
    return (match["angled"] or match["bare"]).lower() if match else None


def _is_bounce(message: ReceivedMessage, text: str) -> bool:
    is_from_daemon = bool(_DAEMON.search(message.field("from")))
    # A gateway or webmail server returns the original message as a part.
    is_report = message.content_type == "multipart/report" or (
        any(part.content_type in ("message/rfc822", "text/rfc822-headers") for part in message.parts)
    )
    says_failed = bool(_FAILED.search(text) or _DELAYED.search(text))
    if not says_failed and is_from_daemon and message.content_type == "multipart/report":
        return _says_bounce(message.subject)  # The parts of the report are missing.
    return says_failed and (is_from_daemon or is_report or _says_bounce(message.subject))


def _says_bounce(subject: str) -> bool:
    """Whether the subject is that of a bounce, but not that of a reply to one (`Re: …`)."""
    return bool(_SUBJECT.search(subject)) and not _ANSWER.match(subject)


def _addresses_of(message: ReceivedMessage, name: str) -> list[str]:
    values = [value[:2_000] for field, value in message.fields if field == name][:10]
    return list(dict.fromkeys(address for _, address in getaddresses(values) if address))


def _recipients_in(message: ReceivedMessage, text: str) -> list[str]:
    """The addresses that failed according to a notification, from the most certain place that names some."""
    senders = {address.lower() for name in ("from", "sender", "reply-to") for address in _addresses_of(message, name)}
    own = senders | {address.lower() for address in _addresses_of(message, "to")}
    lines = [line[:LINE_CHARACTERS] for line in text.splitlines()]
    anchors = [number for number, line in enumerate(lines) if _ANCHOR.search(line)]
    places = [_addresses_in(lines[anchors[0] :])] if anchors else []
    places.append(_addresses_in(lines))
    for excluded in (own, senders):
        for candidates_of_source in (candidates for place in places for candidates in place):
            recipients = [
                address
                for address in (address.rstrip(".-_") for address in candidates_of_source)
                if address.lower() not in excluded
                and not _NOT_RECIPIENTS.match(address)
                and "." in address.rpartition("@")[2]
            ]
            if recipients:
                return list({address.lower(): address for address in reversed(recipients)}.values())[::-1]
    # An address such as postmaster@ may be the failed recipient itself; then a reason follows it.
    reasons = [match for line in lines if (match := _LISTED_ADDRESS.match(line)) and _REASON_FOLLOWS.search(line)]
    return list(dict.fromkeys(match["angled"] or match["bare"] for match in reasons))


def _addresses_in(lines: list[str]) -> tuple[list[str], list[str], list[str]]:
    """The addresses that begin a line, as in a list; those that the text names as recipients; the first of any kind."""
    listed: list[str] = []
    named: list[str] = []
    others: list[str] = []
    indent = LINE_CHARACTERS
    previous = ""
    for line in lines:
        if _IDENTIFIERS.match(line):
            continue
        match = _LISTED_ADDRESS.match(line)
        # A line that is indented further continues the reason of the recipient above it.
        line_indent = len(line) - len(line.lstrip())
        if match and (line_indent <= indent or not previous.strip()):
            listed.append(match["angled"] or match["bare"])
            indent = line_indent
        previous = line
        line = _SENDER.sub(" ", line)
        named += [match["address"] for match in _NAMED_ADDRESS.finditer(line)]
        others += _ANY_ADDRESS.findall(line)
    return listed, named, others[:1]


def _recipients_of_original(message: ReceivedMessage) -> list[str]:
    """The recipient of the original message, if it is the only one."""
    from postern.protocols.mail.dsn import original_header

    values = [value[:2_000] for field, value in original_header(message) if field in ("to", "cc")][:10]
    addresses = list(dict.fromkeys(address for _, address in getaddresses(values) if "@" in address))
    return addresses if len(addresses) == 1 else []


def _without_original(part: MessagePart) -> str:
    lines = part.text[: TEXT_CHARACTERS * 2].splitlines()
    return "\n".join(line[:LINE_CHARACTERS] for line in lines[: _start_of_original(lines)])


def _start_of_original(lines: list[str]) -> int:
    """The number of the line where the original message begins, or the number of all lines."""
    for number, line in enumerate(lines):
        if number > 0 and _ORIGINAL.match(line[:LINE_CHARACTERS]):
            return number
    return len(lines)
