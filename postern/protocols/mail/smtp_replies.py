"""Classification of SMTP replies, and retry times.

The enhanced codes are those of RFC 3463 and its IANA registry, with the meanings that large providers give them. If
a code is vague, the text of the reply decides: many servers reply `550 5.7.1` to every failure.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec


class FailureKind(StrEnum):
    """The kind of a failure, by its cause."""

    HARD = "hard"
    """The recipient can never be reached."""
    SOFT = "soft"
    """The recipient, the network or the server cannot accept the message at present."""
    BLOCK = "block"
    """The reputation of the sender's IP address, network or domain is bad."""
    POLICY = "policy"
    """The message or the sender violates a rule on content, size, authentication or protocol."""


class FailureReason(StrEnum):
    """The reason of a failure."""

    USER_UNKNOWN = "user_unknown"
    MAILBOX_INACTIVE = "mailbox_inactive"
    HAS_MOVED = "has_moved"
    HOST_UNKNOWN = "host_unknown"
    NO_MAIL_HERE = "no_mail_here"
    """The domain or host does not accept mail."""
    MAILBOX_FULL = "mailbox_full"
    GREYLISTED = "greylisted"
    TOO_MANY = "too_many"
    """Too many messages, recipients or connections for the server's limits."""
    SYSTEM = "system"
    """A failure of the receiving server itself."""
    NETWORK = "network"
    EXPIRED = "expired"
    """The server gave up because the delivery took too long (X.4.7)."""
    BLOCKLISTED = "blocklisted"
    BAD_REPUTATION = "bad_reputation"
    SPAM = "spam"
    VIRUS = "virus"
    CONTENT = "content"
    TOO_LARGE = "too_large"
    AUTHENTICATION = "authentication"
    RELAYING = "relaying"
    """The server does not relay mail to this recipient."""
    SENDER = "sender"
    """The sender's address or domain is not accepted."""
    POLICY = "policy"
    PROTOCOL = "protocol"
    UNDETERMINED = "undetermined"


class FailureVerdict(msgspec.Struct, frozen=True):
    """The classification of a failure: its kind, which decides what happens next, and its reason."""

    kind: FailureKind
    reason: FailureReason


_CAUSED_BY_RECIPIENT = frozenset(
    {
        FailureReason.USER_UNKNOWN,
        FailureReason.MAILBOX_INACTIVE,
        FailureReason.HAS_MOVED,
        FailureReason.HOST_UNKNOWN,
        FailureReason.NO_MAIL_HERE,
    }
)

_KINDS: dict[FailureReason, FailureKind] = {
    **dict.fromkeys(_CAUSED_BY_RECIPIENT, FailureKind.HARD),
    FailureReason.MAILBOX_FULL: FailureKind.SOFT,
    FailureReason.GREYLISTED: FailureKind.SOFT,
    FailureReason.TOO_MANY: FailureKind.SOFT,
    FailureReason.SYSTEM: FailureKind.SOFT,
    FailureReason.NETWORK: FailureKind.SOFT,
    FailureReason.EXPIRED: FailureKind.SOFT,
    FailureReason.UNDETERMINED: FailureKind.SOFT,
    FailureReason.BLOCKLISTED: FailureKind.BLOCK,
    FailureReason.BAD_REPUTATION: FailureKind.BLOCK,
    FailureReason.SPAM: FailureKind.BLOCK,
    FailureReason.VIRUS: FailureKind.POLICY,
    FailureReason.CONTENT: FailureKind.POLICY,
    FailureReason.TOO_LARGE: FailureKind.POLICY,
    FailureReason.AUTHENTICATION: FailureKind.POLICY,
    FailureReason.RELAYING: FailureKind.POLICY,
    FailureReason.SENDER: FailureKind.POLICY,
    FailureReason.POLICY: FailureKind.POLICY,
    FailureReason.PROTOCOL: FailureKind.POLICY,
}

