"""The new part of a reply, without the quoted message and the signature.

There is no standard for how clients quote. This module recognises what common clients write, in the languages below,
line by line and in linear time, because the text may be hostile.
"""

import re

MAX_LINES = 20_000
"""Maximum lines of a text that are read; the rest is left out."""
MAX_LINE = 1_000
"""Longer lines are not compared with the patterns."""
MAX_ATTRIBUTION_LINES = 4
"""An attribution line such as `On … Ada wrote:` may be broken into this many lines."""
MIN_HEADERS = 3
"""This many lines such as `From:` and `Sent:` one after another are the header of a quoted message."""

_ATTRIBUTION_START = re.compile(
    r"(?:On|Am|Le|El|Il|Op|Em|Den|Dne|W dniu|Dnia|В|Em|Pe|Ha|[0-9]{4}[-年/])\b|[0-9]{1,4}[./-][0-9]{1,2}[./-]",
    re.IGNORECASE,
)
_ATTRIBUTION_END = re.compile(
    r"(?:wrote|writes|schrieb(?: am)?.{0,200}|a écrit|escribi[óo]|ha scritto|schreef.{0,200}|escreveu|skrev.{0,200}"
    r"|napsal(?:\(a\))?|napisał(?:\(a\))?|пишет|написал\(?а?\)?|a scris|írta|kirjoitti|yazdı|写道|のメール)"
    r"\s?[:\uff1a]$",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(
    r"[-_*]{2,}\s?(?:Original Message|Original-Nachricht|Ursprüngliche Nachricht|Urspr. Nachricht|Message d'origine"
    r"|Message original|Mensaje original|Messaggio originale|Oorspronkelijk bericht|Mensagem original|Ursprungligt "
    r"meddelande|Oprindelig meddelelse|Opprinnelig melding|Wiadomość oryginalna|Původní zpráva|Исходное сообщение"
    r"|Forwarded message|Weitergeleitete Nachricht|Message transféré)\s?[-_*]{2,}$",
    re.IGNORECASE,
)
_HEADER_LINE = re.compile(
    r"\*?(?:From|Sent|To|Subject|Date|Cc|Reply-To|Von|Gesendet|An|Betreff|Datum|De|Envoyé|À|Objet|Enviado(?: el)?|Para"
    r"|Asunto|Fecha|Da|Inviato|A|Oggetto|Data|Van|Verzonden|Aan|Onderwerp|Från|Skickat|Till|Ämne|Fra|Sendt|Til|Emne"
    r"|Od|Wysłano|Do|Temat|Odesláno|Komu|Předmět|От|Отправлено|Кому|Тема)\s?:\*?(?:\s|$)",
    re.IGNORECASE,
)
_RULE = re.compile(r"[_-]{10,}$")
_SENT_FROM = re.compile(
    r"(?:Sent from (?:my|Outlook|Yahoo|Mail)|Get Outlook for|Von meinem .{1,40} gesendet|Gesendet mit|Envoyé de mon"
    r"|Envoyé depuis|Enviado desde|Inviato da|Verzonden vanaf|Verstuurd vanaf|Enviado do meu|Skickat från)",
    re.IGNORECASE,
)


def reply_text(text: str) -> str:
    """The new part of the text of a reply. The whole text without its signature if nothing is quoted in it.

    Lines that begin with `>` are left out, also between answers. What follows a separator (`-----Original
    Message-----`), the header of a quoted message, or a signature (`-- `, `Sent from my …`) is left out, and what
    follows an attribution line (`On … Ada wrote:`) unless the quoted lines there begin with `>`.
    """
    lines = text.replace("\r\n", "\n").split("\n", MAX_LINES)[:MAX_LINES]
    kept: list[str] = []
    next_line = 0
    for at, line in enumerate(lines):
        if at < next_line or line.startswith(">"):
            continue
        if line in ("--", "-- ") or _begins_quoted_message(lines, at):
            break
        if attribution := _attribution_length(lines, at):
            if not _is_next_quoted(lines, at + attribution):
                break
            next_line = at + attribution
            continue
        kept.append(line.rstrip())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _begins_quoted_message(lines: list[str], at: int) -> bool:
    """Whether a quoted message without `>`, or a signature of a mobile client, begins at this line."""
    line, *following = [line.strip() if len(line) <= MAX_LINE else "" for line in lines[at : at + MIN_HEADERS]]
    if _SEPARATOR.match(line) or _SENT_FROM.match(line):
        return True
    if _RULE.match(line):
        return any(map(_HEADER_LINE.match, following))
    return len(following) == MIN_HEADERS - 1 and all(map(_HEADER_LINE.match, [line, *following]))


def _attribution_length(lines: list[str], at: int) -> int:
    """How many lines the attribution that begins here has; 0 if none begins here."""
    first = lines[at].strip()
    if not _ATTRIBUTION_START.match(first[:MAX_LINE]):
        return 1 if _ends_attribution(first) and _is_next_quoted(lines, at + 1) else 0
    joined = ""
    for length, line in enumerate(lines[at : at + MAX_ATTRIBUTION_LINES], 1):
        if not line.strip():
            return 0
        joined += f" {line.strip()}"
        if _ends_attribution(joined):
            return length
    return 0


def _ends_attribution(line: str) -> bool:
    # The last character first: the search takes quadratic time for a line that has many of the words.
    return len(line) <= MAX_LINE and line.endswith((":", "\uff1a")) and _ATTRIBUTION_END.search(line) is not None


def _is_next_quoted(lines: list[str], at: int) -> bool:
    """Whether the next line that is not empty begins with `>`; at most one empty line may precede it."""
    return next((line for line in lines[at : at + 2] if line.strip()), "").startswith(">")
