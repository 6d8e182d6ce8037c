# ruff: noqa: E501 - real replies are long
"""Classification of replies of real servers, and retry times."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.protocols.mail.smtp_replies import (
    RETRY_PERIODS,
    FailureKind,
    FailureReason,
    FailureVerdict,
    MailLane,
    classify,
    counts_towards_suppression,
    next_retry,
    suppresses,
)

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)

REPLIES = [
    # Recipients.
    (550, "5.1.1", "The email account that you tried to reach does not exist. https://support.google.com/mail/?p=NoSuchUser", "hard", "user_unknown"),
    (550, "5.1.1", "<x@y.test>: Recipient address rejected: User unknown in virtual mailbox table", "hard", "user_unknown"),
    (550, "5.5.0", "Requested action not taken: mailbox unavailable (S2017062302).", "hard", "user_unknown"),
    (550, "5.4.1", "Recipient address rejected: Access denied. [DB5EUR03FT010.eop-EUR03.prod.protection.outlook.com]", "hard", "user_unknown"),
    (550, "5.1.10", "RESOLVER.ADR.RecipientNotFound; Recipient x@y.test not found by SMTP address lookup", "hard", "user_unknown"),
    (554, "", "delivery error: dd This user doesn't have a yahoo.com account (x@yahoo.com) [0] - mta1.mail.bf1.yahoo.com", "hard", "user_unknown"),
    (550, "", "No such user here", "hard", "user_unknown"),
    (550, "5.7.1", "No such user", "hard", "user_unknown"),
    (553, "5.3.0", "<x@y.test>... Addressee unknown, relay=[192.0.2.1]", "hard", "user_unknown"),
    (550, "5.2.1", "The email account that you tried to reach is disabled.", "hard", "mailbox_inactive"),
    (554, "5.7.1", "<x@y.test>: Recipient address rejected: this mailbox is inactive and has been disabled", "hard", "mailbox_inactive"),
    (550, "5.1.6", "recipient no longer on server: x@y.test", "hard", "has_moved"),
    (556, "5.1.10", "Domain does not accept mail (nullMX)", "hard", "no_mail_here"),
    (0, "5.1.2", "The domain does not exist", "hard", "host_unknown"),
    (450, "4.1.1", "<x@y.test>: Recipient address rejected: unverified address: User unknown", "soft", "user_unknown"),
    (552, "5.2.2", "The email account that you tried to reach is over quota.", "soft", "mailbox_full"),
    (452, "4.2.2", "The email account that you tried to reach is over quota", "soft", "mailbox_full"),
    (552, "", "Requested mail action aborted: exceeded storage allocation; mailbox full", "soft", "mailbox_full"),
    (550, "5.0.1", "<dmarc@y.test>: host mx.y.test[192.0.2.1] said: 550 5.0.1 Recipient rejected (in reply to RCPT TO command)", "hard", "user_unknown"),
    (550, "5.1.0", "<ada@y.test>: host mx.y.test[192.0.2.1] said: 550 #5.1.0 Address rejected. (in reply to RCPT TO command)", "hard", "user_unknown"),
    (550, "5.1.0", "550 5.1.0 Recipient rejected: <ada@y.test>", "hard", "user_unknown"),
    (550, "5.0.0", "mailbox ada@y.test unavailable", "hard", "user_unknown"),
    (554, "5.0.0", "RCPT (ada@y.test) dosn't exist", "hard", "user_unknown"),
    (550, "", "This user doesn’t have an account here", "hard", "user_unknown"),
    (552, "5.0.0", "Account(s) <ada@y.test> does not have enough space", "soft", "mailbox_full"),
    (0, "5.0.0", "Message rejected. Not enough storage space in user's mailbox to accept message.", "soft", "mailbox_full"),
    (0, "5.0.0", "Delivery to this address has failed due to a full mailbox.", "soft", "mailbox_full"),
    (0, "5.0.0", "The following address failed: list@y.test is a closed mailing list", "soft", "network"),
    (0, "5.0.0", "unknown@y.test: Unrouteable address", "hard", "host_unknown"),
    (0, "5.0.0", "all hosts have been failing for a long time (and retry time not reached)", "soft", "expired"),
    # Recipients, in other languages.
    (550, "", "Postfach unbekannt", "hard", "user_unknown"),
    (550, "5.0.0", "Der Empfänger ada@y.test existiert nicht", "hard", "user_unknown"),
    (550, "", "Adresse d au moins un destinataire invalide: utilisateur inconnu", "hard", "user_unknown"),
    (550, "", "El usuario ada no existe en este servidor", "hard", "user_unknown"),
    (550, "", "Usuário desconhecido", "hard", "user_unknown"),
    (550, "", "La casella ada@y.test è inesistente", "hard", "user_unknown"),
    (550, "", "Gebruiker onbekend", "hard", "user_unknown"),
    (550, "", "Нет такого пользователя", "hard", "user_unknown"),
    (550, "", "收件人邮箱不存在", "hard", "user_unknown"),
    (0, "5.0.0", "ユーザー Neko は Domino ディレクトリには見つかりません。", "hard", "user_unknown"),
    (550, "", "Das Postfach ist voll", "soft", "mailbox_full"),
    (550, "", "La boîte aux lettres du destinataire est pleine", "soft", "mailbox_full"),
    (550, "", "Buzón del destinatario lleno", "soft", "mailbox_full"),
    (550, "", "Ящик переполнен", "soft", "mailbox_full"),
    (550, "", "邮箱已满", "soft", "mailbox_full"),
    (550, "", "Das Konto wurde gesperrt", "hard", "mailbox_inactive"),
    (550, "", "La cuenta está deshabilitada", "hard", "mailbox_inactive"),
    # Recipients, with little information.
    (550, "5.0.0", "<x@y.test>: Recipient address rejected. (in reply to RCPT TO command)", "hard", "user_unknown"),
    (521, "5.3.2", "mx.y.test did not take it", "hard", "no_mail_here"),
    (550, "5.1.0", "5.1.0 - Unknown address error 550-'5.7.1 <x@y.test>: Relay access denied'", "policy", "relaying"),
    (550, "5.1.0", "5.1.0 - Unknown address error 550-'No such user'", "hard", "user_unknown"),
    (550, "5.7.1", "No mailbox found", "hard", "user_unknown"),
    (550, "", "Sorry, no mailbox here by that name", "hard", "user_unknown"),
    (550, "", "Invalid or unknown virtual user 'ada'", "hard", "user_unknown"),
    (550, "5.1.0", "Address rejected.", "hard", "user_unknown"),
    (542, "", "ada@y.test Rejected", "hard", "user_unknown"),
    (550, "", "Mailbox ada not found in LDAP server", "hard", "user_unknown"),
    (550, "", "ada does not exist", "hard", "user_unknown"),
    (550, "", "Nie ma takiego konta", "hard", "user_unknown"),
    (550, "", "Destinatario errato", "hard", "user_unknown"),
    (550, "", "The mailbox has been blocked due to inactivity", "hard", "mailbox_inactive"),
    (550, "", "Questo indirizzo e' bloccato per inutilizzo", "hard", "mailbox_inactive"),
    (550, "5.2.1", "This mailbox is temporarily disabled", "soft", "mailbox_inactive"),
    (0, "5.4.4", "Name service error for name=y.test type=MX: Malformed or unexpected name server reply", "hard", "no_mail_here"),
    (550, "5.1.1", "<x@y.test>... The mailbox is full", "soft", "mailbox_full"),
    (550, "", "User has exhausted allowed storage space", "soft", "mailbox_full"),
    (550, "5.1.1", "<x@y.test>... Message too large for this mailbox", "policy", "too_large"),
    # The network or the receiving server.
    (550, "", "The system load is too high", "soft", "system"),
    (554, "5.4.316", "Message expired, connection refused (Socket error code 10061)", "soft", "expired"),
    (450, "4.7.1", "Client host rejected: Greylisted, see http://postgrey.schweikert.ch/help/y.test.html", "soft", "greylisted"),
    (451, "4.7.650", "The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation.", "block", "bad_reputation"),
    (450, "4.2.1", "The user you are trying to contact is receiving mail too quickly.", "soft", "too_many"),
    (550, "5.2.1", "The user you are trying to contact is receiving mail at a rate that …", "soft", "too_many"),
    (501, "5.0.0", "Connected to 192.0.2.1 but my name was rejected. Remote host said: 501 5.0.0 Invalid domain name", "policy", "authentication"),
    (553, "5.1.0", "SMTP error from remote mail server after MAIL FROM:<a@b.example>: unknown user", "policy", "sender"),
    (550, "5.4.4", "Invalid domain", "hard", "host_unknown"),
    (0, "5.4.4", "Sorry, I couldn't find a mail exchanger or IP address. (#5.4.4)", "hard", "host_unknown"),
    (0, "5.0.0", "an MX or SRV record indicated no SMTP service", "hard", "no_mail_here"),
    (450, "4.2.1", "The account is temporarily locked", "soft", "mailbox_inactive"),
    (421, "4.7.0", "Too many connections from your address, try again later", "soft", "too_many"),
    (421, "", "Service not available, closing transmission channel", "soft", "system"),
    (451, "4.3.0", "Temporary lookup failure", "soft", "system"),
    (0, "4.4.1", "mx.y.test:25 does not answer.", "soft", "network"),
    (0, "", "", "soft", "network"),
    (554, "5.4.7", "message timeout", "soft", "expired"),
    # The sender's reputation.
    (554, "5.7.1", "Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org", "block", "blocklisted"),
    (550, "5.7.1", "Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3150).", "block", "blocklisted"),
    (550, "5.1.1", "Rejected: 192.0.2.1 is listed at zen.spamhaus.org", "block", "blocklisted"),
    (421, "4.7.0", "[TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints", "block", "bad_reputation"),
    (550, "5.7.1", "Our system has detected that this message is likely unsolicited mail.", "block", "spam"),
    (421, "4.7.28", "Our system has detected an unusual rate of unsolicited mail originating from your IP address.", "block", "bad_reputation"),
    (550, "5.7.508", "Access denied, [192.0.2.1] has exceeded permitted limits", "soft", "too_many"),
    (550, "5.7.511", "Access denied, banned sender[192.0.2.1]", "block", "blocklisted"),
    (553, "5.0.3", "Blocked by ivmSIP", "block", "blocklisted"),
    (550, "", "Access from ip address 192.0.2.1 blocked. Visit http://y.test/support", "block", "blocklisted"),
    (550, "", "zen.y.test Listed by CSS", "block", "blocklisted"),
    (554, "", "5.7.1 Recipients (ada@y.test:blocked)", "block", "blocklisted"),
    (554, "", "DT:SPM 126 smtp1", "block", "spam"),
    (550, "", "The message failed several antispam checks", "block", "spam"),
    # The message, or how it was sent.
    (550, "5.1.1", "<a@b.example>: Sender address rejected (in reply to MAIL FROM command)", "policy", "sender"),
    (553, "", "Sender Domain Resolve Fail", "policy", "sender"),
    (550, "5.1.1", "<bounces@a.example>: unauthorized sender (in reply to RCPT TO command)", "policy", "sender"),
    (451, "", "Message temporarily deferred due to unresolvable RFC.5321 from domain", "policy", "sender"),
    (552, "5.7.0", "Our system detected an illegal attachment on your message.", "policy", "content"),
    (554, "5.7.1", "[CS01] Message rejected", "policy", "content"),
    (550, "", "You are not allowed to post to this mailing list", "policy", "sender"),
    (553, "", "sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)", "policy", "relaying"),
    (550, "5.1.1", "Message refused due to recipient preferences", "policy", "policy"),
    (550, "5.7.26", "This mail has been blocked because the sender is unauthenticated.", "policy", "authentication"),
    (550, "5.7.515", "Access denied, sending domain a.test doesn't meet the required authentication level.", "policy", "authentication"),
    (550, "5.7.1", "SPF check failed", "policy", "authentication"),
    (550, "5.7.25", "The IP address sending this message does not have a PTR record setup", "policy", "authentication"),
    (552, "5.3.4", "Message size exceeds fixed maximum message size", "policy", "too_large"),
    (552, "5.7.0", "This message was blocked because its content presents a potential virus.", "policy", "virus"),
    (550, "", "No such user. -- This message has been scanned for viruses and dangerous content.", "hard", "user_unknown"),
    (554, "5.7.1", "Relay access denied", "policy", "relaying"),
    (550, "5.1.8", "Sender address rejected: Domain not found", "policy", "sender"),
    (550, "5.7.1", "Rejected by local policy", "policy", "policy"),
    (530, "5.7.0", "Must issue a STARTTLS command first", "policy", "policy"),
    (553, "5.6.7", "The next hop does not take addresses outside ASCII.", "policy", "protocol"),
    (503, "5.5.1", "Bad sequence of commands", "policy", "protocol"),
    (554, "5.0.0", "Transaction failed", "soft", "undetermined"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "enhanced", "text", "kind", "reason"), REPLIES)
def test_replies_are_classified_by_cause(code, enhanced, text, kind, reason):
    assert classify(code, enhanced, text) == FailureVerdict(FailureKind(kind), FailureReason(reason))


def test_only_failures_caused_by_the_recipient_suppress():
    suppressing = {row[2] for row in REPLIES if suppresses(classify(*row[:3]))}
    assert suppressing == {row[2] for row in REPLIES if row[3] == "hard"}
    counted = {row[4] for row in REPLIES if counts_towards_suppression(classify(*row[:3]))}
    assert counted == {"mailbox_full", "user_unknown", "mailbox_inactive"}


@given(st.integers(200, 599), st.from_regex(r"([245]\.\d{1,3}\.\d{1,3})?", fullmatch=True), st.text(max_size=200))
def test_every_reply_is_classified_and_4xx_never_suppresses(code, enhanced, text):
    verdict = classify(code, enhanced, text)
    if not enhanced.startswith("5") and code < 500:
        assert not suppresses(verdict)


@pytest.mark.parametrize(
    ("code", "enhanced", "text", "kind"),
    [
        (450, "4.1.1", "<ada@y.test>: Recipient address rejected: User unknown in virtual alias table", "hard"),
        (450, "4.0.0", "No such user here", "hard"),
        (550, "5.1.1", "User unknown", "hard"),
        # It is not certain that there is no such user.
        (450, "4.1.1", "<ada@y.test>: Recipient address rejected: unverified address: lookup failed", "soft"),
        (450, "4.1.1", "User unknown, address verification in progress", "soft"),
        (451, "4.1.1", "User unknown due to a temporary failure of the directory", "soft"),
        (450, "4.1.1", "", "soft"),
        (450, "", "Requested mail action not taken: mailbox unavailable", "soft"),
        # The failure has another cause.
        (452, "4.2.2", "The mailbox of the user is full", "soft"),
        (450, "4.2.1", "Recipient address rejected: this mailbox is inactive and has been disabled", "soft"),
        (450, "4.1.2", "Host not found, try again", "soft"),
        (421, "4.7.0", "listed at zen.spamhaus.org: user unknown", "block"),
    ],
)
def test_an_unknown_user_is_permanent_once_the_server_has_given_up(code, enhanced, text, kind):
    verdict = classify(code, enhanced, text, gave_up=True)
    assert verdict.kind is FailureKind(kind)
    assert suppresses(verdict) is (kind == "hard")
    if code < 500:
        assert not suppresses(classify(code, enhanced, text))


def test_a_long_text_is_classified_in_linear_time():
    for text in ("a" * 1_000_000, "a@" * 500_000, "." * 1_000_000, "a.b-c " * 200_000, "<" * 1_000_000):
        assert classify(550, "5.0.0", text).kind is FailureKind.SOFT


def no_jitter() -> float:
    """The random number for which the jitter is zero."""
    return 0.5


def test_the_retry_delays_grow_until_the_retry_period_ends():
    delays, now = [], NOW
    for attempt in range(1, 30):
        retry_at = next_retry(attempt, MailLane.MARKETING, accepted_at=NOW, now=now, chance=no_jitter)
        if retry_at is None:
            break
        delays.append(retry_at - now)
        now = retry_at
    hours = [round(delay / timedelta(hours=1), 2) for delay in delays]
    assert hours[:9] == [0.08, 0.25, 0.5, 1, 2, 4, 8, 12, 24]
    assert sum(hours) == pytest.approx(0.08 + 0.25 + 0.5 + 1 + 2 + 4 + 8 + 12 + 24 + 0.9 * 20.17, abs=0.1)


@given(
    st.integers(1, 40),
    st.sampled_from(MailLane),
    st.floats(0, 0.999),
    st.timedeltas(timedelta(), timedelta(days=4)),
    st.none() | st.timedeltas(timedelta(), timedelta(days=4)),
)
def test_retries_are_never_after_the_retry_period_or_in_the_past(attempt, lane, chance, elapsed, expiry):
    now = NOW + elapsed
    expires_at = NOW + expiry if expiry is not None else None
    moment = next_retry(attempt, lane, accepted_at=NOW, now=now, expires_at=expires_at, chance=lambda: chance)
    if moment is not None:
        assert now < moment < NOW + RETRY_PERIODS[lane]
        assert expires_at is None or moment < expires_at


def test_retries_are_spread_by_jitter():
    early = next_retry(3, MailLane.TRANSACTIONAL, accepted_at=NOW, now=NOW, chance=lambda: 0.0)
    late = next_retry(3, MailLane.TRANSACTIONAL, accepted_at=NOW, now=NOW, chance=lambda: 0.999)
    assert early == NOW + timedelta(minutes=24)
    assert late > NOW + timedelta(minutes=35)