_REASONS_OF_CLEAR_CODES: dict[str, FailureReason] = {
    # Enhanced codes (without their class) that have one meaning; they take precedence over _RECIPIENT_PATTERNS.
    "1.1": FailureReason.USER_UNKNOWN,
    "1.2": FailureReason.HOST_UNKNOWN,
    "1.3": FailureReason.USER_UNKNOWN,
    "1.4": FailureReason.USER_UNKNOWN,
    "1.6": FailureReason.HAS_MOVED,
    "1.7": FailureReason.SENDER,
    "1.8": FailureReason.SENDER,
    "1.9": FailureReason.RELAYING,
    "2.1": FailureReason.MAILBOX_INACTIVE,
    "2.2": FailureReason.MAILBOX_FULL,
    "2.3": FailureReason.TOO_LARGE,
    "3.1": FailureReason.MAILBOX_FULL,
    "3.4": FailureReason.TOO_LARGE,
    "4.7": FailureReason.EXPIRED,
    "5.3": FailureReason.TOO_MANY,
    "6.7": FailureReason.PROTOCOL,
    "7.8": FailureReason.AUTHENTICATION,
    "7.13": FailureReason.MAILBOX_INACTIVE,
    "7.17": FailureReason.HAS_MOVED,
    "7.18": FailureReason.HAS_MOVED,
    "7.20": FailureReason.AUTHENTICATION,
    "7.21": FailureReason.AUTHENTICATION,
    "7.22": FailureReason.AUTHENTICATION,
    "7.23": FailureReason.AUTHENTICATION,
    "7.24": FailureReason.AUTHENTICATION,
    "7.25": FailureReason.AUTHENTICATION,
    "7.26": FailureReason.AUTHENTICATION,
    "7.27": FailureReason.SENDER,
    "7.28": FailureReason.TOO_MANY,
    "7.29": FailureReason.AUTHENTICATION,
    "7.30": FailureReason.AUTHENTICATION,
    # Gmail.
    "7.32": FailureReason.AUTHENTICATION,
    # Exchange Online.
    "1.20": FailureReason.PROTOCOL,
    "1.90": FailureReason.TOO_MANY,
    "1.350": FailureReason.USER_UNKNOWN,
    "1.351": FailureReason.USER_UNKNOWN,
    "2.14": FailureReason.SYSTEM,
    "2.121": FailureReason.TOO_MANY,
    "2.122": FailureReason.TOO_MANY,
    "4.300": FailureReason.EXPIRED,
    "4.310": FailureReason.HOST_UNKNOWN,
    "4.312": FailureReason.NETWORK,
    "4.316": FailureReason.EXPIRED,
    "4.317": FailureReason.EXPIRED,
    "7.57": FailureReason.AUTHENTICATION,
    "7.64": FailureReason.RELAYING,
    "7.501": FailureReason.BAD_REPUTATION,
    "7.502": FailureReason.BAD_REPUTATION,
    "7.503": FailureReason.BAD_REPUTATION,
    "7.507": FailureReason.BLOCKLISTED,
    "7.508": FailureReason.TOO_MANY,
    "7.509": FailureReason.AUTHENTICATION,
    "7.510": FailureReason.POLICY,
    "7.511": FailureReason.BLOCKLISTED,
    "7.512": FailureReason.PROTOCOL,
    "7.515": FailureReason.AUTHENTICATION,
    "7.606": FailureReason.BLOCKLISTED,
    "7.705": FailureReason.BAD_REPUTATION,
    "7.708": FailureReason.BAD_REPUTATION,
    "7.750": FailureReason.SENDER,
}

_REASONS_OF_VAGUE_CODES: dict[str, FailureReason] = {
    # Enhanced codes (without their class) that are vague; they are used if no pattern matches the text.
    "1.10": FailureReason.NO_MAIL_HERE,
    "2.0": FailureReason.UNDETERMINED,
    "2.4": FailureReason.SYSTEM,
    "3.0": FailureReason.SYSTEM,
    "3.2": FailureReason.SYSTEM,
    "3.3": FailureReason.PROTOCOL,
    "3.5": FailureReason.SYSTEM,
    "4.0": FailureReason.NETWORK,
    "4.1": FailureReason.NETWORK,
    "4.2": FailureReason.NETWORK,
    "4.3": FailureReason.NETWORK,
    "4.4": FailureReason.NETWORK,
    "4.5": FailureReason.SYSTEM,
    "4.6": FailureReason.NETWORK,
}

_REASONS_BY_SUBJECT: dict[str, FailureReason] = {
    # By the subject, which is the middle number of the enhanced code (RFC 3463 §3.1).
    "3": FailureReason.SYSTEM,
    "4": FailureReason.NETWORK,
    "5": FailureReason.PROTOCOL,
    "6": FailureReason.CONTENT,
    "7": FailureReason.POLICY,
}


def _any_of(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


_SENDER_PATTERNS: list[tuple[re.Pattern[str], FailureReason]] = [
    # Failures that the recipient does not cause: greylisting, or an error in the sender or the message. They must never
    # suppress the recipient, so they are checked before the codes. `_reason` has the exceptions.
    (
        _any_of(
            r"gr[ae]y-?list|come back in|try again in \d+",
            r"temporarily (rejected|deferred).{0,40}(first|unknown)",
        ),
        FailureReason.GREYLISTED,
    ),
    (
        _any_of(
            r"spamhaus|spamcop|barracuda(central)?|sorbs|uceprotect|mailspike|surbl|uribl|invaluement|\bivmSIP|psbl",
            r"\b(dns)?[bw]l\b.*\blist|\brbl\b|dnsbl|block[- ]?list|(?<!may be )black[- ]?list|deny[- ]?list",
            r"(client|sender|your) (host|ip|address|network)\b.{0,60}\b(blocked|banned|listed)",
            r"\b(ip|host)\b.{0,40}\bis (currently )?(blocked|banned|listed)|part of their network is on our block",
            r"\bIPs? (address(es)? )?([0-9A-F.:]{3,45} )?(is |are |has been )?(blocked|banned|denied)",
            r"^\W{0,3}\S{1,253} listed by \w",
            r"(dial-?up|dynamic)[- ].{0,20}\b(denied|blocked)",
            r"recipients \([^()]{1,100}:blocked\)",  # Barracuda
        ),
        FailureReason.BLOCKLISTED,
    ),
    (
        _any_of(
            r"reputation|senderscore|sender score|low trust",
            r"\bTSS?\d\d\b|temporarily deferred due to (unexpected volume|user complaints)",
            r"unusual rate of unsolicited|unsolicited mail originating|suspicious due to",
        ),
        FailureReason.BAD_REPUTATION,
    ),
    (
        _any_of(
            r"\b(spf|dkim|dmarc|arc|domainkeys)\b|unauthenticated|not authenticated",
            r"authentication (required|check|fail)",
            r"reverse dns|\bptr\b|\bhelo\b.*(invalid|reject)|authentication results",
            r"but my name was rejected",  # qmail, about HELO
            r"anti-?spoofing|\bMI:SPF\b",
        ),
        FailureReason.AUTHENTICATION,
    ),
    # The conditions around `virus` exclude what scanners write below clean messages.
    (_any_of(r"(?<!for )(?<!of )\bvirus(?!es\b.{0,40}\bscan|-free)|malware|\binfected\b|phish"), FailureReason.VIRUS),
    (
        _any_of(
            r"\bspams?\b|\banti-?spam|\bspammy\b|\bunsolicited\b|\bjunk mail|bulk (e-?)?mail",
            r"\bUBE\b|\bUCE\b|\bDT:SPM\b",
        ),
        FailureReason.SPAM,
    ),
    (
        _any_of(
            r"content (is )?(rejected|denied|blocked|not allowed|prohibited|filter)",
            r"(banned|prohibited|disallowed|forbidden|illegal) (attachment|file|content)",
            r"attachment.{0,40}not (allowed|accepted)",
        ),
        FailureReason.CONTENT,
    ),
    (
        _any_of(
            r"relay(ing)? (access )?(is )?(denied|not permitted|not allowed|prohibited)|unable to relay|not relay",
            r"no relay(ing)? allowed|(do|does)( not|n't) (allow |permit )?relay|not configured to relay",
            r"list of allowed rcpthosts",
        ),
        FailureReason.RELAYING,
    ),
    (
        # The second pattern has the codes for limits of NetEase.
        _any_of(
            r"receiving mail (too quickly|at a rate)|sent (to )?too many",
            r"\b(MI:DMC|MI:CCL|MI:STC|RP:CEL|RP:DRC|RP:RCL)\b",
        ),
        FailureReason.TOO_MANY,
    ),
    # A reply to MAIL FROM is about the sender, whatever its code is.
    (
        _any_of(
            r"(after|in reply to|response to) (the )?MAIL FROM|but sender was rejected",
            r"sender('s)?( e?-?mail)?( address| domain)? (is |was )?"
            r"(not (allowed|permitted|accepted)|rejected|denied|refused|invalid|unknown|verif)|domain of (the )?sender",
            r"(invalid|bad|unknown|unverified|unauthori[sz]ed) sender|\bMI:SPB\b|unresolvable (RFC.?5321 )?from\b",
            r"(empty|null|unrout(e?able)) (envelope )?sender|sender verif(y|ication) (fail|error)",
            r"accept (e-?mails?|messages?) from (you|this (sender|address|domain)|<?[^\s<>@]{1,64}@)",
            r"(you are |sender (is )?)not (allowed|authori[sz]ed|permitted) to (post|send)|permission to (post|send)",
            r"\b(envelope|mail) ?from\b.{0,40}(invalid|rejected|denied|not (allowed|permitted|owned|valid))",
            r"\bBATV\b|backscatter",
            r"sender('s)? (e-?mail |domain )?(address )?(domain )?(could not be |cannot be |does not |did not )?resolv",
        ),
        FailureReason.SENDER,
    ),
]

_MAILBOX_FULL = _any_of(
    r"(over|exceed(s|ed)?|out of) ?(the )?(its |his |storage |disk |mailbox )*(quota|storage)",
    r"(mailbox|mail ?folder|maildrop).{0,30}\bfull|quota (is |has been |usage )?(exceed|full|violat)",
    r"inbox is (out of|full)|not enough (disk|storage)",
    r"insufficient (disk|storage|system storage)|exhausted .{0,20}(storage|space|quota)|mailbox limit ex+ce+ded",
    r"too many messages (on|in) (the|this|his|your) (server|mailbox)|too much mail",
    r"(account|maildrop|mail ?file|user|disk) is (over ?quota|full)|over ?quota\b|no space left|mailbox size limit",
    r"(not (have )?enough|insufficient) (\w{1,10} ){0,2}space\b|full mailbox|overdrawn .{0,30}quota",
    r"Postfach.{0,30}voll|zu ?viele (E-?)?Mails auf",
    r"Speicherplatz.{0,40}(erschöpft|überschritten)|Kontingent.{0,30}überschritten",
    r"bo[iî]te.{0,40}pleine|quota.{0,20}(d[ée]pass|atteint)|buz[oó]n.{0,30}llen[oa]|casella.{0,30}piena",
    r"(cuota|quota).{0,20}(excedida|superad|ultrapassad)|caixa.{0,30}(cheia|lotada)|postvak.{0,20}\bvol\b",
    r"ящик.{0,30}(переполнен|заполнен)|превышена квота|skrzynk.{0,30}(pełna|przepełnion)",
    r"(邮箱|信箱|郵箱|容量|空间|空間).{0,10}(已满|已滿|不足)|(メールボックス|容量).{0,20}(一杯|いっぱい|超え|超過)",
)
_TOO_LARGE = _any_of(
    r"message (size|too (big|large))|(size|length).{0,30}(exceed|limit)|too (large|big) (message|for)",
    r"exceeds.{0,20}(size|maximum)",
)
_OTHER_CAUSE_PATTERNS = [
    # Some servers reply 5.1.1 to each refusal of a recipient; these texts name another cause.
    (_MAILBOX_FULL, FailureReason.MAILBOX_FULL),
    (_TOO_LARGE, FailureReason.TOO_LARGE),
    (_any_of(r"due to (the )?recipient('s)? preferences"), FailureReason.POLICY),
]

_RECIPIENT_PATTERNS: list[tuple[re.Pattern[str], FailureReason]] = [
    (_MAILBOX_FULL, FailureReason.MAILBOX_FULL),
    (
        _any_of(
            r"too many (connections|recipients|messages|sessions|emails|concurrent|invalid)|rate.?limit|throttl",
            r"too fast|slow down|(limit|rate).{0,20}exceeded|frequency limited",
        ),
        FailureReason.TOO_MANY,
    ),
    (
        _any_of(
            r"(mailbox|account|user|recipient|address).{0,40}"
            r"\b(disabled|inactive|suspended|deactivated|locked|closed(?! (mailing )?list))\b",
            r"(disabled|inactive|suspended|deactivated|dormant) ?(mailbox|account|user|recipient)",
            r"no longer (active|in use|available|valid|accept(s|ing)|on (this|the|our))",
            r"discontinued|has been terminated",
            r"due to (extended |long )?inactivity|(account|mailbox).{0,20}not (yet )?activated",
            r"(mailbox|account|user|address).{0,40}(not active|has expired|(was|been) (deleted|removed|frozen))",
            r"(Postfach|Konto|Mailbox).{0,40}(deaktiviert|gesperrt|geschlossen)",
            r"(compte|bo[iî]te).{0,40}(d[ée]sactiv|suspendu|ferm[ée])",
            r"(cuenta|buz[oó]n|casilla|usuario).{0,40}(desactivad|deshabilitad|suspendid|inactiv|expirad)",
            r"(conta|caixa).{0,40}(desativad|suspens|inativ)",
            r"(casella|utente|indirizzo).{0,40}(disattivat|disabilitat|sospes|bloccat)",
            r"(konto|skrzynk).{0,40}(zablokowan|nieaktywn|wyłączon)",
            r"(ящик|аккаунт|уч[её]тная запись).{0,40}(заблокирован|отключ[её]н|неактив)",
            r"(邮箱|用户|帐号|账号|信箱|帳號|使用者).{0,10}(停用|禁用|冻结|凍結|锁定|鎖定)",
        ),
        FailureReason.MAILBOX_INACTIVE,
    ),
    (
        _any_of(
            r"(user|recipient|mailbox|account|address|addressee|alias).{0,60}"
            r"(unknown|(not|n't) (be )?(found|exist|known|valid|listed)|does(n't| not) (exist|have)|invalid)",
            r"(unknown|invalid|illegal|no such|non-?existent|bad|undeliverable|not a (valid|known)) "
            r"((local|virtual|e-?mail|mail|destination|alias)[ -])*"
            r"(user|recipient|mail ?box|account|address|addressee|alias|person|local[- ]part|mail ?drop|\bid\b)",
            r"(doesn't|does not|don't|do not) have (an?|any) .{0,30}(account|mailbox)",
            r"\bno (valid )?(mail ?box|user|account|address) (here|found|(by|with) that name|(is )?available for)",
            r"isn't a (valid|known)|not our customer|user doesn.t exist|no one (by|with) (that|this)",
            r"there is no one here",
            r"recipient address rejected: access denied|sorry, no mailbox",
            r"\b(mailbox|account)( \W?a@b\W?)?( is)? (unavailable|not available)|no valid recipients",
            r"invalid final delivery userid|\bdoe?sn't exist",
            r"(find|locate) (the |this )?(recipient|user|mailbox|address|alias)",
            r"(recip(ient)?|user|mailbox) ?not ?found",
            r"recipient (address )?rejected\W{0,5}(\(in reply to|$)|recipient addresses rejected ?: access denied",
            r"^\W*(address|recipient) rejected|\b5\.1\.0:? (address|recipient( address)?) rejected",  # Cisco
            r"recipient (cannot|can ?not|could not) be verified|no (such )?user record|recipient unrecogni[sz]ed",
            r"not (found )?in (our |the )?(database|directory|ldap)|ADDRESS_NOT_FOUND",
            r"^\W{0,3}\S{1,64}@\S{1,253}[>:]{0,2} (is )?rejected\W{0,3}$",
            r"(Empfänger|Benutzer|Postfach|Adresse|Konto).{0,60}"
            r"(unbekannt|existiert nicht|nicht (gefunden|vorhanden|bekannt)|ungültig)",
            r"(destinataire|utilisateur|adresse|bo[iî]te|compte).{0,60}(inconnu|existe pas|introuvable|non valide)",
            r"(usuario|destinatario|buz[oó]n|cuenta|direcci[oó]n).{0,60}(desconocid|no existe|no encontrad|inv[aá]lid)",
            r"(usu[aá]rio|destinat[aá]rio|caixa|conta|endere[cç]o).{0,60}"
            r"(desconhecid|n[aã]o existe|inexistente|inv[aá]lid|n[aã]o encontrad)",
            r"(utente|destin(atario|\.)|casella|indirizzo).{0,60}"
            r"(sconosciut|inesistente|errato|non (esiste|trovat|valid))",
            r"(gebruiker|ontvanger|adres|postvak).{0,60}(onbekend|bestaat niet|niet gevonden|ongeldig)",
            r"(użytkownik|adresat|skrzynk|adres|konto).{0,60}(nie istnieje|nieznan|nie znalezion)",
            r"nie ma (takiego|takiej) (konta|użytkownika|adresu|adresata|skrzynki)",
            r"(пользовател|получател|адрес|ящик).{0,60}(не найден|не существует|неизвест|не зарегистрирован)",
            r"нет такого (пользователя|ящика|адреса)",
            r"(用户|收件人|邮箱|地址|帐号|账号|使用者|信箱|帳號).{0,20}(不存在|未找到|找不到|无效|無效)",
            r"(ユーザ|宛先|アドレス|メールボックス|受信者|ディレクトリ).{0,20}(見つかりません|存在しません|ありません|不明)",
        ),
        FailureReason.USER_UNKNOWN,
    ),
    (
        _any_of(
            r"(host|domain)( name)?.{0,40}(not found(?!, try again)|unknown|does(n't| not) exist|not (be )?resolv)",
            r"no such domain",
            r"(unrouteable|unroutable|unrouteable mail) (mail )?(domain|address)|bad destination (host|system)",
            r"\bnxdomain\b|invalid domain|domain is not reachable|no (valid )?mx (record|host)|no mx (or a )?for",
            r"illegal host|account or domain may not exist",  # Oracle Messaging Server, cPanel
            r"(couldn't|could not|cannot|unable to) find (a |any )?(mail exchanger|mx\b|host)",
        ),
        FailureReason.HOST_UNKNOWN,
    ),
    (
        _any_of(
            r"null ?mx|no smtp service",
            # How old versions of Postfix report a null MX.
            r"type=MX: Malformed (or unexpected )?name server reply",
            r"(does not|doesn't) accept (e-?)?mails?\b(?! (over|from|via|with|if|unless|when|sent))",
        ),
        FailureReason.NO_MAIL_HERE,
    ),
    (_any_of(r"do(es)?(n't| not) exists?\b|nie istnieje"), FailureReason.USER_UNKNOWN),
    (_any_of(r"has moved|moved to|new address|forwarding (address|order)"), FailureReason.HAS_MOVED),
    (_TOO_LARGE, FailureReason.TOO_LARGE),
    (
        _any_of(r"sender.{0,30}(reject|denied|invalid|unknown|verify)|domain of sender|sender address"),
        FailureReason.SENDER,
    ),
    (
        _any_of(r"tim(ed|e) ?out|connection (refused|reset|closed|lost)|network (is )?unreachable|no route to host"),
        FailureReason.NETWORK,
    ),
    (
        _any_of(
            r"retry time(out)? (exceeded|not reached)|(message|delivery|queue) (time )?(has )?expired",
            r"(too long|timed out) in (the )?queue|could not be delivered (for|within|in|after) \d",
        ),
        FailureReason.EXPIRED,
    ),
    (
        _any_of(
            r"(system|server|service|resources?).{0,30}(unavailable|busy|overload|not available|failure|error)",
            r"try (again )?later|temporar(y|ily)|local error|too busy|\bload (is )?too high|too much load",
        ),
        FailureReason.SYSTEM,
    ),
    (_any_of(r"message rejected"), FailureReason.CONTENT),
    (
        _any_of(
            r"polic(y|ies)|not (allowed|permitted|authori[sz]ed|accepted)|access denied|refused",
            r"filtered|white ?list|moderat(ed|or)|restricted|administrative prohibition|(envelope|senders?) blocked",
            r"blocked by",
        ),
        FailureReason.POLICY,
    ),
]

_REASONS_BY_CODE: dict[int, FailureReason] = {
    # RFC 5321 §4.2.3, RFC 1846 and RFC 7504, for replies without an enhanced code.
    421: FailureReason.SYSTEM,
    450: FailureReason.SYSTEM,
    451: FailureReason.SYSTEM,
    452: FailureReason.SYSTEM,
    500: FailureReason.PROTOCOL,
    501: FailureReason.PROTOCOL,
    502: FailureReason.PROTOCOL,
    503: FailureReason.PROTOCOL,
    504: FailureReason.PROTOCOL,
    521: FailureReason.NO_MAIL_HERE,
    525: FailureReason.MAILBOX_INACTIVE,
    530: FailureReason.AUTHENTICATION,
    535: FailureReason.AUTHENTICATION,
    551: FailureReason.HAS_MOVED,
    552: FailureReason.MAILBOX_FULL,
    553: FailureReason.USER_UNKNOWN,
    555: FailureReason.PROTOCOL,
    556: FailureReason.NO_MAIL_HERE,
}


def classify(code: int, enhanced: str = "", text: str = "", *, gave_up: bool = False) -> FailureVerdict:
    """Classify a failure. `code` is 0 without a reply; `enhanced` is an enhanced code such as `5.1.1`, or empty.

    Only permanent replies (class 5) can be HARD; temporary ones are SOFT instead. BLOCK and POLICY also apply to
    temporary replies, because the sender has to act. With `gave_up`, a server reported that it no longer tries; then a
    temporary reply whose text says that the user is unknown is HARD, too.
    """
    text = _ADDRESS.sub("a@b", text[:TEXT_CHARACTERS].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    reason = _reason(code, enhanced, text)
    kind = _KINDS[reason]
    permanent = enhanced.startswith("5") if enhanced else code >= 500
    if reason is FailureReason.MAILBOX_INACTIVE and _FOR_A_TIME.search(text):
        permanent = False
    if gave_up and reason is FailureReason.USER_UNKNOWN and _SAYS_UNKNOWN.search(text):
        permanent = permanent or not _NOT_YET_KNOWN.search(text)
    return FailureVerdict(FailureKind.SOFT if kind is FailureKind.HARD and not permanent else kind, reason)


TEXT_CHARACTERS = 2_000
"""The rest of a longer text of a reply is left out."""
_ADDRESS = re.compile(r"[^\s<>()\[\]\"',;:@]{1,64}@[A-Za-z0-9.-]{1,253}")
"""Addresses are replaced, so that their words are not taken for those of the server (`dmarc@example.com`)."""
_SAYS_UNKNOWN = _any_of(
    r"(user|recipient|mailbox|account|address|addressee).{0,40}(unknown|does(n't| not) exist|not (found|exist|known))",
    r"(unknown|no such|invalid|non-?existent) (local |virtual )?(user|recipient|mailbox|account|address)",
)
"""Says that there is no such user. `450 mailbox unavailable` does not (RFC 5321 §4.2.3)."""
_NOT_YET_KNOWN = _any_of(r"unverified|verification|temporar|try again|later|lookup (error|fail)")
"""Says that it is not known yet whether there is such a user."""
_QUOTED_REPLY = re.compile(r"(?:[45]\.\d\.\d{1,3} - )?Unknown address error \d{3}-'", re.IGNORECASE)
"""How Cisco's gateways begin the reason of every refusal of a recipient; the reply of the server follows."""
_REFUSES_ALL_MAIL = frozenset({521, 556})
"""Replies of hosts that accept no mail (RFC 7504), whatever a vague enhanced code says."""


_FOR_A_TIME = _any_of(r"temporar(y|ily)|try again later")
"""Says that a mailbox will accept messages again."""
_WITH_ANY_CODE = frozenset(
    {FailureReason.BLOCKLISTED, FailureReason.BAD_REPUTATION, FailureReason.TOO_MANY, FailureReason.SENDER}
)
"""Reasons for which the text takes precedence over a code for an unknown recipient: some servers reply with such a code
to each recipient of a blocked sender."""


def _reason(code: int, enhanced: str, text: str) -> FailureReason:
    text = _QUOTED_REPLY.sub("", text, 1)
    subject_and_detail = enhanced.partition(".")[2]
    sender_reason = _first_match(_SENDER_PATTERNS, text)
    code_reason = _REASONS_OF_CLEAR_CODES.get(subject_and_detail)
    if code_reason is FailureReason.USER_UNKNOWN:
        code_reason = _first_match(_OTHER_CAUSE_PATTERNS, text) or code_reason
    # "5.1.1 … see our anti-spam page" is about an unknown mailbox, so such codes take precedence over the text. The
    # codes of inactive mailboxes do not.
    is_caused_by_recipient = code_reason in _CAUSED_BY_RECIPIENT and code_reason is not FailureReason.MAILBOX_INACTIVE
    if sender_reason and not is_caused_by_recipient:
        return sender_reason
    if sender_reason and sender_reason in _WITH_ANY_CODE:
        return sender_reason
    return (
        code_reason
        or _first_match(_RECIPIENT_PATTERNS, text)
        or (_REASONS_BY_CODE[code] if code in _REFUSES_ALL_MAIL else None)
        or _REASONS_OF_VAGUE_CODES.get(subject_and_detail)
        or _REASONS_BY_SUBJECT.get(subject_and_detail.partition(".")[0])
        or _REASONS_BY_CODE.get(code)
        or (FailureReason.NETWORK if code == 0 else FailureReason.UNDETERMINED)
    )


def _first_match(table: list[tuple[re.Pattern[str], FailureReason]], text: str) -> FailureReason | None:
    return next((reason for pattern, reason in table if pattern.search(text)), None)


def suppresses(verdict: FailureVerdict) -> bool:
    """Whether this failure suppresses the recipient; only a HARD failure caused by the recipient does."""
    return verdict.kind is FailureKind.HARD and verdict.reason in _CAUSED_BY_RECIPIENT


SOFT_BOUNCES_TO_SUPPRESS = 3
"""This many soft failures in a row suppress a recipient, if the time from the first to the last is long enough."""
SOFT_BOUNCES_MIN_SPAN = timedelta(hours=72)
"""The minimum time from the first to the last of the SOFT_BOUNCES_TO_SUPPRESS failures."""
SOFT_BOUNCES_MAX_GAP = timedelta(days=14)
"""The count of asynchronous bounces, which are reported after the SMTP dialogue, starts again after this time without
one."""


def counts_towards_suppression(verdict: FailureVerdict) -> bool:
    """Whether a failure counts towards SOFT_BOUNCES_TO_SUPPRESS: SOFT, caused by the recipient or its mailbox."""
    return verdict.kind is FailureKind.SOFT and verdict.reason in _CAUSED_BY_RECIPIENT | {FailureReason.MAILBOX_FULL}


class MailLane(StrEnum):
    """The kind of mail, which decides how long it is retried."""

    TRANSACTIONAL = "transactional"
    MARKETING = "marketing"


RETRY_PERIODS = {MailLane.TRANSACTIONAL: timedelta(hours=24), MailLane.MARKETING: timedelta(hours=72)}
"""How long after its submission a message is still retried."""
RETRY_DELAYS = tuple(timedelta(minutes=minutes) for minutes in (5, 15, 30, 60, 120, 240, 480, 720, 1440))
"""The delay after the first, second, … attempt; the last one repeats."""
JITTER = 0.2
"""Delays vary by this share in both directions, so that messages deferred together are not retried together."""
LAST_RETRY_SHARE = 0.9
"""If the next delay would exceed the retry period, the last attempt is after this share of the remaining time."""


def next_retry(
    attempt: int,
    lane: MailLane,
    *,
    accepted_at: datetime,
    now: datetime,
    expires_at: datetime | None = None,
    chance: Callable[[], float],
) -> datetime | None:
    """When to retry after attempt number `attempt` (from 1) was deferred at `now`; None for never.

    `chance` returns a random number 0 ≤ x < 1. There is no retry after the deadline, which is the end of the lane's
    retry period (it begins at `accepted_at`) or `expires_at` if that is earlier. If the next delay would exceed the
    deadline, the last attempt is after LAST_RETRY_SHARE of the remaining time; there is none if the remaining time is
    at most five minutes or a quarter of the delay.
    """
    deadline = accepted_at + RETRY_PERIODS[lane]
    if expires_at is not None:
        deadline = min(deadline, expires_at)
    delay = RETRY_DELAYS[min(max(attempt, 1), len(RETRY_DELAYS)) - 1] * (1 + JITTER * (2 * chance() - 1))
    remaining = deadline - now
    if delay < remaining:
        return now + delay
    return now + remaining * LAST_RETRY_SHARE if remaining > RETRY_DELAYS[0] and remaining > delay / 4 else None
